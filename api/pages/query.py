"""`/query`: SPARQL in a form, the answer as a table.

Rules
-----
* A query is read as `/sparql` reads it, for the same caller, at the same pair of times; it is part of the address, so
  that it can be linked to. It only reads.
* The first rows are shown, and it is said when there are others. A file has all of them.
* What is wrong with a query is said beside it, with the line and a mark where it goes wrong.

Example
-------
::

    GET /query?query=SELECT+*+%7B+%3Fs+%3Fp+%3Fo+%7D&valid-at=2005
    GET /query?query=…&format=csv                               a file
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.pages.names import names_for
from api.pages.rendering import PRIVATE, page
from api.pages.samples import SAMPLES
from api.pages.terms import Shown, iris_of
from api.pages.times import at
from api.pages.visiting import Visitor, page_parameters
from api.parameters import Parameter
from api.problems import status_of
from api.service import Service
from api.sparql import AS_OF, VALID_AT
from bridge.reading import QueryRequest
from kernel.errors import CallerError, InvalidParameter
from kernel.terms import Iri, Literal, TripleTerm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from api.pages.visiting import Visit
    from bridge.base import Base
    from bridge.sparql.sample import Sample

_TEXT: Final[dict[str, object]] = {"type": "string"}
QUERY: Final = Parameter("query", "the query", _TEXT, "SELECT * { ?s ?p ?o } LIMIT 10")
FORMAT: Final = Parameter("format", "as a file, in which format", _TEXT, "csv")
_PARAMETERS: Final = (QUERY, VALID_AT, AS_OF, FORMAT)

MOST_ROWS: Final = 1_000

_FILES: Final = {
    "csv": ("CSV", "text/csv"),
    "json": ("JSON", "application/sparql-results+json"),
    "turtle": ("Turtle", "text/turtle"),
    "jsonld": ("JSON-LD", "application/ld+json"),
}
_OF_TABLES: Final = ("csv", "json")
_OF_GRAPHS: Final = ("turtle", "jsonld")
_PLACE: Final = re.compile(r"line (\d+), column (\d+)")

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a query; `line` and `mark` show where, if that is known."""

    message: str
    remedy: str
    where: str | None
    line: str | None
    mark: str | None


@router.get("/query", response_class=Response)
async def query(request: Request, visit: Visitor) -> Response:
    """The form, and the answer to what it asks."""
    parameters = page_parameters(request, _PARAMETERS)
    text, form = parameters.text(QUERY), parameters.text(FORMAT)
    as_of, valid_at = parameters.time(AS_OF), parameters.time(VALID_AT)
    chosen = {QUERY.name: text or "", VALID_AT.name: valid_at or "", AS_OF.name: as_of or ""}
    content: dict[str, object] = {
        "chosen": chosen,
        "samples": [(sample, "/query?" + urlencode({QUERY.name: sample.text})) for sample in SAMPLES],
        "answer": None,
        "fault": None,
    }
    if text is None:
        return page(request, "query.html", visit, content)
    base = Service.of(request).base
    if form is not None:
        return await _file(request, visit, form, text, as_of, valid_at)
    try:
        answer = await Service.of(request).query(lambda: _answer(base, visit, text, as_of, valid_at))
    except CallerError as error:
        content["fault"] = fault_in(text, error)
        return page(request, "query.html", visit, content, status=status_of(error))
    asked = {name: value for name, value in chosen.items() if value}
    forms = _OF_GRAPHS if answer["graph"] else _OF_TABLES
    files = [(_FILES[each][0], "/query?" + urlencode({**asked, FORMAT.name: each})) for each in forms]
    return page(request, "query.html", visit, {**content, "answer": {**answer, "files": files}})


def _answer(base: Base, visit: Visit, text: str, as_of: str | None, valid_at: str | None) -> Mapping[str, object]:
    asked = QueryRequest(visit.principal, text)
    moment = base.reader.moment(as_of, valid_at)
    sampled = base.reader.sample(asked, moment, limit=MOST_ROWS)
    found = sampled.sample
    return {
        "boolean": found.boolean,
        "graph": found.graph,
        "variables": found.variables,
        "rows": _rows(base, visit, found),
        "more": found.more,
        "head": sampled.head,
        "valid_at": at(base.host.now() if moment.valid_at is None else sampled.valid_at),
    }


def _rows(base: Base, visit: Visit, found: Sample) -> list[list[Shown | None]]:
    terms = (cell for row in found.rows for cell in row if isinstance(cell, (Iri, Literal, TripleTerm)))
    names = names_for(base.reader, visit.principal, iris_of(*terms))
    return [[names.cell(cell) for cell in row] for row in found.rows]


async def _file(
    request: Request, visit: Visit, form: str, text: str, as_of: str | None, valid_at: str | None
) -> Response:
    if form not in _FILES:
        remedy = f"use one of {', '.join(_FILES)}"
        raise InvalidParameter(f"there is no format {form[:60]!r}", remedy=remedy, where=FORMAT.name)
    service = Service.of(request)
    reader, asked = service.base.reader, QueryRequest(visit.principal, text, _FILES[form][1])
    answered = await service.query(lambda: reader.query(asked, reader.moment(as_of, valid_at)))
    headers = {
        **PRIVATE,
        "Content-Type": answered.media_type,
        "Content-Disposition": f'attachment; filename="answer.{form}"',
    }
    return Response(answered.body, 200, headers)


def fault_in(text: str, error: CallerError) -> Fault:
    """What is wrong with a query, with the line in which it goes wrong."""
    place = _PLACE.fullmatch(error.where or "")
    lines = text.split("\n")
    if place is None or not 1 <= int(place[1]) <= len(lines):
        return Fault(error.message, error.remedy, error.where, None, None)
    line, column = lines[int(place[1]) - 1].replace("\t", " "), int(place[2])
    return Fault(error.message, error.remedy, error.where, line, " " * (min(column, len(line) + 1) - 1) + "^")
