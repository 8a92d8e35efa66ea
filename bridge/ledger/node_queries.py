"""Facts by the terms that they have, now and ever, as SQL.

Rules
-----
* What is believed is found by the indexes of what is believed; what is not any more, by indexes that have only that:
  a fact that is recorded is entered into the first alone, and most facts are never superseded.
* Terms are given by the numbered parameters `?1`, `?2`, …: first the keys of those that are given, in the order
  subject, predicate, object, graph, then their texts. Where many graphs are given, their keys come last.

Example
-------
>>> "facts_believed_by_object" in believed(subject=False, predicate=True, value=True, graph=False)
True
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from bridge.ledger.fact_rows import FACT_COLUMNS

NOW: Final = "superseded_by IS NULL"
PAST: Final = "superseded_by IS NOT NULL"

_BY_SUBJECT: Final = "facts_by_statement"
_BY_OBJECT: Final = "facts_believed_by_object"


def _select(columns: str, rest: str) -> str:
    return f"SELECT {columns} {rest}"


@lru_cache(maxsize=16)
def believed(subject: bool, predicate: bool, value: bool, graph: bool) -> str:
    """What is believed, by the terms that are given."""
    index = (
        "facts_by_statement"
        if subject
        else "facts_believed_by_object"
        if value
        else "facts_by_graph"
        if graph
        else None
    )
    tests, _ = _terms(subject, predicate, value, graph)
    through = f"INDEXED BY {index}" if index else "NOT INDEXED"
    return _select(FACT_COLUMNS, f"FROM facts {through} WHERE {' AND '.join((NOW, *tests))}")


@lru_cache(maxsize=16)
def believed_then(subject: bool, predicate: bool, value: bool, graph: bool) -> str:
    """What was believed of a subject or an object at a moment, which is the last parameter."""
    tests, terms = _terms(subject, predicate, value, graph)
    tests = [*tests, f"recorded <= ?{terms + 1}", f"superseded > ?{terms + 1}"]
    return both("subject" if subject else "object", FACT_COLUMNS, " AND ".join(tests))


@lru_cache(maxsize=256)
def ever(what: str, as_object: bool, predicate: bool, graphs: int | None) -> str:
    """Some facts of a node, whatever their times, by keys alone.

    Args:
        what: `count`, or `statements`, each with whether it holds at a moment: believed at `?1` and true at `?2`.
        as_object: whether the node, whose key is `?3`, is the object.
        predicate: whether there is one, whose key is `?4`.
        graphs: how many there are, whose keys are `?6` and so on; None for all graphs.

    At most `?5` of them are looked at.
    """
    end = "object" if as_object else "subject"
    tests = [f"{end}_key = ?3", *["predicate_key = ?4"] * predicate, *_within(6, graphs)]
    holds = "recorded <= ?1 AND superseded > ?1 AND valid_from <= ?2 AND valid_to > ?2"
    columns = "1" if what == "count" else f"subject, predicate, object, graph, {holds}"
    some = f"{both(end, columns, ' AND '.join(tests))} LIMIT ?5"
    return f"SELECT count(*) FROM ({some})" if what == "count" else some  # noqa: S608 - all of it is here


@lru_cache(maxsize=256)
def differing(end: str, graphs: int | None, differs: str) -> str:
    """The facts of a node, whose key is `?5` and text `?6`, that pass a test, in so many graphs or in any."""
    return both(end, FACT_COLUMNS, " AND ".join([f"{end}_key = ?5", f"{end} = ?6", *_within(7, graphs), differs]))


def both(end: str, columns: str, tests: str) -> str:
    """What is believed and what was, of facts that pass tests on a node that is their subject or object."""
    now = _BY_SUBJECT if end == "subject" else _BY_OBJECT
    return (
        f"SELECT {columns} FROM facts INDEXED BY {now} WHERE {NOW} AND {tests}"  # noqa: S608 - all of it is ours
        f" UNION ALL SELECT {columns} FROM facts INDEXED BY facts_past_by_{end} WHERE {PAST} AND {tests}"
    )


def _terms(subject: bool, predicate: bool, value: bool, graph: bool) -> tuple[list[str], int]:
    """The tests for the terms that are given, and how many parameters they have."""
    terms = {"subject": subject, "predicate": predicate, "object": value, "graph": graph}
    given = [name for name, is_given in terms.items() if is_given]
    keys = [f"{name}_key = ?{number}" for number, name in enumerate(given, 1)]
    texts = [f"{name} = ?{number}" for number, name in enumerate(given, len(given) + 1)]
    return keys + texts, 2 * len(given)


def _within(first: int, graphs: int | None) -> list[str]:
    """The test for one of so many graphs; for none of them one that nothing passes, as `IN ()` can use no index."""
    if graphs is None:
        return []
    return [f"graph_key IN ({', '.join(f'?{first + number}' for number in range(graphs)) or 'NULL'})"]
