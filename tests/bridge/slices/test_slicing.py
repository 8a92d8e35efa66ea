"""How much is read for a slice, of which graphs, and what a query on one may take."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from bridge.base import Base
from bridge.ledger.reading import SqliteView
from bridge.reading.reader import QueryRequest
from bridge.replicas.limits import Limits, PoolSize
from bridge.replicas.pool import ReplicaPool
from bridge.slices import slicing
from bridge.slices.slicing import slice_of
from kernel.access import Principal, Role
from kernel.changes import Assert
from kernel.errors import QueryLimit
from kernel.terms import Iri, Literal, Statement, Term
from kernel.time.instants import Instant
from kernel.vocabulary import DEFAULT_GRAPH
from tests.bridge.slices.world import EVERYBODY, dataset
from tests.bridge.stores.chronicle import Chronicle, day
from tests.bridge.stores.test_stores import step_of
from tests.bridge.writing import write

P, Q = Iri("urn:p"), Iri("urn:q")
OPEN, SECRET = Iri("urn:open"), Iri("urn:secret")
HELD = Principal("held", Role.READER, frozenset({OPEN}))


def of(subject: str, predicate: Iri, value: str, graph: Iri = DEFAULT_GRAPH) -> Statement:
    return Statement(Iri(f"urn:{subject}"), predicate, Iri(f"urn:{value}"), graph)


class Looks(SqliteView):
    """A view that counts what is looked at."""

    looked = 0

    def statements_of(
        self,
        node: Term,
        *,
        as_object: bool = False,
        predicate: Iri | None = None,
        graphs: Sequence[Iri] | None = None,
        as_of: Instant,
        valid_at: Instant,
        most: int,
        largest: int,
    ) -> tuple[int, list[Statement]]:
        """As the view's, counted."""
        looked, found = super().statements_of(
            node,
            as_object=as_object,
            predicate=predicate,
            graphs=graphs,
            as_of=as_of,
            valid_at=valid_at,
            most=most,
            largest=largest,
        )
        self.looked += looked
        return looked, found


def sliced(past: Chronicle, text: str, caller: Principal = EVERYBODY) -> tuple[set[str] | None, int]:
    """The lines of a slice, and how many facts were looked at for it."""
    with past.ledger.reading() as view:
        looks = Looks(view._session, view._key)
        quads = slice_of(looks, text, dataset(text, caller, past), day(9), day(9))
    return None if quads is None else set(quads.decode().splitlines()), looks.looked


@pytest.fixture(scope="module")
def past() -> Iterator[Chronicle]:
    """A hub of a thousand, of which one has a name; and a node with much in a graph that not everybody may read."""
    hub = [of(f"n{number}", P, "hub") for number in range(1_000)]
    known = [
        of("n7", Q, "name"),
        *(of("hub", P, f"n{number}", SECRET) for number in range(500)),
        of("hub", P, "x", OPEN),
    ]
    with Chronicle([step_of([(each, None, None) for each in (*hub, *known)])]) as chronicle:
        yield chronicle


def test_the_pattern_with_the_fewest_facts_comes_first(past: Chronicle) -> None:
    for patterns in ("?x <urn:p> <urn:hub> . ?x <urn:q> <urn:name>", "?x <urn:q> <urn:name> . ?x <urn:p> <urn:hub>"):
        lines, looked = sliced(past, f"SELECT * {{ {patterns} }}")
        assert lines == {f"{line} ." for line in (
            "<urn:n7> <urn:q> <urn:name> <https://w3id.org/muniment#default>",
            "<urn:n7> <urn:p> <urn:hub> <https://w3id.org/muniment#default>",
        )}  # fmt: skip
        assert looked == 2


def test_what_would_take_too_many_is_given_up_at_once(past: Chronicle, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "SELECT * { ?x <urn:p> <urn:hub> }"
    lines, looked = sliced(past, text)
    assert (lines is None, looked) == (False, 1_000)
    monkeypatch.setattr(slicing, "MOST", 100)
    lines, looked = sliced(past, text)
    assert (lines, looked) == (None, 101)
    lines, looked = sliced(past, "SELECT * { ?x <urn:p> <urn:hub> . ?x <urn:p>+ ?y }")
    assert lines is None
    assert looked <= 102


def test_versions_that_do_not_hold_any_more_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slicing, "MOST", 20)
    often = [step_of([(of("counter", P, f"v{number}"), number, number + 1)]) for number in range(30)]
    with Chronicle(often) as past:
        assert sliced(past, "SELECT * { <urn:counter> <urn:p> ?o }") == (None, 21)


