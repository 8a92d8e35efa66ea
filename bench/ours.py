"""Ours, in process: a base on disk, and what the service does for a request but for HTTP itself.

Rules
-----
* A write is built from terms, canonicalised, submitted and waited for: planned, judged by the shape in force, signed,
  durable in the ledger and readable in both stores when it returns.
* A load is what `muniment load` does: files read, staged, planned, judged, signed, durable, and in both stores.
* A look-up is answered in JSON, for a caller who may read everything.
* What it made of the facts is told to the others: the base, closed, for the one that is served over HTTP; the quads for
  the one that only writes quads.

Example
-------
::

    python -m bench.ours DIRECTORY FACTS EXCHANGE
"""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from api.collector import relieve
from bench import workload
from bench.exchange import Exchange, Written
from bench.measuring import once
from bench.serving import Contestant, serve
from bench.workload import Kind
from bridge.base import Base
from bridge.exporting.exporter import Exporter, ExportRequest, Format
from bridge.loading.options import LoadOptions
from bridge.loading.refusals import Refusals
from bridge.loading.session import Watch, stage_files
from bridge.reading.moments import NOW
from bridge.reading.reader import QueryRequest
from bridge.stores.projections import Projection
from certificates.certificate import Verdict
from kernel.access import Principal, Role
from kernel.changes import Assert, Request
from kernel.facts import Validity
from kernel.terms import Iri, Literal, Statement, parse_term
from kernel.time.instants import parse_instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.vocabulary import DEFAULT_GRAPH, SHAPES_GRAPH, M, history_graph
from kernel.writing.loading import LoadRequest
from kernel.writing.submitting import Submission

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.measuring import Sample
    from bench.workload import BenchFact
    from kernel.writing.submitting import Outcome

WRITER: Final = Principal("bench", Role.ADMINISTRATOR)
VALIDITY: Final = Validity(
    Interval(parse_instant(workload.VALID_FROM), parse_instant(workload.VALID_TO)), Precision.INSTANT, Precision.INSTANT
)
JSON: Final = "application/sparql-results+json"


class Ours(Contestant):
    """A base with the shape and the facts in it."""

    def __init__(self, directory: Path, facts: int, exchange: Exchange) -> None:
        relieve()
        self.facts = facts
        self._directory = directory
        self._exchange = exchange
        data = directory / "data"
        with prepared(data) as base:
            self.opened = once(lambda: load(base, directory, facts), facts, self.cpu)
            _export(base, exchange)
        shutil.copytree(data, exchange.base)
        self._base = Base.open(data)

    def bulk(self, count: int) -> Sample:
        """A load session, in a base that has the shape."""
        path = self._directory / "bulk"
        with prepared(path) as base:
            sample = once(lambda: load(base, self._directory, count), count, self.cpu)
        shutil.rmtree(path)
        return sample

    def write(self, kind: Kind, number: int) -> None:
        """One certified change of one fact."""
        accepted(write(self._base, workload.fact(kind, number)))

    def wrote(self, kind: Kind, first: int, count: int) -> None:
        """Tells the quads."""
        facts = list(workload.facts(kind, first, count))
        self._exchange.give(kind, first, _written(self._base, facts))

    def look_up(self, number: int) -> int:
        """A SELECT, answered in JSON."""
        text = workload.query(workload.fact(Kind.SEED, number))
        return self._base.reader.query(QueryRequest(WRITER, text, JSON)).body.count(b'"o":')

    def jsonld(self) -> None:
        """An export with spellings, blank nodes and the choke point of what may be read."""
        self._export(Format.JSON_LD)

    def turtle(self) -> None:
        """The same in Turtle."""
        self._export(Format.TURTLE)

    def _export(self, written: Format) -> None:
        exporter = Exporter(self._base.ledger, self._base.key, self._base.host)
        request = ExportRequest(WRITER, DEFAULT_GRAPH, written)
        with exporter.open(request, NOW) as export, (self._directory / "export").open("wb") as file:
            file.writelines(export.chunks())

    def close(self) -> None:
        """Closes the base."""
        self._base.close()


