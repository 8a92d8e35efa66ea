"""Documents with annotations: statements that bring the record of their facts along, with their own valid times.

Rules
-----
* A node with one of the words of a record (`m:validFrom`, `m:recordedAt`, …; see `bridge.exporting.record`) is no data:
  it is the record of a fact, whose statement it names by `rdf:reifies` and a triple term, or by `rdf:subject`,
  `rdf:predicate` and `rdf:object`; or it is evidence, and names what it `m:supports`. Anything else that is said of such
  a node is an error that names the property, and so is a record of nothing.
* A node of which no other of these words is said than `m:supports`, and that supports no record of the document, is no
  evidence but a claim that speaks for another (`kernel.rules.arguments`): that is data.
* A record says when its statement holds, whether or not the document also claims the statement. One without times
  holds always. A statement with several records holds over the time of each; one without any, when the request says.
* Ends are instants (xsd:dateTime), then `m:fromPrecision` and `m:toPrecision` tell how exactly they are known; or dates,
  months and years of XSD, which tell it themselves. A spelling has to mean the end that it stands beside.
* How another base came to believe something is that base's: when it was recorded, by which certificate and family,
  citing what, is passed over. What is taken besides statement and time is the confidence.

Example
-------
>>> from bridge.documents.reader import read_document
>>> from bridge.terms import OxigraphCanonicaliser
>>> canonicaliser = OxigraphCanonicaliser()
>>> text = b'PREFIX m: <https://w3id.org/muniment#> <urn:a> <urn:p> <urn:b> {| m:validFrom "2019"^^<http://www.w3.org/2001/XMLSchema#gYear> |} .'
>>> (item,) = read_records(read_document(text, "text/turtle", canonicaliser=canonicaliser), canonicaliser)
>>> item.statement.object.n3, item.validity.start_precision.value
('<urn:b>', 'year')
"""  # noqa: E501 - a Turtle document on one line

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bridge.exporting.record import (
    CERTIFICATE,
    CONFIDENCE,
    DATE_TIME,
    DERIVED_FROM,
    FAMILY,
    FROM_PRECISION,
    FROM_SPELLING,
    RECORDED_AT,
    SPELLING,
    SPELLING_DATATYPE,
    SPELLING_LANGUAGE,
    SUPPORTS,
    TO_PRECISION,
    TO_SPELLING,
    VALID_FROM,
    VALID_TO,
)
from kernel.changes import NO_SPELLING
from kernel.confidence import CONFIDENCE_SAID, read_confidence
from kernel.errors import CallerError, InvalidDocument
from kernel.facts import Spelling, Validity
from kernel.terms import RDF, XSD, XSD_STRING, Iri, Literal, Statement, Term, TripleTerm
from kernel.time.instants import BEGINNING, FOREVER
from kernel.time.precision import COARSE, Precision
from kernel.time.timevalues import NO_END, NO_START, Bound, interval_between, valid_from, valid_through, valid_to
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from decimal import Decimal

    from bridge.documents.reader import Asserted
    from kernel.ports.outside import TermCanonicaliser

REIFIES: Final = Iri(RDF + "reifies")
_SUBJECT, _PREDICATE, _OBJECT = (Iri(RDF + name) for name in ("subject", "predicate", "object"))
_STATEMENT: Final = frozenset({REIFIES, _SUBJECT, _PREDICATE, _OBJECT})
_SPELLINGS: Final = frozenset({SPELLING, SPELLING_DATATYPE, SPELLING_LANGUAGE, FROM_SPELLING, TO_SPELLING})
_OF_BOTH: Final = _SPELLINGS | {CONFIDENCE, RECORDED_AT, CERTIFICATE}
_OF_FACTS: Final = _OF_BOTH | {VALID_FROM, FROM_PRECISION, VALID_TO, TO_PRECISION, FAMILY}
_OF_EVIDENCE: Final = _OF_BOTH | {SUPPORTS}

