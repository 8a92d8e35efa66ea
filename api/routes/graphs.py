"""`/graphs`: the SPARQL 1.1 Graph Store HTTP Protocol, its writes certified as any other.

Rules
-----
* A graph is named by `graph=IRI`, by `default`, which is m:default, or by the URL itself: everything under `/graphs/`
  is the IRI of a graph (section 4 of the protocol).
* GET and HEAD give what is true of it, at any moment; PUT has it hold the document and nothing else; POST adds; DELETE
  takes all of it away. What PUT leaves as it is, is left alone. POST to `/graphs` makes a graph with a name of its own.
* Relative IRIs in a document are relative to the graph's. What stands in it beside triples, graphs of its own, is
  refused. `multipart/form-data` is several documents.
* Writes are answered as `api.routes.certified` has it; 201 where the graph was not there, with its URL in `Location`.
* Reserved graphs are never replaced or taken away as a whole.

Example
-------
::

    PUT /graphs?graph=https%3A%2F%2Fexample.org%2Fg   Content-Type: text/turtle   <urn:a> <urn:p> <urn:b> .
    → 201, Location: /graphs?graph=…, Link: </certificates/…>; rel="describedby"
"""

from __future__ import annotations

from email.errors import CloseBoundaryNotFoundDefect
from email.parser import BytesParser
from email.policy import HTTP
from typing import TYPE_CHECKING, Annotated, Final
from uuid import uuid4

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api.callers.auth import Caller
from api.errors import UnsupportedMediaType
from api.http.bodies import read_body
from api.http.media import accepted, body_type
from api.http.memento import told
from api.http.moments import AS_OF, DATETIME_HEADER, VALID_AT, asked_moment
from api.http.openapi import Answer, answers, extra, json_content, text_content
from api.http.parameters import Parameter, query_parameters
from api.http.paths import base_url
from api.http.replies import STATE_HEADERS, state_headers
from api.http.validators import MATCH_HEADER, UNCHANGED, required_of, tag_of_graph, tagged, unchanged
from api.http.waiting import answer_of
from api.routes.certified import CERTIFIED, KEY_HEADER, TERMS, certified, read_terms
from api.routes.document_request import DOCUMENT_BODIES
from api.routes.query_answers import MIN_HEAD_HEADER, answered, settled
from api.routes.sparql import BNODES, BlankNodes
from api.service import Service
from bridge.documents.reader import MEDIA_TYPES, read_document
from bridge.reading.graphs import GraphRequest
from bridge.sparql.results import GRAPHS
from bridge.updating.graphs import GraphWrite, WholeGraph
from kernel.errors import InvalidDocument, InvalidParameter
from kernel.terms import Iri
from kernel.vocabulary import DEFAULT_GRAPH

if TYPE_CHECKING:
    from email.message import Message

    from api.http.parameters import Parameters
    from bridge.documents.reader import Asserted
    from kernel.access import Principal

PATH: Final = "/graphs"
MULTIPART: Final = "multipart/form-data"


GRAPH: Final = Parameter("graph", "the graph's IRI", {"type": "string", "format": "iri"}, "https://example.org/g")
DEFAULT: Final = Parameter("default", "the default graph, m:default; without a value", {"type": "string"}, "")
_NAMES: Final = (GRAPH, DEFAULT)
_READING: Final = (VALID_AT, AS_OF, BNODES)

_MEDIA_TYPES: Final = tuple(dict.fromkeys(each.essence for each in GRAPHS))
_DOCUMENT: Final = DOCUMENT_BODIES | {
    MULTIPART: {"schema": {"type": "object"}, "example": {"file": "<urn:a> <urn:p> <urn:b> ."}}
}
_READ: Final = answers(
    {200: Answer("The graph, in the format negotiated", text_content(_MEDIA_TYPES), STATE_HEADERS), **UNCHANGED},
    problems=(400, 401, 404, 406, 422, 503, 504),
)
_WRITTEN: Final = answers(
    {
        200: Answer("Certified and applied, or nothing had to be done", json_content("Outcome"), STATE_HEADERS),
        201: Answer("The same, and the graph is new", json_content("Outcome"), {"Location": "the graph's URL"}),
        **CERTIFIED,
    },
    problems=(400, 401, 403, 404, 409, 412, 413, 415, 422, 503),
)

Name = Annotated[str, Path(description="with the URL before it, the graph's IRI")]

router = APIRouter(tags=["graphs"])


@router.get(
    PATH,
    operation_id="getGraph",
    summary="Get a graph",
    response_class=Response,
    responses=_READ,
    openapi_extra=extra(parameters=(*_NAMES, *_READING), headers=MIN_HEAD_HEADER | DATETIME_HEADER),
)
async def get_graph(request: Request, caller: Caller) -> Response:
    """What is true of a graph now, or at another moment."""
    return await _read(request, caller)


