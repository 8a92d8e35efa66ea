"""`muniment demo`: a base with real facts in it, served, and what to try.

Rules
-----
* Started for the first time it brings the demo base in; started again it goes on with what is there, and with what was
  not brought in yet when it was interrupted. `--reset` removes the demo base first, and nothing but a demo base.
* The port is tried before anything is made: one that is taken costs nothing but one line.
* What it says of changes that wait is counted at each start.
* The token is in a file that its owner alone can read, and never on the screen. It is made anew when it is gone or
  revoked.
* What is served is not logged line by line, unless asked for: it would bury what there is to try.
* A base that stands ahead of the host's clock is not served unless that is accepted: the error says how.
* Settings of the environment do not name the folder: a demo must not come into somebody's own base by accident.

Example
-------
::

    muniment demo --data demo-data --port 8350
"""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.commands.options import AcceptClock, folder
from api.commands.progress import step_progress, waiting
from kernel.access import Principal, Role
from kernel.errors import ClockAhead
from kernel.ports.records import CertificateState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.callers.sessions import Sessions
    from api.settings import Settings
    from bridge.base import Base


SIGN_IN_WITHIN: Final = 3_600.0
"""Seconds for which the link that signs in is good."""

_COUNTED: Final = 1000
"""Changes that wait, at most, when they are counted."""


def demo(
    data: Annotated[
        Path,
        typer.Option("--data", metavar="DIR", parser=folder, help="The demo base's folder, made if need be."),
    ] = Path("demo-data"),
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="The port; 0: any free one. [default: 8350]")
    ] = None,
    *,
    reset: Annotated[bool, typer.Option("--reset", help="Start over: remove the demo base first.")] = False,
    accept_clock: AcceptClock = False,
) -> int:
    """Serve a base with some 690 facts in it, to try things on: who held which office, and when.

    The first start brings the facts in; later ones go on with what is there.

    Example: muniment demo
    """
    from api.app import create_app
    from api.callers.auth import token_hash
    from api.server import listen, serve
    from api.settings import read_settings
    from bridge.upkeep import demo as demo_base

    log_level = None if "MUNIMENT_LOG_LEVEL" in os.environ else "warning"
    settings = read_settings(data=data, port=port, log_level=log_level)
    listen(settings.host, settings.port).close()
    if reset:
        demo_base.empty(data)
    demo_base.prepare(data)
    with _opened(data, settings, accept_clock=accept_clock) as base:
        if not demo_base.is_filled(data):
            with step_progress("bringing the demo's facts in") as progress:
                demo_base.fill(base, progress)
            demo_base.set_filled(data)
        token = _token_file(base, data / demo_base.TOKEN)
        app = create_app(base, settings)
        sessions: Sessions = app.state.sessions
        code = sessions.issue_code(token_hash(token.read_text(encoding="ascii").strip()), SIGN_IN_WITHIN)
        ended = serve(app, settings, lambda url: _announce(base, data, url, code))
    if not ended:
        os._exit(0)  # as `muniment serve` does, and for the same reason
    return 0


def _opened(data: Path, settings: Settings, *, accept_clock: bool) -> Base:
    from bridge.base import Base

    try:
        with waiting("opening the demo base"):
            return Base.open(
                data,
                policy=settings.verdict_policy,
                accept_clock=accept_clock,
                key=settings.given_key,
                issuer=settings.issuer,
            )
    except ClockAhead as error:
        error.remedy = (
            "set the host's clock right; or go on from the base's instant, with `muniment demo --accept-clock` or "
            "`make demo ARGS=--accept-clock`; or start over, with --reset or `make demo-reset`"
        )
        raise


def _announce(base: Base, data: Path, url: str, code: str) -> None:
    with base.ledger.reading() as view:
        waiting_now = len(view.certificates(state=CertificateState.PENDING, limit=_COUNTED))
    for line in _words(data, url, code, _reviews(waiting_now)):
        typer.echo(line)
    sys.stdout.flush()


def _reviews(count: int) -> str:
    """How many changes wait for an editor at this start."""
    if not count:
        return "Nothing waits there to be reviewed"
    if count == 1:
        return "One change waits there to be reviewed"
    return f"{f'Over {count - 1}' if count == _COUNTED else count} changes wait there to be reviewed"


def _words(data: Path, url: str, code: str, reviews: str) -> Iterator[str]:
    """What to open and what to try."""
    from bridge.upkeep.demo import ROOT, TOKEN

    muniment, files, token = (
        quote(str(path)) for path in (_near(Path(sys.argv[0])), _near(Path(str(ROOT))), data / TOKEN)
    )
    service = f"--url {url} --token-file {token}"
    yield f"muniment serves the demo base in {data} on {url}"
    yield ""
    yield f"  Open {url}/sign-in?code={code}"
    yield f"  in a browser: it signs in an editor, once, within the hour. {reviews}."
    yield ""
    yield "Try, in another terminal: who was in office in 1999; a change; what waits for an editor."
    yield ""
    yield f"  {muniment} query @{files}/queries/in-office.rq --valid-at 1999 {service}"
    yield f"  {muniment} submit {files}/incoming/clear.json {service}"
    yield f"  curl -H \"Authorization: Bearer $(cat {token})\" '{url}/certificates?state=pending'"
    yield ""
    yield "The tour of five minutes is in docs/tour.md. Ctrl-C stops; the same command goes on with the base, and"
    yield "`make demo-reset`, or --reset, starts over."


def _near(path: Path) -> Path:
    """The path as it is written from here, where that is shorter."""
    whole = path.absolute()
    return whole.relative_to(Path.cwd()) if whole.is_relative_to(Path.cwd()) else whole


def _token_file(base: Base, path: Path) -> Path:
    """The file with an editor's token, made unless it has one that is good."""
    from api.callers.auth import token_hash

    if path.exists() and base.ledger.principal_of(
        token_hash(path.read_text(encoding="ascii", errors="replace").strip())
    ):
        return path
    from api.commands.token import new_token

    token = new_token()
    editor = Principal(f"demo-editor-{secrets.token_hex(2)}", Role.EDITOR)
    base.ledger.add_principal(editor, token_hash(token))
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(token + "\n")
    return path
