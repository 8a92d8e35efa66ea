"""Writes of a graph that insist on what it was when it was read: no write of somebody else is lost (RFC 9110, 13.1)."""

from __future__ import annotations

import httpx2
import pytest

from kernel.access import Role
from tests.api.bodies import change, request
from tests.api.serving import Served

G = {"graph": "urn:g"}
TURTLE = {"content-type": "text/turtle"}


def put(client: httpx2.Client, text: str, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.put("/graphs", params=G, content=text, headers=TURTLE | named)


def tag_of(client: httpx2.Client, **headers: str) -> str:
    answer = client.get("/graphs", params=G, headers=headers)
    assert answer.status_code == 200
    tag: str = answer.headers["ETag"]
    assert tag.startswith('"'), "strong: a weak one matches nothing"
    return tag


def failed(answer: httpx2.Response) -> None:
    assert (answer.status_code, answer.json()["code"]) == (412, "precondition-failed"), answer.text
    assert answer.json()["remedy"]


def test_a_graph_that_changed_since_it_was_read_is_not_overwritten(server: Served) -> None:
    one, other = server.writer, server.writer
    assert put(one, "<urn:a> <urn:p> 1 .").status_code == 201
    seen_by_one, seen_by_other = tag_of(one), tag_of(other, accept="application/n-triples")
    assert put(one, "<urn:a> <urn:p> 2 .", If_Match=seen_by_one).status_code == 200
    failed(put(other, "<urn:a> <urn:p> 3 .", If_Match=seen_by_other))
    failed(other.delete("/graphs", params=G, headers={"If-Match": seen_by_other}))
    failed(other.post("/graphs", params=G, content="<urn:a> <urn:p> 4 .", headers=TURTLE | {"If-Match": seen_by_other}))
    assert "2" in one.get("/graphs", params=G).text
    assert put(other, "<urn:a> <urn:p> 3 .", If_Match=f'"other", {tag_of(other)}').status_code == 200
    assert other.delete("/graphs", params=G, headers={"If-Match": tag_of(other)}).status_code == 200


def test_what_is_written_elsewhere_is_no_change_of_it(server: Served) -> None:
    client = server.writer
    put(client, "<urn:a> <urn:p> 1 .")
    tag = tag_of(client)
    for number in range(3):
        written = client.post("/changes", json=request(change(f"x{number}", "p", "o")))
        assert written.status_code == 201
    assert put(client, "<urn:a> <urn:p> 2 .", If_Match=tag).status_code == 200
    tag = tag_of(client)
    again = client.post("/changes", json=request(change("x", "p", "o", graph="urn:g")))
    assert again.status_code == 201
    failed(put(client, "<urn:a> <urn:p> 3 .", If_Match=tag))


def test_a_star_is_for_a_graph_that_is_there_or_is_not(server: Served) -> None:
    client = server.writer
    failed(put(client, "<urn:a> <urn:p> 1 .", If_Match="*"))
    assert put(client, "<urn:a> <urn:p> 1 .", If_None_Match="*").status_code == 201
    failed(put(client, "<urn:a> <urn:p> 2 .", If_None_Match="*"))
    assert put(client, "<urn:a> <urn:p> 2 .", If_Match="*").status_code == 200


def test_a_tag_of_another_graph_or_of_nobody_matches_nothing(server: Served) -> None:
    client = server.writer
    put(client, "<urn:a> <urn:p> 1 .")
    client.put("/graphs", params={"graph": "urn:h"}, content="<urn:a> <urn:p> 1 .", headers=TURTLE)
    other = client.get("/graphs", params={"graph": "urn:h"}).headers["ETag"]
    for tag in (other, '"x"', f"W/{tag_of(client)}", '"99999-0-000000000000-000000000000"', "nonsense"):
        failed(put(client, "<urn:a> <urn:p> 2 .", If_Match=tag))


@pytest.mark.parametrize("headers", [{"If-None-Match": '"x"'}, {"If-Match": "*", "If-None-Match": "*"}])
def test_what_cannot_be_meant_is_refused(shared: Served, headers: dict[str, str]) -> None:
    answer = shared.writer.put("/graphs", params=G, content="<urn:a> <urn:p> 1 .", headers=TURTLE | headers)
    assert (answer.status_code, answer.json()["where"]) == (400, "If-None-Match")


def test_who_has_the_graph_need_not_be_sent_it(server: Served) -> None:
    client, reader = server.writer, server.client(Role.READER)
    put(client, "<urn:a> <urn:p> 1 .")
    tag = tag_of(reader)
    assert reader.get("/graphs", params=G, headers={"If-None-Match": tag}).status_code == 304
    assert reader.get("/graphs", params=G, headers={"If-None-Match": tag, "accept": "text/turtle"}).status_code in {
        200,
        304,
    }
    put(client, "<urn:a> <urn:p> 2 .")
    assert reader.get("/graphs", params=G, headers={"If-None-Match": tag}).status_code == 200
