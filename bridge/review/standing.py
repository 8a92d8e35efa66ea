"""The contradictions that stand in a base, for one caller.

Rules (NothingLeaks)
-----
* Looked through are the certificates that an editor let in; whether what they were found to contradict still stands is
  worked out anew at every look, for the part of time that was let in there (`kernel.rules.standing`). Listed oldest
  first, so that what has waited longest comes first.
* Whether an inconsistency stands, which rules of entailment found, is asked of what follows now (`Clashing`), for its
  two statements; while that is not worked out, it is listed as long as they are believed. Where the base has what
  follows told no more, none stands.
* One is seen by those who may read the graphs of both its statements. To others it is not there, nor is it counted.
* It is known by the certificate that brought it, and by the ordinal of its first finding there.
* Its owner is who approved the certificate, until an editor of its graphs gives it another.
* Which certificates contradict nothing is kept, since findings never change.

Example
-------
::

    page = StandingReader(ledger, clashing).page(principal, kind=None, owner="ada", after=None, limit=50)
    page.standing[0].since, page.standing[0].owner
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol
from uuid import UUID

from bridge.entailment.regimes import INFERRED
from bridge.review.plans import statement_of
from certificates.certificate import Verdict
from certificates.findings import Finding, FindingCode
from certificates.items import ItemKind
from kernel.entailment.following import regime_of
from kernel.errors import Forbidden, NotFound
from kernel.ports.records import CertificateState
from kernel.rules.standing import LetIn, standing_parts
from kernel.rules.table import read_rules
from kernel.terms import Iri
from kernel.time.instants import BEGINNING, FOREVER, parse_instant
from kernel.time.intervals import ALWAYS, Interval
from kernel.vocabulary import ONTOLOGY_GRAPH, RULES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from certificates.contradictions import ContradictionKind
    from kernel.access import Principal
    from kernel.entailment.table import Regime
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.ports.records import CertificateRecord
    from kernel.rules.table import RuleTable
    from kernel.terms import Statement
    from kernel.time.instants import Instant

_PAGE: Final = 500


class Clashing(Protocol):
    """Says what cannot be, and is."""

    def __call__(
        self, regime: Regime, graphs: Sequence[str], pairs: Sequence[tuple[str, str]]
    ) -> Sequence[bool] | None:
        """Of pairs of statements whether both are premises of one inconsistency in the graphs; None: not known yet."""
        ...


class _InForce(NamedTuple):
    """By what it is judged whether something stands: rules, and those of entailment, if any."""

    table: RuleTable
    regime: Regime | None


class Place(NamedTuple):
    """What a standing contradiction is known by: its certificate, and the ordinal of a finding there."""

    certificate: UUID
    finding: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A contradiction that stands.

    Args:
        place: what it is known by.
        finding: as it was found.
        since: when it was let in.
        parts: when in valid time the two contradict each other, as things are believed.
        owner: who looks after it; None: it was let in by nobody that is known.
        assigned: whether somebody gave it that owner.
    """

    place: Place
    finding: Finding
    since: Instant
    parts: tuple[Interval, ...]
    owner: str | None
    assigned: bool


@dataclass(frozen=True, slots=True)
class StandingPage:
    """Contradictions that stand, and from beyond which one the next page goes on; None at the end."""

    standing: tuple[Standing, ...]
    after: Place | None