RECORD_WORDS: Final = _OF_FACTS | _OF_EVIDENCE
"""A node that has one of these is the record of something."""

_KNOWN_OF_FACTS: Final = _OF_FACTS | _STATEMENT
_KNOWN_OF_EVIDENCE: Final = _OF_EVIDENCE | {DERIVED_FROM}
_PRECISIONS: Final = {Iri(M + each): each for each in (*COARSE, Precision.UNKNOWN)}
_CALENDAR: Final = frozenset({XSD + "date", XSD + "gYearMonth", XSD + "gYear"})


@dataclass(frozen=True, slots=True)
class Item:
    """A statement to assert, as a document with records gives it.

    Args:
        statement: as a store will hold it.
        spelling: as it was submitted, its times included.
        validity: of its own; None where the document says nothing of it.
        confidence: of its own.
    """

    statement: Statement
    spelling: Spelling
    validity: Validity | None = None
    confidence: Decimal | None = None


def read_records(asserted: Sequence[Asserted], canonicaliser: TermCanonicaliser) -> list[Item]:
    """What a document asserts once its records are read.

    Args:
        asserted: every statement of the document, those of records among them.
        canonicaliser: knows what a store will hold.

    Raises:
        InvalidDocument: a record that cannot be read; says which.
        InvalidTime: a time in one that cannot be read.
        InvalidInterval: an interval that is empty or inverted.
    """
    marked = _marked(asserted)
    if not marked:
        return [Item(*each) for each in asserted]
    records = {place: Record(*place) for place in marked}
    claimed: dict[Statement, Spelling] = {}
    for statement, spelling in asserted:
        record = records.get((statement.graph, statement.subject))
        if record is None:
            claimed.setdefault(statement, spelling)
        else:
            record.add(statement.predicate, statement.object, spelling)
    facts = [record for record in records.values() if not record.is_evidence]
    known = {record.node for record in facts}
    for record in records.values():
        if record.is_evidence:
            record.require_support(known.__contains__)
    items = [record.item(lambda each: claimed.get(each, NO_SPELLING), canonicaliser) for record in facts]
    recorded = {item.statement for item in items}
    return [Item(*each) for each in claimed.items() if each[0] not in recorded] + items


def _marked(asserted: Sequence[Asserted]) -> dict[tuple[Iri, Iri], None]:
    """The nodes that are records, by graph."""
    words: dict[tuple[Iri, Iri], set[Iri]] = {}
    supported: dict[tuple[Iri, Iri], list[Term]] = {}
    for each, _ in asserted:
        if each.predicate in RECORD_WORDS:
            words.setdefault((each.graph, each.subject), set()).add(each.predicate)
            if each.predicate == SUPPORTS:
                supported.setdefault((each.graph, each.subject), []).append(each.object)
    facts = {node for (_, node), said in words.items() if said != {SUPPORTS}}
    return {
        place: None for place, said in words.items() if said != {SUPPORTS} or not facts.isdisjoint(supported[place])
    }


