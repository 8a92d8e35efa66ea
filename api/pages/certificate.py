"""`/queue/{certificate}`: one certificate, all that an editor needs to decide on it, and the decision.

Rules
-----
* What is shown is what `GET /certificates/{id}` gives the same caller; what is not there for them is 404.
* A plan of any size is shown a page of changes at a time; how many there are of each kind is said where it is decided.
* A decision goes the way of `POST /certificates/{id}/decision`: who may take it, and what comes of it, is settled
  there. Of two editors who decide at the same time the second learns what the first has decided. Who decides the same
  twice is told what came of it.
* Of a stale certificate the page says what its successor does, and whether that waits or was applied.
* The answer to a decision is the page itself, loaded anew, so that going back or reloading sends nothing again.

Example
-------
::

    POST /queue/0197…/decision decision=approve&comment=checked → 303 /queue/0197…
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.http.parameters import Parameter
from api.http.waiting import answer_of
from api.pages.compare import compare_path
from api.pages.drawing import before_and_after
from api.pages.effects import changes_of, fact_shown, nodes_of, to_draw
from api.pages.findings import MOST_OF_A_CAUSE, causes_of, nodes_in_findings, rest_of
from api.pages.names import names_for
from api.pages.paging import PagerShown
from api.pages.rendering import page, see_other
from api.pages.times import Words, at
from api.pages.visiting import Visitor, page_parameters, read_form
from api.routes.certificates import CertificateId, certificate_named
from api.routes.decision_body import within_length
from api.service import Service
from bridge.review.certificates import CertificateFilter
from bridge.review.plans import Kind
from certificates.findings import FindingCode
from certificates.ids import parse_urn, urn
from certificates.records import DecisionKind
from kernel.errors import AlreadyDecided, InvalidParameter, NotFound
from kernel.ports.records import CertificateState
from kernel.terms import Iri
from kernel.time.instants import Instant, parse_instant
from kernel.writing.deciding import DecisionRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from api.pages.effects import Change
    from api.pages.terms import Names, Shown
    from api.pages.visiting import Visit
    from bridge.review.effects import Effects, EffectsReader
    from kernel.access import Principal
    from kernel.ports.records import CertificateRecord, DecisionRecord

_TEXT: Final[dict[str, object]] = {"type": "string"}
DECISION: Final = Parameter(
    "decision", "what is decided", {"type": "string", "enum": [each.value for each in DecisionKind]}, "approve"
)
COMMENT: Final = Parameter("comment", "why", _TEXT, "as the register has it")

FROM: Final = Parameter(
    "from-change", "from which change on", {"type": "integer", "minimum": 1, "maximum": 2**53 - 1}, "201"
)
_CHANGES: Final = 200
_BEFORE_ALL: Final = "1970-01-01"
"""When nothing was recorded yet."""

_TOO_LATE: Final = (
    "Somebody else was first: this certificate had been decided when your decision came in. Yours counts for nothing."
)
_DECIDED_OTHERWISE: Final = (
    "You had decided this otherwise already: that decision counts, and this one for nothing. It stands below."
)
_STALE: Final = (
    "Your approval came too late: what the base holds has changed since, and so has what these changes mean."
)

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class DecisionShown:
    """Who decided what, and when, with which key of their own; or that it was checked again."""

    kind: str
    decision: str | None
    editor: str | None
    words: Words
    comment: str | None
    key: str | None


@dataclass(frozen=True, slots=True)
class ApprovalShown:
    """What it takes to approve: how many besides the reader's own, or in all for who may not; and why not theirs."""

    missing: int
    refused: str | None


@dataclass(frozen=True, slots=True)
class SuccessorShown:
    """What took the place of a stale certificate: its first change, and how many it has."""

    id: UUID
    state: str
    change: Change | None
    total: int


@router.get("/queue/{certificate}", response_class=Response)
async def look(request: Request, visit: Visitor, certificate: CertificateId) -> Response:
    """The page of one certificate."""
    first = page_parameters(request, (FROM,)).number(FROM, default=1)
    identifier = certificate_named(certificate)
    notice = None if request.method == "HEAD" else visit.session.take_notice(path_of(identifier))
    return await _page(request, visit, identifier, notice, first=first - 1)


