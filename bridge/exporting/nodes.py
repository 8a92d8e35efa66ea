"""Nodes and literals in documents: blank nodes given back, and the terms that every JSON-LD processor keeps.

Rules
-----
* A Skolem IRI that Muniment made becomes a blank node again. Its label is the id in the IRI: so it is the same node
  throughout the document, with nothing to be remembered. Where a node has to have an IRI (a predicate, a graph), and in
  what is signed (decision 0012), it stays one.
* In what is signed, a literal with a base direction is one of an `i18n` datatype (RDF 1.1 for JSON-LD, JSON-LD 1.1 API
  section 8.2.2), because processors otherwise drop the direction, and with it the signature over it.

Example
-------
>>> blank = Iri(GENID + 32 * "0")
>>> RESTORED.n3(blank), KEPT.n3(blank)[:9]
('_:b00000000000000000000000000000000', '<https://')
>>> RESTORED.n3(TripleTerm(blank, Iri("urn:p"), Iri("urn:o")))
'<<( _:b00000000000000000000000000000000 <urn:p> <urn:o> )>>'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from kernel.terms import Iri, Literal, Term, TripleTerm
from kernel.vocabulary import GENID

I18N: Final = "https://www.w3.org/ns/i18n#"
"""Where the datatypes of literals with a base direction lie."""

_MADE_HERE: Final = re.compile(re.escape(GENID) + r"([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class Nodes:
    """How nodes are written.

    Args:
        restore: whether Skolem IRIs become blank nodes again.
    """

    restore: bool

    def label(self, iri: Iri) -> str | None:
        """The label, with its `_:`, of what is a blank node; None for what has an IRI."""
        return _label(iri.value) if self.restore else None

    def n3(self, term: Term) -> str:
        """A subject or object in N-Triples form."""
        if isinstance(term, Iri):
            return self.label(term) or term.n3
        if isinstance(term, TripleTerm):
            return f"<<( {self.n3(term.subject)} {term.predicate.n3} {self.n3(term.object)} )>>"
        return term.n3

    def name(self, iri: Iri) -> str:
        """What JSON-LD's `@id` has."""
        return self.label(iri) or iri.value


RESTORED: Final = Nodes(restore=True)
KEPT: Final = Nodes(restore=False)


def directed(literal: Literal) -> Literal:
    """A literal that every JSON-LD processor keeps whole: its base direction, if any, is in its datatype."""
    if literal.direction is None:
        return literal
    return Literal(literal.lexical, f"{I18N}{literal.language}_{literal.direction}")


@lru_cache(maxsize=65_536)
def _label(iri: str) -> str | None:
    match = _MADE_HERE.fullmatch(iri)
    return None if match is None else f"_:b{match[1]}"
