"""`GET /exports/{graph}`: a graph as a document, at any pair of times, plain, with annotations, or signed.

Rules
-----
* The moment is named as for queries (`api.http.moments`), and others are told of (`api.http.memento`). `valid-at=any`
  goes with `annotations=true` alone.
* The format goes by `Accept`; JSON-LD is the default, and the only one that can be signed.
* What is not signed has a tag of its state (`api.http.validators`); a signature is made each time.
* What is too large for memory is sent as it is read (`api.http.streaming`). Reading it may take
  `MUNIMENT_EXPORT_SECONDS` in all, in which what its client takes is not counted; beyond, it breaks off.

Example
-------
::

    GET /exports/https%3A%2F%2Fexample.org%2Fg?valid-at=2024 → 200 {"@context": {}, "@id": "https://example.org/g", …}
"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from api.callers.auth import Caller
from api.http.media import accepted, preferred
from api.http.memento import told
from api.http.moments import AS_OF, DATETIME_HEADER, VALID_AT, asked_moment
from api.http.openapi import Answer, answers, extra, text_content
from api.http.parameters import Parameter, query_parameters
from api.http.replies import STATE_HEADERS, state_headers
from api.http.streaming import streamed
from api.http.validators import NONE_MATCH_HEADER, UNCHANGED, tag_of_url, unchanged
from api.service import Service
from bridge.exporting.exporter import Exporter, ExportRequest, Format
from kernel.errors import InvalidTerm, QueryLimit
from kernel.terms import Iri

if TYPE_CHECKING:
    from bridge.base import Base
    from bridge.exporting.exporter import Export
    from bridge.reading.moments import Moment

CREDENTIAL: Final = "application/vc"
_PLAIN: Final = tuple(each.value for each in Format)
_SIGNED: Final = (Format.JSON_LD.value, CREDENTIAL)

_FLAG: Final[dict[str, object]] = {"type": "boolean", "default": False}
ANNOTATIONS: Final = Parameter(
    "annotations", "whether each statement comes with its valid time, certificate and evidence", _FLAG, "true"
)
SIGNED: Final = Parameter(
    "signed", "whether it comes as a Verifiable Credential, signed with the base's key; JSON-LD only", _FLAG, "true"
)
_VALID_AT: Final = replace(
    VALID_AT, description=f"{VALID_AT.description}. `any`, with annotations, also gives facts that are not true then"
)
_PARAMETERS: Final = (_VALID_AT, AS_OF, ANNOTATIONS, SIGNED)

GraphIri = Annotated[str, Path(description="the graph's IRI, percent-encoded")]

router = APIRouter(tags=["reading"])


@router.get(
    "/exports/{graph:path}",
    operation_id="exportGraph",
    summary="Export a graph as a document",
    response_class=Response,
    responses=answers(
        {
            200: Answer("The document, in the format negotiated", text_content((*_PLAIN, CREDENTIAL)), STATE_HEADERS),
            **UNCHANGED,
        },
        problems=(400, 401, 404, 406, 422, 503),
    ),
    openapi_extra=extra(parameters=_PARAMETERS, headers=NONE_MATCH_HEADER | DATETIME_HEADER),
)
async def export_graph(request: Request, caller: Caller, graph: GraphIri) -> Response:
    """Exports what is believed of a graph that the caller may read: what is true now, or at `valid-at`.

    With `annotations` the document can be sent to `POST /changes` of another base, which then has the same statements
    with the same valid times.
    """
    parameters = query_parameters(request, _PARAMETERS)
    service = Service.of(request)
    signed = parameters.flag(SIGNED)
    media_type = preferred(accepted(request), _SIGNED if signed else _PLAIN)
    asked = await asked_moment(request, parameters)
    moment, head = await service.read(lambda: (asked.of(service.base.reader), service.base.reader.head()))
    about = await told(request, asked, moment.as_of, head.instant)
    tag = None if signed else tag_of_url(request, caller, media_type, head, asked)
    cached = about.headers(request) | about.cached(tag)
    if (known := unchanged(request, tag, cached)) is not None:
        return known
    bare = request.method == "HEAD"
    wanted = ExportRequest(
        caller,
        _graph(service.base, graph),
        Format.JSON_LD if signed else Format(media_type),
        parameters.flag(ANNOTATIONS),
        asked.every_time,
    )
    thread = service.sign if signed and not bare else service.read
    export = await thread(lambda: _opened(service.base, wanted, moment, signed=signed and not bare))
    headers = {**state_headers(export.head, export.valid_at), "Content-Type": media_type, **cached}
    if bare:
        export.close()
        return Response(None, 200, headers)
    return await streamed(service, _Timed(export, service.settings.export_seconds), headers)


class _Timed:
    """An export that may be read for so many seconds. Raises `QueryLimit` beyond."""

    def __init__(self, export: Export, seconds: float) -> None:
        self._export = export
        self._seconds = self._left = seconds

    def take(self) -> bytes:
        """The next chunk; empty at the end."""
        began = monotonic()
        chunk = self._export.take()
        self._left -= monotonic() - began
        if self._left < 0:
            raise QueryLimit(
                f"the export was ended: it may take {self._seconds:g} s",
                remedy="export the graph with `muniment export` on the server's machine, or ask for parts by SPARQL",
                limit=self._seconds,
                of="time",
            )
        return chunk

    def close(self) -> None:
        """Gives back what it holds."""
        self._export.close()


def _opened(base: Base, wanted: ExportRequest, moment: Moment, *, signed: bool) -> Export:
    exporter = Exporter(base.ledger, base.key, base.host)
    return exporter.signed(wanted, moment) if signed else exporter.open(wanted, moment)


def _graph(base: Base, text: str) -> Iri:
    try:
        graph = Iri(text)
        base.canonicaliser.canonical(graph)
    except InvalidTerm as error:
        error.where = "graph"
        raise
    return graph
