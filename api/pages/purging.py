"""`/purging`: what must not exist, for administrators of the whole base: looked at, purged, decided on, restored.

Rules
-----
* What may be done, by whom, and what comes of it, is settled as by `/purges` (`api.routes.purges`). To everybody else
  the page says that it takes an administrator, and nothing of what there is.
* Nothing is purged unseen. The first form asks how much would go; the second is bound to that answer by its digest. If
  something has changed since, the page says what would go by now, and nothing is purged.
* What is to go is in the body of forms alone, never in an address: those are kept, in histories and by proxies.
* Where a second person has to approve, the page of a purge has what is to go, and the decision, until it is taken.

Example
-------
::

    POST /purging kind=node&target=https://example.org/ann&reason=asked+by+its+subject → 200, what would go
    POST /purging kind=node&target=…&reason=…&digest=5f0c… → 303 /purging/0197…
    POST /purging/0197… step=restore&reason=the+wrong+person → 303 /purging/0197…
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api.errors import UnknownPath
from api.http.parameters import Parameter
from api.http.problems import status_of
from api.http.waiting import answer_of
from api.pages.rendering import PRIVATE, page, see_other
from api.pages.times import Words, at
from api.pages.visiting import Visitor, page_parameters, read_form
from api.pages.wording import remedy_on_pages
from api.routes.certificates import AFTER, certificate_cursor
from api.routes.decision_body import within_length
from api.routes.document_request import REASON
from api.routes.purge_body import target_of
from api.routes.purge_words import goes
from api.routes.purges import carried_out, previewed, purge_named
from api.service import Service
from certificates.records import DecisionKind
from kernel.errors import CallerError, InvalidParameter, PreviewOutdated
from kernel.ports.purges import PurgeState
from kernel.purging.purger import PurgeRequest, require_purger
from kernel.purging.targets import TargetKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from api.http.parameters import Parameters
    from api.pages.visiting import Visit
    from kernel.ports.purges import PurgeRecord

_TEXT: Final[dict[str, object]] = {"type": "string"}
KIND: Final = Parameter("kind", "what it is", {"type": "string", "enum": [each.value for each in TargetKind]}, "node")
TARGET: Final = Parameter("target", "its id or IRI", _TEXT, "https://example.org/ann")
DIGEST: Final = Parameter("digest", "of what was seen", {"type": "string", "pattern": "^[0-9a-f]{64}$"}, "5f0c…")

_HOME: Final = "/purging"
_PAGE: Final = 50
_RECEIPT: Final = "application/vc"

PurgeId = Annotated[str, Path()]

router = APIRouter(include_in_schema=False)


class Step(StrEnum):
    """What is done with a purge."""

    APPROVE = "approve"
    REJECT = "reject"
    RESTORE = "restore"


STEP: Final = Parameter("step", "what is done", {"type": "string", "enum": [each.value for each in Step]}, "approve")

_SAID: Final = {
    PurgeState.WAITING: "Nothing is purged yet: another administrator has to approve it.",
    PurgeState.PENDING: "Nothing of it is answered any more. Copies in files are being erased.",
    PurgeState.COMPLETE: "Nothing of it is answered any more, and no copy is left within reach.",
    PurgeState.REJECTED: "Rejected: nothing was purged.",
}


@dataclass(frozen=True, slots=True)
class PurgeShown:
    """A purge: of what kind, how far it has come, and by whom.

    Args:
        gone: how much, of what; empty before it is carried out.
        places: of the receipt, by what it says of them.
        restorable: whether tombstones of it stand.
    """

    id: UUID
    state: str
    kind: str
    asked_by: str
    asked: Words
    decided_by: str | None
    target: str | None
    reason: str | None
    gone: tuple[tuple[int, str], ...]
    places: Mapping[str, tuple[str, ...]]
    head: int | None
    receipt: str | None
    restored_by: UUID | None
    restorable: bool


@router.get("/purging", response_class=Response)
async def listed(request: Request, visit: Visitor) -> Response:
    """The list, and the form that asks what would go."""
    after = page_parameters(request, (AFTER,)).text(AFTER)
    service = _service(request, visit, "listPurges")
    last = None if after is None else certificate_cursor(after)
    records = await service.read(lambda: service.base.purges.listed(visit.principal, limit=_PAGE + 1, after=last))
    draft = visit.session.draft_of(_HOME)
    return _list_page(request, visit, records, first=after is None, written={"reason": draft or ""})


@router.post("/purging", response_class=Response)
async def purge(request: Request, visit: Visitor) -> Response:
    """Says what would go; or, of what was seen, purges it."""
    page_parameters(request, ())
    form = await read_form(request, visit.session.forgery_token, (KIND, TARGET, REASON, DIGEST))
    service = _service(request, visit, "purge")
    visit.session.forget_draft(_HOME)
    try:
        return await _purged(request, service, visit, form)
    except CallerError as error:
        records = await service.read(lambda: service.base.purges.listed(visit.principal, limit=_PAGE + 1))
        written = {each.name: form.text(each) or "" for each in (KIND, TARGET, REASON)}
        return _list_page(request, visit, records, first=True, written=written, error=error)


@router.get("/purging/{purge}", response_class=Response)
async def look(request: Request, visit: Visitor, purge: PurgeId) -> Response:
    """One purge, with what its receipt says and what may be done about it."""
    page_parameters(request, ())
    service, identifier = _service(request, visit, "getPurge"), purge_named(purge)
    return await _purge_page(request, service, visit, identifier)


@router.get("/purging/{purge}/receipt", response_class=Response)
async def receipt(request: Request, visit: Visitor, purge: PurgeId) -> Response:
    """The receipt, byte by byte as it was signed, as a file to keep."""
    page_parameters(request, ())
    service, identifier = _service(request, visit, "getPurge"), purge_named(purge)
    record = await service.read(lambda: service.base.purges.one(visit.principal, identifier))
    if record.receipt is None:
        raise UnknownPath("it has no receipt yet", remedy="look at the purge: it says how far it has come")
    named = {"Content-Type": _RECEIPT, "Content-Disposition": f'attachment; filename="receipt-{identifier}.json"'}
    return Response(record.receipt, 200, {**PRIVATE, **named})


@router.post("/purging/{purge}", response_class=Response)
async def step(request: Request, visit: Visitor, purge: PurgeId) -> Response:
    """Approves, rejects or restores, and leads back to the purge."""
    page_parameters(request, ())
    identifier = purge_named(purge)
    form = await read_form(request, visit.session.forgery_token, (STEP, REASON))
    wanted = form.choice(STEP, Step)
    if wanted is None:
        raise InvalidParameter("nothing is to be done", remedy="approve, reject or restore", where=STEP.name)
    service = _service(request, visit, "restorePurged" if wanted is Step.RESTORE else "decidePurge")
    path, reason = path_of(identifier), form.text(REASON) or ""
    visit.session.forget_draft(path)
    try:
        said = await _taken(service, visit, identifier, wanted, reason)
    except CallerError as error:
        return await _purge_page(request, service, visit, identifier, reason, error)
    visit.session.say(path, said)
    return see_other(path)


def path_of(purge: UUID) -> str:
    """Where a purge's page is."""
    return f"{_HOME}/{purge}"


