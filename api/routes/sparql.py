"""`/sparql`: queries by the SPARQL 1.1 Protocol, with two parameters of our own for the moment.

Rules
-----
* A query comes as `query=` in the URL, as a form, or as the body (`application/sparql-query`); section 2.1 of the
  protocol. Parameters may stand in the URL and in the form, but each once in all.
* `valid-at` and `as-of` are a moment on each time axis; without them the answer is of the present state. Each answer
  says for which state it was given. `bnodes=restore` gives blank nodes where there were some.
* `entailment` has the default graph have what follows from it, at whatever moment (`bridge.entailment`).
* The format goes by `Accept`. `format`, `output` and `results`, which SPARQLWrapper adds to every query, go before it:
  a short name or a media type, several being as many that are accepted.
* GET without a query gives the description of the service (SPARQL 1.1 Service Description, section 2), as RDF.
* What is got has a tag of its state, by which it need not be answered again: `api.http.validators`.
* How it is answered, within which limits, and how it is sent: `api.routes.query_answers`.
* Updates are posted: `api.routes.sparql_update`.

Example
-------
::

    GET /sparql?query=ASK%20%7B%7D&valid-at=2024-05-06 → 200, Muniment-Head: 41, Muniment-Valid-At: 2024-05-06T00:00:00Z
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.callers import manifest
from api.callers.auth import Caller
from api.errors import UnsupportedMediaType
from api.http.bodies import read_body
from api.http.direct import DirectRoute
from api.http.media import accepted, body_type
from api.http.memento import VARY, told
from api.http.moments import AS_OF, DATETIME_HEADER, VALID_AT, AskedMoment, asked_moment
from api.http.openapi import Answer, answers, extra, form_content, text_content
from api.http.parameters import Parameter, Parameters, read_parameters
from api.http.paths import base_url
from api.http.replies import STATE_HEADERS, state_headers
from api.http.validators import NONE_MATCH_HEADER, UNCHANGED, tag_of_query, tagged, unchanged
from api.routes.certified import CERTIFIED, KEY_HEADER
from api.routes.kept_answers import kept_by
from api.routes.query_answers import MIN_HEAD_HEADER, answered, sent, settled
from api.routes.sparql_update import (
    BESIDE_THE_UPDATE,
    DEFAULT_GRAPH,
    UPDATE,
    UPDATE_TEXT,
    is_strict,
    is_update,
    post_update,
    read_form,
)
from api.service import Service
from api.settings import Offered
from bridge.reading.reader import QueryRequest
from bridge.sparql.description import Says, describe
from bridge.sparql.hints import hint
from bridge.sparql.results import GRAPHS, RESULT_SETS, negotiate
from bridge.sparql.scan import Form
from kernel.entailment.table import Regime
from kernel.errors import InvalidDocument, InvalidParameter, QueryRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.reading.reader import Question
    from kernel.access import Principal
    from kernel.time.instants import Instant

FORM: Final = "application/x-www-form-urlencoded"
QUERY: Final = "application/sparql-query"
PATH: Final = "/sparql"
HINT: Final = "Muniment-Hint"
"""The header that says how a query would be answered faster."""

_TEXT: Final[dict[str, object]] = {"type": "string"}
_IRI: Final[dict[str, object]] = {"type": "string", "format": "iri"}


class BlankNodes(StrEnum):
    """How Skolem IRIs are given."""

    KEEP = "keep"
    RESTORE = "restore"


BNODES: Final = Parameter(
    "bnodes",
    "`restore`: nodes that were blank come as blank nodes again, not as the IRIs that they have here",
    {"type": "string", "enum": list(BlankNodes)},
    "restore",
)
ENTAILMENT: Final = Parameter(
    "entailment",
    "`rdfs` or `owl-rl`: the default graph has also what follows from it and from `m:ontology` by those rules. By "
    "default `none`",
    {"type": "string", "enum": [each.value for each in Offered]},
    "rdfs",
)
_QUERY_TEXT: Final = Parameter("query", "the query", _TEXT, "SELECT * { ?s ?p ?o } LIMIT 10")
_UPDATE_TEXT: Final = Parameter("update", "not taken in a URL: updates are posted", _TEXT, "")
_DEFAULT_GRAPH: Final = Parameter(
    "default-graph-uri", "graphs that make up the default graph", _IRI, "https://example.org/g", repeatable=True
)
_NAMED_GRAPH: Final = Parameter(
    "named-graph-uri", "graphs that `GRAPH` finds", _IRI, "https://example.org/g", repeatable=True
)
_FORMATS: Final = tuple(
    Parameter(
        name, "the format, which goes before `Accept`: a short name or a media type", _TEXT, "json", repeatable=True
    )
    for name in ("format", "output", "results")
)
BESIDE_THE_QUERY: Final = (_DEFAULT_GRAPH, _NAMED_GRAPH, DEFAULT_GRAPH, VALID_AT, AS_OF, BNODES, ENTAILMENT, *_FORMATS)
ALL: Final = (_QUERY_TEXT, *BESIDE_THE_QUERY)
READ: Final = (*ALL, _UPDATE_TEXT)
_DESCRIBED: Final = frozenset({DEFAULT_GRAPH.name, *(each.name for each in _FORMATS)})
"""What may be said beside no query, for the description of the service."""
_ANY_GRAPH: Final = "ASK { GRAPH ?g {} }"
_VARY: Final = {"Vary": VARY}
_POSTED: Final = (*ALL, UPDATE_TEXT, *BESIDE_THE_UPDATE)

_SHORT_NAMES: Final = {
    "json": "application/sparql-results+json, application/ld+json",
    "xml": "application/sparql-results+xml, application/rdf+xml",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "turtle": "text/turtle",
    "n3": "text/turtle",
    "rdf": "application/rdf+xml",
    "rdf+xml": "application/rdf+xml",
    "json-ld": "application/ld+json",
}
"""SPARQLWrapper's names for formats, each as what it may mean for a result set or a graph."""

