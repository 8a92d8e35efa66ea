"""`/queue/{certificate}/revert`: what an applied certificate did is undone, once an editor has confirmed it.

Rules
-----
* It is offered to editors of every graph concerned. What comes of it is settled as by `POST /certificates/{id}/revert`
  (`api.routes.reverting`): a new certificate, to which the answer leads.
* Before somebody confirms it, the page says how much is undone; or what stands in the way, with a link to it.
* A form that is sent twice undoes once: it has a key of its own, and the second answer leads to the same certificate.
* Who undoes says why.

Example
-------
::

    POST /queue/0197…/revert reason=loaded+twice → 303 /queue/0198…
"""

from __future__ import annotations

from dataclasses import dataclass
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final
from uuid import UUID

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.http.parameters import Parameter
from api.http.problems import status_of
from api.pages.certificate import effects_reader, path_of, tally_of
from api.pages.effects import changes_of, nodes_of
from api.pages.names import names_for
from api.pages.rendering import page, see_other
from api.pages.visiting import Visitor, page_parameters, read_form
from api.pages.wording import remedy_on_pages
from api.routes.certificates import CertificateId, certificate_named
from api.routes.changes import request_digest
from api.routes.decision_body import within_length
from api.routes.document_request import REASON
from api.routes.reverting import to_undo, undo
from api.service import Service
from certificates.ids import parse_urn
from kernel import changes
from kernel.errors import CallerError, Conflict, Forbidden, InvalidParameter, NotFound, PlanError
from kernel.ports.records import CertificateState
from kernel.writing.submitting import Submission

if TYPE_CHECKING:
    from collections.abc import Mapping

    from api.pages.visiting import Visit
    from bridge.review.effects import EffectsReader

ONCE: Final = Parameter(
    "once", "the key of one form, so that it counts once", {"type": "string", "pattern": "^[!-~]{1,255}$"}, "a1b2"
)
_MOST_OF_A_KEY: Final = 255

_SAID: Final = {
    CertificateState.APPLIED: "Undone, by this certificate: it can be read at once.",
    CertificateState.PENDING: "Nothing is undone yet: an editor has to look at what the checks found. Decide below.",
    CertificateState.REFUSED: "Nothing was undone: the checks refuse it, for what they found below.",
}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why it cannot be undone, what to do about that, and the later certificate that stands in the way, if one does."""

    said: str
    remedy: str
    later: UUID | None


@router.get("/queue/{certificate}/revert", response_class=Response)
async def ask(request: Request, visit: Visitor, certificate: CertificateId) -> Response:
    """Asks whether it is meant."""
    page_parameters(request, ())
    identifier = certificate_named(certificate)
    await _require_editor(request, visit, identifier)
    return await _page(request, visit, identifier)


@router.post("/queue/{certificate}/revert", response_class=Response)
async def revert(request: Request, visit: Visitor, certificate: CertificateId) -> Response:
    """Undoes it, and leads to the certificate that did."""
    page_parameters(request, ())
    identifier = certificate_named(certificate)
    form = await read_form(request, visit.session.forgery_token, (REASON, ONCE))
    reason, key = (form.text(REASON) or "").strip(), form.text(ONCE)
    if not reason:
        raise InvalidParameter("nobody would know why", remedy="go back, and write why it is undone", where=REASON.name)
    if key is None or len(key) > _MOST_OF_A_KEY:
        raise InvalidParameter("the form is not whole", remedy="open the page again", where=ONCE.name)
    within_length(reason, REASON.name, "reason")
    await _require_editor(request, visit, identifier)
    visit.session.forget_draft(_path_of(identifier))
    try:
        outcome = await undo(Service.of(request), identifier, _blank(visit, identifier, reason, key))
    except (Conflict, PlanError) as error:
        return await _page(request, visit, identifier, error, reason)
    made = path_of(outcome.certificate or identifier)
    if outcome.state in _SAID:
        visit.session.say(made, _SAID[outcome.state])
    return see_other(made)


def _path_of(certificate: UUID) -> str:
    return f"{path_of(certificate)}/revert"


def _blank(visit: Visit, certificate: UUID, reason: str | None = None, key: str | None = None) -> Submission:
    """Who asks, why, and with which form. Its other fields are not compared: what was undone once is undone."""
    asked = changes.Request((), reason, None, visit.principal.id)
    digest = request_digest("", b"", certificate.bytes)
    return Submission(asked, visit.principal, key, digest, dry_run=False)


async def _require_editor(request: Request, visit: Visit, certificate: UUID) -> None:
    """Raises `NotFound` for what they may not see, and `Forbidden` for what is not theirs to undo."""
    service = Service.of(request)
    record = await service.read(lambda: service.certificates.one(visit.principal, certificate))
    if not visit.principal.may_decide(record.graphs):
        raise Forbidden(
            "it takes an editor of every graph concerned to undo a certificate",
            remedy="ask one, or sign in with a token that has the role and graphs",
        )


async def _page(
    request: Request, visit: Visit, certificate: UUID, error: CallerError | None = None, reason: str = ""
) -> Response:
    """The question; or, with the status of the error, what stands in the way."""
    service, reader = Service.of(request), effects_reader(request)
    content = await service.read(lambda: _content(service, reader, visit, certificate, error))
    draft = visit.session.draft_of(_path_of(certificate))
    status = 200 if error is None else status_of(error)
    words = {"reason": reason or draft or "", "resumed": draft is not None}
    return page(request, "undoing.html", visit, {**content, **words}, status=status)


def _content(
    service: Service, reader: EffectsReader, visit: Visit, certificate: UUID, error: CallerError | None
) -> Mapping[str, object]:
    effects = reader.effects(visit.principal, certificate, limit=1)
    names = names_for(service.base.reader, visit.principal, nodes_of(effects), ())
    shown = changes_of(effects, names)
    undone: tuple[changes.Change, ...] = ()
    if error is None:
        try:
            undone = to_undo(service.base, certificate, _blank(visit, certificate)).changes
        except (Conflict, PlanError) as found:
            error = found
    restored = sum(isinstance(each, changes.Reinstate) for each in undone)
    return {
        "id": certificate,
        "change": shown[0] if shown else None,
        "total": effects.total,
        "tally": tally_of(effects),
        "withdrawn": len(undone) - restored,
        "restored": restored,
        "obstacle": None if error is None else _obstacle(service, visit, error),
        "once": token_urlsafe(18),
    }


def _obstacle(service: Service, visit: Visit, error: CallerError) -> Obstacle:
    """An error, in words of pages."""
    later = error.data.get("later")
    if isinstance(later, str):
        said = "A later certificate has changed since what this one recorded."
        return Obstacle(
            said,
            "If that one undid it, all is done. Else undo that one first.",
            _seen(service, visit, parse_urn(later)),
        )
    state = error.data.get("state")
    if state is not None:
        return Obstacle(f"It is {state}: nothing of it was applied.", "There is nothing to undo.", None)
    return Obstacle(f"{error.message[:1].upper()}{error.message[1:]}.", remedy_on_pages(error.code, error.remedy), None)


def _seen(service: Service, visit: Visit, certificate: UUID) -> UUID | None:
    """The certificate, if they may see it: it may be about other graphs as well."""
    try:
        return service.certificates.one(visit.principal, certificate).id
    except NotFound:
        return None
