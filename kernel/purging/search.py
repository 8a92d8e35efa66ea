"""What goes with the facts that are purged: the items of plans that wrote them, and all that quotes them.

Rules
-----
* Of an applied plan the items go that record a fact, or bring evidence, that goes. What supersedes a fact says no more
  than its id, and stays. If nothing is left that the plan wrote, all goes that was asked and said about it.
* Of a plan that was never applied the items go whose statement or episode belongs to what is purged, whether or not any
  fact is held of that. The same content in another statement is no matter of this purge. If nothing is left that it
  would have written, all goes that was asked and said about it.
* Of registered queries those go that name it (`kernel.purging.queries`), in plans that were never applied as well.
* Whatever else quotes it goes, wherever it was said (`kernel.purging.quoting`).
* A certificate that waits is found by its plan, or by what was asked; a staged load by what it says.

Example
-------
::

    search = Search(view, target, held, quotes)
    search.items(), [*search.waiting()]
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from certificates.canonical import canonical_json
from certificates.ids import urn
from certificates.items import ItemKind
from kernel.changes import Assert, Reinstate, Revise
from kernel.ports.records import CertificateState
from kernel.purging.queries import NamingQueries
from kernel.writing.deferred import Deletion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from certificates.items import SaltedItem
    from kernel.changes import Change, Request
    from kernel.ports.ledger import LedgerView
    from kernel.purging.quoting import Quotes
    from kernel.purging.targets import Held, Target
    from kernel.terms import Statement
    from kernel.writing.deferred import Deferred

_PAGE = 500


class Search:
    """Looks for the items that go with what is held of a target."""

    def __init__(self, view: LedgerView, target: Target, held: Held, quotes: Quotes) -> None:
        self._view = view
        self._target = target
        self._written = canonical_json(target.text)
        self._quotes = quotes
        self._queries = NamingQueries(target)
        self._facts = {urn(fact.id) for fact in held.facts}
        self._evidence = {urn(item.content.id) for item, _ in held.evidence}
        self._statements = frozenset(fact.statement for fact in held.facts)
        self._graphs = frozenset(each.graph for each in self._statements)
        self._quads = {statement.nquad for statement in self._statements}
        self._applied = {fact.certificate for fact in held.facts} | {item.certificate for item, _ in held.evidence}
        self._found: set[tuple[UUID, ItemKind, int]] = set()

    def items(self) -> list[tuple[UUID, ItemKind, int]]:
        """Them, by certificate, kind and ordinal."""
        whole = {certificate for certificate in self._applied if self._planned(certificate)}
        unapplied: dict[UUID, list[SaltedItem]] = {}
        for certificate, item in self._view.items_in_words():
            if item.kind is ItemKind.PLAN and item.ordinal:
                unapplied.setdefault(certificate, []).append(item)
            elif certificate in whole or self._quotes.of(item) or self._cites(item):
                self._found.add((certificate, item.kind, item.ordinal))
        for certificate, planned in unapplied.items():
            self._never_applied(certificate, planned)
        return sorted(self._found, key=lambda each: (each[0].bytes, each[1].value, each[2]))

    def waiting(self) -> Iterator[UUID]:
        """Certificates that wait, and would write, or quote, what goes."""
        touched = {certificate for certificate, kind, _ in self._found if kind is ItemKind.PLAN}
        after: UUID | None = None
        while page := self._view.certificates(state=CertificateState.PENDING, after=after, limit=_PAGE):
            for record in page:
                request = record.request
                if record.id in touched or (request is not None and self._asks(request)):
                    yield record.id
            after = page[-1].id

    def has(self, session: str, chunk: Sequence[Deferred]) -> bool:
        """Whether a chunk of a load session has what goes, or the session's name quotes it."""
        return self._quotes.within(canonical_json(session)) or any(map(self._changes, chunk))

    def _planned(self, certificate: UUID) -> bool:
        """Notes the plan items of an applied certificate that go; answers whether nothing that it wrote is left."""
        gone = left = 0
        for item in self._view.items(certificate, ItemKind.PLAN, first=1):
            said = json.loads(item.body)
            operation = said["op"]
            if operation not in {"record", "support"}:
                continue
            if said["fact"] in self._facts or said.get("evidence") in self._evidence:
                self._found.add((certificate, ItemKind.PLAN, item.ordinal))
                gone += 1
            else:
                left += 1
        return bool(gone) and not left

    def _never_applied(self, certificate: UUID, planned: Sequence[SaltedItem]) -> None:
        """Notes the plan items that go of a certificate that wrote nothing."""
        told = [(item, json.loads(item.body)) for item in planned]
        writes = [(item, said) for item, said in told if said["op"] in {"record", "support"}]
        facts = self._facts | self._would_go([said for _, said in writes])
        gone = [item for item, said in writes if said["fact"] in facts or ("evidence" in said and self._said_of(said))]
        self._found.update((certificate, item.kind, item.ordinal) for item in gone)
        if gone and len(gone) == len(writes):
            items = (item for kind in ItemKind for item in self._view.items(certificate, kind))
            self._found.update((certificate, item.kind, item.ordinal) for item in items)

    def _would_go(self, writes: Sequence[dict[str, str]]) -> set[str]:
        """The facts of a plan whose statements go; or, of an episode, those that nothing else speaks for."""
        facts = {said["fact"] for said in writes if "statement" in said and self._has(said["statement"])}
        if self._target.kind.value != "episode":
            return facts
        supports = [(said["fact"], self._said_of(said)) for said in writes if "evidence" in said]
        return facts | {fact for fact, own in supports if own} - {fact for fact, own in supports if not own}

    def _has(self, quad: str) -> bool:
        """Whether a statement, in the text of a plan, goes; a node is found where its IRI stands, by its own."""
        kind, value = self._target.kind.value, self._target.text
        if self._queries.in_quad(quad):
            return True
        if kind == "graph":
            return quad.endswith(f" <{value}> .")
        return quad in self._quads or (kind == "node" and f"<{value}>" in quad.rpartition(" <")[0])

    def _said_of(self, said: dict[str, str]) -> bool:
        return said.get("episode") == self._target.text and self._target.kind.value in {"node", "episode"}

    def _cites(self, item: SaltedItem) -> bool:
        """Whether a request cites what goes as its episode; few have its text at all, and only those are parsed."""
        return item.kind is ItemKind.PLAN and self._written in item.body and self._said_of(json.loads(item.body))

    def _asks(self, request: Request) -> bool:
        return (
            self._target.covers_source(request.episode)
            or (request.reason is not None and self._quotes.within(canonical_json(request.reason)))
            or any(map(self._changes, request.changes))
        )

    def _changes(self, change: Change | Deletion) -> bool:
        """Whether a change says a statement that goes, or names a fact that does."""
        statement = _statement_of(self._view, change)
        if statement is None:
            return False
        meant = {statement}
        if isinstance(change, Deletion) and change.anywhere:
            meant |= {replace(statement, graph=graph) for graph in self._graphs}
        return any(self._target.covers(each, self._statements) or self._queries.name(each) for each in meant)


def _statement_of(view: LedgerView, change: Change | Deletion) -> Statement | None:
    """The statement that a change says, or that the fact has which it names."""
    if isinstance(change, Assert | Deletion):
        return change.statement
    named = change.fact if isinstance(change, Revise | Reinstate) else change.target
    if not isinstance(named, UUID):
        return named
    fact = view.fact(named)
    if fact is None:
        return None
    if isinstance(change, Revise) and change.object is not None:
        return replace(fact.statement, object=change.object)
    return fact.statement
