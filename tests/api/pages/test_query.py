"""The query page: answers as tables and files, both times, and errors in their place."""

import json
import re
from urllib.parse import quote

import httpx2
import pytest

from api.pages.samples import SAMPLES
from kernel.access import Role
from kernel.vocabulary import DEFAULT_GRAPH, history_graph
from tests.api.bodies import EX, change
from tests.api.pages.world import Page, World
from tests.api.serving import Served

HOLDERS = f"SELECT ?who {{ <{EX}chancellor> <{EX}heldBy> ?who }}"


def ask(client: httpx2.Client, query: str, **parameters: str) -> httpx2.Response:
    return client.get("/query", params={"query": query, **parameters})


@pytest.mark.parametrize(("valid_at", "who"), [("1990", "Helmut Kohl"), ("2020", "Angela Merkel")])
def test_an_answer_is_of_the_times_asked_for(still: World, valid_at: str, who: str) -> None:
    page = Page.of(ask(still.signed_in(Role.READER), HOLDERS, **{"valid-at": valid_at}))
    assert f"1 January {valid_at}, 00:00:00 UTC" in page.text
    assert page.links[who].startswith("/node?iri=")


def test_an_answer_of_the_past_is_empty_before_anything_was_recorded(still: World) -> None:
    text = Page.of(ask(still.signed_in(Role.READER), HOLDERS, **{"as-of": "2001-01-01"})).text
    assert "0 rows" in text
    assert "before anything was recorded" in text


@pytest.mark.parametrize(("query", "answer"), [("ASK { ?s ?p ?o }", "Yes"), ("ASK { <urn:no> ?p ?o }", "No")])
def test_ask_is_answered_in_a_word(still: World, query: str, answer: str) -> None:
    assert f"{answer} As true at" in Page.of(ask(still.signed_in(Role.READER), query)).text


def test_a_graph_is_shown_as_triples(still: World) -> None:
    page = Page.of(ask(still.signed_in(Role.READER), f"CONSTRUCT {{ ?o <urn:was> ?w }} {{ ?o <{EX}heldBy> ?w }}"))
    assert "1 triple " in page.text
    assert "subjectpredicateobject" in page.text.replace(" ", "")
    assert "Turtle" in page.links
    assert "CSV" not in page.links


@pytest.mark.parametrize("form", ["Turtle", "JSON-LD"])
def test_a_graph_is_a_file_by_its_usual_ending(still: World, form: str) -> None:
    client = still.signed_in(Role.READER)
    page = Page.of(ask(client, f"CONSTRUCT {{ ?o <urn:was> ?w }} {{ ?o <{EX}heldBy> ?w }}"))
    ending = {"Turtle": "ttl", "JSON-LD": "jsonld"}[form]
    disposition = client.get(page.links[form]).headers["content-disposition"]
    assert disposition == f'attachment; filename="answer.{ending}"'


def test_columns_are_in_the_order_of_the_query(still: World) -> None:
    text = ask(still.signed_in(Role.READER), "SELECT ?z ?a ?m { ?z ?a ?m } LIMIT 1").text
    assert re.findall('<th scope="col"><bdi>(.)</bdi>', text) == ["z", "a", "m"]
    text = ask(still.signed_in(Role.READER), "SELECT * { ?z ?a ?m } LIMIT 1").text
    assert re.findall('<th scope="col"><bdi>(.)</bdi>', text) == ["z", "a", "m"]


# --- posted -----------------------------------------------------------------------------------------------------------


def posted(client: httpx2.Client, query: str, **fields: str) -> httpx2.Response:
    """Sends the form of the page."""
    form = Page.of(client.get("/query")).forms[1]
    return client.post("/query", data={**form, "query": query, **fields})


def test_what_fits_into_an_address_is_asked_by_it(still: World) -> None:
    client = still.signed_in(Role.READER)
    answer = posted(client, HOLDERS, **{"valid-at": "2000"})
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/query?query=SELECT")
    assert "Gerhard Schröder" in Page.of(client.get(answer.headers["location"])).text
    assert posted(client, "").headers["location"] == "/query?"


def test_a_query_of_any_length_is_answered_and_has_its_files(still: World) -> None:
    client = still.signed_in(Role.READER)
    query = HOLDERS + "\n# " + "x" * 100_000
    answer = posted(client, query, **{"valid-at": "2000"})
    page = Page.of(answer)
    assert answer.status_code == 200
    assert "Gerhard Schröder" in page.text
    assert "too long for an address" in page.text
    assert "x" * 100_000 in answer.text, "it can be asked again"
    file = client.post("/query", data={**page.forms[-1], "format": "csv"})
    assert file.headers["content-disposition"] == 'attachment; filename="answer.csv"'
    assert file.text.split() == ["who", f"{EX}schroeder"]


def test_a_mistake_in_a_long_query_is_shown_with_it(still: World) -> None:
    answer = posted(still.signed_in(Role.READER), "# " + "x" * 10_000 + "\nSELECT {")
    assert answer.status_code == 400
    assert "line 2" in Page.of(answer).text
    assert "x" * 10_000 in answer.text


def test_a_query_from_elsewhere_is_not_asked_and_not_lost(still: World) -> None:
    client = still.signed_in(Role.READER)
    assert client.post("/query", data={"query": HOLDERS}).status_code == 403
    kept = client.post("/query", data={"query": HOLDERS, "forgery-token": "of-another-session"})
    assert kept.status_code == 403
    assert HOLDERS in Page.of(kept).text
    foreign = client.post("/query", data={"query": HOLDERS}, headers={"sec-fetch-site": "cross-site"})
    assert HOLDERS not in foreign.text


