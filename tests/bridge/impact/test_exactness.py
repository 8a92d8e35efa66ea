"""Impact is exact: what is found of a plan is the difference of two full answers, and what is left alone stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.base import Base
from kernel.changes import Assert, Change, End, Retract
from kernel.facts import Validity
from kernel.terms import XSD, Iri, Literal, Statement, Term
from kernel.time.instants import Instant
from kernel.time.precision import Precision
from kernel.time.timevalues import Bound
from kernel.vocabulary import DEFAULT_GRAPH, QUERIES_GRAPH
from tests.bridge.impact.asking import answers, open_base, register, registered, require_exact
from tests.bridge.writing import ADMINISTRATOR, during, write, year

Drawn = tuple[str, tuple[Iri, ...], Instant | None]
Plan = list[tuple[str, Assert]]

NODES = [Iri(f"urn:{name}") for name in "abc"]
PREDICATES = [Iri(f"urn:{name}") for name in ("p", "q")]
VALUES: list[Term] = [*NODES, Literal("1", XSD + "integer"), Literal("2", XSD + "integer"), Literal("x", language="en")]
GRAPHS = [DEFAULT_GRAPH, Iri("urn:g"), Iri("urn:h")]

# --- queries ----------------------------------------------------------------------------------------------------------

nodes = st.sampled_from(["?a", "?b", "?c", *(node.n3 for node in NODES)])
values = st.sampled_from(["?a", "?b", "?c", *(value.n3 for value in VALUES)])
paths = st.sampled_from(
    ["<urn:p>", "<urn:q>", "?p", "^<urn:p>", "<urn:p>/<urn:q>", "<urn:p>|<urn:q>", "<urn:p>+", "<urn:q>*", "!<urn:p>"]
)
triples = st.builds("{} {} {} .".format, nodes, paths, values)
in_graph = st.builds("GRAPH {} {{ {} }}".format, st.sampled_from(["?g", "<urn:g>", "<urn:h>"]), triples)
joins = st.lists(triples | in_graph, min_size=1, max_size=2).map(" ".join)
parts = st.one_of(
    st.just(""),
    st.builds("OPTIONAL {{ {} }}".format, joins),
    st.builds("MINUS {{ {} }}".format, joins),
    st.builds("FILTER NOT EXISTS {{ {} }}".format, joins),
    st.builds("{{ {} }} UNION {{ {} }}".format, joins, joins),
    st.builds("VALUES ?a {{ {} }}".format, st.sampled_from(["<urn:a>", "<urn:b> <urn:c>", "UNDEF"])),
    st.builds("{{ SELECT ?a (COUNT(*) AS ?n) {{ {} }} GROUP BY ?a }}".format, joins),
)
groups = st.builds("{} {}".format, joins, parts)
texts = st.one_of(
    st.builds("SELECT * {{ {} }}".format, groups),
    st.builds("SELECT DISTINCT ?a {{ {} }}".format, groups),
    st.builds("SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?a) AS ?m) {{ {} }}".format, groups),
    st.builds("SELECT ?b (COUNT(?a) AS ?n) {{ {} }} GROUP BY ?b HAVING (COUNT(?a) > 1)".format, groups),
    st.builds("ASK {{ {} }}".format, groups),
    st.builds("CONSTRUCT {{ ?a <urn:r> ?b }} WHERE {{ {} }}".format, groups),
    st.builds("DESCRIBE {}".format, st.sampled_from([node.n3 for node in NODES])),
    st.just("SELECT ?g { GRAPH ?g {} }"),
    st.just("SELECT ?b { ?a <urn:p> ?b } ORDER BY ?b ?a LIMIT 2"),
)
queries = st.builds(
    lambda text, graphs, moment: (text, tuple(graphs), moment),
    texts,
    st.just([]) | st.lists(st.sampled_from(GRAPHS), min_size=1, max_size=2),
    st.sampled_from([None, None, year(2000)]),
)

# --- plans ------------------------------------------------------------------------------------------------------------

statements = st.builds(
    Statement,
    st.sampled_from(NODES),
    st.sampled_from(PREDICATES),
    st.sampled_from(VALUES),
    st.sampled_from([DEFAULT_GRAPH, DEFAULT_GRAPH, *GRAPHS]),
)
intervals = st.sampled_from([Validity.always(), during(1990, None), during(1990, 2010), during(2010, None)])
asserts = st.builds(Assert, statements, intervals)
beginnings = st.lists(st.builds(Assert, statements), min_size=8, max_size=14, unique_by=lambda each: each.statement)
plans = st.lists(st.tuples(st.sampled_from(["assert", "assert", "end", "retract"]), asserts), min_size=1, max_size=3)


def changes(base: Base, plan: Sequence[tuple[str, Assert]]) -> list[Change]:
    """The plan, as far as it can be planned: what is not held is asserted instead of ended or retracted."""
    found: list[Change] = []
    seen: set[Statement] = set()
    with base.ledger.reading() as view:
        for kind, change in plan:
            held = view.believed_of(change.statement)
            if change.statement in seen:
                continue
            seen.add(change.statement)
            if kind == "retract" and held:
                found.append(Retract(change.statement))
            elif kind == "end" and any(each.interval.contains(year(2005)) for each in held):
                found.append(End(change.statement, Bound(year(2005), Precision.INSTANT, None)))
            else:
                found.append(change)
    return found


def cleared(base: Base) -> None:
    """Takes everything away, queries first."""
    with base.ledger.reading() as view:
        held = [fact for graph in view.graphs() for fact in view.believed(graph=graph)]
    for of_queries in (True, False):
        gone = [Retract(each.id) for each in held if (each.statement.graph == QUERIES_GRAPH) is of_queries]
        if gone:
            write(base, *gone, by=ADMINISTRATOR)


@pytest.fixture(scope="module")
def base() -> Iterator[Base]:
    with open_base() as base:
        yield base


def check(base: Base, held: Sequence[Assert], asked: Sequence[Drawn], steps: Sequence[Plan]) -> None:
    named = [
        registered(f"q{place}", text, graphs=graphs, moment=moment)
        for place, (text, graphs, moment) in enumerate(asked)
    ]
    write(base, *held, by=ADMINISTRATOR)
    register(base, *named)
    before = answers(base, named)
    for plan in steps:
        outcome = write(base, *changes(base, plan), by=ADMINISTRATOR)
        after = answers(base, named)
        require_exact(outcome, before, after)
        before = after
    cleared(base)


@settings(max_examples=8)
@given(beginnings, st.lists(queries, min_size=20, max_size=30), st.lists(plans, min_size=4, max_size=8))
def test_impact_is_the_difference_of_two_full_answers(
    base: Base, held: list[Assert], asked: list[Drawn], steps: list[Plan]
) -> None:
    check(base, held, asked, steps)


@pytest.mark.fuzz
@settings(max_examples=1_000)
@given(beginnings, st.lists(queries, min_size=20, max_size=40), st.lists(plans, min_size=3, max_size=10))
def test_impact_is_the_difference_of_two_full_answers_at_length(
    base: Base, held: list[Assert], asked: list[Drawn], steps: list[Plan]
) -> None:
    check(base, held, asked, steps)
