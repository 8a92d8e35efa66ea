"""What a certificate would do, or did, read back from its plan: facts and evidence instead of signed items.

Rules (NothingLeaks)
-----
* Whoever may see the certificate may read every graph that it touches, and so every fact of its plan; others get
  `NotFound`.
* The plan says of a fact to supersede only its id: what that fact says is read from the ledger, with its evidence.
* While the certificate waits, the facts that its findings set against the plan come with it: those believed of the
  same node and predicate.
* Of a plan the first items of each kind are read back, up to a limit, and none of one that has more items than would be
  held; `total` says how many there are.

Example
-------
::

    effects = EffectsReader(base.ledger).effects(principal, certificate, limit=500)
    effects.recorded, effects.superseded
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Final
from uuid import UUID

import pyoxigraph as ox

from bridge.certificate_reading import readable_findings, visible
from bridge.terms import from_oxigraph
from certificates.findings import FindingCode
from certificates.ids import parse_urn
from certificates.items import ItemKind
from kernel.facts import Evidence, EvidenceContent, Fact, FactContent, Spelling, Validity
from kernel.instants import BEGINNING, FOREVER, parse_instant
from kernel.intervals import Interval
from kernel.ports import CertificateState
from kernel.precision import Precision
from kernel.submitting import findings_of
from kernel.terms import Iri, Literal, Statement, parse_term

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from certificates.findings import Finding
    from certificates.items import SaltedItem
    from kernel.access import Principal
    from kernel.ports import CertificateRecord, DecisionRecord, Ledger, LedgerView

_NEIGHBOURS: Final = 24
"""Facts that findings set against a plan, at most."""

SET_AGAINST: Final = frozenset({FindingCode.SINGLE_VALUED_BY_SUBJECT, FindingCode.SINGLE_VALUED_BY_OBJECT})
"""Findings that set facts against one another."""


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
        findings: those that the caller may see.
        withheld: whether there are others.
        decisions: oldest first.
        asked: None once that item is purged, and for a plan that is too long.
        recorded: facts to record; recorded, while that has not happened, at the instant of issue.
        superseded: facts to supersede, as they were recorded.
        supported: facts that are held already and gain evidence.
        brought: the evidence to add, by the fact that it is for.
        held: the evidence that the ledger has for facts superseded, supported and set against, by fact.
        against: facts believed that contradict the plan, by its findings, and that it leaves as they are.
        total: how many items the plan has.
        whole: whether all of them are here.
    """

    record: CertificateRecord
    findings: tuple[Finding, ...]
    withheld: bool
    decisions: tuple[DecisionRecord, ...]
    asked: Asked | None
    recorded: tuple[Fact, ...]
    superseded: tuple[Fact, ...]
    supported: tuple[Fact, ...]
    brought: Mapping[UUID, Sequence[Evidence]]
    held: Mapping[UUID, Sequence[Evidence]]
    against: tuple[Fact, ...]
    total: int
    whole: bool


