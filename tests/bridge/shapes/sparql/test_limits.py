"""What a query of a shape may take: one that takes more is ended, and nothing else is."""

from __future__ import annotations

import resource
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from bridge.replicas.direct import Asked, DirectWorker
from bridge.shapes import checker, preparing
from bridge.shapes.sparql import evaluation
from bridge.shapes.sparql import patience as waiting
from certificates.findings import FindingCode, Severity
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.test_validation import validated
from tests.bridge.shapes.world import World, asserts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any
    from weakref import ReferenceType

    from bridge.replicas.limits import Limits

BOMB: Final = (
    "SELECT $this { $this <urn:x:n> ?n BIND (str(?n) AS ?x0) "
    + " ".join(f"BIND (CONCAT(?x{each}, ?x{each}) AS ?x{each + 1})" for each in range(40))
    + " FILTER (strlen(?x40) > 1) }"
)
CROSS: Final = (
    f"SELECT $this {{ {' . '.join(f'$this <urn:x:p> ?x{each}' for each in range(12))} "
    f"FILTER ({' + '.join(f'?x{each}' for each in range(12))} < 0) }}"
)
MANY: Final = " ".join(f":a :p {each} ." for each in range(14))
TOO_MUCH: Final = "the query of the shape gave no answer: it takes more than it may have: 5 seconds, 256 MB of memory"
QUIET: Final = "SELECT $this ?value { $this <urn:x:n> ?value FILTER (?value > 5) }"


def shape(*queries: str) -> str:
    said = "".join(f" ; sh:sparql [ sh:select '{query}' ]" for query in queries)
    return f":S a sh:NodeShape ; sh:targetClass :P{said} ."


@pytest.fixture(autouse=True)
def ample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time enough, however busy the machine is."""
    monkeypatch.setattr(evaluation, "LIMITS", replace(evaluation.LIMITS, seconds=600))
    monkeypatch.setattr(checker, "IN_TURN", 600)
    monkeypatch.setattr(preparing, "IN_TURN", 600)


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a query that has no end had taken all of its time soon."""
    answers = DirectWorker.answers

    def hurried(self: DirectWorker, asked: Asked, quads: bytes | None) -> list[bytes]:
        endless = "?x11" in asked.text
        return answers(self, replace(asked, limits=replace(asked.limits, seconds=1)) if endless else asked, quads)

    monkeypatch.setattr(DirectWorker, "answers", hurried)


def most_resident() -> int:
    """The most memory that this process ever had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_a_query_that_takes_all_memory_is_ended_and_costs_this_process_none() -> None:
    world = World(shape(BOMB, QUIET), ":a a :P . :b a :P .")
    before = most_resident()
    ended, found = sorted(world.judge(*asserts(":a :n 9 .")), key=lambda each: each.value is not None)
    assert (ended.code, ended.severity) == (FindingCode.SHAPE_VIOLATION, Severity.VIOLATION)
    assert ended.message == TOO_MUCH
    assert (found.focus, found.value) == ("<urn:x:a>", '"9"^^<http://www.w3.org/2001/XMLSchema#integer>')
    assert most_resident() - before < 100 * 2**20
    assert len(world.judge(*asserts(":b :m 1 ."))) == 0


def test_shapes_that_take_all_memory_are_found_out_when_they_are_written() -> None:
    world = World("", ":a a :P ; :n 1 .")
    before = most_resident()
    [finding] = world.judge(*asserts(shape(BOMB), graph=SHAPES_GRAPH))
    assert finding.code is FindingCode.EXISTING_VIOLATION
    assert finding.message == TOO_MUCH
    assert most_resident() - before < 100 * 2**20


def test_a_query_without_end_is_ended(brief: None) -> None:
    del brief
    world = World(shape(CROSS, QUIET), ":a a :P . " + MANY)
    ended, found = sorted(world.judge(*asserts(":a :p 14 ; :n 9 .")), key=lambda each: each.value is not None)
    assert ended.message == TOO_MUCH
    assert found.focus == "<urn:x:a>"


def test_what_is_ended_at_one_node_is_answered_at_another(brief: None) -> None:
    del brief
    world = World(shape(CROSS), ":a a :P . :b a :P . " + MANY)
    found = world.judge(*asserts(":a :p 14 . :b :p -1 ."))
    assert [(each.focus, "gave no answer" in each.message) for each in found] == [
        ("<urn:x:a>", True),
        ("<urn:x:b>", False),
    ]


def test_a_query_that_is_ended_again_and_again_rests(brief: None, monkeypatch: pytest.MonkeyPatch) -> None:
    del brief
    monkeypatch.setattr(evaluation, "IN_A_ROW", 2)
    asked = 0
    answers = DirectWorker.answers

    def counted(self: DirectWorker, question: Asked, quads: bytes | None) -> list[bytes]:
        nonlocal asked
        asked += 1
        return answers(self, question, quads)

    monkeypatch.setattr(DirectWorker, "answers", counted)
    nodes = ":a", ":b", ":c", ":d"
    held = " ".join(MANY.replace(":a", each) for each in nodes)
    world = World(shape(CROSS), " ".join(f"{each} a :P ." for each in nodes) + held)
    found = world.judge(*asserts(" ".join(f"{each} :p 14 ." for each in nodes)))
    assert len({finding.focus for finding in found}) == len(nodes)
    assert {finding.message for finding in found} == {TOO_MUCH}
    assert asked == 2
    monkeypatch.setattr(evaluation, "monotonic", lambda: 10.0**12)
    world.judge(*asserts(":a :p 14 ."))
    assert asked > 2


def test_without_credit_a_query_has_a_little_time_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if each took 4 seconds: the credit is gone after two, in whichever plans."""
    monkeypatch.setattr(evaluation, "LIMITS", replace(evaluation.LIMITS, seconds=5))
    monkeypatch.setattr(evaluation, "monotonic", lambda: 0.0)
    allowed: list[float] = []

    def slow(self: DirectWorker, asked: Asked, quads: bytes | None) -> list[bytes]:
        del quads
        allowed.append(asked.limits.seconds)
        self.took = 4.01
        return [b'{"head":{"vars":["this"]},"results":{"bindings":[]}}'] * len(asked.beside)

    monkeypatch.setattr(DirectWorker, "answers", slow)
    world = World(shape(QUIET), " ".join(f":a{each} a :P ." for each in range(3)))
    for each in range(3):
        assert world.judge(*asserts(f":a{each} :n 9 .")) == []
    assert allowed == [5, 1, 0.5]


