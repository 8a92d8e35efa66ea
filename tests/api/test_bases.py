"""Several bases in one process: each as if it were served alone, and nothing of one in another."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Final
from urllib.parse import quote

import httpx2
import pytest
from fastapi import FastAPI
from starlette.types import Message

from api.app import create_app
from api.bases import Bases
from api.callers.auth import token_hash
from api.errors import InvalidSetting
from api.named_bases import settings_of_bases
from api.server import listen, server_for, url_of
from api.settings import Settings, read_settings
from bridge.base import Base
from kernel.access import Principal, Role
from tests.api.bodies import EX, change, request
from tests.api.callers.test_auth import OPEN_PATHS
from tests.api.console import run, running
from tests.api.serving import FRUGAL

NAMES: Final = ("one", "two")
TURTLE: Final = {"Content-Type": "text/turtle"}


@dataclass(slots=True)
class Host:
    """Three bases, one of them at the root."""

    url: str
    app: Bases
    bases: dict[str, Base]
    stack: ExitStack

    def root(self, name: str) -> str:
        return self.url if name == "root" else f"{self.url}/b/{name}"

    def client(self, name: str, token: str | None = None) -> httpx2.Client:
        """A client of a base, with a token, by default one of an administrator of it."""
        sent = self.token(name) if token is None else token
        headers = {"Authorization": f"Bearer {sent}"}
        client = httpx2.Client(base_url=self.root(name), headers=headers, timeout=60, trust_env=False, verify=False)
        return self.stack.enter_context(client)

    def token(self, name: str) -> str:
        token = f"{name}-token"
        if self.bases[name].ledger.principal_of(token_hash(token)) is None:
            self.bases[name].ledger.add_principal(Principal("admin", Role.ADMINISTRATOR), token_hash(token))
        return token


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with ExitStack() as stack:
        bases = {name: stack.enter_context(Base.open(None)) for name in ("root", *NAMES)}
        limited = FRUGAL.model_copy(update={"query_workers": 1})
        named = {name: create_app(bases[name], limited, root=f"/b/{name}") for name in NAMES}
        app = Bases(create_app(bases["root"], FRUGAL), named)
        with hosted(app) as url:
            yield Host(url, app, bases, stack)


@contextmanager
def hosted(app: Bases) -> Iterator[str]:
    server = server_for(app)
    with listen("127.0.0.1", 0) as listening:
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield url_of(listening)
        finally:
            server.should_exit = True
            thread.join()


def subjects(client: httpx2.Client) -> set[str]:
    answer = client.get("/sparql", params={"query": "SELECT ?s { ?s ?p ?o }"})
    assert answer.status_code == 200, answer.text
    return {row["s"]["value"].removeprefix(EX) for row in answer.json()["results"]["bindings"]}


# --- walls ------------------------------------------------------------------------------------------------------------


def test_what_is_written_in_one_base_is_in_no_other(host: Host) -> None:
    for name in host.bases:
        body = request(change(f"in-{name}", "p", "x"))
        assert host.client(name).post("/changes", json=body, headers={"Idempotency-Key": "k"}).status_code == 201
    assert {name: subjects(host.client(name)) for name in host.bases} == {name: {f"in-{name}"} for name in host.bases}


def test_a_token_of_one_base_is_nobody_in_another(host: Host) -> None:
    documented = host.client("root").get("/openapi.json").json()["paths"]
    for name in host.bases:
        for other in set(host.bases) - {name}:
            stranger = host.client(other, host.token(name))
            for path, operations in documented.items():
                if path in OPEN_PATHS:
                    continue
                for method in operations:
                    assert stranger.request(method, re.sub(r"{\w+}", "x", path)).status_code in {401, 429}, path


def test_a_session_of_one_base_opens_no_page_of_another(host: Host) -> None:
    with httpx2.Client(base_url=host.url, trust_env=False, verify=False) as browser:
        for name in host.bases:
            signed_in(browser, host, name)
        # Signed in to all of them at once: no cookie has taken the place of another.
        for name in host.bases:
            prefix = host.root(name).removeprefix(host.url)
            assert browser.get(f"{prefix}/queue").status_code == 200
        cookies = {cookie.name: (cookie.value, cookie.path) for cookie in browser.cookies.jar}
    names = {"root": "muniment-session"} | {name: f"muniment-session-{name}" for name in NAMES}
    paths = {"root": "/"} | {name: f"/b/{name}" for name in NAMES}
    assert {name: cookies[names[name]][1] for name in host.bases} == paths
    for name in host.bases:
        for other in set(host.bases) - {name}:
            forged = {"Cookie": "; ".join(f"{each}={cookies[names[name]][0]}" for each in names.values())}
            answer = httpx2.get(f"{host.root(other)}/queue", headers=forged, trust_env=False, verify=False)
            assert answer.status_code == 303, (name, other)


def signed_in(browser: httpx2.Client, host: Host, name: str) -> None:
    root = host.root(name).removeprefix(host.url)
    form = browser.get(f"{root}/sign-in").text
    assert f'action="{root}/sign-in"' in form
    forgery_token = re.search(r'name="forgery-token" value="([^"]*)"', form)
    assert forgery_token is not None
    fields = {"token": host.token(name), "forgery-token": forgery_token[1]}
    answer = browser.post(f"{root}/sign-in", data=fields)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{root}/queue")


def test_certificates_and_keys_and_logs_are_each_base_s_own(host: Host) -> None:
    made = host.client("one").post("/changes", json=request(change("own", "p", "x")))
    identifier = made.json()["certificate"].removeprefix("urn:uuid:")
    assert host.client("one").get(f"/certificates/{identifier}").status_code == 200
    for other in ("two", "root"):
        assert host.client(other).get(f"/certificates/{identifier}").status_code == 404
        assert host.client(other).post(f"/certificates/{identifier}/revert").status_code == 404
    checkpoints = {host.client(name).get("/log/checkpoint").text for name in host.bases}
    assert len(checkpoints) == len(host.bases)


def test_nothing_that_is_kept_in_memory_is_shared(host: Host) -> None:
    kept = [
        [id(getattr(app.state, each)) for each in ("service", "sessions", "citations", "effects", "rates")]
        for app in host.app.applications
    ]
    for app in host.app.applications:
        service = app.state.service
        kept.append([id(service.replicas), id(service.base.stores), id(service.base.key), id(service.base.snapshots)])
    every = [each for ids in kept for each in ids]
    assert len(set(every)) == len(every)


# --- as if alone ------------------------------------------------------------------------------------------------------


def test_answers_name_paths_and_urls_of_their_own_base(host: Host) -> None:
    one = host.client("one")
    made = one.post("/changes", json=request(change("links", "p", "x")))
    assert made.headers["location"].startswith("/b/one/certificates/")
    assert (
        httpx2.get(host.url + made.headers["location"], headers=one.headers, trust_env=False, verify=False).status_code
        == 200
    )
    update = one.post("/sparql", data={"update": f"INSERT DATA {{ <{EX}u> <{EX}p> 1 }}"})
    assert update.headers["location"].startswith("/b/one/certificates/")
    assert update.headers["link"] == f'<{update.headers["location"]}>; rel="describedby"'
    described = one.get("/sparql", headers={"Accept": "application/n-triples"}).text
    assert f"<{host.url}/b/one/sparql>" in described
    relative = one.get("/sparql", params={"query": "SELECT (<x> AS ?iri) {}"}).json()
    assert relative["results"]["bindings"][0]["iri"]["value"] == f"{host.url}/b/one/x"
    document = one.get("/openapi.json").json()
    assert document["servers"] == [{"url": "/b/one"}]
    assert "/sparql" in document["paths"]
    assert "servers" not in host.client("root").get("/openapi.json").json()
    facts = one.get("/facts", params={"subject": EX + "u"})
    assert f"<{host.url}/b/one/facts?" in facts.headers["link"]
    timemap = re.search(r'<([^>]*)>; rel="timemap"', facts.headers["link"])
    assert timemap is not None
    assert httpx2.get(timemap[1], headers=one.headers, trust_env=False, verify=False).status_code == 200


def test_a_graph_is_known_by_its_url_under_its_base(host: Host) -> None:
    one = host.client("one")
    assert one.put("/graphs/mine", content="<urn:a> <urn:p> <urn:b> .", headers=TURTLE).status_code == 201
    assert one.get("/graphs/mine", headers={"Accept": "text/turtle"}).status_code == 200
    named = one.get("/graphs", params={"graph": f"{host.url}/b/one/graphs/mine"}, headers={"Accept": "text/turtle"})
    assert named.status_code == 200
    assert host.client("two").get("/graphs/mine").status_code == 404
    made = one.post("/graphs", content="<urn:a> <urn:p> <urn:c> .", headers=TURTLE)
    assert made.headers["location"].startswith(f"{host.url}/b/one/graphs/")
    assert one.get(made.headers["location"]).status_code == 200


def test_every_link_of_a_page_leads_somewhere_in_its_base(host: Host) -> None:
    body = request(change("waits", "p", "x", confidence=0.1), reason='"/queue" href="/elsewhere"')
    assert host.client("two").post("/changes", json=body).status_code == 202
    with httpx2.Client(base_url=host.url, trust_env=False, verify=False) as browser:
        signed_in(browser, host, "two")
        seen: set[str] = set()
        waiting = ["/b/two/queue", f"/b/two/node?iri={quote(EX)}waits", "/b/two/query?query=ASK%7B%7D"]
        while waiting and len(seen) < 40:
            path = waiting.pop()
            answer = browser.get(path)
            assert answer.status_code == (303 if path == "/b/two/" else 200), path
            seen.add(path)
            if not answer.headers.get("content-type", "").startswith("text/html"):
                continue
            links = re.findall(r'\b(?:href|src|action)="(/[^"]*)"', answer.text)
            assert links
            assert all(link.startswith("/b/two/") for link in links), path
            known = (link.replace("&amp;", "&") for link in re.findall(r'\b(?:href|src)="(/[^"#]*)"', answer.text))
            waiting += [link for link in dict.fromkeys(known) if link not in seen and link not in waiting]
        assert any("/assets/" in path for path in seen)
        assert (
            "next=%2Fqueue" in httpx2.get(f"{host.url}/b/two/queue", trust_env=False, verify=False).headers["location"]
        )


def test_methods_and_paths_are_told_as_at_the_root(host: Host) -> None:
    one = host.client("one")
    assert "GET" in one.request("OPTIONS", "/sparql").headers["allow"]
    assert one.delete("/sparql").headers["allow"] == host.client("root").delete("/sparql").headers["allow"]
    nothing = one.get("/nothing")
    assert (nothing.status_code, nothing.json()["code"]) == (404, "unknown-path")
    assert one.get("/health").json()["status"] == "ok"
    assert httpx2.get(f"{host.url}/b/one", trust_env=False, verify=False).headers["location"] == "/b/one/"
    assert httpx2.get(f"{host.url}/b/one/", trust_env=False, verify=False).headers["location"] == "/b/one/sign-in"


@pytest.mark.parametrize(
    "path",
    [
        "/b/three/health",
        "/b/",
        "/b",
        "/b/one.x/health",
        "/b/onehealth",
        "/b/ONE/health",
        "/b//health",
        "/b/root/health",
    ],
)
def test_where_no_base_is_nothing_is(host: Host, path: str) -> None:
    answer = httpx2.get(host.url + path, trust_env=False, verify=False)
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown-path")
    assert answer.headers["x-request-id"] == answer.json()["requestId"]


def test_without_a_base_at_the_root_nothing_is_there() -> None:
    with Base.open(None) as base:
        app = Bases(None, {"only": create_app(base, FRUGAL, root="/b/only")})
        with hosted(app) as url:
            assert httpx2.get(f"{url}/health", trust_env=False, verify=False).status_code == 404
            assert httpx2.get(f"{url}/b/only/health", trust_env=False, verify=False).status_code == 200


def test_a_base_that_does_not_start_keeps_the_others_from_starting() -> None:
    told: list[str] = []

    def app(name: str, *, works: bool) -> FastAPI:
        @asynccontextmanager
        async def lifespan(_: FastAPI) -> AsyncIterator[None]:
            if not works:
                raise RuntimeError(f"{name} is broken")
            told.append(f"{name} starts")
            yield
            told.append(f"{name} ends")

        return FastAPI(lifespan=lifespan)

    async def started(bases: Bases) -> None:
        async def receive() -> Message:
            return {"type": "lifespan.startup"}

        async def send(message: Message) -> None:
            told.append(message["type"])

        await bases({"type": "lifespan"}, receive, send)

    asyncio.run(started(Bases(None, {"one": app("one", works=True), "two": app("two", works=True)})))
    assert told == [
        *("one starts", "two starts", "lifespan.startup.complete"),
        *("two ends", "one ends", "lifespan.shutdown.complete"),
    ]
    told.clear()
    with pytest.raises(RuntimeError, match="two is broken"):
        asyncio.run(started(Bases(None, {"one": app("one", works=True), "two": app("two", works=False)})))
    assert told == ["one starts", "one ends", "lifespan.startup.failed"]


# --- settings and the command -----------------------------------------------------------------------------------------


def test_each_base_lets_in_whom_it_says_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_ANONYMOUS_GRAPHS", "*")
    monkeypatch.setenv("MUNIMENT_QUERY_SECONDS", "7")
    own = {"one": {"data": "a"}, "two": {"data": "b", "anonymous_graphs": ["urn:g"], "query_seconds": 9}}
    monkeypatch.setenv("MUNIMENT_BASES", json.dumps(own))
    settings = read_settings()
    one, two = settings_of_bases(settings, alone=False).values()
    assert settings.anonymous is not None
    assert one.anonymous is None
    assert two.anonymous is not None
    assert (one.query_seconds, two.query_seconds) == (7, 9)
    assert (one.query_workers, two.query_workers, one.query_spares) == (1, 1, 0)  # of 4, for three bases


@pytest.mark.parametrize(
    ("bases", "named"),
    [
        ({"One": {"data": "a"}}, "One"),
        ({"a/b": {"data": "a"}}, "a/b"),
        ({"one": {}}, "data"),
        ({"one": {"data": "a", "port": 1}}, "port"),
        ({"one": {"data": "a", "prot": 1}}, "prot"),
        ({"one": {"data": "a", "query_seconds": -1}}, "query_seconds"),
        ({"one": {"data": "a"}, "two": {"data": "./a"}}, "folder"),
        ({"one": {"data": "data"}}, "folder"),
    ],
)
def test_what_cannot_be_a_base_is_an_error(bases: dict[str, object], named: str) -> None:
    settings = Settings.model_validate({"bases": bases})
    with pytest.raises(InvalidSetting, match=named):
        settings_of_bases(settings, alone=False)


def test_config_lists_them_and_what_it_prints_is_read_again(tmp_path: Path) -> None:
    given = {"one": {"data": "a", "anonymous_graphs": ["urn:g"], "mode": "unrestricted"}, "two": {"data": "b"}}
    printed = run("config", MUNIMENT_BASES=json.dumps(given), MUNIMENT_RATE_LIMITS='{"reader": "5/minute"}')
    assert printed.status == 0, printed.errors
    assert "# base one: in a, with 2 workers for queries" in printed.lines
    assert any(line.startswith("# base one: UNRESTRICTED") for line in printed.lines)
    file = tmp_path / "muniment.toml"
    file.write_text(printed.output)
    again = run("config", MUNIMENT_CONFIG=str(file)).lines
    assert [line for line in again if line[0] != "#"] == [line for line in printed.lines if line[0] != "#"]
    assert run("config", MUNIMENT_BASES='{"one": {"data": "a", "prot": 1}}').status == 1


def test_bases_are_served_from_the_command_line(tmp_path: Path) -> None:
    options = [word for name in NAMES for word in ("--base", f"{name}={tmp_path / name}")]
    tokens = {
        name: run("token", "create", "--data", tmp_path / name, "--role", "writer").output.strip() for name in NAMES
    }
    with running("serve", "--port", "0", "--mode", "unrestricted", *options) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert all("UNRESTRICTED" in process.stderr.readline() for _ in NAMES)
        told = process.stdout.readline()
        assert all(f"{tmp_path / name} as {name}" in told for name in NAMES), told
        url = told.split()[-1]
        for name in NAMES:
            text = f'{{"changes": [{json.dumps(change(name, "p", "x"))}]}}'
            body = tmp_path / f"{name}.json"
            body.write_text(text)
            sent = run("submit", body, "--url", f"{url}/b/{name}", "--token-env", "TOKEN", TOKEN=tokens[name])
            assert sent.status == 0, sent.errors
            words = ("query", "SELECT ?s { ?s ?p ?o }", "--url", f"{url}/b/{name}", "--format", "csv")
            assert f"{EX}{name}" in run(*words, "--token-env", "TOKEN", TOKEN=tokens[name]).output
        assert httpx2.get(f"{url}/health", trust_env=False, verify=False).status_code == 404
        assert httpx2.get(f"{url}/b/one/health", trust_env=False, verify=False).json()["mode"] == "unrestricted"
    assert not Path("data").exists()


def test_what_names_no_base_on_the_command_line_is_an_error(tmp_path: Path) -> None:
    for word in ("one", "=x", "one="):
        ended = run("serve", "--port", "0", "--base", word)
        assert ended.status != 0
        assert ended.errors