class EffectsReader:
    """Reads plans back; safe from any thread, and never waits for the writer."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def effects(self, principal: Principal, certificate: UUID, *, limit: int, most: int = 20_000) -> Effects:
        """What a certificate does.

        Args:
            principal: the caller.
            certificate: its id.
            limit: how many facts recorded, superseded and supported, each.
            most: items of a plan that is read at all; they are held for a moment.

        Raises:
            NotFound: there is none, or the caller may not see it.
        """
        with self._ledger.reading() as view:
            record = visible(view, principal, certificate)
            plan = _Plan(view, record, limit, most)
            at = record.issued_at if record.instant is None else record.instant
            recorded = tuple(
                Fact(_recorded(body), certificate, at, None, item.leaf) for item, body in plan.of("record")
            )
            superseded = tuple(_facts(view, (parse_urn(body["fact"]) for _, body in plan.of("supersede"))))
            brought: dict[UUID, list[Evidence]] = {}
            for _, body in plan.of("support"):
                content = _evidence(body)
                brought.setdefault(content.fact, []).append(Evidence(content, certificate, at))
            known = {fact.id for fact in (*recorded, *superseded)}
            supported = tuple(_facts(view, (fact for fact in brought if fact not in known)))
            found = findings_of(view, certificate)
            findings = tuple(readable_findings(principal, found))
            against = tuple(fact for fact in _set_against(view, record, findings) if fact.id not in known)
            held = view.evidence_of([fact.id for fact in (*superseded, *supported, *against)])
            decisions = tuple(view.decisions(certificate))
        return Effects(
            record=record,
            findings=findings,
            withheld=len(findings) < len(found),
            decisions=decisions,
            asked=next((_asked(body) for _, body in plan.of("request")), None),
            recorded=recorded,
            superseded=superseded,
            supported=supported,
            brought=brought,
            held=held,
            against=against,
            total=plan.total,
            whole=plan.whole,
        )


class _Plan:
    """The items of a plan, by what they do."""

    def __init__(self, view: LedgerView, record: CertificateRecord, limit: int, most: int) -> None:
        self._kept: dict[str, list[tuple[SaltedItem, dict[str, str]]]] = {}
        self.total: int = json.loads(record.document)["credentialSubject"]["planItems"]
        self.whole = self.total <= most
        items = view.items(record.id, ItemKind.PLAN) if self.whole else ()
        for item in items:
            body: dict[str, str] = json.loads(item.body)
            kept = self._kept.setdefault(body["op"], [])
            if len(kept) < limit:
                kept.append((item, body))
            else:
                self.whole = False

    def of(self, operation: str) -> list[tuple[SaltedItem, dict[str, str]]]:
        return self._kept.get(operation, [])


def _asked(body: dict[str, str]) -> Asked:
    episode = body.get("episode")
    return Asked(body["principal"], body.get("reason"), None if episode is None else Iri(episode))


def _recorded(body: dict[str, str]) -> FactContent:
    start, end = body.get("from"), body.get("to")
    interval = Interval(
        BEGINNING if start is None else parse_instant(start, field="from"),
        FOREVER if end is None else parse_instant(end, field="to"),
    )
    precisions = (Precision(body.get(name, Precision.UNBOUNDED)) for name in ("fromPrecision", "toPrecision"))
    validity = Validity(interval, *precisions)
    return FactContent(parse_urn(body["fact"]), parse_urn(body["family"]), _statement(body["statement"]), validity)


def _statement(nquad: str) -> Statement:
    quad = next(iter(ox.parse(nquad, ox.RdfFormat.N_QUADS)))
    subject, predicate, graph = (Iri(node.value) for node in (quad.subject, quad.predicate, quad.graph_name))
    return Statement(subject, predicate, from_oxigraph(quad.object), graph)


def _evidence(body: dict[str, str]) -> EvidenceContent:
    episode, confidence, spelled = body.get("episode"), body.get("confidence"), body.get("object")
    literal = None if spelled is None else parse_term(spelled)
    return EvidenceContent(
        parse_urn(body["evidence"]),
        parse_urn(body["fact"]),
        None if episode is None else Iri(episode),
        None if confidence is None else Decimal(confidence),
        Spelling(literal if isinstance(literal, Literal) else None, body.get("validFrom"), body.get("validTo")),
    )


def _facts(view: LedgerView, identifiers: Iterator[UUID]) -> Iterator[Fact]:
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


def _of_its_kind(view: LedgerView, finding: Finding) -> Iterator[Fact]:
    """The facts believed of a finding's node and predicate, on the side that may have one value only."""
    if finding.focus is None or finding.path is None or finding.code not in SET_AGAINST:
        return iter(())
    anchor, predicate = parse_term(finding.focus), Iri(finding.path[1:-1])
    if finding.code is FindingCode.SINGLE_VALUED_BY_OBJECT:
        return view.believed(object=anchor, predicate=predicate)
    return view.believed(subject=anchor, predicate=predicate) if isinstance(anchor, Iri) else iter(())
