"""Whether answers are as the OpenAPI document says."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import httpx2
from pydantic import JsonValue, TypeAdapter

from api.models.documents import DOCUMENTS
from api.models.service import Problem


@dataclass(frozen=True, slots=True)
class Documented:
    """An OpenAPI document, against which answers are held."""

    document: Mapping[str, Any]

    @classmethod
    def of(cls, url: str) -> Self:
        """The document that a service gives of itself."""
        answer = httpx2.get(f"{url}/openapi.json", timeout=60, trust_env=False)
        assert answer.status_code == 200
        return cls(answer.json())

    def check(self, response: httpx2.Response) -> None:
        """Fails unless route, status, media type, headers and JSON are documented."""
        request = response.request
        path = request.url.raw_path.decode().partition("?")[0]  # in which an encoded slash is part of a segment
        operation = self._operation(request.method, path)
        if operation is None:
            assert path == "/openapi.json" or response.status_code in {204, 404, 405}
            return
        status = "default" if response.status_code == 500 else str(response.status_code)
        answer = operation["responses"].get(status)
        assert answer is not None, f"{request.method} {request.url.path} answers {response.status_code} unannounced"
        for name in answer.get("headers", {}):
            assert name in response.headers, f"{name} is announced and missing"
        if request.method == "HEAD" or response.status_code == 304:
            return
        media_type = response.headers["content-type"].partition(";")[0]
        assert media_type in answer["content"], f"{media_type} unannounced for {response.status_code}"
        schema = answer["content"][media_type]["schema"]
        if "$ref" in schema:
            response.read()
            conforms(response.json(), schema["$ref"].rpartition("/")[2])

    def _operation(self, method: str, path: str) -> Mapping[str, Any] | None:
        verb = "get" if method == "HEAD" else method.lower()
        for template, operations in self.document["paths"].items():
            if _fits(template.split("/"), path.split("/")):
                found: Mapping[str, Any] | None = operations.get(verb)
                return found
        return None


def conforms(answer: JsonValue, model: str) -> None:
    """Fails unless the JSON is of the model, with no member that the model has not."""
    if model == "Problem" and isinstance(answer, dict):
        known = Problem.__annotations__
        answer = {name: value for name, value in answer.items() if name in known}
    assert _adapter(model).validate_python(answer, strict=False) == answer


@cache
def _adapter(model: str) -> TypeAdapter[Any]:
    return TypeAdapter(next(each for each in DOCUMENTS if each.__name__ == model))


def _fits(template: list[str], path: list[str]) -> bool:
    if template[-1] == "{path}":  # which takes slashes too
        path = [*path[: len(template) - 1], "/".join(path[len(template) - 1 :])]
    return len(template) == len(path) and all(
        part.startswith("{") or part == given for part, given in zip(template, path, strict=True)
    )
