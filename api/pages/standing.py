"""`/standing`: contradictions that an editor let in and nobody has settled, with their age and owner.

Rules
-----
* Listed is what `GET /contradictions` gives the same caller, the oldest first, and nodes by their names. Filters are
  part of the address.
* An editor of the graphs of one gives it an owner; that changes no fact.

Example
-------
::

    GET /standing?kind=temporal&owner=ada
    POST /standing/0197…/0 owner=bob → 303 /standing
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.pages.findings import message_in_parts, nodes_in
from api.pages.names import names_for
from api.pages.rendering import page, see_other
from api.pages.times import Words, at
from api.pages.visiting import Visitor, page_parameters, read_form
from api.routes.certificates import KIND, CertificateId, certificate_named
from api.routes.contradictions import AFTER, OWNER, FindingOrdinal, listed, ordinal_of, owner_named, place_text
from api.service import Service
from bridge.review.standing import Place
from certificates.contradictions import ContradictionKind
from kernel.terms import Iri
from kernel.time.instants import DAY

if TYPE_CHECKING:
    from uuid import UUID

    from api.pages.terms import Names
    from api.pages.visiting import Visit
    from bridge.review.standing import Standing

_PAGE: Final = 20
_FILTERS: Final = (KIND, OWNER)

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class StandingShown:
    """A contradiction in the list.

    Args:
        days: how long it has stood, in whole days.
        assignable: whether its reader may give it an owner.
        path: of the form that does.
    """

    certificate: UUID
    kind: str
    message: str
    since: Words
    days: int
    owner: str | None
    assignable: bool
    path: str


@router.get("/standing", response_class=Response)
async def standing(request: Request, visit: Visitor) -> Response:
    """The list."""
    parameters = page_parameters(request, (*_FILTERS, AFTER))
    service = Service.of(request)
    found = await service.read(lambda: listed(service, visit.principal, parameters, _PAGE))
    nodes = nodes_in(each.finding for each in found.standing)
    names = await service.read(lambda: names_for(service.base.reader, visit.principal, nodes))
    now = service.base.host.now()
    chosen = {each.name: parameters.text(each) or "" for each in _FILTERS}
    following = None if found.after is None else {**chosen, AFTER.name: place_text(found.after)}
    return page(
        request,
        "standing.html",
        visit,
        {
            "standing": [_shown(each, visit, names, now) for each in found.standing],
            "kinds": [each.value for each in ContradictionKind],
            "chosen": chosen,
            "filtered": any(chosen.values()),
            "first": parameters.text(AFTER) is None,
            "start": _with(chosen),
            "following": None if following is None else _with(following),
        },
    )


@router.post("/standing/{certificate}/{finding}", response_class=Response)
async def assign(request: Request, visit: Visitor, certificate: CertificateId, finding: FindingOrdinal) -> Response:
    """Gives it an owner, and leads back to the list."""
    page_parameters(request, ())
    place = Place(certificate_named(certificate), ordinal_of(finding, "finding"))
    form = await read_form(request, visit.session.forgery_token, (OWNER,))
    owner = owner_named(form.text(OWNER), OWNER.name)
    service = Service.of(request)
    await service.read(lambda: service.standing.assign(visit.principal, place, owner))
    return see_other("/standing")


def _shown(each: Standing, visit: Visit, names: Names, now: int) -> StandingShown:
    said = each.finding.contradiction
    parts = message_in_parts(each.finding.message.partition("; ")[0], names)
    return StandingShown(
        each.place.certificate,
        "" if said is None else said.kind.value,
        "".join(part if isinstance(part, str) else part.text for part in parts),
        at(each.since),
        max(0, now - each.since) // DAY,
        each.owner,
        visit.principal.may_decide(map(Iri, each.finding.graphs)),
        f"/standing/{each.place.certificate}/{each.place.finding}",
    )


def _with(chosen: dict[str, str]) -> str:
    kept = {name: value for name, value in chosen.items() if value}
    return "/standing" + (f"?{urlencode(kept)}" if kept else "")
