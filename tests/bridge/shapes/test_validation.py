"""Full validation: the W3C suite by its own reports, and random graphs by pySHACL on everything."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

import pyoxigraph as ox
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from bridge.documents.reader import read_document
from bridge.documents.skolem import Skolem
from bridge.shapes.data import Data
from bridge.shapes.document import ShapesDocument
from bridge.shapes.overlay import triple_of
from bridge.shapes.paths import read_path, text
from bridge.shapes.registry import Shapes
from bridge.shapes.reports import rdf
from bridge.shapes.reports.telling import Telling
from bridge.shapes.validation import Validation
from bridge.shapes.vocabulary import RDF_TYPE, sh
from bridge.terms import OxigraphCanonicaliser
from kernel.terms import XSD, Iri, Literal, Term
from kernel.vocabulary import GENID, SHAPES_GRAPH
from tests.bridge.shapes.oracle import Key, full, graph_of
from tests.bridge.shapes.test_incremental import ONTOLOGY, shapes, triples
from tests.bridge.shapes.test_w3c_core import EXPECTING, SUITE, files
from tests.bridge.shapes.world import PREFIXES, World, iri_of, read, term_of
from tests.requirements import require

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bridge.shapes.data import Spellings
    from bridge.shapes.document import Triple
    from bridge.shapes.results import Result

BASE: Final = "https://suite.example/"
TEST: Final = "http://www.w3.org/ns/shacl-test#"
_CANONICAL: Final = OxigraphCanonicaliser()

Row: TypeAlias = tuple[str, ...]
"""Focus, path, value, source shape, component, severity."""


def held(submitted: Iterable[Triple]) -> dict[Triple, Spellings]:
    """Statements as a store holds them, with their spellings."""
    found: dict[Triple, Spellings] = {}
    for subject, predicate, value in submitted:
        key = (subject, predicate, _CANONICAL.canonical(value))
        found[key] = (*found.get(key, ()), value) if isinstance(value, Literal) else ()
    return found


def submitted(turtle: str) -> dict[Triple, Spellings]:
    """The statements of a document as it is read from a body, with their spellings."""
    found: dict[Triple, Spellings] = {}
    document = (PREFIXES + turtle).encode()
    skolem = Skolem(seed=bytes(16))
    for statement, spelling in read_document(document, "text/turtle", canonicaliser=_CANONICAL, skolem=skolem):
        value = statement.object
        key = (statement.subject, statement.predicate, value)
        found[key] = (*found.get(key, ()), spelling.object or value) if isinstance(value, Literal) else ()
    return found


def validated(turtle: str, data: str) -> tuple[Shapes, list[Result]]:
    """Well-formed shapes, and their results for data."""
    known = Shapes(ShapesDocument.of_triples(submitted(turtle).items()))
    assert not known.problems
    return known, list(Validation(known, Data(submitted(data))).results())


# --- the suite --------------------------------------------------------------------------------------------------------

REPEATED: Final = {
    "node/class-003.ttl": "two values of sh:class, of which a result does not tell which it is of",
    "property/lessThan-002.ttl": "a value that is not less than two others",
    "property/property-001.ttl": "a property shape that is met by way of two foci",
    "property/uniqueLang-001.ttl": "two languages with more than one value each",
    "validation-reports/shared.ttl": "a property shape that is met by way of two shapes",
}
"""Where the suite has a result twice, with nothing that tells the two apart; here it is told once."""


def document(content: bytes, form: ox.RdfFormat, name: str) -> list[Triple]:
    """Triples with blank nodes skolemised so that a report's labels lead back to them."""
    quads = ox.parse(content, format=form, base_iri=BASE + name)
    return [(iri_of(quad.subject), iri_of(quad.predicate), term_of(quad.object)) for quad in quads]


def labelled(triples: Iterable[Triple]) -> list[Triple]:
    """The same with labels of the length that Muniment gives to its own blank nodes."""
    names: dict[str, Iri] = {}

    def name(term: Term) -> Term:
        if isinstance(term, Iri) and term.value.startswith(GENID):
            return names.setdefault(term.value, Iri(f"{GENID}{len(names):032x}"))
        return term

    def node(term: Iri) -> Iri:
        named = name(term)
        assert isinstance(named, Iri)
        return named

    return [(node(subject), predicate, name(value)) for subject, predicate, value in triples]


def rows(report: ShapesDocument, nodes: Iterable[Iri]) -> Counter[Row]:
    """The results that a report describes."""

    def row(result: Iri) -> Row:
        said = [report.objects(result, sh(each)) for each in ("focusNode", "value", "sourceShape")]
        said += [report.objects(result, sh(each)) for each in ("sourceConstraintComponent", "resultSeverity")]
        paths = [read_path(report, each) for each in report.objects(result, sh("resultPath"))]
        spelled = [path if isinstance(path, str) else text(path) for path in paths]
        return (*(" ".join(term.n3 for term in terms) for terms in said), " ".join(spelled))

    return Counter(map(row, nodes))


def results_of(report: ShapesDocument) -> list[Iri]:
    heads = [node for node in report.subjects() if sh("ValidationReport") in report.objects(node, RDF_TYPE)]
    assert len(heads) == 1
    return report.nodes(heads[0], sh("result"))


def conforms(report: ShapesDocument) -> list[str]:
    return [each for node in report.subjects() for each in report.texts(node, sh("conforms"))]