@router.post("/queue/{certificate}/decision", response_class=Response)
async def decide(request: Request, visit: Visitor, certificate: CertificateId) -> Response:
    """Takes a decision, and shows what came of it."""
    page_parameters(request, ())
    identifier = certificate_named(certificate)
    form = await read_form(request, visit.session.forgery_token, (DECISION, COMMENT))
    decision = form.choice(DECISION, DecisionKind)
    if decision is None:
        raise InvalidParameter("nothing is decided", remedy="approve, or reject", where=DECISION.name)
    comment = form.text(COMMENT)
    if comment is not None:
        within_length(comment, COMMENT.name)
    wanted = DecisionRequest(identifier, decision, comment, visit.principal)
    visit.session.forget_draft(path_of(identifier))
    try:
        outcome = await answer_of(Service.of(request).base.decide(wanted))
    except AlreadyDecided:
        return await _decided_before(request, visit, wanted)
    visit.session.say(path_of(identifier), _said(outcome.state, outcome.successor, outcome.why))
    return see_other(path_of(identifier))


def path_of(certificate: UUID) -> str:
    """Where a certificate's page is."""
    return f"/queue/{certificate}"


async def _decided_before(request: Request, visit: Visit, wanted: DecisionRequest) -> Response:
    """Who clicks twice has decided once; others learn who was first."""
    reader = effects_reader(request)
    found = await Service.of(request).read(lambda: reader.effects(visit.principal, wanted.certificate, limit=0))
    made = [json.loads(each.record) for each in found.decisions if each.kind == "decision"]
    own = [each["decision"] for each in made if each["editor"] == visit.principal.id]
    if wanted.decision.value in own:
        path, record = path_of(wanted.certificate), found.record
        visit.session.say(path, _said(record.state, record.successor, None))
        return see_other(path)
    return await _page(request, visit, wanted.certificate, _DECIDED_OTHERWISE if own else _TOO_LATE, status=409)


def _said(state: CertificateState | None, successor: UUID | None, why: str | None) -> str:
    if state is CertificateState.APPLIED:
        return "Approved and applied: it can be read at once."
    if state is CertificateState.REJECTED:
        return "Rejected: nothing was changed."
    if state is CertificateState.PENDING:
        return f"Your approval counts, and nothing is applied yet: {why}."
    if successor is not None:
        return _STALE
    return f"{_STALE} They cannot be carried out any more: {why or 'ask for them again'}."


async def _page(
    request: Request, visit: Visit, certificate: UUID, notice: str | None, *, first: int = 0, status: int = 200
) -> Response:
    service, reader = Service.of(request), effects_reader(request)
    content = await service.read(lambda: _content(service, reader, visit, certificate, first))
    return page(request, "certificate.html", visit, {**content, "notice": notice}, status=status)


def may_undo(principal: Principal, record: CertificateRecord) -> bool:
    """Whether the pages offer somebody to undo the certificate."""
    return record.state is CertificateState.APPLIED and principal.may_decide(record.graphs)


def _may_decide(principal: Principal, record: CertificateRecord) -> bool:
    return record.state is CertificateState.PENDING and principal.may_decide(record.graphs)


def _is_purge(service: Service, record: CertificateRecord) -> bool:
    """Whether it is the certificate of a purge: only administrators of the base come to see one."""
    with service.base.ledger.reading() as view:
        return view.purge(record.id) is not None


def _approval(service: Service, principal: Principal, record: CertificateRecord) -> ApprovalShown | None:
    """What the policy of the base asks of an approval; None where nothing waits for one."""
    if record.state is not CertificateState.PENDING:
        return None
    missing, refused = service.base.approval_by(principal, record)
    return ApprovalShown(missing, refused) if _may_decide(principal, record) else ApprovalShown(missing + 1, None)


def effects_reader(request: Request) -> EffectsReader:
    """Reads plans; one for all requests, as it keeps what it has counted."""
    reader: EffectsReader = request.app.state.effects
    return reader


