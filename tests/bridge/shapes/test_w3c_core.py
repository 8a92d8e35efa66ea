"""The W3C test suite for SHACL Core: each file written to an empty base, as shapes and as data.

What is expected is what pySHACL says of the whole, which passes the suite; the suite's own reports are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import pyoxigraph as ox
import pytest

from bridge.base import Base
from bridge.shapes.application import Mode
from bridge.shapes.data import Data
from bridge.shapes.document import ShapesDocument
from bridge.shapes.registry import Shapes
from bridge.shapes.reports.telling import Telling
from bridge.shapes.telling import at_most
from bridge.shapes.validation import Validation
from certificates.findings import FindingCode, Severity
from kernel.changes import Assert
from kernel.ports.records import CertificateState
from kernel.terms import Literal, Statement
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.oracle import expected, told
from tests.bridge.shapes.test_base import submit
from tests.bridge.shapes.world import ADMIN, G, World, asserts, iri_of, term_of
from tests.bridge.writing import decide
from tests.requirements import REPOSITORY, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from bridge.shapes.results import Result
    from certificates.findings import Finding
    from kernel.terms import Iri

Key: TypeAlias = tuple[str | Severity | None, ...]
"""Focus, path, value, shape, component and severity."""

WARN: Final = "m:shapes m:mode m:Warn ."

SUITE: Final = REPOSITORY.parent / "shared" / "suites" / "shacl" / "tests" / "core"

EXPECTING: Final = {
    "http://www.w3.org/ns/shacl#ValidationReport",
    "http://www.w3.org/ns/shacl#ValidationResult",
    "http://www.w3.org/ns/shacl-test#Validate",
    "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#Manifest",
}


def files() -> list[str]:
    found = (path for path in sorted(SUITE.glob("*/*.ttl")) if path.name != "manifest.ttl")
    return [f"{path.parent.name}/{path.name}" for path in found] or ["none"]


def statements(path: Path, graph: Iri) -> list[Assert]:
    quads = list(ox.parse(path.read_bytes(), format=ox.RdfFormat.TURTLE, base_iri=f"urn:suite:{path.name}"))
    kinds = {quad.subject for quad in quads if isinstance(quad.object, ox.NamedNode) and quad.object.value in EXPECTING}
    return [
        Assert(Statement(iri_of(quad.subject), iri_of(quad.predicate), term_of(quad.object), graph))
        for quad in quads
        if quad.subject not in kinds
    ]


SLOW: Final = "complex/shacl-shacl-data-shapes.ttl"
"""The shapes of shapes, judged by themselves: seconds, most of them pySHACL's on the whole."""

PARAMETERS: Final = [pytest.param(name, marks=[pytest.mark.fuzz] if name == SLOW else []) for name in files()]


@pytest.mark.shared
@pytest.mark.parametrize("name", PARAMETERS)
def test_the_suite(name: str, caplog: pytest.LogCaptureFixture) -> None:
    path = require("shared") / "suites" / "shacl" / "tests" / "core" / name
    world = World()
    world.hold(*statements(path, SHAPES_GRAPH))
    plan = world.plan(*statements(path, G))
    findings = world.checker.findings(plan, world.view)
    assert caplog.records == []
    wanted = expected(world, plan)
    assert told(findings, wanted) == wanted
    assert all(finding.code is FindingCode.SHAPE_VIOLATION for finding in findings)


def key_of(result: Result, telling: Telling) -> Key:
    """What is compared of a result, with the severity that a finding of it has in mode `warn`."""
    value = None if result.value is None else result.value.n3
    severity = at_most(telling.asked_severity(result), Mode.WARN)
    return result.focus.n3, result.path, value, result.shape.n3, result.component.n3, severity


def key_of_finding(finding: Finding) -> Key:
    """The same of a finding."""
    return finding.focus, finding.path, finding.value, finding.shape, finding.component, finding.severity


def require_what_is_new(known: Shapes, changes: list[Assert], write: Callable[[Assert], Iterable[Finding]]) -> None:
    """Has statements written one by one: each brings what the whole newly says, and the last report is the whole's.

    Args:
        known: the shapes in force, in mode `warn`, so that nothing is in the way of what is broken.
        changes: what is written.
        write: writes one, and says what was found.
    """
    data, telling = Data({}), Telling(known.document)
    now = {key_of(each, telling) for each in Validation(known, data).results()}
    told_so_far = now
    for change in changes:
        findings = write(change)
        assert Severity.VIOLATION not in {finding.severity for finding in findings}
        statement = change.statement
        spelled = (statement.object,) if isinstance(statement.object, Literal) else ()
        data.add((statement.subject, statement.predicate, statement.object), spelled)
        before, now = now, {key_of(each, telling) for each in Validation(known, data).results()}
        came = set(map(key_of_finding, findings))
        assert came == now - before
        told_so_far = (told_so_far | came) & now
    assert told_so_far == now


@pytest.mark.shared
@pytest.mark.parametrize("name", PARAMETERS)
def test_statements_that_come_one_by_one_bring_what_the_whole_newly_says(name: str) -> None:
    path = require("shared") / "suites" / "shacl" / "tests" / "core" / name
    world = World(WARN)
    world.hold(*statements(path, SHAPES_GRAPH))
    known = Shapes(ShapesDocument([fact.content for fact in world.view.believed(graph=SHAPES_GRAPH)], {}))

    def write(change: Assert) -> list[Finding]:
        findings = world.judge(change)
        world.hold(change)
        return findings

    require_what_is_new(known, statements(path, G), write)


@pytest.mark.fuzz
@pytest.mark.shared
@pytest.mark.parametrize("name", files())
def test_statements_that_are_certified_one_by_one_bring_what_the_whole_newly_says(name: str) -> None:
    """The same through the write path of a base: a certificate each."""
    path = require("shared") / "suites" / "shacl" / "tests" / "core" / name
    with Base.open(None) as base:
        written = submit(base, *asserts(WARN, graph=SHAPES_GRAPH), *statements(path, SHAPES_GRAPH))
        if written.state is CertificateState.PENDING:
            assert decide(base, written.certificate, by=ADMIN).state is CertificateState.APPLIED
        with base.ledger.reading() as view:
            known = Shapes(ShapesDocument([fact.content for fact in view.believed(graph=SHAPES_GRAPH)], {}))

        def write(change: Assert) -> Iterable[Finding]:
            outcome = submit(base, change)
            assert outcome.state is CertificateState.APPLIED
            return outcome.findings

        require_what_is_new(known, statements(path, G), write)


@pytest.mark.shared
def test_the_suite_is_there() -> None:
    require("shared")
    assert len(files()) > 100
