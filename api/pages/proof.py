"""`/proof?subject=…&predicate=…&object=…`: how a statement follows, step by step, down to certificates.

Rules
-----
* It is what `GET /explain` gives the same caller (`api.routes.explain`). Without a statement there is a form for one.
* Each step says by which rule it follows from which others, which it leads to; what is asserted leads to its
  certificates.

Example
-------
::

    GET /proof?subject=urn:ann&predicate=…type&object=urn:Person&entailment=rdfs
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.http.moments import AS_OF, VALID_AT
from api.pages.names import names_for
from api.pages.rendering import page
from api.pages.terms import iris_of
from api.pages.times import Words, at
from api.pages.visiting import Visitor, page_parameters, time_of
from api.routes.explain import PARAMETERS, asked, explained
from api.routes.facts import OBJECT, PREDICATE, SUBJECT
from api.routes.sparql import ENTAILMENT
from api.service import Service
from kernel.time.instants import BEGINNING, FOREVER, Instant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from api.http.parameters import Parameters
    from api.pages.terms import Names, Shown
    from bridge.entailment.explaining import Explained, Explanation
    from kernel.access import Principal
    from kernel.terms import Iri

_NAMED = (SUBJECT, PREDICATE, OBJECT, ENTAILMENT, VALID_AT, AS_OF)

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class StepShown:
    """A statement of a proof.

    Args:
        terms: subject, predicate and object.
        rule: by which it follows; None: it is asserted.
        premises: the numbers of what it follows from.
        certificates: that brought the facts that assert it, and the graphs of these.
        start: since when it holds by this proof; None: always.
        end: until when.
        cut: whether its premises are left out.
    """

    terms: tuple[Shown, Shown, Shown]
    rule: str | None
    premises: tuple[int, ...]
    certificates: tuple[tuple[UUID, Shown], ...]
    start: Words | None
    end: Words | None
    cut: bool


@router.get("/proof", response_class=Response)
async def proof(request: Request, visit: Visitor) -> Response:
    """A proof, and a form for another."""
    parameters = page_parameters(request, PARAMETERS)
    service = Service.of(request)
    chosen = {each.name: parameters.text(each) or "" for each in _NAMED}
    regimes = [each.value for each in service.settings.entailment.regimes]
    content: dict[str, object] = {"chosen": chosen, "regimes": regimes, "steps": [], "true_at": None}
    if any(chosen[each.name] for each in (SUBJECT, PREDICATE, OBJECT)):
        found = await _found(request, visit.principal, parameters)
        names = await service.read(lambda: names_for(service.base.reader, visit.principal, set(_nodes(found))))
        content |= {"steps": [_shown(each, names) for each in found.proof], "true_at": at(found.past.valid_at)}
    return page(request, "proof.html", visit, content)


async def _found(request: Request, principal: Principal, parameters: Parameters) -> Explanation:
    reader = Service.of(request).base.reader
    moment = reader.moment(time_of(parameters, AS_OF), time_of(parameters, VALID_AT))
    return await explained(request, principal, asked(request, parameters), moment)


def _nodes(found: Explanation) -> Iterator[Iri]:
    """Every node that has to be called something."""
    for each in found.proof:
        yield from iris_of(each.subject, each.predicate, each.value)
        yield from (held.fact.statement.graph for held in each.facts)


def _shown(each: Explained, names: Names) -> StepShown:
    start, end = each.during.start, each.during.end
    return StepShown(
        (names(each.subject), names(each.predicate), names(each.value)),
        each.rule,
        tuple(place + 1 for place in each.premises),
        tuple((held.fact.certificate, names(held.fact.statement.graph)) for held in each.facts),
        None if start == BEGINNING else at(Instant(start)),
        None if end == FOREVER else at(Instant(end)),
        each.cut,
    )
