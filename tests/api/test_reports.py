"""`/certificates/{id}/report`: what the checks found, as a validation report and as a SARIF log."""

import json
from typing import Final

import httpx2
import pyoxigraph as ox
import pytest
import rdflib
from rdflib.namespace import PROV, RDF, SH

from kernel.access import Role
from tests.api.bodies import EX, SHAPES, XSD, M, change, request
from tests.api.serving import Served

TYPE: Final = {"predicate": {"@id": str(RDF.type)}}
GRAPHS: Final = {"ages": EX + "ages", "kinds": EX + "kinds"}
FORMATS: Final = {
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/ld+json": ox.RdfFormat.JSON_LD,
}


@pytest.fixture
def shaped(server: Served) -> Served:
    administrator = server.client(Role.ADMINISTRATOR)
    headers = {"Content-Type": "text/turtle"}
    answer = administrator.post("/changes", params={"graph": M + "shapes"}, content=SHAPES, headers=headers)
    assert answer.status_code == 201, answer.text
    return server


def broken(server: Served, *subjects: str, **more: object) -> str:
    """The path of a certificate that refuses persons of an old age, of whom the types are in another graph."""
    changes = [
        each
        for subject in subjects
        for each in (
            change(subject, "", "Person", graph=GRAPHS["kinds"]) | TYPE | more,
            change(subject, "age", {"@value": "old"}, graph=GRAPHS["ages"]) | more,
        )
    ]
    answer = server.writer.post("/changes", json=request(*changes))
    assert (answer.status_code, answer.json()["verdict"]) == (422, "refused"), answer.text
    certificate: str = answer.json()["certificate"]
    return "/certificates/" + certificate.removeprefix("urn:uuid:")


def told(client: httpx2.Client, path: str, media_type: str = "text/turtle") -> rdflib.Graph:
    answer = client.get(f"{path}/report", headers={"Accept": media_type})
    assert (answer.status_code, answer.headers["content-type"]) == (200, media_type)
    triples = ox.serialize(ox.parse(answer.content, FORMATS[media_type]), format=ox.RdfFormat.N_QUADS)
    assert triples is not None
    return rdflib.Graph().parse(data=triples.decode(), format="nt")


def only(graph: rdflib.Graph, predicate: rdflib.URIRef) -> str:
    (value,) = graph.objects(None, predicate)
    return str(value)


@pytest.mark.parametrize("media_type", FORMATS)
def test_the_report_is_that_of_shacl_with_when_it_holds(shaped: Served, media_type: str) -> None:
    path = broken(shaped, "ada", validFrom="2020-01-01T00:00:00Z", validTo="2021-01-01T00:00:00Z")
    report = told(shaped.writer, path, media_type)
    (node,) = report.subjects(RDF.type, SH.ValidationReport)
    assert str(report.value(node, SH.conforms)) == "false"
    assert str(report.value(node, PROV.wasDerivedFrom)) == f"urn:uuid:{path.rpartition('/')[2]}"
    assert only(report, SH.focusNode) == EX + "ada"
    assert only(report, SH.resultPath) == EX + "age"
    assert only(report, SH.value) == "old"
    assert only(report, SH.sourceConstraintComponent) == str(SH.DatatypeConstraintComponent)
    assert only(report, SH.resultSeverity) == str(SH.Violation)
    assert only(report, SH.resultMessage) == "an age is a whole number"
    assert len(list(report.objects(None, SH.sourceShape))) == 1
    times = [next(report.objects(None, rdflib.URIRef(M + name))) for name in ("validFrom", "validTo")]
    assert [(str(time), str(time.datatype)) for time in times if isinstance(time, rdflib.Literal)] == [
        ("2020-01-01T00:00:00+00:00", XSD + "dateTime"),
        ("2021-01-01T00:00:00+00:00", XSD + "dateTime"),
    ]


def test_a_certificate_without_findings_conforms(shaped: Served) -> None:
    answer = shaped.writer.post("/changes", json=request(change("ada", "knows", "bob")))
    report = told(shaped.writer, answer.headers["location"])
    assert only(report, SH.conforms) == "true"
    assert not list(report.objects(None, SH.result))


def test_what_other_checks_found_is_told_too(server: Served) -> None:
    doubted = change("ada", "lives", "london") | {"confidence": 0.2}
    answer = server.writer.post("/changes", json=request(doubted))
    report = told(server.writer, answer.headers["location"])
    assert only(report, SH.sourceConstraintComponent) == M + "LowConfidence"
    assert only(report, SH.resultSeverity) == str(SH.Warning)
    assert only(report, SH.conforms) == "false"


def test_the_log_of_sarif_has_a_rule_for_each_cause(shaped: Served) -> None:
    path = broken(shaped, "ada", "bob")
    answer = shaped.writer.get(f"{path}/report", headers={"Accept": "application/sarif+json"})
    assert answer.headers["content-type"] == "application/sarif+json"
    log = json.loads(answer.content)
    (run,) = log["runs"]
    assert [rule["name"] for rule in run["tool"]["driver"]["rules"]] == ["Datatype"]
    found = {
        (each["level"], each["message"]["text"], each["locations"][0]["logicalLocations"][0]["fullyQualifiedName"])
        for each in run["results"]
    }
    assert found == {("error", "an age is a whole number", f"<{EX}{name}>") for name in ("ada", "bob")}
    prints = {each["partialFingerprints"]["shaclResult/v1"] for each in run["results"]}
    assert len(prints) == 2


def test_who_may_not_read_a_graph_learns_nothing_of_it(shaped: Served) -> None:
    """The certificate touches `ages` alone; what is found rests on `kinds` as well."""
    typed = change("ada", "", "Person", graph=GRAPHS["kinds"]) | TYPE
    assert shaped.writer.post("/changes", json=request(typed)).status_code == 201
    aged = change("ada", "age", {"@value": "old"}, graph=GRAPHS["ages"])
    refused = shaped.writer.post("/changes", json=request(aged)).json()
    path = "/certificates/" + refused["certificate"].removeprefix("urn:uuid:")
    narrow = shaped.client(Role.READER, GRAPHS["ages"])
    report = told(narrow, path)
    assert not list(report.objects(None, SH.result))
    assert only(report, SH.conforms) == "false"
    other = shaped.client(Role.READER, GRAPHS["kinds"])
    assert other.get(f"{path}/report").status_code == 404


def test_formats_heads_and_parameters(shaped: Served) -> None:
    path = broken(shaped, "ada")
    assert shaped.writer.get(f"{path}/report").headers["content-type"] == "application/ld+json"
    assert shaped.writer.get(f"{path}/report", headers={"Accept": "text/csv"}).status_code == 406
    assert shaped.writer.get(f"{path}/report?format=turtle").json()["where"] == "format"
    head = shaped.writer.head(f"{path}/report", headers={"Accept": "text/turtle"})
    assert (head.status_code, head.headers["content-type"], head.content) == (200, "text/turtle", b"")
