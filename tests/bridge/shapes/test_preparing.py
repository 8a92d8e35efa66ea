"""Shapes judged beside the writes: the same is found as by judging all of it at once, whatever changes meanwhile."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread, current_thread
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st

from bridge.base import Base
from bridge.shapes.messages import message_of
from bridge.shapes.preparing import FEW, ShapesPreparer
from bridge.shapes.slices import Slices
from bridge.shapes.telling import Teller
from bridge.updating.graphs import GraphWrite, WholeGraph
from bridge.updating.request import Update
from bridge.updating.terms import Terms
from bridge.updating.updates import ATTEMPTS
from certificates.canonical import canonical_json
from certificates.certificate import Verdict
from certificates.findings import Finding, FindingCode
from kernel.changes import Assert, Change
from kernel.errors import ShuttingDown, StateMoved
from kernel.facts import Spelling
from kernel.policy.verdicts import UnsafeAutoApprove
from kernel.ports.records import CertificateState
from kernel.terms import Iri
from kernel.time.instants import Instant, print_instant
from kernel.vocabulary import ONTOLOGY_GRAPH, SHAPES_GRAPH
from kernel.writing.preparing import Progress, Unprepared, Watch
from tests.bridge.shapes.test_base import queue, submit
from tests.bridge.shapes.test_existing import NAMED, require_newly_broken
from tests.bridge.shapes.test_incremental import ONTOLOGY, Assertion, assertions, made, retracted, shapes, validities
from tests.bridge.shapes.world import ADMIN, CountingView, World, asserts, retracts
from tests.bridge.sparql.update.updating import Here
from tests.bridge.writing import Busy, decide, stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from kernel.facts import Evidence, Fact
    from kernel.ports.heads import Head
    from kernel.terms import Statement
    from kernel.writing.plan import Plan
    from kernel.writing.submitting import Outcome

PATIENCE = 60.0
DRAFT = Iri("urn:draft")


class History(CountingView):
    """A view that is its own ledger: what was committed is what was applied."""

    def __init__(self) -> None:
        super().__init__()
        self.last: Instant | None = None

    @contextmanager
    def reading(self) -> Iterator[History]:
        yield self

    def apply(self, plan: Plan, at: Instant) -> None:
        """As the view has it."""
        super().apply(plan, at)
        self.last = at

    def head(self) -> Head:
        return _Head(self.last)  # type: ignore[return-value] # of a head, preparing looks at the instant alone

    def facts_recorded(self, after: Instant | None, until: Instant) -> Iterator[Fact]:
        for fact in self.facts:
            times = [fact.recorded_at, *([fact.superseded.at] if fact.superseded else [])]
            if any((after is None or after < time) and time <= until for time in times):
                yield fact

    def evidence_recorded(self, after: Instant | None, until: Instant) -> Iterator[tuple[Evidence, Iri]]:
        for item in self.evidence:
            fact = self.fact(item.content.fact)
            if fact is not None and (after is None or after < item.recorded_at) and item.recorded_at <= until:
                yield item, fact.statement.graph


class _Head:
    def __init__(self, instant: Instant | None) -> None:
        self.instant = instant


class Past(World):
    """A world that knows when it learnt what."""

    def __init__(self, shapes_text: str, ontology: str = "") -> None:
        super().__init__()
        self.view: History = History()
        self.hold(*asserts(shapes_text, graph=SHAPES_GRAPH))
        self.hold(*asserts(ontology, graph=ONTOLOGY_GRAPH))

    def hold(self, *changes: Change) -> Plan:
        """As the world's, at an instant of its own."""
        plan = self.plan(*changes)
        self.now = Instant(self.now + 1)
        self.view.apply(plan, self.now)
        return plan


