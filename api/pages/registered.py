"""`/registered`: the queries that somebody relies on, for those who may see them.

Rules
-----
* Listed is what `GET /queries` gives the same caller: to administrators all, to others those that they own.
* With each stands how to ask it, since when it is as it is, and which certificates changed its answer lately: of the
  last `LOOKED` that were applied, those whose findings say so. Certificates are named to those who may see them.

Example
-------
::

    GET /registered → 200
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.pages.rendering import page
from api.pages.times import Words, at
from api.pages.visiting import Visitor, page_parameters
from api.service import Service
from bridge.impact.reading import QueryReader
from bridge.review.certificates import may_see, readable_findings
from certificates.findings import Finding
from certificates.items import ItemKind
from kernel.ports.records import CertificateState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from api.pages.visiting import Visit
    from kernel.queries import RegisteredQuery

LOOKED: Final = 50
"""Certificates that are looked at for what they changed."""

_ITEMS: Final = 200
"""Findings of each that are."""

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class TouchShown:
    """A certificate that changed an answer: by how many rows, and when; no numbers where that is not known."""

    certificate: UUID
    applied: Words
    gained: int | None
    lost: int | None


@dataclass(frozen=True, slots=True)
class QueryShown:
    """A registered query.

    Args:
        since: when it became what it is.
        certificate: by which it did, if its reader may see that.
    """

    query: RegisteredQuery
    moment: Words | None
    graphs: tuple[str, ...]
    since: Words
    certificate: UUID | None
    ask: str
    touched: tuple[TouchShown, ...]


@router.get("/registered", response_class=Response)
async def registered(request: Request, visit: Visitor) -> Response:
    """The list."""
    page_parameters(request, ())
    service = Service.of(request)
    shown = await service.read(lambda: _shown(service, visit))
    return page(request, "registered.html", visit, {"queries": shown, "looked": LOOKED})


def _shown(service: Service, visit: Visit) -> list[QueryShown]:
    reader, principal = QueryReader(service.base.ledger), visit.principal
    listed = reader.listed(principal)
    touched = _touched(service, visit) if listed else {}
    shown = []
    for query in listed:
        certificate, since = reader.one(principal, query.name).versions[-1]
        shown.append(
            QueryShown(
                query,
                None if query.moment is None else at(query.moment),
                tuple(graph.value for graph in query.graphs),
                at(since),
                certificate if _sees(service, visit, certificate) else None,
                "/query?" + urlencode({"query": query.text}),
                tuple(touched.get(query.name, ())),
            )
        )
    return shown


def _sees(service: Service, visit: Visit, certificate: UUID) -> bool:
    """Whether somebody may see a certificate: one of `m:queries` is for administrators, and owners are others too."""
    with service.base.ledger.reading() as view:
        record = view.certificate(certificate)
    return record is not None and may_see(visit.principal, record)


def _touched(service: Service, visit: Visit) -> Mapping[str, list[TouchShown]]:
    """What the last certificates changed, by query, the newest first."""
    found: dict[str, list[TouchShown]] = {}
    with service.base.ledger.reading() as view:
        for record in view.certificates(state=CertificateState.APPLIED, limit=LOOKED):
            if record.instant is None or not may_see(visit.principal, record):
                continue
            items = view.items(record.id, ItemKind.FINDING, limit=_ITEMS)
            findings = (Finding.from_body(json.loads(item.body)) for item in items)
            for finding in readable_findings(visit.principal, findings):
                if (impact := finding.impact) is not None:
                    touch = TouchShown(record.id, at(record.instant), impact.gained, impact.lost)
                    found.setdefault(impact.query, []).append(touch)
    return found
