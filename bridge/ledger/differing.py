"""Which facts hold at one of two moments and not at the other, as SQL.

Rules
-----
* A fact holds at a moment if it is believed then and true then. Both moments are parameters: ?1 and ?2 are transaction
  and valid time of one, ?3 and ?4 of the other; ?5 is a term's key, ?6 its text, and what follows are keys of graphs.
* Between two transaction times at one valid time, what was recorded or superseded between them is found by the time
  index; else the facts of a graph are looked at row by row. Those of a node come from its indexes, graph by graph.

Example
-------
>>> "facts_past_by_object" in of_node("object", 2)
True
"""

from __future__ import annotations

from typing import Final

from bridge.ledger.fact_rows import FACT_COLUMNS
from bridge.ledger.node_queries import differing

_HOLDS: Final = "(recorded <= ?{0} AND superseded > ?{0} AND valid_from <= ?{1} AND valid_to > ?{1})"
_DIFFERS: Final = f"{_HOLDS.format(1, 2)} <> {_HOLDS.format(3, 4)}"
_BETWEEN: Final = """row IN (
    SELECT row FROM facts INDEXED BY facts_by_time
        WHERE superseded = 9223372036854775807 AND recorded > ?1 AND recorded <= ?3
    UNION ALL
    SELECT row FROM facts INDEXED BY facts_by_time
        WHERE superseded > ?1 AND superseded < 9223372036854775807
        AND (superseded <= ?3 OR (recorded > ?1 AND recorded <= ?3)))"""
_OF_GRAPH: Final = f"{_DIFFERS} AND graph_key = ?5 AND graph = ?6 ORDER BY row"


def _select(rest: str) -> str:
    return f"SELECT {FACT_COLUMNS} {rest}"


BETWEEN_HEADS: Final = _select(f"FROM facts WHERE {_BETWEEN} AND {_OF_GRAPH}")
"""Of a graph, between two transaction times, the first before the second, at one valid time."""

OF_GRAPH: Final = _select(f"FROM facts NOT INDEXED WHERE {_OF_GRAPH}")
"""Of a graph, between any two moments."""


def of_node(end: str, graphs: int | None) -> str:
    """Of a node as subject or object; in so many graphs, or in any."""
    return differing(end, graphs, _DIFFERS)
