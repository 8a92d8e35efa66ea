"""The W3C test suite for SHACL-SPARQL: whole reports, and the same along the incremental path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyoxigraph as ox
import pytest

from bridge.shapes.data import Data
from bridge.shapes.document import ShapesDocument
from bridge.shapes.registry import Shapes
from bridge.shapes.reports import rdf
from bridge.shapes.reports.telling import Telling
from bridge.shapes.validation import Validation
from bridge.shapes.vocabulary import sh
from certificates.findings import FindingCode
from kernel.changes import Assert
from kernel.terms import Iri, Statement
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.test_validation import conforms, held, parts, reported, results_of, rows
from tests.bridge.shapes.test_w3c_core import WARN, key_of, key_of_finding
from tests.bridge.shapes.world import G, World
from tests.requirements import REPOSITORY, require

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bridge.shapes.document import Triple
    from certificates.findings import Finding
    from tests.bridge.shapes.test_w3c_core import Key

SUITE: Final = REPOSITORY.parent / "shared" / "suites" / "shacl" / "tests" / "sparql"
TEST: Final = "http://www.w3.org/ns/shacl-test#"
RESULT: Final = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#result"


def files() -> list[str]:
    found = (path for path in sorted(SUITE.glob("*/*.ttl")) if path.name != "manifest.ttl")
    return [f"{path.parent.name}/{path.name}" for path in found] or ["none"]


def given(name: str) -> tuple[list[Triple], list[Triple], list[Triple], bool]:
    """The data, the shapes and the report of a test, and whether the report is that shapes are ill-formed."""
    require("shared")
    data, shapes, everything = parts(SUITE / name)
    fails = any(predicate.value == RESULT and value == Iri(f"{TEST}Failure") for _, predicate, value in everything)
    return data, shapes, everything, fails


def sources(report: ShapesDocument) -> list[tuple[str, str]]:
    """The focus and the source constraint of each result."""
    return sorted(
        (focus.n3, source.n3)
        for node in results_of(report)
        for focus in report.objects(node, sh("focusNode"))
        for source in report.objects(node, sh("sourceConstraint"))
    )


@pytest.mark.shared
@pytest.mark.parametrize("name", files())
def test_the_suite_gets_the_reports_that_it_expects(name: str) -> None:
    data, given_shapes, everything, fails = given(name)
    known = Shapes(ShapesDocument.of_triples(held(given_shapes).items()))
    assert bool(known.problems) == fails, known.problems
    if fails:
        assert all(problem.predicate in (sh("select"), sh("ask")) for problem in known.problems)
        return
    expected = ShapesDocument.of_triples(dict.fromkeys(everything, ()).items())
    results = list(Validation(known, Data(held(data))).results())
    report = reported(rdf.ntriples(rdf.result_nodes(results, Telling(known.document))), ox.RdfFormat.N_TRIPLES)
    assert rows(report, results_of(report)) == rows(expected, results_of(expected))
    assert sources(report) == sources(expected)
    assert conforms(report) == conforms(expected)


def keys(findings: Iterable[Finding]) -> set[Key]:
    assert all(finding.code is FindingCode.SHAPE_VIOLATION for finding in findings), findings
    return set(map(key_of_finding, findings))


@pytest.mark.shared
@pytest.mark.parametrize("name", files())
def test_statements_that_come_one_by_one_bring_what_the_whole_newly_says(name: str) -> None:
    """In mode `warn`, as of SHACL Core."""
    data, given_shapes, _, fails = given(name)
    world = World(WARN)
    plan = world.hold(*(Assert(Statement(*triple, SHAPES_GRAPH)) for triple in given_shapes))
    known = Shapes(ShapesDocument((content for content in plan.record), {}))
    telling = Telling(known.document)
    before: set[Key] = set()
    for number, triple in enumerate(data):
        change = Assert(Statement(*triple, G))
        findings = world.judge(change)
        if fails:
            assert {finding.code for finding in findings} == {FindingCode.MALFORMED_SHAPES}
            return
        results = Validation(known, Data(held(data[: number + 1]))).results()
        after = {key_of(each, telling) for each in results}
        if before or number:  # what the shapes say of nothing is no news
            assert keys(findings) == after - before
        before = after
        world.hold(change)


@pytest.mark.shared
def test_the_suite_is_there() -> None:
    require("shared")
    assert len(files()) == 23  # one of them, nodeValidator-001, is in no manifest
