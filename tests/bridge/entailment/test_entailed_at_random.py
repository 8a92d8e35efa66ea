"""Whatever is written, what follows at any moment is what owlrl infers from what holds then in some graphs.

What holds is what the same query finds without entailment.
"""

from collections.abc import Iterable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.base import Base
from bridge.reading.reader import QueryRequest
from kernel.access import Principal, Role
from kernel.changes import Assert, Change, Retract
from kernel.entailment.closure import Closure
from kernel.entailment.index import Triple
from kernel.entailment.table import Regime
from kernel.errors import CallerError
from kernel.terms import Iri, Statement, parse_iri, parse_term
from tests.bridge.writing import ADMINISTRATOR, NOON, SetClock, during, write
from tests.kernel.entailment.ontologies import bases, by_owlrl, is_told

GRAPHS = (Iri("urn:open"), Iri("urn:secret"))
HELD = Principal("held", Role.READER, frozenset(GRAPHS[:1]))
YEARS = (1990, 2000, 2010, 2030)


def statement(triple: Triple, graph: Iri) -> Statement:
    subject, predicate, value = triple
    return Statement(parse_iri(subject), parse_iri(predicate), parse_term(value), graph)


@st.composite
def changes(draw: st.DrawFn, base: list[Triple]) -> Change:
    said = statement(draw(st.sampled_from(base)), draw(st.sampled_from(GRAPHS)))
    if draw(st.integers(0, 3)) == 0:
        return Retract(said)
    first, last = sorted(
        draw(st.lists(st.sampled_from((None, *YEARS)), min_size=2, max_size=2)), key=lambda at: at or 0
    )
    return Assert(said, during(first, last if last != first else None))


@st.composite
def histories(draw: st.DrawFn) -> list[list[Change]]:
    """What is written, certificate by certificate: some statements of a base, and then what changes of them."""
    base = draw(bases())
    first: list[Change] = [Assert(statement(each, draw(st.sampled_from(GRAPHS)))) for each in base]
    return [first, *draw(st.lists(st.lists(changes(base), min_size=1, max_size=3), min_size=1, max_size=4))]


def triples(
    base: Base, by: Principal, entailment: Regime | None, as_of: str | None, valid_at: str | None
) -> set[Triple]:
    request = QueryRequest(by, "SELECT ?s ?p ?o { ?s ?p ?o }", "text/tab-separated-values", entailment=entailment)
    body = base.reader.query(request, base.reader.moment(as_of, valid_at)).body.decode()
    rows = [[parse_term(_whole(term)).n3 for term in line.split("\t")] for line in body.splitlines()[1:]]
    return {(one, two, three) for one, two, three in rows}


def _whole(term: str) -> str:
    """A term of TSV, in which integers may be short, in full."""
    return f'"{term}"^^<http://www.w3.org/2001/XMLSchema#integer>' if term.isdigit() else term


def told(found: Iterable[Triple]) -> set[Triple]:
    return {each for each in found if is_told(each)}


def by_engine(asserted: set[Triple]) -> set[Triple]:
    closure = Closure(Regime.OWL_RL)
    closure.change(add=asserted)
    return set(closure.inferred)


def agrees(base: Base, history: list[list[Change]], moments: list[tuple[int, int]], *, owlrl: bool) -> None:
    heads: list[str] = []
    for step in history:
        with suppress(CallerError):  # to retract what is not held changes nothing
            heads.append(f"head:{write(base, *step).head}")
        asked: list[tuple[str | None, str | None]] = [(None, None)]
        if step is history[-1]:
            asked += [(heads[place % len(heads)], str(at)) for place, at in moments]
        for as_of, valid_at in asked:
            for caller in (ADMINISTRATOR, HELD):
                asserted = triples(base, caller, None, as_of, valid_at)
                expected = by_owlrl(asserted)[0] if owlrl else told(by_engine(asserted))
                found = triples(base, caller, Regime.OWL_RL, as_of, valid_at)
                assert told(found) == told(asserted) | expected, (caller.id, as_of, valid_at)


moments = st.lists(st.tuples(st.integers(0, 4), st.sampled_from((1980, 1995, 2005, 2020, 2040))), max_size=3)


@given(histories(), moments)
@settings(max_examples=3)
def test_what_follows_at_any_moment_is_the_closure_of_what_holds(
    history: list[list[Change]], at: list[tuple[int, int]]
) -> None:
    with Base.open(None, host=SetClock(NOON)) as base:
        agrees(base, history, at, owlrl=False)


@pytest.mark.fuzz
@given(histories(), moments)
@settings(max_examples=300)
def test_what_follows_at_any_moment_is_what_owlrl_infers(
    history: list[list[Change]], at: list[tuple[int, int]]
) -> None:
    with Base.open(None, host=SetClock(NOON)) as base:
        agrees(base, history, at, owlrl=True)
