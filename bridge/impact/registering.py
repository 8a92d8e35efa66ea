"""Registering queries, and taking them away: certified changes of `m:queries`.

Rules
-----
* What is registered takes the place of what had its name; what stays as it is, is left alone. So the same request twice
  changes nothing the second time, and every version there was can be found in the history of its node.
* Several queries are one request, under one certificate: all of them, or none.
* Registering takes who may write `m:queries`. Whether a query may be registered is settled before it is queued.

Example
-------
::

    outcome, new = registrar.put([query], Asking(principal, "the desk moved", key, digest, dry_run=False)).result()
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridge.impact.admission import require_admissible
from kernel.changes import Assert, Request, Retract
from kernel.errors import InvalidQuery, NotFound
from kernel.queries import node_of
from kernel.terms import Statement
from kernel.vocabulary import QUERIES_GRAPH
from kernel.writing.submitting import Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from bridge.updating.path import Enqueue
    from kernel.access import Principal
    from kernel.changes import Change
    from kernel.ports.facts import FactsView
    from kernel.ports.outside import TermCanonicaliser
    from kernel.queries import RegisteredQuery
    from kernel.time.instants import Instant
    from kernel.writing.group import Group
    from kernel.writing.submitting import Outcome, Submitter


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks, and how.

    Args:
        principal: who.
        reason: for the people who will read the certificate.
        key: the idempotency key, if any.
        body_digest: SHA-256 of what was sent.
        dry_run: judge only; nothing is signed or kept.
    """

    principal: Principal
    reason: str | None = None
    key: str | None = None
    body_digest: bytes = b""
    dry_run: bool = False


class Registrar:
    """Changes the registered queries of a base.

    Args:
        submitter: the write path.
        enqueue: queues a job for the sequencer.
        canonicaliser: knows how stores hold a term.
    """

    def __init__(self, submitter: Submitter, enqueue: Enqueue, canonicaliser: TermCanonicaliser) -> None:
        self._submitter = submitter
        self._enqueue = enqueue
        self._canonicaliser = canonicaliser

    def put(self, queries: Sequence[RegisteredQuery], asking: Asking) -> Future[tuple[Outcome, bool]]:
        """Registers queries; the future has what became of it, and whether there is a new name among them.

        Raises:
            InvalidQuery: one that may not be registered.
            Forbidden: somebody who may not write `m:queries`.
            StoreUnavailable: whether it may be registered cannot be told.
        """
        asking.principal.require_write(QUERIES_GRAPH)
        for query in queries:
            try:
                require_admissible(query.text)
            except InvalidQuery as error:
                error.where = f"{query.name}: {error.where}"
                raise

        def changes(view: FactsView) -> list[Change]:
            return [change for query in queries for change in self._changes(view, query)]

        def is_new(view: FactsView) -> bool:
            return not all(_held(view, query.name) for query in queries)

        return self._asked(asking, changes, is_new)

    def remove(self, name: str, asking: Asking) -> Future[tuple[Outcome, bool]]:
        """Takes a query away; the future may have `NotFound`. Raises `Forbidden`."""
        asking.principal.require_write(QUERIES_GRAPH)

        def changes(view: FactsView) -> list[Change]:
            held = _held(view, name)
            if not held:
                raise NotFound("no query is registered under this name", remedy="list them with GET /queries")
            return [Retract(statement) for statement in held]

        return self._asked(asking, changes, lambda _: False)

    def _asked(
        self, asking: Asking, changes: Callable[[FactsView], list[Change]], is_new: Callable[[FactsView], bool]
    ) -> Future[tuple[Outcome, bool]]:
        def request(group: Group, at: Instant) -> Request | None:
            del at  # reserved graphs have no valid time
            wanted = tuple(changes(group.tx))
            return Request(wanted, asking.reason, None, asking.principal.id) if wanted else None

        def run(group: Group) -> tuple[Outcome, bool]:
            new = is_new(group.tx)
            draft = Draft(request, asking.principal, asking.key, asking.body_digest, asking.dry_run)
            return self._submitter.submit(group, draft), new

        return self._enqueue(run)

    def _changes(self, view: FactsView, query: RegisteredQuery) -> list[Change]:
        held = _held(view, query.name)
        wanted = {
            Statement(each.subject, each.predicate, self._canonicaliser.canonical(each.object), each.graph)
            for each in query.statements()
        }
        gone: list[Change] = [Retract(each) for each in held if each not in wanted]
        return gone + [Assert(each) for each in sorted(wanted.difference(held), key=lambda each: each.nquad)]


def _held(view: FactsView, name: str) -> list[Statement]:
    """What is believed of a query."""
    found = view.believed(subject=node_of(name), graph=QUERIES_GRAPH)
    return sorted((fact.statement for fact in found), key=lambda statement: statement.nquad)