def rewritten(world: World, new: str) -> list[Change]:
    """What puts other shapes in the place of those in force."""
    before = [fact.statement for fact in world.view.believed(graph=SHAPES_GRAPH)]
    text = " ".join(f"{each.subject.n3} {each.predicate.n3} {each.object.n3} ." for each in before)
    return [*retracts(text, graph=SHAPES_GRAPH), *asserts(new, graph=SHAPES_GRAPH)]


Step = tuple[list[Assertion], list[tuple[int, tuple[int | None, int | None]]], bool]


def steps() -> st.SearchStrategy[Step]:
    """What comes, what goes, and whether a class turns out to be below another, or not to be."""
    gone = st.tuples(st.integers(0, 9), validities())
    return st.tuples(st.lists(assertions(), max_size=3), st.lists(gone, max_size=1), st.booleans())


def told_alike(findings: Sequence[Finding]) -> list[Finding]:
    """The findings apart from the graphs: types of a node that no shape asks for may have come or gone unnoticed."""
    return [replace(finding, graphs=("urn:any",)) for finding in findings]


def taken(world: World, step: Step) -> None:
    coming, going, turns = step
    for assertion in coming:
        world.hold(*made(assertion))
    for each in going:
        world.hold(*retracted(world, *each))
    if turns:
        known = next(world.view.believed(graph=ONTOLOGY_GRAPH), None)
        world.hold(*(asserts if known is None else retracts)(ONTOLOGY, graph=ONTOLOGY_GRAPH))


@settings(phases=set(Phase) - {Phase.shrink})
@given(
    shapes(),
    shapes(),
    st.booleans(),
    st.lists(assertions(), max_size=6),
    steps(),
    steps(),
    st.lists(assertions(), max_size=1),
)
def test_what_was_judged_beforehand_and_followed_is_what_is_judged_at_once(
    old: str, new: str, same: bool, held: list[Assertion], first: Step, then: Step, asked: list[Assertion]
) -> None:
    note(old)
    note(new)
    world = Past(old)
    for assertion in held:
        world.hold(*made(assertion))
    written = rewritten(world, f"{old}\n:S a sh:NodeShape ; sh:targetClass :C ; sh:closed true ." if same else new)
    preparation = ShapesPreparer(world.view).prepare(world.plan(*written), world.view, None)  # type: ignore[arg-type] # a view that is its own ledger
    assert preparation is not None
    preparation.advance(Watch())
    taken(world, first)
    preparation.advance(Watch())
    taken(world, then)
    plan = world.plan(*written, *(change for assertion in asked for change in made(assertion)))
    preparation.hold(world.view)  # type: ignore[arg-type]
    findings = list(world.checker.findings(plan, world.view, preparation))
    assert told_alike(findings) == told_alike(world.checker.findings(plan, world.view))
    require_newly_broken(world, plan, [each for each in findings if each.code is FindingCode.EXISTING_VIOLATION])


def test_results_of_the_shapes_in_force_that_come_and_go_meanwhile_are_what_is_held_against() -> None:
    """Nothing that T looks at changes; but whether S, which is in force, says the same of the node does."""
    world = Past(
        ":S a sh:NodeShape ; sh:targetSubjectsOf :p ; sh:property :Name . :Name sh:path :name ; sh:minCount 1 ."
    )
    world.hold(*asserts(":a a :A ; :p 1 . :b a :A ."))
    written = asserts(":T a sh:NodeShape ; sh:targetClass :A ; sh:property :Name .", graph=SHAPES_GRAPH)
    preparation = ShapesPreparer(world.view).prepare(world.plan(*written), world.view, None)  # type: ignore[arg-type]
    assert preparation is not None
    foci = []
    for changes in ([], retracts(":a :p 1 ."), asserts(":b :p 1 .")):
        preparation.advance(Watch())
        world.hold(*changes)
        preparation.hold(world.view)  # type: ignore[arg-type]
        findings = world.checker.findings(world.plan(*written), world.view, preparation)
        foci.append([finding.focus for finding in findings])
    assert foci == [["<urn:x:b>"], ["<urn:x:a>", "<urn:x:b>"], ["<urn:x:a>"]]


