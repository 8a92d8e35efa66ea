"""`/compare`: what differs between two moments, drawn and told, with the certificates that did it.

Rules
-----
* What is compared, and how, is as for `GET /diff` (`api.routes.diff`), for the same caller, within the same time.
  Without `from` there is the form alone; without graph and node, the default graph is compared.
* `at` is the one moment on the other axis.
* A page shows some of what differs, and says how much of it there is; the drawing is of what the page shows: hatched
  what held at the earlier moment, filled what holds at the later one.

Example
-------
::

    GET /compare?graph=https%3A%2F%2Fexample.org%2Fg&from=head:41&to=head:57
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.http.parameters import Parameter
from api.pages.apart import Plotted
from api.pages.drawing import Role
from api.pages.effects import FactShown, drawn, fact_shown
from api.pages.names import names_for
from api.pages.node import nodes_told
from api.pages.paging import PagerShown
from api.pages.planes import planes
from api.pages.rendering import page
from api.pages.times import at
from api.pages.visiting import Visitor, page_parameters, time_of
from api.routes.diff import AXIS, FROM, NODE, TO, compared
from api.routes.facts import GRAPH
from api.service import Service
from bridge.diffing.comparing import Axis, Comparison, sides_of
from kernel.errors import InvalidParameter
from kernel.vocabulary import DEFAULT_GRAPH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from api.http.parameters import Parameters
    from api.pages.terms import Names
    from api.pages.visiting import Visit
    from bridge.diffing.comparing import Entry, Side

AT: Final = Parameter("at", "the moment on the other axis", {"type": "string"}, "2024-05-06")
FIRST: Final = Parameter("from-entry", "from which entry on", {"type": "integer", "minimum": 1, "maximum": 10**9}, "41")
_FIELDS: Final = (GRAPH, NODE, FROM, TO, AXIS, AT)
_PARAMETERS: Final = (*_FIELDS, FIRST)

_SHOWN: Final = 40

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class EntryShown:
    """One thing that differs, for people."""

    kind: str
    before: FactShown | None
    after: FactShown | None
    certificates: tuple[UUID, ...]


@router.get("/compare", response_class=Response)
async def compare(request: Request, visit: Visitor) -> Response:
    """The form, and what differs between the moments that the address names."""
    parameters = page_parameters(request, _PARAMETERS)
    service = Service.of(request)
    chosen = {each.name: parameters.text(each) or "" for each in _FIELDS}
    if not chosen[FROM.name]:
        return page(request, "compare.html", visit, {"chosen": chosen, "diff": None})
    content = await service.read(lambda: _content(service, visit, parameters, chosen))
    return page(request, "compare.html", visit, {"chosen": chosen, "diff": content})


def compare_path(**asked: str) -> str:
    """Where two moments are compared."""
    return "/compare?" + urlencode(asked)


def _content(service: Service, visit: Visit, parameters: Parameters, chosen: Mapping[str, str]) -> Mapping[str, object]:
    base = service.base
    axis = parameters.choice(AXIS, Axis) or Axis.TRANSACTION
    graph, node = (parameters.iri(each, base.canonicaliser) for each in (GRAPH, NODE))
    since, until, other = (time_of(parameters, each) for each in (FROM, TO, AT))
    sides = sides_of(base, axis, since or "", until, other)
    asked = Comparison(visit.principal, sides, DEFAULT_GRAPH if graph is None and node is None else graph, node)
    first = parameters.number(FIRST, default=1) - 1
    with compared(service, asked) as diff:
        counts, entries = diff.counts, list(diff.entries(first, _SHOWN))
    total = counts.gained + counts.lost + counts.corrected
    if first >= max(total, 1):
        raise InvalidParameter(f"{total:,} things differ", remedy="begin with the first", where=FIRST.name)
    facts = [each for entry in entries for each in (entry.before, entry.after) if each is not None]
    nodes = nodes_told(None, facts) | {each for each in (asked.graph, asked.node) if each is not None}
    names = names_for(base.reader, visit.principal, nodes)
    lines = [sides.first.valid_at] if axis is Axis.TRANSACTION else [sides.first.valid_at, sides.second.valid_at]
    return {
        "axis": axis.value,
        "graph": None if asked.graph is None else names(asked.graph),
        "node": None if asked.node is None else names(asked.node),
        "sides": [_side(each) for each in (sides.first, sides.second)],
        "counts": counts,
        "total": total,
        "entries": [_entry(each, names) for each in entries],
        "drawing": planes([plotted for entry in entries for plotted in _plotted(entry, names)], lines),
        "pager": _pager(chosen, first, total),
    }


def _side(side: Side) -> Mapping[str, object]:
    return {"as_of": at(side.as_of), "head": side.head, "valid_at": at(side.valid_at)}


def _entry(entry: Entry, names: Names) -> EntryShown:
    before, after = (
        None if each is None else fact_shown(each.fact, each.evidence, names) for each in (entry.before, entry.after)
    )
    return EntryShown(entry.kind.value, before, after, entry.certificates)


def _plotted(entry: Entry, names: Names) -> Sequence[Plotted]:
    found = []
    for each, role in ((entry.before, Role.OLD), (entry.after, Role.NEW)):
        if each is not None:
            fact = each.fact
            box = drawn(fact, each.evidence, names, role)
            until = None if fact.superseded is None else fact.superseded.at
            found.append(Plotted(box.key, fact.content.family, box.heading, box, until))
    return found


def _pager(chosen: Mapping[str, str], first: int, total: int) -> PagerShown | None:
    if total <= _SHOWN:
        return None

    def path(number: int) -> str:
        asked = {name: text for name, text in chosen.items() if text}
        return compare_path(**asked, **{FIRST.name: str(number + 1)}) + "#differs"

    last = min(first + _SHOWN, total)
    before = None if first == 0 else path(max(first - _SHOWN, 0))
    return PagerShown(first + 1, last, None if first == 0 else path(0), before, path(last) if last < total else None)