def test_every_kind_of_cell_is_shown(still: World) -> None:
    query = """SELECT (<javascript:x> AS ?a) ("ja"@de AS ?b) (7 AS ?c) (BNODE() AS ?d)
        (TRIPLE(<urn:a>, <urn:b>, BNODE()) AS ?e) ?f {}"""
    text = Page.of(ask(still.signed_in(Role.READER), query)).text
    for shown in ("javascript:x", "ja de", "7 xsd:integer", "_:"):
        assert shown in text


@pytest.mark.parametrize("rows", [999, 1_000, 1_001])
def test_the_first_thousand_rows_are_shown_and_a_file_has_all(server: Served, rows: int) -> None:
    world = World(server)
    client = world.signed_in(Role.READER)
    query = "SELECT ?n { VALUES ?n { " + " ".join(map(str, range(rows))) + " } }"
    page = Page.of(ask(client, query))
    assert f"{min(rows, 1000):,} rows" in page.text
    assert ("There are more than these" in page.text) is (rows > 1_000)
    answer = client.get(page.links["CSV"])
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="answer.csv"'
    assert len(answer.text.split()) == rows + 1
    assert len(json.loads(client.get(page.links["JSON"]).content)["results"]["bindings"]) == rows


@pytest.mark.parametrize(
    ("query", "line", "column"),
    [
        ("SELECT ?x\nWHERE { ?x a ?y ?z }", "WHERE { ?x a ?y ?z }", "WHERE { ?x a ?y ?z }"),
        ("ASK { ?s ?p 'ä€𝄞' ; ; ] }", "ASK { ?s ?p 'ä€𝄞' ; ; ] }", "ASK { ?s ?p 'ä€𝄞' ; ; ]"),
    ],
)
def test_a_mistake_is_shown_in_its_line(still: World, query: str, line: str, column: str) -> None:
    answer = ask(still.signed_in(Role.READER), query)
    assert answer.status_code == 400
    shown, mark = re.findall(r"<pre[^>]*><code>(.*)\n<span class=\"caret\">( *\^)</span>", answer.text)[0]
    assert shown.replace("&#39;", "'") == line
    assert len(mark) == pytest.approx(len(column), abs=2)
    assert "What to do" in Page.of(answer).text


@pytest.mark.parametrize(
    "query", ["INSERT DATA { <urn:a> <urn:b> <urn:c> }", "SELECT * { SERVICE <urn:x> { ?s ?p ?o } }", "LOAD <urn:x>"]
)
def test_what_is_no_query_of_this_base_is_refused(still: World, query: str) -> None:
    answer = ask(still.signed_in(Role.ADMINISTRATOR), query)
    assert answer.status_code == 400
    assert "What to do" in Page.of(answer).text


@pytest.mark.parametrize(("field", "label"), [("valid-at", "As true at"), ("as-of", "As known at")])
def test_a_time_that_cannot_be_read_is_said_beside_the_query_and_marked_at_its_field(
    still: World, field: str, label: str
) -> None:
    answer = ask(still.signed_in(Role.READER), HOLDERS, **{field: "soon"})
    assert answer.status_code == 400
    assert re.findall(r'<(?:input|textarea) id="([^"]+)"[^>]*aria-invalid="true"', answer.text) == [field]
    assert f"{label}: " in Page.of(answer).text
    assert HOLDERS in Page.of(answer).text, "the query is still there"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_each_sample_works_and_is_in_the_editor_once_chosen(still: World, sample: object) -> None:
    client = still.signed_in(Role.READER)
    name = getattr(sample, "name", "")
    answer = client.get(Page.of(client.get("/query")).links[name])
    assert answer.status_code == 200
    assert "As true at" in Page.of(answer).text
    assert " 0 rows" not in Page.of(answer).text
    assert "takes longer than it need" not in answer.text, "nobody is told off for what the page offers"


def test_a_reader_is_answered_from_the_graphs_that_they_may_read(server: Served) -> None:
    world = World(server)
    world.ask("open", change("ada", "lives", "rome", graph="urn:open"))
    world.ask("secret", change("ada", "lives", "paris", graph="urn:secret"))
    client = world.signed_in(Role.READER, "urn:open")
    for query in (
        "SELECT * { ?s ?p ?o }",
        "SELECT * { GRAPH ?g { ?s ?p ?o } }",
        "SELECT * FROM <urn:secret> { ?s ?p ?o }",
    ):
        page, file = ask(client, query), ask(client, query, format="csv")
        assert "paris" not in page.text + file.text
    assert "rome" in ask(client, "SELECT * { ?s ?p ?o }").text


@pytest.mark.parametrize("query", ["?format=csv&query=x&format=csv", "?quer=x", f"?query={quote(HOLDERS)}&format=pdf"])
def test_what_nothing_knows_is_an_error(still: World, query: str) -> None:
    assert still.signed_in(Role.READER).get(f"/query{query}").status_code == 400


def test_a_query_that_looks_at_every_fact_is_told_what_to_write(still: World) -> None:
    client = still.signed_in(Role.READER)
    slow = f"SELECT ?f {{ GRAPH {history_graph(DEFAULT_GRAPH).n3} {{ << <urn:a> ?p ?o ~ ?f >> ?q ?v }} }}"
    assert "?f <https://w3id.org/muniment#subject> <urn:a> ." in Page.of(ask(client, slow)).text
    assert "longer than it need" not in Page.of(ask(client, HOLDERS)).text
