"""A shapes graph as it was submitted, indexed by what it describes.

Rules
-----
* It holds the statements of `m:shapes` as RDF terms in their stored form, with the submitted spelling of a literal
  beside it where the two differ. Skolem IRIs stand for blank nodes.
* Nothing is judged here: a list that is no list is answered as None.

Example
-------
::

    document = ShapesDocument(facts, spellings)
    document.objects(shape, sh("property"))
    document.items(head_of_list)
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, Self, TypeAlias

from bridge.shapes.vocabulary import RDF_FIRST, RDF_NIL, RDF_REST
from kernel.terms import XSD, Iri, Literal, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from uuid import UUID

    from kernel.facts import FactContent

Triple: TypeAlias = tuple[Iri, Iri, Term]

_TRUE: Final = Literal("true", XSD + "boolean")


class ShapesDocument:
    """The statements of a shapes graph.

    Args:
        facts: the facts that hold them; their graph and time are of no account.
        spellings: what was submitted in place of a fact's object, by the fact's id.
    """

    def __init__(self, facts: Iterable[FactContent], spellings: Mapping[UUID, Literal]) -> None:
        self._described: dict[Iri, dict[Iri, list[Term]]] = {}
        self._spellings: dict[Triple, Literal] = {}
        for fact in facts:
            statement = fact.statement
            terms = self._described.setdefault(statement.subject, {}).setdefault(statement.predicate, [])
            if statement.object not in terms:
                terms.append(statement.object)
            spelling = spellings.get(fact.id)
            if spelling is not None:
                self._spellings[statement.subject, statement.predicate, statement.object] = spelling

    @classmethod
    def of_triples(cls, triples: Iterable[tuple[Triple, Sequence[Literal]]]) -> Self:
        """The document of statements that are no facts.

        Args:
            triples: each once, with the spellings of its literal, of which the first counts.
        """
        document = cls((), {})
        for triple, spellings in triples:
            subject, predicate, value = triple
            document._described.setdefault(subject, {}).setdefault(predicate, []).append(value)
            if spellings and spellings[0] != value:
                document._spellings[triple] = spellings[0]
        return document

    def without(self, is_left_out: Callable[[Triple], bool]) -> ShapesDocument:
        """The same without some of its statements."""
        found = ShapesDocument((), {})
        for triple in self:
            if not is_left_out(triple):
                subject, predicate, value = triple
                found._described.setdefault(subject, {}).setdefault(predicate, []).append(value)
        found._spellings = self._spellings
        return found

    def __iter__(self) -> Iterator[Triple]:
        """Every statement."""
        for subject, described in self._described.items():
            for predicate, terms in described.items():
                for term in terms:
                    yield subject, predicate, term

    @cached_property
    def said(self) -> frozenset[tuple[Triple, Literal | None]]:
        """Every statement, each with its spelling if it is spelled otherwise: what makes two documents the same."""
        return frozenset((triple, self._spellings.get(triple)) for triple in self)

    def subjects(self) -> Iterable[Iri]:
        """Every node that is described."""
        return self._described.keys()

    def described(self, subject: Iri) -> Mapping[Iri, list[Term]]:
        """What is said of a node, by predicate."""
        return self._described.get(subject, {})

    def objects(self, subject: Iri, predicate: Iri) -> list[Term]:
        """What a node has as values of a predicate, in their stored form."""
        return self.described(subject).get(predicate, [])

    def nodes(self, subject: Iri, predicate: Iri) -> list[Iri]:
        """Those values that are nodes."""
        return [term for term in self.objects(subject, predicate) if isinstance(term, Iri)]

    def spelling(self, triple: Triple) -> Literal | None:
        """How the object of a statement was spelled, if otherwise than it is held."""
        return self._spellings.get(triple)

    def texts(self, subject: Iri, predicate: Iri) -> list[str]:
        """The lexical forms of those values that are literals."""
        return [term.lexical for term in self.objects(subject, predicate) if isinstance(term, Literal)]

    def is_true(self, subject: Iri, predicate: Iri) -> bool:
        """Whether `true` is among the values: that very term, as it was submitted (SHACL, section "Terminology")."""
        return any(
            (self.spelling((subject, predicate, term)) or term) == _TRUE for term in self.objects(subject, predicate)
        )

    def items(self, head: Term) -> list[Term] | None:
        """The members of a SHACL list (SHACL section 1.4); None if it is not well formed, or has no end."""
        found: list[Term] = []
        seen: set[Term] = set()
        while head != RDF_NIL:
            if head in seen or not isinstance(head, Iri):
                return None
            seen.add(head)
            first, rest = self.objects(head, RDF_FIRST), self.objects(head, RDF_REST)
            if len(first) != 1 or len(rest) != 1:
                return None
            found.append(first[0])
            head = rest[0]
        return found if not self.described(RDF_NIL) else None

    def members(self, subject: Iri, predicate: Iri) -> list[Iri]:
        """The nodes in the well-formed lists that a node has as values of a predicate."""
        lists = [self.items(head) or [] for head in self.objects(subject, predicate)]
        return [member for items in lists for member in items if isinstance(member, Iri)]
