"""Updates by the SPARQL 1.1 Protocol (section 2.2), each a certified write.

Rules
-----
* An update comes as the body (`application/sparql-update`) or as `update=` of a form; never in a URL.
* Relative IRIs are relative to the endpoint, unless the update has a BASE (section 2.2.5).
* It is answered as `api.routes.certified` has it: 200 once it is applied, 409 while an editor decides, 422 where
  refused.
* `using-graph-uri` and `using-named-graph-uri` are the dataset of every WHERE. `default-graph` says whether the default
  graph is the union of what the caller may read, or strictly `m:default`; else the settings do.
* A WHERE is evaluated by a worker, as a query is, and within the limits of its caller's queries; all of a request
  together has the time of one. It is ended when its client hangs up; what is planned by then is done.
* Much data, and whatever else changes much, is a load session. A refusal or a review of it proposes nothing, as with
  `muniment load`.
* LOAD fetches what `MUNIMENT_OUTBOUND` lists, before anything is evaluated (`api.callers.outbound`); one that may not
  be asked is refused, silent or not, before anything is.
* Formats, which SPARQLWrapper adds to every request, say nothing here.

Example
-------
::

    POST /sparql   Content-Type: application/sparql-update   DELETE WHERE { ?s <urn:p> ?o }
    → 200, Location: /certificates/…, Link: </certificates/…>; rel="describedby"
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from api.callers import manifest
from api.callers.citing import require_cited
from api.callers.outbound import FetchFailed
from api.errors import UnsupportedMediaType
from api.http.parameters import Parameter, read_parameters
from api.http.waiting import answer_of
from api.routes.certified import TERMS, certified, read_terms
from api.routes.federation import calls_others, federated_text, in_time
from api.routes.query_answers import BRIEF, unless_gone
from api.service import Service
from api.settings import DefaultGraph
from bridge.documents.reader import MEDIA_TYPES
from bridge.replicas.solving import LeasedSolver
from bridge.sparql.update.operations import Using
from bridge.updating.request import Document, Update
from bridge.updating.updates import ATTEMPTS, HELD, too_slow
from kernel.errors import InvalidDocument, InvalidParameter, InvalidTerm, QueryRefused, StateMoved
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from api.callers.outbound import Fetched, Outbound
    from api.http.parameters import Parameters
    from api.settings import Settings
    from bridge.sparql.update.operations import Load
    from bridge.updating.terms import Terms
    from kernel.access import Principal
    from kernel.writing.submitting import Outcome

UPDATE: Final = "application/sparql-update"

_IN_FORM: Final = re.compile(rb"(?:^|&)update=")
_IRI: Final[dict[str, object]] = {"type": "string", "format": "iri"}

UPDATE_TEXT: Final = Parameter(
    "update", "the update", {"type": "string"}, "DELETE WHERE { <https://example.org/ada> ?p ?o }"
)
_USING: Final = Parameter(
    "using-graph-uri", "graphs that make up the default graph of a WHERE", _IRI, "https://example.org/g", True
)
_USING_NAMED: Final = Parameter(
    "using-named-graph-uri", "graphs that GRAPH finds in a WHERE", _IRI, "https://example.org/g", True
)
DEFAULT_GRAPH: Final = Parameter(
    "default-graph",
    "what the default graph is: the `union` of what the caller may read, or `strict`, m:default alone",
    {"type": "string", "enum": list(DefaultGraph)},
    "strict",
)
_READ: Final = ", ".join(MEDIA_TYPES)
_BY_NAME: Final = {
    "ttl": "text/turtle",
    "nt": "application/n-triples",
    "nq": "application/n-quads",
    "trig": "application/trig",
    "rdf": "application/rdf+xml",
    "jsonld": "application/ld+json",
}

BESIDE_THE_UPDATE: Final = (_USING, _USING_NAMED, DEFAULT_GRAPH, *TERMS)
"""The parameters of an update, apart from its text."""

_PASSED_OVER: Final = tuple(
    Parameter(name, "says nothing of an update", {"type": "string"}, "json", True)
    for name in ("format", "output", "results")
)


def is_update(form: bytes) -> bool:
    """Whether a form, or the parameters of a URL, hold an update."""
    return _IN_FORM.search(form) is not None


async def read_form(request: Request, known: Iterable[Parameter], form: bytes) -> Parameters:
    """The parameters of a URL and of a form; a long form is decoded in a thread, for others are served meanwhile."""
    read = partial(read_parameters, known, request.scope["query_string"], form)
    return read() if len(form) <= BRIEF else await Service.of(request).read(read)


def is_strict(parameters: Parameters, settings: Settings) -> bool:
    """Whether the default graph is `m:default` alone: by the request, else by the settings."""
    return (parameters.choice(DEFAULT_GRAPH, DefaultGraph) or settings.default_graph) is DefaultGraph.STRICT


async def post_update(request: Request, caller: Principal, media_type: str, body: bytes) -> Response:
    """An update as the body itself, or in a form."""
    if not Service.of(request).has(manifest.UPDATE):
        raise QueryRefused("updates are not served here", remedy="GET /openapi.json lists what is served")
    require_cited(request, caller)
    if media_type == UPDATE:
        parameters = read_parameters((*BESIDE_THE_UPDATE, *_PASSED_OVER), request.scope["query_string"])
        text = _decoded(body)
    else:
        parameters = await read_form(request, (UPDATE_TEXT, *BESIDE_THE_UPDATE, *_PASSED_OVER), body)
        text = parameters.text(UPDATE_TEXT) or ""
    terms = read_terms(request, caller, parameters, body, media_type)
    base = str(request.url.replace(query="", fragment=""))
    outcome = await _update(request, text, base, terms, parameters)
    return certified(outcome, caller, request)


async def _update(request: Request, text: str, base: str, terms: Terms, parameters: Parameters) -> Outcome:
    """Reads, evaluates and submits."""
    service = Service.of(request)
    strict = is_strict(parameters, service.settings)
    using = Using(_graphs(parameters, _USING), _graphs(parameters, _USING_NAMED))
    updates = service.base.updates
    outbound = service.outbound
    if outbound.asks and await service.read(partial(calls_others, text)):
        limits = service.settings.limits_of(terms.principal.highest)
        text = await unless_gone(request, in_time(limits, federated_text(outbound, text)))
    update = await service.read(
        lambda: Update.read(text, terms, strict=strict, using=using, base=base, loads=outbound.asks)
    )
    if update.sources:
        update = await _with_sources(request, service, update)
    if update.is_bulk:
        return await answer_of(updates.load(update))
    if update.has_where:
        return await _evaluated(request, service, update)
    if update.may_be_large:
        return await _worked_out(service, update)
    return await answer_of(updates.apply(update, None))


async def _with_sources(request: Request, service: Service, update: Update) -> Update:
    for each in update.sources:
        service.outbound.require_listed(each.source.value)
    documents = [await unless_gone(request, _document(service.outbound, each)) for each in update.sources]
    return await service.read(lambda: update.with_loaded(documents))


async def _document(outbound: Outbound, load: Load) -> Document | None:
    """What a LOAD names; None where that is not to be had, and it is silent about it."""
    try:
        fetched = await outbound.fetch(load.source.value, _READ)
        return Document(fetched.body, _media_type(fetched), fetched.url)
    except (FetchFailed, UnsupportedMediaType):
        if load.silent:
            return None
        raise


def _media_type(fetched: Fetched) -> str:
    """The format of what came: as it is announced, else by the end of its name."""
    announced = fetched.media_type.partition(";")[0].strip().lower()
    if announced in MEDIA_TYPES:
        return fetched.media_type
    by_name = _BY_NAME.get(urlsplit(fetched.url).path.rpartition(".")[2].lower())
    if by_name is None:
        raise UnsupportedMediaType(
            f"{fetched.url[:200]} comes as {announced[:80] or 'nothing that is said'}",
            remedy=f"have it served as one of {', '.join(MEDIA_TYPES)}",
        )
    return by_name


async def _evaluated(request: Request, service: Service, update: Update) -> Outcome:
    """Has a WHERE evaluated by a worker, and submits what comes of it; anew where the base moved on meanwhile."""
    updates, caller = service.base.updates, update.terms.principal
    limits = service.settings.limits_of(caller.highest)
    took, evaluated = 0.0, None
    for _ in range(ATTEMPTS):
        try:
            async with service.replicas.lease(caller.id, limits) as lease:
                began = monotonic()
                try:
                    work = service.evaluate(partial(updates.evaluate, update, LeasedSolver(lease)))
                    evaluated = await unless_gone(request, work)
                finally:
                    took = monotonic() - began
            return await answer_of(updates.apply(update, evaluated))
        except StateMoved:
            continue
    if took > HELD:
        raise too_slow()
    brief = replace(limits, seconds=min(limits.seconds, HELD))
    async with service.replicas.lease(caller.id, brief) as lease:
        return await answer_of(updates.apply_alone(update, LeasedSolver(lease), evaluated))


async def _worked_out(service: Service, update: Update) -> Outcome:
    """Has what may come to much worked out aside, and submits it; where the base moves on each time, in its turn."""
    updates = service.base.updates
    for _ in range(ATTEMPTS):
        try:
            evaluated = await service.evaluate(partial(updates.evaluate, update, None))
            return await answer_of(updates.apply(update, evaluated))
        except StateMoved:
            continue
    return await answer_of(updates.apply(update, None))


def _graphs(parameters: Parameters, parameter: Parameter) -> tuple[Iri, ...]:
    try:
        return tuple(map(Iri, parameters.texts(parameter)))
    except InvalidTerm as error:
        raise InvalidParameter(error.message, remedy=error.remedy, where=parameter.name) from error


def _decoded(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise InvalidDocument(
            f"the update is not UTF-8: byte {error.start} cannot be read", remedy="send it in UTF-8"
        ) from error
