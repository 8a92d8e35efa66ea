"""Shapes in a base on disk: judged as written, also after it was closed and opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bridge.base import Base
from certificates.certificate import Verdict
from certificates.findings import FindingCode
from kernel.changes import Change, Request
from kernel.vocabulary import RULES_GRAPH, SHAPES_GRAPH
from kernel.writing.submitting import Outcome, Submission
from tests.bridge.shapes.world import ADMIN, asserts, retracts, years

if TYPE_CHECKING:
    from concurrent.futures import Future
    from pathlib import Path

SHAPES = """:S a sh:NodeShape ; sh:targetSubjectsOf :size ; sh:property [ sh:path :label ; sh:maxCount 2 ] ;
    sh:property [ sh:path :size ; sh:datatype xsd:nonNegativeInteger ; sh:in ( '5'^^xsd:nonNegativeInteger 6 ) ] ."""


def queue(base: Base, *changes: Change) -> Future[Outcome]:
    return base.submit(Submission(Request(changes, None, None, ADMIN.id), ADMIN, None, b"", dry_run=False))


def submit(base: Base, *changes: Change) -> Outcome:
    return queue(base, *changes).result()


def test_case_07_and_46_conform_after_a_restart(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        assert submit(base, *asserts(SHAPES, graph=SHAPES_GRAPH)).verdict is Verdict.CLEAR
        assert submit(base, *asserts(":a :size '5'^^xsd:nonNegativeInteger .")).verdict is Verdict.CLEAR
    with Base.open(tmp_path / "base") as base:
        ended = retracts(":a :size '5'^^xsd:nonNegativeInteger .", years(2030))
        assert submit(base, *ended).verdict is Verdict.CLEAR
        assert submit(base, *asserts(":b :size '05'^^xsd:nonNegativeInteger .")).verdict is Verdict.CLEAR
        refused = submit(base, *asserts(":c :size 5 ."))
        assert refused.verdict is Verdict.REFUSED
        assert [finding.code for finding in refused.findings] == [FindingCode.SHAPE_VIOLATION]


def test_case_02_the_second_of_two_writers_is_refused(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        submit(base, *asserts(SHAPES, graph=SHAPES_GRAPH))
        submit(base, *asserts(":a :size '5'^^xsd:nonNegativeInteger ."))
        writers = [queue(base, *asserts(f":a :label '{name}1', '{name}2' .")) for name in ("x", "y")]
        assert sorted(writer.result().verdict for writer in writers) == [Verdict.CLEAR, Verdict.REFUSED]


def test_malformed_shapes_are_refused_and_the_ones_in_force_stay(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        submit(base, *asserts(SHAPES, graph=SHAPES_GRAPH))
        assert submit(base, *asserts(":S sh:minCuont 1 .", graph=SHAPES_GRAPH)).verdict is Verdict.REFUSED
        assert submit(base, *asserts(":a :size 7 .")).verdict is Verdict.REFUSED
        assert submit(base, *retracts(":S sh:targetSubjectsOf :size .", graph=SHAPES_GRAPH)).verdict is Verdict.CLEAR
        assert submit(base, *asserts(":a :size 7 .")).verdict is Verdict.CLEAR


QUERY = """:S a sh:NodeShape ; sh:targetClass :P ; sh:sparql [ sh:message 'shared with {?other}' ; sh:select
    'SELECT $this ?other { $this <urn:x:id> ?id . ?other <urn:x:id> ?id FILTER(?other != $this) }' ] ."""


def test_a_query_of_a_shape_refuses_a_change_also_after_a_restart(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        assert submit(base, *asserts(QUERY, graph=SHAPES_GRAPH)).verdict is Verdict.CLEAR
        assert submit(base, *asserts(":a a :P ; :id 1 .", years(2000, 2010))).verdict is Verdict.CLEAR
        assert submit(base, *asserts(":b :id 1 .", years(2010))).verdict is Verdict.CLEAR
    with Base.open(tmp_path / "base") as base:
        refused = submit(base, *asserts(":c :id 1 .", years(2009)))
        assert refused.verdict is Verdict.REFUSED
        [finding] = refused.findings
        assert (finding.focus, finding.message) == ("<urn:x:a>", "shared with <urn:x:c>")
        assert (finding.start, finding.end) == ("2009-01-01T00:00:00Z", "2010-01-01T00:00:00Z")
        malformed = submit(
            base, *asserts(":S sh:sparql [ sh:select 'SELECT $this { MINUS { } }' ] .", graph=SHAPES_GRAPH)
        )
        assert [each.code for each in malformed.findings] == [FindingCode.MALFORMED_SHAPES]
        assert submit(base, *retracts(":a a :P .")).verdict is Verdict.CLEAR
        assert submit(base, *asserts(":c :id 1 .", years(2009))).verdict is Verdict.CLEAR


@pytest.mark.parametrize("kind", ["SingleValuedBySubject", "SingleValuedByObject"])
def test_a_contradiction_waits_for_an_editor(tmp_path: Path, kind: str) -> None:
    rule = f":r a <https://w3id.org/muniment#{kind}> ; <https://w3id.org/muniment#predicate> :livesIn ."
    with Base.open(tmp_path / "base") as base:
        assert submit(base, *asserts(rule, graph=RULES_GRAPH)).verdict is Verdict.CLEAR
        submit(base, *asserts(":a :livesIn :paris .", years(2024)))
        both = submit(base, *asserts(":a :livesIn :rome . :b :livesIn :paris .", years(2019)))
        assert both.verdict is Verdict.REVIEW
        assert len(both.findings) == 1
