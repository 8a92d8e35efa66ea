"""Terms for people: names instead of IRIs, links to what has a page, and nothing that could mislead.

Rules
-----
* A node is shown by its name, else by the end of its IRI; its whole IRI is there to be read. Only `http`, `https` and
  `urn` IRIs link, and only to a page of ours: a `javascript:` IRI is text.
* A source on the web may be linked to as it is, without telling it who looks.
* What is of a vocabulary that everybody knows is called by its usual prefix, a property by the words it is made of; in
  each place in the same way.
* Texts are here as they are: templates make visible what is hidden in them, and keep their direction within.

Example
-------
>>> Names({}).term(Iri("https://example.org/livesIn")).text
'lives in'
>>> Names({}).term(Iri("javascript:alert(1)")).page is None
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from kernel.errors import InvalidTerm
from kernel.terms import RDF, XSD, XSD_STRING, Iri, Literal, Term, TripleTerm, parse_term
from kernel.vocabulary import DEFAULT_GRAPH, GENID, M

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.sparql.sample import Cell

LONGEST: Final = 4_000
"""Characters of a literal that are shown."""

_LINKED: Final = ("http://", "https://", "urn:")
_WEB: Final = ("http://", "https://")
_LOCAL: Final = re.compile(r"[^/#:]+$")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PROPERTY: Final = re.compile(r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+")
_RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
_KNOWN: Final = {
    RDF: "rdf",
    XSD: "xsd",
    _RDFS: "rdfs",
    "http://www.w3.org/2002/07/owl#": "owl",
    "http://www.w3.org/2004/02/skos/core#": "skos",
    "http://www.w3.org/ns/shacl#": "sh",
    "http://www.w3.org/ns/prov#": "prov",
    "http://purl.org/dc/terms/": "dct",
    "http://xmlns.com/foaf/0.1/": "foaf",
    "http://schema.org/": "schema",
    "https://schema.org/": "schema",
    M: "m",
}
_WORDS: Final = {
    RDF + "type": "is of kind",
    _RDFS + "label": "label",
    _RDFS + "comment": "comment",
    _RDFS + "subClassOf": "is a kind of",
    DEFAULT_GRAPH.value: "default graph",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A term as a page shows it.

    Args:
        kind: `node`, `text`, `triple`, or `blank`.
        text: what is read.
        exact: the whole of it, in N-Triples form or as the IRI.
        page: where its page is; None where it has none.
        web: where it is on the web; None where it is not.
        language: of a text.
        direction: of a text.
        datatype: of a text that is no plain string, short.
    """

    kind: str
    text: str
    exact: str
    page: str | None = None
    web: str | None = None
    language: str | None = None
    direction: str | None = None
    datatype: str | None = None


class Names:
    """What nodes are called.

    Args:
        names: names by IRI.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def __call__(self, term: Term) -> Shown:
        """As `term`."""
        return self.term(term)

    def term(self, term: Term) -> Shown:
        """How a term is shown."""
        if isinstance(term, Iri):
            return self._node(term.value)
        if isinstance(term, Literal):
            return _text(term)
        parts = (self.term(part).text for part in (term.subject, term.predicate, term.object))
        return Shown("triple", f"«{' '.join(parts)}»", term.n3)

    def cell(self, cell: Cell) -> Shown | None:
        """How a cell of an answer is shown."""
        if cell is None or isinstance(cell, (Iri, Literal, TripleTerm)):
            return None if cell is None else self.term(cell)
        text = cell if isinstance(cell, str) else f"_:{cell.label}"
        return Shown("blank", text, text)

    def n3(self, text: str) -> Shown:
        """How a term in N-Triples form is shown, or, as SHACL paths may have it, a text that is none."""
        try:
            return self.term(parse_term(text))
        except InvalidTerm:
            return Shown("text", text, text)

    def _node(self, iri: str) -> Shown:
        text = self._names.get(iri) or _WORDS.get(iri) or _short(iri)
        page = page_of(iri) if iri.startswith(_LINKED) else None
        return Shown("node", text, iri, page, iri if iri.startswith(_WEB) else None)


def page_of(iri: str) -> str:
    """Where a node's page is."""
    return "/node?" + urlencode({"iri": iri})


def links(iri: str) -> bool:
    """Whether a node of this IRI has a page."""
    return iri.startswith(_LINKED)


def iris_of(*terms: Term) -> set[Iri]:
    """The IRIs in terms, those within triple terms too."""
    found: set[Iri] = set()
    for term in terms:
        if isinstance(term, Iri):
            found.add(term)
        elif isinstance(term, TripleTerm):
            found |= iris_of(term.subject, term.predicate, term.object)
    return found


def _text(literal: Literal) -> Shown:
    text = literal.lexical
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}… ({len(literal.lexical):,} characters)"
    plain = literal.language is not None or literal.datatype == XSD_STRING
    datatype = None if plain else _short(literal.datatype)
    exact = literal.n3 if len(literal.n3) <= LONGEST else literal.n3[:LONGEST] + "…"
    return Shown(
        "text",
        text,
        exact,
        language=literal.language,
        direction=literal.direction,
        datatype=datatype,
    )


def _short(iri: str) -> str:
    if iri.startswith(GENID):
        return f"_:{iri.removeprefix(GENID)[-8:]}"
    match = _LOCAL.search(iri)
    if match is None or not iri.startswith(_LINKED):
        return iri
    namespace, local = iri[: match.start()], match.group()
    prefix = _KNOWN.get(namespace)
    if prefix is not None:
        return f"{prefix}:{local}"
    if _PROPERTY.fullmatch(local):
        return _HUMP.sub(" ", local).lower()
    return local.replace("_", " ") if any(map(str.isalpha, local)) else iri.partition("://")[2] or iri
