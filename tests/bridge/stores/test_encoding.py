"""Facts and evidence as RDF 1.2 text."""

from dataclasses import replace
from decimal import Decimal
from importlib.resources import files
from uuid import UUID

import pyoxigraph as ox
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.stores.encoding import (
    evidence_text,
    fact_text,
    statement_text,
    stored_fact_text,
    stored_supersession_text,
    supersession_text,
)
from bridge.terms import OxigraphCanonicaliser
from kernel.errors import InvalidTerm
from kernel.facts import Evidence, EvidenceContent, Fact, FactContent, Spelling, Supersession, Validity
from kernel.terms import XSD, Iri, Literal, Statement, Term
from kernel.time.instants import BEGINNING, EARLIEST, FOREVER, LATEST, Instant, parse_instant, print_instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.vocabulary import DEFAULT_GRAPH, M
from tests.bridge.stores.chronicle import Chronicle, Step, described, histories, quad_of, supporting
from tests.bridge.test_terms import terms
from tests.kernel.time_strategies import instants

GRAPH = Iri("http://example.org/g?é=1")
CERTIFICATE = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
CANONICALISER = OxigraphCanonicaliser()
OBJECT = Iri("urn:o")
ALWAYS = Validity.always()


def fact_of(value: Term = OBJECT, validity: Validity = ALWAYS) -> Fact:
    statement = Statement(Iri("urn:s"), Iri("urn:p"), value, GRAPH)
    content = FactContent(UUID(int=1), UUID(int=2), statement, validity)
    return Fact(content, CERTIFICATE, Instant(0), None, bytes(32))


def since(start: int, end: int) -> Validity:
    known = Precision.INSTANT
    return Validity(
        Interval(start, end),
        Precision.UNKNOWN if start == BEGINNING else known,
        Precision.UNKNOWN if end == FOREVER else known,
    )


def store_of(text: str) -> ox.Store:
    store = ox.Store()
    store.load(text, ox.RdfFormat.TRIG)
    return store


def quads_of(text: str) -> set[ox.Quad]:
    return set(store_of(text))


@given(histories)
def test_texts_are_the_quads_written_out_by_hand(history: list[Step]) -> None:
    with Chronicle(history) as chronicle, chronicle.ledger.reading() as view:
        for fact, stored in zip(chronicle.facts, view.texts_recorded(None, FOREVER), strict=True):
            assert quads_of(statement_text(fact.statement)) == {quad_of(fact.statement)}
            assert stored_fact_text(stored) == fact_text(fact)
            assert quads_of(fact_text(fact)) == set(described(replace(fact, superseded=None)))
            if fact.superseded is not None:
                assert quads_of(fact_text(fact) + supersession_text(fact)) == set(described(fact))
                assert stored_supersession_text(stored) == supersession_text(fact)
        for evidence, graph in chronicle.evidence:
            assert quads_of(evidence_text(evidence, graph)) == set(supporting(evidence, graph))


@given(terms, instants, instants)
@example(Literal('\\u0041 \\ " \n\r\t\x00\x7f }'), EARLIEST, LATEST)
def test_load_bulk_load_and_update_take_the_same_text(value: Term, start: Instant, end: Instant) -> None:
    try:
        held = CANONICALISER.canonical(value)
    except InvalidTerm:
        return
    fact = fact_of(held, since(*sorted((start, end))) if start != end else since(start, FOREVER))
    text = statement_text(fact.statement) + fact_text(fact)
    bulk, updated = ox.Store(), ox.Store()
    bulk.bulk_load(text, ox.RdfFormat.TRIG)
    updated.update(f"INSERT DATA {{ {text} }}")
    assert set(bulk) == set(updated) == quads_of(text) == {quad_of(fact.statement), *described(fact)}
    updated.update(f"DELETE DATA {{ {text} }}")
    assert not updated


@given(st.lists(instants, min_size=2, max_size=8, unique=True))
@example([EARLIEST, LATEST])
@example([parse_instant(text) for text in ("-0044-03-15T00:00:00Z", "-0043-03-15T00:00:00Z", "0000-01-01T00:00:00Z")])
def test_a_store_orders_and_compares_every_instant(moments: list[Instant]) -> None:
    store = ox.Store()
    for number, moment in enumerate(moments):
        fact = fact_of(Literal(str(number)), since(moment, FOREVER))
        store.load(fact_text(replace(fact, content=replace(fact.content, id=UUID(int=number)))), ox.RdfFormat.TRIG)
    ordered = [print_instant(moment) for moment in sorted(moments)]
    everything = f"GRAPH ?g {{ ?fact <{M}validFrom> ?from }}"
    assert _column(store, f"SELECT ?from {{ {everything} }} ORDER BY ?from") == ordered
    for position, printed in enumerate(ordered):
        before = f'{everything} FILTER(?from < "{printed}"^^<{XSD}dateTime>)'
        assert _column(store, f"SELECT ?from {{ {before} }} ORDER BY ?from") == ordered[:position]


