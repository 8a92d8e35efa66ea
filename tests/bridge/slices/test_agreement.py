"""Slice, snapshot and brute force give one answer."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.slices.slicing import slice_of
from bridge.slices.stores import sliced_store
from bridge.snapshots.making import SnapshotMaker
from bridge.snapshots.wanted import Wanted
from bridge.stores.pair import OxigraphStores
from bridge.stores.projections import Projection
from kernel.access import Principal
from kernel.errors import QueryRefused
from kernel.ports.ledger import LedgerView
from kernel.time.instants import Instant
from tests.bridge.slices.world import EVERYBODY, SOME, a_query, answer, brute, chronicle, dataset, in_full, queries
from tests.bridge.stores.chronicle import Chronicle, day

moments = st.tuples(st.integers(1, 9).map(day), st.integers(-1, 12).map(day))
callers = st.sampled_from([EVERYBODY, SOME])


@pytest.fixture(scope="module")
def past() -> Iterator[Chronicle]:
    with chronicle(1) as made:
        yield made


class Snapshots:
    """The snapshots of a past that does not change, each made once."""

    def __init__(self, past: Chronicle) -> None:
        self._maker = SnapshotMaker(past.ledger, OxigraphStores.open(None), None)
        self._made: dict[Wanted, ox.Store] = {}

    def at(self, view: LedgerView, moment: tuple[Instant, Instant], projection: Projection) -> ox.Store:
        as_of, valid_at = moment
        wanted = Wanted(view.head_at(as_of), as_of, valid_at, projection)
        if wanted not in self._made:
            self._made[wanted] = self._maker.make(wanted).store
        return self._made[wanted]


@pytest.fixture(scope="module")
def snapshots(past: Chronicle) -> Snapshots:
    return Snapshots(past)


def agree(
    past: Chronicle, snapshots: Snapshots, text: str, moment: tuple[Instant, Instant], caller: Principal = EVERYBODY
) -> bool:
    """Whether a slice was enough; all engines have to agree with brute force."""
    allowed = dataset(text, caller, past)
    projection = Projection.COMPLETE if allowed.complete else Projection.CURRENT
    try:
        expected = answer(brute(past, *moment, projection), text, allowed)
    except QueryRefused:
        return False  # SPARQL has rules on where a variable may be bound
    with past.ledger.reading() as view:
        snapshot = snapshots.at(view, moment, projection)
        sliced = slice_of(view, text, allowed, *moment)
        assert _statements(slice_of(view, in_full(text), allowed, *moment)) == _statements(sliced), text
    assert answer(snapshot, text, allowed) == expected, text
    if sliced is None:
        return False
    assert answer(sliced_store(sliced), text, allowed) == expected, text
    return True


def _statements(sliced: bytes | None) -> list[bytes] | None:
    """In an order of their own: that of a slice goes by sets."""
    return None if sliced is None else sorted(sliced.splitlines())


@settings(max_examples=40)
@given(text=queries(), moment=moments, caller=callers)
def test_three_engines_one_answer(
    past: Chronicle, snapshots: Snapshots, text: str, moment: tuple[Instant, Instant], caller: Principal
) -> None:
    agree(past, snapshots, text, moment, caller)


def agree_often(seed: int, times: int) -> int:
    """How often a slice was enough, of so many queries of another past."""
    random = Random(seed)
    with chronicle(seed) as past:
        made = Snapshots(past)
        return sum(
            agree(past, made, a_query(random), (day(random.randint(1, 9)), day(random.randint(-1, 12))), caller)
            for caller in random.choices([EVERYBODY, SOME], k=times)
        )


def test_three_engines_one_answer_in_another_past() -> None:
    assert agree_often(2, 150) > 30


@pytest.mark.fuzz
@settings(max_examples=100)
@given(seed=st.integers(0, 1_000_000))
def test_three_engines_one_answer_whatever_the_past(seed: int) -> None:
    agree_often(seed, 300)


SLICED = {
    "a join": "SELECT * { :a :p ?x . ?x :q ?y }",
    "a join by graph": "SELECT * { :a :p ?x GRAPH ?g { ?x :q ?y } ?y ?r ?z }",
    "the graph itself": "SELECT * { GRAPH ?g { :a ?p ?o } }",
    "a graph by name": "SELECT * { GRAPH :g1 { :a ?p ?o } }",
    "governance": "SELECT * { GRAPH <https://w3id.org/muniment#shapes> { :a ?p ?o } }",
    "a path with more to it": "SELECT * { :a :p/:q* ?x }",
    "once and more": "SELECT * { ?x (:p|^:q)+ :a }",
    "what may be missing": "SELECT * { :a :p ?x OPTIONAL { ?y :q :b } }",
    "what is taken away": "SELECT * { :a :p ?x MINUS { ?x :q :b } }",
    "what is not": "SELECT * { :a :p ?x FILTER NOT EXISTS { ?x :q :b } }",
    "either": "SELECT * { { :a :p ?x } UNION { :b :q ?x } }",
    "values": "SELECT * { VALUES ?s { :a :b } ?s :p ?o }",
    "values at the end": "SELECT * { ?s :p ?o } VALUES ?s { :a :b }",
    "a number as it is not stored": "SELECT * { ?s :r '01'^^<http://www.w3.org/2001/XMLSchema#int> }",
    "another spelling": "SELECT * { ?s :r 1.50 }",
    "a language in capitals": "SELECT * { ?s :r 'x'@en-GB }",
    "a base direction": "SELECT * { ?s :r 'x'@en--rtl }",
    "what was a blank node": "SELECT * { <https://w3id.org/muniment/.well-known/genid/b1> ?p ?o }",
    "a blank node of the query": "SELECT * { :a :p [ :q ?x ] }",
    "a predicate that is anything": "SELECT * { :a ?p ?o . ?o ?p ?z }",
    "a query within": "SELECT * { :a :p ?x { SELECT ?x (COUNT(*) AS ?n) { ?x :q :b } GROUP BY ?x } }",
    "what is bound": "SELECT * { :a :p ?x BIND(?x AS ?y) FILTER(?y != :b) }",
    "a construction": "CONSTRUCT { ?x :made [ :of ?y ] } WHERE { :a :p ?x . ?x :q ?y FILTER(false) }",
    "a construction in short": "CONSTRUCT WHERE { :a :p ?x }",
    "a question": "ASK { :a :p+ :b }",
    "nothing at all": "ASK {}",
    "a named graph that is asked for": "SELECT * FROM :g1 FROM NAMED :g2 { :a :p ?x GRAPH ?g { ?x :q ?y } }",
}
NOT_SLICED = {
    "everything": "SELECT * { ?s ?p ?o }",
    "a path of no step": "SELECT * { :a :p* ?x }",
    "a path of no step between": "SELECT * { ?x :p? :a }",
    "a path of no step from anywhere": "SELECT * { ?x :p* ?y }",
    "two of no step": "SELECT * { :a (:p*/:q?) ?x }",
    "a negated set": "SELECT * { :a !:p ?x }",
    "a negated set among others": "SELECT * { :a (:p|!:q) ?x }",
    "a negated set backwards": "SELECT * { :a :p/!(^:q|:r) ?x }",
    "graphs alone": "SELECT * { :a :p ?x GRAPH ?g {} }",
    "a graph alone, by name": "SELECT * { :a :p ?x GRAPH :g1 {} }",
    "graphs with no triple at their top": "SELECT * { GRAPH ?g { OPTIONAL { :a :p ?x } } }",
    "graphs with what is not there": "SELECT * { GRAPH ?g { FILTER NOT EXISTS { :a :p ?x } } }",
    "a description": "DESCRIBE :a",
    "narrowing across LIMIT": "SELECT * { :a :p ?x { SELECT ?x ?y { ?x :q ?y } ORDER BY ?x ?y LIMIT 1 } }",
    "narrowing across an aggregate": "SELECT * { :a :p ?x { SELECT (COUNT(*) AS ?n) { ?x :q ?y } } }",
    "narrowing across OPTIONAL": "SELECT * { :a :p ?x OPTIONAL { ?x :q ?y } }",
    "narrowing by what OPTIONAL binds": "SELECT * { :a :p ?x OPTIONAL { :b :q ?y } ?y :p ?z }",
    "narrowing across MINUS": "SELECT * { :a :p ?x MINUS { ?x :q ?y } }",
    "narrowing across EXISTS": "SELECT * { :a :p ?x FILTER EXISTS { ?x :q ?y } }",
    "narrowing across UNION": "SELECT * { :a :p ?x { ?x :q ?y } UNION { ?x :r ?y } }",
    "narrowing by VALUES with a gap": "SELECT * { VALUES ?s { :a UNDEF } ?s :p ?o }",
    "a triple term": "SELECT * { ?x :r <<( :a :p ?y )>> }",
}
MOMENTS = [(day(8), day(5)), (day(3), day(2))]


@pytest.mark.parametrize("name", SLICED)
def test_a_slice_is_enough_for(past: Chronicle, snapshots: Snapshots, name: str) -> None:
    for moment in MOMENTS:
        for caller in (EVERYBODY, SOME):
            assert agree(past, snapshots, f"PREFIX : <urn:> {SLICED[name]}", moment, caller)


@pytest.mark.parametrize("name", NOT_SLICED)
def test_a_slice_is_not_enough_for(past: Chronicle, snapshots: Snapshots, name: str) -> None:
    for moment in MOMENTS:
        assert not agree(past, snapshots, f"PREFIX : <urn:> {NOT_SLICED[name]}", moment)
