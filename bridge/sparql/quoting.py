"""Queries with triple terms, reifiers and annotations put together as well: what SPARQL 1.2 adds to triple patterns.

Rules
-----
* A triple term is a variable of its own, by whose name its triple is kept. `<< s p o ~ ?f >>` is the node `?f`, of
  which it is said that it reifies that triple; so is what `~` names after a triple, or `{| |}` describes (SPARQL 1.2,
  section "Grammar"). A reifier without a name is a blank node.
* DESCRIBE is read as well.
* By this it is told what a query looks at in the history of a graph, and not whether a slice is enough for it: the
  reader for that takes none of these.

Example
-------
>>> reader = QuotingParser("SELECT ?o { << <urn:ada> <urn:p> ?o ~ ?fact >> <urn:from> ?from }")
>>> [(triple.subject.name, triple.path.predicate.value) for triple in reader.query().group.parts]
[('fact', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies'), ('fact', 'urn:from')]
>>> [triple.value for triple in reader.quoted.values()]
[Variable(name='o')]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from bridge.shapes.paths import Step
from bridge.shapes.vocabulary import RDF_REIFIES
from bridge.sparql.algebra import Triple, Variable
from bridge.sparql.parsing import QueryParser

if TYPE_CHECKING:
    from bridge.sparql.algebra import Node, Select

_NAMES: Final = frozenset({"variable", "blank", "iri", "name"})


class QuotingParser(QueryParser):
    """A reader that takes what SPARQL 1.2 adds.

    Attributes:
        quoted: the triple terms, by the names of the variables in their place.
    """

    ALONE: ClassVar = QueryParser.ALONE | {"<"}

    def __init__(self, text: str, base: str | None = None) -> None:
        super().__init__(text, base)
        self.quoted: dict[str, Triple] = {}

    def _of_another_form(self) -> Select:
        if not self._took_word("DESCRIBE"):
            return super()._of_another_form()
        while self._took("*") or self._next.kind in _NAMES:
            self._take()
        return self._selecting(())

    def _node(self, found: list[Triple]) -> Node:
        return self._quoted(found) if self._took_both("<", "<") else super()._node(found)

    def _annotations(self, found: list[Triple]) -> None:
        triple, reifier = found[-1], None
        while True:
            if self._took("~"):
                reifier = self._reifies(triple, self._named(found), found)
            elif self._took_both("{", "|"):
                self._properties(reifier or self._reifies(triple, self._blank(), found), found)
                reifier = None
                if not self._took_both("|", "}"):
                    raise self._unknown(self._next)
            else:
                return

    def _quoted(self, found: list[Triple]) -> Node:
        """What stands within `<<( )>>` or `<< >>`."""
        term = self._took("(")
        triple = Triple(self._node(found), self._verb(), self._node(found))
        node = self._as_term(triple) if term else self._reifies(triple, self._named(found, after="~"), found)
        if term:
            self._expect(")")
        if not self._took_both(">", ">"):
            raise self._unknown(self._next)
        return node

    def _named(self, found: list[Triple], after: str | None = None) -> Node:
        """The reifier that is named here, or one without a name."""
        if after is not None and not self._took(after):
            return self._blank()
        return self._node(found) if self._next.kind in _NAMES or self._next.text == "[" else self._blank()

    def _reifies(self, triple: Triple, reifier: Node, found: list[Triple]) -> Node:
        found.append(Triple(reifier, Step(RDF_REIFIES), self._as_term(triple)))
        return reifier

    def _as_term(self, triple: Triple) -> Variable:
        name = f"<<{len(self.quoted)}>>"
        self.quoted[name] = triple
        return Variable(name)

    def _took_both(self, one: str, other: str) -> bool:
        """Takes two marks that stand together."""
        first = self._next
        if first.text != one or self._tokens[self._position + 1].text != other:
            return False
        if self._tokens[self._position + 1].start != first.end:
            return False
        self._position += 2
        return True
