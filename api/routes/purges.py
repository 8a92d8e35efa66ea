"""`/purges`: what must not exist, for administrators of the whole base.

Rules
-----
* A purge is previewed, then carried out with the digest of the preview; if something has changed since, 409. The
  preview says how much would go, and quotes nothing.
* The answer comes once nothing of it is answered any more. Its receipt is pending until no copy is left in any file,
  and is given as it was signed to those who ask for a credential (`application/vc`, or `application/ld+json`).
* Where `MUNIMENT_PURGE_SECOND_PERSON` is set, a purge waits (202) until another administrator decides on it.
* Lifting a tombstone brings nothing back: it may be written again.
* `/holdings` is the other side of it: everything that is held of a node, with its evidence.
* The list of them comes in pages, newest first, as that of certificates does.
* To everybody else nothing is told, not even whether there is such a purge: 403.

Example
-------
::

    POST /purges {"node": "https://example.org/ann", "reason": "asked by its subject", "preview": true}
    → 200 {"digest": "…", "facts": 12, …}
    POST /purges {"node": "https://example.org/ann", "reason": "asked by its subject", "digest": "…"} → 201
    GET /purges/0197… → 200 {"state": "complete", "receipt": {…}, …}
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api import answers as written
from api.callers.auth import Caller
from api.callers.citing import READ_STATE_HEADER
from api.http.bodies import read_body
from api.http.media import accepted, body_type, preferred
from api.http.openapi import Answer, answers, extra, json_content, reference
from api.http.parameters import Parameter, query_parameters
from api.http.replies import json_reply
from api.http.waiting import answer_of
from api.routes.certificates import AFTER, LIMIT, certificate_cursor, certificate_named
from api.routes.decision_body import read_decision
from api.routes.facts import LIMIT as FACTS_LIMIT
from api.routes.purge_body import read_purge, read_reason
from api.service import Service
from bridge.reading.holdings import holdings
from certificates.ids import urn
from kernel.errors import InvalidParameter, NotFound
from kernel.ports.purges import PurgeState
from kernel.purging.purger import PurgeRequest, require_purger
from kernel.time.instants import print_instant

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from uuid import UUID

    from api.models import purges as models
    from bridge.purging.purges import Purges
    from kernel.access import Principal
    from kernel.ports.purges import PurgeRecord
    from kernel.purging.targets import Target

_JSON: Final = "application/json"
_CREDENTIALS: Final = ("application/vc", "application/ld+json")
_SIGNED: Final = {"schema": {"type": "object", "description": "the receipt, byte by byte as it was signed"}}
_LOCATION: Final = {"Location": "the purge's path"}
_PROBLEMS: Final = (400, 401, 403, 404, 409, 413, 415, 422, 503)

NODE: Final = Parameter("node", "the node, an IRI", {"type": "string", "format": "iri"}, "https://example.org/ada")
_HOLDINGS: Final = (NODE, FACTS_LIMIT, AFTER)
_LIST: Final = (LIMIT, AFTER)

PurgeId = Annotated[str, Path(description="its id, as a UUID or as `urn:uuid:`")]

router = APIRouter(tags=["purges"])


@router.post(
    "/purges",
    operation_id="purge",
    summary="Purge what must not exist",
    status_code=201,
    response_class=Response,
    responses=answers(
        {
            200: Answer("A preview: how much would go, and its digest", json_content("PurgePreview")),
            201: Answer("Carried out; the receipt is pending", json_content("Purge"), _LOCATION),
            202: Answer("It waits for a second person", json_content("Purge"), _LOCATION),
        },
        problems=_PROBLEMS,
    ),
    openapi_extra=extra(headers=READ_STATE_HEADER, body={_JSON: {"schema": reference("PurgeRequest")}}),
)
async def purge(request: Request, caller: Caller) -> Response:
    """Previews a purge, or carries out what was previewed: facts, evidence, and whatever quotes them."""
    query_parameters(request, ())
    require_purger(caller)
    service = Service.of(request)
    body = await read_body(request, service.settings.body_limit)
    asked = read_purge(body_type(request.headers.get("content-type")), body)
    if asked.digest is None:
        return json_reply(await previewed(service, caller, asked.target))
    record = await carried_out(service, PurgeRequest(asked.target, asked.reason, caller, asked.digest))
    status = 202 if record.state is PurgeState.WAITING else 201
    return json_reply(_told(record), status, {"Location": f"/purges/{record.id}"})


@router.get(
    "/purges",
    operation_id="listPurges",
    summary="List purges, newest first",
    response_class=Response,
    responses=answers({200: Answer("A page of purges", json_content("PurgePage"))}, problems=(400, 401, 403, 503)),
    openapi_extra=extra(parameters=_LIST),
)
async def list_purges(request: Request, caller: Caller) -> Response:
    """Lists purges: who asked for each, how far it has come, and how much went."""
    parameters = query_parameters(request, _LIST)
    require_purger(caller)
    limit, after = parameters.number(LIMIT, default=50), parameters.text(AFTER)
    last = None if after is None else certificate_cursor(after)
    service = Service.of(request)
    records = await service.read(lambda: service.base.purges.listed(caller, limit=limit + 1, after=last))
    shown = records[:limit]
    answer: models.PurgePage = {
        "items": [_told(record) for record in shown],
        "next": str(shown[-1].id) if len(records) > limit else None,
    }
    return json_reply(answer)


@router.get(
    "/holdings",
    operation_id="listHoldings",
    summary="List everything that is held of a node",
    response_class=Response,
    responses=answers(
        {200: Answer("A page of facts, by id", json_content("Holdings"))}, problems=(400, 401, 403, 422, 503)
    ),
    openapi_extra=extra(parameters=_HOLDINGS),
)
async def list_holdings(request: Request, caller: Caller) -> Response:
    """Lists every fact that names a node, or cites it, believed or superseded, of every time, with its evidence."""
    parameters = query_parameters(request, _HOLDINGS)
    require_purger(caller)
    service = Service.of(request)
    node, after = parameters.iri(NODE, service.base.canonicaliser), parameters.text(AFTER)
    if node is None:
        raise InvalidParameter("it is missing", remedy="give the IRI of a node", where=NODE.name)
    last = None if after is None else certificate_cursor(after)
    limit = parameters.number(FACTS_LIMIT, default=100)
    page = await service.read(lambda: holdings(service.base.ledger, caller, node, limit=limit, after=last))
    facts = page.facts
    answer: models.Holdings = {
        "items": [written.fact(each) for each in facts.found],
        "next": str(facts.found[-1].fact.id) if facts.more else None,
        "quotedBy": page.quoted_by,
    }
    return json_reply(answer)


@router.get(
    "/purges/{purge}",
    operation_id="getPurge",
    summary="A purge, with its receipt",
    response_class=Response,
    responses=answers(
        {200: Answer("The purge, or its receipt alone", json_content("Purge") | dict.fromkeys(_CREDENTIALS, _SIGNED))},
        problems=(400, 401, 403, 404, 406, 503),
    ),
    openapi_extra=extra(),
)
async def get_purge(request: Request, caller: Caller, purge: PurgeId) -> Response:
    """Gives a purge with its signed receipt; or the signed bytes alone."""
    query_parameters(request, ())
    require_purger(caller)
    service, identifier = Service.of(request), purge_named(purge)
    media_type = preferred(accepted(request), (_JSON, *_CREDENTIALS))
    record = await service.read(lambda: service.base.purges.one(caller, identifier))
    if media_type == _JSON:
        return json_reply(_told(record), headers={"Vary": "Accept"})
    if record.receipt is None:
        raise InvalidParameter(
            f"the purge is {record.state}, and has no receipt", remedy="ask for application/json", where="Accept"
        )
    return Response(record.receipt, 200, {"Content-Type": media_type, "Vary": "Accept"})


@router.post(
    "/purges/{purge}/decision",
    operation_id="decidePurge",
    summary="Approve or reject a purge that waits for a second person",
    response_class=Response,
    responses=answers({200: Answer("The decision is taken", json_content("Purge"))}, problems=_PROBLEMS),
    openapi_extra=extra(headers=READ_STATE_HEADER, body={_JSON: {"schema": reference("Decision")}}),
)
async def decide_purge(request: Request, caller: Caller, purge: PurgeId) -> Response:
    """Has another administrator approve a purge, which is then carried out; anyone of them may reject it."""

    def decided(purges: Purges, identifier: UUID, media_type: str, body: bytes) -> Future[PurgeRecord]:
        decision, comment, signature = read_decision(media_type, body)
        if signature is not None:
            raise InvalidParameter("a purge takes no signature", remedy="leave it out", where="/signature")
        if comment is not None:
            raise InvalidParameter("a purge takes no comment", remedy="leave it out", where="/comment")
        return purges.decide(identifier, decision, caller)

    return await _brought_on(request, caller, purge, decided)


@router.post(
    "/purges/{purge}/restore",
    operation_id="restorePurged",
    summary="Lift the tombstones of a purge",
    response_class=Response,
    responses=answers({200: Answer("They are lifted", json_content("Purge"))}, problems=_PROBLEMS),
    openapi_extra=extra(headers=READ_STATE_HEADER, body={_JSON: {"schema": reference("RestoreRequest")}}),
)
async def restore_purged(request: Request, caller: Caller, purge: PurgeId) -> Response:
    """Lets what was purged be written again, under a certificate; what is gone stays gone."""

    def restored(purges: Purges, identifier: UUID, media_type: str, body: bytes) -> Future[PurgeRecord]:
        return purges.restore(identifier, read_reason(media_type, body), caller)

    return await _brought_on(request, caller, purge, restored)


async def carried_out(service: Service, wanted: PurgeRequest) -> PurgeRecord:
    """A purge once it is carried out, or kept for a second person where there has to be one; raises as that does."""
    purges = service.base.purges
    asked = purges.ask(wanted) if service.settings.purge_second_person else purges.purge(wanted)
    return await answer_of(asked)


async def _brought_on(
    request: Request,
    caller: Principal,
    purge: str,
    step: Callable[[Purges, UUID, str, bytes], Future[PurgeRecord]],
) -> Response:
    """What becomes of a purge by a step that the body describes: taken by its id, media type and body."""
    query_parameters(request, ())
    require_purger(caller)
    service, identifier = Service.of(request), purge_named(purge)
    body = await read_body(request, service.settings.body_limit)
    taken = step(service.base.purges, identifier, body_type(request.headers.get("content-type")), body)
    return json_reply(_told(await answer_of(taken)))


def purge_named(text: str) -> UUID:
    """The id in the path; what is no id names nothing."""
    try:
        return certificate_named(text)
    except NotFound:
        raise NotFound("there is no such purge", remedy="list them with GET /purges") from None


async def previewed(service: Service, caller: Principal, target: Target) -> models.PurgePreview:
    """How much a purge would take. Raises as `Purger.survey` does, and `Forbidden`."""
    survey = await service.read(lambda: service.base.purges.preview(caller, target))
    counts = survey.counts
    return {
        "digest": survey.digest,
        "facts": counts["facts"],
        "evidence": counts["evidence"],
        "planItems": counts["planItems"],
        "findings": counts["findings"],
        "impactRows": counts["impactRows"],
        "comments": counts["comments"],
        "rejected": counts["rejected"],
        "stagedLoads": counts["stagedLoads"],
        "allTextsSearched": survey.in_words,
        "graphStays": survey.graph_stays,
        "stays": [*survey.stays],
    }


def _told(record: PurgeRecord) -> models.Purge:
    answer: models.Purge = {
        "purge": urn(record.id),
        "state": record.state,
        "of": record.kind,
        "askedBy": record.asked_by,
        "askedAt": print_instant(record.asked_at),
    }
    if record.state is PurgeState.WAITING and record.target is not None:
        answer["waiting"] = {"target": record.target, "reason": record.reason or "", "digest": record.digest}
    if record.decided_by is not None:
        answer["decidedBy"] = record.decided_by
    if record.head is not None:
        answer["head"] = record.head
    if record.report is not None:
        report = json.loads(record.report)
        answer["facts"], answer["evidence"] = report["facts"], report["evidence"]
        answer["items"] = sum(report[name] for name in ("planItems", "findings", "impactRows", "comments"))
        answer["tombstones"] = report["tombstones"]
    if record.receipt is not None:
        answer["receipt"] = json.loads(record.receipt)
    if record.restored_by is not None:
        answer["restoredBy"] = urn(record.restored_by)
    return answer
