"""Facts for callers held to some graphs: those that others see, less what they may not, and no time for the rest."""

from time import perf_counter
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.base import Base
from bridge.reading import FactFilter
from kernel.access import Principal, Role
from kernel.changes import Assert, Retract
from kernel.terms import Iri, Literal, Statement
from tests.bridge.writing import during, write

NODES: Final = tuple(Iri(f"urn:n{number}") for number in range(3))
GRAPHS: Final = tuple(Iri(f"urn:g{number}") for number in range(3))
EVERYTHING: Final = Principal("reader", Role.READER)
SECRET, OPEN = Iri("urn:secret"), Iri("urn:open")

STATEMENTS = st.builds(
    Statement,
    st.sampled_from(NODES),
    st.sampled_from(NODES),
    st.sampled_from((*NODES, Literal("x"))),
    st.sampled_from(GRAPHS),
)
FILTERS = st.builds(
    FactFilter,
    st.sampled_from((None, *NODES)),
    st.sampled_from((None, NODES[0])),
    st.sampled_from((None, *NODES, Literal("x"))),
    st.sampled_from((None, *GRAPHS)),
    st.booleans(),
).filter(lambda each: each.subject is not None or each.object is not None or each.graph is not None)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(STATEMENTS, st.sampled_from((2001, 2005, 2060))), min_size=1, max_size=8),
    st.lists(st.integers(0, 7), max_size=3),
    st.lists(FILTERS, min_size=1, max_size=6),
    st.frozensets(st.sampled_from(GRAPHS)),
)
def test_they_are_those_of_everybody_in_graphs_that_may_be_read(
    asserted: list[tuple[Statement, int]],
    gone: list[int],
    filters: list[FactFilter],
    readable: frozenset[Iri],
) -> None:
    held = Principal("held", Role.READER, readable)
    with Base.open(None) as base:
        for statement, start in asserted:
            write(base, Assert(statement, validity=during(start, None)))
        for statement in {asserted[number][0] for number in gone if number < len(asserted)}:
            write(base, Retract(statement))
        for wanted in filters:
            seen = base.reader.facts(held, wanted, limit=100).found
            expected = base.reader.facts(EVERYTHING, wanted, limit=100).found
            assert seen == tuple(each for each in expected if each.fact.statement.graph in readable)


@pytest.mark.parametrize("side", ["subject", "object"])
def test_what_others_have_of_a_node_is_not_looked_through(side: str) -> None:
    held, hub, ends = Principal("held", Role.READER, frozenset({OPEN})), Iri("urn:hub"), range(3_000)
    others = (Iri(f"urn:s{number}") for number in ends)
    statements = [
        Statement(other, NODES[0], hub, SECRET) if side == "object" else Statement(hub, NODES[0], other, SECRET)
        for other in others
    ]
    with Base.open(None) as base:
        write(base, *map(Assert, statements))
        write(base, Assert(Statement(NODES[0], NODES[0], NODES[1], OPEN)))

        def took(node: Iri) -> float:
            """The quickest of some times that a read takes: what else the machine does adds to the others."""
            wanted = FactFilter(subject=node) if side == "subject" else FactFilter(object=node)
            times = []
            for _ in range(15):
                begun = perf_counter()
                assert base.reader.facts(held, wanted, limit=10).found == ()
                times.append(perf_counter() - begun)
            return min(times)

        assert took(hub) < 20 * took(Iri("urn:nobody"))