_MEDIA_TYPES: Final = tuple(dict.fromkeys(each.essence for each in (*RESULT_SETS, *GRAPHS)))

ANSWERS: Final = answers(
    {
        200: Answer(
            "The answer, in the format negotiated",
            text_content(_MEDIA_TYPES),
            STATE_HEADERS,
        )
    },
    problems=(400, 401, 403, 406, 422, 502, 503, 504),
)

router = APIRouter(tags=["reading"], route_class=DirectRoute)


@router.get(
    PATH,
    operation_id="query",
    summary="Ask a SPARQL query",
    response_class=Response,
    responses=ANSWERS | answers(UNCHANGED, problems=()),
    openapi_extra=extra(parameters=ALL, headers=MIN_HEAD_HEADER | NONE_MATCH_HEADER | DATETIME_HEADER),
)
async def query(request: Request, caller: Caller) -> Response:
    """A query in the URL; without one, and without anything that goes with one, the service's description."""
    parameters = read_parameters(READ, request.scope["query_string"])
    if is_description(parameters):
        return await described(request, caller, parameters, endpoint_of(request))
    return await answer(request, caller, text_of(parameters), parameters, await asked_moment(request, parameters))


@router.post(
    PATH,
    operation_id="postQuery",
    summary="Ask a SPARQL query that is too long for a URL, or send an update",
    response_class=Response,
    responses=ANSWERS | answers(CERTIFIED, problems=(403, 404, 409, 413, 415, 422, 502)),
    openapi_extra=extra(
        parameters=(*BESIDE_THE_QUERY, *(each for each in BESIDE_THE_UPDATE if each not in BESIDE_THE_QUERY)),
        headers=KEY_HEADER | MIN_HEAD_HEADER | DATETIME_HEADER,
        body=text_content([QUERY], "SELECT * { ?s ?p ?o } LIMIT 10")
        | text_content([UPDATE], UPDATE_TEXT.example)
        | form_content(_POSTED),
    ),
)
async def post_query(request: Request, caller: Caller) -> Response:
    """A query, or an update, as a form, or as the body itself."""
    media_type, body = await posted(request, (FORM, QUERY, UPDATE))
    if media_type == UPDATE or (media_type == FORM and is_update(body)):
        return await post_update(request, caller, media_type, body)
    text, parameters = await posted_query(request, media_type, body, READ, BESIDE_THE_QUERY)
    return await answer(request, caller, text, parameters, await asked_moment(request, parameters))


async def posted(request: Request, known: Sequence[str]) -> tuple[str, bytes]:
    """The media type and the body of a post. Raises `UnsupportedMediaType` for one that is not known."""
    media_type = body_type(request.headers.get("content-type"))
    if media_type not in known:
        raise UnsupportedMediaType(
            f"neither a query nor an update comes as {media_type}",
            remedy=f"send {QUERY}, {UPDATE} or {FORM}",
            where="Content-Type",
        )
    return media_type, await read_body(request, Service.of(request).settings.body_limit)


async def posted_query(
    request: Request, media_type: str, body: bytes, in_form: Sequence[Parameter], beside: Sequence[Parameter]
) -> tuple[str, Parameters]:
    """The query that was posted, with what stands beside it: in the URL, and in the form if it came as one."""
    if media_type == FORM:
        parameters = await read_form(request, in_form, body)
        return text_of(parameters), parameters
    return _decoded(body), read_parameters(beside, request.scope["query_string"])


def asked_query(request: Request, caller: Principal, text: str, parameters: Parameters) -> QueryRequest:
    """A query with what stands beside it, its moment aside. Raises `InvalidParameter`."""
    return QueryRequest(
        caller,
        text,
        _accept(request, parameters),
        parameters.texts(_DEFAULT_GRAPH),
        parameters.texts(_NAMED_GRAPH),
        is_strict(parameters, Service.of(request).settings),
        parameters.choice(BNODES, BlankNodes) is BlankNodes.RESTORE,
        endpoint_of(request),
        entailment=entailment_of(request, parameters),
    )


