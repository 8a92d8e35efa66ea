"""`muniment load`: files become one load session: read, judged whole, one certificate.

Rules
-----
* The load runs in this process and holds the base, so no server may run on the folder at the same time. It is judged by
  the policy that the settings (`MUNIMENT_POLICY`, `MUNIMENT_CONFIDENCE`) name, as what comes over HTTP is.
* A load that was interrupted goes on where it was when the same command is given again; one that is done answers again
  with its certificate.
* Lines that cannot be loaded are listed, the first ones on standard error, all of them in `--refused`.

Example
-------
::

    muniment load people.ttl posts.nq --data data --graph https://example.org/g --valid-from 2020
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.commands.options import AcceptClock, Data, iri_option, local_principal
from api.commands.progress import load_progress
from certificates.ids import urn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from bridge.base import Base
    from bridge.loading.options import LoadOptions
    from bridge.loading.refusals import Refusal, Refusals
    from bridge.loading.session import Staged
    from kernel.writing.submitting import Outcome

IN_REVIEW: Final = 2
REFUSED: Final = 3
STALE: Final = 4

EXIT_STATUS: Final = {"applied": 0, "pending": IN_REVIEW, "refused": REFUSED, "rejected": REFUSED, "stale": STALE}
"""By the certificate's state."""

FINDINGS_SHOWN: Final = 20


def load(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            exists=True,
            dir_okay=False,
            help="Files to load: .nt .nq .ttl .trig .jsonld .rdf .xml, or .ndjson with one change a line.",
        ),
    ],
    data: Data,
    *,
    graph: Annotated[
        str | None,
        typer.Option(
            "--graph", metavar="IRI", help="Where statements go. [default: https://w3id.org/muniment#default]"
        ),
    ] = None,
    valid_from: Annotated[
        str | None, typer.Option("--valid-from", metavar="TIME", help="Since when they are true. [default: ever]")
    ] = None,
    valid_to: Annotated[
        str | None, typer.Option("--valid-to", metavar="TIME", help="Until when, exclusive. [default: for ever]")
    ] = None,
    valid_through: Annotated[
        str | None, typer.Option("--valid-through", metavar="TIME", help="Until when, inclusive.")
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="For those who will read the certificate.")
    ] = None,
    episode: Annotated[
        str | None, typer.Option("--episode", metavar="IRI", help="The source that all facts cite.")
    ] = None,
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Leave out lines that cannot be loaded, and load the rest.")
    ] = False,
    refused: Annotated[
        Path | None,
        typer.Option(
            "--refused", metavar="FILE", dir_okay=False, help="Write every such line's place and fault here, as NDJSON."
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Load files that were loaded before, under a new certificate.")
    ] = False,
    accept_clock: AcceptClock = False,
) -> int:
    """Load files under one certificate.

    All files are read first, then judged as a whole. Given again after an interruption, the same command goes on where
    it was; given again after that, it answers with the same certificate, unless that was refused or rejected.

    Exit status: 0 applied, 2 in review, 3 refused or rejected, 4 stale; 1 an error; 64 a wrong command line.

    Example: muniment load people.ttl --data data --graph https://example.org/g --valid-from 2020
    """
    from api.settings import read_settings
    from bridge.base import Base
    from bridge.loading.options import LoadOptions

    options = LoadOptions(
        graph=None if graph is None else iri_option("--graph", graph),
        valid_from=valid_from,
        valid_to=valid_to,
        valid_through=valid_through,
        reason=reason,
        episode=None if episode is None else iri_option("--episode", episode),
        skip_invalid=skip_invalid,
        again=again,
    )
    chosen = read_settings(data=data)
    opened = Base.open(
        data,
        policy=chosen.verdict_policy,
        accept_clock=accept_clock,
        key=chosen.given_key,
        issuer=chosen.issuer,
    )
    with opened as base, _refusals(refused) as refusals:
        staged, outcome = _load(base, files, options, refusals)
    for line in _answer(staged, outcome, refusals):
        typer.echo(line)
    return EXIT_STATUS["refused" if outcome.state is None else outcome.state.value]


def _load(base: Base, files: list[Path], options: LoadOptions, refusals: Refusals) -> tuple[Staged, Outcome]:
    """Stages and applies, and lists what was refused, also when that is why nothing is loaded."""
    from api.collector import relieve
    from bridge.loading.session import Watch, stage_files
    from kernel.writing.loading import LoadRequest

    principal = local_principal()
    try:
        with load_progress() as progress:
            staged = stage_files(base.ledger, files, options, principal, Watch(refusals, progress.read, _resumed))
            total = staged.changes or 0
            relieve()
            wanted = LoadRequest(staged.request, principal, lambda done: progress.plan(done, total))
            return staged, base.load(wanted).result()
    finally:
        _list(refusals)


@contextmanager
def _refusals(path: Path | None) -> Iterator[Refusals]:
    """What counts refusals and, if a file is given, writes each of them there as it is met."""
    from bridge.loading.refusals import Refusals

    if path is None:
        yield Refusals()
        return
    with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
        yield Refusals(lambda refusal: _write(file, refusal))


def _write(file: TextIO, refusal: Refusal) -> None:
    members = {"file": refusal.file, "line": refusal.line, "code": refusal.code, "message": refusal.message}
    file.write(json.dumps(members, ensure_ascii=False) + "\n")


def _resumed(chunks: int) -> None:
    kept = f"{chunks} {'part' if chunks == 1 else 'parts'} of these files {'is' if chunks == 1 else 'are'} kept"
    typer.echo(f"going on with a load that was interrupted: {kept} already", err=True)


def _list(refusals: Refusals) -> None:
    for refusal in refusals.listed:
        typer.echo(str(refusal), err=True)
    unlisted = refusals.total - len(refusals.listed)
    if unlisted:
        typer.echo(f"… and {unlisted} more; --refused FILE writes all of them", err=True)


def _answer(staged: Staged, outcome: Outcome, refusals: Refusals) -> Iterator[str]:
    """What became of the load, one line each."""
    if staged.changes is None:
        now = "in review" if outcome.state is not None and outcome.state.value == "pending" else "loaded"
        yield f"already {now}: the same files got this certificate before (--again loads them anew)"
    yield f"certificate  {'none' if outcome.certificate is None else urn(outcome.certificate)}"
    yield f"verdict      {outcome.verdict.value}"
    yield f"state        {'none' if outcome.state is None else outcome.state.value}"
    if outcome.head is not None:
        yield f"head         {outcome.head}"
    if staged.changes is not None:
        yield f"changes      {staged.changes}"
    if refusals.total:
        counts = ", ".join(f"{code} {count}" for code, count in sorted(refusals.by_code.items()))
        yield f"left out     {refusals.total} ({counts})"
    if outcome.findings:
        yield f"findings     {len(outcome.findings)}"
    for finding in outcome.findings[:FINDINGS_SHOWN]:
        yield f"  {finding.severity.value} {finding.code.value}: {finding.message}"
    if len(outcome.findings) > FINDINGS_SHOWN:
        yield "  …"
