"""`/node?iri=…`: what is said of a node, at any pair of times, and how that came to be.

Rules
-----
* Statements out of the node and into it are read as `GET /facts` reads them, for the same caller, a page at a time: a
  node with any number of them has a page of bounded size.
* Of a fact, and of a node that reifies a triple, it is told what is argued about that claim (`api.pages.arguments`).
* The history is of all times; `as-of` alone narrows it down. It is drawn one lane a fact, what is no longer believed
  hatched, and stands in a table as well, with the certificate that recorded each and the one that superseded it.

Example
-------
::

    GET /node?iri=https%3A%2F%2Fexample.org%2Fada&valid-at=1840&as-of=head:41
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.http.moments import AS_OF, VALID_AT
from api.http.parameters import Parameter
from api.pages.arguments import argued_shown, nodes_argued
from api.pages.drawing import MOST_LANES, Role, timeline
from api.pages.effects import drawn, fact_shown
from api.pages.names import names_for
from api.pages.rendering import page
from api.pages.terms import iris_of
from api.pages.times import at
from api.pages.visiting import Visitor, page_parameters, time_of
from api.routes.arguments import argued
from api.routes.facts import place_named, place_text
from api.service import Service
from bridge.reading.facts import FactFilter
from bridge.review.plans import kind_of
from kernel.errors import InvalidParameter
from kernel.terms import RDF, Iri

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from api.http.parameters import Parameters
    from api.pages.visiting import Visit
    from bridge.reading.facts import FactPage, FoundFact

_TEXT: Final[dict[str, object]] = {"type": "string"}
NODE: Final = Parameter("iri", "the node, an IRI", _TEXT, "https://example.org/ada", required=True)
OUT_AFTER: Final = Parameter("out-after", "where the list of what it says goes on", _TEXT, "AAAAAAAA")
IN_AFTER: Final = Parameter("in-after", "where the list of what is said of it goes on", _TEXT, "AAAAAAAA")
_PARAMETERS: Final = (NODE, VALID_AT, AS_OF, OUT_AFTER, IN_AFTER)

_PAGE: Final = 50
_TYPE: Final = Iri(RDF + "type")

router = APIRouter(include_in_schema=False)


@router.get("/node", response_class=Response)
async def node(request: Request, visit: Visitor) -> Response:
    """The page of one node."""
    parameters = page_parameters(request, _PARAMETERS)
    service = Service.of(request)
    iri = parameters.iri(NODE, service.base.canonicaliser)
    if iri is None:
        raise InvalidParameter("which node is not said", remedy="give its IRI", where=NODE.name)
    content = await service.read(lambda: _content(service, visit, iri, parameters))
    return page(request, "node.html", visit, content)


def _content(service: Service, visit: Visit, iri: Iri, parameters: Parameters) -> Mapping[str, object]:
    base, seconds = service.base, service.settings.limits_of(visit.principal.highest).seconds
    as_of, valid_at = time_of(parameters, AS_OF), time_of(parameters, VALID_AT)
    moment, principal = base.reader.moment(as_of, valid_at), visit.principal
    places = {each.name: parameters.text(each) for each in (OUT_AFTER, IN_AFTER)}

    def read(wanted: FactFilter, where: Parameter) -> FactPage:
        text = places[where.name]
        after = None if text is None else place_named(text, where=where.name)
        return base.reader.facts(principal, wanted, moment, limit=_PAGE, after=after, seconds=seconds)

    out, into = read(FactFilter(subject=iri), OUT_AFTER), read(FactFilter(object=iri), IN_AFTER)
    history = base.reader.history(principal, iri, moment.as_of, limit=MOST_LANES)
    found = argued(service, principal, iri, moment)
    nodes = nodes_told(iri, (*out.found, *into.found, *history.found)) | nodes_argued(found)
    names = names_for(base.reader, principal, nodes)
    lanes = sorted(history.found, key=_lane)
    # The base's clock stands at its last boundary, and nothing has begun or ended since: what holds there holds now.
    clock = base.host.now() if moment.valid_at is None else moment.valid_at
    chosen = {NODE.name: iri.value} | {each.name: parameters.text(each) or "" for each in (VALID_AT, AS_OF)}
    return {
        "node": names(iri),
        "chosen": chosen,
        "kinds": [names(each.fact.statement.object) for each in out.found if each.fact.statement.predicate == _TYPE],
        "arguments": argued_shown(found, names),
        "known_at": None if moment.as_of is None else at(moment.as_of),
        "true_at": at(clock),
        "out": [fact_shown(each.fact, each.evidence, names) for each in out.found],
        "out_next": _following(out, chosen, OUT_AFTER),
        "into": [fact_shown(each.fact, each.evidence, names) for each in into.found],
        "into_next": _following(into, chosen, IN_AFTER),
        "paged": [name for name, text in places.items() if text is not None],
        "now_path": "/node?" + urlencode({NODE.name: iri.value}),
        "history": [(fact_shown(each.fact, each.evidence, names), end_of(each)) for each in lanes],
        "more_history": history.more,
        "compare_path": "/compare?" + urlencode({"node": iri.value}),
        "timeline_path": "/node/timeline?"
        + urlencode({NODE.name: iri.value} | ({AS_OF.name: as_of} if as_of is not None else {})),
        "timeline": timeline(
            [
                drawn(each.fact, each.evidence, names, Role.OLD if each.fact.superseded else Role.KEPT, node=iri)
                for each in lanes
            ],
            clock,
        ),
    }


def end_of(found: FoundFact) -> str | None:
    """What the certificate that superseded a fact did to it, in the word for that."""
    return kind_of((found.fact,), found.successors).value if found.fact.superseded else None


def nodes_told(iri: Iri | None, found: Iterable[FoundFact]) -> set[Iri]:
    """Every node that has to be called something on a page of one."""
    nodes = set() if iri is None else {iri}
    for each in found:
        statement = each.fact.statement
        nodes |= iris_of(statement.subject, statement.predicate, statement.object, statement.graph)
        nodes |= {item.content.episode for item in each.evidence if item.content.episode is not None}
    return nodes


def _lane(found: FoundFact) -> tuple[str, str, int, int]:
    """The order of lanes: what is of one predicate together, by start, then as it was recorded."""
    fact = found.fact
    return fact.statement.predicate.value, fact.statement.graph.value, fact.interval.start, fact.recorded_at


def _following(found: FactPage, chosen: Mapping[str, str], where: Parameter) -> str | None:
    if not found.more:
        return None
    asked = {name: value for name, value in chosen.items() if value}
    return "/node?" + urlencode({**asked, where.name: place_text(found.found[-1].place)})