def _service(request: Request, visit: Visit, operation: str) -> Service:
    """The service, if it has the operation, and the visitor may purge. Raises `UnknownPath` and `Forbidden`."""
    service = Service.of(request)
    if not service.has(operation):
        raise UnknownPath("this service purges nothing", remedy="ask whoever runs it")
    require_purger(visit.principal)
    return service


async def _taken(service: Service, visit: Visit, purge: UUID, step: Step, reason: str) -> str:
    """Takes a step with a purge; answers what is to be said of it."""
    purges = service.base.purges
    if step is Step.RESTORE:
        await answer_of(purges.restore(purge, _required(reason), visit.principal))
        return "Its tombstones are lifted: it may be written again. What is gone stays gone."
    decided = await answer_of(purges.decide(purge, DecisionKind(step.value), visit.principal))
    return _SAID[decided.state]


async def _purged(request: Request, service: Service, visit: Visit, form: Parameters) -> Response:
    """What would go, to be confirmed; or where to go once it is purged."""
    kind, text, digest = form.choice(KIND, TargetKind), form.text(TARGET), form.text(DIGEST)
    if kind is None or text is None:
        missing = KIND if kind is None else TARGET
        raise InvalidParameter(
            "nothing says what is to go", remedy="give its kind, and its id or IRI", where=missing.name
        )
    target, outdated = target_of(kind, text.strip(), TARGET.name), False
    if digest is not None:
        try:
            wanted = PurgeRequest(target, _required(form.text(REASON) or ""), visit.principal, digest)
            record = await carried_out(service, wanted)
        except PreviewOutdated:
            outdated = True
        else:
            visit.session.say(path_of(record.id), _SAID[record.state])
            return see_other(path_of(record.id))
    would = await previewed(service, visit.principal, target)
    content = {
        "kind": kind.value,
        "target": target.text,
        "reason": form.text(REASON) or "",
        "would": would,
        "goes": [*goes(dict(would))],
        "outdated": outdated,
        "second": service.settings.purge_second_person,
    }
    return page(request, "purge_preview.html", visit, content, status=409 if outdated else 200)


