"""Updates over HTTP: certified, judged, held for review, refused; what is told of them, and to whom."""

import re
from datetime import datetime, timedelta
from threading import Thread
from urllib.parse import urlencode

import httpx2
import pytest

from api.settings import DefaultGraph, Settings
from bridge.base import Base
from kernel.access import Role
from tests.api.bodies import EX, SHAPES, XSD
from tests.api.serving import Served, served

DIRECT = {"content-type": "application/sparql-update"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
DEFAULT = "https://w3id.org/muniment#default"
SHAPES_GRAPH = "https://w3id.org/muniment#shapes"
PREFIX = "PREFIX : <https://example.org/> "


def update(
    client: httpx2.Client, text: str, headers: dict[str, str] | None = None, **parameters: str
) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in parameters.items()}
    return client.post("/sparql", params=named, content=PREFIX + text, headers=DIRECT | (headers or {}))


def done(client: httpx2.Client, text: str, **parameters: str) -> httpx2.Response:
    answer = update(client, text, None, **parameters)
    assert answer.status_code == 200, answer.text
    return answer


def rows(client: httpx2.Client, pattern: str, **parameters: str) -> set[tuple[str, ...]]:
    """The solutions of a pattern, variables as they come in it, IRIs without what all share."""
    named = {name.replace("_", "-"): value for name, value in parameters.items()}
    answer = client.get("/sparql", params={"query": f"{PREFIX}SELECT * {{ {pattern} }}"} | named)
    assert answer.status_code == 200, answer.text
    names = dict.fromkeys(re.findall(r"\?(\w+)", pattern))
    bindings = answer.json()["results"]["bindings"]
    return {tuple(row[name]["value"].removeprefix(EX) for name in names if name in row) for row in bindings}


def facts(client: httpx2.Client, subject: str, **parameters: str) -> list[dict[str, object]]:
    answer = client.get("/facts", params={"subject": EX + subject, "valid-at": "any"} | parameters)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, object]] = answer.json()["items"]
    return found


def certificate(client: httpx2.Client, answer: httpx2.Response) -> dict[str, object]:
    found = client.get(answer.headers["location"])
    assert found.status_code == 200, found.text
    body: dict[str, object] = found.json()
    return body


# --- a certified write ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [False, True])
def test_an_update_is_applied_and_names_its_certificate(server: Served, form: bool) -> None:
    client = server.writer
    text = "INSERT DATA { :ann :lives :paris }"
    content = urlencode({"update": PREFIX + text, "reason": "census"}) if form else PREFIX + text
    parameters = {} if form else {"reason": "census"}
    answer = client.post("/sparql", params=parameters, content=content, headers=FORM if form else DIRECT)
    assert answer.status_code == 200, answer.text
    path = answer.headers["location"]
    assert answer.headers["link"] == f'<{path}>; rel="describedby"'
    assert answer.json()["certificate"].rpartition(":")[2] in path
    assert answer.json()["head"] == int(answer.headers["muniment-head"])
    told = certificate(client, answer)
    assert (told["state"], told["verdict"], told["graphs"]) == ("applied", "clear", [DEFAULT])
    assert rows(client, ":ann :lives ?place") == {("paris",)}


def test_what_is_inserted_begins_and_what_is_deleted_ends_at_the_instant_of_issue(server: Served) -> None:
    client = server.writer
    begun = done(client, "INSERT DATA { :ann :lives :paris }")
    ended = done(client, "DELETE { ?s :lives ?o } INSERT { ?s :lives :rome } WHERE { ?s :lives ?o }")
    paris, rome = sorted(facts(client, "ann"), key=lambda fact: str(fact["validFrom"]))
    instants = [str(certificate(client, each)["issuedAt"]) for each in (begun, ended)]
    assert (paris["validFrom"], paris["validTo"]) == tuple(instants)
    assert rome["validFrom"] == instants[1]
    assert "validTo" not in rome
    assert rows(client, ":ann :lives ?place") == {("rome",)}
    assert rows(client, ":ann :lives ?place", as_of=f"head:{begun.json()['head']}") == {("paris",)}


