"""Terms as Oxigraph holds them.

Rules
-----
* Oxigraph stores values: what comes back may be spelled differently, or be of another datatype, than what went in. The
  canonical term is what a scratch store gives back after loading the term as N-Quads, strictly: so whatever is
  accepted here loads into any store, and comes back as it is.
* An `xsd:string` comes back as it went in, and an IRI that is valid does too; these need no store.
* What the parser refuses (RFC 3987, BCP 47) is `InvalidTerm`, with the parser's reason.
* A literal may have `LONGEST` characters: what reads statements and answers back takes tokens of some 8 MB at most, and
  escapes can make six bytes of a character. A longer one would be stored, and its graph could not be read any more.
* Blank nodes have no place in the kernel and are not converted: they are skolemised on entry.

Example
-------
>>> from kernel.terms import XSD
>>> OxigraphCanonicaliser().canonical(Literal("007", XSD + "int")).n3
'"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
>>> to_oxigraph(Literal("colour", language="en-GB"))
<Literal value=colour language=en-gb>
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TypeAlias

import pyoxigraph as ox

from kernel.errors import InvalidTerm
from kernel.terms import XSD_STRING, Iri, Literal, Term, TripleTerm

OxTerm: TypeAlias = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple

_CACHED: Final = 65_536
_LONGEST_CACHED: Final = 1_024
"""Characters; so that the cache holds tens of megabytes at the very most."""
_SHOWN: Final = 80

LONGEST: Final = 2**20
"""Characters of a literal."""


class OxigraphCanonicaliser:
    """What Oxigraph makes of a term; safe from any thread. Implements the port `TermCanonicaliser`."""

    def canonical(self, term: Term) -> Term:
        """The term as every store will hold it.

        Raises:
            InvalidTerm: an IRI or language tag that a store would refuse, or a literal that is too long.
        """
        if isinstance(term, Literal):
            _require_short(term)
            if term.datatype == XSD_STRING:
                return term
            return _stored_briefly(term) if len(term.lexical) <= _LONGEST_CACHED else _stored(term)
        if isinstance(term, TripleTerm):
            return TripleTerm(_iri(term.subject), _iri(term.predicate), self.canonical(term.object))
        return _iri(term)


def to_oxigraph(term: Term) -> OxTerm:
    """The term for pyoxigraph. Raises `InvalidTerm` where Oxigraph's grammar is stricter than the kernel's."""
    if isinstance(term, Iri):
        return node(term)
    if isinstance(term, Literal):
        return _literal(term)
    return ox.Triple(node(term.subject), node(term.predicate), to_oxigraph(term.object))


def from_oxigraph(term: OxTerm) -> Term:
    """The kernel's term for one that pyoxigraph gave. Raises `InvalidTerm` for a blank node, at any depth."""
    if isinstance(term, ox.NamedNode):
        return Iri(term.value)
    if isinstance(term, ox.Literal):
        if term.language is None:
            return Literal(term.value, term.datatype.value)
        return Literal(term.value, language=term.language, direction=term.direction and term.direction.value)
    if isinstance(term, ox.Triple):
        return TripleTerm(_named(term.subject), _named(term.predicate), from_oxigraph(term.object))
    raise InvalidTerm("a blank node has no name of its own", remedy="skolemise blank nodes first")


@lru_cache(maxsize=_CACHED)
def node(iri: Iri) -> ox.NamedNode:
    """The IRI for pyoxigraph. Raises `InvalidTerm` where its grammar (RFC 3987 in full) refuses it."""
    return _node(iri.value)


def _node(text: str) -> ox.NamedNode:
    try:
        return ox.NamedNode(text)
    except ValueError as error:
        raise InvalidTerm(
            f"{_brief(text)} is not a valid IRI: {error}", remedy="write the IRI as RFC 3987 has it"
        ) from error


def _literal(literal: Literal) -> ox.Literal:
    if literal.language is None:
        return ox.Literal(literal.lexical, datatype=_node(literal.datatype))
    direction = None if literal.direction is None else ox.BaseDirection(literal.direction)
    try:
        return ox.Literal(literal.lexical, language=literal.language, direction=direction)
    except ValueError as error:
        raise InvalidTerm(
            f"{literal.language!r} is not a language tag: {error}", remedy="give a tag as BCP 47 has it, such as en-GB"
        ) from error


def _named(term: OxTerm) -> Iri:
    converted = from_oxigraph(term)
    if not isinstance(converted, Iri):
        raise InvalidTerm(f"{term} stands where only an IRI may", remedy="use an IRI as subject, predicate and graph")
    return converted


def _iri(iri: Iri) -> Iri:
    """The IRI itself, once it is known to be valid."""
    node(iri)
    return iri


def _require_short(literal: Literal) -> None:
    if len(literal.lexical) > LONGEST:
        raise InvalidTerm(
            f"{_brief(literal.lexical)} is a literal of {len(literal.lexical):,} characters",
            remedy=f"give at most {LONGEST:,}: keep what is longer in a file, and name that by its IRI",
        )


def _stored(literal: Literal) -> Term:
    _literal(literal)  # says more clearly than the loader what is wrong
    # A store of its own: nothing to lock, and a store never forgets a term. It takes 5 microseconds in all.
    scratch = ox.Store()
    try:
        scratch.load(f"<urn:s> <urn:p> {literal.n3} <urn:g> .\n", ox.RdfFormat.N_QUADS)
    except SyntaxError as error:
        raise InvalidTerm(f"{_brief(literal.n3)} cannot be stored: {error}", remedy="correct the literal") from error
    held = from_oxigraph(next(scratch.quads_for_pattern(None, None, None)).object)
    return literal if held == literal else held


_stored_briefly = lru_cache(maxsize=_CACHED)(_stored)


def _brief(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
