"""The Graph Store Protocol: graphs as a whole, their writes certified, judged and kept within walls as any other."""

from urllib.parse import quote

import httpx2
import pyoxigraph as ox
import pytest

from kernel.access import Role
from tests.api.bodies import EX, SHAPES
from tests.api.serving import Served

TURTLE = {"content-type": "text/turtle"}
GRAPH = {"graph": f"{EX}g"}
DEFAULT = {"default": ""}
ONTOLOGY = {"graph": "https://w3id.org/muniment#ontology"}
PREFIX = f"@prefix : <{EX}> . "


def put(client: httpx2.Client, text: str, name: dict[str, str] = GRAPH, **parameters: str) -> httpx2.Response:
    return client.put("/graphs", params=name | _named(parameters), content=PREFIX + text, headers=TURTLE)


def post(client: httpx2.Client, text: str, name: dict[str, str] = GRAPH, **parameters: str) -> httpx2.Response:
    return client.post("/graphs", params=name | _named(parameters), content=PREFIX + text, headers=TURTLE)


def got(client: httpx2.Client, name: dict[str, str] = GRAPH, **parameters: str) -> set[str]:
    """What a graph says, a line a triple."""
    accept = {"accept": "application/n-triples"}
    answer = client.get("/graphs", params=name | _named(parameters), headers=accept)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == accept["accept"]
    return {line.replace(EX, ":") for line in answer.text.splitlines()}


def _named(parameters: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in parameters.items()}


def facts(client: httpx2.Client, graph: str = GRAPH["graph"]) -> list[dict[str, object]]:
    items: list[dict[str, object]] = client.get("/facts", params={"graph": graph, "valid-at": "any"}).json()["items"]
    return items


def test_a_graph_is_put_got_added_to_and_taken_away(any_server: Served) -> None:
    client = any_server.writer
    assert client.get("/graphs", params=GRAPH).status_code == 404
    made = put(client, ":a :p 1 , 2 .")
    assert made.status_code == 201, made.text
    assert made.headers["location"] == f"/graphs?graph={quote(GRAPH['graph'], safe='')}"
    link = made.headers["link"].partition(">")[0][1:]
    assert client.get(link).json()["graphs"] == [GRAPH["graph"]]
    assert len(got(client)) == 2
    again = put(client, ":a :p 2 , 3 .")
    assert (again.status_code, again.headers["location"]) == (200, again.headers["link"].partition(">")[0][1:])
    assert post(client, ":a :p 4 .").status_code == 200
    assert {line.split('"')[1] for line in got(client)} == {"2", "3", "4"}
    gone = client.delete("/graphs", params=GRAPH)
    assert (gone.status_code, gone.json()["state"]) == (200, "applied")
    assert client.get("/graphs", params=GRAPH).status_code == client.delete("/graphs", params=GRAPH).status_code == 404
    assert got(client, as_of=f"head:{again.json()['head']}") == got(client, as_of=f"head:{again.json()['head']}")
    assert len(got(client, as_of=f"head:{again.json()['head']}")) == 2


def test_what_a_put_leaves_as_it_is_is_left_alone(server: Served) -> None:
    client = server.writer
    put(client, ":a :p 1 , 2 .", valid_from="2010")
    changed = put(client, ":a :p 2 , 3 .")
    items = client.get(changed.headers["location"]).json()["plan"]["items"]
    assert sorted(item["body"]["op"] for item in items) == ["record", "record", "request", "supersede"]
    times = {str(fact["statement"]["object"]["@value"]): fact.get("validFrom") for fact in facts(client)}  # type: ignore[index] # JSON
    assert times["2"] == "2010"
    same = put(client, ":a :p 2 , 3 .")
    assert (same.status_code, same.json()["certificate"]) == (200, None)


