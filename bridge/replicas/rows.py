"""The first rows of an answer, as bytes between processes.

Example
-------
>>> from bridge.sparql.sample import Blank
>>> from kernel.terms import Iri
>>> rows = ((Iri("urn:a"), Blank("b0")), (None, "<<( _:b1 <urn:p> <urn:o> )>>"))
>>> found = Sample(None, ("x", "y"), rows, more=True)
>>> decode_sample(encode_sample(found)) == found
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from bridge.sparql.sample import Blank, Sample
from kernel.terms import parse_term

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.sparql.sample import Cell


def encode_sample(found: Sample) -> bytes:
    """The rows as JSON, terms in their N-Triples form."""
    return orjson.dumps(
        {
            "boolean": found.boolean,
            "variables": found.variables,
            "rows": [[*map(_encoded, row)] for row in found.rows],
            "more": found.more,
            "graph": found.graph,
        }
    )


def decode_sample(data: bytes) -> Sample:
    """The rows that `encode_sample` made bytes of."""
    read = orjson.loads(data)
    rows = tuple(tuple(map(_decoded, row)) for row in read["rows"])
    return Sample(read["boolean"], tuple(read["variables"]), rows, read["more"], read["graph"])


def _encoded(cell: Cell) -> Mapping[str, str] | None:
    if cell is None:
        return None
    if isinstance(cell, str):
        return {"text": cell}
    return {"blank": cell.label} if isinstance(cell, Blank) else {"term": cell.n3}


def _decoded(cell: Mapping[str, str] | None) -> Cell:
    if cell is None:
        return None
    if "text" in cell:
        return cell["text"]
    return Blank(cell["blank"]) if "blank" in cell else parse_term(cell["term"])
