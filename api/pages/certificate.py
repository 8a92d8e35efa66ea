"""`/queue/{certificate}`: one certificate, all that an editor needs to decide on it, and the decision.

Rules
-----
* What is shown is what `GET /certificates/{id}` gives the same caller; what is not there for them is 404.
* A decision goes the way of `POST /certificates/{id}/decision`: who may take it, and what comes of it, is settled
  there. Of two editors who decide at the same time the second learns what the first has decided.
* The answer to a decision is the page itself, loaded anew, so that going back or reloading sends nothing again.

Example
-------
::

    POST /queue/0197…/decision decision=approve&comment=checked → 303 /queue/0197…
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.certificates import CertificateId, certificate_named
from api.pages.drawing import before_and_after
from api.pages.effects import changes_of, nodes_of, to_draw
from api.pages.findings import causes_of, nodes_in_findings
from api.pages.names import names_for
from api.pages.rendering import page, see_other
from api.pages.times import Words, at
from api.pages.visiting import Visitor, page_parameters, read_form
from api.parameters import Parameter
from api.service import Service
from bridge.certificate_effects import EffectsReader
from bridge.certificate_reading import CertificateFilter
from certificates.findings import FindingCode
from certificates.ids import parse_urn
from certificates.records import DecisionKind
from kernel.deciding import DecisionRequest
from kernel.errors import AlreadyDecided, InvalidParameter, NotFound
from kernel.instants import parse_instant
from kernel.ports import CertificateState
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from api.pages.visiting import Visit
    from bridge.certificate_effects import Effects
    from kernel.ports import DecisionRecord
    from kernel.submitting import Outcome

_TEXT: Final[dict[str, object]] = {"type": "string"}
DECISION: Final = Parameter(
    "decision", "what is decided", {"type": "string", "enum": [each.value for each in DecisionKind]}, "approve"
)
COMMENT: Final = Parameter("comment", "why", _TEXT, "as the register has it")

_FACTS: Final = 200

_TOO_LATE: Final = (
    "Somebody else was first: this certificate had been decided when your decision came in. Yours counts for nothing."
)
_STALE: Final = (
    "Your approval came too late: what the base holds has changed since, and so has what these changes mean."
)

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class DecisionShown:
    """Who decided what, and when; or that it was checked again."""

    kind: str
    decision: str | None
    editor: str | None
    words: Words
    comment: str | None


@router.get("/queue/{certificate}", response_class=Response)
async def look(request: Request, visit: Visitor, certificate: CertificateId) -> Response:
    """The page of one certificate."""
    page_parameters(request, ())
    return await _page(request, visit, certificate_named(certificate), visit.session.take_notice())


@router.post("/queue/{certificate}/decision", response_class=Response)
async def decide(request: Request, visit: Visitor, certificate: CertificateId) -> Response:
    """Takes a decision, and shows what came of it."""
    page_parameters(request, ())
    identifier = certificate_named(certificate)
    form = await read_form(request, visit.session.forgery_token, (DECISION, COMMENT))
    decision = form.choice(DECISION, DecisionKind)
    if decision is None:
        raise InvalidParameter("nothing is decided", remedy="approve, or reject", where=DECISION.name)
    wanted = DecisionRequest(identifier, decision, form.text(COMMENT), visit.principal)
    try:
        outcome = await asyncio.wrap_future(Service.of(request).base.decide(wanted))
    except AlreadyDecided:
        return await _page(request, visit, identifier, _TOO_LATE, status=409)
    visit.session.notice = _said(outcome)
    return see_other(f"/queue/{identifier}")


def _said(outcome: Outcome) -> str:
    if outcome.state is CertificateState.APPLIED:
        return "Approved and applied: it can be read at once."
    if outcome.state is CertificateState.REJECTED:
        return "Rejected: nothing was changed."
    if outcome.successor is not None:
        return f"{_STALE} A new certificate says what they mean now."
    return f"{_STALE} They cannot be carried out any more: {outcome.why or 'ask for them again'}."


async def _page(
    request: Request, visit: Visit, certificate: UUID, notice: str | None, *, status: int = 200
) -> Response:
    service = Service.of(request)
    content = await service.read(lambda: _content(service, visit, certificate))
    return page(request, "certificate.html", visit, {**content, "notice": notice}, status=status)


def _content(service: Service, visit: Visit, certificate: UUID) -> Mapping[str, object]:
    reader, principal = EffectsReader(service.base.ledger), visit.principal
    effects = reader.effects(principal, certificate, limit=_FACTS)
    record, asked = effects.record, effects.asked
    predecessor = _predecessor(reader, visit, record.document)
    nodes = nodes_of(effects) | nodes_in_findings(effects) | set(record.graphs)
    names = names_for(service.base.reader, principal, nodes, (fact.statement for fact in effects.recorded))
    at_certificate = record.issued_at if record.instant is None else record.instant
    return {
        "id": record.id,
        "state_name": record.state.value,
        "verdict": record.verdict.value,
        "head": record.head,
        "successor": record.successor,
        "predecessor": None if predecessor is None else predecessor.record.id,
        "earlier_decisions": () if predecessor is None else decisions_of(predecessor.decisions),
        "principal": record.principal,
        "reason": None if asked is None else asked.reason,
        "source_episode": None if asked is None or asked.episode is None else names(asked.episode),
        "issued": at(record.issued_at),
        "applied": None if record.instant is None else at(record.instant),
        "graphs": [names(graph) for graph in record.graphs],
        "changes": changes_of(effects, names),
        "total": effects.total,
        "whole": effects.whole,
        "causes": causes_of(effects, names),
        "withheld": effects.withheld,
        "drawings": before_and_after(to_draw(effects, names, _by_object(effects)), at_certificate),
        "decisions": decisions_of(effects.decisions),
        "pending": record.state is CertificateState.PENDING,
        "may_decide": record.state is CertificateState.PENDING and principal.may_decide(record.graphs),
        "next_waiting": None if record.state is CertificateState.PENDING else _next_waiting(service, visit),
    }


def decisions_of(records: Sequence[DecisionRecord]) -> list[DecisionShown]:
    """Decisions and re-checks for people, oldest first."""
    shown = []
    for each in records:
        members = json.loads(each.record)
        comment = None if each.comment is None else json.loads(each.comment.body)["comment"]
        moment = members["decidedAt" if each.kind == "decision" else "recheckedAt"]
        words = at(parse_instant(moment, field="decidedAt"))
        shown.append(DecisionShown(each.kind, members.get("decision"), members.get("editor"), words, comment))
    return shown


def _by_object(effects: Effects) -> set[Iri]:
    """Predicates of which the findings say that an object has one subject at a time."""
    return {
        Iri(finding.path[1:-1])
        for finding in effects.findings
        if finding.code is FindingCode.SINGLE_VALUED_BY_OBJECT and finding.path is not None
    }


def _predecessor(reader: EffectsReader, visit: Visit, document: bytes) -> Effects | None:
    """The stale certificate that this one takes the place of, if its reader may see it too."""
    named: str | None = json.loads(document).get("predecessor")
    if named is None:
        return None
    try:
        return reader.effects(visit.principal, parse_urn(named), limit=0, most=0)
    except NotFound:
        return None


def _next_waiting(service: Service, visit: Visit) -> UUID | None:
    waiting = CertificateFilter(CertificateState.PENDING)
    found = service.certificates.page(visit.principal, waiting, limit=1)
    return found.records[0].id if found.records else None