def test_nodes_without_names_keep_theirs_through_getting_and_putting(server: Served) -> None:
    client = server.writer
    put(client, ":a :p [ :q 1 ] .")
    kept = client.get("/graphs", params=GRAPH, headers={"accept": "text/turtle"}).text
    assert ".well-known/genid/" in kept
    assert put(client, kept.removeprefix(PREFIX)).json()["certificate"] is None
    blank = client.get("/graphs", params=GRAPH | {"bnodes": "restore"}, headers={"accept": "text/turtle"}).text
    assert "genid" not in blank
    restored = ox.Dataset(ox.parse(blank.encode(), ox.RdfFormat.TURTLE))
    submitted = ox.Dataset(ox.parse(f"{PREFIX} :a :p [ :q 1 ] .".encode(), ox.RdfFormat.TURTLE))
    for each in (restored, submitted):
        each.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    assert restored == submitted


@pytest.mark.parametrize(
    "media_type", ["text/turtle", "application/rdf+xml", "application/ld+json", "application/n-quads"]
)
def test_formats_are_negotiated(shared: Served, media_type: str) -> None:
    client = shared.writer
    put(client, ":a :p 1 .", {"graph": f"{EX}formats"})
    answer = client.get("/graphs", params={"graph": f"{EX}formats"}, headers={"accept": f"{media_type}, */*;q=0.1"})
    assert answer.headers["content-type"].partition(";")[0] == media_type
    head = client.head("/graphs", params={"graph": f"{EX}formats"}, headers={"accept": media_type})
    assert (head.status_code, head.content, head.headers["content-type"].partition(";")[0]) == (200, b"", media_type)
    assert client.get("/graphs", params={"graph": f"{EX}formats"}, headers={"accept": "image/png"}).status_code == 406


@pytest.mark.parametrize(
    "accept", ["text/turtle", "application/n-triples", "application/n-quads", "application/ld+json"]
)
def test_a_nul_is_data_and_comes_back_as_it_went_in(shared: Served, accept: str) -> None:
    """An ill-typed literal is a literal (RDF 1.1 Concepts, section 3.3), and a NUL makes one of a string."""
    client, graph = shared.writer, {"graph": f"{EX}nul"}
    put(client, ':a :p "a\\u0000b" .', graph)
    got = client.get("/graphs", params=graph, headers={"accept": accept})
    assert got.status_code == 200, got.text
    triples = list(ox.parse(got.content, ox.RdfFormat.from_media_type(accept)))
    assert [triple.object.value for triple in triples] == ["a\0b"]
    found = client.get("/facts", params={"subject": f"{EX}a", "graph": f"{EX}nul"}).json()["items"]
    assert [each["statement"]["object"]["@value"] for each in found] == ["a\0b"]
    for form in ("text/turtle", "application/n-quads", "application/ld+json"):
        export = client.get(f"/exports/{quote(graph['graph'], safe='')}", headers={"accept": form})
        assert (export.status_code, "\\u0000" in export.text.lower()) == (200, True), export.text
    answer = client.get("/sparql", params={"query": f"ASK FROM <{EX}nul> {{ <{EX}a> ?p 'a\\u0000b' }}"})
    assert answer.json()["boolean"] is True


def test_what_a_format_cannot_carry_is_not_given_in_it(shared: Served) -> None:
    client, graph = shared.writer, {"graph": f"{EX}odd"}
    put(client, ':a :p "a\\u0000b" .', graph)
    refused = client.get("/graphs", params=graph, headers={"accept": "application/rdf+xml"})
    assert (refused.status_code, refused.json()["code"], refused.json()["where"]) == (406, "not-acceptable", "Accept")
    assert "\\u0000" in client.get("/graphs", params=graph, headers={"accept": "text/turtle"}).text


def test_the_default_graph_is_always_there(server: Served) -> None:
    client = server.writer
    assert got(client, DEFAULT) == set()
    assert put(client, ":a :p 1 .", DEFAULT).status_code == 200
    assert len(got(client, DEFAULT)) == 1
    assert client.delete("/graphs", params=DEFAULT).status_code == 200
    assert got(client, DEFAULT) == set()


