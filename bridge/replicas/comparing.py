r"""Answers of one query at two states, compared in the process that gives them.

Rules
-----
* An answer is lines, one a row: the names of its variables, and then its rows as TSV (SPARQL 1.1 Query Results CSV and
  TSV Formats, section 4), in which different terms are written differently. An ASK has one row of one variable; triples
  are rows of three, each once, for a graph is a set.
* Answers are compared as multisets: their order, which a query may leave open, says nothing.
* What goes back are counts, and a sample of rows: the first in the order of their text, none of them long. So the same
  difference has the same sample.

Example
-------
>>> before, after = b"?x\n<urn:a>\n<urn:b>\n<urn:b>\n", b"?x\n<urn:c>\n<urn:b>\n"
>>> difference(before, after, rows=1)
{'gained': 1, 'lost': 2, 'sample': [[True, 1, {'x': '<urn:c>'}], [False, 1, {'x': '<urn:a>'}]]}
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import nsmallest
from typing import IO, TYPE_CHECKING, Any, Final, cast

import pyoxigraph as ox

from bridge.sparql.dataset import Dataset
from bridge.sparql.query import start

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST: Final = 2_000
"""Bytes of a row that goes into a sample."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A query, and what it is asked of.

    Args:
        text: as it is run.
        before: the dataset at the first state.
        after: that at the second.
        known: under which name an answer at the first state may be remembered; None: it is not looked for.
        keep: under which name to remember that at the second; None: it is forgotten.
    """

    text: str
    before: Dataset
    after: Dataset
    known: str | None = None
    keep: str | None = None

    def told(self) -> dict[str, object]:
        """What a worker is told."""
        return {
            "text": self.text,
            "before": _told(self.before),
            "after": _told(self.after),
            "known": self.known,
            "keep": self.keep,
        }


@dataclass(frozen=True, slots=True)
class Compared:
    """How an answer changes.

    Args:
        gained: rows that are new.
        lost: rows that are gone.
        sample: some of either: whether it is new, how often it comes, and its terms in N-Triples by variable.
    """

    gained: int
    lost: int
    sample: tuple[tuple[bool, int, tuple[tuple[str, str], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class NotCompared:
    """There is no answer: what failed, as in frames of errors, and what the engine says."""

    what: str
    message: str


def compared(head: Mapping[str, Any]) -> Compared | NotCompared:
    """What a worker said of a comparison."""
    if "what" in head:
        return NotCompared(head["what"], head["message"])
    sample = tuple((new, times, tuple(row.items())) for new, times, row in head["sample"])
    return Compared(head["gained"], head["lost"], sample)


def dataset_told(told: Mapping[str, Any]) -> tuple[bool, tuple[str, ...], tuple[str, ...]]:
    """What a worker was told of a dataset."""
    return told["union"], tuple(told["default"]), tuple(told["named"])


def answer_lines(store: ox.Store, text: str, dataset: Dataset, into: IO[bytes]) -> None:
    """Writes what a query answers, a row a line. Raises what the engine raises, and what `into` does."""
    results = start(store, text, dataset)
    if isinstance(results, ox.QueryBoolean):
        into.write(b"?answer\n" + (b"true\n" if results else b"false\n"))
    elif isinstance(results, ox.QuerySolutions):
        results.serialize(into, format=ox.QueryResultsFormat.TSV)
    else:
        into.write(b"?subject\t?predicate\t?object\n")
        for triple in dict.fromkeys(results):
            into.write(f"{triple.subject}\t{triple.predicate}\t{triple.object}\n".encode())


def difference(before: bytes, after: bytes, rows: int) -> dict[str, object]:
    """How the second answer differs from the first; with so many rows of each kind at most."""
    if before == after:
        return {"gained": 0, "lost": 0, "sample": []}
    (names, *old), (_, *new) = before.split(b"\n"), after.split(b"\n")
    was, now = Counter(old[:-1]), Counter(new[:-1])
    gained, lost = now - was, was - now
    sample = [[True, *each] for each in _sample(names, gained, rows)]
    sample += [[False, *each] for each in _sample(names, lost, rows)]
    return {"gained": gained.total(), "lost": lost.total(), "sample": sample}


def _sample(names: bytes, counted: Counter[bytes], rows: int) -> list[tuple[int, dict[str, str]]]:
    chosen = nsmallest(rows, (line for line in counted if len(line) <= LONGEST))
    if not chosen:
        return []
    read = cast(
        "ox.QuerySolutions",
        ox.parse_query_results(b"\n".join((names, *chosen, b"")), ox.QueryResultsFormat.TSV),
    )
    variables = [variable.value for variable in read.variables]
    told = [
        {name: str(term) for name, term in zip(variables, solution, strict=True) if term is not None}
        for solution in read
    ]
    return [(counted[line], row) for line, row in zip(chosen, told, strict=True)]


def _told(dataset: Dataset) -> dict[str, object]:
    return {
        "union": dataset.union,
        "default": [graph.value for graph in dataset.default_graphs],
        "named": [graph.value for graph in dataset.named_graphs],
    }