def test_valid_from_says_from_when_on_all_of_it_holds(server: Served) -> None:
    client = server.writer
    done(client, "INSERT DATA { :ann :lives :paris }", valid_from="2010")
    done(client, "DELETE { ?s :lives ?o } INSERT { ?s :lives :rome } WHERE { ?s :lives ?o }", valid_from="2019-05")
    assert rows(client, ":ann :lives ?place", valid_at="2019-04-30") == {("paris",)}
    assert rows(client, ":ann :lives ?place", valid_at="2019-05-01") == {("rome",)}
    done(client, "DELETE WHERE { :ann :lives ?o }", valid_from="2019-05")  # it began just then: it never was
    assert rows(client, ":ann :lives ?place", valid_at="2020") == set()
    assert rows(client, ":ann :lives ?place", valid_at="2015") == {("paris",)}
    unknown = update(client, "DELETE DATA { :ann :lives :paris }", valid_from="unknown")
    assert unknown.status_code == 200  # nothing of it is current, so nothing is to end
    assert update(client, "INSERT DATA { :a :b :c }", valid_from="2024-01-01T00:00:00").status_code == 400


def test_what_changes_nothing_is_a_success_without_certificate(server: Served) -> None:
    client = server.writer
    for text in (
        "DELETE DATA { :nobody :lives :nowhere }",
        "DELETE WHERE { :nobody ?p ?o }",
        "CLEAR ALL",
        "INSERT DATA { :a :b :c } ; DELETE DATA { :a :b :c }",
        "",
    ):
        answer = done(client, text)
        assert answer.json()["certificate"] is None
        assert "location" not in answer.headers
    assert client.get("/certificates").json()["items"] == []


def test_a_dry_run_judges_and_keeps_nothing(server: Served) -> None:
    client = server.writer
    answer = done(client, "INSERT DATA { :ann :lives :paris }", dry_run="true")
    assert (answer.json()["verdict"], answer.json()["certificate"]) == ("clear", None)
    assert rows(client, "?s ?p ?o") == set()


