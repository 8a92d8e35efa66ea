"""Reports: as RDF in three formats that say the same, as SARIF, and in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st
from rdflib.namespace import RDF, SH

from bridge.checking.placing import Place
from bridge.documents.json_text import parse_json
from bridge.shapes.data import Data
from bridge.shapes.reports import rdf
from bridge.shapes.reports.sarif import alerts_of, sarif
from bridge.shapes.reports.telling import Telling
from bridge.shapes.reports.words import CAUSES, SAMPLES, Groups
from bridge.shapes.results import Result
from bridge.shapes.vocabulary import sh
from kernel.terms import Iri, Literal
from tests.bridge.shapes.test_incremental import shapes, triples
from tests.bridge.shapes.test_validation import submitted, validated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bridge.documents.json_text import Json
    from kernel.terms import Term

SHAPES: Final = """
:S a sh:NodeShape ; sh:targetClass :C ; sh:property :PS ,
  [ sh:path ( :p [ sh:alternativePath ( [ sh:inversePath :q ] [ sh:zeroOrMorePath :r ] ) ] ) ; sh:nodeKind sh:Literal ;
    sh:severity sh:Warning ; sh:message "must be a literal"@en , "muss ein Literal sein"@de-AT ] .
:PS sh:path :age ; sh:datatype xsd:int ; sh:maxCount 1 ; sh:severity sh:Info .
"""
DATA: Final = """
:a a :C ; :age "007"^^xsd:long , "8"@en-GB ; :p :b .
[] a :C ; :age "x\\"\\n"^^xsd:int .
"""


def written(write: Callable[[Iterable[rdf.Node]], Iterator[str]], turtle: str, data: str) -> str:
    known, results = validated(turtle, data)
    return "".join(write(rdf.result_nodes(results, Telling(known.document))))


def dataset(text: str, form: ox.RdfFormat) -> ox.Dataset:
    """A document, its blank nodes named canonically (RDFC-1.0)."""
    found = ox.Dataset(ox.parse(text.encode(), format=form))
    found.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return found


def parsed(text: str, form: ox.RdfFormat) -> rdflib.Graph:
    """A document as rdflib has it; its JSON-LD comes by way of Oxigraph's."""
    if form == ox.RdfFormat.JSON_LD:
        quads = ox.serialize(ox.parse(text.encode(), format=form), format=ox.RdfFormat.N_QUADS)
        assert quads is not None
        return parsed(quads.decode(), ox.RdfFormat.N_TRIPLES)
    return rdflib.Graph().parse(data=text, format="turtle" if form == ox.RdfFormat.TURTLE else "nt")


# --- RDF --------------------------------------------------------------------------------------------------------------

FORMATS: Final = (
    (rdf.turtle, ox.RdfFormat.TURTLE),
    (rdf.ntriples, ox.RdfFormat.N_TRIPLES),
    (rdf.jsonld, ox.RdfFormat.JSON_LD),
)


@given(shapes(), st.lists(triples(), max_size=9))
def test_three_formats_say_the_same(turtle: str, data: list[str]) -> None:
    known, results = validated(turtle, "\n".join(data))
    told = list(rdf.result_nodes(results, Telling(known.document)))
    turtle_said, *others = [dataset("".join(write(told)), form) for write, form in FORMATS]
    assert others == [turtle_said, turtle_said]


@pytest.mark.parametrize(("write", "form"), FORMATS)
def test_a_report_is_one_that_another_library_reads(
    write: Callable[[Iterable[rdf.Node]], Iterator[str]], form: ox.RdfFormat
) -> None:
    graph = parsed(written(write, SHAPES, DATA), form)
    (report,) = graph.subjects(RDF.type, SH.ValidationReport)
    assert [bool(each) for each in graph.objects(report, SH.conforms)] == [False]
    assert len(list(graph.objects(report, SH.result))) == 5
    (warned,) = graph.subjects(SH.resultSeverity, SH.Warning)
    assert {str(each.n3()).lower() for each in graph.objects(warned, SH.resultMessage)} == {
        '"must be a literal"@en',
        '"muss ein literal sein"@de-at',
    }
    path = graph.value(warned, SH.resultPath)
    assert path is not None
    first, second = graph.items(path)
    assert first == rdflib.URIRef("urn:x:p")
    branches = graph.value(second, SH.alternativePath)
    assert branches is not None
    inverse, repeated = graph.items(branches)
    assert graph.value(inverse, SH.inversePath) == rdflib.URIRef("urn:x:q")
    assert graph.value(repeated, SH.zeroOrMorePath) == rdflib.URIRef("urn:x:r")


