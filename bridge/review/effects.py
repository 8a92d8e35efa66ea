"""What a certificate would do, or did, read back from its plan: facts and evidence instead of signed items.

Rules (NothingLeaks)
-----
* Whoever may see the certificate may read every graph that it touches, and so every fact of its plan; others get
  `NotFound`.
* The plan says of a fact to supersede only its id: what that fact says is read from the ledger, with its evidence.
* While the certificate waits, the facts that the findings given with it set against the plan come too: those believed
  of the same node and predicate.
* Of a plan some changes are read back, up to a limit, from any one on; `tally` says how many there are of each kind.

Example
-------
::

    effects = EffectsReader(base.ledger).effects(principal, certificate, first=0, limit=200)
    effects.recorded, effects.superseded
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final
from uuid import UUID

from bridge.review.certificates import visible
from bridge.review.findings import FindingReader
from bridge.review.plans import PlanPage, PlanReading, Tallies, evidence, recorded, statement_of
from certificates.findings import FindingCode
from kernel.facts import Evidence, Fact
from kernel.ports.records import CertificateState
from kernel.rules.conflict_words import proposes
from kernel.rules.kinds import CONTRADICTION_CODES
from kernel.terms import Iri
from kernel.time.intervals import ALWAYS

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bridge.review.findings import Causes
    from bridge.review.plans import Body, Kind
    from certificates.findings import Finding
    from kernel.access import Principal
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.ports.records import CertificateRecord, DecisionRecord
    from kernel.time.instants import Instant

_NEIGHBOURS: Final = 24
"""Facts that findings set against a plan, at most."""

_FACTS_OF_A_FINDING: Final = 6
"""Facts of one node and predicate that are looked for in the whole plan."""

_KEPT: Final = 32
_NOTHING: Final = PlanPage((), (), ())

_RULED: Final = 2_000
"""Contradictions of one cause that are looked at for what they propose."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asked for a certificate's changes, and why."""

    principal: str
    reason: str | None
    episode: Iri | None


@dataclass(frozen=True, slots=True)
class Effects:
    """What a plan does.

    Args:
        record: the certificate.
        causes: what the checks found, as far as the caller may see it, with the first findings of each cause.
        decisions: oldest first.
        asked: None once that item is purged.
        recorded: facts to record; recorded, while that has not happened, at the instant of issue.
        superseded: facts to supersede, as they were recorded.
        supported: facts that are held already and gain evidence.
        brought: the evidence to add, by the fact that it is for.
        held: the evidence that the ledger has for facts superseded, supported and set against, by fact.
        against: facts believed that contradict the plan, by its findings, and that it leaves as they are.
        elsewhere: what the findings here are about of changes that are not here: facts to record and to supersede, each
            with its evidence.
        proposed: facts to record of which a rule proposes a bound that nobody asked for.
        items: how many the plan has.
        tally: how many changes of each kind the plan has, those included that are not here.
        first: the number, from 0, of the first change that is here.
    """

    record: CertificateRecord
    causes: Causes
    decisions: tuple[DecisionRecord, ...]
    asked: Asked | None
    recorded: tuple[Fact, ...]
    superseded: tuple[Fact, ...]
    supported: tuple[Fact, ...]
    brought: Mapping[UUID, Sequence[Evidence]]
    held: Mapping[UUID, Sequence[Evidence]]
    against: tuple[Fact, ...]
    elsewhere: tuple[tuple[Fact, tuple[Evidence, ...]], ...]
    proposed: frozenset[UUID]
    items: int
    tally: Counter[Kind]
    first: int

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that came with it: the first of each cause."""
        return tuple(finding for found in self.causes.listed for finding in found.findings)

    @property
    def withheld(self) -> bool:
        """Whether there are findings that the caller may not see."""
        return self.causes.withheld

    @property
    def total(self) -> int:
        """How many changes the plan has."""
        return sum(self.tally.values())


class EffectsReader:
    """Reads plans back; safe from any thread, and never waits for the writer."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._tallies = Tallies()
        self._findings = FindingReader()
        self._kept: OrderedDict[tuple[UUID, frozenset[tuple[str, str | None]]], PlanPage] = OrderedDict()

    def effects(
        self, principal: Principal, certificate: UUID, *, limit: int, first: int = 0, samples: int = 0
    ) -> Effects:
        """What a certificate does.

        Args:
            principal: the caller.
            certificate: its id.
            limit: how many changes at most.
            first: from which change on, from 0.
            samples: how many findings of each cause.

        Raises:
            NotFound: there is none, or the caller may not see it.
        """
        with self._ledger.reading() as view:
            record = visible(view, principal, certificate)
            plan = PlanReading(view, certificate)
            tally = self._tallies.of(plan)
            page = plan.page(tally, first=first, limit=limit)
            at = _at(record)
            gained = tuple(Fact(recorded(body), certificate, at, None, item.leaf) for item, body in page.records)
            superseded = tuple(_facts(view, page.supersedes))
            brought: dict[UUID, list[Evidence]] = {}
            for content in map(evidence, page.supports):
                brought.setdefault(content.fact, []).append(Evidence(content, certificate, at))
            known = {fact.id for fact in (*gained, *superseded)}
            supported = tuple(_facts(view, (fact for fact in brought if fact not in known)))
            causes = self._findings.causes(view, principal, certificate, samples=samples)
            findings = [finding for each in causes.listed for finding in each.findings]
            against = tuple(fact for fact in _set_against(view, record, findings) if fact.id not in known)
            others = samples and sum(tally.changes.values()) > limit
            about = self._about(plan, findings) if others else _NOTHING
            elsewhere = tuple(each for each in _with_evidence(view, record, about) if each[0].id not in known)
            proposed = self._proposed(view, principal, causes, gained) if samples else frozenset()
            held = view.evidence_of([fact.id for fact in (*superseded, *supported, *against)])
            decisions, request = tuple(view.decisions(certificate)), plan.request()
        return Effects(
            record=record,
            causes=causes,
            decisions=decisions,
            asked=None if request is None else _asked(request),
            recorded=gained,
            superseded=superseded,
            supported=supported,
            brought=brought,
            held=held,
            against=against,
            elsewhere=elsewhere,
            proposed=proposed,
            items=json.loads(record.document)["credentialSubject"]["planItems"],
            tally=tally.changes,
            first=first,
        )

    def _about(self, plan: PlanReading, findings: Iterable[Finding]) -> PlanPage:
        """What findings are about, wherever in the plan: it is gone through, so the last answers are kept."""
        wanted = frozenset((each.focus, each.path) for each in findings if each.focus is not None)
        found = self._kept.get((plan.certificate, wanted))
        if found is None:
            found = self._kept[plan.certificate, wanted] = plan.about(wanted, _FACTS_OF_A_FINDING)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found

    def _proposed(
        self, view: LedgerView, principal: Principal, causes: Causes, gained: Sequence[Fact]
    ) -> frozenset[UUID]:
        """The facts of which a bound is proposed by what contradicts them: by the first thousands of contradictions."""
        by_node: dict[str | None, list[Finding]] = {}
        for found in causes.listed:
            if found.cause.code in CONTRADICTION_CODES and gained:
                certificate = gained[0].certificate
                for finding in self._findings.of_cause(
                    view, principal, certificate, found.cause, first=0, limit=_RULED
                ):
                    by_node.setdefault(finding.focus, []).append(finding)
        ended = (fact for fact in gained if by_node and fact.interval != ALWAYS)
        return frozenset(
            fact.id
            for fact in ended
            for node in (fact.statement.subject.n3, fact.statement.object.n3)
            if any(proposes(finding, fact.content) for finding in by_node.get(node, ()))
        )

    def findings(
        self, principal: Principal, certificate: UUID, *, cause: int, first: int, limit: int
    ) -> tuple[CertificateRecord, Causes, tuple[Finding, ...]]:
        """Findings of one cause: the certificate, all its causes, and up to `limit` findings from number `first` on.

        Args:
            principal: the caller.
            certificate: its id.
            cause: its place in the list of causes; of one that is not there, there are no findings.
            first: from which finding on, from 0.
            limit: how many at most.

        Raises:
            NotFound: there is no such certificate, or the caller may not see it.
        """
        with self._ledger.reading() as view:
            record = visible(view, principal, certificate)
            causes = self._findings.causes(view, principal, certificate, samples=0)
            found: list[Finding] = []
            if 0 <= cause < len(causes.listed):
                wanted = causes.listed[cause].cause
                found = self._findings.of_cause(view, principal, certificate, wanted, first=first, limit=limit)
        return record, causes, tuple(found)