def _required(reason: str) -> str:
    if not reason.strip():
        raise InvalidParameter("nobody would know why", remedy="write why, without what is purged", where=REASON.name)
    return within_length(reason.strip(), REASON.name, "reason")


async def _purge_page(
    request: Request,
    service: Service,
    visit: Visit,
    purge: UUID,
    reason: str = "",
    error: CallerError | None = None,
) -> Response:
    record = await service.read(lambda: service.base.purges.one(visit.principal, purge))
    path = path_of(purge)
    content = {
        "purge": _shown(record),
        "notice": None if request.method == "HEAD" else visit.session.take_notice(path),
        "problem": _problem(error),
        "reason": reason or visit.session.draft_of(path) or "",
    }
    return page(request, "purge.html", visit, content, status=200 if error is None else status_of(error))


def _problem(error: CallerError | None) -> tuple[str, str] | None:
    """What was wrong, and what to do, in words of pages."""
    return None if error is None else (error.message, remedy_on_pages(error.code, error.remedy))


def _list_page(
    request: Request,
    visit: Visit,
    records: list[PurgeRecord],
    *,
    first: bool,
    written: Mapping[str, str],
    error: CallerError | None = None,
) -> Response:
    shown = records[:_PAGE]
    content = {
        "purges": [_shown(record) for record in shown],
        "kinds": [each.value for each in TargetKind],
        "first": first,
        "following": f"{_HOME}?{AFTER.name}={shown[-1].id}" if len(records) > _PAGE else None,
        "written": {KIND.name: TargetKind.NODE.value, TARGET.name: "", REASON.name: "", **written},
        "problem": _problem(error),
    }
    return page(request, "purging.html", visit, content, status=200 if error is None else status_of(error))


def _shown(record: PurgeRecord) -> PurgeShown:
    report: dict[str, int] = {} if record.report is None else json.loads(record.report)
    said = {} if record.receipt is None else json.loads(record.receipt)["credentialSubject"]
    return PurgeShown(
        record.id,
        record.state.value,
        record.kind,
        record.asked_by,
        at(record.asked_at),
        record.decided_by,
        record.target,
        record.reason,
        tuple(goes(report)),
        {name: tuple(said.get(name, ())) for name in ("erased", "absent", "notReached")},
        record.head,
        None if record.receipt is None else record.receipt.decode(),
        record.restored_by,
        bool(report.get("tombstones")) and record.restored_by is None,
    )