def test_too_much_that_changed_since_is_prepared_for_once_more() -> None:
    world = Past("")
    written = asserts(NAMED.format(1), graph=SHAPES_GRAPH)
    preparation = ShapesPreparer(world.view).prepare(world.plan(*written), world.view, None)  # type: ignore[arg-type]
    assert preparation is not None
    preparation.advance(Watch())
    world.hold(*asserts("".join(f":n{number} a :A . :n{number} :other 5 . " for number in range(FEW))))
    preparation.hold(world.view)  # type: ignore[arg-type]
    world.hold(*asserts(":m a :A ."))
    with pytest.raises(Unprepared):
        preparation.hold(world.view)  # type: ignore[arg-type]
    preparation.advance(Watch())
    preparation.hold(world.view)  # type: ignore[arg-type]
    assert len(world.checker.findings(world.plan(*written), world.view, preparation)) == FEW + 1


def test_one_of_many_findings_that_changed_since_is_prepared_for_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.shapes.preparing.BRIEFLY_WORDED", 2)
    world = Past("")
    world.hold(*asserts(":a a :A . :b a :A . :c a :A ."))
    written = asserts(NAMED.format(1), graph=SHAPES_GRAPH)
    preparation = ShapesPreparer(world.view).prepare(world.plan(*written), world.view, None)  # type: ignore[arg-type]
    assert preparation is not None
    preparation.advance(Watch())
    world.hold(*asserts(":d a :A ; :name 'd' ."))
    preparation.hold(world.view)  # type: ignore[arg-type]
    assert len(world.checker.findings(world.plan(*written), world.view, preparation)) == 3
    world.hold(*asserts(":a :name 'a' ."))
    preparation.hold(world.view)  # type: ignore[arg-type]
    with pytest.raises(Unprepared):
        world.checker.findings(world.plan(*written), world.view, preparation)
    preparation.insist()
    assert len(world.checker.findings(world.plan(*written), world.view, preparation)) == 2


def test_a_waiver_that_ends_after_its_findings_were_worded_does_not_waive_them() -> None:
    world = Past("")
    world.hold(*asserts(":a a :A ."))
    end = Instant(world.now + 10)
    waiver = f":W a m:Waiver ; m:waives :S ; m:reason 'soon' ; m:until '{print_instant(end)}'^^xsd:dateTime ."
    written = asserts(NAMED.format(1) + waiver, graph=SHAPES_GRAPH)
    preparation = ShapesPreparer(world.view).prepare(world.plan(*written), world.view, None)  # type: ignore[arg-type]
    assert preparation is not None
    preparation.advance(Watch())
    preparation.hold(world.view)  # type: ignore[arg-type]
    codes = []
    for now in (Instant(end - 1), end):
        plan = replace(world.plan(*written), issued_at=now)
        codes += [each.code for each in world.checker.findings(plan, world.view, preparation)]
    assert codes == [FindingCode.WAIVED_VIOLATION, FindingCode.EXISTING_VIOLATION]


# --- in a base --------------------------------------------------------------------------------------------------------


