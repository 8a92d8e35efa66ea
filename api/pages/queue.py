"""`/queue`: certificates to be looked at, those that wait for a decision at first.

Rules
-----
* The list is that of `GET /certificates`, for the same caller: what they may not see is not there, nor counted.
* Filters are part of the address. One that nothing knows is an error, as is a value that it cannot have, and a first
  day after the last.
* Each entry says in a sentence its first change, and how many there are of each kind.
* How far the judging of shapes is that are to be written is told to administrators of everything.
* Waivers that have ended stand above what waits, for everybody who may read the shapes, until they are removed or given
  another end.

Example
-------
::

    GET /queue?state=any&verdict=review&from=2026-05&order=oldest
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.http.parameters import Parameter
from api.pages.certificate import effects_reader, tally_of
from api.pages.effects import Change, changes_of, nodes_of
from api.pages.names import names_for
from api.pages.rendering import page
from api.pages.terms import Shown
from api.pages.times import Words, at
from api.pages.visiting import MINUTE, Visitor, page_parameters, time_of
from api.routes.certificates import AFTER, KIND, certificate_cursor
from api.service import Service
from bridge.review.certificates import CertificateFilter
from bridge.review.waivers import ended_waivers
from certificates.certificate import Verdict
from certificates.contradictions import ContradictionKind
from kernel.errors import InvalidParameter
from kernel.ports.records import CertificateState
from kernel.terms import parse_iri
from kernel.time.instants import SECOND, Instant
from kernel.time.timevalues import parse_point, parse_time
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from uuid import UUID

    from api.http.parameters import Parameters
    from api.pages.visiting import Visit
    from bridge.review.certificates import CertificatePage
    from bridge.review.effects import Effects, EffectsReader

_TEXT: Final[dict[str, object]] = {"type": "string"}
ANY: Final = "any"
STATES: Final = ("pending", "applied", "rejected", "refused", "stale", ANY)
"""The states of `kernel.ports.records.CertificateState`, what waits first."""

ORDERS: Final = ("newest", "oldest")

STATE: Final = Parameter("state", "in which state", {"type": "string", "enum": list(STATES)}, "pending")
VERDICT: Final = Parameter(
    "verdict", "with which verdict", {"type": "string", "enum": [each.value for each in Verdict]}, "review"
)
GRAPH: Final = Parameter("graph", "touching which graph, an IRI", _TEXT, "https://example.org/g")
SINCE: Final = Parameter("from", "issued then or later", _TEXT, "2026-05")
UNTIL: Final = Parameter("to", "issued then or before", _TEXT, "2026-06")
ORDER: Final = Parameter("order", "which come first", {"type": "string", "enum": list(ORDERS)}, "newest")
FILTERS: Final = (STATE, VERDICT, KIND, GRAPH, SINCE, UNTIL, ORDER)

_PAGE: Final = 20
_NAMING: Final = 8
"""Changes of each certificate that are read: the first is shown, and the others may say what it is about is called."""

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """A certificate in the list.

    Args:
        changes: the first of them.
        tally: how many there are of each kind.
        total: how many there are.
        findings: how many there are, by severity.
    """

    id: UUID
    state: str
    verdict: str
    principal: str
    issued: Words
    reason: str | None
    episode: Shown | None
    changes: tuple[Change, ...]
    tally: list[tuple[str, int]]
    total: int
    findings: dict[str, int]


@dataclass(frozen=True, slots=True)
class EndedShown:
    """A waiver that has ended: of which shape, and what to do."""

    shape: Shown
    message: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What the filters say."""

    wanted: CertificateFilter
    oldest_first: bool
    after: UUID | None