@router.put(
    PATH,
    operation_id="putGraph",
    summary="Replace a graph",
    response_class=Response,
    responses=_WRITTEN,
    openapi_extra=extra(parameters=(*_NAMES, *TERMS), headers=KEY_HEADER | MATCH_HEADER, body=_DOCUMENT),
)
async def put_graph(request: Request, caller: Caller) -> Response:
    """Has a graph hold the document and nothing else."""
    return await _write(request, caller, GraphWrite.PUT)


@router.post(
    PATH,
    operation_id="postGraph",
    summary="Add to a graph",
    response_class=Response,
    responses=_WRITTEN,
    openapi_extra=extra(parameters=(*_NAMES, *TERMS), headers=KEY_HEADER | MATCH_HEADER, body=_DOCUMENT),
)
async def post_graph(request: Request, caller: Caller) -> Response:
    """Adds a document to a graph; to one with a name of its own, if none is named."""
    return await _write(request, caller, GraphWrite.POST)


@router.delete(
    PATH,
    operation_id="deleteGraph",
    summary="Take a graph away",
    response_class=Response,
    responses=_WRITTEN,
    openapi_extra=extra(parameters=(*_NAMES, *TERMS), headers=KEY_HEADER | MATCH_HEADER),
)
async def delete_graph(request: Request, caller: Caller) -> Response:
    """Lets everything in a graph end."""
    return await _write(request, caller, GraphWrite.DELETE)


@router.get(
    PATH + "/{name:path}",
    operation_id="getGraphByUrl",
    summary="Get a graph whose IRI is this URL",
    response_class=Response,
    responses=_READ,
    openapi_extra=extra(parameters=_READING, headers=MIN_HEAD_HEADER | DATETIME_HEADER),
)
async def get_graph_by_url(request: Request, caller: Caller, name: Name) -> Response:
    """As for a graph that is named by a parameter."""
    return await _read(request, caller, name)


@router.put(
    PATH + "/{name:path}",
    operation_id="putGraphByUrl",
    summary="Replace a graph whose IRI is this URL",
    response_class=Response,
    responses=_WRITTEN,
    openapi_extra=extra(parameters=TERMS, headers=KEY_HEADER | MATCH_HEADER, body=_DOCUMENT),
)
async def put_graph_by_url(request: Request, caller: Caller, name: Name) -> Response:
    """As for a graph that is named by a parameter."""
    return await _write(request, caller, GraphWrite.PUT, name)


@router.post(
    PATH + "/{name:path}",
    operation_id="postGraphByUrl",
    summary="Add to a graph whose IRI is this URL",
    response_class=Response,
    responses=_WRITTEN,
    openapi_extra=extra(parameters=TERMS, headers=KEY_HEADER | MATCH_HEADER, body=_DOCUMENT),
)
async def post_graph_by_url(request: Request, caller: Caller, name: Name) -> Response:
    """As for a graph that is named by a parameter."""
    return await _write(request, caller, GraphWrite.POST, name)


@router.delete(
    PATH + "/{name:path}",
    operation_id="deleteGraphByUrl",
    summary="Take away a graph whose IRI is this URL",
    response_class=Response,
    responses=_WRITTEN,
    openapi_extra=extra(parameters=TERMS, headers=KEY_HEADER | MATCH_HEADER),
)
async def delete_graph_by_url(request: Request, caller: Caller, name: Name) -> Response:
    """As for a graph that is named by a parameter."""
    return await _write(request, caller, GraphWrite.DELETE, name)


async def _read(request: Request, caller: Principal, name: str | None = None) -> Response:
    service = Service.of(request)
    parameters = query_parameters(request, _READING if name else (*_NAMES, *_READING))
    graph = _graph(request, name, parameters)
    if graph is None:
        raise InvalidParameter("which graph is not said", remedy="give graph=IRI, or default", where=GRAPH.name)
    restore = parameters.choice(BNODES, BlankNodes) is BlankNodes.RESTORE
    wanted = GraphRequest(caller, graph, accepted(request), restore)
    asked = await asked_moment(request, parameters)
    question = await settled(request, wanted.query(), asked.as_of, asked.valid_at)
    past, latest = question.past, service.base.stores.feed.state.instant
    about = await told(request, asked, None if past is None or asked.as_of is None else past.as_of, latest)
    answer = await answered(request, caller, question)
    triples = await answer.read()
    body, media_type = await service.read(lambda: wanted.document(triples))
    headers = {"Content-Type": media_type, **state_headers(answer.head, answer.valid_at), **about.headers(request)}
    if past is None:
        tag = tag_of_graph(graph, (media_type, restore), answer.head, answer.valid_at)
        if (known := unchanged(request, tag, headers)) is not None:
            return known
        headers |= tagged(tag)
    return Response(body, 200, headers)