def test_the_same_key_gets_the_same_certificate(server: Served) -> None:
    client = server.writer
    key = {"idempotency-key": "k1"}
    done(client, "INSERT DATA { :a :n 1 }")
    text = "DELETE { ?s :n ?n } INSERT { ?s :n ?m } WHERE { ?s :n ?n BIND(?n + 1 AS ?m) }"
    first, second = update(client, text, key), update(client, text, key)
    assert first.json() == second.json()
    assert rows(client, ":a :n ?n") == {("2",)}
    made = "CREATE GRAPH :g ; INSERT { GRAPH :g { ?s :p ?o } } WHERE { ?s :n ?o }"
    twice = [update(client, made, {"idempotency-key": "k2"}).json() for _ in range(2)]
    assert twice[0] == twice[1]
    other = update(client, "CLEAR ALL", key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency-mismatch")


def test_a_literal_keeps_the_spelling_in_which_it_was_submitted(server: Served) -> None:
    client = server.writer
    done(client, f'INSERT DATA {{ :a :n "007"^^<{XSD}int> , "colour"@en-GB }}')
    spelled = [fact["statement"]["object"] for fact in facts(client, "a")]  # type: ignore[index] # an object of JSON
    assert {"@value": "007", "@type": f"{XSD}int"} in spelled
    assert {"@value": "colour", "@language": "en-GB"} in spelled
    done(client, f'DELETE DATA {{ :a :n "7"^^<{XSD}integer> }}')
    assert rows(client, ":a :n ?n") == {("colour",)}


# --- review and refusal -----------------------------------------------------------------------------------------------


def one_home(server: Served) -> None:
    rule = (
        "PREFIX m: <https://w3id.org/muniment#> INSERT DATA { GRAPH m:rules { "
        ":rule a m:SingleValuedBySubject ; m:predicate :lives ; m:propose m:EndOlder } }"
    )
    done(server.client(Role.ADMINISTRATOR), rule)


def test_what_an_editor_decides_is_409_or_202_for_who_would_wait(server: Served) -> None:
    one_home(server)
    client, editor = server.writer, server.client(Role.EDITOR)
    done(client, "INSERT DATA { :ann :lives :paris }")
    held = update(client, "INSERT DATA { :ann :lives :rome }")
    assert (held.status_code, held.json()["state"], held.json()["verdict"]) == (409, "pending", "review")
    waited = update(
        client, "INSERT DATA { :bob :lives :oslo . :ann :lives :oslo }", {"prefer": "wait=5, respond-async"}
    )
    assert (waited.status_code, waited.headers["preference-applied"]) == (202, "respond-async")
    assert rows(client, ":ann :lives ?place") == {("paris",)}
    decided = editor.post(f"{held.headers['location']}/decision", json={"decision": "approve"})
    assert decided.json()["state"] == "applied", decided.text
    assert rows(client, ":ann :lives ?place") == {("rome",)}


def test_an_approval_of_an_update_plans_its_net_changes_again(server: Served) -> None:
    one_home(server)
    client, editor = server.writer, server.client(Role.EDITOR)
    done(client, "INSERT DATA { :ann :lives :paris . :ann :age 40 }")
    text = "DELETE { :ann :age ?n } INSERT { :ann :age ?m ; :lives :rome } WHERE { :ann :age ?n BIND(?n + 1 AS ?m) }"
    held = update(client, text)
    assert held.status_code == 409
    done(client, "DELETE WHERE { :ann :age ?n }")
    decided = editor.post(f"{held.headers['location']}/decision", json={"decision": "approve"}).json()
    assert decided["state"] == "stale"
    assert rows(client, ":ann :age ?n") == set()


def test_what_breaks_a_shape_is_422_with_the_findings(server: Served) -> None:
    administrator, client = server.client(Role.ADMINISTRATOR), server.writer
    shapes = administrator.post(
        "/graphs", params={"graph": SHAPES_GRAPH}, content=SHAPES, headers={"content-type": "text/turtle"}
    )
    assert shapes.status_code == 201, shapes.text
    answer = update(client, "INSERT { :ann a :Person ; :age ?age } WHERE { VALUES ?age { 'old' } }")
    assert (answer.status_code, answer.json()["state"]) == (422, "refused")
    assert [finding["message"] for finding in answer.json()["findings"]] == ["an age is a whole number"]
    assert certificate(client, answer)["state"] == "refused"
    assert rows(client, "?s ?p ?o") == set()


# --- cases ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "DELETE DATA { _:b :p 1 }",
        "DELETE DATA { [] :p 1 }",
        "DELETE { :a :p [ :q 1 ] } WHERE { }",
        "DELETE { :a :p ( 1 ) } WHERE { }",
        "DELETE WHERE { _:b :p ?o }",
        "DELETE WHERE { GRAPH ?g { [] :p ?o } }",
        "INSERT DATA { :a :p 1 } ; DELETE { _:x :p ?o } INSERT { :a :p ?o } WHERE { ?s :p ?o }",
    ],
)
def test_case_14_a_blank_node_is_not_deleted(shared: Served, text: str) -> None:
    answer = update(shared.writer, text)
    assert (answer.status_code, answer.json()["code"]) == (400, "query-refused")
    assert "blank node" in answer.json()["detail"]


def test_case_14_what_is_deleted_without_a_graph_goes_wherever_it_is(server: Served) -> None:
    client = server.writer
    done(client, "INSERT DATA { GRAPH :g { :a :p 1 } GRAPH :h { :a :p 1 . :b :p 2 } }")
    answer = done(client, "DELETE WHERE { :a ?p ?o }")
    assert certificate(client, answer)["graphs"] == [f"{EX}g", f"{EX}h"]
    assert rows(client, "GRAPH ?g { ?s ?p ?o }") == {("h", "b", "p", "2")}


def test_case_14_strictly_it_goes_from_the_default_graph_alone(server: Served) -> None:
    client = server.writer
    done(client, "INSERT DATA { :a :p 1 . GRAPH :g { :a :p 1 } }")
    done(client, "DELETE WHERE { :a ?p ?o }", default_graph="strict")
    assert rows(client, "GRAPH ?g { ?s ?p ?o }") == {("g", "a", "p", "1")}


