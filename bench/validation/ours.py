"""Ours: a full validation of a graph in memory, and what judging a plan of one fact takes on a ledger.

Rules
-----
* A full validation is what `muniment check` does once its files are read; memory is the process's highest, reading
  included.
* A plan is made before anything is timed; timed is what finds out whether its facts may come, at every valid time, on
  the ledger of a base. Nothing is written.
* A hub is an organisation that as many persons work for as there are triples otherwise; one more does. A leaf is an
  organisation beside it that nobody else works for.

Example
-------
::

    python -m bench.validation.ours DIRECTORY TRIPLES
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bench.serving import Contestant, Work, serve
from bench.validation import workload
from bench.validation.workload import Judged
from bridge.ledger.sqlite import SqliteLedger
from bridge.shapes.checker import CoreChecker
from bridge.shapes.data import Data
from bridge.shapes.document import ShapesDocument
from bridge.shapes.registry import Shapes
from bridge.shapes.validation import Validation
from bridge.terms import OxigraphCanonicaliser
from certificates.ids import derived_id, uuid7
from kernel.access import Principal, Role
from kernel.changes import Assert, End, Request
from kernel.facts import FactContent, Validity
from kernel.governance import Governance
from kernel.terms import Iri, Literal, Statement, parse_iri, parse_term
from kernel.time.instants import Instant, parse_instant
from kernel.vocabulary import DEFAULT_GRAPH, GENID, SHAPES_GRAPH
from kernel.writing.planner import Planner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from kernel.changes import Change
    from kernel.terms import Term
    from kernel.writing.plan import Plan

WRITER: Final = Principal("bench", Role.ADMINISTRATOR)
AT: Final = parse_instant("2026-01-01T00:00:00Z")
_CANONICAL: Final = OxigraphCanonicaliser()


class Ours(Contestant):
    """A graph, and ledgers to judge on, each made when it is first asked for."""

    def __init__(self, directory: Path, triples: int) -> None:
        self.facts = triples
        self._directory = directory
        self._data: Data | None = None
        self._judging: dict[str, _Judging] = {}

    def load(self) -> None:
        """Reads the graph."""
        data = Data({})
        for subject, predicate, value in map(_read, workload.triples(self.facts)):
            spellings = (value,) if isinstance(value, Literal) else ()
            data.add((subject, predicate, _CANONICAL.canonical(value)), spellings)
        self._data = data

    def validate(self) -> None:
        """Validates it."""
        if self._data is not None:
            workload.require(sum(1 for _ in Validation(_shapes(), self._data).results()), self.facts)
        self._data = None

    def ready(self, work: Work, first: int, count: int) -> None:
        """Makes the plans."""
        self._of(work).plan(Judged(work), range(first, first + count), self.facts)

    def judge(self, work: Work, number: int) -> None:
        """Judges a plan."""
        self._of(work).judge(number)

    def close(self) -> None:
        """Closes the ledgers."""
        for each in self._judging.values():
            each.close()

    def _of(self, work: Work) -> _Judging:
        at_hub = work in {Work.HUB, Work.LEAF}
        name = "hub" if at_hub else "graph"
        if name not in self._judging:
            lines = workload.hub(self.facts) if at_hub else workload.triples(self.facts)
            self._judging[name] = _Judging(self._directory / f"{name}.sqlite", lines)
        return self._judging[name]


class _Judging:
    """A ledger, and plans to judge on it."""

    def __init__(self, path: Path, lines: Iterable[str]) -> None:
        self._ledger = SqliteLedger.open(path)
        self._governance = Governance("")
        self._checker = CoreChecker()
        self._plans: dict[int, Plan] = {}
        self._load(lines)
        self._reading = self._ledger.reading()
        self._view = self._governance.over(self._reading.__enter__())

    def plan(self, kind: Judged, numbers: Iterable[int], triples: int) -> None:
        """Makes plans of one fact each."""
        self._plans = {}
        for number in numbers:
            asked = Request((_change(kind, number, triples),), None, None, WRITER.id)
            self._plans[number] = Planner(uuid7(), Instant(AT + 1), self._view, WRITER).plan(asked)

    def judge(self, number: int) -> None:
        """Judges one; what conforms has no findings."""
        found = self._checker.findings(self._plans[number], self._view)
        if found:
            raise ValueError(f"{found[0]}")

    def close(self) -> None:
        """Closes the ledger."""
        self._reading.__exit__(None, None, None)
        self._ledger.close()

    def _load(self, lines: Iterable[str]) -> None:
        certificate = uuid7()
        statements = (
            Statement(subject, predicate, _CANONICAL.canonical(value), DEFAULT_GRAPH)
            for subject, predicate, value in map(_read, lines)
        )
        shapes = (Statement(*triple, SHAPES_GRAPH) for triple in _shape_triples())
        with self._ledger.transaction() as tx:
            tx.record(certificate, AT, _facts(certificate, chain(shapes, statements)))
            tx.commit()


def _facts(certificate: UUID, statements: Iterable[Statement]) -> Iterator[tuple[FactContent, bytes]]:
    for number, statement in enumerate(statements):
        identifier = derived_id(certificate, "fact", number)
        yield FactContent(identifier, identifier, statement, Validity.always()), bytes(32)


def _change(kind: Judged, number: int, triples: int) -> Change:
    subject, predicate, value = _read(workload.changed(kind, number, triples))
    statement = Statement(subject, predicate, value, DEFAULT_GRAPH)
    return End(statement) if kind is Judged.ENDED else Assert(statement, Validity.always())


def _shapes() -> Shapes:
    return Shapes(ShapesDocument.of_triples((triple, ()) for triple in _shape_triples()))


def _shape_triples() -> Iterator[tuple[Iri, Iri, Term]]:
    for quad in ox.parse(workload.SHAPES, ox.RdfFormat.TURTLE):
        yield _iri(quad.subject), _iri(quad.predicate), _term(quad.object)


def _read(line: str) -> tuple[Iri, Iri, Term]:
    subject, predicate, rest = line.split(" ", 2)
    return parse_iri(subject), parse_iri(predicate), parse_term(rest.removesuffix(" .\n"))


def _term(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> Term:
    if isinstance(term, ox.BlankNode):
        return Iri(GENID + term.value.rjust(32, "0"))
    return parse_term(str(term))


def _iri(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> Iri:
    found = _term(term)
    if not isinstance(found, Iri):
        raise TypeError(term)
    return found


if __name__ == "__main__":
    serve(lambda: Ours(Path(sys.argv[1]), int(sys.argv[2])))