def _content(
    service: Service, reader: EffectsReader, visit: Visit, certificate: UUID, first: int
) -> Mapping[str, object]:
    principal = visit.principal
    effects = reader.effects(principal, certificate, first=first, limit=_CHANGES, samples=MOST_OF_A_CAUSE)
    if first >= max(effects.total, 1):
        raise InvalidParameter(f"there are {effects.total:,} changes", remedy="begin with the first", where=FROM.name)
    record, asked = effects.record, effects.asked
    predecessor = _other(reader, visit, json.loads(record.document).get("predecessor"))
    successor = _other(reader, visit, None if record.successor is None else urn(record.successor), limit=1)
    nodes = nodes_of(effects) | nodes_in_findings(effects) | set(record.graphs)
    if successor is not None:
        nodes |= nodes_of(successor)
    names = names_for(service.base.reader, principal, nodes, (fact.statement for fact in effects.recorded))
    at_certificate = record.issued_at if record.instant is None else record.instant
    return {
        "id": record.id,
        "state_name": record.state.value,
        "verdict": record.verdict.value,
        "head": record.head,
        "successor": None if successor is None else _successor(successor, names),
        "predecessor": None if predecessor is None else predecessor.record.id,
        "earlier_decisions": () if predecessor is None else decisions_of(predecessor.decisions),
        "principal": record.principal,
        "reason": None if asked is None else asked.reason,
        "source_episode": None if asked is None or asked.episode is None else names(asked.episode),
        "issued": at(record.issued_at),
        "applied": None if record.instant is None else at(record.instant),
        "graphs": [names(graph) for graph in record.graphs],
        "comparisons": _comparisons(service, record, names),
        "changes": changes_of(effects, names),
        "kept": [fact_shown(fact, effects.held.get(fact.id, ()), names) for fact in effects.against],
        "tally": tally_of(effects),
        "total": effects.total,
        "items": effects.items,
        "pager": _pager(effects),
        "causes": causes_of(effects, names),
        "more_causes": rest_of(effects),
        "withheld": effects.withheld,
        "drawings": before_and_after(to_draw(effects, names, _by_object(effects)), at_certificate),
        "decisions": decisions_of(effects.decisions),
        "comment": visit.session.draft_of(path_of(certificate)) or "",
        "pending": record.state is CertificateState.PENDING,
        "may_decide": _may_decide(principal, record),
        "approval": _approval(service, principal, record),
        "may_undo": may_undo(principal, record),
        "purge": _is_purge(service, record),
        "next_waiting": None if record.state is CertificateState.PENDING else _next_waiting(service, visit),
    }


def _comparisons(service: Service, record: CertificateRecord, names: Names) -> list[tuple[Shown, str]]:
    """Its graphs, each with where it is compared before and after the certificate; none while it is not applied."""
    if record.instant is None:
        return []
    with service.base.ledger.reading() as view:
        head = view.head_at(Instant(record.instant - 1))
    times = {"from": _BEFORE_ALL if head is None else f"head:{head}", "to": f"head:{record.head}"}
    return [(names(graph), compare_path(graph=graph.value, **times)) for graph in record.graphs]


def decisions_of(records: Sequence[DecisionRecord]) -> list[DecisionShown]:
    """Decisions and re-checks for people, oldest first."""
    shown = []
    for each in records:
        members = json.loads(each.record)
        comment = None if each.comment is None else json.loads(each.comment.body)["comment"]
        moment = members["decidedAt" if each.kind == "decision" else "recheckedAt"]
        words = at(parse_instant(moment, field="decidedAt"))
        made = (members.get("decision"), members.get("editor"), words, comment, members.get("editorKey"))
        shown.append(DecisionShown(each.kind, *made))
    return shown


def _by_object(effects: Effects) -> set[Iri]:
    """Predicates of which the findings say that an object has one subject at a time."""
    return {
        Iri(finding.path[1:-1])
        for finding in effects.findings
        if finding.code is FindingCode.SINGLE_VALUED_BY_OBJECT and finding.path is not None
    }


def tally_of(effects: Effects) -> list[tuple[str, int]]:
    """How many changes of each kind the plan has, in one order everywhere."""
    return [(kind.value, effects.tally[kind]) for kind in Kind if effects.tally[kind]]


def _pager(effects: Effects) -> PagerShown | None:
    """The stretch of changes that is shown, and the addresses of the others; None where it is all of them."""
    if effects.total <= _CHANGES:
        return None
    first, path = effects.first, path_of(effects.record.id)
    last = min(first + _CHANGES, effects.total)
    return PagerShown(
        first + 1,
        last,
        f"{path}#changes" if first else None,
        f"{path}?{FROM.name}={max(first - _CHANGES, 0) + 1}#changes" if first else None,
        f"{path}?{FROM.name}={last + 1}#changes" if last < effects.total else None,
    )


def _successor(effects: Effects, names: Names) -> SuccessorShown:
    changes = changes_of(effects, names)
    return SuccessorShown(effects.record.id, effects.record.state.value, changes[0] if changes else None, effects.total)


def _other(reader: EffectsReader, visit: Visit, named: str | None, *, limit: int = 0) -> Effects | None:
    """The certificate before or after this one, if its reader may see it too."""
    if named is None:
        return None
    try:
        return reader.effects(visit.principal, parse_urn(named), limit=limit)
    except NotFound:
        return None


def _next_waiting(service: Service, visit: Visit) -> UUID | None:
    waiting = CertificateFilter(CertificateState.PENDING)
    found = service.certificates.page(visit.principal, waiting, limit=1)
    return found.records[0].id if found.records else None
