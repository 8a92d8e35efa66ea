"""Reading the registered queries, and where an answer stands that somebody holds, without asking anything.

Rules (NothingLeaks)
-----
* A query is seen by those who may read `m:queries`, and by its owner: the principal of that name.
* An answer is *fresh* where nothing that its query minds has moved since its state, or where every certificate that
  moved something was judged by the same query, and found without impact. It has *changed* where what those
  certificates found tells so. Else it is *possibly stale*, and it is said by which certificates, or that by the clock.
* Facts that begin or end move without a certificate (`bridge.impact.since`): of these nobody has judged what becomes of
  the answer; nor of what a purge took. Where more has moved than is looked at, it is possibly stale as well.
* Whoever may not read all that a query is drawn from is told nothing of how its answer stands.

Example
-------
::

    found = reader.one(principal, "mayors")
    reader.standing(principal, found.query, Held(instant, valid_at)).freshness
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from bridge.impact.compiled import Compiled
from bridge.impact.since import Held, TooMuchError, moved_since
from certificates.findings import Finding, FindingCode
from certificates.items import ItemKind
from kernel.errors import NotFound
from kernel.queries import MOMENT, READS, TEXT, node_of, read_statements
from kernel.vocabulary import QUERIES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kernel.access import Principal
    from kernel.facts import Fact
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.queries import RegisteredQuery
    from kernel.time.instants import Instant


class Freshness(StrEnum):
    """How an answer stands."""

    FRESH = "fresh"
    POSSIBLY_STALE = "possibly-stale"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Found:
    """A registered query, and by which certificate it is what it is.

    Args:
        versions: the certificates that changed it, oldest first.
    """

    query: RegisteredQuery
    versions: tuple[tuple[UUID, Instant], ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """How an answer stands at a head.

    Args:
        by: the certificates that changed it, or may have.
        clock: whether something began or ended that it may depend on.
        much: whether so much moved that nobody looked.
    """

    freshness: Freshness
    head: int | None
    clock_at: Instant
    by: tuple[UUID, ...] = ()
    clock: bool = False
    much: bool = False


class QueryReader:
    """Reads registered queries; safe from any thread."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def listed(self, principal: Principal) -> list[RegisteredQuery]:
        """Those that the caller may see, by name."""
        with self._ledger.reading() as view:
            facts = [fact.statement for fact in view.believed(graph=QUERIES_GRAPH)]
        return [query for _, query in sorted(read_statements(facts).queries.items()) if may_see(principal, query)]

    def one(self, principal: Principal, name: str, as_of: Instant | None = None) -> Found:
        """A query by its name, as it is or was. Raises `NotFound`, also for one that the caller may not see."""
        node = node_of(name)
        with self._ledger.reading() as view:
            if as_of is None:
                facts = [*view.believed(subject=node, graph=QUERIES_GRAPH)]
            else:
                facts = [*view.believed_at(as_of, subject=node, graph=QUERIES_GRAPH)]
            query = read_statements(fact.statement for fact in facts).queries.get(name)
            if query is None or not may_see(principal, query):
                raise NotFound("there is no such query", remedy="list them with GET /queries")
            versions = _versions(facts)
        return Found(query, versions)

    def standing(self, principal: Principal, query: RegisteredQuery, held: Held) -> Standing | None:
        """How an answer stands that somebody holds; None: the caller may not read all that it is drawn from."""
        compiled = Compiled(query)
        with self._ledger.reading() as view:
            head = view.head()
            if not principal.reads_everything and not all(map(principal.may_read, query.graphs or view.graphs())):
                return None
            try:
                moved = moved_since(view, compiled, held)
            except TooMuchError:
                return Standing(Freshness.POSSIBLY_STALE, head.position, head.clock, much=True)
            changed, unknown = _judged(view, compiled, moved.certificates)
        by = tuple(certificate for certificate in moved.certificates if certificate in {*changed, *unknown})
        unjudged = moved.clock or moved.purged
        if not by and not unjudged:
            return Standing(Freshness.FRESH, head.position, head.clock)
        proved = not unknown and not unjudged and (len(changed) == 1 or sum(changed.values()) != 0)
        freshness = Freshness.CHANGED if proved else Freshness.POSSIBLY_STALE
        return Standing(freshness, head.position, head.clock, by, moved.clock)


def may_see(principal: Principal, query: RegisteredQuery) -> bool:
    """Whether a caller may see a registered query."""
    return principal.may_read(QUERIES_GRAPH) or (query.owner == principal.id and not principal.is_anonymous)


def _versions(facts: Iterable[Fact]) -> tuple[tuple[UUID, Instant], ...]:
    """The certificates by which these facts came."""
    found = {fact.certificate: fact.recorded_at for fact in facts}
    return tuple(sorted(found.items(), key=lambda each: each[1]))


def _judged(view: LedgerView, query: Compiled, certificates: dict[UUID, Instant]) -> tuple[dict[UUID, int], set[UUID]]:
    """By how many rows certificates changed an answer that were judged by the same query; and those that were not."""
    node = query.query.node
    since = max(
        (
            fact.recorded_at
            for fact in view.believed(subject=node, graph=QUERIES_GRAPH)
            if fact.statement.predicate in {TEXT, READS, MOMENT}
        ),
        default=None,
    )
    changed: dict[UUID, int] = {}
    unknown: set[UUID] = set()
    for certificate, at in certificates.items():
        if since is None or at <= since:
            unknown.add(certificate)
            continue
        for finding in _findings(view, certificate):
            impact = finding.impact
            if impact is None or impact.query != query.query.name:
                continue
            if finding.code is FindingCode.IMPACT and impact.gained is not None and impact.lost is not None:
                changed[certificate] = impact.gained - impact.lost
            else:
                unknown.add(certificate)
    return changed, unknown


def _findings(view: LedgerView, certificate: UUID) -> Iterator[Finding]:
    return (Finding.from_body(json.loads(item.body)) for item in view.items(certificate, ItemKind.FINDING))
