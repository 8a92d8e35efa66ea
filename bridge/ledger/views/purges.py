"""Reading for purges, and of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.ledger import purging
from bridge.ledger.views.view import View

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from uuid import UUID

    from certificates.items import SaltedItem
    from kernel.facts import Evidence, Fact
    from kernel.ports.purges import PurgeRecord
    from kernel.terms import Iri, Statement, Term


class PurgesReading(View):
    """What a purge has to find, and what there was of purges."""

    def ever_of(self, statement: Statement) -> Iterator[Fact]:
        """Every fact ever recorded of exactly this statement, believed or not."""
        return self.facts_ever(statement=statement)

    def facts_ever(
        self,
        *,
        statement: Statement | None = None,
        family: UUID | None = None,
        node: Iri | None = None,
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """Every fact, believed or not, of a statement, a family, a node or a graph."""
        return purging.facts_ever(self._session, self._key, statement=statement, family=family, node=node, graph=graph)

    def facts_saying(self, text: str) -> Iterator[Fact]:
        """Every fact, believed or not, whose object has a text in it."""
        return purging.facts_saying(self._session, text)

    def names_kept(self, *, graphs: bool) -> Iterator[tuple[str, str]]:
        """What callers named things, and no purge takes, each with the place where it is kept, in words."""
        return purging.names_kept(self._session, graphs=graphs)

    def keys_kept(self) -> Iterator[tuple[str, str]]:
        """Every idempotency key, after the name of whose it is."""
        return purging.keys_kept(self._session)

    def mentions(self, term: Term) -> int:
        """How many facts, believed or not, have the term as subject or object."""
        return purging.mentions(self._session, self._key, term)

    def evidence_citing(self, episodes: Collection[Iri]) -> list[tuple[Evidence, Fact]]:
        """All evidence from some episodes, each with the fact that it is for."""
        return purging.evidence_citing(self._session, episodes)

    def sourced_before(self, fact: UUID, certificate: UUID) -> bool:
        """Whether a certificate brought evidence for a fact that was purged since."""
        return purging.sourced_before(self._session, fact, certificate)

    def items_in_words(self) -> Iterator[tuple[UUID, SaltedItem]]:
        """Every item that may quote what others say, with its certificate."""
        return purging.items_in_words(self._session)

    def purge(self, purge: UUID) -> PurgeRecord | None:
        """A purge by its id."""
        return purging.purge_of(self._session, purge)

    def purges(self) -> list[PurgeRecord]:
        """Every purge, oldest first."""
        return purging.purges(self._session)

    def tombstones(self) -> list[tuple[UUID, str, bytes]]:
        """What stands: the purge that put it up, the kind and the hash of each."""
        return purging.tombstones(self._session)

    def erased(self, purge: UUID) -> tuple[Iterator[tuple[bytes, bytes]], Iterator[tuple[bytes, str, int]]]:
        """What a purge took, in the order of its digest."""
        return purging.erased(self._session, purge)