def test_a_value_is_written_as_it_was_submitted() -> None:
    text = written(rdf.turtle, SHAPES, DATA)
    assert 'sh:value "007"^^<http://www.w3.org/2001/XMLSchema#long>' in text
    assert 'sh:value "8"@en-GB' in text
    assert 'sh:resultMessage "muss ein Literal sein"@de-AT' in text


def test_blank_nodes_of_data_stay_blank_nodes() -> None:
    quads = list(ox.parse(written(rdf.ntriples, SHAPES, DATA).encode(), format=ox.RdfFormat.N_TRIPLES))
    assert not [quad for quad in quads if "genid" in str(quad.subject)]


def test_what_conforms_is_a_report_without_results() -> None:
    for write, form in FORMATS:
        graph = parsed(written(write, SHAPES, ":z a :Other ."), form)
        assert [bool(each) for each in graph.objects(None, SH.conforms)] == [True]
        assert len(graph) == 2


def test_an_iri_that_looks_like_a_word_of_the_context_stays_what_it_is() -> None:
    shape = "<value:S> a sh:NodeShape ; sh:targetNode <result:x> ; sh:nodeKind sh:Literal ."
    graph = parsed(written(rdf.jsonld, shape, ""), ox.RdfFormat.JSON_LD)
    assert [str(each) for each in graph.objects(None, SH.focusNode)] == ["result:x"]
    assert [str(each) for each in graph.objects(None, SH.sourceShape)] == ["value:S"]


# --- SARIF ------------------------------------------------------------------------------------------------------------

TEXT: Final = {"text": str}
MEMBERS: Final[dict[str, object]] = {
    "$schema": str,
    "version": str,
    "runs": [
        {
            "tool": {
                "driver": {
                    "name": str,
                    "version": str,
                    "rules": [
                        {
                            "id": str,
                            "name": str,
                            "shortDescription": TEXT,
                            "fullDescription": TEXT,
                            "help": TEXT,
                            "defaultConfiguration": {"level": str},
                            "properties": dict,
                        }
                    ],
                }
            },
            "columnKind": str,
            "results": [
                {
                    "ruleId": str,
                    "ruleIndex": int,
                    "level": str,
                    "message": TEXT,
                    "locations": [
                        {
                            "logicalLocations": [{"fullyQualifiedName": str, "kind": str}],
                            "physicalLocation": {"artifactLocation": {"uri": str}, "region": {"startLine": int}},
                        }
                    ],
                    "partialFingerprints": {"shaclResult/v1": str, "primaryLocationLineHash": str},
                    "properties": dict,
                }
            ],
        }
    ],
}
"""The members that we write. SARIF 2.1.0 knows each of them where it stands, and knows no others there (section 3)."""

OPTIONAL: Final = {"physicalLocation", "region", "properties"}


def assert_shaped(value: object, form: object, place: str = "") -> None:
    if isinstance(form, dict):
        assert isinstance(value, dict), place
        assert value.keys() <= form.keys(), place
        assert form.keys() - value.keys() <= OPTIONAL, place
        for name, each in value.items():
            assert_shaped(each, form[name], f"{place}/{name}")
    elif isinstance(form, list):
        assert isinstance(value, list), place
        for each in value:
            assert_shaped(each, form[0], f"{place}[]")
    else:
        assert isinstance(form, type)
        assert isinstance(value, form), place


def log_of(turtle: str, data: str, place: Callable[[Term], Place | None] = lambda _: None) -> Json:
    known, results = validated(turtle, data)
    return parse_json("".join(sarif(alerts_of(results, Telling(known.document), place))).encode())


def run_of(turtle: str, data: str, place: Callable[[Term], Place | None] = lambda _: None) -> dict[str, Json]:
    log = log_of(turtle, data, place)
    assert isinstance(log, dict)
    runs = log["runs"]
    assert isinstance(runs, list)
    (run,) = runs
    assert isinstance(run, dict)
    return run