class Held(Watch):
    """Holds preparing up after some targets, until it is let go on."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.reached, self.go_on = Event(), Event()
        self.judged = 0
        self._after = after

    def require_going_on(self) -> None:
        super().require_going_on()
        self.judged += 1
        if self.judged == self._after:
            self.reached.set()
            assert self.go_on.wait(PATIENCE)
            super().require_going_on()


def held_up(base: Base, after: int) -> Held:
    watch = base._preparer._watch = Held(after)
    return watch


def many(count: int) -> list[Change]:
    return asserts("".join(f":n{number} a :A ; :name 'n' . " for number in range(count)))


def loaded(base: Base, *chunks: list[Change]) -> Outcome:
    only = [[change for change in chunk if isinstance(change, Assert)] for chunk in chunks]
    return base.load(stage(base, "session", *only, by=ADMIN)).result()


def test_writes_are_answered_while_shapes_are_judged_and_what_they_bring_is_judged_too(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        submit(base, *many(1_000), *asserts(":old a :A ."))
        watch = held_up(base, after=500)
        written = queue(base, *asserts(NAMED.format(1), graph=SHAPES_GRAPH))
        assert watch.reached.wait(PATIENCE)
        for number in range(3 * FEW):
            assert submit(base, *asserts(f":during{number} :name 'd' .")).verdict is Verdict.CLEAR
        assert submit(base, *asserts(":new a :A .")).verdict is Verdict.CLEAR
        assert submit(base, *retracts(":n1 :name 'n' . :n999 :name 'n' .")).verdict is Verdict.CLEAR
        assert submit(base, *asserts(":old :name 'mended' .")).verdict is Verdict.CLEAR
        assert not written.done()
        watch.go_on.set()
        outcome = written.result(PATIENCE)
        assert outcome.verdict is Verdict.REVIEW
        assert {each.code for each in outcome.findings} == {FindingCode.EXISTING_VIOLATION}
        assert [each.focus for each in outcome.findings] == ["<urn:x:n1>", "<urn:x:n999>", "<urn:x:new>"]
        assert decide(base, outcome.certificate, by=ADMIN).state is CertificateState.APPLIED
        assert submit(base, *asserts(":after a :A .")).verdict is Verdict.REFUSED


def by_update(base: Base, shapes: list[Change]) -> Future[Outcome]:
    said = " ".join(f"{each.subject.n3} {each.predicate.n3} {each.object.n3} ." for each in statements_of(shapes))
    update = Update.read(f"INSERT DATA {{ GRAPH {SHAPES_GRAPH.n3} {{ {said} }} }}", Terms(ADMIN))
    return base.updates.apply(update, None)


def by_graph(base: Base, shapes: list[Change]) -> Future[Outcome]:
    statements = [(each, Spelling()) for each in statements_of(shapes)]
    answer: Future[Outcome] = Future()
    written = base.updates.write_graph(WholeGraph(GraphWrite.POST, SHAPES_GRAPH, statements, Terms(ADMIN)))
    written.add_done_callback(lambda done: answer.set_result(done.result()[0]))
    return answer


def by_where(base: Base, shapes: list[Change]) -> Future[Outcome]:
    """Inserts what a template says of whatever the ontology says, as the service does: anew while the base moves on."""
    said = " ".join(f"{each.subject.n3} {each.predicate.n3} {each.object.n3} ." for each in statements_of(shapes))
    text = f"INSERT {{ GRAPH {SHAPES_GRAPH.n3} {{ {said} }} }} WHERE {{ GRAPH {ONTOLOGY_GRAPH.n3} {{ ?s ?p ?o }} }}"
    update = Update.read(text, Terms(ADMIN))
    answer: Future[Outcome] = Future()

    def run() -> None:
        evaluated = None
        for _ in range(ATTEMPTS):
            evaluated = base.updates.evaluate(update, Here(base))
            try:
                answer.set_result(base.updates.apply(update, evaluated).result())
            except StateMoved:
                continue
            return
        answer.set_result(base.updates.apply_alone(update, Here(base), evaluated).result())

    Thread(target=run).start()
    return answer


def by_copying(base: Base, shapes: list[Change]) -> Future[Outcome]:
    """Adds a graph in which they were written down to the shapes."""
    submit(base, *(replace(each, statement=replace(each.statement, graph=DRAFT)) for each in asserted(shapes)))
    return base.updates.apply(Update.read(f"ADD {DRAFT.n3} TO {SHAPES_GRAPH.n3}", Terms(ADMIN)), None)


def asserted(changes: list[Change]) -> list[Assert]:
    return [change for change in changes if isinstance(change, Assert)]


def statements_of(changes: list[Change]) -> list[Statement]:
    return [change.statement for change in asserted(changes)]


@pytest.mark.parametrize("write", [by_update, by_graph, by_where, by_copying])
def test_shapes_by_sparql_and_by_document_are_judged_beside_the_writes_too(
    write: Callable[[Base, list[Change]], Future[Outcome]],
) -> None:
    with Base.open(None) as base:
        submit(base, *many(500), *asserts(":old a :A ."), *asserts(ONTOLOGY, graph=ONTOLOGY_GRAPH))
        watch = held_up(base, after=250)
        written = write(base, asserts(NAMED.format(1), graph=SHAPES_GRAPH))
        assert watch.reached.wait(PATIENCE)
        assert list(base.preparing) == [Progress(200, 501)]
        assert submit(base, *asserts(":new a :A .")).verdict is Verdict.CLEAR
        assert not written.done()
        watch.go_on.set()
        outcome = written.result(PATIENCE)
        assert list(base.preparing) == []
        assert watch.judged < 501 + 10, "each target is judged once, however often the update is worked out anew"
        assert (outcome.verdict, [each.focus for each in outcome.findings]) == (
            Verdict.REVIEW,
            ["<urn:x:new>", "<urn:x:old>"],
        )
        assert decide(base, outcome.certificate, by=ADMIN).state is CertificateState.APPLIED
        assert submit(base, *asserts(":after a :A .")).verdict is Verdict.REFUSED


@pytest.mark.parametrize("waived", [False, True])
def test_what_was_found_beforehand_costs_its_write_and_its_approval_next_to_nothing(
    monkeypatch: pytest.MonkeyPatch, *, waived: bool
) -> None:
    """In their turn nothing that did not change is judged, worded, put together, written as JSON or read from it."""
    calls: Counter[str] = Counter()

    def counted(name: str, inner: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: object, **options: object) -> object:
            calls[f"{name} {'beside' if current_thread().name.startswith('preparing') else 'in turn'}"] += 1
            return inner(*args, **options)

        return call

    monkeypatch.setattr(Slices, "standing", counted("judged", Slices.standing))
    monkeypatch.setattr("bridge.shapes.telling.message_of", counted("worded", message_of))
    monkeypatch.setattr(Teller, "told", counted("put together", Teller.told))
    monkeypatch.setattr("certificates.findings.canonical_json", counted("written", canonical_json))
    monkeypatch.setattr(Finding, "from_body", staticmethod(counted("read", Finding.from_body)))
    waiver = ":W a m:Waiver ; m:waives :S ; m:reason 'they are being named' ." if waived else ""
    with Base.open(None) as base:
        submit(base, *asserts("".join(f":n{number} a :A . " for number in range(300))))
        outcome = queue(base, *asserts(NAMED.format(1) + waiver, graph=SHAPES_GRAPH)).result(PATIENCE)
        assert len(outcome.findings) == 300
        if not waived:
            assert len(decide(base, outcome.certificate, by=ADMIN).findings) == 300
    in_turn = {name: count for name, count in calls.items() if name.endswith("in turn")}
    assert in_turn == {}
    assert calls["judged beside"] >= 300


def test_what_comes_in_between_in_masses_is_judged_before_the_shapes_are_in_force(watched: None) -> None:
    with Base.open(None) as base:
        submit(base, *many(10))
        busy = Busy(base)
        before = [queue(base, *asserts(f":m{number} a :A .")) for number in range(2 * FEW)]
        written = queue(base, *asserts(NAMED.format(1), graph=SHAPES_GRAPH))
        busy.go_on()
        assert {each.result(PATIENCE).verdict for each in before} == {Verdict.CLEAR}
        assert len(written.result(PATIENCE).findings) == 2 * FEW


def test_an_approval_is_judged_beside_the_writes_as_well(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        submit(base, *many(600), *asserts(":old a :A ."))
        pending = submit(base, *asserts(NAMED.format(1), graph=SHAPES_GRAPH))
        assert pending.state is CertificateState.PENDING
        for number in range(2 * FEW):
            submit(base, *asserts(f":more{number} a :A ; :name 'm' ."))
        approved = decide(base, pending.certificate, by=ADMIN)
        assert (approved.state, [each.focus for each in approved.findings]) == (
            CertificateState.APPLIED,
            ["<urn:x:old>"],
        )


def test_a_load_that_brings_shapes_is_judged_beside_the_writes(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        submit(base, *many(600), *asserts(":old a :A ."))
        brought = asserts(NAMED.format(1), graph=SHAPES_GRAPH)
        outcome = loaded(base, brought, asserts(":x a :A . :y a :A ; :name 'y' ."))
        assert outcome.verdict is Verdict.REVIEW
        assert [each.focus for each in outcome.findings] == ["<urn:x:old>", "<urn:x:x>"]
        assert decide(base, outcome.certificate, by=ADMIN).state is CertificateState.APPLIED
        assert submit(base, *asserts(":z a :A .")).verdict is Verdict.REFUSED


def test_shapes_that_change_while_others_are_judged_are_what_those_are_held_against(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        submit(base, *many(10), *asserts(":old a :A ."))
        watch = held_up(base, after=5)
        slow = queue(base, *asserts(":T a sh:NodeShape ; sh:targetClass :A ; sh:property :Name .", graph=SHAPES_GRAPH))
        assert watch.reached.wait(PATIENCE)
        base._preparer._watch = Watch()
        quick = submit(base, *asserts(NAMED.format(1), graph=SHAPES_GRAPH))
        assert decide(base, quick.certificate, by=ADMIN).state is CertificateState.APPLIED
        watch.go_on.set()
        assert slow.result(PATIENCE).findings == ()


def test_closing_gives_up_what_is_being_judged_and_keeps_nothing_of_it(tmp_path: Path) -> None:
    base = Base.open(tmp_path / "base")
    submit(base, *many(100))
    with base.ledger.reading() as view:
        head = view.head().position
    watch = held_up(base, after=50)
    written = queue(base, *asserts(NAMED.format(2), graph=SHAPES_GRAPH))
    assert watch.reached.wait(PATIENCE)
    watch.close()
    watch.go_on.set()
    base.close()
    with pytest.raises(ShuttingDown):
        written.result(PATIENCE)
    with Base.open(tmp_path / "base") as again, again.ledger.reading() as view:
        assert view.head().position == head
        assert view.certificates(state=CertificateState.PENDING) == []


def test_nothing_is_judged_for_a_request_that_is_answered_before_or_refused_anyway(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        submit(base, *many(100))
        held_up(base, after=1).go_on.set()
        mine = queue(base, *asserts(":S sh:minCuont 1 .", graph=SHAPES_GRAPH))
        assert mine.result(PATIENCE).verdict is Verdict.REFUSED


@pytest.mark.fuzz
def test_shapes_over_many_facts_while_writers_go_on(tmp_path: Path) -> None:
    """200,000 facts: hundreds of writes are answered meanwhile, and what is found is what all of it gives at once."""
    with Base.open(tmp_path / "base", policy=UnsafeAutoApprove()) as base:
        facts = many(100_000)
        loaded(base, *(facts[start : start + 4_000] for start in range(0, len(facts), 4_000)))
        written = queue(base, *asserts(NAMED.format(1), graph=SHAPES_GRAPH))
        answered = 0
        while not written.done():
            submit(base, *asserts(f":w{answered} a :A ."))
            answered += 1
        found = {each.focus for each in written.result().findings}
        assert answered > 200
        assert (
            {f"<urn:x:w{number}>" for number in range(answered - 1)}
            <= found
            <= {f"<urn:x:w{number}>" for number in range(answered)}
        )