def entailment_of(request: Request, parameters: Parameters) -> Regime | None:
    """By which rules something is to follow. Raises `InvalidParameter` for what is not offered."""
    wanted = parameters.choice(ENTAILMENT, Offered)
    if wanted is None or wanted is Offered.NONE:
        return None
    offered = Service.of(request).settings.entailment
    regime = Regime(wanted)
    if regime not in offered.regimes:
        raise InvalidParameter(
            f"{regime} is not followed here",
            remedy="ask for " + " or ".join([*(each.value for each in offered.regimes), "none"]),
            where=ENTAILMENT.name,
        )
    return regime


async def answer(
    request: Request, caller: Principal, text: str, parameters: Parameters, moment: AskedMoment
) -> Response:
    """The answer to a query at a moment, whatever way it came by.

    Args:
        request: that it came by.
        caller: for whom.
        text: the query.
        parameters: what stands beside it, its moment aside.
        moment: when.
    """
    service = Service.of(request)
    position = service.base.stores.feed.position
    asked = asked_query(request, caller, text, parameters)
    question = await settled(request, asked, moment.as_of, moment.valid_at)
    state = service.base.stores.feed.state
    past = question.past
    about = await told(request, moment, None if past is None or moment.as_of is None else past.as_of, state.instant)
    headers = about.headers(request)
    keepable = request.method != "POST"
    if keepable and "if-none-match" in request.headers:
        head, valid_at = (state.head, state.clock) if past is None else (past.head, past.valid_at)
        tag = _tag(question, text, state.head, state.clock)
        same = {**state_headers(head, valid_at), **headers, **about.cached(tag)}
        if (known := unchanged(request, tag, same)) is not None:
            return known
    if question.dataset.history and (told_of := hint(text)) is not None:
        headers[HINT] = told_of
    found = await answered(request, caller, question)
    headers |= {"Content-Type": found.media_type, **state_headers(found.head, found.valid_at)}
    if not keepable:
        return sent(found, headers)
    tag = _tag(question, text, found.head if past is None else state.head, found.valid_at)
    response = sent(found, headers | about.cached(tag))
    if tag is not None and past is None and found.whole:
        kept_by(request).keep(request, caller, position, response)
    return response


def _tag(question: Question, text: str, head: int | None, clock: Instant) -> str | None:
    """The tag of the answer to a text; None also where other endpoints answered, who may answer otherwise next."""
    return tag_of_query(question, head, clock) if question.text == text else None


async def described(
    request: Request, caller: Principal, parameters: Parameters, endpoint: str, *, updates: bool = True
) -> Response:
    """What the endpoint says of itself, to a caller who asks nothing."""
    service = Service.of(request)
    form = negotiate(_accept(request, parameters), Form.CONSTRUCT)
    strict = is_strict(parameters, service.settings)
    asked = QueryRequest(caller, _ANY_GRAPH, strict=strict)
    dataset = service.base.reader.question(asked).dataset
    updates = updates and service.has(manifest.UPDATE) and service.has("postQuery")
    says = Says(strict, updates, service.outbound.asks, service.settings.entailment.regimes)
    body = await service.read(lambda: describe(endpoint, dataset, form, says))
    state = service.base.stores.feed.state
    headers = {"Content-Type": form.media_type, **state_headers(state.head, state.clock), **_VARY}
    return Response(body, 200, headers | tagged(None))


def endpoint_of(request: Request) -> str:
    """The URL of the endpoint, which relative IRIs are relative to (RFC 3986, section 5.1.3), also at other moments."""
    return base_url(request) + PATH


def is_description(parameters: Parameters) -> bool:
    """Whether nothing is asked but what the endpoint says of itself."""
    return _DESCRIBED.issuperset(parameters.names())


def text_of(parameters: Parameters) -> str:
    """The query in the parameters. Raises `QueryRefused` for an update in a URL."""
    if parameters.text(_UPDATE_TEXT) is not None:
        raise _no_updates("update")
    text = parameters.text(_QUERY_TEXT)
    if text is None:
        raise InvalidParameter("there is no query", remedy="give one as `query`", where="query")
    return text


def _decoded(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise InvalidDocument(
            f"the query is not UTF-8: byte {error.start} cannot be read", remedy="send it in UTF-8"
        ) from error


def _accept(request: Request, parameters: Parameters) -> str | None:
    """What is accepted: by the parameters if they name anything, else by the header."""
    named = [_format(name, parameter) for parameter in _FORMATS for name in parameters.texts(parameter) if name]
    return ", ".join(dict.fromkeys(named)) if named else accepted(request)


def _format(name: str, parameter: Parameter) -> str:
    media_types = _SHORT_NAMES.get(name.lower(), name)
    if "/" not in media_types:
        remedy = f"use a media type, or one of {', '.join(_SHORT_NAMES)}"
        raise InvalidParameter(f"there is no format {name[:60]!r}", remedy=remedy, where=parameter.name)
    return media_types


def _no_updates(where: str) -> QueryRefused:
    return QueryRefused("an update is not taken in a URL", remedy=f"post it, as {UPDATE} or in a form", where=where)
