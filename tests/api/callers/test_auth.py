"""Who is let in, and what the others learn."""

from base64 import b64encode

import httpx2
import pytest

from api.app import create_app
from api.callers.auth import token_hash
from api.settings import Settings
from kernel.access import Principal, Role
from kernel.time.instants import Instant
from tests.api.bodies import change, request
from tests.api.serving import Served

OPEN_PATHS = {"/health", "/.well-known/did.json", "/did.json"}


def test_without_a_token_only_what_the_documentation_names_answers(shared: Served) -> None:
    routes = {route.path for route in create_app(shared.base, Settings()).state.routes if "GET" in route.methods}
    plain = {path for path in routes | {"/openapi.json"} if "{" not in path}
    answers = {path: httpx2.get(shared.url + path).status_code for path in plain}
    assert {path for path, status in answers.items() if status == 200} == {"/health", "/openapi.json", "/sign-in"}


def test_every_documented_route_but_the_health_check_wants_a_token(shared: Served) -> None:
    nobody = shared.client(None)
    for template, operations in shared.documented.document["paths"].items():
        path = template.replace("{certificate}", "01890a5d-ac96-774b-bcce-b302099a8057")
        for method in operations:
            answer = nobody.request(method, path)
            assert (answer.status_code == 401) is (path not in OPEN_PATHS), (method, path, answer.status_code)


def test_without_a_token_the_answer_names_the_scheme_and_the_remedy(shared: Served) -> None:
    answer = shared.client(None).get("/facts", params={"subject": "urn:a"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="muniment"'
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["code"], problem["where"]) == ("unauthenticated", "Authorization")
    assert "muniment token create" in problem["remedy"]


@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer somebody-elses",
        "Bearer a b",
        "Bearer é",
    ],
)
def test_what_is_no_known_token_is_refused_alike(shared: Served, authorization: str) -> None:
    headers = [(b"authorization", authorization.encode("latin-1"))]
    answer = shared.client(None).get("/certificates", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="muniment", error="invalid_token"'
    assert authorization.rpartition(" ")[2] not in answer.json().values()
    assert "somebody-elses" not in answer.text


@pytest.mark.parametrize(
    ("authorizations", "detail"),
    [
        (
            [f"Basic {b64encode(b'user:password').decode()}"],
            "the Authorization header is of another scheme than Bearer",
        ),
        (["nonsense"], "the Authorization header is of another scheme than Bearer"),
        (["Bearer a", "Bearer b"], "there are several Authorization headers, and one alone can count"),
        (["Bearer"], "there is no token"),
        ([], "there is no token"),
    ],
)
def test_where_no_token_was_sent_this_is_said(shared: Served, authorizations: list[str], detail: str) -> None:
    answer = shared.client(None).get("/certificates", headers=[("authorization", each) for each in authorizations])
    assert (answer.status_code, answer.json()["detail"]) == (401, detail)
    assert answer.headers["www-authenticate"] == 'Bearer realm="muniment"'
    assert "Bearer" in answer.json()["remedy"]


def test_the_scheme_is_not_case_sensitive(shared: Served) -> None:
    token = shared.token(Role.READER)
    assert shared.client(None).get("/certificates", headers={"authorization": f"bearer {token}"}).status_code == 200


def test_two_authorization_headers_are_none(shared: Served) -> None:
    token = shared.token(Role.READER)
    twice = [("authorization", f"Bearer {token}"), ("authorization", f"Bearer {token}")]
    assert shared.client(None).get("/certificates", headers=twice).status_code == 401


def test_a_revoked_token_works_no_more(shared: Served) -> None:
    principal = Principal("leaver", Role.READER)
    shared.base.ledger.add_principal(principal, token_hash("leaving"))
    client = shared.client(None)
    with_token = {"authorization": "Bearer leaving"}
    assert client.get("/certificates", headers=with_token).status_code == 200
    shared.base.ledger.revoke("leaver")
    assert client.get("/certificates", headers=with_token).status_code == 401


def test_an_expired_token_works_no_more(shared: Served) -> None:
    expired = Instant(shared.base.host.now() - 1)
    shared.base.ledger.add_principal(Principal("past", Role.READER), token_hash("past"), expires=expired)
    client = shared.client(None)
    assert client.get("/certificates", headers={"authorization": "Bearer past"}).status_code == 401


def test_a_token_comes_before_everything_else_that_may_be_wrong(shared: Served) -> None:
    nobody = shared.client(None)
    assert nobody.get("/facts", params={"nonsense": "1"}).status_code == 401
    assert nobody.post("/changes", content=b"{", headers={"content-type": "text/plain"}).status_code == 401


def test_a_reader_may_not_write(shared: Served) -> None:
    answer = shared.client(Role.READER).post("/changes", json=request(change("a", "p", "b")))
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_a_writer_writes_where_its_token_says(shared: Served) -> None:
    writer = shared.client(Role.WRITER, "urn:g1")
    assert writer.post("/changes", json=request(change("a", "p", "b", graph="urn:g1"))).status_code == 201
    elsewhere = writer.post("/changes", json=request(change("a", "p", "b", graph="urn:g2")))
    assert (elsewhere.status_code, elsewhere.json()["where"]) == (403, "/changes/0")
    assert writer.post("/changes", json=request(change("a", "p", "b"))).status_code == 403


@pytest.mark.parametrize("graph", ["https://w3id.org/muniment#shapes", "https://w3id.org/muniment#rules"])
def test_governance_is_written_by_administrators(shared: Served, graph: str) -> None:
    body = request(change("a", "p", "b", graph=graph))
    assert shared.client(Role.EDITOR).post("/changes", json=body).status_code == 403
    assert shared.client(Role.ADMINISTRATOR).post("/changes", json=body).status_code in {201, 422}


def test_history_is_written_by_nobody(shared: Served) -> None:
    history = "https://w3id.org/muniment/history/urn%3Ag"
    answer: httpx2.Response = shared.client(Role.ADMINISTRATOR).post(
        "/changes", json=request(change("a", "p", "b", graph=history))
    )
    assert answer.status_code == 403
