"""`/query`: SPARQL in a form, the answer as a table.

Rules
-----
* A query is read as `/sparql` reads it, for the same caller, at the same pair of times. It only reads.
* The form is posted. What fits into an address is then asked anew by that address, so that it can be linked to; what
  does not is answered as it came.
* The first rows are shown, and it is said when there are others. A file has all of them.
* What is wrong with a query is said beside it, with the line and a mark where it goes wrong.

Example
-------
::

    GET /query?query=SELECT+*+%7B+%3Fs+%3Fp+%3Fo+%7D&valid-at=2005
    GET /query?query=…&format=csv                               a file
    POST /query query=…                                         the same, of any length
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.http.moments import AS_OF, VALID_AT
from api.http.parameters import Parameter
from api.http.problems import status_of
from api.pages.names import names_for
from api.pages.rendering import PRIVATE, page, see_other
from api.pages.samples import SAMPLES
from api.pages.sign_in import LONGEST_ADDRESS
from api.pages.terms import Shown, iris_of
from api.pages.times import at
from api.pages.visible import visible
from api.pages.visiting import Visitor, page_parameters, read_form, time_of
from api.pages.wording import remedy_on_pages
from api.routes.query_answers import ask as ask_workers
from api.routes.query_answers import sent
from api.service import Service
from bridge.reading.reader import QueryRequest
from bridge.sparql.columns import in_order
from bridge.sparql.hints import hint
from bridge.sparql.scan import scan
from kernel.errors import CallerError, InvalidParameter, NotAcceptable
from kernel.terms import Iri, Literal, TripleTerm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from api.http.parameters import Parameters
    from api.pages.visiting import Visit
    from bridge.base import Base
    from bridge.replicas.answers import Answer
    from bridge.sparql.sample import Sample

_TEXT: Final[dict[str, object]] = {"type": "string"}
QUERY: Final = Parameter("query", "the query", _TEXT, "SELECT * { ?s ?p ?o } LIMIT 10")
FORMAT: Final = Parameter("format", "as a file, in which format", _TEXT, "csv")
_PARAMETERS: Final = (QUERY, VALID_AT, AS_OF, FORMAT)

MOST_ROWS: Final = 1_000

_FILES: Final = {
    "csv": ("CSV", "text/csv", "csv"),
    "json": ("JSON", "application/sparql-results+json", "json"),
    "turtle": ("Turtle", "text/turtle", "ttl"),
    "jsonld": ("JSON-LD", "application/ld+json", "jsonld"),
}
"""By what an address calls them: their names, media types and endings."""

_OF_TABLES: Final = ("csv", "json")
_OF_GRAPHS: Final = ("turtle", "jsonld")
_PLACE: Final = re.compile(r"line (\d+), column (\d+)")

_OFFERED: Final = {each.text for each in SAMPLES}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a query; `line` and `mark` show where, if that is known."""

    message: str
    remedy: str
    where: str | None
    line: str | None
    mark: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asks; None where they leave it open."""

    query: str | None
    valid_at: str | None
    as_of: str | None
    form: str | None
    written: Mapping[str, str]

    @classmethod
    def read(cls, parameters: Parameters) -> Self:
        """What the fields of the form say."""
        written = {each.name: parameters.text(each) or "" for each in (QUERY, VALID_AT, AS_OF)}
        valid_at, as_of = time_of(parameters, VALID_AT), time_of(parameters, AS_OF)
        return cls(parameters.text(QUERY), valid_at, as_of, parameters.text(FORMAT), written)

    def address(self, form: str | None = None) -> str | None:
        """Where it is asked by a link; None where it is too long for one."""
        fields = {**self.written, FORMAT.name: form or ""}
        address = "/query?" + urlencode({name: value for name, value in fields.items() if value})
        return address if len(address) <= LONGEST_ADDRESS else None


@router.get("/query", response_class=Response)
async def query(request: Request, visit: Visitor) -> Response:
    """The form, and the answer to what the address asks."""
    asked = Asked.read(page_parameters(request, _PARAMETERS))
    if asked.query is None and (draft := visit.session.draft_of("/query")) is not None:
        asked = replace(asked, written={**asked.written, QUERY.name: draft})
        if request.method != "HEAD":
            visit.session.forget_draft("/query")
    return await _answered(request, visit, asked)


@router.post("/query", response_class=Response)
async def ask(request: Request, visit: Visitor) -> Response:
    """The same for a query of any length; what an address can hold has its answer there."""
    page_parameters(request, ())
    asked = Asked.read(await read_form(request, visit.session.forgery_token, _PARAMETERS))
    address = asked.address(asked.form)
    return await _answered(request, visit, asked) if address is None else see_other(address)


async def _answered(request: Request, visit: Visit, asked: Asked) -> Response:
    content: dict[str, object] = {
        "chosen": asked.written,
        "samples": [(sample, "/query?" + urlencode({QUERY.name: sample.text})) for sample in SAMPLES],
        "answer": None,
        "fault": None,
    }
    text, service = asked.query, Service.of(request)
    if text is None:
        return page(request, "query.html", visit, content)
    if asked.form is not None:
        return await _file(request, visit, asked.form, text, asked)
    try:
        wanted = QueryRequest(visit.principal, text)
        answered = await ask_workers(request, visit.principal, wanted, asked.as_of, asked.valid_at, rows=MOST_ROWS)
        answer = await service.read(lambda: _shown(service.base, visit, answered, asked))
    except CallerError as error:
        content["fault"] = fault_in(text, error)
        return page(request, "query.html", visit, content, status=status_of(error))
    address = asked.address(max(_FILES, key=len))
    forms = () if answer["boolean"] is not None else _OF_GRAPHS if answer["graph"] else _OF_TABLES
    files = [(_FILES[each][0], asked.address(each) if address else each) for each in forms]
    return page(request, "query.html", visit, {**content, "answer": {**answer, "files": files, "address": address}})


def _shown(base: Base, visit: Visit, answered: Answer, asked: Asked) -> Mapping[str, object]:
    text, now = asked.query or "", asked.valid_at is None and asked.as_of is None
    found = in_order(text, answered.sample())
    return {
        "boolean": found.boolean,
        "graph": found.graph,
        "variables": found.variables,
        "rows": _rows(base, visit, found),
        "more": found.more,
        # A query that the page itself offers looks at every fact on purpose.
        "hint": hint(text) if scan(text).mentions_history and text not in _OFFERED else None,
        "head": answered.head,
        "valid_at": at(base.host.now() if now else answered.valid_at),
    }


def _rows(base: Base, visit: Visit, found: Sample) -> list[list[Shown | None]]:
    terms = (cell for row in found.rows for cell in row if isinstance(cell, (Iri, Literal, TripleTerm)))
    names = names_for(base.reader, visit.principal, iris_of(*terms))
    return [[names.cell(cell) for cell in row] for row in found.rows]


async def _file(request: Request, visit: Visit, form: str, text: str, asked: Asked) -> Response:
    if form not in _FILES:
        remedy = f"take one of {', '.join(name for name, _, _ in _FILES.values())}"
        raise InvalidParameter(f"there is no file of the kind {form[:60]!r}", remedy=remedy, where=FORMAT.name)
    name, media_type, ending = _FILES[form]
    wanted = QueryRequest(visit.principal, text, media_type)
    try:
        answered = await ask_workers(request, visit.principal, wanted, asked.as_of, asked.valid_at)
    except NotAcceptable as error:
        remedy = "take CSV or JSON of a table, Turtle or JSON-LD of triples"
        raise InvalidParameter(f"{name} cannot hold this answer", remedy=remedy, where=FORMAT.name) from error
    headers = {
        **PRIVATE,
        "Content-Type": answered.media_type,
        "Content-Disposition": f'attachment; filename="answer.{ending}"',
    }
    return sent(answered, headers)


def fault_in(text: str, error: CallerError) -> Fault:
    """What is wrong with a query, with the line in which it goes wrong."""
    place, remedy = _PLACE.fullmatch(error.where or ""), remedy_on_pages(error.code, error.remedy)
    lines = text.split("\n")
    if place is None or not 1 <= int(place[1]) <= len(lines):
        return Fault(error.message, remedy, error.where, None, None)
    line = lines[int(place[1]) - 1].replace("\t", " ")
    before = visible(line[: int(place[2]) - 1])
    return Fault(error.message, remedy, error.where, visible(line), " " * len(before) + "^")
