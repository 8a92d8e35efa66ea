"""The commands put together, and how they leave.

Rules
-----
* What a command answers goes to standard output; progress and errors go to standard error.
* An error that is foreseen is one line that says what is wrong, where, and what to do; it is never a traceback.
* One that is not foreseen is one line too, which says where the details are: see `api.commands.unforeseen`.
* A command's function answers its exit status, and imports what it needs when it runs: `--help` must not wait for that.

Exit status: 0 done; 1 an error; 64 the command line itself was wrong, or the environment. `muniment load` has more: 2
in review, 3 refused or rejected, 4 stale. `muniment audit`: 1 faults, 2 no audit. `muniment check`: 1 it fails, 2 not
checked. A command whose output nobody reads any more, as in `muniment export … | head`, says nothing and ends with 141,
as the tools do that SIGPIPE ends.

Example
-------
::

    muniment load facts.ttl --data data --graph https://example.org/g
    muniment query 'SELECT * { ?s ?p ?o } LIMIT 5' --data data
"""

from __future__ import annotations

import errno
from signal import SIGPIPE
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from api.commands.access import access
from api.commands.anchor import anchor
from api.commands.audit import audit
from api.commands.backup import backup, restore
from api.commands.careful import USAGE, careful
from api.commands.check import check
from api.commands.config import config
from api.commands.decide import decide
from api.commands.demo import demo
from api.commands.diff import diff
from api.commands.doctor import doctor
from api.commands.dump import dump
from api.commands.export import export
from api.commands.key import key
from api.commands.load import load
from api.commands.policy import policy
from api.commands.purge import purge
from api.commands.queries import queries
from api.commands.query import query
from api.commands.rebuild import rebuild
from api.commands.revert import revert
from api.commands.serve import serve
from api.commands.submit import submit
from api.commands.token import token
from api.commands.verify import verify
from api.commands.what_if import what_if
from certificates.errors import CertificateError
from kernel.errors import MunimentError

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILED: Final = 1
UNREAD: Final = 128 + SIGPIPE
"""What a shell has for a command that SIGPIPE ended."""

_REMEDIES: Final = {
    errno.ENOENT: "check the name",
    errno.EACCES: "check who may read and write it",
    errno.EISDIR: "name a file",
    errno.ENOSPC: "make room on the disk",
}
"""What to do about what the system refuses."""


class _Done(Exception):
    """A command has answered."""

    def __init__(self, status: int) -> None:
        self.status = status


def _done(status: int, *, version: bool) -> None:  # noqa: ARG001 - an option of all commands is given to it too
    raise _Done(status)


_HELP: Final = """An RDF knowledge graph in which every change is planned, checked, certified, and only then applied.

Facts carry two times, when they were true and when that was believed, and can be asked for at any pair of moments.
"""

_EPILOG: Final = """First steps:

* `muniment demo` serves a base full of facts, to try things on.
* `muniment serve --data data` serves one of your own, and `muniment token create --data data --role editor` makes the
  token that it asks for.
* `muniment COMMAND --help` has an example of each command.
* `muniment doctor --data data` says what is wrong, and what to do about it.
"""

_START: Final = "Start"
_WORK: Final = "Read and write"
_TRUST: Final = "Verify"
_OPERATE: Final = "Operate"

app = typer.Typer(
    name="muniment",
    help=_HELP,
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    result_callback=_done,
)


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"muniment {version('muniment')}")
        raise typer.Exit


@app.callback()
def muniment(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_say_version, help="Say the version and leave.")
    ] = False,
) -> None:
    """What goes for all commands; the help above is the application's."""


app.command(rich_help_panel=_START)(careful(demo))
app.command(rich_help_panel=_START)(careful(serve))
app.add_typer(token, name="token", rich_help_panel=_START)
app.command(rich_help_panel=_WORK)(careful(submit))
app.command(rich_help_panel=_WORK)(careful(decide))
app.command(rich_help_panel=_WORK)(careful(revert))
app.add_typer(what_if, name="what-if", rich_help_panel=_WORK)
app.add_typer(purge, name="purge", rich_help_panel=_WORK)
app.command(rich_help_panel=_WORK)(careful(query))
app.add_typer(queries, name="queries", rich_help_panel=_WORK)
app.add_typer(policy, name="policy", rich_help_panel=_WORK)
app.command(rich_help_panel=_WORK)(careful(diff))
app.command(rich_help_panel=_WORK)(careful(load))
app.command(rich_help_panel=_WORK)(careful(export))
app.command(rich_help_panel=_WORK)(careful(dump))
app.command(rich_help_panel=_TRUST)(careful(check))
app.command(rich_help_panel=_TRUST)(careful(verify))
app.add_typer(key, name="key", rich_help_panel=_TRUST)
app.command(rich_help_panel=_TRUST)(careful(audit))
app.command(rich_help_panel=_TRUST)(careful(anchor))
app.command(rich_help_panel=_OPERATE)(doctor)
app.command(rich_help_panel=_OPERATE)(careful(config))
app.command(rich_help_panel=_OPERATE)(careful(access))
app.command(rich_help_panel=_OPERATE)(careful(rebuild))
app.command(rich_help_panel=_OPERATE)(careful(backup))
app.command(rich_help_panel=_OPERATE)(careful(restore))


def run() -> int:
    """Runs the command that the command line names; answers the exit status."""
    try:
        # Called itself, `app` would put its own hook for what nobody foresaw in the place of ours.
        return int(get_command(app)(standalone_mode=False) or 0)
    except _Done as done:
        return done.status
    except SystemExit:  # as the library answers a pipe that nobody reads any more
        return UNREAD
    except TyperException as error:
        for line in _misread(error):
            typer.echo(line, err=True)
        return USAGE
    except (MunimentError, CertificateError) as error:
        typer.echo(f"muniment: {error}", err=True)
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "look at the disk and at who may use it")
        typer.echo(f"muniment: {error.filename or 'input or output'}: {error.strerror} ({remedy})", err=True)
    return FAILED


def _misread(error: TyperException) -> Iterator[str]:
    """What is wrong with the command line, on one line; nothing where its help has been shown instead."""
    from pydantic import ValidationError

    from api.wording import in_words

    if isinstance(error.__cause__, ValidationError):
        error.message = in_words(error.__cause__)
    told = error.format_message().strip().rstrip(".")
    if told:
        path: str = getattr(getattr(error, "ctx", None), "command_path", "muniment")
        yield f"muniment: {told[:1].lower()}{told[1:]} (see `{path} --help`)"
