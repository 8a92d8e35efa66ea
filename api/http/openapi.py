"""The OpenAPI document: what FastAPI knows of the routes, and what only they know themselves.

Rules
-----
* A route declares its answers with `answers`, its body and headers with `extra`, its parameters by the list from which
  it reads them: what is documented is what is served, and a test compares every answer with it.
* Every error is a problem document. Who has to say who they are may do so too often.
* The schemas are those of `api.models`, each of a whole request or answer with its example.

Example
-------
>>> list(answers({200: Answer("the health", json_content("Health"))}, problems=(503,)))
[200, 503, 'default']
"""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from api.http.problems import MEDIA_TYPE
from api.models.documents import DOCUMENTS
from api.models.examples import EXAMPLES
from api.models.service import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fastapi import FastAPI

    from api.http.parameters import Parameter

JsonObject = dict[str, Any]  # as FastAPI has it
"""A part of the document."""

_REFERENCE: Final = "#/components/schemas/{model}"

_DESCRIPTION: Final = """\
An RDF knowledge graph in which every change is planned, checked, certified, and only then applied.

Facts carry two times: when they were true (valid time) and when they were believed (transaction time). `valid-at` and
`as-of` ask for a moment of each. Errors are problem documents (RFC 9457) with a stable `code` and a `remedy`."""

_PROBLEMS: Final[dict[int, str]] = {
    400: "The request cannot be used: `where` says which part of it",
    401: "No token, or one that is unknown, expired or revoked",
    403: "The caller's role or graphs do not allow it",
    404: "Nothing of that name that the caller may see",
    406: "None of the formats accepted can be given",
    409: "What is named is in another state",
    412: "What is to be written is not as the request says that it has to be",
    413: "The body is larger than the service takes",
    415: "The body's format is not read here",
    422: "The changes do not fit what is believed, the key was used for another body, or a query takes too much",
    429: "The caller asks more often than they may",
    502: "Another host, which was to be asked, does not give what is needed",
    503: "The service cannot answer now",
    504: "The state that the request insists on was not reached in time",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a route.

    Args:
        description: when it comes.
        content: schema and example by media type.
        headers: descriptions by name.
    """

    description: str
    content: Mapping[str, JsonObject]
    headers: Mapping[str, str] = field(default_factory=dict)


def json_content(model: str) -> dict[str, JsonObject]:
    """JSON of one of the models."""
    return {"application/json": {"schema": reference(model)}}


def form_content(fields: Sequence[Parameter]) -> dict[str, JsonObject]:
    """A form with these fields; the first one says what a form is for."""
    schema = {"type": "object", "properties": {each.name: each.whole_schema for each in fields}}
    return {"application/x-www-form-urlencoded": {"schema": schema, "example": {fields[0].name: fields[0].example}}}


def text_content(media_types: Iterable[str], example: str | None = None) -> dict[str, JsonObject]:
    """Text in any of the media types; where that is a kind of JSON, any JSON."""
    shown: JsonObject = {} if example is None else {"example": example}
    return {each: {"schema": {} if each.endswith("json") else {"type": "string"}, **shown} for each in media_types}


def reference(model: str) -> JsonObject:
    """A reference to the schema of a model."""
    return {"$ref": _REFERENCE.format(model=model)}


def answers(good: Mapping[int, Answer], *, problems: Iterable[int]) -> dict[int | str, JsonObject]:
    """What FastAPI takes as `responses`."""
    declared: dict[int | str, JsonObject] = {status: _answer(answer) for status, answer in good.items()}
    statuses = set(problems)
    for status in sorted(statuses | {429} if 401 in statuses else statuses):
        problem: JsonObject = {"schema": reference("Problem"), "example": _example(status)}
        declared.setdefault(status, {"description": _PROBLEMS[status], "content": {}})["content"][MEDIA_TYPE] = problem
    any_other: JsonObject = {"schema": reference("Problem")}
    return declared | {"default": {"description": "Any other error", "content": {MEDIA_TYPE: any_other}}}


def extra(
    *,
    parameters: Sequence[Parameter] = (),
    headers: Mapping[str, tuple[str, JsonObject]] | None = None,
    body: Mapping[str, JsonObject] | None = None,
) -> JsonObject:
    """What FastAPI takes as `openapi_extra`.

    Args:
        parameters: those that the route reads.
        headers: description and schema by name.
        body: schema and example by media type.
    """
    listed = [
        {"name": name, "in": "header", "required": False, "description": description, "schema": schema}
        for name, (description, schema) in (headers or {}).items()
    ]
    document: JsonObject = {"parameters": [*listed, *(parameter.document() for parameter in parameters)]}
    if body is not None:
        document["requestBody"] = {"required": True, "content": dict(body)}
    return document


def openapi_document(app: FastAPI) -> JsonObject:
    """The whole document."""
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=_DESCRIPTION,
        routes=app.routes,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        tags=[
            {"name": "reading", "description": "SPARQL, facts and exports, at any pair of times"},
            {"name": "changes", "description": "Asking for changes"},
            {"name": "graphs", "description": "Graphs as a whole, by the Graph Store Protocol"},
            {"name": "certificates", "description": "What was asked and found, decisions, what stands"},
            {"name": "what if", "description": "Changes that are held, judged and queried, and not made"},
            {"name": "registered queries", "description": "Queries whose answers every change is held against"},
            {"name": "purges", "description": "What must not exist, and what is held of a node"},
            {"name": "log", "description": "The transparency log and the keys, for those who check them"},
            {"name": "service", "description": "The service itself"},
        ],
    )
    if app.state.root:
        document["servers"] = [{"url": app.state.root}]
    document.setdefault("components", {}).setdefault("schemas", {}).update(component_schemas())
    return document


def component_schemas() -> JsonObject:
    """The schemas of all models, by name."""
    inputs: list[tuple[str, Any, TypeAdapter[Any]]] = [
        (model.__name__, "serialization", TypeAdapter(model)) for model in DOCUMENTS
    ]
    _, schemas = TypeAdapter.json_schemas(inputs, ref_template=_REFERENCE)
    definitions: JsonObject = schemas["$defs"]
    for name, example in EXAMPLES.items():
        definitions[name]["examples"] = [example]
    return definitions


def _answer(answer: Answer) -> JsonObject:
    document: JsonObject = {"description": answer.description, "content": dict(answer.content)}
    if answer.headers:
        document["headers"] = {
            name: {"description": description, "schema": {"type": "string"}}
            for name, description in answer.headers.items()
        }
    return document


def _example(status: int) -> Problem:
    return {
        "type": "https://w3id.org/muniment/problem/…",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": _PROBLEMS[status],
        "code": "…",
        "remedy": "…",
        "requestId": "5f0c9d3a7b1e4c68",
    }