def _column(store: ox.Store, query: str) -> list[str]:
    solutions = store.query(query)
    assert isinstance(solutions, ox.QuerySolutions)
    return [solution[0].value for solution in solutions]


@pytest.mark.parametrize(
    ("precision", "said"),
    [
        (Precision.UNBOUNDED, set()),
        (Precision.UNKNOWN, {"unknown"}),
    ],
)
def test_a_missing_bound_says_only_that_it_is_unknown(precision: Precision, said: set[str]) -> None:
    fact = fact_of(validity=Validity(Interval(BEGINNING, FOREVER), precision, precision))
    names = {quad.predicate.value.removeprefix(M) for quad in quads_of(fact_text(fact))}
    assert names.isdisjoint({"validFrom", "validTo"})
    assert ("fromPrecision" in names, "toPrecision" in names) == (bool(said), bool(said))


@pytest.mark.parametrize("precision", [Precision.DAY, Precision.MONTH, Precision.YEAR, Precision.DECADE])
def test_a_coarse_bound_says_how_coarse(precision: Precision) -> None:
    fact = fact_of(validity=Validity(Interval(0, 1), precision, precision))
    (start,) = store_of(fact_text(fact)).quads_for_pattern(None, ox.NamedNode(M + "fromPrecision"), None)
    assert start.object == ox.NamedNode(M + precision)


def test_history_quotes_and_does_not_assert() -> None:
    store = store_of(fact_text(fact_of()))
    assert not list(store.quads_for_pattern(ox.NamedNode("urn:s"), None, None))
    assert store.query("ASK { GRAPH ?h { ?fact rdf:reifies <<( <urn:s> <urn:p> <urn:o> )>> } }", prefixes=_RDF)


_RDF = {"rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#"}


def test_an_object_that_is_no_iri_has_no_index_helper() -> None:
    helper = ox.NamedNode(M + "object")
    assert list(store_of(fact_text(fact_of(Iri("urn:o")))).quads_for_pattern(None, helper, None))
    assert not list(store_of(fact_text(fact_of(Literal("urn:o")))).quads_for_pattern(None, helper, None))


@pytest.mark.parametrize(
    "submitted",
    [
        Literal("007", XSD + "int"),
        Literal("1.50", XSD + "decimal"),
        Literal("colour", language="en-GB"),
        Literal("5", XSD + "nonNegativeInteger"),
    ],
)
def test_a_spelling_can_be_put_together_again(submitted: Literal) -> None:
    assert CANONICALISER.canonical(submitted) != submitted
    content = EvidenceContent(UUID(int=3), UUID(int=1), None, None, Spelling(submitted))
    store = store_of(evidence_text(Evidence(content, CERTIFICATE, Instant(0)), GRAPH))
    said = {quad.predicate.value.removeprefix(M): quad.object for quad in store}
    assert said["spelling"] == ox.Literal(submitted.lexical)
    assert said.get("spellingLanguage") == (submitted.language and ox.Literal(submitted.language))
    assert said.get("spellingDatatype") == (None if submitted.language else ox.NamedNode(submitted.datatype))


def test_a_believed_fact_has_no_supersession() -> None:
    with pytest.raises(ValueError, match="not superseded"):
        supersession_text(fact_of())


def test_every_term_that_is_written_is_declared() -> None:
    declared = {
        quad.subject.value
        for quad in ox.parse(files("ontology").joinpath("muniment.ttl").read_bytes(), ox.RdfFormat.TURTLE)
        if isinstance(quad.subject, ox.NamedNode)
    }
    texts = [statement_text(fact_of().statement)]
    for precision in Precision:
        nowhere = precision in {Precision.UNKNOWN, Precision.UNBOUNDED}
        interval = Interval(BEGINNING, FOREVER) if nowhere else Interval(0, 1)
        fact = replace(
            fact_of(validity=Validity(interval, precision, precision)),
            superseded=Supersession(Instant(2), CERTIFICATE),
        )
        texts += [fact_text(fact), supersession_text(fact)]
    for submitted in (Literal("1", XSD + "int"), Literal("x", language="en-GB")):
        spelling = Spelling(submitted, "2024-01-01T00:00:00.0Z", "199#")
        content = EvidenceContent(UUID(int=3), UUID(int=1), Iri("urn:e"), Decimal("0.5"), spelling)
        texts.append(evidence_text(Evidence(content, CERTIFICATE, Instant(0)), DEFAULT_GRAPH))
    ours = {
        term.value
        for quad in quads_of("".join(texts))
        for term in (quad.predicate, quad.object)
        if isinstance(term, ox.NamedNode) and term.value.startswith(M)
    }
    assert len(ours) >= 24
    assert ours <= declared
