"""What a base is governed by: the believed facts of its reserved graphs, kept at hand, and their digests.

Rules
-----
* Shapes, ontology, rules, policy and query registry change only through plans; so they are read once and kept until a
  plan touches them, or a group of plans is discarded.
* A digest is the SHA-256 of the canonical N-Quads lines of the believed statements, sorted: BoundToState names it.
* `GovernedView` answers for those graphs from what is kept, and for all else from the view beneath.

Example
-------
::

    governance = Governance(policy_digest)
    view = governance.over(tx)
    governance.digests(view).shapes
    governance.forget()           # a plan touched a reserved graph
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from certificates.certificate import Digests
from kernel.vocabulary import GOVERNANCE, ONTOLOGY_GRAPH, QUERIES_GRAPH, RULES_GRAPH, SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from uuid import UUID

    from kernel.facts import Evidence, Fact
    from kernel.ports.facts import FactsView
    from kernel.terms import Iri, Statement, Term


class Governance:
    """Keeps the believed facts of the reserved graphs and their digests.

    Args:
        policy: digest of the policy in force, in hexadecimal; policy objects are configured, not stored.
    """

    def __init__(self, policy: str) -> None:
        self._policy = policy
        self._facts: dict[Iri, tuple[Fact, ...]] = {}
        self._digests: Digests | None = None

    def over(self, view: FactsView) -> GovernedView:
        """A view that answers for the reserved graphs from what is kept."""
        return GovernedView(self, view)

    def facts(self, graph: Iri, view: FactsView) -> tuple[Fact, ...]:
        """The believed facts of a reserved graph."""
        held = self._facts.get(graph)
        if held is None:
            held = self._facts[graph] = tuple(view.believed(graph=graph))
        return held

    def digests(self, view: FactsView) -> Digests:
        """The digests that a certificate names."""
        if self._digests is None:
            shapes, ontology, rules, queries = (
                digest_of(self.facts(graph, view))
                for graph in (SHAPES_GRAPH, ONTOLOGY_GRAPH, RULES_GRAPH, QUERIES_GRAPH)
            )
            self._digests = Digests(shapes=shapes, ontology=ontology, rules=rules, policy=self._policy, queries=queries)
        return self._digests

    def forget(self) -> None:
        """Reads everything anew at the next use."""
        self._facts.clear()
        self._digests = None


class GovernedView:
    """A `FactsView` that reads the reserved graphs once."""

    def __init__(self, governance: Governance, view: FactsView) -> None:
        self._governance = governance
        self._view = view

    def believed_of(self, statement: Statement) -> Sequence[Fact]:
        """As the view beneath."""
        return self._view.believed_of(statement)

    def ever_of(self, statement: Statement) -> Iterator[Fact]:
        """As the view beneath."""
        return self._view.ever_of(statement)

    def believed(
        self,
        *,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the term's name in RDF
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """As the view beneath; a whole reserved graph comes from what is kept."""
        if graph in GOVERNANCE and subject is None and predicate is None and object is None:
            return iter(self._governance.facts(graph, self._view))
        return self._view.believed(subject=subject, predicate=predicate, object=object, graph=graph)

    def governing(self, graph: Iri) -> tuple[Fact, ...]:
        """The believed facts of a reserved graph; the same tuple until they may have changed."""
        return self._governance.facts(graph, self._view)

    def fact(self, fact: UUID) -> Fact | None:
        """As the view beneath."""
        return self._view.fact(fact)

    def evidence_of(self, facts: Sequence[UUID]) -> dict[UUID, list[Evidence]]:
        """As the view beneath."""
        return self._view.evidence_of(facts)


def digest_of(facts: Iterable[Fact]) -> str:
    """SHA-256, in hexadecimal, of the sorted canonical N-Quads lines of the facts' statements."""
    lines = sorted({fact.statement.nquad for fact in facts})
    return sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
