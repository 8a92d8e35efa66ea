"""`/node/timeline?iri=…`: all facts of a node on both time axes, drawn and as a table.

Rules
-----
* Drawn is what the history of the node has (`Reader.history`), up to `MOST` facts: what is said of one predicate
  together, out of the node or into it. Of more, it is said that there is more.
* `predicate` shows what is of one predicate alone, a page at a time, so that each fact has a name in the picture.
* The table has all that the drawing has, in its order, a page at a time.

Example
-------
::

    GET /node/timeline?iri=https%3A%2F%2Fexample.org%2Fada&as-of=head:41
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.http.moments import AS_OF
from api.http.parameters import Parameter
from api.pages.apart import Plotted
from api.pages.drawing import Role
from api.pages.effects import drawn, fact_shown
from api.pages.names import names_for
from api.pages.node import NODE, end_of, nodes_told
from api.pages.paging import PagerShown
from api.pages.planes import MOST_NAMED, planes
from api.pages.rendering import page
from api.pages.times import at
from api.pages.visible import HEADING, clipped
from api.pages.visiting import Visitor, page_parameters, time_of
from api.service import Service
from kernel.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from api.http.parameters import Parameters
    from api.pages.terms import Names
    from api.pages.visiting import Visit
    from bridge.reading.facts import FoundFact
    from kernel.terms import Iri

PREDICATE: Final = Parameter(
    "predicate", "what is of this predicate alone", {"type": "string"}, "https://example.org/livesIn"
)
FROM: Final = Parameter(
    "from-fact", "from which fact on", {"type": "integer", "minimum": 1, "maximum": 2**53 - 1}, "41"
)
_PARAMETERS: Final = (NODE, AS_OF, PREDICATE, FROM)

MOST: Final = 500
"""Facts that are drawn."""

_ROWS: Final = 100

router = APIRouter(include_in_schema=False)


@router.get("/node/timeline", response_class=Response)
async def timeline(request: Request, visit: Visitor) -> Response:
    """The page of one node's facts on both axes."""
    parameters = page_parameters(request, _PARAMETERS)
    service = Service.of(request)
    canonicaliser = service.base.canonicaliser
    iri, predicate = (parameters.iri(each, canonicaliser) for each in (NODE, PREDICATE))
    if iri is None:
        raise InvalidParameter("which node is not said", remedy="give its IRI", where=NODE.name)
    content = await service.read(lambda: _content(service, visit, iri, predicate, parameters))
    return page(request, "timeline.html", visit, content)


def path_of(iri: str, **more: str) -> str:
    """Where the page of a node is."""
    return "/node/timeline?" + urlencode({NODE.name: iri, **more})


def _content(
    service: Service, visit: Visit, iri: Iri, predicate: Iri | None, parameters: Parameters
) -> Mapping[str, object]:
    reader = service.base.reader
    moment = reader.moment(time_of(parameters, AS_OF))
    history = reader.history(visit.principal, iri, moment.as_of, limit=MOST)
    of_kind = [each for each in history.found if predicate in (None, each.fact.statement.predicate)]
    facts = sorted(of_kind, key=lambda found: _order(found, iri))
    size = _ROWS if predicate is None else MOST_NAMED
    first = parameters.number(FROM, default=1) - 1
    if first >= max(len(facts), 1):
        raise InvalidParameter(f"there are {len(facts):,} facts", remedy="begin with the first", where=FROM.name)
    shown = facts[first : first + size]
    names = names_for(reader, visit.principal, nodes_told(iri, facts))
    asked = {each.name: text for each in (AS_OF, PREDICATE) if (text := parameters.text(each)) is not None}
    # Of one predicate a page is drawn; of all of them all, for many are drawn small.
    to_draw = facts if predicate is None else shown
    now = service.base.host.now() if moment.as_of is None else moment.as_of
    return {
        "node": names(iri),
        "as_of": parameters.text(AS_OF) or "",
        "known_at": None if moment.as_of is None else at(moment.as_of),
        "predicate": None if predicate is None else names(predicate),
        "asked": asked,
        "all_path": path_of(iri.value, **{name: text for name, text in asked.items() if name == AS_OF.name}),
        "drawing": planes([_plotted(each, iri, names, asked) for each in to_draw], [now]),
        "total": len(facts),
        "more": history.more,
        "rows": [(fact_shown(each.fact, each.evidence, names), end_of(each)) for each in shown],
        "pager": _pager(iri.value, asked, first, len(facts), size),
    }


def _order(found: FoundFact, iri: Iri) -> tuple[bool, str, int, int]:
    """What it says before what is said of it, by predicate, by start, then as it was recorded."""
    fact = found.fact
    return fact.statement.subject != iri, fact.statement.predicate.value, fact.interval.start, fact.recorded_at


def _plotted(found: FoundFact, iri: Iri, names: Names, asked: Mapping[str, str]) -> Plotted:
    fact, statement = found.fact, found.fact.statement
    out = statement.subject == iri
    verb = clipped(names(statement.predicate).text, HEADING)
    role = Role.OLD if fact.superseded else Role.KEPT
    box = drawn(fact, found.evidence, names, role, by_object=() if out else (statement.predicate,))
    more = path_of(iri.value, **{**asked, PREDICATE.name: statement.predicate.value})
    until = None if fact.superseded is None else fact.superseded.at
    heading = verb if out else f"{verb} (of others, which lead here)"
    return Plotted((out, statement.predicate), fact.content.family, heading, box, until, more)


def _pager(iri: str, asked: Mapping[str, str], first: int, total: int, size: int) -> PagerShown | None:
    if total <= size:
        return None

    def path(number: int) -> str:
        return path_of(iri, **{**asked, FROM.name: str(number + 1)}) + "#facts"

    last = min(first + size, total)
    before = None if first == 0 else path(max(first - size, 0))
    return PagerShown(first + 1, last, None if first == 0 else path(0), before, path(last) if last < total else None)
