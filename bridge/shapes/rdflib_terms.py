"""Terms for rdflib, and back.

Rules
-----
* A Skolem IRI becomes a blank node of the same id. A triple term becomes a blank node too: SHACL 1.0 and rdflib know
  none, and a blank node is neither IRI nor literal, has no class, matches no pattern.
* A literal has two faces. It equals, and hashes as, the term that is stored; what it shows (lexical form, datatype,
  language) is what was submitted. So sets, counts, sh:in and sh:hasValue go by the stored term, and sh:datatype,
  sh:pattern and lengths by the spelling, in one judging.
* Literals are read by `lexical`, never by rdflib, which would normalise, misjudge, warn and log.

Example
-------
>>> stored = Literal("5", XSD + "integer")
>>> shown = SpelledLiteral(stored, Literal("5", XSD + "byte"))
>>> str(shown.datatype), shown == SpelledLiteral(stored, stored), to_term(shown) == stored
('http://www.w3.org/2001/XMLSchema#byte', True, True)
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any, Final, Self

import rdflib
from rdflib.term import Node

from bridge.shapes import lexical
from bridge.shapes.lexical import Moment, Value
from kernel.terms import XSD, Iri, Literal, Term, TripleTerm, parse_term
from kernel.vocabulary import GENID

_TRIPLE_TERM: Final = "triple-term:"


class _Date(dt.date):
    """Stands for any date: pySHACL asks for the type of a value, and compares through the literal."""


class _DateTime(dt.datetime):
    """Stands for any dateTime; a class of its own, because pySHACL compares datetimes by themselves."""


class _Time(dt.time):
    """Stands for any time of day."""


_STAND_INS: Final[dict[str, object]] = {
    "date": _Date(1, 1, 1),
    "dateTime": _DateTime(1, 1, 1),
    "time": _Time(0),
}


class SpelledLiteral(rdflib.Literal):
    """A literal that equals one term and shows another."""

    __slots__ = ("_key", "content", "spelled", "stored")

    def __new__(cls, _stored: Literal, spelled: Literal) -> Self:
        """A literal of the submitted lexical form; rdflib's own constructor would read it."""
        return str.__new__(cls, spelled.lexical)

    def __init__(self, stored: Literal, spelled: Literal) -> None:
        self.stored = stored
        self.spelled = spelled
        self._key = stored.n3
        self._language = spelled.language
        self._datatype = None if spelled.language is not None else rdflib.URIRef(spelled.datatype)
        self.content = lexical.read(spelled.lexical, spelled.datatype)
        self._ill_typed = None if self.content.well_formed is None else not self.content.well_formed
        self._value = _python_value(self.content, spelled)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SpelledLiteral):
            return self._key == other._key
        return rdflib.Literal.__eq__(self, other)

    def __hash__(self) -> int:
        return hash(self._key)

    def eq(self, other: Any) -> bool:  # noqa: ANN401 - as rdflib declares it
        """Whether the values are equal. Raises `TypeError` when they cannot be compared, as rdflib does."""
        order = self._order(other)
        if order is None:
            raise TypeError("these literals cannot be compared")
        return order == 0

    def __lt__(self, other: object) -> bool:
        order = self._order(other)
        return order is not None and order < 0

    def __gt__(self, other: object) -> bool:
        order = self._order(other)
        return order is not None and order > 0

    def __le__(self, other: object) -> bool:
        order = self._order(other)
        return order is not None and order <= 0

    def __ge__(self, other: object) -> bool:
        order = self._order(other)
        return order is not None and order >= 0

    def _order(self, other: object) -> int | None:
        return lexical.compare(self.content, other.content) if isinstance(other, SpelledLiteral) else None


def _python_value(value: Value, spelled: Literal) -> object:
    """A value of the Python type that pySHACL expects of the datatype; None where it is ill-typed or not known."""
    if spelled.language is not None:
        return spelled.lexical
    content = value.content
    if isinstance(content, Moment):
        return _STAND_INS.get(value.kind or "")
    if isinstance(content, Decimal) and spelled.datatype != XSD + "decimal":
        return 0  # an integer of thousands of digits: it is one, and that is all that is asked of it
    return content


def to_rdflib(term: Term, spelled: Literal | None = None) -> rdflib.URIRef | rdflib.BNode | SpelledLiteral:
    """The term for rdflib, a literal with the spelling that it shows."""
    if isinstance(term, Literal):
        return SpelledLiteral(term, spelled or term)
    if isinstance(term, TripleTerm):
        return rdflib.BNode(_TRIPLE_TERM + term.n3)
    if term.value.startswith(GENID):
        return rdflib.BNode(term.value.removeprefix(GENID))
    return rdflib.URIRef(term.value)


def to_term(node: Node) -> Term:
    """The term that `to_rdflib` was given, in its stored form. Raises `TypeError` for a literal of rdflib's own."""
    if isinstance(node, SpelledLiteral):
        return node.stored
    if isinstance(node, rdflib.BNode):
        return parse_term(node.removeprefix(_TRIPLE_TERM)) if node.startswith(_TRIPLE_TERM) else Iri(GENID + node)
    if isinstance(node, rdflib.URIRef):
        return Iri(str(node))
    raise TypeError(f"{node!r} came from somewhere else")