def _at(record: CertificateRecord) -> Instant:
    """When what a certificate records is recorded, or would be."""
    return record.issued_at if record.instant is None else record.instant


def _with_evidence(
    view: LedgerView, record: CertificateRecord, page: PlanPage
) -> Iterator[tuple[Fact, tuple[Evidence, ...]]]:
    """The facts of some items of a plan, each with what speaks for it."""
    at = _at(record)
    brought = [Evidence(content, record.id, at) for content in map(evidence, page.supports)]
    for item, body in page.records:
        fact = Fact(recorded(body), record.id, at, None, item.leaf)
        yield fact, tuple(each for each in brought if each.content.fact == fact.id)
    held = view.evidence_of(page.supersedes)
    for fact in _facts(view, page.supersedes):
        yield fact, tuple(held.get(fact.id, ()))


def _asked(body: Body) -> Asked:
    episode = body.get("episode")
    return Asked(body["principal"], body.get("reason"), None if episode is None else Iri(episode))


def _facts(view: LedgerView, identifiers: Iterable[UUID]) -> Iterator[Fact]:
    return (fact for fact in map(view.fact, identifiers) if fact is not None)


def _set_against(view: LedgerView, record: CertificateRecord, findings: Iterable[Finding]) -> Iterator[Fact]:
    if record.state is not CertificateState.PENDING:
        return
    seen: set[UUID] = set()
    for finding in findings:
        for fact in islice(_of_its_kind(view, finding), _NEIGHBOURS - len(seen)):
            if fact.id not in seen and fact.statement.graph.value in finding.graphs:
                seen.add(fact.id)
                yield fact


def _of_its_kind(view: LedgerView, finding: Finding) -> Iterable[Fact]:
    """The facts believed of the statement that a finding sets against one of the plan.

    Where a predicate has one value at a time, they are all its values at that node: who decides sees the whole row.
    """
    if finding.contradiction is None:
        return ()
    against = statement_of(finding.contradiction.against)
    if finding.code is FindingCode.SINGLE_VALUED_BY_SUBJECT:
        return view.believed(subject=against.subject, predicate=against.predicate)
    if finding.code is FindingCode.SINGLE_VALUED_BY_OBJECT:
        return view.believed(object=against.object, predicate=against.predicate)
    return view.believed_of(against)