def test_case_15_each_where_sees_the_operations_before_it(server: Served) -> None:
    client = server.writer
    answer = done(
        client,
        "INSERT DATA { :a :n 1 } ; INSERT { ?s :m ?n } WHERE { ?s :n ?n } ; DELETE { ?s :n ?n } WHERE { ?s :m ?n } ; "
        "INSERT { GRAPH :g { :seen :by ?s } } WHERE { ?s :m 1 FILTER NOT EXISTS { ?s :n ?n } }",
    )
    assert rows(client, "GRAPH ?g { ?s ?p ?o }") == {(DEFAULT, "a", "m", "1"), ("g", "seen", "by", "a")}
    assert len(facts(client, "a")) == 1  # what was inserted and deleted again never was
    assert certificate(client, answer)["graphs"] == [f"{EX}g", DEFAULT]


def test_case_15_where_is_evaluated_once_before_any_write(server: Served) -> None:
    client = server.writer
    done(client, "INSERT DATA { :a :n 1 . :b :n 2 . :c :n 3 }")
    done(client, "DELETE { ?s :n ?n } INSERT { ?s :n ?m } WHERE { ?s :n ?n BIND(?n + 1 AS ?m) }")
    assert rows(client, "?s :n ?n") == {("a", "2"), ("b", "3"), ("c", "4")}


def test_case_15_what_is_deleted_and_inserted_again_stays_as_it_is(server: Served) -> None:
    client = server.writer
    done(client, "INSERT DATA { :a :n 1 }", valid_from="2010")
    done(client, "DELETE { ?s :n ?n } INSERT { ?s :n ?n } WHERE { ?s :n ?n }")
    [fact] = facts(client, "a")
    assert (fact["validFrom"], "validTo" in fact) == ("2010", False)


def test_now_is_one_instant_and_that_of_the_request(server: Served) -> None:
    client = server.writer
    answer = done(
        client,
        "INSERT { :a :at ?now } WHERE { BIND(NOW() AS ?now) } ; "
        "INSERT { :a :later ?now } WHERE { :a :at ?before BIND(NOW() AS ?now) FILTER(?now = ?before) }",
    )
    [(at, later)] = rows(client, ":a :at ?at ; :later ?later")
    assert at == later
    issued = datetime.fromisoformat(str(certificate(client, answer)["issuedAt"]))
    assert abs(datetime.fromisoformat(at) - issued) < timedelta(minutes=1)


@pytest.mark.parametrize(
    "text",
    [
        "INSERT { ?s :p ?o } WHERE { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
        "INSERT { ?s :p ?o } WHERE { SERVICE SILENT <http://127.0.0.1:9/> { ?s ?p ?o } }",
        "PREFIX x: <http://127.0.0.1:9/> DELETE { ?s ?p ?o } WHERE { { SERVICE x:y { ?s ?p ?o } } UNION { ?s ?p ?o } }",
        "INSERT { ?s :p ?o } WHERE { VALUES ?e { <http://127.0.0.1:9/> } SERVICE ?e { ?s ?p ?o } }",
        "DELETE WHERE { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
        "INSERT DATA { :a :b :c } ; INSERT { ?s ?p 1 } WHERE { ?s ?p ?o FILTER EXISTS { SERVICE :e { ?s ?p ?o } } }",
        "LOAD <http://127.0.0.1:9/>",
        "LOAD SILENT <http://127.0.0.1:9/> INTO GRAPH :g",
        "PREFIX x: <http://127.0.0.1:9/> LOAD x:y",
        "INSERT DATA { :a :b :c } ; LOAD SILENT <file:///etc/passwd>",
    ],
)
def test_case_16_nothing_is_fetched(shared: Served, text: str) -> None:
    answer = update(shared.writer, text)
    assert (answer.status_code, answer.json()["code"]) == (400, "query-refused")
    assert "not served here" in answer.json()["detail"] or "'SERVICE' stands" in answer.json()["detail"]


# --- who may --------------------------------------------------------------------------------------------------------


def test_a_reader_updates_nothing(shared: Served) -> None:
    for text in ("INSERT DATA { :a :b :c }", "DELETE WHERE { :nobody ?p ?o }", "CLEAR SILENT ALL", ""):
        answer = update(shared.client(Role.READER), text)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.fixture
def walls(server: Served) -> tuple[Served, httpx2.Client]:
    """A writer held to one graph, beside another graph that it may not even read."""
    done(server.writer, "INSERT DATA { GRAPH :mine { :a :p 1 } GRAPH :theirs { :a :p 1 . :secret :p 2 } }")
    return server, server.client(Role.WRITER, f"{EX}mine")