def test_a_graph_without_a_name_gets_one(server: Served) -> None:
    client = server.writer
    made = post(client, ":a :p 1 .", {})
    assert made.status_code == 201
    location = made.headers["location"]
    assert location.startswith(f"{server.url}/graphs/")
    assert client.get(location, headers={"accept": "application/n-triples"}).text
    assert got(client, {"graph": location})


@pytest.mark.parametrize(
    ("media_type", "text"),
    [
        ("text/turtle", "<> <#p> <other> ."),
        (
            "application/rdf+xml",
            """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:g="https://example.org/g#">
            <rdf:Description rdf:about=""><g:p rdf:resource="other"/></rdf:Description></rdf:RDF>""",
        ),
    ],
)
def test_relative_iris_are_relative_to_the_graph(server: Served, media_type: str, text: str) -> None:
    client = server.writer
    made = client.put("/graphs", params=GRAPH, content=text, headers={"content-type": media_type})
    assert made.status_code == 201, made.text
    assert got(client) == {"<:g> <:g#p> <:other> ."}


def test_times_reasons_and_sources_may_be_given(server: Served) -> None:
    client = server.writer
    answer = put(client, ":a :p 1 .", valid_from="2010", reason="census", episode=f"{EX}census")
    [fact] = facts(client)
    assert fact["validFrom"] == "2010"
    assert "census" in client.get(answer.headers["link"].partition(">")[0][1:]).text
    assert fact["evidence"][0]["episode"] == f"{EX}census"  # type: ignore[index] # JSON
    assert got(client, valid_at="2011") == got(client)
    assert client.get("/graphs", params=GRAPH | {"valid-at": "2009"}).status_code == 404


def test_a_key_makes_a_write_that_may_be_sent_again(server: Served) -> None:
    client = server.writer
    sent = [
        client.post("/graphs", params=GRAPH, content="<urn:a> <urn:p> [] .", headers=TURTLE | {"idempotency-key": "k"})
        for _ in range(2)
    ]
    assert sent[0].json() == sent[1].json()
    assert len(got(client)) == 1


def test_what_breaks_a_shape_is_refused_and_reserved_graphs_are_added_to_alone(server: Served) -> None:
    administrator, client = server.client(Role.ADMINISTRATOR), server.writer
    shapes = {"graph": "https://w3id.org/muniment#shapes"}
    assert post(administrator, SHAPES, shapes).status_code == 201
    refused = put(client, ":ann a :Person ; :age 'old' .")
    assert (refused.status_code, refused.json()["state"]) == (422, "refused")
    assert refused.headers["location"].startswith("/certificates/")
    assert client.get("/graphs", params=GRAPH).status_code == 404
    for answer in (put(administrator, "", shapes), administrator.delete("/graphs", params=shapes)):
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert len(got(client, shapes)) == 6


def test_review_is_409_or_202(server: Served) -> None:
    administrator, client = server.client(Role.ADMINISTRATOR), server.writer
    rule = "@prefix m: <https://w3id.org/muniment#> . :r a m:SingleValuedBySubject ; m:predicate :lives ."
    assert post(administrator, rule, {"graph": "https://w3id.org/muniment#rules"}).status_code == 201
    assert put(client, ":ann :lives :paris .").status_code == 201
    held = post(client, ":ann :lives :rome .")
    assert (held.status_code, held.json()["state"]) == (409, "pending")
    prefer = TURTLE | {"prefer": "respond-async"}
    waited = client.post("/graphs", params=GRAPH, content=f"{PREFIX}:ann :lives :oslo .", headers=prefer)
    assert (waited.status_code, waited.headers["preference-applied"]) == (202, "respond-async")


