"""`muniment check`: what it finds in files, how it says so, and that what cannot be checked does not pass."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pyoxigraph as ox
import pytest
import rdflib
from rdflib.namespace import RDF, SH, XSD

from tests.api.console import Ended, run, script, serving

PREFIXES: Final = """
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix m: <https://w3id.org/muniment#> . @prefix : <https://x.org/> .
"""
OLD: Final = '"old"@en-GB of <https://x.org/age> of <https://x.org/a>'
PERSON: Final = ":S a sh:NodeShape ; sh:targetClass :P ; sh:property :N . :N sh:path :name ; sh:minCount 1 ."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def turtle(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(PREFIXES + text, encoding="utf-8")
    return name


def check(folder: Path, shapes: str, data: str, *words: str) -> Ended:
    """What the command says of data under shapes, each in a file of its own."""
    return run("check", turtle(folder, "data.ttl", data), "--shapes", turtle(folder, "shapes.ttl", shapes), *words)


def report(ended: Ended) -> rdflib.Graph:
    assert ended.errors == ""
    return rdflib.Graph().parse(data=ended.output, format="turtle")


# --- cases ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("datatype", "value"),
    [("xsd:integer", '"x"^^xsd:integer'), ("xsd:date", '"2024-02-30"^^xsd:date'), ("xsd:string", '"x"@en')],
)
def test_what_is_ill_typed_or_of_another_type_fails(folder: Path, datatype: str, value: str) -> None:
    shape = f":S a sh:NodeShape ; sh:targetSubjectsOf :p ; sh:property [ sh:path :p ; sh:datatype {datatype} ] ."
    ended = check(folder, shape, f":a :p {value} .")
    assert ended.status == 1
    assert ended.lines[0] == f"violation: <https://x.org/p> must be a well-formed {datatype}"
    assert ended.value("found") == "1 violation"


@pytest.mark.parametrize("form", ["turtle", "n-triples", "json-ld"])
def test_two_violations_are_two_results_with_lists_that_end(folder: Path, form: str) -> None:
    shape = ":S sh:targetClass :P ; sh:path ( :p [ sh:inversePath :q ] ) ; sh:minCount 1 ."
    ended = check(folder, shape, ":a a :P . :b a :P .", "--format", form)
    assert ended.status == 1
    formats = {"turtle": ox.RdfFormat.TURTLE, "n-triples": ox.RdfFormat.N_TRIPLES, "json-ld": ox.RdfFormat.JSON_LD}
    plain = ox.serialize(ox.parse(ended.output, format=formats[form]), format=ox.RdfFormat.N_QUADS)
    graph = rdflib.Graph().parse(data=plain, format="nt")
    (head,) = graph.subjects(RDF.type, SH.ValidationReport)
    results = list(graph.objects(head, SH.result))
    assert len(results) == 2
    cells = set(graph.subjects(RDF.first, None))
    assert len(cells) == 4
    assert all(len(list(graph.objects(cell, part))) == 1 for cell in cells for part in (RDF.first, RDF.rest))
    for result in results:
        (path,) = graph.objects(result, SH.resultPath)
        first, second = graph.items(path)
        assert str(first) == "https://x.org/p"
        assert str(graph.value(second, SH.inversePath)) == "https://x.org/q"


def test_a_path_is_told_as_the_shape_has_it(folder: Path) -> None:
    shape = ":S sh:targetClass :P ; sh:path [ sh:inversePath [ sh:inversePath :p ] ] ; sh:minCount 1 ."
    told = report(check(folder, shape, ":a a :P .", "--format", "turtle"))
    (path,) = told.objects(None, SH.resultPath)
    assert str(told.value(told.value(path, SH.inversePath), SH.inversePath)) == "https://x.org/p"


def test_a_violation_names_everything(folder: Path) -> None:
    shape = ":S a sh:NodeShape ; sh:targetClass :P ; sh:property :A . :A sh:path :age ; sh:datatype xsd:int ."
    graph = report(check(folder, shape, ':a a :P ; :age "old"@en-GB .', "--format", "turtle"))
    (result,) = graph.subjects(RDF.type, SH.ValidationResult)
    said = {str(name).rpartition("#")[2]: str(value) for name, value in graph.predicate_objects(result)}
    assert said == {
        "type": str(SH.ValidationResult),
        "focusNode": "https://x.org/a",
        "resultPath": "https://x.org/age",
        "value": "old",
        "sourceShape": "https://x.org/A",
        "sourceConstraintComponent": str(SH.DatatypeConstraintComponent),
        "resultSeverity": str(SH.Violation),
        "resultMessage": f"the value {OLD} must be a well-formed xsd:int",
    }


@pytest.mark.parametrize("value", ['"5"^^xsd:nonNegativeInteger', '"007"^^xsd:int', '"1.50"^^xsd:decimal', '"c"@en-GB'])
def test_a_value_that_a_store_rewrites_is_judged_as_submitted(folder: Path, value: str) -> None:
    datatype = value.rpartition("^^")[2] if "^^" in value else "rdf:langString"
    shape = f":S sh:targetSubjectsOf :p ; sh:path :p ; sh:datatype {datatype} ; sh:in ( {value} ) ."
    assert check(folder, shape, f":a :p {value} .").status == 0


def test_spellings_of_one_value_count_as_one_and_are_each_judged(folder: Path) -> None:
    shape = ":S sh:targetSubjectsOf :p ; sh:path :p ; sh:maxCount 1 ; sh:datatype xsd:integer ; sh:maxLength 1 ."
    lines = check(folder, shape, ':a :p 1 , 01 , "1"^^xsd:int .', "--format", "n-triples").lines
    values = sorted(line.split()[2] for line in lines if f"<{SH.value}>" in line)
    assert values == [f'"01"^^<{XSD.integer}>', f'"1"^^<{XSD.int}>']
    assert sum(f"<{SH.result}>" in line for line in lines) == 2


MALFORMED: Final = {
    "a misspelling": (":S a sh:NodeShape ; sh:targetClass :P ; sh:minCuont 1 .", "https://x.org/S", "sh:minCuont"),
    "no path": (":N a sh:PropertyShape ; sh:targetClass :P ; sh:minCount 1 .", "https://x.org/N", "sh:path"),
    "a list without end": (
        ":S sh:targetClass :P ; sh:in _:l . _:l rdf:first :a ; rdf:rest _:l .",
        "https://x.org/S",
        "",
    ),
    "a bad pattern": (":S sh:targetClass :P ; sh:pattern '(' .", "https://x.org/S", "regular expression"),
    "a shape in itself": (":S sh:targetClass :P ; sh:node :T . :T sh:node :S .", "https://x.org/", "itself"),
    "within one without a name": (
        ":S sh:targetClass :P ; sh:property [ sh:path :p ; sh:minCount 'x' ] .",
        "at a property shape for <https://x.org/p>, of <https://x.org/S>",
        "sh:minCount",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_shapes_that_cannot_be_used_are_told_with_their_place(folder: Path, case: str) -> None:
    shapes, place, word = MALFORMED[case]
    ended = check(folder, shapes, ":a a :P .")
    assert (ended.status, ended.output) == (2, "")
    assert re.match(r"muniment: shapes\.ttl(:5)?: the shapes cannot be used, at ", ended.errors)
    assert place in ended.errors
    assert word in ended.errors


# --- exit status ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("severity", "statuses"), [("sh:Violation", [1, 1, 1]), ("sh:Warning", [0, 1, 1]), ("sh:Info", [0, 0, 1])]
)
def test_the_severity_decides(folder: Path, severity: str, statuses: list[int]) -> None:
    shapes = f":S sh:targetClass :P ; sh:path :name ; sh:minCount 1 ; sh:severity {severity} ."
    found = [check(folder, shapes, ":a a :P .", "--fail-on", each).status for each in ("violation", "warning", "info")]
    assert found == statuses


def test_what_conforms_says_so(folder: Path) -> None:
    ended = check(folder, PERSON, ":a a :P ; :name 'Ann' . :b a :P ; :name 'Ben' .", "--valid-at", "2020")
    assert (ended.status, ended.errors) == (0, "")
    assert ended.lines == [
        "checked   4 statements, valid at 2020-01-01T00:00:00Z",
        "judged    2 nodes by 1 shape with targets",
        "found     nothing: the files conform",
    ]


@pytest.mark.parametrize("name", ["bad.ttl", "bad.nt", "bad.jsonld", "bad.rdf", "bad.ndjson"])
def test_a_file_that_cannot_be_read_does_not_pass(folder: Path, name: str) -> None:
    (folder / name).write_text("nonsense", encoding="utf-8")
    ended = run("check", name, "--shapes", turtle(folder, "shapes.ttl", PERSON))
    assert (ended.status, ended.output) == (2, "")
    assert ended.errors.startswith(f"muniment: {name}")


def test_a_bad_line_is_told_with_its_number(folder: Path) -> None:
    (folder / "data.nt").write_text("<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> b .\n", encoding="utf-8")
    ended = run("check", "data.nt", "--shapes", turtle(folder, "shapes.ttl", PERSON))
    assert ended.status == 2
    assert ended.errors.startswith("muniment: data.nt:2: invalid-document: ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere.ttl"], "nowhere.ttl: No such file or directory"),
        (["data.txt"], "data.txt has no suffix of a format that is read"),
        (["data.ttl"], "there are no shapes"),
        (["data.ttl", "--shapes", "data.ttl"], "there are no shapes"),
        (["data.ttl", "--shapes", "idle.ttl"], "no shape has a target"),
        (["data.ttl", "--shapes", "shapes.ttl", "--valid-at", "soon"], "valid-at"),
        (["data.ttl", "--shapes", "shapes.ttl", "--output", "nowhere/report"], "No such file or directory"),
    ],
)
def test_what_cannot_be_checked_has_a_status_of_its_own(folder: Path, words: list[str], told: str) -> None:
    turtle(folder, "data.ttl", ":a a :P .")
    turtle(folder, "shapes.ttl", PERSON)
    turtle(folder, "idle.ttl", ":S a sh:NodeShape ; sh:nodeKind sh:IRI .")
    (folder / "data.txt").write_text("", encoding="utf-8")
    ended = run("check", *words)
    assert (ended.status, ended.output) == (2, "")
    assert told in ended.errors
    assert "Traceback" not in ended.errors


def test_a_context_elsewhere_is_not_fetched(folder: Path) -> None:
    document = {"@context": "http://127.0.0.1:9/context", "@id": "https://x.org/a", "name": "Ann"}
    (folder / "data.jsonld").write_text(json.dumps(document), encoding="utf-8")
    ended = run("check", "data.jsonld", "--shapes", turtle(folder, "shapes.ttl", PERSON))
    assert ended.status == 2
    assert "127.0.0.1" in ended.errors


def test_a_word_that_is_no_option_is_an_error(folder: Path) -> None:
    assert check(folder, PERSON, ":a a :P .", "--fail-on", "error").status == 64
    assert check(folder, PERSON, ":a a :P .", "--format", "html").status == 64


# --- what is read -----------------------------------------------------------------------------------------------------


def test_axioms_in_the_data_count(folder: Path) -> None:
    axiom = turtle(folder, "ontology.ttl", ":Q rdfs:subClassOf :P .")
    data = turtle(folder, "data.ttl", ":a a :Q .")
    shapes = turtle(folder, "shapes.ttl", PERSON)
    assert run("check", data, "--shapes", shapes).status == 0
    assert run("check", data, axiom, "--shapes", shapes).status == 1


def test_shapes_may_stand_in_the_files(folder: Path) -> None:
    (folder / "both.trig").write_text(f"{PREFIXES} :a a :P . m:shapes {{ {PERSON} }}", encoding="utf-8")
    assert run("check", "both.trig").status == 1
    assert run("check", turtle(folder, "both.ttl", f"{PERSON} :a a :P .")).status == 1
    other = turtle(folder, "other.ttl", ":S sh:targetClass :P ; sh:nodeKind sh:IRI .")
    ended = run("check", "both.trig", "--shapes", other)
    assert ended.status == 0
    assert ended.errors == (
        "muniment: note: 5 statements in the graph m:shapes of the files are not used, as --shapes is given\n"
    )


def test_only_what_holds_then_is_judged(folder: Path) -> None:
    lines = [
        {"op": "assert", "subject": "https://x.org/a", "predicate": "https://x.org/age", "object": value, **times}
        for value, times in (
            ({"@value": "old"}, {"validTo": "2000"}),
            ({"@value": "7", "@type": "http://www.w3.org/2001/XMLSchema#int"}, {"validFrom": "2000"}),
        )
    ]
    (folder / "data.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    shapes = turtle(folder, "shapes.ttl", ":S sh:targetSubjectsOf :age ; sh:path :age ; sh:datatype xsd:int .")
    assert run("check", "data.ndjson", "--shapes", shapes).status == 0
    assert run("check", "data.ndjson", "--shapes", shapes, "--valid-at", "1999").status == 1


def test_annotated_documents_bring_their_times(folder: Path) -> None:
    data = ':a a :P ; :age "old" {| m:validTo "2000"^^xsd:gYear |} .'
    shapes = ":S sh:targetClass :P ; sh:path :age ; sh:maxCount 0 ."
    assert check(folder, shapes, data).status == 0
    ended = check(folder, shapes, data, "--valid-at", "1999")
    assert ended.status == 1
    assert ended.value("checked") == "2 statements, valid at 1999-01-01T00:00:00Z"
    ended = check(folder, shapes, ':a a :P {| m:validTo "never" |} .')
    assert ended.status == 2
    assert ended.errors.startswith("muniment: data.ttl: invalid-document: ")


def test_notes_go_to_standard_error(folder: Path) -> None:
    ended = check(folder, f"{PERSON} <https://x.org/> owl:imports <https://y.org/shapes> .", ":a a :Other .")
    assert ended.status == 0
    assert ended.errors.splitlines() == [
        "muniment: note: the shapes import https://y.org/shapes, which is not fetched: give it with --shapes",
        "muniment: note: nothing in the files is a target of any shape, so there was nothing to judge",
    ]


def test_what_shapes_say_in_vain_is_noted(folder: Path) -> None:
    vain = ":S sh:property :Gone , [ sh:path :n ; sh:qualifiedMinCount 1 ] , [ sh:path :m ; sh:flags 'i' ] ."
    ended = check(folder, f"{PERSON} {vain}", ":a a :P ; :name 'Ann' .")
    assert ended.status == 0
    gone, *without_effect = ended.errors.splitlines()
    assert gone.endswith("in <https://x.org/Gone>: there is no such shape: it judges nothing")
    told = "muniment: note: shapes.ttl: what the shapes say has no effect, at a property shape for <https://x.org/{}>"
    assert sorted(without_effect) == [
        f"{told.format('m')}, of <https://x.org/S>: it goes with sh:pattern, and there is none",
        f"{told.format('n')}, of <https://x.org/S>: it goes with sh:qualifiedValueShape, and there is none",
    ]


def test_the_confidence_of_a_record_is_evidence_as_on_a_write(folder: Path) -> None:
    shape = """:S sh:targetSubjectsOf :p ; sh:path :p ; sh:reificationRequired true ; sh:reifierShape :Sure .
        :Sure sh:property [ sh:path m:confidence ; sh:minCount 1 ; sh:minInclusive 0.5 ] ."""
    data = ":a :p :x {| m:confidence 0.9 |} . :b :p :x {| m:confidence 0.4 |} . :c :p :x ."
    ended = check(folder, shape, data)
    assert (ended.status, ended.errors) == (1, "")
    assert [line.split()[-2] for line in ended.lines if line.startswith("    ")] == [
        "<https://x.org/b>",
        "<https://x.org/c>",
    ]
    assert any(line.startswith("checked   3 statements") for line in ended.lines)


# --- the report -------------------------------------------------------------------------------------------------------


def test_the_file_that_speaks_of_a_node_is_named(folder: Path) -> None:
    one, two = turtle(folder, "one.ttl", ":a a :P ; :name 'Ann' ."), turtle(folder, "two 2.ttl", ":b a :P .")
    words = ("check", one, two, "--shapes", turtle(folder, "shapes.ttl", PERSON))
    assert run(*words).lines[:3] == [
        "violation: <https://x.org/name> needs at least 1 value",
        "  MinCount, by https://x.org/N",
        "    two 2.ttl:5: <https://x.org/b>",
    ]
    log = json.loads(run(*words, "--format", "sarif").output)
    (result,) = log["runs"][0]["results"]
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "two%202.ttl"},
        "region": {"startLine": 5},
    }
    assert location["logicalLocations"] == [{"fullyQualifiedName": "<https://x.org/b>", "kind": "resource"}]
    assert (result["level"], result["ruleId"]) == ("error", "https://x.org/N <https://x.org/name> MinCount")


def test_a_node_that_is_a_value_only_lies_where_it_is_one(folder: Path) -> None:
    one, two = turtle(folder, "one.ttl", ":a a :P ."), turtle(folder, "two.ttl", ":b :age 'old' .")
    shapes = ":S sh:targetObjectsOf :age ; sh:targetNode :nowhere ; sh:datatype xsd:int ."
    ended = run("check", one, two, "--shapes", turtle(folder, "shapes.ttl", shapes))
    assert ended.lines[2:4] == ['    two.ttl: "old"', "    shapes.ttl: <https://x.org/nowhere>"]


def test_a_report_goes_to_a_file_that_stays_when_there_is_none(folder: Path) -> None:
    ended = check(folder, PERSON, ":a a :P .", "--format", "turtle", "--output", "report.ttl")
    assert (ended.status, ended.output) == (1, "")
    first = (folder / "report.ttl").read_text(encoding="utf-8")
    assert "sh:conforms false" in first
    assert check(folder, ":S a sh:Nonsense .", ":a a :P .", "--output", "report.ttl").status == 2
    assert (folder / "report.ttl").read_text(encoding="utf-8") == first
    assert sorted(path.name for path in folder.iterdir()) == ["data.ttl", "report.ttl", "shapes.ttl"]


def test_a_report_is_the_same_each_time(folder: Path) -> None:
    shapes = turtle(folder, "shapes.ttl", ":S sh:targetClass :P ; sh:path :p ; sh:equals :q ; sh:targetNode :z .")
    data = " ".join(f"[] a :P ; :p {number} ; :q {number + 1} ." for number in range(20))
    words = ("check", turtle(folder, "data.ttl", data), "--shapes", shapes, "--format", "turtle")
    one, two = (script(*words, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert one.status == two.status == 1
    assert one.output == two.output
    assert one.output.count("sh:result [") == 40


def test_what_data_says_does_not_steer_the_terminal(folder: Path) -> None:
    shapes = ':S sh:targetClass :P ; sh:path :p ; sh:minCount 1 ; sh:message "\\u001B[2Jgone" .'
    ended = check(folder, shapes, ":a a :P .")
    assert "\x1b" not in ended.output
    assert "\\x1b[2Jgone" in ended.output


def test_what_takes_long_says_how_far_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(folder, PERSON, ":a a :P .").errors == ""
    monkeypatch.setattr("api.commands.check.PACE", 0.0)
    assert check(folder, PERSON, ":a a :P .").errors.splitlines()[-2:] == ["reading 100 %", "judging 100 %"]


# --- a base -----------------------------------------------------------------------------------------------------------

BORN: Final = ":S a sh:NodeShape ; sh:targetSubjectsOf :born ; sh:property :B . :B sh:path :born ; sh:pattern '^0' ."


@pytest.fixture
def data(folder: Path) -> str:
    """A base of two persons, the one with a name since 2020, in spellings that a store would rewrite; and no shapes."""
    facts = [
        {"op": "assert", "subject": {"@id": f"https://x.org/{name}"}, "predicate": {"@id": predicate}, "object": value}
        for name in ("a", "b")
        for predicate, value in ((str(RDF.type), {"@id": "https://x.org/P"}), ("https://x.org/unseen", {"@value": "x"}))
    ]
    named = {
        "op": "assert",
        "subject": {"@id": "https://x.org/a"},
        "predicate": {"@id": "https://x.org/name"},
        "object": {"@value": "007", "@type": "http://www.w3.org/2001/XMLSchema#integer"},
        "validFrom": "2020-01-01T00:00:00Z",
    }
    lines = "".join(f"{json.dumps(each)}\n" for each in [*facts, named])
    (folder / "facts.ndjson").write_text(lines, encoding="utf-8")
    ended = run("load", "facts.ndjson", "--data", str(folder / "base"))
    assert ended.status == 0, ended.errors
    return str(folder / "base")


def test_a_base_is_checked_by_shapes_that_are_not_in_force_yet(folder: Path, data: str) -> None:
    ended = run("check", "--data", data, "--shapes", turtle(folder, "shapes.ttl", PERSON))
    assert ended.status == 1
    assert ended.lines[:3] == [
        "violation: <https://x.org/name> needs at least 1 value",
        "  MinCount, by https://x.org/N",
        "    <https://x.org/b>",
    ]
    assert ended.lines[-3].startswith("checked   3 statements that the shapes look at, valid at ")
    assert ended.lines[-2:] == ["judged    2 nodes by 1 shape with targets", "found     1 violation"]
    before = run("check", "--data", data, "--shapes", "shapes.ttl", "--valid-at", "2019", "--format", "turtle")
    assert {str(each) for each in report(before).objects(None, SH.focusNode)} == {"https://x.org/a", "https://x.org/b"}


def test_a_base_is_checked_by_its_own_shapes_while_it_is_served(folder: Path, data: str) -> None:
    shape = turtle(folder, "shapes.ttl", "m:shapes m:mode m:Warn . " + PERSON)
    assert run("load", shape, "--data", data, "--graph", "https://w3id.org/muniment#shapes").status == 0
    with serving(Path(data)):
        ended = run("check", "--data", data)
    assert (ended.status, ended.lines[-1]) == (1, "found     1 violation")


WAIVED: Final = (
    PERSON
    + """
    :w a m:Waiver ; m:waives :N ; m:reason "they are asked" ; m:until "2999-01-01"^^xsd:date .
    :S sh:property :U . :U sh:path :unseen ; sh:maxCount 0 .
    :only-b a m:Waiver ; m:waives :U ; m:focus :b ; m:reason "as agreed" ."""
)


def test_what_is_waived_in_a_base_is_told_as_such(folder: Path, data: str) -> None:
    words = (
        "check",
        "--data",
        data,
        "--shapes",
        turtle(folder, "shapes.ttl", WAIVED),
    )
    ended = run(*words)
    assert ended.status == 1
    assert ended.lines[-1] == "found     1 violation, 2 warnings, 2 of them waived"
    assert "warning: <https://x.org/name> needs at least 1 value" in ended.lines
    assert "  waived until 2999-01-01T00:00:00Z by <https://x.org/w>: they are asked" in ended.lines
    assert "  waived by <https://x.org/only-b>: as agreed" in ended.lines
    graph = report(run(*words, "--format", "turtle"))
    assert sorted(str(each)[-7:] for each in graph.objects(None, SH.resultSeverity)) == [
        "Warning",
        "Warning",
        "olation",
    ]
    [log] = json.loads(run(*words, "--format", "sarif").output)["runs"]
    suppressed = [each for each in log["results"] if "suppressions" in each]
    assert len(suppressed) == 2
    assert {each["level"] for each in suppressed} == {"warning"}
    assert {each["suppressions"][0]["justification"] for each in suppressed} == {
        "waived until 2999-01-01T00:00:00Z by <https://x.org/w>: they are asked",
        "waived by <https://x.org/only-b>: as agreed",
    }


def test_what_is_all_waived_in_a_base_fails_nothing_until_the_waiver_ends(folder: Path, data: str) -> None:
    waiver = ' :w a m:Waiver ; m:waives :N ; m:reason "they are asked" ; m:until "%s"^^xsd:date .'
    statuses = [
        run("check", "--data", data, "--shapes", turtle(folder, "shapes.ttl", PERSON + waiver % until), *words).status
        for until, words in (("2999-01-01", ()), ("2999-01-01", ("--fail-on", "warning")), ("2020-01-01", ()))
    ]
    assert statuses == [0, 1, 1]


def test_files_are_judged_without_waivers(folder: Path) -> None:
    waived = PERSON + ' :w a m:Waiver ; m:waives :N ; m:reason "they are asked" .'
    assert check(folder, waived, ":a a :P .").status == 1


def test_shapes_bound_to_graphs_judge_these_alone_of_a_base(folder: Path, data: str) -> None:
    bound = ["m:shapes m:appliesTo :elsewhere . ", "m:shapes m:appliesTo m:default . "]
    bound += [f":set a m:ShapeSet ; m:contains :S ; m:appliesTo {graph} . " for graph in (":elsewhere", "m:default")]
    statuses = [
        run("check", "--data", data, "--shapes", turtle(folder, "shapes.ttl", said + PERSON)).status for said in bound
    ]
    assert statuses == [0, 1, 0, 1]


def test_literals_of_a_base_are_judged_as_they_were_submitted(folder: Path, data: str) -> None:
    shape = BORN.replace(":born", ":name")
    assert run("check", "--data", data, "--shapes", turtle(folder, "shapes.ttl", shape)).status == 0
    stored = shape.replace("'^0'", "'^7'")
    assert run("check", "--data", data, "--shapes", turtle(folder, "shapes.ttl", stored)).status == 1


def test_either_files_or_a_base_are_checked(folder: Path, data: str) -> None:
    assert run("check").status == run("check", turtle(folder, "a.ttl", PERSON), "--data", data).status == 64
    no_base = run("check", "--data", str(folder / "nowhere"))
    assert (no_base.status, "there is no base in" in no_base.errors) == (2, True)
    no_shapes = run("check", "--data", data)
    assert (no_shapes.status, "there are no shapes" in no_shapes.errors) == (2, True)
