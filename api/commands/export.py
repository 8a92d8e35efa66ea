"""`muniment export`: a graph as a document, from a folder or from a service.

Rules
-----
* The document goes to standard output as it is read, or to a file, which is there only once it is complete.
* On a folder the base is held while the export runs. Where a server holds it, that server is the one to ask: `--url`.
* What was told of is told on standard error: the head, and the valid time.

Example
-------
::

    muniment export https://example.org/g --data data --annotations --valid-at any --output g.jsonld
    muniment export https://example.org/g --url http://127.0.0.1:8350 --token-env TOKEN --format turtle
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.commands.options import (
    AsOf,
    MaybeData,
    MaybeUrl,
    Output,
    TokenEnv,
    TokenFile,
    folder_or_url,
    iri_option,
    local_principal,
    named_token,
    open_to_read,
)
from api.commands.output import written_to
from api.commands.progress import waiting
from kernel.errors import InvalidParameter
from kernel.vocabulary import DEFAULT_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class ExportFormat(StrEnum):
    """The formats of `--format`."""

    JSONLD = "jsonld"
    TURTLE = "turtle"
    TRIG = "trig"
    NQUADS = "nquads"


MEDIA_TYPES: Final = {
    ExportFormat.JSONLD: "application/ld+json",
    ExportFormat.TURTLE: "text/turtle",
    ExportFormat.TRIG: "application/trig",
    ExportFormat.NQUADS: "application/n-quads",
}
ANY: Final = "any"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be exported, as on the command line."""

    graph: str
    format: ExportFormat
    as_of: str | None
    valid_at: str | None
    annotations: bool
    signed: bool


@dataclass(frozen=True, slots=True)
class Exported:
    """A document that is on its way, and the state that it is of."""

    chunks: Iterable[bytes]
    head: str
    valid_at: str


def export(
    graph: Annotated[str, typer.Argument(metavar="GRAPH", help="The graph's IRI.")] = DEFAULT_GRAPH.value,
    *,
    data: MaybeData = None,
    url: MaybeUrl = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
    as_of: AsOf = None,
    valid_at: Annotated[
        str | None,
        typer.Option(
            "--valid-at",
            metavar="TIME|any",
            help="As true when; any, with annotations: also what is not true now. [default: as-of, or now]",
        ),
    ] = None,
    annotations: Annotated[
        bool, typer.Option("--annotations", help="With valid times, certificates and evidence.")
    ] = False,
    signed: Annotated[
        bool, typer.Option("--signed", help="As a Verifiable Credential; `muniment verify` checks it. JSON-LD only.")
    ] = False,
    output_format: Annotated[ExportFormat, typer.Option("--format", help="How to write it.")] = ExportFormat.JSONLD,
    output: Output = None,
) -> int:
    """Export a graph as a document, now or at any other pair of times.

    With --annotations --valid-at any, the document holds all that another base needs to know the same.

    Example: muniment export https://example.org/g --data data --format turtle
    """
    if signed and output_format is not ExportFormat.JSONLD:
        raise InvalidParameter("only JSON-LD can be signed", remedy="leave --format or --signed out", where="--format")
    iri_option("GRAPH", graph)
    wanted = Wanted(graph, output_format, as_of, valid_at, annotations, signed)
    asked = folder_or_url(data, url, token=bool(token_env or token_file))
    if isinstance(asked, Path):
        document = _from_folder(asked, wanted)
    else:
        from api.commands.remote.reading import exported

        document = exported(asked, named_token(token_env, token_file), wanted)
    with document as told, written_to(output) as file:
        with nullcontext() if output is None and sys.stdout.isatty() else waiting("exporting"):
            for chunk in told.chunks:
                file.write(chunk)
        typer.echo(f"head {told.head}, valid at {told.valid_at}", err=True)
    return 0


@contextmanager
def _from_folder(data: Path, wanted: Wanted) -> Iterator[Exported]:
    from api.http.replies import state_headers
    from bridge.exporting.exporter import Exporter, ExportRequest, Format
    from kernel.terms import Iri

    every_time = wanted.valid_at == ANY
    request = ExportRequest(
        local_principal(), Iri(wanted.graph), Format(MEDIA_TYPES[wanted.format]), wanted.annotations, every_time
    )
    with open_to_read(data) as base:
        moment = base.reader.moment(wanted.as_of, None if every_time else wanted.valid_at)
        exporter = Exporter(base.ledger, base.key, base.host)
        with exporter.signed(request, moment) if wanted.signed else exporter.open(request, moment) as export:
            told = state_headers(export.head, export.valid_at)
            yield Exported(export.chunks(), told["Muniment-Head"], told["Muniment-Valid-At"])