async def _write(request: Request, caller: Principal, how: GraphWrite, name: str | None = None) -> Response:
    service = Service.of(request)
    parameters = query_parameters(request, TERMS if name else (*_NAMES, *TERMS))
    graph = _graph(request, name, parameters)
    made = graph is None and how is GraphWrite.POST
    if graph is None and not made:
        raise InvalidParameter("which graph is not said", remedy="give graph=IRI, or default", where=GRAPH.name)
    target = graph or Iri(f"{base_url(request)}{PATH}/{uuid4()}")
    body = b"" if how is GraphWrite.DELETE else await read_body(request, service.settings.body_limit)
    media_type = "" if how is GraphWrite.DELETE else body_type(request.headers.get("content-type"))
    terms = read_terms(request, caller, parameters, body, media_type)
    statements = await service.read(lambda: _statements(service, request, media_type, body, target)) if body else []
    written = WholeGraph(how, target, statements, terms, required_of(request, target))
    writing = service.base.updates.write_graph(written)
    outcome, existed = await answer_of(writing)
    new = how is not GraphWrite.DELETE and not existed and target != DEFAULT_GRAPH and outcome.certificate is not None
    if not new:
        return certified(outcome, caller, request)
    return certified(outcome, caller, request, done=201, location=target.value if made else _target_of(request))


def _statements(service: Service, request: Request, media_type: str, body: bytes, graph: Iri) -> list[Asserted]:
    """What the documents of a request say, each read as the body of its graph."""
    found: list[Asserted] = []
    for each, document in _documents(request, media_type, body):
        if each not in MEDIA_TYPES:
            raise UnsupportedMediaType(
                f"a graph does not come as {each}", remedy=f"send one of {', '.join(MEDIA_TYPES)}", where="Content-Type"
            )
        found += read_document(
            document,
            each,
            graph=graph,
            canonicaliser=service.base.canonicaliser,
            limit=service.settings.body_limit,
            base=graph.value,
        )
    return found


def _documents(request: Request, media_type: str, body: bytes) -> list[tuple[str, bytes]]:
    """The media type and the text of each document; the parts of a form in their order (RFC 7578)."""
    if media_type != MULTIPART:
        return [(media_type, body)]
    head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode("latin-1")
    message = BytesParser(policy=HTTP).parsebytes(head + body)
    if not message.is_multipart():
        raise InvalidDocument("the form has no parts", remedy="send each document as a part", where="Content-Type")
    if any(isinstance(each, CloseBoundaryNotFoundDefect) for each in message.defects):
        raise InvalidDocument(
            "the form ends before its last boundary: what was sent may be a part of it alone",
            remedy="send it whole, with -- after the boundary at its end",
        )
    parts = []
    for number, part in enumerate(message.iter_parts(), 1):
        text = part.get_payload(decode=True)
        parts.append((_part_type(part, number), text if isinstance(text, bytes) else b""))
    return parts


def _part_type(part: Message, number: int) -> str:
    said = part.get("content-type")
    if said is None:
        raise UnsupportedMediaType(
            "a part of the form does not say its format",
            remedy=f"give each a Content-Type, such as {next(iter(MEDIA_TYPES))}",
            where=f"part {number}",
        )
    try:
        return body_type(said)
    except UnsupportedMediaType as error:
        error.where = f"part {number}"
        raise


def _graph(request: Request, name: str | None, parameters: Parameters) -> Iri | None:
    """The graph that a request is about; None where it names none."""
    canonicaliser = Service.of(request).base.canonicaliser
    if name:
        graph = Iri(f"{request.url.scheme}://{request.url.netloc}{_path(request)}")
        canonicaliser.canonical(graph)
        return graph
    given = parameters.names()
    if DEFAULT.name not in given:
        return parameters.iri(GRAPH, canonicaliser)
    if GRAPH.name in given:
        raise InvalidParameter("graph and default name two graphs", remedy="give one", where=DEFAULT.name)
    return DEFAULT_GRAPH


def _path(request: Request) -> str:
    path: bytes = request.scope["raw_path"]
    return path.decode("latin-1")


def _target_of(request: Request) -> str:
    """The URL that a request was sent to, without its origin."""
    query: bytes = request.scope["query_string"]
    return _path(request) + (f"?{query.decode('latin-1')}" if query else "")
