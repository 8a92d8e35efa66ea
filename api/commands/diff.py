"""`muniment diff`: what differs between two moments, from a folder or from a service.

Rules
-----
* What is compared is a graph, a node, or a node in a graph; without either, the default graph.
* Two transaction times are compared: what was believed otherwise. With `--axis valid-at` two valid times: what held
  otherwise.
* The document is written as it is made. On a folder the base is held meanwhile, and there is no limit of time.

Example
-------
::

    muniment diff head:41 head:57 --graph https://example.org/g --data data
    muniment diff 2020 2025 --axis valid-at --node https://example.org/ada --url http://127.0.0.1:8350 --format patch
"""

from __future__ import annotations

from contextlib import contextmanager
from enum import StrEnum
from math import inf
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
from kernel.errors import InvalidParameter
from kernel.vocabulary import DEFAULT_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class DiffOutput(StrEnum):
    """The formats of `--format`."""

    TEXT = "text"
    JSONLD = "jsonld"
    PATCH = "patch"


class DiffAxis(StrEnum):
    """The axes of `--axis`, by the names of their parameters."""

    TRANSACTION = "as-of"
    VALID = "valid-at"


_MEDIA_TYPES: Final = {
    DiffOutput.TEXT: "text/plain",
    DiffOutput.JSONLD: "application/ld+json",
    DiffOutput.PATCH: "application/rdf-patch",
}


def diff(
    earlier: Annotated[str, typer.Argument(metavar="FROM", help="The earlier time; also head:N.")],
    later: Annotated[str | None, typer.Argument(metavar="TO", help="The later one. [default: now]")] = None,
    *,
    graph: Annotated[str | None, typer.Option("--graph", metavar="IRI", help="Of which graph.")] = None,
    node: Annotated[str | None, typer.Option("--node", metavar="IRI", help="Of which node.")] = None,
    axis: Annotated[
        DiffAxis, typer.Option("--axis", help="Whether FROM and TO say as known when, or as true when.")
    ] = DiffAxis.TRANSACTION,
    data: MaybeData = None,
    url: MaybeUrl = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
    as_of: AsOf = None,
    valid_at: Annotated[
        str | None, typer.Option("--valid-at", metavar="TIME", help="As true when. [default: now]")
    ] = None,
    output_format: Annotated[DiffOutput, typer.Option("--format", help="How to write it.")] = DiffOutput.TEXT,
    output: Output = None,
) -> int:
    """Compare two moments: what was gained, lost and corrected, and by which certificates.

    Example: muniment diff head:41 --graph https://example.org/g --data data
    """
    stands = {DiffAxis.TRANSACTION: as_of, DiffAxis.VALID: valid_at}
    if stands[axis] is not None:
        raise InvalidParameter(
            "FROM and TO say this already", remedy="leave it out, or name the other axis", where=f"--{axis}"
        )
    for option, text in (("--graph", graph), ("--node", node)):
        if text is not None:
            iri_option(option, text)
    given = {
        "graph": DEFAULT_GRAPH.value if graph is None and node is None else graph,
        "node": node,
        "from": earlier,
        "to": later,
        "axis": axis.value,
        "as-of": as_of,
        "valid-at": valid_at,
    }
    asked = folder_or_url(data, url, token=bool(token_env or token_file))
    if isinstance(asked, Path):
        told = _from_folder(asked, _MEDIA_TYPES[output_format], given)
    else:
        from api.commands.remote.reading import compared

        told = compared(asked, named_token(token_env, token_file), _MEDIA_TYPES[output_format], given)
    with told as chunks, written_to(output) as file:
        for chunk in chunks:
            file.write(chunk)
    return 0


@contextmanager
def _from_folder(data: Path, media_type: str, given: Mapping[str, str | None]) -> Iterator[Iterator[bytes]]:
    from bridge.diffing.comparing import Axis, Comparison, Diff, sides_of
    from bridge.diffing.documents import DiffFormat, document
    from kernel.terms import Iri

    graph, node = (None if given[name] is None else Iri(given[name] or "") for name in ("graph", "node"))
    axis = Axis(given["axis"] or "")
    stands = given["valid-at" if axis is Axis.TRANSACTION else "as-of"]
    with open_to_read(data) as base:
        sides = sides_of(base, axis, given["from"] or "", given["to"], stands)
        compared = Diff(base.ledger, Comparison(local_principal(), sides, graph, node), inf)
        with document(compared, DiffFormat(media_type), base.ledger.base_id()) as told:
            yield told.chunks()
