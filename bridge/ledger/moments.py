"""What a moment in the past holds, counted, and what tells it from the present: as SQL.

Rules
-----
* Parameters of `SINCE`: 1 as-of and 2 valid-at of the moment; 3 and 4 the clocks between which stores stand that are
  compared with it, the second being the view's; 5 and 6 the earliest and latest of valid-at and these.
* Stores may lack the last of what the view has, and have everything up to as-of. What may be in them and did not hold
  at the moment is what was recorded after as-of, was superseded after it, or ends or begins between the instants, if it
  holds at any clock that they may stand at. What held at the moment and may not be in them was superseded, or ends or
  begins between the instants. All other believed facts that held are in both: they hold at valid-at and at all clocks.
* Believed facts of a statement have disjoint intervals: so whatever of a statement is in neither of these does not
  interfere.
* All of it is found by ranges of indexes as long as what changed, and counted in the indexes alone but for what is due.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_HELD: Final = "valid_from <= ?2 AND valid_to > ?2"
_SHOWN: Final = "valid_from <= ?4 AND valid_to > ?3"
"""At one of the clocks."""

_BELIEVED: Final = "superseded = 9223372036854775807"
_SUPERSEDED: Final = "superseded > ?1 AND superseded < 9223372036854775807"
_DUE: Final = f"superseded_by IS NULL AND recorded <= ?1 AND (({_HELD}) OR ({_SHOWN}))"
_BEGINS: Final = "valid_from <> -9223372036854775808 AND valid_from > ?5 AND valid_from <= ?6"
_ENDS: Final = "valid_to <> 9223372036854775807 AND valid_to > ?5 AND valid_to <= ?6"

_PARTS: Final = (
    ("facts_by_time", "0", f"{_BELIEVED} AND recorded > ?1 AND {_SHOWN}"),
    (
        "facts_by_time",
        f"recorded <= ?1 AND {_HELD}",
        f"{_SUPERSEDED} AND ((recorded <= ?1 AND {_HELD}) OR ({_SHOWN}))",
    ),
    ("facts_by_start", _HELD, f"{_DUE} AND {_BEGINS}"),
    ("facts_by_end", _HELD, f"{_DUE} AND {_ENDS}"),
)


def _since(columns: str) -> str:
    parts = (
        f"SELECT {columns.format(held=held)} FROM facts INDEXED BY {index} WHERE {where}"  # noqa: S608 - all of it is here
        for index, held, where in _PARTS
    )
    return " UNION ALL ".join(parts)


SINCE: Final = _since("subject, predicate, object, graph, {held}")
COUNT_SINCE: Final = f"SELECT count(*) FROM ({_since('1')} LIMIT ?7)"  # noqa: S608 - all of it is here


STATEMENTS_AT: Final = f"""SELECT subject, predicate, object, graph FROM facts WHERE row IN (
    SELECT row FROM facts INDEXED BY facts_by_time WHERE {_BELIEVED} AND recorded <= ?1 AND {_HELD}
    UNION ALL SELECT row FROM facts INDEXED BY facts_by_time WHERE {_SUPERSEDED} AND recorded <= ?1 AND {_HELD}
)"""  # noqa: S608 - all of it is here


RECORDED_SINCE: Final = f"""SELECT count(*) FROM (
    SELECT 1 FROM facts INDEXED BY facts_by_time WHERE {_BELIEVED} AND recorded > ?1 AND recorded <= ?2
    UNION ALL
    SELECT 1 FROM facts INDEXED BY facts_by_time
        WHERE {_SUPERSEDED} AND (superseded <= ?2 OR (recorded > ?1 AND recorded <= ?2))
    LIMIT ?3)"""  # noqa: S608 - all of it is here
"""How many facts were recorded or superseded in (?1, ?2]."""

RECORDED_BY: Final = f"""SELECT (SELECT count(*) FROM facts INDEXED BY facts_by_id) - (SELECT count(*) FROM (
    SELECT 1 FROM facts INDEXED BY facts_by_time WHERE {_BELIEVED} AND recorded > ?1
    UNION ALL
    SELECT 1 FROM facts INDEXED BY facts_by_time WHERE {_SUPERSEDED} AND recorded > ?1))"""  # noqa: S608 - all of it is here
"""How many facts were recorded by ?1."""

HISTORY: Final = """SELECT count(*),
    coalesce(sum(substr(object, 1, 1) = '<' AND substr(object, 1, 3) <> '<<('), 0),
    coalesce(sum((valid_from <> -9223372036854775808) + (valid_to <> 9223372036854775807)), 0),
    coalesce(sum((from_precision NOT IN (0, 7)) + (to_precision NOT IN (0, 7))), 0),
    coalesce(sum(superseded <= ?1), 0)
    FROM facts NOT INDEXED WHERE recorded <= ?1"""
"""What history has of facts, as `HistoryCounts`: of precisions, an instant (0) and no bound (7) go untold."""

HISTORY_OF_EVIDENCE: Final = """SELECT count(*), coalesce(sum(
    (episode IS NOT NULL) + (confidence IS NOT NULL) + (valid_from IS NOT NULL) + (valid_to IS NOT NULL)
    + CASE WHEN object IS NULL THEN 0 WHEN substr(object, -1) = '"' THEN 1 ELSE 2 END), 0)
    FROM evidence INDEXED BY evidence_by_time WHERE recorded <= ?1"""
"""The same of evidence. A spelling is told in two parts, unless it is a plain string."""


@lru_cache(maxsize=8)
def count_at(graphs: int | None) -> str:
    """How many facts hold at a moment; its parameters are as-of, valid-at, the most to count, and keys of graphs."""
    holds = "recorded <= ?1 AND valid_from <= ?2 AND valid_to > ?2"
    keys = ", ".join(f"?{number}" for number in range(4, 4 + (graphs or 0)))
    of_graphs = "" if graphs is None else f" AND graph_key IN ({keys})"
    index = "facts_by_time WHERE" if graphs is None else "facts_by_graph WHERE superseded_by IS NULL AND"
    return (
        f"SELECT count(*) FROM (SELECT 1 FROM facts INDEXED BY {index} {_BELIEVED} AND {holds}{of_graphs} UNION ALL"  # noqa: S608 - all of it is here
        f" SELECT 1 FROM facts INDEXED BY facts_by_time WHERE {_SUPERSEDED} AND {holds}{of_graphs} LIMIT ?3)"
    )