def prepared(path: Path) -> Base:
    """A new base that has the shape, and refuses what breaks it."""
    base = Base.open(path)
    shape = [
        Assert(Statement(Iri(subject), Iri(predicate), parse_term(value), SHAPES_GRAPH))
        for subject, predicate, value in workload.SHAPE
    ]
    accepted(_submit(base, shape))
    if write(base, workload.BROKEN).verdict is not Verdict.REFUSED:
        raise RuntimeError("a fact that breaks the shape was accepted")
    return base


def load(base: Base, directory: Path, count: int) -> None:
    """Loads so many `SEED` facts from a file, as `muniment load` does."""
    source = _source(directory, count)
    options = LoadOptions(valid_from=workload.VALID_FROM, valid_to=workload.VALID_TO)
    watch = Watch(Refusals(), lambda _read, _size: None)
    staged = stage_files(base.ledger, [source], options, WRITER, watch)
    accepted(base.load(LoadRequest(staged.request, WRITER, lambda _planned: None)).result())


def write(base: Base, fact: BenchFact) -> Outcome:
    """One change of one fact."""
    value = Literal(fact.lexical) if fact.datatype is None else Literal(fact.lexical, fact.datatype)
    subject, predicate = Iri(fact.subject), Iri(fact.predicate)
    for iri in (subject, predicate):
        base.canonicaliser.canonical(iri)
    statement = Statement(subject, predicate, base.canonicaliser.canonical(value), DEFAULT_GRAPH)
    return _submit(base, [Assert(statement, VALIDITY)])


def accepted(outcome: Outcome) -> None:
    """Raises unless it was applied."""
    if outcome.head is None:
        raise RuntimeError(f"{outcome.verdict}: {outcome.findings}")


def _submit(base: Base, changes: Sequence[Assert]) -> Outcome:
    request = Request(tuple(changes), None, None, WRITER.id)
    return base.submit(Submission(request, WRITER, None, b"", dry_run=False)).result()


def _source(directory: Path, count: int) -> Path:
    path = directory / f"{count}.nt"
    if not path.exists():
        with path.open("w", encoding="utf-8") as file:
            file.writelines(fact.triple + "\n" for fact in workload.facts(Kind.SEED, 0, count))
    return path


# --- what the others take ---------------------------------------------------------------------------------------------


def _export(base: Base, exchange: Exchange) -> None:
    for projection, path in ((Projection.COMPLETE, exchange.complete), (Projection.CURRENT, exchange.current)):
        base.stores.read(projection, partial(_dump, path))


def _dump(path: Path, store: ox.Store) -> None:
    store.dump(path, ox.RdfFormat.N_QUADS)


def _written(base: Base, facts: Sequence[BenchFact]) -> list[Written]:
    """What each of the facts put into the stores."""
    return base.stores.read(Projection.COMPLETE, lambda store: [_quads_of(store, fact) for fact in facts])[0]


def _quads_of(store: ox.Store, fact: BenchFact) -> Written:
    asserted = ox.Quad(
        ox.NamedNode(fact.subject),
        ox.NamedNode(fact.predicate),
        ox.Literal(fact.lexical, datatype=None if fact.datatype is None else ox.NamedNode(fact.datatype)),
        ox.NamedNode(DEFAULT_GRAPH.value),
    )
    if asserted not in store:
        raise RuntimeError(f"{asserted} is not in the store")
    recorded = [quad for node in _facts_of(store, asserted) for quad in store.quads_for_pattern(node, None, None)]
    return Written(_text([asserted, *recorded]), _text([asserted]))


def _facts_of(store: ox.Store, asserted: ox.Quad) -> list[ox.NamedNode | ox.BlankNode]:
    """The facts of a statement; the look-up is by the index helper, as reifiers are not indexed by what they quote."""
    history = ox.NamedNode(history_graph(DEFAULT_GRAPH).value)
    of_subject = store.quads_for_pattern(None, ox.NamedNode(f"{M}subject"), asserted.subject, history)
    reifies = ox.NamedNode(f"{workload.RDF}reifies")
    nodes = [quad.subject for quad in of_subject if isinstance(quad.subject, ox.NamedNode)]
    return [node for node in nodes if ox.Quad(node, reifies, asserted.triple, history) in store]


def _text(quads: list[ox.Quad]) -> str:
    return "".join(f"{quad} .\n" for quad in quads)


if __name__ == "__main__":
    serve(lambda: Ours(Path(sys.argv[1]), int(sys.argv[2]), Exchange(Path(sys.argv[3]))))