def test_a_where_sees_nothing_that_its_caller_may_not_read(walls: tuple[Served, httpx2.Client]) -> None:
    server, held = walls
    for where in (
        "?s ?p ?o",
        "GRAPH ?g { ?s ?p ?o }",
        "GRAPH :theirs { ?s ?p ?o }",
        "GRAPH <https://w3id.org/muniment/history/https%3A%2F%2Fexample.org%2Ftheirs> { ?s ?p ?o }",
    ):
        done(held, f"INSERT {{ GRAPH :mine {{ :found :it ?s }} }} WHERE {{ {where} FILTER(?s = :secret) }}")
    using = "INSERT { GRAPH :mine { :found :it ?s } } USING :theirs USING NAMED :theirs WHERE { ?s ?p ?o }"
    done(held, using)
    done(
        held,
        "INSERT { GRAPH :mine { :found :it ?s } } WHERE { ?s ?p ?o FILTER(?s = :secret) }",
        using_graph_uri=f"{EX}theirs",
    )
    assert rows(server.writer, ":found :it ?s") == set()


def test_what_is_deleted_without_a_graph_stays_where_its_caller_may_not_write(
    walls: tuple[Served, httpx2.Client],
) -> None:
    server, held = walls
    answer = done(held, "DELETE WHERE { ?s ?p ?o }")
    assert certificate(held, answer)["graphs"] == [f"{EX}mine"]
    assert rows(server.writer, "GRAPH ?g { ?s ?p ?o }") == {("theirs", "a", "p", "1"), ("theirs", "secret", "p", "2")}


@pytest.mark.parametrize(
    "text",
    [
        "INSERT DATA { GRAPH :theirs { :a :p 3 } }",
        "DELETE DATA { GRAPH :theirs { :a :p 1 } }",
        "DELETE DATA { GRAPH :theirs { :not :there 1 } }",
        "CLEAR GRAPH :theirs",
        "DROP SILENT GRAPH :nowhere",
        "CREATE SILENT GRAPH :theirs",
        "CREATE GRAPH :new",
        "COPY :mine TO :theirs",
        "MOVE SILENT :theirs TO :mine",
        "INSERT DATA { :a :p 1 }",
        "WITH :theirs DELETE { :secret :p 2 } WHERE { }",
        "INSERT { GRAPH ?g { :a :p 3 } } WHERE { VALUES ?g { :theirs } }",
        "DELETE DATA { GRAPH <https://w3id.org/muniment/history/https%3A%2F%2Fexample.org%2Fmine> { :a :p 1 } }",
        "INSERT DATA { GRAPH <https://w3id.org/muniment/history/https%3A%2F%2Fexample.org%2Fmine> { :a :p 1 } }",
        "INSERT DATA { GRAPH <https://w3id.org/muniment#shapes> { :a :p 1 } }",
        "DELETE DATA { GRAPH <https://w3id.org/muniment#rules> { :a :p 1 } }",
    ],
)
def test_nobody_writes_where_they_may_not_whether_there_is_something_or_not(
    walls: tuple[Served, httpx2.Client], text: str
) -> None:
    answer = update(walls[1], text)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_a_graph_that_may_not_be_read_is_as_one_that_is_not_there(walls: tuple[Served, httpx2.Client]) -> None:
    unreadable, missing = (update(walls[1], f"ADD :{name} TO :mine") for name in ("theirs", "nowhere"))
    assert unreadable.status_code == missing.status_code == 404
    assert {**unreadable.json(), "where": 0, "requestId": 0} == {**missing.json(), "where": 0, "requestId": 0}
    done(walls[1], "ADD SILENT :theirs TO :mine")
    assert rows(walls[1], "?s ?p ?o") == {("a", "p", "1")}


