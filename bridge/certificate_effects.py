"""What a certificate would do, or did, read back from its plan: facts and evidence instead of signed items.

Rules (NothingLeaks)
-----
* Whoever may see the certificate may read every graph that it touches, and so every fact of its plan; others get
  `NotFound`.
* The plan says of a fact to supersede only its id: what that fact says is read from the ledger, with its evidence.
* While the certificate waits, the facts that its findings set against the plan come with it: those believed of the
  same node and predicate.
* Of a plan of any length the first items of each kind are read back, up to a limit; `total` says how many there are.

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
from kernel.facts import EvidenceContent, FactContent, Spelling, Validity
from kernel.instants import BEGINNING, FOREVER, parse_instant
from kernel.intervals import Interval
from kernel.ports import CertificateState
from kernel.precision import Precision
from kernel.submitting import findings_of
from kernel.terms import Iri, Literal, Statement, parse_term

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kernel.access import Principal
    from kernel.facts import Evidence, Fact
    from kernel.ports import CertificateRecord, Ledger, LedgerView

_NEIGHBOURS: Final = 24
"""Facts that findings set against a plan, at most."""

_SET_AGAINST: Final = {FindingCode.SINGLE_VALUED_BY_SUBJECT: "subject", FindingCode.SINGLE_VALUED_BY_OBJECT: "object"}


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
        asked: None once that item is purged.
        recorded: facts to record.
        superseded: facts to supersede, as they were recorded.
        supported: facts that are held already and gain evidence.
        brought: the evidence to add, by the fact that it is for.
        held: the evidence that the ledger has for facts superseded, supported and set against, by fact.
        against: facts believed that contradict the plan, by its findings, and that it leaves as they are.
        total: how many items the plan has.
        whole: whether all of them are here.
    """

    asked: Asked | None
    recorded: tuple[FactContent, ...]
    superseded: tuple[Fact, ...]
    supported: tuple[Fact, ...]
    brought: Mapping[UUID, Sequence[EvidenceContent]]
    held: Mapping[UUID, Sequence[Evidence]]
    against: tuple[Fact, ...]
    total: int
    whole: bool


class EffectsReader:
    """Reads plans back; safe from any thread, and never waits for the writer."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def effects(self, principal: Principal, certificate: UUID, *, limit: int) -> Effects:
        """What a certificate does: up to `limit` facts recorded, superseded and supported. Raises `NotFound`."""
        with self._ledger.reading() as view:
            record = visible(view, principal, certificate)
            plan = _Plan(view, certificate, limit)
            recorded = tuple(map(_recorded, plan.of("record")))
            superseded = tuple(_facts(view, (parse_urn(body["fact"]) for body in plan.of("supersede"))))
            brought: dict[UUID, list[EvidenceContent]] = {}
            for body in plan.of("support"):
                item = _evidence(body)
                brought.setdefault(item.fact, []).append(item)
            own = {content.id for content in recorded}
            supported = tuple(_facts(view, (fact for fact in brought if fact not in own)))
            gone = {fact.id for fact in superseded}
            against = tuple(fact for fact in _set_against(view, principal, record) if fact.id not in gone)
            held = view.evidence_of([fact.id for fact in (*superseded, *supported, *against)])
        asked = next(map(_asked, plan.of("request")), None)
        return Effects(asked, recorded, superseded, supported, brought, held, against, plan.total, plan.whole)


class _Plan:
    """The items of a plan, by what they do."""

    def __init__(self, view: LedgerView, certificate: UUID, limit: int) -> None:
        self._bodies: dict[str, list[dict[str, str]]] = {}
        items = view.items(certificate, ItemKind.PLAN)
        self.total = len(items)
        self.whole = True
        for item in items:
            body: dict[str, str] = json.loads(item.body)
            kept = self._bodies.setdefault(body["op"], [])
            if len(kept) < limit:
                kept.append(body)
            else:
                self.whole = False

    def of(self, operation: str) -> list[dict[str, str]]:
        return self._bodies.get(operation, [])


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


def _set_against(view: LedgerView, principal: Principal, record: CertificateRecord) -> Iterator[Fact]:
    if record.state is not CertificateState.PENDING:
        return
    seen: set[UUID] = set()
    for finding in readable_findings(principal, findings_of(view, record.id)):
        side = _SET_AGAINST.get(finding.code)
        if side is None or finding.focus is None or finding.path is None:
            continue
        anchor, predicate = parse_term(finding.focus), Iri(finding.path[1:-1])
        if side == "object":
            found = view.believed(object=anchor, predicate=predicate)
        elif isinstance(anchor, Iri):
            found = view.believed(subject=anchor, predicate=predicate)
        else:
            continue
        for fact in islice(found, _NEIGHBOURS - len(seen)):
            if fact.id not in seen and fact.statement.graph.value in finding.graphs:
                seen.add(fact.id)
                yield fact
