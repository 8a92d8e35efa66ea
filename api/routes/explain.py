"""`GET /explain`: how a statement follows, rule by rule, down to facts with their certificates.

Rules
-----
* A statement is named by `subject`, `predicate` and `object`. It is looked for in what follows for the caller, by the
  rules that `entailment` names, at `valid-at` and `as-of` as for a query; `graph`, which may be repeated, says from
  which graphs it is to follow. What does not hold there is 404.
* The proof is a list, the statement asked for first. Premises are places in it, from 0. What is asserted comes with the
  facts that assert it; `from` and `to` are while a statement holds by this proof.
* An answer has a tag of its state (`api.http.validators`).

Example
-------
::

    GET /explain?subject=urn:ann&predicate=…type&object=urn:Person&entailment=rdfs
    → 200 {"proof": [{"rule": "cax-sco", "premises": [1, 2], …}, …], …}
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
from api.routes.facts import GRAPH, OBJECT, PREDICATE, SUBJECT, object_asked
from api.routes.federation import in_time
from api.routes.query_answers import unless_gone
from api.routes.sparql import ENTAILMENT, entailment_of
from api.routes.sparql_update import DEFAULT_GRAPH, is_strict
from api.service import Service
from bridge.entailment.explaining import Asked, Explainer
from kernel.entailment.table import Regime
from kernel.errors import InvalidParameter
from kernel.terms import Iri
from kernel.time.instants import BEGINNING, FOREVER, Instant, print_instant

if TYPE_CHECKING:
    from api.http.parameters import Parameters
    from api.models import explanations as models
    from bridge.entailment.explaining import Explained, Explanation
    from bridge.reading.moments import Moment
    from kernel.access import Principal

GRAPHS: Final = Parameter(
    GRAPH.name, "a graph that it is to follow from, beside `m:ontology`", GRAPH.schema, GRAPH.example, repeatable=True
)
PARAMETERS: Final = (SUBJECT, PREDICATE, OBJECT, ENTAILMENT, GRAPHS, DEFAULT_GRAPH, VALID_AT, AS_OF)

router = APIRouter(tags=["reading"])


@router.get(
    "/explain",
    operation_id="explain",
    summary="Tell how a statement follows",
    response_class=Response,
    responses=answers(
        {200: Answer("Its proof", json_content("Explanation")), **UNCHANGED}, problems=(400, 401, 404, 422, 503, 504)
    ),
    openapi_extra=extra(parameters=PARAMETERS, headers=NONE_MATCH_HEADER | DATETIME_HEADER),
)
async def explain(request: Request, caller: Caller) -> Response:
    """Tells how a statement follows from what the caller may read, down to facts and their certificates."""
    parameters = query_parameters(request, PARAMETERS)
    wanted = asked(request, parameters)
    when = await asked_moment(request, parameters)

    async def proof(moment: Moment) -> object:
        return _written(await explained(request, caller, wanted, moment))

    return await answered_at(request, caller, when, proof)


def asked(request: Request, parameters: Parameters) -> Asked:
    """What is to be explained. Raises `InvalidParameter` and `InvalidTerm`."""
    service = Service.of(request)
    canonicaliser = service.base.canonicaliser
    subject, predicate = (parameters.iri(each, canonicaliser) for each in (SUBJECT, PREDICATE))
    value, regime = object_asked(parameters, canonicaliser), entailment_of(request, parameters)
    given = {SUBJECT.name: subject, PREDICATE.name: predicate, OBJECT.name: value, ENTAILMENT.name: regime}
    missing = next((name for name, each in given.items() if each is None), None)
    if subject is None or predicate is None or value is None or regime is None:
        raise InvalidParameter(
            f"{missing} is missing: what is to be explained has a subject, a predicate, an object, and rules",
            remedy="name all of them; of `entailment`, by which rules it follows: rdfs or owl-rl; none is no answer",
            where=missing or "",
        )
    graphs = tuple(map(Iri, parameters.texts(GRAPHS)))
    return Asked(subject, predicate, value, regime, graphs, is_strict(parameters, service.settings))


async def explained(request: Request, caller: Principal, wanted: Asked, moment: Moment) -> Explanation:
    """How it follows, within the time of a query of the caller. Raises as `Explainer.explain` does, and `BrokenOff`."""
    service = Service.of(request)
    base = service.base
    explainer = Explainer(base.ledger, base.reader, base.snapshots)
    limits = service.settings.limits_of(caller.highest)
    return await unless_gone(request, in_time(limits, explainer.explain(caller, wanted, moment)))


def _written(found: Explanation) -> models.Explanation:
    past = found.past
    return {
        "entailment": "rdfs" if found.regime is Regime.RDFS else "owl-rl",
        "head": past.head,
        "validAt": print_instant(past.valid_at),
        "proof": [_step(each) for each in found.proof],
    }


def _step(each: Explained) -> models.Proved:
    answer: models.Proved = {
        "subject": {"@id": each.subject.value},
        "predicate": {"@id": each.predicate.value},
        "object": written.value(each.value),
        "rule": each.rule,
        "premises": list(each.premises),
        "facts": [written.fact(found) for found in each.facts],
        "cut": each.cut,
    }
    if each.during.start != BEGINNING:
        answer["from"] = print_instant(Instant(each.during.start))
    if each.during.end != FOREVER:
        answer["to"] = print_instant(Instant(each.during.end))
    return answer
