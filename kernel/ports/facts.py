"""Facts believed at one head: all that most rules look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from uuid import UUID

    from kernel.facts import Evidence, Fact
    from kernel.terms import Iri, Statement, Term


class FactsView(Protocol):
    """Facts believed at one head: the durable one, or the speculative one of an open transaction."""

    def believed_of(self, statement: Statement) -> Sequence[Fact]:
        """Every believed fact of exactly this statement, whatever its valid time, by start."""
        ...

    def ever_of(self, statement: Statement) -> Iterator[Fact]:
        """Every fact ever recorded of exactly this statement, believed or not."""
        ...

    def believed(
        self,
        *,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the term's name in RDF
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """Believed facts that match, whatever their valid time; indexed by subject, by object and by graph.

        In a transaction, write nothing while the iterator is in use; it ends with its view. So do all iterators here.
        """
        ...

    def fact(self, fact: UUID) -> Fact | None:
        """A fact by its id, believed or not."""
        ...

    def evidence_of(self, facts: Sequence[UUID]) -> dict[UUID, list[Evidence]]:
        """The evidence for each of the facts, oldest first; facts without any are absent."""
        ...
