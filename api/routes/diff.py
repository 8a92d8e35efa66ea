"""`GET /diff`: what differs between two moments, of a graph or a node, with the certificates that did it.

Rules
-----
* `from` and `to` are two times on one `axis`: transaction time, unless `axis=valid-at`. The other axis stands still, at
  its own parameter or the present; the parameter of the axis itself has no meaning beside them, and is refused.
* JSON comes in pages, with how many entries of each kind there are in all. JSON-LD, and an RDF Patch to apply, come
  whole as they are read (`api.http.streaming`).
* Graphs that the caller may not read are as if they were empty: in entries, and in how many there are.
* What was compared is said: without `to` it was the present. For pages of one diff give `to` with the first already.
* An answer has a tag of its state (`api.http.validators`). Comparing takes no longer than a query of the caller may.

Example
-------
::

    GET /diff?graph=https%3A%2F%2Fexample.org%2Fg&from=head:41&to=head:57 → 200 {"gained": 3, "lost": 1, "items": […]}
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import answers as written
from api.callers.auth import Caller
from api.http.media import accepted, preferred
from api.http.moments import AS_OF, VALID_AT, AskedMoment
from api.http.openapi import Answer, answers, extra, json_content, text_content
from api.http.parameters import Parameter, query_parameters
from api.http.replies import json_reply
from api.http.streaming import streamed
from api.http.validators import NONE_MATCH_HEADER, UNCHANGED, tag_of_url, tagged, unchanged
from api.routes.facts import GRAPH
from api.service import Service
from bridge.diffing.comparing import Axis, Comparison, Diff, sides_of
from bridge.diffing.documents import DiffFormat, document
from certificates.ids import urn
from kernel.errors import InvalidParameter, UnknownParameter
from kernel.time.instants import print_instant

if TYPE_CHECKING:
    from api.http.parameters import Parameters
    from api.models import diffs as models
    from bridge.diffing.comparing import Entry, Side
    from bridge.exporting.exporter import Export
    from kernel.access import Principal

_TEXT: Final[dict[str, object]] = {"type": "string"}
JSON: Final = "application/json"

FROM: Final = Parameter(
    "from", "the earlier of the two times; on transaction time also `head:N`", _TEXT, "head:41", required=True
)
TO: Final = Parameter("to", "the later one; by default the present", _TEXT, "head:57")
AXIS: Final = Parameter(
    "axis",
    "along which axis they lie: `as-of`, what was believed; or `valid-at`, what held",
    {"type": "string", "enum": list(Axis), "default": Axis.TRANSACTION},
    "as-of",
)
NODE: Final = Parameter(
    "node", "the node whose statements are compared, an IRI", {"type": "string", "format": "iri"}, "urn:ada"
)
LIMIT: Final = Parameter(
    "limit", "how many at most; of JSON", {"type": "integer", "minimum": 1, "maximum": 1_000, "default": 100}, "100"
)
AFTER: Final = Parameter(
    "after", "the `next` of the page before; of JSON", {"type": "integer", "minimum": 0, "maximum": 10**9}, "100"
)
_VALID_AT: Final = replace(VALID_AT, description="along transaction time: as true when. By default the present")
_AS_OF: Final = replace(AS_OF, description="along valid time: as known when. By default the present head")
ASKED: Final = (GRAPH, NODE, FROM, TO, AXIS, _VALID_AT, _AS_OF)
_PARAMETERS: Final = (*ASKED, LIMIT, AFTER)
_OFFERED: Final = (JSON, *(each.value for each in DiffFormat))

router = APIRouter(tags=["reading"])


@router.get(
    "/diff",
    operation_id="compareMoments",
    summary="Compare a graph or a node at two moments",
    response_class=Response,
    responses=answers(
        {
            200: Answer(
                "What differs, in the format negotiated",
                json_content("DiffPage") | text_content([each.value for each in DiffFormat]),
            ),
            **UNCHANGED,
        },
        problems=(400, 401, 406, 422, 503),
    ),
    openapi_extra=extra(parameters=_PARAMETERS, headers=NONE_MATCH_HEADER),
)
async def compare_moments(request: Request, caller: Caller) -> Response:
    """Statements gained, lost and corrected between two times on one axis, each with the certificates responsible."""
    parameters = query_parameters(request, _PARAMETERS)
    service = Service.of(request)
    media_type = preferred(accepted(request), _OFFERED)
    head = await service.read(service.base.reader.head)
    tag = tag_of_url(request, caller, media_type, head, AskedMoment())
    headers = {"Vary": "Accept, Accept-Encoding, Authorization", **tagged(tag)}
    if (known := unchanged(request, tag, headers)) is not None:
        return known
    if media_type == JSON:
        page = await service.read(lambda: _page(service, caller, parameters))
        return json_reply(page, headers=headers)
    for paged in (LIMIT, AFTER):
        if paged.name in parameters.names():
            raise InvalidParameter("a document comes whole", remedy="leave it out, or accept JSON", where=paged.name)
    body = await service.read(lambda: _document(service, caller, parameters, DiffFormat(media_type)))
    return await streamed(service, body, {**headers, "Content-Type": media_type})


def comparison_of(service: Service, principal: Principal, parameters: Parameters) -> Comparison:
    """What a request asks to have compared.

    Raises:
        InvalidParameter: a time that cannot be used, or neither graph nor node.
        UnknownParameter: a time on the axis itself, beside its two.
    """
    canonicaliser = service.base.canonicaliser
    axis = parameters.choice(AXIS, Axis) or Axis.TRANSACTION
    stands, moves = (_VALID_AT, _AS_OF) if axis is Axis.TRANSACTION else (_AS_OF, _VALID_AT)
    if moves.name in parameters.names():
        remedy = f"say the two times as from and to; or axis={stands.name}, if these are on the other axis"
        raise UnknownParameter(f"from and to are on the axis of {moves.name}", remedy=remedy, where=moves.name)
    first = parameters.time(FROM)
    if first is None:
        raise InvalidParameter("since when is not said", remedy="give from=TIME", where=FROM.name)
    graph, node = parameters.iri(GRAPH, canonicaliser), parameters.iri(NODE, canonicaliser)
    sides = sides_of(service.base, axis, first, parameters.time(TO), parameters.time(stands))
    return Comparison(principal, sides, graph, node)


def compared(service: Service, asked: Comparison) -> Diff:
    """What differs, within the time that a query of the caller may take; to be closed."""
    return Diff(service.base.ledger, asked, service.settings.limits_of(asked.principal.highest).seconds)


def _page(service: Service, caller: Principal, parameters: Parameters) -> models.DiffPage:
    limit, after = parameters.number(LIMIT, default=100), parameters.number(AFTER, default=0)
    with compared(service, comparison_of(service, caller, parameters)) as diff:
        counts, sides = diff.counts, diff.asked.sides
        items = [_entry(each) for each in diff.entries(after, limit)]
        total = counts.gained + counts.lost + counts.corrected
        return {
            "axis": sides.axis.value,
            "from": _side(sides.first),
            "to": _side(sides.second),
            "gained": counts.gained,
            "lost": counts.lost,
            "corrected": counts.corrected,
            "items": items,
            "next": str(after + limit) if after + limit < total else None,
        }


def _document(service: Service, caller: Principal, parameters: Parameters, form: DiffFormat) -> Export:
    diff = compared(service, comparison_of(service, caller, parameters))
    return document(diff, form, service.base.ledger.base_id())


def _side(side: Side) -> models.DiffSide:
    return {"asOf": print_instant(side.as_of), "head": side.head, "validAt": print_instant(side.valid_at)}


def _entry(entry: Entry) -> models.DiffEntry:
    told: models.DiffEntry = {"change": entry.kind.value, "certificates": [urn(each) for each in entry.certificates]}
    if entry.before is not None:
        told["before"] = written.fact(entry.before)
    if entry.after is not None:
        told["after"] = written.fact(entry.after)
    return told