class StandingReader:
    """Reads standing contradictions; safe from any thread."""

    def __init__(self, ledger: Ledger, clashing: Clashing) -> None:
        self._ledger = ledger
        self._clashing = clashing
        self._without: set[UUID] = set()

    def page(
        self,
        principal: Principal,
        *,
        kind: ContradictionKind | None = None,
        owner: str | None = None,
        after: Place | None = None,
        limit: int,
    ) -> StandingPage:
        """Up to `limit` of those that the caller may see, of a kind and of an owner if these are given."""
        with self._ledger.reading() as view:
            in_force = _in_force(view)
            wanted = (
                each
                for record in self._let_in(view, after)
                for each in self._of(view, record, in_force)
                if (after is None or each.place > after)
                and _may_see(principal, each.finding)
                and (kind is None or (said := each.finding.contradiction) is None or said.kind is kind)
                and (owner is None or each.owner == owner)
            )
            found = tuple(islice(wanted, limit + 1))
        return StandingPage(found[:limit], found[limit - 1].place if len(found) > limit else None)

    def one(self, principal: Principal, place: Place) -> Standing:
        """Raises `NotFound` for what does not stand, or the caller may not see."""
        with self._ledger.reading() as view:
            record = view.certificate(place.certificate)
            for each in () if record is None else self._of(view, record, _in_force(view)):
                if each.place == place and _may_see(principal, each.finding):
                    return each
        raise NotFound("no such contradiction stands", remedy="list those that do with GET /contradictions")

    def assign(self, principal: Principal, place: Place, owner: str) -> Standing:
        """Gives it an owner.

        Raises:
            NotFound: it does not stand, or the caller may not see it.
            Forbidden: the caller is no editor of its graphs.
        """
        standing = self.one(principal, place)
        if not principal.may_decide(map(Iri, standing.finding.graphs)):
            raise Forbidden("your token does not decide for its graphs", remedy="ask an editor of both its graphs")
        self._ledger.assign_contradiction(place.certificate, place.finding, owner)
        return replace(standing, owner=owner, assigned=True)

    def _let_in(self, view: LedgerView, after: Place | None) -> Iterator[CertificateRecord]:
        """The certificates that an editor approved, oldest first, from that of `after` on."""
        last = None
        if after is not None:
            record = view.certificate(after.certificate)
            if record is not None:
                yield record
            last = after.certificate
        while page := view.certificates(
            state=CertificateState.APPLIED, verdict=Verdict.REVIEW, after=last, limit=_PAGE, oldest_first=True
        ):
            yield from page
            last = page[-1].id

    def _of(self, view: LedgerView, record: CertificateRecord, in_force: _InForce) -> Iterator[Standing]:
        """What a certificate brought, and still stands."""
        if record.instant is None or record.id in self._without:
            return
        found: dict[tuple[str, str, str], list[tuple[int, Finding]]] = {}
        for ordinal, finding in _contradictions(view, record.id):
            if (said := finding.contradiction) is not None:
                found.setdefault((finding.code, said.statement, said.against), []).append((ordinal, finding))
        for (_, statement, against), together in found.items():
            (ordinal, finding), one, other = together[0], statement_of(statement), statement_of(against)
            if finding.code is FindingCode.INCONSISTENT:
                parts = self._inconsistent(finding, one, other, in_force.regime, view)
            else:
                let_in = LetIn(record.instant, [_during(each) for _, each in together])
                parts = standing_parts(finding.code, one, other, let_in, in_force.table, view)
            if parts:
                given = view.contradiction_owner(record.id, ordinal)
                owner = given or _approver(view, record.id)
                place = Place(record.id, ordinal)
                yield Standing(place, finding, record.instant, tuple(parts), owner, given is not None)
        if not found:
            self._without.add(record.id)

    def _inconsistent(
        self, finding: Finding, one: Statement, other: Statement, regime: Regime | None, view: LedgerView
    ) -> list[Interval]:
        """While both premises of an inconsistency are asserted, as far as they are; empty: it is there no more."""
        during: Interval | None = ALWAYS
        for statement in (one, other):
            if statement.graph != INFERRED and during is not None:
                held = (fact.interval for fact in view.believed_of(statement) if fact.holds_at(view.head().clock))
                during = next((shared for each in held if (shared := during.intersect(each)) is not None), None)
        if regime is None or during is None:
            return []
        clash = self._clashing(regime, finding.graphs, [(_triple(one), _triple(other))])
        return [during] if clash is None or clash[0] else []


def _in_force(view: LedgerView) -> _InForce:
    rules, ontology = (tuple(view.believed(graph=graph)) for graph in (RULES_GRAPH, ONTOLOGY_GRAPH))
    return _InForce(read_rules(rules), regime_of(ontology))


def _triple(statement: Statement) -> str:
    return f"{statement.subject.n3} {statement.predicate.n3} {statement.object.n3} ."


def _contradictions(view: LedgerView, certificate: UUID) -> Iterator[tuple[int, Finding]]:
    first = 0
    while items := view.items(certificate, ItemKind.FINDING, first=first, limit=_PAGE):
        for item in items:
            if b'"against"' in item.body:
                yield item.ordinal, Finding.from_body(json.loads(item.body))
        first = items[-1].ordinal + 1


def _during(finding: Finding) -> Interval:
    """The part of valid time that a finding is about."""
    return Interval(
        BEGINNING if finding.start is None else parse_instant(finding.start, field="from"),
        FOREVER if finding.end is None else parse_instant(finding.end, field="to"),
    )


def _approver(view: LedgerView, certificate: UUID) -> str | None:
    """Who approved a certificate."""
    decided = (json.loads(each.record) for each in view.decisions(certificate) if each.kind == "decision")
    return next((str(each["editor"]) for each in decided if each.get("decision") == "approve"), None)


def _may_see(principal: Principal, finding: Finding) -> bool:
    return all(principal.may_read(Iri(graph)) for graph in finding.graphs)
