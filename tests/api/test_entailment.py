"""Entailment over HTTP and by command: what is asked for, offered, refused and told."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from api.settings import Offered, Settings
from bridge.base import Base
from kernel.access import Role
from kernel.changes import Retract
from kernel.terms import Iri, Statement
from kernel.vocabulary import DEFAULT_GRAPH, ONTOLOGY_GRAPH
from tests.api.console import run
from tests.api.serving import FRUGAL, Served, served
from tests.bridge.entailment.test_entailed_queries import ANN, BOB, KNOWS, PERSON, POET, SUBCLASS, SYMMETRIC, A, said
from tests.bridge.writing import ADMINISTRATOR, during, write

PEOPLE = f"SELECT ?x {{ ?x a {PERSON.n3} }}"
CSV = {"accept": "text/csv"}


def told(base: Base) -> None:
    write(base, said(POET, SUBCLASS, PERSON, ONTOLOGY_GRAPH), by=ADMINISTRATOR)
    write(base, said(ANN, A, POET), said(KNOWS, A, SYMMETRIC), said(ANN, KNOWS, BOB))


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with Base.open(None) as base, served(base, FRUGAL) as server:
        told(base)
        yield server


@pytest.fixture(scope="module")
def reader(server: Served) -> httpx2.Client:
    return server.client(Role.READER)


def rows(answer: httpx2.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return answer.text.splitlines()[1:]


@pytest.mark.parametrize(
    ("entailment", "expected"), [(None, []), ("none", []), ("rdfs", ["urn:ann"]), ("owl-rl", ["urn:ann"])]
)
def test_a_query_says_by_which_rules(reader: httpx2.Client, entailment: str | None, expected: list[str]) -> None:
    parameters = {} if entailment is None else {"entailment": entailment}
    assert rows(reader.get("/sparql", params={"query": PEOPLE, **parameters}, headers=CSV)) == expected
    assert rows(reader.post("/sparql", data={"query": PEOPLE, **parameters}, headers=CSV)) == expected
    at = f"/at/{quote('head:1', safe=':')}/sparql"
    assert rows(reader.get(at, params={"query": PEOPLE, **parameters}, headers=CSV)) == []


def test_other_rules_are_an_error_that_names_those_there_are(reader: httpx2.Client) -> None:
    refused = reader.get("/sparql", params={"query": PEOPLE, "entailment": "owl-dl"})
    assert refused.status_code == 400
    assert "owl-rl" in refused.json()["remedy"]


def test_an_answer_has_a_tag_of_its_own(server: Served, reader: httpx2.Client) -> None:
    def got(tag: str | None = None, **parameters: str) -> httpx2.Response:
        headers = CSV if tag is None else {**CSV, "if-none-match": tag}
        return reader.get("/sparql", params={"query": PEOPLE, **parameters}, headers=headers)

    plain, entailed = got().headers["etag"], got(entailment="rdfs").headers["etag"]
    assert plain != entailed != got(entailment="owl-rl").headers["etag"]
    assert got(entailed, entailment="rdfs").status_code == 304
    assert got(plain, entailment="rdfs").status_code == 200
    write(server.base, said(BOB, A, POET))
    assert sorted(rows(got(entailed, entailment="rdfs"))) == ["urn:ann", "urn:bob"]
    write(server.base, Retract(Statement(BOB, A, POET, DEFAULT_GRAPH)))


def test_the_service_says_what_it_offers(reader: httpx2.Client) -> None:
    description = reader.get("/sparql", headers={"accept": "application/n-triples"}).text
    assert "<http://www.w3.org/ns/entailment/RDFS>" in description
    assert "feature> <http://www.w3.org/ns/owl-profile/RL>" in description
    assert "defaultEntailmentRegime> <http://www.w3.org/ns/entailment/Simple>" in description


def test_an_operator_may_offer_less() -> None:
    settings = Settings(query_spares=0, query_patience=60, entailment=Offered.RDFS)
    with Base.open(None) as base, served(base, settings) as server:
        told(base)
        reader = server.client(Role.READER)
        refused = reader.get("/sparql", params={"query": PEOPLE, "entailment": "owl-rl"})
        assert (refused.status_code, "rdfs or none" in refused.json()["remedy"]) == (400, True)
        assert rows(reader.get("/sparql", params={"query": PEOPLE, "entailment": "rdfs"}, headers=CSV)) == ["urn:ann"]
        assert "owl-profile" not in reader.get("/sparql", headers={"accept": "application/n-triples"}).text


def test_an_update_takes_no_entailment(server: Served) -> None:
    refused = server.writer.post(
        "/sparql?entailment=rdfs", content="INSERT DATA {}", headers={"content-type": "application/sparql-update"}
    )
    assert refused.status_code == 400


def test_the_command_asks_a_folder_and_a_service(server: Served, tmp_path: Path) -> None:
    with Base.open(tmp_path / "data") as base:
        told(base)
    of_folder = run("query", PEOPLE, "--data", tmp_path / "data", "--entailment", "rdfs", "--format", "csv")
    assert of_folder.output.splitlines()[1:] == ["urn:ann"], of_folder.errors
    token = tmp_path / "token"
    token.touch(0o600)
    token.write_text(server.token(Role.READER))
    asked = ("query", f"SELECT ?x {{ {BOB.n3} {KNOWS.n3} ?x }}", "--url", server.url, "--token-file", token)
    of_service = run(*asked, "--entailment", "owl-rl", "--format", "csv")
    assert of_service.output.splitlines()[1:] == ["urn:ann"], of_service.errors


def explained(client: httpx2.Client, subject: Iri, predicate: Iri, value: Iri, **parameters: str) -> httpx2.Response:
    named = {"subject": subject.value, "predicate": predicate.value, "object": value.value, "entailment": "owl-rl"}
    return client.get("/explain", params={**named, **parameters})


def test_what_follows_is_explained_down_to_certificates(server: Served, reader: httpx2.Client) -> None:
    answer = explained(reader, ANN, A, PERSON)
    assert answer.status_code == 200, answer.text
    first, *premises = answer.json()["proof"]
    assert (first["rule"], first["premises"], first["facts"]) == ("cax-sco", [1, 2], [])
    assert [each["rule"] for each in premises] == [None, None]
    with server.base.ledger.reading() as view:
        certificates = {
            fact.statement.graph.value: f"urn:uuid:{fact.certificate}"
            for graph in (ONTOLOGY_GRAPH, DEFAULT_GRAPH)
            for fact in view.believed(graph=graph)
        }
    for each in premises:
        (fact,) = each["facts"]
        assert fact["certificate"] == certificates[fact["statement"]["graph"]["@id"]]
    asserted = explained(reader, ANN, A, POET).json()["proof"]
    assert [(each["rule"], len(each["facts"])) for each in asserted] == [(None, 1)]


def test_what_does_not_follow_is_not_there(reader: httpx2.Client) -> None:
    assert explained(reader, BOB, A, PERSON).status_code == 404
    assert explained(reader, BOB, KNOWS, ANN, entailment="rdfs").status_code == 404
    assert explained(reader, ANN, A, PERSON, graph="urn:elsewhere").status_code == 404
    assert explained(reader, ANN, A, PERSON, **{"as-of": "head:0"}).status_code in (400, 404)
    assert explained(reader, ANN, A, PERSON, **{"valid-at": "2020"}).status_code == 200


@pytest.mark.parametrize("missing", ["subject", "predicate", "object", "entailment"])
def test_an_explanation_names_what_it_is_of(reader: httpx2.Client, missing: str) -> None:
    named = {"subject": ANN.value, "predicate": A.value, "object": PERSON.value, "entailment": "rdfs"}
    refused = reader.get("/explain", params={name: value for name, value in named.items() if name != missing})
    assert (refused.status_code, missing in refused.text) == (400, True)


def test_a_proof_names_nothing_that_its_reader_may_not_read() -> None:
    with Base.open(None) as base, served(base, FRUGAL) as server:
        write(base, said(POET, SUBCLASS, PERSON, Iri("urn:secret")), said(ANN, A, POET, Iri("urn:open")))
        write(base, said(POET, SUBCLASS, PERSON, Iri("urn:open"), during(1990, 2000)))
        held = server.client(Role.READER, "urn:open")
        assert explained(held, ANN, A, PERSON).status_code == 404
        answer = explained(held, ANN, A, PERSON, **{"valid-at": "1995"})
        assert answer.status_code == 200, answer.text
        assert "secret" not in answer.text
        first = answer.json()["proof"][0]
        assert (first["from"], first["to"]) == ("1990-01-01T00:00:00Z", "2000-01-01T00:00:00Z")
        whole = explained(server.client(Role.READER), ANN, A, PERSON, **{"valid-at": "1995"}).json()["proof"]
        assert (len([fact for each in whole for fact in each["facts"]]), "from" in whole[0]) == (3, False)
