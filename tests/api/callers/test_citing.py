"""Callers that have to cite what they read, once, with whatever they write."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import httpx2
import pytest

from api.callers.auth import token_hash
from api.callers.citing import LIFETIME, READ_STATE, Citations
from bridge.base import Base
from kernel.access import Principal, Role
from tests.api.bodies import EX, change, request
from tests.api.console import run
from tests.api.serving import Served, served

TURTLE: Final = {"Content-Type": "text/turtle"}
INSERT: Final = f"INSERT DATA {{ <{EX}a> <{EX}p> 1 }}"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with Base.open(None) as base, served(base) as running:
        yield running


@pytest.fixture
def agent(server: Served) -> httpx2.Client:
    """A writer that cites."""
    return server.client_of(Principal(f"agent-{id(server)}-{next(_NUMBERS)}", Role.EDITOR, cites=True))


_NUMBERS: Final = iter(range(1_000))


def read(agent: httpx2.Client, path: str = "/certificates") -> str:
    answer = agent.get(path)
    assert answer.status_code == 200
    state: str = answer.headers[READ_STATE]
    return state


Write = Callable[[httpx2.Client, dict[str, str]], httpx2.Response]


def changes(agent: httpx2.Client, headers: dict[str, str]) -> httpx2.Response:
    return agent.post("/changes", json=request(change("a", "p", "b")), headers=headers)


def update(agent: httpx2.Client, headers: dict[str, str]) -> httpx2.Response:
    return agent.post("/sparql", data={"update": INSERT}, headers=headers)


def direct_update(agent: httpx2.Client, headers: dict[str, str]) -> httpx2.Response:
    return agent.post("/sparql", content=INSERT, headers={"Content-Type": "application/sparql-update"} | headers)


def graph(agent: httpx2.Client, headers: dict[str, str]) -> httpx2.Response:
    return agent.post("/graphs?graph=urn:g", content="<urn:a> <urn:p> 1 .", headers=TURTLE | headers)


WRITES: Final[tuple[Write, ...]] = (changes, update, direct_update, graph)


@pytest.mark.parametrize("write", WRITES)
def test_a_write_cites_a_state_that_was_read_once(agent: httpx2.Client, write: Write) -> None:
    bare = write(agent, {})
    assert (bare.status_code, bare.json()["code"], bare.json()["where"]) == (409, "state-not-cited", READ_STATE)
    state = read(agent)
    written = write(agent, {READ_STATE: state})
    assert written.status_code in {200, 201, 204}, written.text
    assert READ_STATE not in written.headers  # what was not read cannot be cited
    again = write(agent, {READ_STATE: state})
    assert (again.status_code, again.json()["code"]) == (409, "state-not-cited")
    assert write(agent, {READ_STATE: read(agent)}).status_code in {200, 201, 204}


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_whatever_is_no_read_has_to_cite(agent: httpx2.Client, method: str) -> None:
    answer = agent.request(method, "/graphs?graph=urn:g", content="", headers=TURTLE)
    assert answer.status_code == (405 if method == "PATCH" else 409)


def test_decisions_and_reverts_cite_as_well(server: Served, agent: httpx2.Client) -> None:
    waiting = server.writer.post("/changes", json=request(change("d", "p", "d", confidence=0.1))).headers["location"]
    decision = {"json": {"decision": "approve"}}
    assert agent.post(f"{waiting}/decision", **decision).status_code == 409  # type: ignore[arg-type]
    cited = {READ_STATE: read(agent, waiting)}
    assert agent.post(f"{waiting}/decision", headers=cited, json={"decision": "approve"}).status_code == 200
    assert agent.post(f"{waiting}/revert").status_code == 409
    assert agent.post(f"{waiting}/revert", headers={READ_STATE: read(agent)}).status_code == 201


def test_every_answer_to_a_read_has_a_state_of_its_own(server: Served, agent: httpx2.Client) -> None:
    assert server.writer.post("/changes", json=request(change("r", "p", "r"))).status_code == 201
    answers = [
        agent.get("/sparql", params={"query": "ASK {}"}),
        agent.post("/sparql", data={"query": "ASK {}"}),
        agent.get(f"/facts?subject={EX}r"),
        agent.head("/certificates"),
    ]
    answers.append(agent.get(f"/facts?subject={EX}r", headers={"If-None-Match": answers[2].headers["etag"]}))
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 304]
    states = [answer.headers[READ_STATE] for answer in answers]
    assert len(set(states)) == len(states)
    assert {state.partition("-")[0] for state in states} == {answers[0].headers["Muniment-Head"]}


def test_what_was_refused_was_not_read(agent: httpx2.Client) -> None:
    assert READ_STATE not in agent.get("/certificates/nothing").headers
    assert READ_STATE not in agent.get("/sparql", params={"query": "nonsense"}).headers


def test_the_state_of_another_does_not_count(server: Served, agent: httpx2.Client) -> None:
    other = server.client_of(Principal("other agent", Role.WRITER, cites=True))
    for state in (read(other), "41-made-up", ""):
        assert changes(agent, {READ_STATE: state}).status_code == 409


def test_a_dry_run_cites_nothing_and_spends_nothing(agent: httpx2.Client) -> None:
    state = read(agent)
    body = request(change("dry", "p", "b"))
    tried = agent.post("/changes?dry-run=true", json=body, headers={READ_STATE: state})
    assert tried.status_code == 200
    assert READ_STATE not in tried.headers
    assert agent.post("/sparql?dry-run=true", data={"update": INSERT}).status_code == 200
    for evasion in ("dry-run=true&dry-run=false", "dry-run=false", "dry%2Drun=false&x=true"):
        assert agent.post(f"/changes?{evasion}", json=body).status_code in {400, 409}
    assert changes(agent, {READ_STATE: state}).status_code == 201


def test_a_write_that_comes_to_nothing_spends_its_state(agent: httpx2.Client) -> None:
    state = {READ_STATE: read(agent)}
    assert agent.post("/changes", content=b"{", headers=state | {"Content-Type": "application/json"}).status_code == 400
    assert changes(agent, state).status_code == 409


def test_a_key_repeats_a_write_on_another_reading(agent: httpx2.Client) -> None:
    """As after an answer that was lost."""
    key = {"Idempotency-Key": "once"}
    body = request(change("key", "p", "b"))
    sent = [agent.post("/changes", json=body, headers=key | {READ_STATE: read(agent)}) for _ in range(2)]
    assert [answer.status_code for answer in sent] == [201, 201]
    assert sent[0].json()["certificate"] == sent[1].json()["certificate"]


def test_whoever_need_not_cite_is_given_nothing(server: Served) -> None:
    writer = server.writer
    assert READ_STATE not in writer.get("/certificates").headers
    assert changes(writer, {}).status_code == 201
    assert changes(writer, {READ_STATE: "anything"}).status_code == 201


def test_pages_are_not_for_tokens_that_cite(server: Served) -> None:
    server.base.ledger.add_principal(Principal("on pages", Role.EDITOR, cites=True), token_hash("on pages"))
    with httpx2.Client(base_url=server.url, trust_env=False, verify=False) as browser:
        code = server.sessions.issue_code(token_hash("on pages"))
        assert "on pages" not in browser.get(f"/sign-in?code={code}").text


def test_a_state_is_good_for_a_while_and_few_are_kept() -> None:
    now = 0.0
    citations = Citations(clock=lambda: now)
    first, *others = [citations.give("agent", number) for number in range(101)]
    assert not citations.take("agent", first)
    assert citations.take("agent", others[0])
    now = LIFETIME
    assert not citations.take("agent", others[1])


def test_a_token_that_cites_is_made_and_listed(tmp_path: Path) -> None:
    for name, more in (("agent", ["--cites"]), ("person", [])):
        assert run("token", "create", "--data", tmp_path, "--role", "writer", "--name", name, *more).status == 0
    listed = [line.split("\t") for line in run("token", "list", "--data", tmp_path).lines]
    assert {row[0]: row[-1] for row in listed[1:]} == {"agent": "yes", "person": "no"}
