"""Bases to export, drawn at random: every kind of term and of time, several intervals of a statement, blank nodes."""

from dataclasses import dataclass
from decimal import Decimal

from hypothesis import strategies as st

from bridge.base import Base
from bridge.exporting.facts import Telling, told_facts
from bridge.exporting.submitted import submitted
from bridge.terms import OxigraphCanonicaliser
from kernel.access import Principal, Role
from kernel.changes import Assert
from kernel.errors import CallerError
from kernel.facts import Spelling, Validity
from kernel.terms import RDF, XSD, Iri, Literal, Statement, Term, TripleTerm
from kernel.time.timevalues import Bound, interval_between, valid_from, valid_through, valid_to
from kernel.vocabulary import GENID
from tests.bridge.writing import write
from tests.kernel.time_strategies import times

G = Iri("https://example.org/g?x=1#é")
WRITER = Principal("writer", Role.WRITER)
LABEL = Iri("https://example.org/label")
BLANK = [Iri(f"{GENID}{number:032x}") for number in range(3)]
"""Skolem IRIs, as blank nodes get them on entry. Each is known by a label, by which two bases can be compared."""

canonicaliser = OxigraphCanonicaliser()

iris = st.sampled_from(
    [
        *map(Iri, ("urn:a", "https://example.org/é#b", "m:c", "subject:x", "https://example.org/d?e=f&g", RDF + "nil")),
        *BLANK,
    ]
)
predicates = st.sampled_from([Iri(RDF + "type"), Iri("urn:p"), Iri("https://example.org/q"), Iri("evidence:r")])
_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_typed = st.sampled_from(
    [
        *(
            ("007", "int"),
            ("1.50", "decimal"),
            ("+1", "integer"),
            ("x", "integer"),
            ("1", "boolean"),
            ("1e0", "double"),
        ),
        *(("2024-01-01T00:00:00.100000+05:00", "dateTime"), ("-0043-03-15", "date"), ("P1Y", "duration")),
    ]
).map(lambda pair: Literal(pair[0], XSD + pair[1]))
literals = st.one_of(
    _texts.map(Literal),
    _typed,
    st.builds(lambda text: Literal(text, "https://example.org/type"), _texts),
    st.just(Literal('{"a": 1}', RDF + "JSON")),
    st.builds(lambda text, tag: Literal(text, language=tag), _texts, st.sampled_from(["en-GB", "en-gb", "de"])),
    st.builds(
        lambda text, tag, way: Literal(text, language=tag, direction=way),
        _texts,
        st.sampled_from(["ar", "he-IL"]),
        st.sampled_from(["ltr", "rtl"]),
    ),
)
objects: st.SearchStrategy[Term] = st.one_of(
    iris, literals, literals, st.builds(TripleTerm, iris, predicates, st.one_of(iris, literals))
)


@st.composite
def assertions(draw: st.DrawFn) -> Assert:
    """An assertion, its times as a writer would give them."""
    submitted = draw(objects)
    held = canonicaliser.canonical(submitted)
    spelled = submitted if isinstance(submitted, Literal) and submitted != held else None
    start, end = draw(_bounds())
    return Assert(
        Statement(draw(iris), draw(predicates), held, G),
        Validity(interval_between(start, end, field="validTo"), start.precision, end.precision),
        Spelling(spelled, start.spelling, end.spelling),
        draw(st.sampled_from([None, None, Decimal("0.50"), Decimal(1)])),
    )


@st.composite
def _bounds(draw: st.DrawFn) -> tuple[Bound, Bound]:
    optional = st.one_of(st.none(), st.sampled_from(["unknown", "####"]), times().map(lambda time: time.text))
    try:
        start = valid_from(draw(optional), zone="+02:00")
        end = draw(st.sampled_from([valid_to, valid_through]))(draw(optional), zone="+02:00")
        interval_between(start, end, field="validTo")
    except CallerError:
        return valid_from("-0043-03-15"), valid_through("199#")
    return start, end


bases = st.lists(assertions(), min_size=1, max_size=8)


def filled(base: Base, changes: list[Assert]) -> None:
    """Writes the assertions, the first half and the rest under certificates of their own."""
    half = len(changes) // 2
    labels = [Assert(Statement(node, LABEL, Literal(str(number)), G)) for number, node in enumerate(BLANK)]
    for some in (labels, changes[:half], changes[half:]):
        if some:
            assert write(base, *some, by=WRITER).head is not None


@dataclass(frozen=True)
class Known:
    """What a base knows of a fact that has to survive an export."""

    statement: tuple[str, str, str]
    start: Bound
    end: Bound
    confidence: Decimal | None


def known(base: Base, *, every_time: bool = True) -> set[Known]:
    """Every fact, or every one that is true now, as it was submitted; blank nodes by their labels."""
    with base.ledger.reading() as view:
        told = list(told_facts(view, Telling(G, None, view.head().clock, records=True, every_time=every_time)))
    names = {
        each.fact.statement.subject.value: f"blank:{each.object.lexical}"
        for each in told
        if each.fact.statement.predicate == LABEL and isinstance(each.object, Literal)
    }

    def named(term: Term) -> str:
        text = term.n3
        for node, label in names.items():
            text = text.replace(node, label)
        return text

    return {
        Known(
            (named(each.fact.statement.subject), each.fact.statement.predicate.value, named(each.object)),
            said.start,
            said.end,
            said.confidence,
        )
        for each in told
        for said in [submitted(each.fact, each.evidence)]
    }
