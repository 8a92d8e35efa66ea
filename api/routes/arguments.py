"""`GET /arguments`: what supports, opposes and implies a claim, and what follows from it, each step with its proof.

Rules
-----
* A claim is named by a fact, or by a node that reifies a triple (`fact`), or by its triple (`subject`, `predicate`,
  `object`). What is argued about one that nobody ever made is nothing; a fact that the caller may not read is no other.
* Arguments hold at `valid-at` and were known at `as-of`, as facts do (`api.routes.facts`). A page has a tag of its
  state.
* A step is stated by a fact, or follows by a rule from two steps before it. The claim asked for has the number 0.

Example
-------
::

    GET /arguments?fact=urn:uuid:… → 200 {"claims": […], "steps": […], "opposedBy": [0, 2], …, "complete": true}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import answers as written
from api.callers.auth import Caller
from api.http.conditional import answered_at
from api.http.moments import AS_OF, DATETIME_HEADER, VALID_AT, asked_moment
from api.http.openapi import Answer, answers, extra, json_content
from api.http.parameters import Parameter, query_parameters
from api.http.validators import NONE_MATCH_HEADER, UNCHANGED
from api.routes.facts import OBJECT, PREDICATE, SUBJECT, object_asked
from api.service import Service
from bridge.review.arguments import ArgumentReader
from kernel.errors import InvalidParameter
from kernel.rules.arguments import Relation, Stated
from kernel.terms import TripleTerm

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from api.http.parameters import Parameters
    from api.models import arguments as models
    from bridge.reading.moments import Moment
    from bridge.review.arguments import Argued, ClaimFound, StatedBy
    from kernel.access import Principal
    from kernel.rules.arguments import Claim, Step

_IRI: Final[dict[str, object]] = {"type": "string", "format": "iri"}
FACT: Final = Parameter(
    "fact", "a fact, or a node that reifies a triple", _IRI, "urn:uuid:01970000-0000-8000-8000-000000000000"
)
_TRIPLE: Final = (SUBJECT, PREDICATE, OBJECT)
_PARAMETERS: Final = (FACT, *_TRIPLE, VALID_AT, AS_OF)

router = APIRouter(tags=["reading"])


@router.get(
    "/arguments",
    operation_id="listArguments",
    summary="Tell what is argued about a claim",
    response_class=Response,
    responses=answers(
        {200: Answer("What is argued about it", json_content("Arguments")), **UNCHANGED}, problems=(400, 401, 422, 503)
    ),
    openapi_extra=extra(parameters=_PARAMETERS, headers=NONE_MATCH_HEADER | DATETIME_HEADER),
)
async def list_arguments(request: Request, caller: Caller) -> Response:
    """Tells what supports, opposes or implies a claim, and what it does so itself: stated, or following by rules."""
    parameters = query_parameters(request, _PARAMETERS)
    service = Service.of(request)
    claim = _claim(parameters, service)
    asked = await asked_moment(request, parameters)

    def answer(moment: Moment) -> Awaitable[object]:
        return service.read(lambda: written_arguments(argued(service, caller, claim, moment)))

    return await answered_at(request, caller, asked, answer)


def argued(service: Service, principal: Principal, claim: Claim, moment: Moment) -> Argued:
    """What is argued about a claim."""
    reader = ArgumentReader(service.base.reader, service.base.ledger)
    return reader.about(principal, claim, moment, seconds=service.settings.limits_of(principal.highest).seconds)


def _claim(parameters: Parameters, service: Service) -> Claim:
    """The claim that is asked about. Raises `InvalidParameter` where none is named, or two are."""
    canonicaliser = service.base.canonicaliser
    fact = parameters.iri(FACT, canonicaliser)
    subject, predicate = (parameters.iri(each, canonicaliser) for each in (SUBJECT, PREDICATE))
    value = object_asked(parameters, canonicaliser)
    triple = (subject, predicate, value)
    if fact is not None and triple == (None, None, None):
        return fact
    if fact is None and subject is not None and predicate is not None and value is not None:
        return TripleTerm(subject, predicate, value)
    raise InvalidParameter(
        "it is not said which claim is meant",
        remedy="give a fact, or else subject, predicate and object, and not both",
        where=FACT.name,
    )


def written_arguments(found: Argued) -> models.Arguments:
    """What is argued about a claim, as JSON."""
    numbers = {claim.claim: number for number, claim in enumerate(found.claims)}
    places = {id(step): number for number, step in enumerate(found.steps)}

    def listed(steps: list[Step]) -> list[int]:
        return [places[id(step)] for step in steps]

    return {
        "claims": [_claim_found(claim) for claim in found.claims],
        "steps": [_step(step, found, numbers, places) for step in found.steps],
        "supportedBy": listed(found.into(Relation.SUPPORTS)),
        "opposedBy": listed(found.into(Relation.OPPOSES)),
        "impliedBy": listed(found.into(Relation.IMPLIES)),
        "supports": listed(found.out(Relation.SUPPORTS)),
        "opposes": listed(found.out(Relation.OPPOSES)),
        "implies": listed(found.out(Relation.IMPLIES)),
        "complete": found.complete,
    }


def _claim_found(found: ClaimFound) -> models.Claim:
    return {
        "claim": written.value(found.claim),
        "names": [name.value for name in found.names],
        "claimed": [_stated(each) for each in found.claimed],
        "believed": [written.fact(each) for each in found.believed],
    }


def _stated(stated: StatedBy) -> models.StatedFact:
    return {"fact": written.fact(stated.found), "by": stated.by}


def _step(step: Step, found: Argued, numbers: dict[Claim, int], places: dict[int, int]) -> models.Argument:
    answer: models.Argument = {
        "relation": step.relation,
        "claim": numbers[step.one],
        "about": numbers[step.other],
    }
    if isinstance(step, Stated):
        answer["stated"] = _stated(found.stated[step.fact])
    else:
        rule = step.rule
        answer["rule"] = {"first": rule.first, "then": rule.then, "back": rule.back, "gives": rule.gives}
        answer["premises"] = [places[id(premise)] for premise in step.premises]
    return answer
