"""What is asked of other hosts: nothing, unless it is listed; and then within limits (case 16)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

import httpx2
import pytest

from api.callers import outbound
from api.callers.outbound import Listed, NotListed, Outbound, is_listed, listed_url
from api.errors import InvalidSetting
from api.settings import Settings, read_settings
from bridge.base import Base
from tests.api.serving import Served, served
from tests.security.elsewhere import Elsewhere, elsewhere

UPDATE: Final = {"content-type": "application/sparql-update"}


@pytest.fixture(scope="module")
def world() -> Iterator[tuple[Served, Elsewhere]]:
    """A service that may ask what is under `/listed/` there, and nothing else."""
    with elsewhere() as host, Base.open(None) as base:
        settings = Settings(query_spares=0, outbound=[f"{host.url}/listed/"], body_limit=100_000)
        with served(base, settings) as running:
            yield running, host


def turtle(text: str) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "text/turtle"}, text.encode()


def update(running: Served, text: str) -> httpx2.Response:
    return running.writer.post("/sparql", content=text, headers=UPDATE)


def holds(running: Served, graph: str, pattern: str) -> bool:
    query = f"ASK {{ GRAPH <{graph}> {{ {pattern} }} }}"
    told: bool = running.writer.get("/sparql", params={"query": query}).json()["boolean"]
    return told


def refused(answer: httpx2.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert "root:" not in answer.text, "nothing of what another host says"


# --- LOAD -------------------------------------------------------------------------------------------------------------


def test_what_is_listed_is_loaded_by_a_certified_write(world: tuple[Served, Elsewhere]) -> None:
    running, host = world
    host.gives["/listed/a.ttl"] = turtle('<x> <urn:p> "007"^^<http://www.w3.org/2001/XMLSchema#int>, [] .')
    answer = update(running, f"LOAD <{host.url}/listed/a.ttl> INTO GRAPH <urn:g>")
    assert answer.status_code == 200, answer.text
    assert answer.headers["Location"].startswith("/certificates/")
    assert holds(running, "urn:g", f"<{host.url}/listed/x> <urn:p> 7"), "relative IRIs are relative to where it is"
    facts = running.writer.get("/facts", params={"graph": "urn:g"}).json()["items"]
    assert "007" in {fact["statement"]["object"].get("@value") for fact in facts}, "as it is spelled there"
    into_default = update(running, f"LOAD <{host.url}/listed/a.ttl>")
    assert into_default.status_code == 200
    assert holds(running, "https://w3id.org/muniment#default", "?s <urn:p> 7")


def test_later_operations_see_what_was_loaded(world: tuple[Served, Elsewhere]) -> None:
    running, host = world
    host.gives["/listed/b.nt"] = (200, {"Content-Type": "application/octet-stream"}, b"<urn:b> <urn:n> <urn:c> .")
    text = f"""LOAD <{host.url}/listed/b.nt> INTO GRAPH <urn:b> ;
        INSERT {{ GRAPH <urn:b> {{ ?o <urn:of> ?s }} }} WHERE {{ GRAPH <urn:b> {{ ?s <urn:n> ?o }} }}"""
    assert update(running, text).status_code == 200
    assert holds(running, "urn:b", "<urn:c> <urn:of> <urn:b>")


@pytest.mark.parametrize(
    "path",
    [
        "/other/a.ttl",
        "/listed/../other/a.ttl",
        "/listed/%2e%2e/other/a.ttl",
        "/listedother/a.ttl",
        "/listed%2f..%2fother",
    ],
)
@pytest.mark.parametrize("silent", ["", "SILENT "])
def test_what_is_not_listed_is_not_asked_silent_or_not(world: tuple[Served, Elsewhere], path: str, silent: str) -> None:
    running, host = world
    host.asked.clear()
    refused(
        update(running, f"INSERT DATA {{ <urn:never> <urn:p> 1 }} ; LOAD {silent}<{host.url}{path}>"), 403, "not-listed"
    )
    for url in (host.url.replace("127.0.0.1", "localhost"), host.url.replace("//", "//user@"), "file:///etc/passwd"):
        refused(update(running, f"LOAD {silent}<{url}/listed/a.ttl>"), 403, "not-listed")
    assert host.asked == []
    assert not holds(running, "https://w3id.org/muniment#default", "<urn:never> ?p ?o"), "nothing by half"


def test_redirects_lead_to_what_is_listed_alone(world: tuple[Served, Elsewhere]) -> None:
    running, host = world
    host.gives |= {
        "/listed/there": (302, {"Location": "end.ttl"}, b""),
        "/listed/end.ttl": turtle("<urn:a> <urn:redirected> 1 ."),
        "/listed/out": (302, {"Location": "/other/secret.ttl"}, b""),
        "/listed/away": (302, {"Location": "http://127.0.0.1:1/listed/"}, b""),
        "/listed/round": (302, {"Location": "round"}, b""),
        "/listed/nowhere": (302, {"Location": "http://[::1/listed/"}, b""),
        "/listed/up": (302, {"Location": "..;/other/secret.ttl"}, b""),
        "/other/secret.ttl": turtle("<urn:a> <urn:secret> 1 ."),
    }
    assert update(running, f"LOAD <{host.url}/listed/there>").status_code == 200
    assert holds(running, "https://w3id.org/muniment#default", "<urn:a> <urn:redirected> 1")
    host.asked.clear()
    for path in ("out", "away", "up"):
        refused(update(running, f"LOAD <{host.url}/listed/{path}>"), 403, "not-listed")
    for path in ("round", "nowhere", "a" * 70_000):
        refused(update(running, f"LOAD <{host.url}/listed/{path}>"), 502, "fetch-failed")
    assert not any("other" in path for path in host.asked)


def test_what_is_not_given_is_told_or_passed_over_where_silent(world: tuple[Served, Elsewhere]) -> None:
    running, host = world
    host.gives |= {
        "/listed/large.ttl": turtle("<urn:a> <urn:p> 1 .\n" * 10_000),
        "/listed/zip.ttl": (200, {"Content-Type": "text/turtle", "Content-Encoding": "gzip"}, b"\x1f\x8b\x08"),
        "/listed/broken.ttl": turtle("<urn:a> <urn:p> "),
        "/listed/page.html": (200, {"Content-Type": "text/html"}, b"<p>root:x</p>"),
        "/listed/graphs.trig": (200, {"Content-Type": "application/trig"}, b"GRAPH <urn:g> { <urn:a> <urn:p> 1 }"),
        "/listed/context.jsonld": (200, {"Content-Type": "application/ld+json"}, b'{"@context": "http://127.0.0.1/"}'),
    }
    told = {
        "missing": (502, "fetch-failed"),
        "large.ttl": (502, "fetch-failed"),
        "zip.ttl": (400, "invalid-document"),
        "broken.ttl": (400, "invalid-document"),
        "page.html": (415, "unsupported-media-type"),
        "graphs.trig": (400, "invalid-document"),
        "context.jsonld": (400, "invalid-document"),
    }
    for path, (status, code) in told.items():
        refused(update(running, f"LOAD <{host.url}/listed/{path}>"), status, code)
        silent = update(running, f"LOAD SILENT <{host.url}/listed/{path}> ; INSERT DATA {{ <urn:{path}> <urn:p> 1 }}")
        assert silent.status_code == 200, silent.text
    # What is forbidden is so wherever the statements come from.
    host.gives["/listed/a.ttl"] = turtle("<urn:a> <urn:p> 1 .")
    refused(
        update(running, f"LOAD SILENT <{host.url}/listed/a.ttl> INTO GRAPH <https://w3id.org/muniment#rules>"),
        403,
        "forbidden",
    )


def test_a_host_that_takes_its_time_is_given_up(
    world: tuple[Served, Elsewhere], monkeypatch: pytest.MonkeyPatch
) -> None:
    running, _ = world
    monkeypatch.setattr(outbound, "SECONDS", 0.3)

    async def forever(*_: object) -> None:
        await asyncio.sleep(3_600)

    monkeypatch.setattr(Outbound, "_got", forever)
    refused(update(running, f"LOAD <{world[1].url}/listed/slow>"), 502, "fetch-failed")


def test_nothing_is_asked_where_nothing_is_listed(attacked: Served) -> None:
    with elsewhere() as host:
        for text in (f"LOAD <{host.url}/a>", f"LOAD SILENT <{host.url}/a> INTO GRAPH <urn:g>"):
            refused(attacked.writer.post("/sparql", content=text, headers=UPDATE), 400, "query-refused")
        bodies = {
            "application/ld+json": f'{{"@context": "{host.url}/context", "@id": "urn:a", "name": "x"}}',
            "application/rdf+xml": f'<!DOCTYPE r SYSTEM "{host.url}/a.dtd"><rdf:RDF '
            'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>',
            "text/turtle": f"<{host.url}/a> <http://www.w3.org/2002/07/owl#imports> <{host.url}/b> .",
        }
        for media_type, body in bodies.items():
            attacked.writer.post("/changes", content=body, headers={"content-type": media_type})
        assert host.asked == []


# --- the list ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["example.org", "ftp://example.org/", "https://u:p@example.org/", "https://", "http://a/?q"]
)
def test_what_is_no_beginning_of_a_url_is_named(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("MUNIMENT_OUTBOUND", text)
    with pytest.raises(InvalidSetting) as refusal:
        read_settings()
    assert refusal.value.where == "MUNIMENT_OUTBOUND"


@pytest.mark.parametrize(
    ("url", "listed"),
    [
        ("https://example.org/data", True),
        ("https://EXAMPLE.org:443/data/a?b=c", True),
        ("https://example.org./data/a", True),
        ("https://example.org:444/data/a", False),
        ("https://example.org/data\\..\\x", False),
        ("https://example.org/data/a\n", False),
        ("https://example.org@evil.test/data/a", False),
        ("https://ex\u0430mple.org/data/a", False),
        ("//example.org/data/a", False),
        ("https://[::1/data", False),
        ("https://example.org/data;v=1/a", False),
        ("https://example.org/data/;v=1/a", True),
        ("https://example.org/data/..;v=1/x", False),
        ("https://example.org/data/.;/x", False),
        ("https://example.org/data/%2E%2E/x", False),
        ("https://example.org/data/%252e%252e/x", False),
        ("https://example.org/data/..%25252fx", False),
        ("https://example.org/data/100%25", True),
        ("https://example.org/d%61ta/a", False),
        ("https://example.org/data?../x", True),
        ("https://example.org:/data/a", True),
        ("https://example.org:0/data/a", False),
        ("https://example.org:65536/data/a", False),
        ("https://example.org:443@evil.test/data/a", False),
        ("https://@example.org/data/a", False),
        ("https://example.org\\@evil.test/data/a", False),
        ("https://example.org%2eevil.test/data/a", False),
        ("https://example.org%00.evil.test/data/a", False),
        ("https:example.org/data/a", False),
        ("https:///example.org/data/a", False),
    ],
)
def test_urls_are_compared_part_by_part(url: str, listed: bool) -> None:
    assert is_listed(url, [listed_url("https://example.org/data")]) is listed


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "100.64.0.1", "169.254.169.254", "224.0.0.1", "0.0.0.0"),
        *("::1", "::", "fd00::1", "fe80::1", "fec0::1", "ff02::1", "::127.0.0.1", "::ffff:127.0.0.1"),
        *("2002:7f00:1::1", "2002:a00:1::1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "2001::1"),
    ],
)
def test_a_name_does_not_lead_to_a_neighbour(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """A name of somebody else's may stand for any address, and for another the next time."""

    async def fetch() -> None:
        loop = asyncio.get_running_loop()

        async def known(*_: object, **__: object) -> list[tuple[object, ...]]:
            return [(0, 0, 0, "", ("93.184.215.14", 0)), (0, 0, 0, "", (address, 0))]

        monkeypatch.setattr(loop, "getaddrinfo", known, raising=False)
        await Outbound([Listed("http", "rebound.test", 80, "/")], 1_000).fetch("http://rebound.test/a", "*/*")

    with pytest.raises(NotListed):
        asyncio.run(fetch())


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "2606:2800:21f:cb07::1", "64:ff9b::5db8:d70e", "2002:5db8:d70e::"]
)
def test_a_name_of_the_public_internet_is_connected_to_as_it_was_looked_up(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """The name goes to TLS and to the server, and is not looked up again by what connects."""
    connected: list[tuple[str, str]] = []

    async def handle(_: object, request: httpx2.Request) -> httpx2.Response:
        connected.append((request.url.host, request.headers["host"]))
        assert request.extensions["sni_hostname"] == "data.test"
        return httpx2.Response(200, stream=httpx2.ByteStream(b"x"), headers={"content-type": "text/turtle"})

    async def fetch() -> bytes:
        async def known(*_: object, **__: object) -> list[tuple[object, ...]]:
            return [(0, 0, 0, "", (address, 0))]

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", known, raising=False)
        listed = [Listed("https", "data.test", 443, "/")]
        return (await Outbound(listed, 1_000).fetch("https://data.test/a", "*/*")).body

    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", handle)
    assert asyncio.run(fetch()) == b"x"
    assert connected == [(address, "data.test")]