def test_walls_hold(server: Served) -> None:
    put(server.writer, ":a :p 1 .", {"graph": f"{EX}theirs"})
    held, reader = server.client(Role.WRITER, GRAPH["graph"]), server.client(Role.READER, GRAPH["graph"])
    for name in ("theirs", "nowhere"):
        graph = {"graph": f"{EX}{name}"}
        assert held.get("/graphs", params=graph).status_code == 404
        assert held.get("/graphs", params=graph | {"valid-at": "2000"}).status_code == 404
        answers = [put(held, ":a :p 2 .", graph), post(held, ":a :p 2 .", graph), held.delete("/graphs", params=graph)]
        assert [(answer.status_code, answer.json()["code"]) for answer in answers] == 3 * [(403, "forbidden")]
    assert put(held, ":a :p 1 .").status_code == 201
    assert put(reader, ":a :p 2 .").status_code == post(reader, "").status_code == 403
    history = {"graph": "https://w3id.org/muniment/history/" + quote(GRAPH["graph"], safe="")}
    assert put(server.client(Role.ADMINISTRATOR), ":a :p 1 .", history).status_code == 403
    assert got(held, history)
    assert held.get("/graphs", params={"graph": history["graph"].replace("2Fg", "2Ftheirs")}).status_code == 404
    assert post(held, ":a :p 1 .", {}).status_code == 403  # a graph of a name of its own is not one of its graphs


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_a_graph_is_named_once(shared: Served, method: str) -> None:
    client = shared.writer
    content = {"content": "", "headers": TURTLE} if method == "PUT" else {}
    for name, where in (
        ({}, "graph"),
        (GRAPH | DEFAULT, "default"),
        ({"graph": "g"}, "graph"),
        ({"graphs": "x"}, "graphs"),
    ):
        answer = client.request(method, "/graphs", params=name, **content)  # type: ignore[arg-type] # of two kinds
        assert (answer.status_code, answer.json()["where"]) == (400, where), name


def test_documents_that_no_graph_can_be_are_refused(shared: Served) -> None:
    client = shared.writer
    trig = client.put(
        "/graphs", params=GRAPH, content="<urn:g> { <urn:a> <urn:p> 1 }", headers={"content-type": "application/trig"}
    )
    assert (trig.status_code, trig.json()["code"]) == (400, "invalid-document")
    assert put(client, ":a :p").status_code == 400
    assert client.put("/graphs", params=GRAPH, content="x", headers={"content-type": "image/png"}).status_code == 415
    assert client.put("/graphs", params=GRAPH, content="x").status_code == 415
    parts = {"one": ("one.png", b"x", "image/png")}
    assert client.post("/graphs", params=GRAPH, files=parts).status_code == 415
    assert client.patch("/graphs", params=GRAPH, content="x").status_code == 405


PART = '--x\r\nContent-Disposition: form-data; name="f"; filename="f.nt"\r\n'


@pytest.mark.parametrize(
    ("parts", "status", "where"),
    [
        (f"{PART}Content-Type: text/turtle\r\n\r\n<urn:a> <urn:p> 1 .\r\n", 400, None),
        (f"{PART}Content-Type: text/turtle\r\n\r\n<urn:a> <urn:p> 1 .\r\n--x\r\n", 400, None),
        (f"{PART}Content-Type: text/turtle\r\n\r\n\r\n{PART}\r\n<urn:a> <urn:p> 1 .\r\n--x--\r\n", 415, "part 2"),
        (f"{PART}Content-Type: text/turtle;charset=utf-16\r\n\r\n\r\n--x--\r\n", 415, "part 1"),
    ],
)
def test_a_form_that_is_cut_off_or_does_not_say_what_it_brings_is_refused(
    shared: Served, parts: str, status: int, where: str | None
) -> None:
    headers = {"content-type": "multipart/form-data; boundary=x"}
    answer = shared.writer.post("/graphs", params={"graph": "urn:cut"}, content=parts, headers=headers)
    assert (answer.status_code, answer.json().get("where")) == (status, where), answer.text
    assert shared.writer.get("/graphs", params={"graph": "urn:cut"}).status_code == 404
