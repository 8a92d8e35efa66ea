"""How a service was started: bounded by a manifest, or unrestricted."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

import httpx2
import pytest

from api.callers.manifest import Manifest, Mode
from api.callers.roles import RoleName
from api.errors import InvalidSetting
from api.settings import RoleLimits, Settings
from bridge.base import Base
from kernel.access import Role
from kernel.changes import Assert
from kernel.terms import Iri, Statement
from tests.api.bodies import EX, M, change, request
from tests.api.console import run
from tests.api.serving import FRUGAL, Served, served
from tests.bridge.writing import write

G1, G2 = "urn:g1", "urn:g2"
ALL: Final = "SELECT ?s { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"


def manifest(folder: Path, *operations: str, graphs: tuple[str, ...] = (G1,), more: str = "") -> Path:
    file = folder / "manifest.toml"
    listed = [*map(repr, operations)]
    file.write_text(
        f'reviewed-by = "Ada"\nreviewed-on = 2026-11-30\noperations = [{", ".join(listed)}]\n'
        f"graphs = [{', '.join(map(repr, graphs))}]\n{more}"
    )
    return file


@contextmanager
def bounded(file: Path, **more: object) -> Iterator[Served]:
    """A base with something in two graphs, and served as far as the manifest goes."""
    with Base.open(None) as base:
        statements = (Statement(Iri(EX + graph[-2:]), Iri(EX + "in"), Iri(EX + "x"), Iri(graph)) for graph in (G1, G2))
        write(base, *map(Assert, statements))
        settings = FRUGAL.model_copy(update={"mode": Mode.BOUNDED, "manifest": file, **more})
        with served(base, settings) as server:
            yield server


def subjects(client: httpx2.Client) -> set[str]:
    answer = client.get("/sparql", params={"query": ALL})
    return {row["s"]["value"].removeprefix(EX) for row in answer.json()["results"]["bindings"]}


def test_nothing_is_there_but_what_the_manifest_lists(tmp_path: Path) -> None:
    with bounded(manifest(tmp_path, "query", "listFacts")) as server:
        paths = server.documented.document["paths"]
        assert {(path, method) for path, methods in paths.items() for method in methods} == {
            ("/sparql", "get"),
            ("/facts", "get"),
        }
        client = server.client(Role.ADMINISTRATOR)
        assert client.get("/openapi.json").status_code == 200
        for path in ("/health", "/certificates", "/changes", f"/exports/{G1}", "/log/checkpoint", "/metrics"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["code"]) == (404, "unknown-path"), path
        for page in ("/", "/queue", "/sign-in", "/query", "/assets/x/muniment.css"):
            assert httpx2.get(server.url + page, trust_env=False, verify=False).status_code == 404, page
        posted = client.post("/sparql", data={"query": ALL})
        assert (posted.status_code, posted.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
        facts = client.head("/facts", params={"graph": G1})
        assert (facts.status_code, "timemap" in facts.headers["link"]) == (200, False)
        described = client.get("/sparql", headers={"Accept": "application/n-triples"}).text
        assert "SPARQL11Query" in described
        assert "SPARQL11Update" not in described
        assert G2 not in described


def test_other_graphs_are_not_there_whoever_asks(tmp_path: Path) -> None:
    operations = ("query", "postQuery", "update", "change", "listFacts", "getGraph", "exportGraph", "listCertificates")
    with bounded(manifest(tmp_path, *operations), anonymous_graphs=("*",)) as server:
        for client in (server.client(Role.ADMINISTRATOR), server.client(None), server.client(Role.READER, G1, G2)):
            assert subjects(client) == {"g1"}
            assert client.get("/facts", params={"graph": G2}).json()["items"] == []
            assert client.get("/facts", params={"subject": EX + "g2", "valid-at": "any"}).json()["items"] == []
            assert client.get(f"/exports/{G2}").status_code == 404
            assert client.get("/certificates").json()["items"] == []  # the only one touches the other graph as well
            for graph in (f"{M}shapes", f"{M}ontology", f"{M}rules"):
                assert client.get("/graphs", params={"graph": graph}).status_code == 404
        administrator = server.client(Role.ADMINISTRATOR)
        statuses = [
            administrator.post("/changes", json=request(change("n", "in", "n", graph=graph))).status_code
            for graph in (G1, G2, f"{M}default", f"{M}shapes")
        ]
        assert statuses == [201, 403, 403, 403]
        update = f"INSERT DATA {{ GRAPH <{G2}> {{ <{EX}u> <{EX}in> 1 }} }}"
        assert administrator.post("/sparql", data={"update": update}).status_code == 403
        assert administrator.post("/sparql", data={"update": update.replace(G2, G1)}).status_code == 200


def test_queries_may_be_posted_without_updates(tmp_path: Path) -> None:
    with bounded(manifest(tmp_path, "query", "postQuery")) as server:
        client = server.client(Role.ADMINISTRATOR)
        assert client.post("/sparql", data={"query": ALL}).status_code == 200
        for sent in (
            {"data": {"update": "CLEAR ALL"}},
            {"content": "CLEAR ALL", "headers": {"Content-Type": "application/sparql-update"}},
        ):
            answer = client.post("/sparql", **sent)
            assert (answer.status_code, answer.json()["code"]) == (400, "query-refused")
        assert "SPARQL11Update" not in client.get("/sparql", headers={"Accept": "application/n-triples"}).text


def test_pages_may_be_served_too(tmp_path: Path) -> None:
    with bounded(manifest(tmp_path, "pages", "health"), anonymous_graphs=(G1, G2)) as server:
        assert server.client(None).get("/health").json()["mode"] == "bounded"
        with httpx2.Client(base_url=server.url, trust_env=False, verify=False) as browser:
            node = browser.get(f"/node?iri={EX}g1").text
            assert "g1" in node
            assert browser.get("/query", params={"query": ALL}).text.count(f"{EX}g2") == 0


@pytest.mark.parametrize(
    ("operations", "graphs", "more", "named"),
    [
        (("query", "listFact"), (G1,), "", "listFacts"),
        (("query",), ("no iri",), "", "no iri"),
        (("query",), (G1,), "operation = 1", "operation"),
        ((), (G1,), "", "operations"),
        (("query",), (G1,), "nonsense", "manifest"),
    ],
)
def test_what_is_wrong_with_a_manifest_keeps_the_service_from_starting(
    tmp_path: Path, operations: tuple[str, ...], graphs: tuple[str, ...], more: str, named: str
) -> None:
    file = manifest(tmp_path, *operations, graphs=graphs, more=more)
    with pytest.raises(InvalidSetting, match=named), bounded(file):
        pass


def test_a_manifest_says_who_reviewed_it(tmp_path: Path) -> None:
    file = manifest(tmp_path, "query")
    assert Manifest.read(file).reviewed == "Ada, 2026-11-30"
    file.write_text(file.read_text().replace("reviewed-by", "# reviewed-by"))
    with pytest.raises(InvalidSetting, match="reviewed-by"):
        Manifest.read(file)


def test_a_manifest_and_its_mode_go_together(tmp_path: Path) -> None:
    file = manifest(tmp_path, "query")
    for settings in (Settings(mode=Mode.BOUNDED), Settings(manifest=file)):
        with pytest.raises(InvalidSetting, match="go together"):
            settings.read_manifest()
    alone = run("serve", "--data", tmp_path / "data", "--port", "0", "--mode", "bounded")
    assert (alone.status, "manifest" in alone.errors) == (1, True)


def test_the_digest_of_a_manifest_is_told(tmp_path: Path) -> None:
    file = manifest(tmp_path, "query", "health")
    printed = run("config", MUNIMENT_MODE="bounded", MUNIMENT_MANIFEST=str(file)).output
    digest = sha256(file.read_bytes()).hexdigest()
    assert f"reviewed by Ada, 2026-11-30; SHA-256 {digest}" in printed.splitlines()[0]


# --- unrestricted -----------------------------------------------------------------------------------------------------


def test_unrestricted_says_so_in_config_and_health() -> None:
    """And when it starts: `test_bases.py` has a process that does."""
    assert run("config", MUNIMENT_MODE="unrestricted").lines[0].startswith("# UNRESTRICTED")
    assert "UNRESTRICTED" not in run("config").output
    for mode, told in ((Mode.STANDARD, None), (Mode.UNRESTRICTED, "unrestricted")):
        with Base.open(None) as base, served(base, FRUGAL.model_copy(update={"mode": mode})) as server:
            assert server.client(None).get("/health").json().get("mode") == told


def test_unrestricted_lifts_limits_of_use_and_nothing_else() -> None:
    tight = {
        "rate_limits": {"reader": "1/year"},
        "query_limits": {RoleName.READER: RoleLimits(result=1_024)},
        "query_result": 1_024,
    }
    rows = "SELECT * { VALUES ?x { " + " ".join(f"'{'x' * 50}{number}'" for number in range(100)) + " } }"
    for mode, statuses in ((Mode.STANDARD, [422, 429]), (Mode.UNRESTRICTED, [200, 200])):
        settings = FRUGAL.model_copy(update={**tight, "mode": mode})
        with Base.open(None) as base, served(base, settings) as server:
            reader = server.client(Role.READER, G1)
            answers = [reader.get("/sparql", params={"query": rows}) for _ in range(2)]
            assert [answer.status_code for answer in answers] == statuses
            if mode is Mode.UNRESTRICTED:
                assert reader.post("/changes", json=request(change("a", "p", "b"))).status_code == 403
                assert server.client(None).get("/certificates").status_code == 401