@router.get("/queue", response_class=Response)
async def queue(request: Request, visit: Visitor) -> Response:
    """The list."""
    parameters = page_parameters(request, (*FILTERS, AFTER))
    service = Service.of(request)
    asked = _asked(parameters, service)
    reader = effects_reader(request)
    found, entries = await service.read(lambda: _entries(service, reader, visit, asked))
    chosen = {each.name: parameters.text(each) or "" for each in FILTERS}
    chosen[STATE.name] = chosen[STATE.name] or CertificateState.PENDING.value
    chosen[ORDER.name] = chosen[ORDER.name] or ORDERS[0]
    filtered = any(chosen[each.name] for each in (VERDICT, KIND, GRAPH, SINCE, UNTIL))
    is_top = chosen[STATE.name] == CertificateState.PENDING and not filtered and asked.after is None
    ended = await service.read(lambda: _ended(service, visit)) if is_top else []
    return page(
        request,
        "queue.html",
        visit,
        {
            "entries": entries,
            "chosen": chosen,
            "states": STATES,
            "kinds": [each.value for each in ContradictionKind],
            "verdicts": [each.value for each in Verdict],
            "orders": ORDERS,
            "filtered": filtered,
            "ended": ended,
            "preparing": service.base.preparing if visit.principal.governs and visit.principal.reads_everything else (),
            "first": asked.after is None,
            "start": _with(chosen),
            "following": None if found.after is None else _with({**chosen, AFTER.name: str(found.after)}),
        },
    )


def _asked(parameters: Parameters, service: Service) -> Asked:
    state = parameters.text(STATE) or CertificateState.PENDING.value
    after, order = parameters.text(AFTER), parameters.text(ORDER) or ORDERS[0]
    if order not in ORDERS:
        raise InvalidParameter(f"there is no {order!r}", remedy=f"use one of {', '.join(ORDERS)}", where=ORDER.name)
    if state != ANY and state not in STATES:
        raise InvalidParameter(f"there is no {state!r}", remedy=f"use one of {', '.join(STATES)}", where=STATE.name)
    since, before = _since(parameters), _before(parameters)
    if since is not None and before is not None and since >= before:
        raise InvalidParameter(
            "the list would begin after its end, and so have nothing in it",
            remedy="exchange the two dates",
            where=f"{SINCE.name}, {UNTIL.name}",
        )
    wanted = CertificateFilter(
        None if state == ANY else CertificateState(state),
        parameters.choice(VERDICT, Verdict),
        parameters.iri(GRAPH, service.base.canonicaliser),
        since,
        before,
        parameters.choice(KIND, ContradictionKind),
    )
    return Asked(wanted, order == ORDERS[1], None if after is None else certificate_cursor(after))


def _since(parameters: Parameters) -> Instant | None:
    text = time_of(parameters, SINCE)
    return None if text is None else parse_point(text, field=SINCE.name)


def _before(parameters: Parameters) -> Instant | None:
    """The first instant after what is given: a day is meant with all its hours, a minute with all its seconds."""
    text = time_of(parameters, UNTIL)
    if text is None:
        return None
    given, minute = parse_time(text, field=UNTIL.name), MINUTE.fullmatch(parameters.text(UNTIL) or "")
    to_the_minute = minute is not None and minute[3] is None
    return Instant(given.first + 60 * SECOND) if to_the_minute else given.after


def _entries(
    service: Service, reader: EffectsReader, visit: Visit, asked: Asked
) -> tuple[CertificatePage, list[Entry]]:
    found = service.certificates.page(
        visit.principal, asked.wanted, limit=_PAGE, after=asked.after, oldest_first=asked.oldest_first
    )
    effects = [reader.effects(visit.principal, each.id, limit=_NAMING) for each in found.records]
    nodes = set().union(*map(nodes_of, effects))
    planned = [fact.statement for each in effects for fact in each.recorded]
    names = names_for(service.base.reader, visit.principal, nodes, planned)

    def entry(each: Effects) -> Entry:
        record, asked = each.record, each.asked
        return Entry(
            record.id,
            record.state.value,
            record.verdict.value,
            record.principal,
            at(record.issued_at),
            None if asked is None else asked.reason,
            None if asked is None or asked.episode is None else names(asked.episode),
            tuple(changes_of(each, names)),
            tally_of(each),
            each.total,
            each.causes.severities,
        )

    return found, [entry(each) for each in effects]


def _ended(service: Service, visit: Visit) -> list[EndedShown]:
    """The waivers that have ended."""
    if not visit.principal.may_read(SHAPES_GRAPH):
        return []
    with service.base.ledger.reading() as view:
        findings = ended_waivers(view, service.base.host.now())
    shapes = [parse_iri(finding.value or "") for finding in findings]
    names = names_for(service.base.reader, visit.principal, set(shapes))
    return [EndedShown(names(shape), finding.message) for shape, finding in zip(shapes, findings, strict=True)]


def _with(chosen: dict[str, str]) -> str:
    return "/queue?" + urlencode({name: value for name, value in chosen.items() if value})
