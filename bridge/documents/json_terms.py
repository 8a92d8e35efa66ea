"""Terms in JSON, as JSON-LD values.

Rules
-----
* An IRI is `{"@id": …}`; where nothing but an IRI may stand, its text alone will do. `_:b` is a blank node.
* A literal is `{"@value": …}` with a `@type`, or with a `@language` and perhaps a `@direction`. Its value is a text, a
  boolean, or a number (see `bridge.documents.json_text`).
* An object as mere text could be either, and is refused.
* IRIs are absolute: there is no context, hence no prefix, no base and no term.

Example
-------
>>> from bridge.documents.skolem import Skolem
>>> from bridge.terms import OxigraphCanonicaliser
>>> terms = JsonTerms(OxigraphCanonicaliser(), Skolem())
>>> held, spelling = terms.value({"@value": "colour", "@language": "en-GB"}, "/object")
>>> held.n3, spelling.object.n3
('"colour"@en-gb', '"colour"@en-GB')
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from bridge.documents.json_text import Json, native_literal, pointer
from kernel.changes import NO_SPELLING
from kernel.errors import InvalidTerm
from kernel.facts import Spelling
from kernel.terms import XSD_STRING, Iri, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from kernel.ports.outside import TermCanonicaliser

_LITERAL: Final = frozenset({"@value", "@type", "@language", "@direction"})


@dataclass(frozen=True, slots=True)
class JsonTerms:
    """Reads terms.

    Args:
        canonicaliser: knows what a store will hold.
        skolem: the names of blank nodes by label.
    """

    canonicaliser: TermCanonicaliser
    skolem: Callable[[str], Iri]

    def node(self, value: Json, where: str) -> Iri:
        """A node, from `{"@id": …}` or its text. Raises `InvalidTerm`."""
        if isinstance(value, dict):
            value, where = _id(value, where), f"{where}/@id"
        if not isinstance(value, str):
            raise InvalidTerm("an IRI is missing here", remedy='give its text, or {"@id": …}', where=where)
        if value.startswith("_:"):
            return self.skolem(value.removeprefix("_:"))
        try:
            iri = Iri(value)
            self.canonicaliser.canonical(iri)
        except InvalidTerm as error:
            error.where = where
            raise
        return iri

    def name(self, value: Json, where: str) -> Iri:
        """What only an IRI can name: a predicate, a graph. Raises `InvalidTerm`, also for a blank node."""
        text = value.get("@id") if isinstance(value, dict) else value
        if isinstance(text, str) and text.startswith("_:"):
            raise InvalidTerm(f"{text} is a blank node", remedy="give an IRI here", where=where)
        return self.node(value, where)

    def value(self, value: Json, where: str) -> tuple[Iri | Literal, Spelling]:
        """An object: the term that a store will hold, and how it was spelled. Raises `InvalidTerm`."""
        if not isinstance(value, dict):
            raise InvalidTerm(
                "an object that is mere text could be an IRI or a literal"
                if isinstance(value, str)
                else "an object is an IRI or a literal",
                remedy='write {"@id": …} or {"@value": …}',
                where=where,
            )
        if "@value" not in value:
            return self.node(value, where), NO_SPELLING
        submitted = _literal(value, where)
        try:
            held = self.canonicaliser.canonical(submitted)
        except InvalidTerm as error:
            error.where = where
            raise
        if not isinstance(held, Literal):
            raise InvalidTerm("a store would make no literal of it", remedy="give another literal", where=where)
        return held, NO_SPELLING if held == submitted else Spelling(submitted)


def _id(value: dict[str, Json], where: str) -> Json:
    if len(value) != 1 or "@id" not in value:
        raise InvalidTerm(_no_id(value), remedy='write {"@id": …} alone, or {"@value": …} for a literal', where=where)
    return value["@id"]


def _no_id(value: dict[str, Json]) -> str:
    """What keeps an object from being a node."""
    if "@id" in value:
        return f"{next(name for name in value if name != '@id')!r} does not go with @id"
    return "a literal cannot stand here" if "@value" in value else "there is neither @id nor @value"


def _literal(members: dict[str, Json], where: str) -> Literal:
    for name in members:
        if name not in _LITERAL:
            known = ", ".join(sorted(_LITERAL))
            raise InvalidTerm(
                f"{name!r} is no part of a literal", remedy=f"known are {known}", where=where + pointer(name)
            )
    value = members["@value"]
    datatype, language, direction = (_text(members, name, where) for name in ("@type", "@language", "@direction"))
    if isinstance(value, bool | int | Decimal) and language is None and direction is None:
        return _native(value, datatype, where)
    if not isinstance(value, str):
        raise InvalidTerm(
            "a literal's value is a text, a number or a boolean; with a language, a text",
            remedy="give a text",
            where=where + pointer("@value"),
        )
    if datatype is not None and (language is not None or direction is not None):
        raise InvalidTerm(
            "a literal has a type or a language, not both", remedy="leave one out", where=where + pointer("@type")
        )
    try:
        return Literal(value, datatype or XSD_STRING, language, direction)
    except InvalidTerm as error:
        error.where = where
        raise


def _native(value: bool | int | Decimal, datatype: str | None, where: str) -> Literal:
    try:
        return native_literal(value, datatype, where=where + pointer("@value"))
    except InvalidTerm as error:
        error.where = error.where or where
        raise


def _text(members: dict[str, Json], name: str, where: str) -> str | None:
    if name not in members:
        return None
    value = members[name]
    if not isinstance(value, str):
        raise InvalidTerm(f"{name} is no text", remedy="give it as text, or leave it out", where=where + pointer(name))
    return value
