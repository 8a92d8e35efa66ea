"""Facts for callers held to some graphs: those that others see, less what they may not, and no time for the rest."""

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.base import Base
from bridge.ledger.sqlite import SqliteLedger
from bridge.reading.facts import FactFilter
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


@pytest.mark.parametrize("wanted", ["subject", "object", "literal"])
def test_what_others_have_of_a_node_is_not_looked_through(wanted: str) -> None:
    """Counted in rows: what the ledger reads for one who may not see them is the same, however many there are."""
    held = Principal("held", Role.READER, frozenset({OPEN}))
    hub = Literal("hub") if wanted == "literal" else Iri("urn:hub")
    looked = FactFilter(subject=hub) if isinstance(hub, Iri) and wanted == "subject" else FactFilter(object=hub)

    def steps(many: int) -> int:
        """How many instructions the database runs for a read."""
        others = [Iri(f"urn:s{number}") for number in range(many)]
        with Base.open(None) as base:
            for other in others:
                ends = (hub, other) if isinstance(hub, Iri) and wanted == "subject" else (other, hub)
                write(base, Assert(Statement(ends[0], NODES[0], ends[1], SECRET)))
            write(base, Assert(Statement(NODES[0], NODES[0], NODES[1], OPEN)))
            count = 0

            def counted() -> int:
                nonlocal count
                count += 1
                return 0

            assert isinstance(base.ledger, SqliteLedger)
            with base.ledger._readers.borrow() as session:  # the connection that is used next
                connection = session._connection
            assert connection is not None
            connection.set_progress_handler(counted, 1)
            assert base.reader.facts(held, looked, limit=10).found == ()
            connection.set_progress_handler(None, 0)
            return count

    assert steps(40) == steps(2)