@given(shapes(), st.lists(triples(), max_size=9))
def test_a_log_has_the_members_that_sarif_asks_for(turtle: str, data: list[str]) -> None:
    log = json.loads(json.dumps(log_of(turtle, "\n".join(data), lambda _: Place(Path("a b.ttl"), 7))))
    assert_shaped(log, MEMBERS)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    prints = [result["partialFingerprints"]["shaclResult/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    assert {result["level"] for result in run["results"]} <= {"error", "warning", "note"}
    assert {each["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"] for each in r["locations"]} <= {
        "a%20b.ttl"
    }


def test_severities_are_levels_and_a_rule_is_named_after_its_shape() -> None:
    run = json.loads(json.dumps(run_of(SHAPES, DATA)))
    levels = {(result["ruleId"], result["level"]) for result in run["results"]}
    assert levels == {
        ("urn:x:PS <urn:x:age> Datatype", "note"),
        ("urn:x:PS <urn:x:age> MaxCount", "note"),
        ("urn:x:S <urn:x:p>/(^<urn:x:q>|(<urn:x:r>)*) NodeKind", "warning"),
    }
    assert all("physicalLocation" not in each for result in run["results"] for each in result["locations"])


def test_rules_that_would_share_an_id_are_numbered() -> None:
    twice = ":S a sh:NodeShape ; sh:targetNode :a ; " + " ; ".join(
        f"sh:property [ sh:path :p ; sh:minCount {count} ]" for count in (1, 2)
    )
    run = json.loads(json.dumps(run_of(f"{twice} .", "")))
    assert {result["ruleId"] for result in run["results"]} == {
        "urn:x:S <urn:x:p> MinCount",
        "urn:x:S <urn:x:p> MinCount 2",
    }


def test_an_absolute_file_is_a_file_iri() -> None:
    run = json.loads(json.dumps(run_of(SHAPES, DATA, lambda _: Place(Path("/data/ä.ttl"), None))))
    uris = {each["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"] for each in r["locations"]}
    assert uris == {"file:///data/%C3%A4.ttl"}


# --- words ------------------------------------------------------------------------------------------------------------


def told(known: Telling, results: Iterable[Result], data: str = "") -> list[str]:
    groups = Groups(known, Data(submitted(data)))
    for result in results:
        groups.add(result)
    return list(groups.lines(lambda _: None))


def test_results_are_told_by_cause_the_gravest_first() -> None:
    known, results = validated(
        SHAPES + ":V sh:targetClass :C ; sh:closed true ; sh:ignoredProperties ( rdf:type :age ) .", DATA
    )
    lines = told(Telling(known.document), results, DATA)
    heads = [line for line in lines if line and not line.startswith(" ")]
    assert heads == [
        "violation: <urn:x:p> is not allowed: the shape is closed",
        "warning: <urn:x:p>/(^<urn:x:q>|(<urn:x:r>)*) muss ein Literal sein / must be a literal",
        "info × 3: <urn:x:age> must be a well-formed xsd:int",
        "info: <urn:x:age> may have at most 1 value",
    ]
    assert "  Datatype, by urn:x:PS" in lines
    assert '    <urn:x:a>  "8"@en-GB' in lines
    blank = '    a node without a name, with <urn:x:age> "x\\"\\n"^^<http://www.w3.org/2001/XMLSchema#int>'
    assert any(line.startswith(blank) for line in lines)


def test_a_hundred_thousand_results_are_a_page() -> None:
    known, _ = validated(SHAPES, "")
    component, severities = sh("DatatypeConstraintComponent"), (None, sh("Warning"))
    results = (
        Result(Iri("urn:x:PS"), Iri(f"urn:x:{n}"), f"<urn:x:p{n % 60}>", Literal(str(n)), component, severities[n % 2])
        for n in range(100_000)
    )
    lines = told(Telling(known.document), results)
    assert len(lines) < CAUSES * (SAMPLES + 5)
    assert lines[0] == "violation × 1,667: <urn:x:p0> must be a well-formed xsd:int"
    assert lines[5] == "    … and 1,664 more"
    assert lines[-2] == "… and 33,330 more, of 20 other causes"
