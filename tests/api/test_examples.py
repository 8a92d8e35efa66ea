"""The examples of the OpenAPI document: one for each request and answer, of its type, and taken where sent."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from api.models.documents import DOCUMENTS
from api.models.examples import EXAMPLES
from bridge.base import Base
from kernel.access import Role
from tests.api.documented import conforms
from tests.api.serving import Served, served

IN_PARTS: Final = "multipart/form-data"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with Base.open(None) as base, served(base) as running:
        yield running


@pytest.fixture(scope="module")
def document(server: Served) -> Mapping[str, Any]:
    return server.documented.document


def test_every_request_and_answer_has_one() -> None:
    assert EXAMPLES.keys() == {each.__name__ for each in DOCUMENTS}


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_of_its_type(name: str) -> None:
    conforms(EXAMPLES[name], name)


def test_every_operation_is_described(document: Mapping[str, Any]) -> None:
    tags = {each["name"] for each in document["tags"]}
    identifiers: list[str] = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            told = f"{method} {path}"
            identifiers.append(operation["operationId"])
            assert operation["summary"], told
            assert not operation["summary"].endswith("."), told
            assert operation["description"].endswith("."), told
            assert set(operation["tags"]) <= tags, told
            assert "default" in operation["responses"], told
            assert all(each.get("description") for each in operation.get("parameters", ())), told
            for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
                shown = "example" in content or content["schema"].get("$ref", "").rpartition("/")[2] in EXAMPLES
                assert shown, f"{told}: {media_type}"
    assert len(set(identifiers)) == len(identifiers)


def test_what_it_sends_is_taken(server: Served, document: Mapping[str, Any]) -> None:
    client = server.client(Role.ADMINISTRATOR)
    sent = {
        "/changes": ("post", 201),
        "/what-if": ("post", 201),
        "/graphs": ("post", 201),
        "/queries/{name}": ("put", 201),  # last: from then on a change of its answer waits
    }
    for path, (method, status) in sent.items():
        content = document["paths"][path][method]["requestBody"]["content"]
        for media_type, each in content.items():
            if media_type == IN_PARTS:
                continue
            example = each.get("example") or EXAMPLES[each["schema"]["$ref"].rpartition("/")[2]]
            body: dict[str, Any] = {"content": example} if isinstance(example, str) else {"json": example}
            place = path.replace("{name}", "londoners")
            answer = client.request(method, place, headers={"content-type": media_type}, **body)
            assert answer.status_code in (200, status), (path, media_type, answer.text)
    previewed = client.post("/purges", json=EXAMPLES["PurgeRequest"])
    assert previewed.status_code == 200, previewed.text
    assert previewed.json()["facts"] >= 1