def test_what_the_queries_of_a_plan_take_together_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if each took 300 seconds of 500; there are two about the first node, after the change and before it."""
    world = World(shape(QUIET), " ".join(f":a{each} a :P ." for each in range(5)))
    answers = DirectWorker.answers

    def slow(self: DirectWorker, asked: Asked, quads: bytes | None) -> list[bytes]:
        found = answers(self, asked, quads)
        self.took = 300.0
        return found

    monkeypatch.setattr(DirectWorker, "answers", slow)
    monkeypatch.setattr(checker, "IN_TURN", 500)
    found = world.judge(*asserts(" ".join(f":a{each} :n 9 ." for each in range(5))))
    assert sum("the queries about this change have taken 500 seconds by now" in each.message for each in found) == 4
    assert len(found) == 5
    again = world.judge(*asserts(":a4 :n 9 ."))
    assert [each.value for each in again] == ['"9"^^<http://www.w3.org/2001/XMLSchema#integer>']


def test_quick_queries_cost_no_patience_and_no_credit() -> None:
    left, credit = waiting.Patience(1), waiting.Credit(now=0)
    for _ in range(10_000):
        left.spend(waiting.BRIEF)
        credit.spend(waiting.BRIEF)
    assert (left.left, credit.left(now=0)) == (1, credit.MOST)


def test_solutions_have_a_limit_in_number_and_in_size(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shape("SELECT $this ?value { $this <urn:x:p> ?value }")
    monkeypatch.setattr(evaluation, "MOST", 3)
    [finding] = World(text, ":a a :P .").judge(*asserts(":a :p 1, 2, 3, 4 ."))
    assert finding.message.endswith("it gives more than 3 solutions")
    monkeypatch.setattr(evaluation, "LIMITS", replace(evaluation.LIMITS, result=200))
    [finding] = World(text, ":a a :P .").judge(*asserts(":a :p 1, 2 ."))
    assert "its solutions come to more than" in finding.message


def test_data_of_which_anything_may_be_looked_at_is_sent_once_for_all_foci(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = 0
    keep = DirectWorker.keep

    def counted(self: DirectWorker, what: ReferenceType[Any], pieces: Iterator[bytes], limits: Limits) -> None:
        nonlocal kept
        kept += 1
        keep(self, what, pieces, limits)

    monkeypatch.setattr(DirectWorker, "keep", counted)
    query = "SELECT $this ?value { ?any <urn:x:most> ?m . $this <urn:x:n> ?value FILTER(?value > ?m) }"
    people = " ".join(f":p{each} a :P ; :n {each} ." for each in range(30))
    _, results = validated(shape(query, query), f"{people} :config :most 20 .")
    assert len(results) == 18
    assert kept == 1
