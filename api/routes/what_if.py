"""`/what-if`: plans that are held for a while as a branch, to be judged, queried, and submitted whole or dropped.

Rules (NothingLeaks)
-----
* A branch takes what `POST /changes` takes, plan after plan, and is judged as a dry run is: findings, verdict, impact.
  What it would come to is told for the head of now, and that head with it: a branch follows the base.
* It is its maker's, and administrators'. For all others it is as one that never was, whatever they ask of it.
* `/what-if/{branch}/sparql` is `/sparql` for the base with the branch: the same rights, limits, formats and moments.
  Nothing of it leaves the service, so SERVICE is not taken; nothing is tagged, and nothing kept for the next caller.
* Submitting it is `POST /changes` for all of its plans, under one certificate, judged anew. The answer says besides
  what is otherwise than when its maker looked last. To submit twice is to submit once; refused, it stays open.
* Nothing is written before that. Who has to cite what they read does so with submitting alone.

Example
-------
::

    POST /what-if {"changes": […]} → 201 {"branch": "0197…", "verdict": "review", "findings": […], "head": 41, …}
    GET /what-if/0197…/sparql?query=… → the base as it would be
    POST /what-if/0197…/submit → 201 {"certificate": "urn:uuid:…", …, "since": {"head": 41, "verdict": "review", …}}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api import answers as written
from api.callers.access_log import note_query
from api.callers.auth import Caller
from api.callers.citing import READ_STATE_HEADER
from api.http.bodies import read_body
from api.http.media import body_type
from api.http.moments import DATETIME_HEADER, asked_moment
from api.http.openapi import Answer, answers, extra, form_content, json_content, text_content
from api.http.parameters import query_parameters, read_parameters
from api.http.replies import json_reply, state_headers
from api.routes.branching import branch_named, foretold_of, looked_at, submitted
from api.routes.changes import LOCATION, known_with, place_in, read_request, reply
from api.routes.document_request import DOCUMENT_BODIES, DOCUMENT_PARAMETERS, REASON
from api.routes.query_answers import MIN_HEAD_HEADER, reach, sent, unless_gone
from api.routes.sparql import (
    ALL,
    ANSWERS,
    BESIDE_THE_QUERY,
    FORM,
    QUERY,
    READ,
    asked_query,
    posted,
    posted_query,
    text_of,
)
from api.routes.sparql_update import UPDATE, is_update
from api.service import Service
from bridge.review.certificates import readable_findings
from certificates.ids import urn
from kernel.changes import Request as Changes
from kernel.errors import CallerError, InvalidDocument, MunimentError, QueryRefused, StateMoved
from kernel.time.instants import Instant, print_instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from api.http.parameters import Parameters
    from api.models import branches, outcomes
    from certificates.findings import Finding
    from kernel.access import Principal
    from kernel.writing.branches import Branch, Foretold
    from kernel.writing.submitting import Outcome

PATH: Final = "/what-if"
ATTEMPTS: Final = 5
"""How often a query is asked where the base moves on meanwhile, and touches what the branch does."""

_SINCE: Final = 50
"""Findings of a kind that are told as new, or as gone."""

_NO_STORE: Final = {"Cache-Control": "no-store"}
_PLAN: Final = json_content("ChangeRequest") | DOCUMENT_BODIES
_REFUSALS: Final = (400, 401, 403, 404, 409, 413, 415, 422, 503)

BranchId = Annotated[str, Path(description="the id of the branch", examples=["01970000-0000-7000-8000-000000000000"])]

router = APIRouter(tags=["what if"])


@router.post(
    PATH,
    operation_id="whatIf",
    summary="Hold changes as a branch, and see what they would come to",
    response_class=Response,
    status_code=201,
    responses=answers({201: Answer("Held, and judged", json_content("WhatIf"), LOCATION)}, problems=_REFUSALS),
    openapi_extra=extra(parameters=DOCUMENT_PARAMETERS, body=_PLAN),
)
async def make(request: Request, caller: Caller) -> Response:
    """Holds a plan as a branch: judged as a dry run is, open to queries, and seen by its maker and administrators."""
    service = Service.of(request)
    media_type, wanted, size = await _plan(request, caller)
    branch = service.branches.make(caller, wanted, size)
    answer = await _judged(service, caller, None, branch, media_type)
    return json_reply(answer, 201, _NO_STORE | {"Location": f"{PATH}/{branch.id}"})


@router.get(
    PATH,
    operation_id="listWhatIfs",
    summary="List your branches",
    response_class=Response,
    responses=answers({200: Answer("Those that are held", json_content("WhatIfList"))}, problems=(400, 401, 503)),
    openapi_extra=extra(),
)
async def list_branches(request: Request, caller: Caller) -> Response:
    """Lists the branches of the caller; all of them to administrators of the base."""
    query_parameters(request, ())
    answer: branches.WhatIfList = {"items": [_summary(each) for each in Service.of(request).branches.of(caller)]}
    return json_reply(answer, headers=_NO_STORE)


@router.get(
    PATH + "/{branch}",
    operation_id="getWhatIf",
    summary="Get a branch, and what it would come to now",
    response_class=Response,
    responses=answers({200: Answer("The branch", json_content("WhatIf"))}, problems=(400, 401, 403, 404, 409, 503)),
    openapi_extra=extra(),
)
async def get(request: Request, caller: Caller, branch: BranchId) -> Response:
    """Gives a branch; where the base has moved since it was judged, it is judged again."""
    query_parameters(request, ())
    held, foretold, problem = await looked_at(Service.of(request), caller, branch_named(branch))
    return json_reply(_told(held, foretold, problem, caller), headers=_NO_STORE)


@router.post(
    PATH + "/{branch}/plans",
    operation_id="addToWhatIf",
    summary="Add a plan to a branch",
    response_class=Response,
    responses=answers({200: Answer("Added, and judged with those before", json_content("WhatIf"))}, problems=_REFUSALS),
    openapi_extra=extra(parameters=DOCUMENT_PARAMETERS, body=_PLAN),
)
async def add(request: Request, caller: Caller, branch: BranchId) -> Response:
    """Adds changes that see those before them, and judges all of it. What cannot be planned leaves the branch be."""
    service, identifier = Service.of(request), branch_named(branch)
    service.branches.one(caller, identifier)
    media_type, wanted, size = await _plan(request, caller)
    before, after = service.branches.add(caller, identifier, wanted, size)
    return json_reply(await _judged(service, caller, before, after, media_type), headers=_NO_STORE)


@router.post(
    PATH + "/{branch}/submit",
    operation_id="submitWhatIf",
    summary="Submit a branch whole",
    response_class=Response,
    status_code=201,
    responses=answers(
        {
            200: Answer("It was submitted before, and decided on since", json_content("SubmittedWhatIf")),
            201: Answer("Certified and applied", json_content("SubmittedWhatIf"), LOCATION),
            202: Answer("Certified; it waits for an editor", json_content("SubmittedWhatIf"), LOCATION),
            422: Answer(
                "Certified as refused (with `Location`), or not to be planned", json_content("SubmittedWhatIf")
            ),
        },
        problems=_REFUSALS,
    ),
    openapi_extra=extra(parameters=(REASON,), headers=READ_STATE_HEADER),
)
async def submit(request: Request, caller: Caller, branch: BranchId) -> Response:
    """Asks for the changes of all its plans, as one: they are planned and judged anew, at the head of now."""
    parameters = query_parameters(request, (REASON,))
    await _no_body(request)
    service, identifier = Service.of(request), branch_named(branch)
    _, before = service.branches.one(caller, identifier)
    outcome = await submitted(service, caller, identifier, parameters.text(REASON))
    answer = reply(outcome, caller, None if before is None else {"since": _since(before, outcome, caller)})
    answer.headers["Cache-Control"] = "no-store"
    return answer


@router.delete(
    PATH + "/{branch}",
    operation_id="dropWhatIf",
    summary="Drop a branch",
    response_class=Response,
    responses=answers(
        {200: Answer("As it was held", json_content("WhatIfSummary"))}, problems=(400, 401, 404, 413, 503)
    ),
    openapi_extra=extra(),
)
async def drop(request: Request, caller: Caller, branch: BranchId) -> Response:
    """Drops a branch, whatever it holds."""
    query_parameters(request, ())
    await _no_body(request)
    return json_reply(_summary(Service.of(request).branches.drop(caller, branch_named(branch))), headers=_NO_STORE)


@router.get(
    PATH + "/{branch}/sparql",
    operation_id="queryWhatIf",
    summary="Ask a SPARQL query of the base with a branch",
    response_class=Response,
    responses=ANSWERS | answers({}, problems=(404, 409, 504)),
    openapi_extra=extra(parameters=ALL, headers=MIN_HEAD_HEADER | DATETIME_HEADER),
)
async def query(request: Request, caller: Caller, branch: BranchId) -> Response:
    """As `/sparql`, for the base as it would be with the branch."""
    parameters = read_parameters(READ, request.scope["query_string"])
    return await _ask(request, caller, branch, text_of(parameters), parameters)


@router.post(
    PATH + "/{branch}/sparql",
    operation_id="postQueryWhatIf",
    summary="Ask a longer SPARQL query of the base with a branch",
    response_class=Response,
    responses=ANSWERS | answers({}, problems=(404, 409, 413, 415, 504)),
    openapi_extra=extra(
        parameters=BESIDE_THE_QUERY,
        headers=MIN_HEAD_HEADER | DATETIME_HEADER,
        body=text_content([QUERY], "SELECT * { ?s ?p ?o } LIMIT 10") | form_content(ALL),
    ),
)
async def post_query(request: Request, caller: Caller, branch: BranchId) -> Response:
    """As `/sparql`, without updates."""
    media_type, body = await posted(request, (FORM, QUERY, UPDATE))
    if media_type == UPDATE or (media_type == FORM and is_update(body)):
        raise QueryRefused(
            "a branch is not updated by SPARQL", remedy=f"add a plan to it with POST {PATH}/…/plans", where="update"
        )
    text, parameters = await posted_query(request, media_type, body, READ, BESIDE_THE_QUERY)
    return await _ask(request, caller, branch, text, parameters)


# --- judging ----------------------------------------------------------------------------------------------------------


async def _plan(request: Request, caller: Principal) -> tuple[str, Changes, int]:
    service = Service.of(request)
    media_type = body_type(request.headers.get("content-type"))
    parameters = query_parameters(request, known_with(media_type))
    body = await read_body(request, service.settings.body_limit)
    return media_type, await read_request(service, body, media_type, parameters, caller), len(body)


async def _judged(
    service: Service, caller: Principal, before: Branch | None, after: Branch, media_type: str
) -> branches.WhatIf:
    """What a plan that was just added leads to; one that cannot be planned is taken back."""
    try:
        foretold = await foretold_of(service, caller, after)
    except BaseException as error:
        service.branches.put_back(before, after)
        if isinstance(error, MunimentError):
            place, last = after.place(error.where), f"/plans/{len(after.plans) - 1}"
            posted = place is not None and place.startswith(f"{last}/")
            error.where = place_in(place.removeprefix(last), media_type) if place and posted else place
        raise
    return _told(after, foretold, None, caller)


# --- asking -----------------------------------------------------------------------------------------------------------


async def _ask(request: Request, caller: Principal, branch: str, text: str, parameters: Parameters) -> Response:
    service, identifier = Service.of(request), branch_named(branch)
    held, _ = service.branches.one(caller, identifier)
    await reach(request)
    asked, moment = asked_query(request, caller, text, parameters), await asked_moment(request, parameters)
    for _ in range(ATTEMPTS):
        question, over = await service.read(
            lambda: service.branch_reader.question(held, asked, moment.as_of, moment.valid_at)
        )
        note_query(request.scope, question.text, question.dataset)
        limits = service.settings.limits_of(caller.highest)
        found = await unless_gone(request, service.replicas.answer(question, limits, caller.id))
        head, clock = found.head, found.valid_at
        try:
            fits = await service.read(lambda: service.branch_reader.fits(over, head, clock))  # noqa: B023 - awaited
            service.branches.one(caller, identifier)  # it may have been dropped, or purged
        except BaseException:
            found.close()
            raise
        if fits:
            valid_at = clock if over is None else Instant(max(clock, over.at))
            return sent(
                found, {"Content-Type": found.media_type, **state_headers(head, valid_at), "Vary": "Accept"} | _NO_STORE
            )
        found.close()
    raise StateMoved(
        "the base changes what the branch is about faster than it can be asked", remedy="ask again in a moment"
    )


# --- what is told -----------------------------------------------------------------------------------------------------


def _summary(branch: Branch) -> branches.WhatIfSummary:
    answer: branches.WhatIfSummary = {
        "branch": str(branch.id),
        "maker": branch.maker,
        "state": "open" if branch.certificate is None else "submitted",
        "until": print_instant(branch.until),
        "plans": len(branch.plans),
        "changes": sum(len(each.changes) for each in branch.plans),
    }
    if branch.certificate is not None:
        answer["certificate"] = urn(branch.certificate)
    return answer


def _told(branch: Branch, foretold: Foretold | None, problem: CallerError | None, caller: Principal) -> branches.WhatIf:
    summary = _summary(branch)
    answer: branches.WhatIf = {
        "branch": summary["branch"],
        "maker": summary["maker"],
        "state": summary["state"],
        "until": summary["until"],
        "plans": summary["plans"],
        "changes": summary["changes"],
        "head": None,
        "verdict": None,
        "findings": [],
    }
    if "certificate" in summary:
        answer["certificate"] = summary["certificate"]
    if problem is not None:
        place = "" if problem.where is None else f"{problem.where}: "
        answer["why"] = f"it cannot be planned any more: {place}{problem.message}"
    if foretold is not None:
        outcome = foretold.outcome
        told = written.outcome(outcome, readable_findings(caller, outcome.findings))
        answer["head"], answer["verdict"] = foretold.head.position, told["verdict"]
        answer["findings"] = told["findings"]
        if "moreFindings" in told:
            answer["moreFindings"] = told["moreFindings"]
        if "why" in told:
            answer["why"] = told["why"]
    return answer


def _since(before: Foretold, outcome: Outcome, caller: Principal) -> branches.WhatIfSince:
    """What is otherwise than it was foretold, as far as the caller may see."""
    then, now = (readable_findings(caller, each) for each in (before.outcome.findings, outcome.findings))
    return {
        "head": before.head.position,
        "verdict": before.verdict,
        "found": _only(now, then),
        "gone": _only(then, now),
    }


def _only(these: Sequence[Finding], others: Sequence[Finding]) -> list[outcomes.Finding]:
    known = set(others)
    return [written.finding(each) for each in these if each not in known][:_SINCE]


async def _no_body(request: Request) -> None:
    if await read_body(request, Service.of(request).settings.body_limit):
        raise InvalidDocument("there is a body", remedy="send none", where="body")