def test_clearing_never_touches_reserved_graphs(server: Served) -> None:
    administrator = server.client(Role.ADMINISTRATOR)
    shape = "INSERT DATA { GRAPH <https://w3id.org/muniment#ontology> { :A :b :c } GRAPH :g { :a :b :c } }"
    done(administrator, shape)
    done(administrator, "DROP ALL ; CLEAR NAMED ; CLEAR DEFAULT")
    done(administrator, "DELETE WHERE { GRAPH ?g { ?s ?p ?o } }")
    ontology = "GRAPH <https://w3id.org/muniment#ontology> { ?s ?p ?o }"
    assert rows(administrator, ontology) == {("A", "b", "c")}
    assert rows(administrator, "?s ?p ?o") == set()
    for text in ("CLEAR GRAPH", "DROP SILENT GRAPH", "COPY DEFAULT TO", "ADD DEFAULT TO :g ; MOVE :g TO"):
        answer = update(administrator, f"{text} <https://w3id.org/muniment#ontology>")
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    done(administrator, "DELETE WHERE { GRAPH <https://w3id.org/muniment#ontology> { :A ?p ?o } }")
    assert rows(administrator, ontology) == set()
    timed = update(administrator, shape, valid_from="2020")
    assert (timed.status_code, timed.json()["code"]) == (422, "reserved-graph")