def reported(pieces: Iterable[str], form: ox.RdfFormat) -> ShapesDocument:
    """A report of ours, read back, blank nodes of the data under the names that they have there."""
    triples = document("".join(pieces).encode(), form, "report")

    def back(term: Term) -> Term:
        ours = isinstance(term, Iri) and term.value.startswith(GENID + "b") and len(term.value) == len(GENID) + 33
        return Iri(GENID + term.value.removeprefix(GENID + "b")) if ours and isinstance(term, Iri) else term

    return ShapesDocument.of_triples(((subject, name, back(value)), ()) for subject, name, value in triples)


def parts(path: Path) -> tuple[list[Triple], list[Triple], list[Triple]]:
    """The data, the shapes and the expected report of a test."""
    everything = labelled(document(path.read_bytes(), ox.RdfFormat.TURTLE, path.name))
    expecting = {subject for subject, _, value in everything if isinstance(value, Iri) and value.value in EXPECTING}
    plain = [triple for triple in everything if triple[0] not in expecting]

    def named(kind: str) -> list[Triple]:
        (file,) = [value for _, predicate, value in everything if predicate.value == TEST + kind]
        assert isinstance(file, Iri)
        other = file.value.removeprefix(BASE)
        if other == path.name:
            return plain
        return labelled(document((path.parent / other).read_bytes(), ox.RdfFormat.TURTLE, other))

    return named("dataGraph"), named("shapesGraph"), everything


def entries() -> list[str]:
    return [name for name in files() if name == "none" or b"Validate" in (SUITE / name).read_bytes()]


@pytest.mark.shared
@pytest.mark.parametrize("name", entries())
def test_the_suite_gets_the_reports_that_it_expects(name: str) -> None:
    path = require("shared") / "suites" / "shacl" / "tests" / "core" / name
    data, given_shapes, everything = parts(path)
    known = Shapes(ShapesDocument.of_triples(held(given_shapes).items()))
    expected = ShapesDocument.of_triples(dict.fromkeys(everything, ()).items())
    wanted = rows(expected, results_of(expected))
    assert not known.problems
    results = list(Validation(known, Data(held(data))).results())
    report = reported(rdf.ntriples(rdf.result_nodes(results, Telling(known.document))), ox.RdfFormat.N_TRIPLES)
    found = rows(report, results_of(report))
    assert set(found) == set(wanted)
    assert conforms(report) == conforms(expected)
    assert (found != wanted) == (name in REPEATED)
    assert set(found.values()) <= {1}


@pytest.mark.shared
def test_the_suite_is_there() -> None:
    require("shared")
    assert len(entries()) == 98


# --- at random --------------------------------------------------------------------------------------------------------


def key_of(result: Result) -> Key:
    path = result.path or ""
    simple = path.startswith("<") and path.count("<") == 1 and path.endswith(">")
    value = "" if result.value is None else result.value.n3
    return result.focus.n3, path if simple else "", value, result.shape.n3, result.component.n3


@given(shapes(), st.lists(triples(), max_size=9), st.booleans())
def test_results_are_those_of_pyshacl(turtle: str, data: list[str], subclass: bool) -> None:
    note(turtle)
    world = World(turtle, "\n".join(data), ONTOLOGY if subclass else "")
    contents = [fact.content for fact in world.view.believed()]
    of_shapes = [content for content in contents if content.statement.graph == SHAPES_GRAPH]
    of_data = [content for content in contents if content.statement.graph != SHAPES_GRAPH]
    known = Shapes(ShapesDocument(of_shapes, {}))
    results = list(Validation(known, Data({triple_of(content): () for content in of_data})).results())
    assert {key_of(result) for result in results} == full(graph_of(of_shapes), graph_of(of_data))
    assert len({result.key for result in results}) == len(results)


@given(
    shapes(), st.lists(triples(), max_size=9, unique=True).flatmap(lambda each: st.tuples(*[st.permutations(each)] * 2))
)
def test_the_order_of_the_data_makes_no_difference(turtle: str, orders: tuple[list[str], list[str]]) -> None:
    known = Shapes(ShapesDocument.of_triples(held(read(turtle)).items()))
    first, second = (list(Validation(known, Data(held(read("\n".join(each))))).results()) for each in orders)
    assert first == second


# --- what is judged ---------------------------------------------------------------------------------------------------


def test_a_literal_that_is_targeted_is_judged_as_it_was_submitted() -> None:
    _, results = validated(
        """:S a sh:NodeShape ; sh:targetNode "007"^^xsd:int , "8"^^xsd:long ; sh:targetObjectsOf :age ;
           sh:datatype xsd:int .""",
        """:a :age "009"^^xsd:int , "10"^^xsd:long .""",
    )
    assert [result.spelled for result in results] == [Literal("10", XSD + "long"), Literal("8", XSD + "long")]


def test_a_subclass_targets_wherever_it_stands() -> None:
    _, results = validated(
        ":C a sh:NodeShape , rdfs:Class ; sh:property [ sh:path :p ; sh:minCount 1 ] .",
        ":a a :E . :E rdfs:subClassOf :D . :D rdfs:subClassOf :C .",
    )
    assert [result.focus.n3 for result in results] == ["<urn:x:a>"]


def test_progress_ends_where_all_foci_are_judged() -> None:
    turtle = ":S a sh:NodeShape ; sh:targetClass :C ; sh:nodeKind sh:Literal ."
    known = Shapes(ShapesDocument.of_triples(held(read(turtle)).items()))
    data = Data(held(read(" ".join(f":a{number} a :C ." for number in range(600)))))
    told: list[tuple[int, int]] = []
    validation = Validation(known, data)
    assert len(list(validation.results(lambda done, total: told.append((done, total))))) == validation.foci == 600
    assert told == [(256, 600), (512, 600), (600, 600)]