class Record:
    """What is said of one node that has one of `RECORD_WORDS`.

    Args:
        graph: in which it is said.
        node: of which.
    """

    def __init__(self, graph: Iri, node: Iri) -> None:
        self.graph = graph
        self.node = node
        self._said: dict[Iri, tuple[Term, Term]] = {}

    @property
    def is_evidence(self) -> bool:
        """Whether it is evidence for a fact, rather than a fact's record."""
        return SUPPORTS in self._said

    def add(self, predicate: Iri, held: Term, spelling: Spelling) -> None:
        """Takes note of a property; each may stand once."""
        if predicate in self._said:
            raise self._wrong(f"{predicate.value} is given more than once", "give it once")
        self._said[predicate] = (held, spelling.object or held)

    def require_support(self, is_fact: Callable[[Term], bool]) -> None:
        """Raises `InvalidDocument` for evidence that cannot be read, or for nothing that has a record.

        `is_fact` tells which nodes of the document are a fact's record.
        """
        self._require_known(_KNOWN_OF_EVIDENCE)
        if not is_fact(self._said[SUPPORTS][0]):
            raise self._wrong("it supports what has no record in the document", "send the fact's record too")

    def item(self, claimed: Callable[[Statement], Spelling], canonicaliser: TermCanonicaliser) -> Item:
        """The fact's statement, with when and how it holds.

        Args:
            claimed: how the document spells a statement that it claims as well; nothing for one that it does not claim.
            canonicaliser: knows what a store will hold.

        Raises:
            InvalidDocument: the record cannot be read.
            InvalidTime: a time in it cannot be read.
            InvalidInterval: its interval is empty or inverted.
        """
        self._require_known(_KNOWN_OF_FACTS)
        statement, given = self._statement()
        try:
            start, end = self._start(), self._end()
            interval = interval_between(start, end, field=VALID_TO.value)
            spelled = self._spelled(statement.object, canonicaliser) or given or claimed(statement).object
            validity = Validity(interval, start.precision, end.precision)
            return Item(statement, Spelling(spelled, start.spelling, end.spelling), validity, self._confidence())
        except CallerError as error:
            error.where = self._place()
            raise

    def _require_known(self, known: frozenset[Iri]) -> None:
        """Raises `InvalidDocument` for a property that no record has."""
        for predicate in self._said:
            if predicate not in known:
                names = ", ".join(sorted(f"m:{each.value.removeprefix(M)}" for each in known & RECORD_WORDS))
                raise self._wrong(f"a record has no {predicate.value}", f"take it out; known are {names}")

    def _wrong(self, message: str, remedy: str) -> InvalidDocument:
        """The error for something in this record."""
        return InvalidDocument(message, remedy=remedy, where=self._place())

    def _place(self) -> str:
        """The record, by its statement, for its node may be a blank one."""
        reified = self._said.get(REIFIES)
        return f"the record of {reified[0].n3:.200}" if reified is not None else f"the record {self.node.value}"

    def _statement(self) -> tuple[Statement, Literal | None]:
        """The statement, and how its object was submitted where that is another literal."""
        reified = self._said.get(REIFIES)
        if reified is not None and isinstance(reified[0], TripleTerm):
            triple = reified[0]
            return Statement(triple.subject, triple.predicate, triple.object, self.graph), None
        subject, predicate, value = (self._said.get(name) for name in (_SUBJECT, _PREDICATE, _OBJECT))
        if value is None or subject is None or not isinstance(subject[0], Iri):
            raise self._of_nothing()
        if predicate is None or not isinstance(predicate[0], Iri):
            raise self._of_nothing()
        given = value[1] if isinstance(value[1], Literal) and value[0] != value[1] else None
        return Statement(subject[0], predicate[0], value[0], self.graph), given

    def _of_nothing(self) -> InvalidDocument:
        return self._wrong(
            "there is a record, but not of which statement",
            "give rdf:reifies with a triple term, or rdf:subject, rdf:predicate and rdf:object",
        )

    def _start(self) -> Bound:
        precision, spelled = self._precision(FROM_PRECISION), self._text(FROM_SPELLING)
        given = self._literal(VALID_FROM)
        if given is None:
            return self._nowhere(NO_START, precision, spelled)
        bound = valid_from(self._time(VALID_FROM, given), field=VALID_FROM.value)
        bound = self._with(bound, precision, exact=given.datatype == DATE_TIME)
        return bound if spelled is None else self._as_spelled(bound, spelled, [valid_from(spelled)])

    def _end(self) -> Bound:
        precision, spelled = self._precision(TO_PRECISION), self._text(TO_SPELLING)
        given = self._literal(VALID_TO)
        if given is None:
            return self._nowhere(NO_END, precision, spelled)
        bound = valid_to(self._time(VALID_TO, given), field=VALID_TO.value)
        bound = self._with(bound, precision, exact=given.datatype == DATE_TIME)
        both = [] if spelled is None else [valid_to(spelled), valid_through(spelled)]
        return bound if spelled is None else self._as_spelled(bound, spelled, both)

    def _with(self, bound: Bound, precision: Precision | None, *, exact: bool) -> Bound:
        """A bound at the precision that is given for it; what is no instant tells its own."""
        if precision is None or precision is bound.precision:
            return bound
        if not exact or precision is Precision.UNKNOWN:
            raise self._wrong(
                f"the time is known to the {bound.precision}, and m:{precision} is given for its precision",
                "leave the precision out, or give the time as an xsd:dateTime",
            )
        return Bound(bound.instant, precision, None)

    def _nowhere(self, unbounded: Bound, precision: Precision | None, spelled: str | None) -> Bound:
        if precision is None and spelled is None:
            return unbounded
        if precision is not Precision.UNKNOWN:
            raise self._wrong("a precision or spelling stands beside no time", "give m:validFrom or m:validTo too")
        plain = Bound(BEGINNING if unbounded == NO_START else FOREVER, Precision.UNKNOWN, None)
        read = valid_from if unbounded == NO_START else valid_to
        return plain if spelled is None else self._as_spelled(plain, spelled, [read(spelled)])

    def _as_spelled(self, bound: Bound, spelled: str, readings: list[Bound]) -> Bound:
        for reading in readings:
            if (reading.instant, reading.precision) == (bound.instant, bound.precision):
                return reading
        raise self._wrong(f"the spelling {spelled!r} means another time than the one it stands beside", "correct it")

    def _time(self, name: Iri, given: Literal) -> str:
        if given.datatype != DATE_TIME and given.datatype not in _CALENDAR:
            raise self._wrong(
                f"{name.value} is no xsd:dateTime, xsd:date, xsd:gYearMonth or xsd:gYear", "give it as one of these"
            )
        return given.lexical

    def _precision(self, name: Iri) -> Precision | None:
        said = self._said.get(name)
        if said is None:
            return None
        precision = _PRECISIONS.get(said[0]) if isinstance(said[0], Iri) else None
        if precision is None:
            names = ", ".join(sorted(f"m:{each}" for each in _PRECISIONS.values()))
            raise self._wrong(f"{name.value} is none of the precisions", f"give one of {names}")
        return precision

    def _spelled(self, held: Term, canonicaliser: TermCanonicaliser) -> Literal | None:
        """The object as it was submitted, by the record's own words."""
        lexical = self._text(SPELLING)
        if lexical is None:
            return None
        datatype, language = self._said.get(SPELLING_DATATYPE), self._text(SPELLING_LANGUAGE)
        direction = held.direction if isinstance(held, Literal) and language is not None else None
        name = datatype[0].value if datatype is not None and isinstance(datatype[0], Iri) else XSD_STRING
        literal = Literal(lexical, name, language, direction)
        if canonicaliser.canonical(literal) != held:
            raise self._wrong(f"m:spelling {lexical[:60]!r} spells another object", "correct it, or leave it out")
        return None if literal == held else literal

    def _confidence(self) -> Decimal | None:
        given = self._literal(CONFIDENCE)
        if given is None:
            return None
        confidence = read_confidence(given.lexical)
        if confidence is None:
            raise self._wrong(f"m:confidence is not {CONFIDENCE_SAID}", "give one, or leave it out")
        return confidence

    def _text(self, name: Iri) -> str | None:
        literal = self._literal(name)
        return None if literal is None else literal.lexical

    def _literal(self, name: Iri) -> Literal | None:
        """The literal as it was submitted."""
        said = self._said.get(name)
        if said is None:
            return None
        if not isinstance(said[1], Literal):
            raise self._wrong(f"{name.value} is no literal", "give it as a literal")
        return said[1]