# --- what is wrong with a text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("INSERT DATA {\n :a :b ?c }", "line 2, column 8", "variable"),
        ("INSERT DATA {\n :a :b c }", "line 2, column 8", "term"),
        ("INSERT DATA {\n :a x:b 1 }", "line 2", "x"),
        ("DELETE {\n :a :b ?c }\nWHERE {\n ?c :b foo:bar }", "line 4, column 8", "foo:"),
        ("DELETE WHERE {\n ?c :b\n", None, "ends"),
        ("INSERT {\n :a :b 1 } WHERE { ?a ?b ?c } FOO", "line 2, column 31", "';'"),
        ("CLEAR GRAPH x:g", "line 1", "x:"),
        ("BASE <g> CLEAR GRAPH <x y>", "line 1", "'<'"),
        ("SELECT * { ?s ?p ?o }", "line 1", "SELECT"),
        ("INSERT DATA { GRAPH :g { :a :b 1 . GRAPH :h { :a :b 2 } } }", "line 1", "GRAPH"),
        ("INSERT DATA { :g { :a :b 1 } }", "line 1", "GRAPH"),
        ("INSERT DATA { PREFIX x: <urn:x> x:a x:b 1 }", "line 1", "PREFIX"),
        ("INSERT DATA { @prefix x: <urn:x> . x:a x:b 1 }", "line 1", "@prefix"),
        ("INSERT DATA { :a :b 1 . }}", "line 1", "'}'"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(shared: Served, text: str, where: str | None, words: str) -> None:
    answer = update(shared.writer, text)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (400, "query-refused")
    assert words in problem["detail"] + problem["remedy"]
    assert problem["remedy"]
    if where is not None:
        assert problem["where"].startswith(where), problem


def test_the_protocol_is_held_to(shared: Served) -> None:
    client = shared.writer
    in_url = client.get("/sparql", params={"update": "CLEAR ALL"})
    assert (in_url.status_code, in_url.json()["code"]) == (400, "query-refused")
    twice = client.post("/sparql", content="update=CLEAR+NAMED&update=CLEAR+DEFAULT", headers=FORM)
    assert (twice.status_code, twice.json()["where"]) == (400, "update")
    both = client.post("/sparql", content="update=CLEAR+NAMED&query=ASK+%7B%7D", headers=FORM)
    assert (both.status_code, both.json()["where"]) == (400, "query")
    utf16 = client.post(
        "/sparql", content="CLEAR ALL", headers={"content-type": "application/sparql-update; charset=UTF-16"}
    )
    assert utf16.status_code == 415
    latin = client.post("/sparql", content=b'INSERT DATA { <urn:a> <urn:b> "\xe7" }', headers=DIRECT)
    assert (latin.status_code, latin.json()["code"]) == (400, "invalid-document")
    conflict = update(client, "WITH :g DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", using_graph_uri=f"{EX}h")
    assert (conflict.status_code, conflict.json()["where"]) == (400, "using-graph-uri")
    unknown = update(client, "CLEAR ALL", graph=f"{EX}g")
    assert (unknown.status_code, unknown.json()["where"]) == (400, "graph")


def test_the_protocol_names_the_dataset_of_a_where(server: Served) -> None:
    client = server.writer
    done(client, "INSERT DATA { :a :p 1 . GRAPH :g { :b :p 2 } GRAPH :h { :c :p 3 } }")
    done(client, "INSERT { GRAPH :seen { :g :has ?s } } WHERE { ?s :p ?o }", using_graph_uri=f"{EX}g")
    done(
        client,
        "INSERT { GRAPH :seen { :named :has ?s } } WHERE { GRAPH ?g { ?s :p ?o } }",
        using_named_graph_uri=f"{EX}h",
    )
    done(client, "INSERT { GRAPH :seen { :none :has ?s } } WHERE { ?s :p ?o }", using_named_graph_uri=f"{EX}h")
    assert rows(client, "GRAPH :seen { ?s :has ?o }") == {("g", "b"), ("named", "c")}


# --- writers beside each other ----------------------------------------------------------------------------------------


def test_updates_that_meet_are_each_evaluated_where_they_are_planned(any_server: Served) -> None:
    """Every one of them sees the count that the one before left, or the sum would be less."""
    client = any_server.writer
    done(client, "INSERT DATA { :count :is 0 }")
    text = "DELETE { :count :is ?n } INSERT { :count :is ?m } WHERE { :count :is ?n BIND(?n + 1 AS ?m) }"

    def count() -> None:
        own = any_server.writer
        for _ in range(8):
            done(own, text)

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows(client, ":count :is ?n") == {("32",)}


def test_much_data_is_a_load_session(any_server: Served) -> None:
    client = any_server.writer
    many = 1_000
    data = "".join(f"<https://example.org/{n}> :number {n} ; :made [ :of '{n:01000}' ] .\n" for n in range(many))
    key = {"idempotency-key": "bulk"}
    text = f"INSERT DATA {{ {data} GRAPH :g {{ :a :b 1 }} }}"
    assert len(text) > 2**20
    first, second = update(client, text, key), update(client, text, key)
    assert first.status_code == 200, first.text
    assert first.json() == second.json()
    told = certificate(client, first)
    assert (told["state"], told["graphs"]) == ("applied", [f"{EX}g", DEFAULT])
    assert rows(client, "{ SELECT (COUNT(*) AS ?n) { ?s ?p ?o } }") == {(str(3 * many + 1),)}
    assert rows(client, "?s :number 77 ; :made/:of ?text") == {("77", f"{77:01000}")}
    other = update(client, text + " ; INSERT DATA { :a :b 2 }", key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency-mismatch")
    broken = update(client, f"INSERT DATA {{ {data} :a :b . }}")
    assert (broken.status_code, broken.json()["code"]) == (400, "query-refused")
    assert any_server.base.ledger.staged_sessions() == []
    held = any_server.client(Role.WRITER, f"{EX}g")
    assert update(held, text).status_code == 403
    assert any_server.base.ledger.staged_sessions() == []


def test_a_base_may_be_served_strictly() -> None:
    with Base.open(None) as base, served(base, Settings(default_graph=DefaultGraph.STRICT)) as running:
        client = running.writer
        done(client, "INSERT DATA { :a :p 1 . GRAPH :g { :a :p 1 } }")
        done(client, "DELETE WHERE { :a ?p ?o }")
        assert rows(client, "?s ?p ?o") == set()
        assert rows(client, "GRAPH ?g { ?s ?p ?o }") == {("g", "a", "p", "1")}
        assert rows(client, "?s ?p ?o", default_graph="union") == {("a", "p", "1")}
        done(client, "DELETE WHERE { :a ?p ?o }", default_graph="union")
        assert rows(client, "?s ?p ?o", default_graph="union") == set()


def test_a_query_asks_strictly_as_an_update_does(server: Served) -> None:
    client = server.writer
    done(client, "INSERT DATA { :a :p 1 . GRAPH :g { :b :p 2 } }")
    assert rows(client, "?s :p ?o", default_graph="strict") == {("a", "1")}
    assert rows(client, "GRAPH ?g { ?s :p ?o }", default_graph="strict") == {("g", "b", "2")}
    assert rows(client, "?s :p ?o", default_graph="strict", default_graph_uri=f"{EX}g") == {("b", "2")}
    held = server.client(Role.READER, f"{EX}g")
    assert rows(held, "?s :p ?o", default_graph="strict") == set()
    answer = client.get("/sparql", params={"query": "ASK {}", "default-graph": "all"})
    assert (answer.status_code, answer.json()["where"]) == (400, "default-graph")