def test_what_is_long_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    long = [Statement(Iri("urn:a"), P, Literal(f"{number}" * 1_000), DEFAULT_GRAPH) for number in range(1, 6)]
    with Chronicle([step_of([(each, None, None) for each in long])]) as past:
        text = "SELECT * { <urn:a> <urn:p> ?o }"
        assert len(sliced(past, text)[0] or ()) == 5
        monkeypatch.setattr(slicing, "LARGEST", 4_000)
        assert sliced(past, text)[0] is None
        assert len(sliced(past, "SELECT * { <urn:a> <urn:p> ?o } LIMIT 0", HELD)[0] or ()) == 0


def test_nothing_leaks_a_graph_that_is_not_readable_is_not_even_looked_at(past: Chronicle) -> None:
    """So that neither the answer, nor whether a slice was enough, nor the time it took, tells how much is there."""
    for text in ("SELECT * { <urn:hub> ?p ?o }", "SELECT * { GRAPH ?g { <urn:hub> <urn:p> ?o } }"):
        lines, looked = sliced(past, text, HELD)
        assert lines == {"<urn:hub> <urn:p> <urn:x> <urn:open> ."}
        assert looked == 1
    for text in (
        "SELECT * FROM <urn:secret> { <urn:hub> ?p ?o }",
        "SELECT * { GRAPH <urn:secret> { <urn:hub> ?p ?o } }",
    ):
        assert sliced(past, text, HELD) == (set(), 0)


def test_many_graphs_that_all_may_be_read_are_not_asked_for_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slicing, "MANY_GRAPHS", 3)
    graphs = [of("a", P, "b", Iri(f"urn:g{number}")) for number in range(9)]
    with Chronicle([step_of([(each, None, None) for each in graphs])]) as past:
        lines, looked = sliced(past, "SELECT * { <urn:a> <urn:p> ?o }")
        assert (len(lines or ()), looked) == (9, 9)
        lines, _ = sliced(past, "SELECT * { GRAPH <urn:g3> { <urn:a> <urn:p> ?o } }")
        assert lines == {"<urn:a> <urn:p> <urn:b> <urn:g3> ."}


def test_a_query_on_a_slice_has_the_limits_of_any_other() -> None:
    """Few facts, and a product of them without an end: the worker is ended, and another answers the next."""
    values = [Statement(Iri("urn:a"), P, Literal(str(number)), DEFAULT_GRAPH) for number in range(40)]
    product = " ".join(f"<urn:a> <urn:p> ?{name} ." for name in "bcdefghijk")

    async def ask(base: Base) -> None:
        pool = ReplicaPool(base.stores, base.snapshots, PoolSize(workers=1, spares=0, patience=60))
        moment = base.reader.moment(f"head:{base.reader.head().position}")
        try:
            for selected, limits in (("(COUNT(*) AS ?n)", Limits(seconds=1)), ("*", Limits(result=2**20))):
                asked = QueryRequest(EVERYBODY, f"SELECT {selected} {{ {product} }}", "text/csv")
                question = base.reader.question(asked, moment)
                assert question.sliced is not None
                with pytest.raises(QueryLimit):
                    await (await pool.answer(question, limits, "somebody")).read()
            text = "SELECT (COUNT(*) AS ?n) { <urn:a> <urn:p> ?o }"
            question = base.reader.question(QueryRequest(EVERYBODY, text, "text/csv"), moment)
            answer = await pool.answer(question, Limits(), "somebody")
            assert (await answer.read()).split() == [b"n", b"40"]
            assert (answer.head, answer.valid_at) == (question.past and question.past.head, moment.valid_at)
        finally:
            await pool.close()

    with Base.open(None) as base:
        write(base, *(Assert(each) for each in values))
        asyncio.run(ask(base))
