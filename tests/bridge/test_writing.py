"""The write path through a base, in memory and on disk: the invariants of the write path, each by its name."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from api.commands.application import app
from bridge.base import SIGNING_KEY, Base
from bridge.host import SystemClock
from bridge.stores.errors import open_store
from bridge.stores.pair import rebuild, same_quads
from bridge.stores.projections import Projection
from certificates.certificate import Verdict
from certificates.events import Applied, Decided, Stale
from certificates.findings import FindingCode
from certificates.items import ItemKind
from certificates.keys import SigningKey
from certificates.proof import verify
from certificates.records import Decision, DecisionKind, Recheck, verify_record
from kernel.access import Principal, Role
from kernel.changes import Assert, Change, End, Retract, Revise
from kernel.deciding import DecisionRequest
from kernel.errors import (
    AlreadyDecided,
    BaseInUse,
    CallerError,
    ClockAhead,
    Conflict,
    DamagedBase,
    Forbidden,
    IdempotencyMismatch,
    InvalidParameter,
    LedgerUnavailable,
    NotFound,
    NothingToEnd,
    PlanError,
    ShuttingDown,
    StoreUnavailable,
)
from kernel.instants import DAY, SECOND, Instant, print_instant
from kernel.intervals import Interval
from kernel.ports import CertificateState, HostClock
from kernel.rule_table import Proposal
from kernel.submitting import Outcome
from kernel.terms import RDF, Iri, Literal, Statement
from kernel.timevalues import exact
from kernel.vocabulary import DEFAULT_GRAPH, SHAPES_GRAPH
from tests.bridge.audit import Books, audit, read_books
from tests.bridge.writing import (
    ADMINISTRATOR,
    ANN,
    DOUBTED,
    EDITOR,
    LIVES_IN,
    NOON,
    OSLO,
    PARIS,
    PATIENCE,
    ROME,
    WRITER,
    SetClock,
    WatchedLedger,
    WatchedStores,
    decide,
    during,
    homes,
    living,
    load,
    one_home,
    person,
    stage,
    submission,
    write,
    year,
)

HOUR = 3_600 * SECOND
ELSEWHERE = Iri("http://example.org/elsewhere")
SH = "http://www.w3.org/ns/shacl#"


@pytest.fixture(autouse=True)
def _watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every base here is opened with ports that can be watched; a pause after a failure is short."""
    monkeypatch.setattr("bridge.base.SqliteLedger", WatchedLedger)
    monkeypatch.setattr("bridge.base.OxigraphStores", WatchedStores)
    monkeypatch.setattr("kernel.sequencer.LONGEST_WAIT", 0.01)


class Busy:
    """Holds the sequencer up in the commit of a first write, so that what is submitted meanwhile forms one group."""

    def __init__(self, base: Base) -> None:
        self._ledger = WatchedLedger.of(base)
        self._held, self._go = Event(), Event()
        self._ledger.before_commit.append(self._hold)
        self.first = base.submit(submission(Assert(living(OSLO, person(0)))))
        assert self._held.wait(PATIENCE)
        self.commits = self._ledger.commits

    def _hold(self) -> None:
        self._held.set()
        assert self._go.wait(PATIENCE)

    def go_on(self) -> None:
        """Lets the first write, and then the group, have their way."""
        self._go.set()
        self.first.result(PATIENCE)


def settled(base: Base) -> None:
    """Waits until the sequencer has looked at its clock, after whatever it does now."""
    for _ in range(2):
        write(base, Assert(living(OSLO, person(0))), dry_run=True)


def until(base: Base, holds: Callable[[], bool]) -> None:
    """Waits until something holds that the sequencer is to bring about."""
    deadline = monotonic() + PATIENCE
    while not holds():
        assert monotonic() < deadline
        settled(base)


def unavailable() -> None:
    raise LedgerUnavailable("the ledger has no room left on its disk", remedy="make room")


def texts_of(books: Books, certificate: UUID | None) -> list[dict[str, str]]:
    """What the plan items of a certificate say."""
    assert certificate is not None
    return [json.loads(item.body) for item in books.items[certificate, ItemKind.PLAN]]


class WritingCase(ABC):
    """What holds wherever a base lies."""

    @pytest.fixture
    def opening(self, tmp_path: Path) -> Iterator[Callable[..., Base]]:
        with ExitStack() as opened:
            yield lambda **how: opened.enter_context(self.open(tmp_path, **how))

    @pytest.fixture
    def clock(self) -> SetClock:
        return SetClock()

    @pytest.fixture
    def base(self, opening: Callable[..., Base], clock: SetClock) -> Base:
        return opening(host=clock)

    @abstractmethod
    def open(self, folder: Path, *, host: HostClock) -> Base:
        """A new base."""

    # --- OnlyCertifiedWrites, CertificateFirst ------------------------------------------------------------------------

    def test_only_certified_writes_a_clear_plan_is_applied_at_once(self, base: Base) -> None:
        outcome = write(base, Assert(living(PARIS)))
        assert (outcome.verdict, outcome.state, outcome.findings) == (Verdict.CLEAR, CertificateState.APPLIED, ())
        assert homes(base) == {PARIS}
        books = audit(base)
        assert outcome.certificate is not None
        record = books.certificates[outcome.certificate]
        assert verify(record.document, base.key.public).verdict is Verdict.CLEAR
        assert (record.head, record.principal, record.graphs) == (outcome.head, "writer", (DEFAULT_GRAPH,))
        assert {fact.certificate for fact in books.facts} == {outcome.certificate}

    def test_only_certified_writes_what_waits_or_is_refused_changes_no_graph(self, base: Base) -> None:
        write(base, *a_shape(), by=ADMINISTRATOR)
        before = read_books(WatchedLedger.of(base))
        waiting = write(base, Assert(living(PARIS), confidence=DOUBTED))
        refused = write(base, Assert(living(Literal("a literal"))))
        assert (waiting.verdict, waiting.state, waiting.head) == (Verdict.REVIEW, CertificateState.PENDING, None)
        assert (refused.verdict, refused.state, refused.head) == (Verdict.REFUSED, CertificateState.REFUSED, None)
        books = audit(base)
        assert (books.facts, books.head) == (before.facts, before.head)
        assert len(books.certificates) == len(before.certificates) + 2

    def test_only_certified_writes_what_cannot_be_planned_leaves_no_trace(self, base: Base) -> None:
        write(base, Assert(living(PARIS)))
        before = read_books(WatchedLedger.of(base))
        with pytest.raises(NothingToEnd) as caught:
            write(base, Assert(living(OSLO)), End(living(ROME)), key="k")
        assert caught.value.where == "/changes/1"
        with pytest.raises(Forbidden):
            write(base, *one_home())
        assert read_books(WatchedLedger.of(base)) == before

    def test_only_certified_writes_a_dry_run_judges_and_leaves_no_trace(self, base: Base) -> None:
        write(base, *one_home(), by=ADMINISTRATOR)
        write(base, Assert(living(PARIS), during(2024, None)))
        before = read_books(WatchedLedger.of(base))
        outcome = write(base, Assert(living(ROME), during(2019, None)), key="k", dry_run=True)
        assert (outcome.certificate, outcome.state, outcome.verdict) == (None, None, Verdict.REVIEW)
        assert [finding.code for finding in outcome.findings] == [FindingCode.SINGLE_VALUED_BY_SUBJECT]
        assert read_books(WatchedLedger.of(base)) == before
        audit(base)

    def test_certificate_first_no_store_is_touched_before_the_certificate_is_durable(self, base: Base) -> None:
        seen: list[tuple[bool, set[Iri]]] = []

        def look() -> None:
            seen.append((read_books(WatchedLedger.of(base)).facts == [], homes(base)))

        WatchedLedger.of(base).before_commit.append(look)
        write(base, Assert(living(PARIS)))
        assert seen == [(True, set())]
        assert homes(base) == {PARIS}

    def test_a_certificate_that_only_adds_evidence_names_the_graph_that_it_is_about(self, base: Base) -> None:
        write(base, Assert(living(PARIS)))
        outcome = write(base, Assert(living(PARIS)))
        books = audit(base)
        assert outcome.certificate is not None
        assert books.certificates[outcome.certificate].graphs == (DEFAULT_GRAPH,)
        assert (len(books.facts), len(books.evidence)) == (1, 1)

    # --- BoundToState -------------------------------------------------------------------------------------------------

    def test_bound_to_state_an_unchanged_plan_is_applied_with_a_signed_recheck(
        self, base: Base, clock: SetClock
    ) -> None:
        waiting = write(base, Assert(living(PARIS), confidence=DOUBTED))
        elsewhere = write(base, Assert(living(ROME, person(1))))
        clock.move(DAY)
        outcome = decide(base, waiting.certificate, comment="seen in the parish register")
        assert (outcome.state, outcome.successor, outcome.why) == (CertificateState.APPLIED, None, None)
        assert outcome.findings == waiting.findings
        assert homes(base) == {PARIS}
        books = audit(base)
        assert waiting.certificate is not None
        decision, recheck = (
            verify_record(document, base.key.public) for document in books.decisions[waiting.certificate]
        )
        assert isinstance(decision, Decision)
        assert (decision.editor, decision.decision) == (EDITOR.id, DecisionKind.APPROVE)
        assert isinstance(recheck, Recheck)
        assert recheck.at_head == elsewhere.head
        assert recheck.rechecked_at == print_instant(Instant(NOON + DAY))
        applied = books.of(waiting.certificate)[-1]
        assert isinstance(applied, Applied)
        assert applied.recheck is not None
        comment = books.items[waiting.certificate, ItemKind.COMMENT]
        assert [item.leaf.hex() for item in comment] == [decision.comment]
        assert b"parish register" in comment[0].body

    def test_bound_to_state_a_changed_plan_is_stale_and_its_successor_names_it(self, base: Base) -> None:
        waiting = write(base, Assert(living(PARIS), during(2000, 2010), confidence=DOUBTED))
        write(base, Assert(living(PARIS), during(2005, 2020)))
        outcome = decide(base, waiting.certificate)
        assert (outcome.state, outcome.head) == (CertificateState.STALE, None)
        books = audit(base)
        assert outcome.successor is not None
        successor = books.certificates[outcome.successor]
        assert verify(successor.document, base.key.public).predecessor == waiting.certificate
        assert (successor.state, successor.principal) == (CertificateState.PENDING, WRITER.id)
        assert homes(base, valid_at="2003") == set()
        assert decide(base, outcome.successor).state is CertificateState.APPLIED
        assert homes(base, valid_at="2003") == {PARIS}
        assert [(fact.interval.start, fact.interval.end) for fact in audit(base).facts] == [
            (year(2005), year(2020)),
            (year(2000), year(2005)),
        ]

    def test_bound_to_state_other_findings_make_it_stale_too(self, base: Base) -> None:
        waiting = write(base, Assert(living(PARIS), during(2019, 2021), confidence=DOUBTED))
        write(base, *one_home("Ask"), by=ADMINISTRATOR)
        write(base, Assert(living(ROME), during(2020, None)))
        outcome = decide(base, waiting.certificate)
        assert outcome.state is CertificateState.STALE
        assert outcome.successor is not None
        with base.ledger.reading() as view:
            items = view.items(outcome.successor, ItemKind.FINDING)
        assert {json.loads(item.body)["code"] for item in items} == {"single-valued-by-subject", "low-confidence"}
        audit(base)

    def test_bound_to_state_a_successor_that_is_clear_is_applied_at_once(self, base: Base) -> None:
        waiting = write(base, Assert(living(PARIS), during(2000, 2010), confidence=DOUBTED))
        write(base, Assert(living(PARIS), during(1990, 2020)))
        outcome = decide(base, waiting.certificate)
        books = audit(base)
        assert outcome.successor is not None
        assert books.certificates[outcome.successor].state is CertificateState.APPLIED
        assert (len(books.facts), len(books.evidence)) == (1, 1)

    def test_bound_to_state_what_cannot_be_planned_any_more_is_stale_and_says_why(self, base: Base) -> None:
        write(base, Assert(living(ROME)))
        waiting = write(base, Assert(living(PARIS), confidence=DOUBTED), Retract(living(ROME)))
        write(base, Retract(living(ROME)))
        outcome = decide(base, waiting.certificate)
        assert (outcome.state, outcome.successor) == (CertificateState.STALE, None)
        assert outcome.why is not None
        assert "nothing of this is believed" in outcome.why
        books = audit(base)
        assert waiting.certificate is not None
        assert [type(event) for event in books.of(waiting.certificate)[1:]] == [Decided, Stale]
        assert homes(base) == set()

    def test_bound_to_state_a_rejected_plan_is_never_applied(self, base: Base) -> None:
        waiting = write(base, Assert(living(PARIS), confidence=DOUBTED))
        outcome = decide(base, waiting.certificate, DecisionKind.REJECT)
        assert outcome.state is CertificateState.REJECTED
        assert homes(base) == set()
        audit(base)

    @pytest.mark.parametrize("first", DecisionKind)
    @pytest.mark.parametrize("second", DecisionKind)
    def test_bound_to_state_a_certificate_is_decided_once(
        self, base: Base, first: DecisionKind, second: DecisionKind
    ) -> None:
        waiting = write(base, Assert(living(PARIS), confidence=DOUBTED))
        decided = decide(base, waiting.certificate, first)
        assert decided.state is not None
        before = audit(base)
        with pytest.raises(AlreadyDecided, match=decided.state.value) as caught:
            decide(base, waiting.certificate, second)
        assert caught.value.code == "not-in-review"
        assert audit(base) == before

    def test_only_an_editor_of_every_graph_decides(self, base: Base) -> None:
        waiting = write(base, Assert(living(PARIS), confidence=DOUBTED))
        before = audit(base)
        with pytest.raises(NotFound):
            decide(base, UUID(int=7))
        with pytest.raises(NotFound):
            decide(base, waiting.certificate, by=Principal("stranger", Role.EDITOR, frozenset({ELSEWHERE})))
        with pytest.raises(Forbidden):
            decide(base, waiting.certificate, by=WRITER)
        assert audit(base) == before

    # --- rules and shapes ---------------------------------------------------------------------------------------------

    def test_what_a_rule_proposes_is_applied_once_an_editor_approves(self, base: Base) -> None:
        """Case 39: Paris since 2024, then it turns out that it was Rome from 2019 on."""
        write(base, *one_home(), by=ADMINISTRATOR)
        write(base, Assert(living(PARIS), during(2024, None)))
        waiting = write(base, Assert(living(ROME), during(2019, None)))
        assert waiting.state is CertificateState.PENDING
        (finding,) = waiting.findings
        assert (finding.code, finding.start) == (FindingCode.SINGLE_VALUED_BY_SUBJECT, "2024-01-01T00:00:00Z")
        assert decide(base, waiting.certificate).state is CertificateState.APPLIED
        assert homes(base, valid_at="2025") == {PARIS}
        assert homes(base, valid_at="2020") == {ROME}
        assert homes(base, valid_at="2018") == set()
        audit(base)

    def test_a_rule_governs_the_very_next_write_of_the_same_group(self, base: Base) -> None:
        busy = Busy(base)
        base.submit(submission(*one_home(), by=ADMINISTRATOR))
        paris = base.submit(submission(Assert(living(PARIS))))
        rome = base.submit(submission(Assert(living(ROME))))
        busy.go_on()
        assert paris.result(PATIENCE).verdict is Verdict.CLEAR
        assert rome.result(PATIENCE).verdict is Verdict.REVIEW
        audit(base)

    def test_a_rule_of_a_group_that_was_discarded_does_not_govern(self, base: Base) -> None:
        busy = Busy(base)
        ledger = WatchedLedger.of(base)
        ledger.before_commit.extend([unavailable, unavailable])
        rule = base.submit(submission(*one_home(), by=ADMINISTRATOR))
        governed = base.submit(submission(Assert(living(OSLO), confidence=DOUBTED)))
        busy.go_on()
        for future in (rule, governed):
            assert isinstance(future.exception(PATIENCE), LedgerUnavailable)
        write(base, Assert(living(PARIS)))
        assert write(base, Assert(living(ROME))).verdict is Verdict.CLEAR
        audit(base)

    def test_old_violations_do_not_block_what_is_unrelated(self, base: Base) -> None:
        """Case 48: the shape came after the data."""
        write(base, Assert(living(Literal("somewhere"))))
        write(base, *a_shape(), by=ADMINISTRATOR)
        unrelated = write(base, Assert(Statement(ANN, Iri("http://example.org/name"), Literal("Ann"), DEFAULT_GRAPH)))
        assert unrelated.verdict is Verdict.CLEAR
        refused = write(base, Assert(living(Literal("elsewhere"))))
        assert (refused.verdict, refused.state) == (Verdict.REFUSED, CertificateState.REFUSED)
        (finding,) = refused.findings
        assert (finding.code, finding.focus, finding.value) == (
            FindingCode.SHAPE_VIOLATION,
            ANN.n3,
            Literal("elsewhere").n3,
        )
        audit(base)

    # --- OneSequencer, AllOrNothing -----------------------------------------------------------------------------------

    def test_one_sequencer_writes_that_wait_share_a_commit(self, base: Base) -> None:
        busy = Busy(base)
        waiting = [base.submit(submission(Assert(living(PARIS, person(number))))) for number in range(1, 41)]
        busy.go_on()
        heads = [future.result(PATIENCE).head for future in waiting]
        assert WatchedLedger.of(base).commits == busy.commits + 2
        assert len(set(heads)) == 40
        books = audit(base)
        assert len({fact.recorded_at for fact in books.facts}) == 41

    def test_one_sequencer_members_of_a_group_see_those_before(self, base: Base) -> None:
        busy = Busy(base)
        asserted = base.submit(submission(Assert(living(PARIS), during(2000, 2010))))
        more = base.submit(submission(Assert(living(PARIS), during(2005, 2020))))
        ended = base.submit(submission(End(living(PARIS), exact(year(2015)))))
        nothing = base.submit(submission(Retract(living(ROME))))
        gone = base.submit(submission(Retract(living(PARIS))))
        again = base.submit(submission(Retract(living(PARIS))))
        busy.go_on()
        for future in (asserted, more, ended, gone):
            assert future.result(PATIENCE).state is CertificateState.APPLIED
        for future in (nothing, again):
            assert isinstance(future.exception(PATIENCE), PlanError)
        assert WatchedLedger.of(base).commits == busy.commits + 2
        books = audit(base)
        assert len(books.facts) == 4
        assert homes(base, valid_at="2001", as_of=f"head:{ended.result().head}") == {PARIS}

    def test_one_sequencer_after_a_failed_commit_everything_is_planned_again(self, base: Base) -> None:
        busy = Busy(base)
        WatchedLedger.of(base).before_commit.append(unavailable)
        futures = [
            base.submit(submission(Assert(living(PARIS, person(number))), key=f"k{number}")) for number in range(9)
        ]
        busy.go_on()
        outcomes = [future.result(PATIENCE) for future in futures]
        assert {outcome.state for outcome in outcomes} == {CertificateState.APPLIED}
        books = audit(base)
        assert len(books.certificates) == 10
        assert {outcome.certificate for outcome in outcomes} == set(books.idempotency.values())

    def test_one_sequencer_when_commits_keep_failing_everybody_is_told_and_nothing_is_kept(self, base: Base) -> None:
        busy = Busy(base)
        WatchedLedger.of(base).before_commit.extend([unavailable, unavailable])
        futures = [
            base.submit(submission(Assert(living(PARIS, person(number))), key=f"k{number}")) for number in range(9)
        ]
        busy.go_on()
        for future in futures:
            assert isinstance(future.exception(PATIENCE), LedgerUnavailable)
        assert len(audit(base).certificates) == 1
        for number in range(9):
            assert (
                write(base, Assert(living(PARIS, person(number))), key=f"k{number}").state is CertificateState.APPLIED
            )
        audit(base)

    @pytest.mark.parametrize("error", [RuntimeError("a defect"), Conflict("a late error", remedy="none")])
    def test_one_sequencer_a_job_that_fails_after_it_wrote_fails_alone(self, base: Base, error: Exception) -> None:
        def fail(key: str) -> None:
            if key == "bad":
                raise error

        WatchedLedger.of(base).on_remember = fail
        busy = Busy(base)
        keys = ["k1", "bad", "k2"]
        futures = [base.submit(submission(Assert(living(PARIS, person(n))), key=key)) for n, key in enumerate(keys)]
        busy.go_on()
        assert futures[1].exception(PATIENCE) is error
        assert {futures[n].result(PATIENCE).state for n in (0, 2)} == {CertificateState.APPLIED}
        books = audit(base)
        assert {key for _, key in books.idempotency} == {"k1", "k2"}
        assert len(books.certificates) == 3

    def test_one_sequencer_a_load_runs_beside_writes(self, base: Base) -> None:
        chunks = [[Assert(living(PARIS, person(number))) for number in range(start, start + 20)] for start in (0, 20)]
        staged = stage(base, "session", *chunks)
        busy = Busy(base)
        before = [base.submit(submission(Assert(living(ROME, person(number))))) for number in range(3)]
        loading = base.load(staged)
        after = [base.submit(submission(Assert(living(PARIS, person(number))))) for number in range(3)]
        busy.go_on()
        outcome = loading.result(PATIENCE)
        assert outcome.state is CertificateState.APPLIED
        heads = [future.result(PATIENCE).head for future in (*before, loading, *after)]
        assert heads == sorted(heads, key=lambda head: head or 0)
        books = audit(base)
        assert sum(fact.certificate == outcome.certificate for fact in books.facts) == 40
        assert len(books.evidence) == 3
        assert base.ledger.staged_sessions() == []

    def test_all_or_nothing_a_load_with_a_line_that_cannot_be_planned_leaves_nothing(self, base: Base) -> None:
        before = audit(base)
        with pytest.raises(Forbidden):
            load(base, "session", [Assert(living(PARIS, graph=ELSEWHERE))], [Assert(living(ROME, graph=SHAPES_GRAPH))])
        assert audit(base) == before

    def test_what_a_load_brings_to_govern_governs_from_then_on(self, base: Base) -> None:
        write(base, Assert(living(PARIS)))
        assert load(base, "rules", one_home("Ask"), by=ADMINISTRATOR).state is CertificateState.APPLIED
        assert write(base, Assert(living(ROME))).verdict is Verdict.REVIEW
        audit(base)

    def test_what_a_load_that_waits_would_bring_does_not_govern(self, base: Base) -> None:
        write(base, Assert(living(PARIS)))
        doubted = Assert(living(OSLO, person(1)), confidence=DOUBTED)
        assert load(base, "rules", one_home("Ask"), [doubted], by=ADMINISTRATOR).state is CertificateState.PENDING
        assert write(base, Assert(living(ROME))).verdict is Verdict.CLEAR
        audit(base)

    def test_what_a_load_that_waits_would_bring_does_not_govern_even_if_it_is_the_first_of_all(
        self, base: Base
    ) -> None:
        doubted = Assert(living(OSLO, person(1)), confidence=DOUBTED)
        waiting = load(base, "shapes", a_shape(), [doubted], by=ADMINISTRATOR)
        assert waiting.state is CertificateState.PENDING
        books = audit(base)
        assert waiting.certificate is not None
        unknown = verify(books.certificates[waiting.certificate].document, base.key.public).digests
        clear = write(base, Assert(living(Literal("somewhere"))))
        assert clear.certificate is not None
        assert clear.verdict is Verdict.CLEAR
        assert verify(audit(base).certificates[clear.certificate].document, base.key.public).digests == unknown
        assert decide(base, waiting.certificate, by=ADMINISTRATOR).state is CertificateState.APPLIED
        assert write(base, Assert(living(Literal("elsewhere")))).verdict is Verdict.REFUSED
        audit(base)

    def test_a_load_in_review_is_applied_when_approved_and_lapses_when_the_base_has_changed(self, base: Base) -> None:
        doubted = [Assert(living(PARIS, person(number)), confidence=DOUBTED) for number in range(5)]
        first = load(base, "first", doubted[:2], doubted[2:4])
        second = load(base, "second", doubted[2:4], doubted[4:])
        third = load(base, "third", doubted[4:])
        assert {each.state for each in (first, second, third)} == {CertificateState.PENDING}
        assert decide(base, first.certificate).state is CertificateState.APPLIED
        lapsed = decide(base, second.certificate)
        assert (lapsed.state, lapsed.successor) == (CertificateState.STALE, None)
        assert lapsed.why is not None
        assert decide(base, third.certificate, DecisionKind.REJECT).state is CertificateState.REJECTED
        assert len(audit(base).facts) == 4
        assert base.ledger.staged_sessions() == []

    def test_nothing_that_was_queued_is_lost_on_closing(self, base: Base) -> None:
        busy = Busy(base)
        futures = [base.submit(submission(Assert(living(PARIS, person(number))))) for number in range(5)]
        closing = Thread(target=base.close)
        closing.start()
        busy.go_on()
        closing.join(PATIENCE)
        assert {future.result(0).state for future in futures} == {CertificateState.APPLIED}
        with pytest.raises(ShuttingDown):
            base.submit(submission(Assert(living(PARIS))))

    # --- HistoryAppendOnly --------------------------------------------------------------------------------------------

    def test_history_append_only_nothing_that_was_recorded_changes_but_for_its_supersession(self, base: Base) -> None:
        steps: list[tuple[Change, ...]] = [
            (Assert(living(PARIS), during(2000, 2010)),),
            (Assert(living(PARIS), during(2005, 2015)), Assert(living(ROME))),
            (End(living(ROME), exact(year(2020))),),
            (Retract(living(PARIS), during(2004, 2006).interval),),
            (Retract(living(PARIS)),),
        ]
        history: set[tuple[UUID, Statement, Interval, Instant, bytes]] = set()
        for step in steps:
            write(base, *step)
            books = audit(base)
            now = {(fact.id, fact.statement, fact.interval, fact.recorded_at, fact.leaf) for fact in books.facts}
            assert history <= now
            history = now

    # --- ClockMonotonic -----------------------------------------------------------------------------------------------

    def test_clock_monotonic_when_the_hosts_clock_steps_back(self, base: Base, clock: SetClock) -> None:
        """Case 31."""
        write(base, Assert(living(PARIS)))
        clock.move(-HOUR)
        write(base, Assert(living(ROME)))
        clock.move(-HOUR)
        write(base, End(living(PARIS)))
        instants = [fact.recorded_at for fact in audit(base).facts]
        assert instants == [NOON, NOON + 1, NOON + 2]
        assert homes(base) == {ROME}

    def test_clock_monotonic_when_the_hosts_clock_stands_still(self, base: Base) -> None:
        busy = Busy(base)
        futures = [base.submit(submission(Assert(living(PARIS, person(number))))) for number in range(1, 4)]
        busy.go_on()
        assert all(future.result(PATIENCE) for future in futures)
        assert [fact.recorded_at for fact in audit(base).facts] == [NOON, NOON + 1, NOON + 2, NOON + 3]

    # --- the clock ----------------------------------------------------------------------------------------------------

    def test_facts_begin_and_end_by_themselves_as_the_clock_goes(self, base: Base, clock: SetClock) -> None:
        """Cases 41 and 47: a boundary passes, and nothing was written."""
        write(base, Assert(living(PARIS), during(None, NOON + HOUR)))
        write(base, Assert(living(ROME), during(NOON + HOUR, NOON + 2 * HOUR)))
        head = read_books(WatchedLedger.of(base)).head
        expected = {0: {PARIS}, HOUR - 1: {PARIS}, HOUR: {ROME}, 2 * HOUR - 1: {ROME}, 2 * HOUR: set()}
        for passed, there in expected.items():
            clock.at = Instant(NOON + passed)
            settled(base)
            assert homes(base) == there
            books = audit(base)
            assert (books.head.position, books.head.instant) == (head.position, head.instant)

    def test_facts_begin_and_end_by_themselves_by_the_systems_clock(self, opening: Callable[..., Base]) -> None:
        base = opening(host=SystemClock())
        soon = Instant(SystemClock().now() + SECOND // 4)
        write(base, Assert(living(PARIS), during(None, soon)), Assert(living(ROME), during(soon, None)))
        assert homes(base) == {PARIS} or SystemClock().now() >= soon
        WatchedStores.of(base).wait_for(lambda: homes(base) == {ROME})
        assert read_books(WatchedLedger.of(base)).head.clock >= soon
        audit(base)

    def test_as_of_alone_answers_what_would_have_been_answered_then(self, base: Base, clock: SetClock) -> None:
        """Case 45: the end was known already, and has passed since."""
        then = write(base, Assert(living(PARIS), during(None, NOON + HOUR))).head
        clock.move(2 * HOUR)
        write(base, Assert(living(ROME)))
        assert homes(base) == {ROME}
        assert homes(base, as_of=f"head:{then}") == {PARIS}
        assert homes(base, as_of=print_instant(Instant(NOON + HOUR - 1))) == {PARIS}
        assert homes(base, as_of=print_instant(Instant(NOON + HOUR))) == set()
        with pytest.raises(InvalidParameter):
            homes(base, as_of="2024")

    def test_a_write_brings_along_what_fell_due_before_it(self, base: Base, clock: SetClock) -> None:
        write(base, Assert(living(PARIS), during(None, NOON + HOUR)))
        clock.move(2 * HOUR)
        write(base, Assert(living(OSLO, person(1))))
        assert homes(base) == set()
        audit(base)

    @pytest.mark.parametrize("error", [LedgerUnavailable("no room", remedy="make room"), RuntimeError("a defect")])
    def test_a_clock_that_cannot_be_advanced_is_tried_again(
        self, base: Base, clock: SetClock, error: Exception
    ) -> None:
        write(base, Assert(living(PARIS), during(None, NOON + HOUR)))
        ledger = WatchedLedger.of(base)
        failed = Event()

        def fail() -> None:
            failed.set()
            raise error

        ledger.before_commit.append(fail)
        clock.move(HOUR)
        assert failed.wait(PATIENCE)
        until(base, lambda: homes(base) == set())
        audit(base)

    # --- Idempotent ---------------------------------------------------------------------------------------------------

    def test_idempotent_the_same_key_gives_the_same_certificate_once_applied(self, base: Base) -> None:
        """Case 35."""
        first = write(base, Assert(living(PARIS)), key="k")
        assert write(base, Assert(living(PARIS)), key="k") == first
        with pytest.raises(IdempotencyMismatch):
            write(base, Assert(living(ROME)), key="k")
        other = write(base, Assert(living(PARIS)), key="k", by=EDITOR)
        assert other.certificate != first.certificate
        assert len(audit(base).certificates) == 2

    def test_idempotent_also_when_sent_at_once(self, base: Base) -> None:
        busy = Busy(base)
        futures = [base.submit(submission(Assert(living(PARIS)), key="k")) for _ in range(8)]
        other = base.submit(submission(Assert(living(ROME)), key="k"))
        busy.go_on()
        assert len({future.result(PATIENCE).certificate for future in futures}) == 1
        assert isinstance(other.exception(PATIENCE), IdempotencyMismatch)
        assert len(audit(base).certificates) == 2

    def test_idempotent_what_could_not_be_planned_may_be_tried_again(self, base: Base) -> None:
        with pytest.raises(NothingToEnd):
            write(base, End(living(PARIS)), key="k")
        write(base, Assert(living(PARIS)))
        assert write(base, End(living(PARIS), exact(year(2020))), key="k").state is CertificateState.APPLIED

    def test_idempotent_what_was_in_review_is_answered_as_it_is_now(self, base: Base) -> None:
        waiting = write(base, Assert(living(PARIS), confidence=DOUBTED), key="k")
        decided = decide(base, waiting.certificate)
        again = write(base, Assert(living(PARIS), confidence=DOUBTED), key="k")
        assert again == decided
        assert again.certificate == waiting.certificate

    def test_idempotent_a_load_session_too(self, base: Base) -> None:
        first = load(base, "session", [Assert(living(PARIS))])
        assert load(base, "session", [Assert(living(PARIS))]) == first
        assert len(audit(base).certificates) == 1

    # --- stores that fail ---------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("error", [StoreUnavailable("no room", remedy="make room"), RuntimeError("a defect")])
    def test_stores_that_fail_are_behind_and_are_brought_up_later(self, base: Base, error: Exception) -> None:
        stores = WatchedStores.of(base)
        stores.failures.extend([error, error])
        first = write(base, Assert(living(PARIS)))
        assert first.state is CertificateState.APPLIED
        write(base, Assert(living(ROME, person(1))))
        until(base, lambda: not stores.failures and not base.behind)
        assert homes(base) == {PARIS}
        audit(base)

    def test_stores_that_fail_for_long_are_behind_until_they_do_not(
        self, base: Base, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(base, Assert(living(PARIS)))
        stores = WatchedStores.of(base)
        monkeypatch.setattr("kernel.sequencer.LONGEST_WAIT", 3_600.0)
        stores.failures.append(StoreUnavailable("no room", remedy="make room"))
        write(base, End(living(PARIS), exact(year(2020))))
        assert base.behind
        write(base, Assert(living(ROME)))
        assert base.behind
        assert homes(base) == {PARIS}

    def test_a_load_whose_stores_fail_is_applied_all_the_same(self, base: Base) -> None:
        stores = WatchedStores.of(base)
        stores.failures.append(StoreUnavailable("no room", remedy="make room"))
        assert load(base, "session", [Assert(living(PARIS))]).state is CertificateState.APPLIED
        until(base, lambda: not base.behind)
        audit(base)


def a_shape() -> list[Assert]:
    """Whoever lives anywhere lives in something with an IRI."""
    shape, prop = Iri("http://example.org/shape"), Iri("http://example.org/shape/home")
    said = (
        (shape, RDF + "type", Iri(SH + "NodeShape")),
        (shape, SH + "targetSubjectsOf", LIVES_IN),
        (shape, SH + "property", prop),
        (prop, SH + "path", LIVES_IN),
        (prop, SH + "nodeKind", Iri(SH + "IRI")),
    )
    return [Assert(Statement(subject, Iri(name), value, SHAPES_GRAPH)) for subject, name, value in said]


class TestInMemory(WritingCase):
    """In memory."""

    def open(self, folder: Path, *, host: HostClock) -> Base:
        return Base.open(None, host=host)


class TestOnDisk(WritingCase):
    """On disk, where a base can also be closed and opened again."""

    def open(self, folder: Path, *, host: HostClock) -> Base:
        return Base.open(folder / "base", host=host)

    def test_everything_is_there_after_reopening(self, tmp_path: Path, clock: SetClock) -> None:
        with self.open(tmp_path, host=clock) as base:
            write(base, Assert(living(PARIS)), key="k")
            write(base, Assert(living(ROME), confidence=DOUBTED))
            before = audit(base)
        with self.open(tmp_path, host=clock) as base:
            assert audit(base) == before
            assert homes(base) == {PARIS}

    def test_idempotent_after_reopening(self, tmp_path: Path, clock: SetClock) -> None:
        with self.open(tmp_path, host=clock) as base:
            first = write(base, Assert(living(PARIS)), key="k")
        with self.open(tmp_path, host=clock) as base:
            assert write(base, Assert(living(PARIS)), key="k") == first
            with pytest.raises(IdempotencyMismatch):
                write(base, Assert(living(ROME)), key="k")
            assert len(audit(base).certificates) == 1

    def test_bound_to_state_a_certificate_is_decided_after_reopening(self, tmp_path: Path, clock: SetClock) -> None:
        with self.open(tmp_path, host=clock) as base:
            waiting = write(base, Assert(living(PARIS), confidence=DOUBTED))
        with self.open(tmp_path, host=clock) as base:
            assert decide(base, waiting.certificate).state is CertificateState.APPLIED
            audit(base)

    def test_what_fell_due_while_the_base_was_closed_has_moved_once_it_is_opened(
        self, tmp_path: Path, clock: SetClock
    ) -> None:
        with self.open(tmp_path, host=clock) as base:
            write(base, Assert(living(PARIS), during(None, NOON + HOUR)))
            write(base, Assert(living(ROME), during(NOON + HOUR, NOON + 2 * HOUR)))
        for there in ({ROME}, set()):
            clock.move(HOUR)
            with self.open(tmp_path, host=clock) as base:
                assert homes(base) == there
                assert audit(base).head.clock == clock.at

    def test_clock_monotonic_a_base_ahead_of_the_host_does_not_start_unless_that_is_accepted(
        self, tmp_path: Path, clock: SetClock
    ) -> None:
        with self.open(tmp_path, host=clock) as base:
            write(base, Assert(living(PARIS)))
        clock.move(-5 * SECOND)
        with self.open(tmp_path, host=clock) as base:
            write(base, Assert(living(ROME)))
        clock.move(-5 * SECOND)
        with pytest.raises(ClockAhead, match="10 s ahead"):
            self.open(tmp_path, host=clock)
        with Base.open(tmp_path / "base", host=clock, accept_clock=True) as base:
            write(base, Assert(living(OSLO)))
            instants = [fact.recorded_at for fact in audit(base).facts]
        assert instants == [NOON, NOON + 1, NOON + 2]

    def test_clock_monotonic_a_clock_ahead_of_the_host_counts_also_when_nothing_was_written(
        self, tmp_path: Path, clock: SetClock
    ) -> None:
        clock.move(DAY)
        self.open(tmp_path, host=clock).close()
        clock.move(-DAY)
        with pytest.raises(ClockAhead):
            self.open(tmp_path, host=clock)

    def test_both_stores_equal_a_fresh_rebuild(self, tmp_path: Path, clock: SetClock) -> None:
        with self.open(tmp_path, host=clock) as base:
            write(base, Assert(living(PARIS), during(2000, 2010)), *map(Assert, map(living, (ROME, OSLO))))
            write(base, End(living(ROME), exact(year(2020))), Assert(living(PARIS), during(2005, 2015)))
            write(base, *one_home(), by=ADMINISTRATOR)
            with base.ledger.reading() as view:
                rebuild(view, tmp_path / "anew")
            for projection in Projection:
                assert base.stores.read(projection, partial(same_quads, open_store(tmp_path / "anew" / projection)))[0]

    def test_stores_that_were_behind_on_closing_are_brought_up_on_opening(
        self, tmp_path: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("kernel.sequencer.LONGEST_WAIT", 3_600.0)
        with self.open(tmp_path, host=clock) as base:
            write(base, Assert(living(PARIS)))
            WatchedStores.of(base).failures.append(StoreUnavailable("no room", remedy="make room"))
            write(base, End(living(PARIS), exact(year(2020))), Assert(living(ROME)))
            assert base.behind
        with self.open(tmp_path, host=clock) as base:
            assert not base.behind
            assert homes(base) == {ROME}
            audit(base)

    def test_stores_that_are_gone_are_made_anew(self, tmp_path: Path, clock: SetClock) -> None:
        with self.open(tmp_path, host=clock) as base:
            write(base, Assert(living(PARIS)))
        shutil.rmtree(tmp_path / "base" / "stores")
        with self.open(tmp_path, host=clock) as base:
            assert homes(base) == {PARIS}
            audit(base)

    def test_two_do_not_hold_a_base_at_once(self, tmp_path: Path, clock: SetClock) -> None:
        with self.open(tmp_path, host=clock), pytest.raises(BaseInUse):
            self.open(tmp_path, host=clock)
        self.open(tmp_path, host=clock).close()

    def test_a_folder_that_cannot_be_made_is_told(self, tmp_path: Path, clock: SetClock) -> None:
        (tmp_path / "base").write_text("a file")
        with pytest.raises(LedgerUnavailable, match="data folder"):
            self.open(tmp_path, host=clock)

    def test_a_signing_key_that_is_gone_or_another_is_not_replaced(self, tmp_path: Path, clock: SetClock) -> None:
        path = tmp_path / "base" / SIGNING_KEY
        with self.open(tmp_path, host=clock) as base:
            key = base.key
        path.rename(tmp_path / "kept")
        with pytest.raises(DamagedBase, match="No such file"):
            self.open(tmp_path, host=clock)
        SigningKey.generate().save(path)
        with pytest.raises(DamagedBase, match=key.public.multibase):
            self.open(tmp_path, host=clock)
        (tmp_path / "kept").replace(path)
        with self.open(tmp_path, host=clock) as base:
            assert base.key == key


# --- what opening can see of a ledger that was tampered with (case 33) ------------------------------------------------

TAMPERED = {
    "last event deleted": (
        "DELETE FROM events WHERE position = (SELECT max(position) FROM events)",
        "its log ends at position 4, before its head, 5",
    ),
    "log truncated": ("DELETE FROM events WHERE position > 1", "its log ends at position 1, before its head, 5"),
    "log emptied": ("DELETE FROM events", "its log is empty"),
    "beginning deleted": ("DELETE FROM events WHERE position = 0", "its log begins at position 1"),
    "gap after the head": (
        "INSERT INTO events SELECT 9, event, leaf FROM events WHERE position = 0",
        "its log has gaps after position 5",
    ),
    "a byte of the event": (
        "UPDATE events SET event = CAST(replace(CAST(event AS TEXT), 'applied', 'appliee') AS BLOB) WHERE position = 5",
        "the event at its head, 5, is not the one that was logged",
    ),
    "another event at the head": (
        "UPDATE events SET (event, leaf) = (SELECT event, leaf FROM events WHERE position = 4) WHERE position = 5",
        "nothing was applied at its head, 5",
    ),
    "an earlier apply at the head": (
        "UPDATE events SET (event, leaf) = (SELECT event, leaf FROM events WHERE position = 3) WHERE position = 5",
        "its head, 5, was applied at",
    ),
    "head set back": (
        "UPDATE state SET position = 3, instant = (SELECT instant FROM certificates WHERE head = 3)",
        "its state digest is not the one that was logged at its head, 3",
    ),
    "head in between": ("UPDATE state SET position = 4", "nothing was applied at its head, 4"),
    "no head": ("UPDATE state SET position = NULL, instant = NULL", "applied at 5, and it has no head"),
    "head beyond the log": ("UPDATE state SET position = 12", "its log ends at position 5, before its head, 12"),
    "another digest": (
        "UPDATE state SET digest = zeroblob(2048)",
        "its state digest is not the one that was logged at its head, 5",
    ),
    "clock set back": ("UPDATE state SET clock = instant - 1", "its clock stands before its head, 5"),
    "a certificate deleted": (
        "DELETE FROM certificates WHERE head = 5",
        "the last certificate applied is",
    ),
    "no state": ("DELETE FROM state", "the ledger has no head"),
}


@pytest.mark.parametrize("tampering", TAMPERED)
def test_a_ledger_that_was_tampered_with_is_not_served(tmp_path: Path, tampering: str) -> None:
    path = tmp_path / "base"
    with Base.open(path, host=SetClock()) as base:
        for home in (PARIS, ROME, OSLO):
            write(base, Assert(living(home)))
    statement, told = TAMPERED[tampering]
    with closing(sqlite3.connect(path / "ledger.sqlite")) as connection, connection:
        assert connection.execute(statement).rowcount
    with pytest.raises(DamagedBase, match=re.escape(told)) as caught:
        Base.open(path, host=SetClock())
    assert "backup" in caught.value.remedy
    rebuilding = CliRunner().invoke(app, ["rebuild", "--data", str(path), "--into", str(tmp_path / "anew")])
    assert rebuilding.exit_code == 1
    assert not (tmp_path / "anew").exists()


@pytest.mark.parametrize("since", ["written to", "opened"])
def test_a_ledger_that_is_older_than_its_stores_is_not_served(tmp_path: Path, since: str) -> None:
    path = tmp_path / "base"
    clock = SetClock()
    with Base.open(path, host=clock) as base:
        write(base, Assert(living(PARIS)))
    shutil.copy(path / "ledger.sqlite", tmp_path / "yesterday")
    clock.move(DAY)
    with Base.open(path, host=clock) as base:
        if since == "written to":
            write(base, Assert(living(ROME)))
    shutil.copy(tmp_path / "yesterday", path / "ledger.sqlite")
    with pytest.raises(DamagedBase, match="ahead of the ledger"):
        Base.open(path, host=clock)


def test_stores_of_another_course_of_the_same_ledger_are_not_served(tmp_path: Path) -> None:
    """The ledger went back to yesterday and was written to elsewhere: it is ahead, and yet knows less."""
    path, elsewhere = tmp_path / "base", tmp_path / "elsewhere"
    clock = SetClock()
    with Base.open(path, host=clock) as base:
        write(base, Assert(living(PARIS)))
    shutil.copytree(path, elsewhere)
    clock.move(HOUR)
    with Base.open(path, host=clock) as base:
        write(base, Assert(living(ROME)))
    clock.move(HOUR)
    with Base.open(elsewhere, host=clock) as base:
        write(base, Assert(living(OSLO)))
    shutil.copy(elsewhere / "ledger.sqlite", path / "ledger.sqlite")
    with pytest.raises(DamagedBase, match="a write that the ledger has not"):
        Base.open(path, host=clock)


# --- whatever is asked ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """Something asked, in years from 2020 on; `nth` counts believed facts, or what waits."""

    op: str
    value: Iri
    start: int
    length: int
    nth: int


steps = st.builds(
    Step,
    st.sampled_from(["assert", "assert", "assert", "doubt", "end", "retract", "revise", "approve", "reject", "rule"]),
    st.sampled_from([PARIS, ROME]),
    st.integers(2020, 2030),
    st.integers(1, 6),
    st.integers(0, 7),
)


def ask(base: Base, books: Books, step: Step) -> Future[Outcome] | None:
    """Submits a step; None where there is nothing that it could be about."""
    waiting = sorted(books.requests)
    if step.op in list(DecisionKind):
        if not waiting:
            return None
        wanted = DecisionRequest(waiting[step.nth % len(waiting)], DecisionKind(step.op), None, ADMINISTRATOR)
        return base.decide(wanted)
    changes = changes_of(books, step)
    return base.submit(submission(*changes, by=ADMINISTRATOR)) if changes else None


def changes_of(books: Books, step: Step) -> Sequence[Change]:
    """What a step writes."""
    statement, span = living(step.value), during(step.start, step.start + step.length)
    believed = [fact for fact in books.facts if fact.superseded is None]
    match step.op:
        case "assert":
            return [Assert(statement, span)]
        case "doubt":
            return [Assert(statement, span, confidence=DOUBTED)]
        case "end":
            return [End(statement, exact(year(step.start)))]
        case "retract":
            return [Retract(statement, span.interval if step.nth % 4 else None)]
        case "revise" if believed:
            fact = believed[step.nth % len(believed)]
            return [Revise(fact.id, step.value, end=exact(year(step.start + step.length)))]
        case "rule":
            rule = one_home(Proposal.ASK if step.nth % 2 else Proposal.END_OLDER)
            return [Retract(each.statement) for each in rule] if step.nth % 3 else rule
        case _:
            return []


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(st.tuples(st.lists(steps, min_size=1, max_size=5), st.integers(-1, 3)), min_size=1, max_size=6))
def test_whatever_is_asked_in_whatever_order_the_base_stays_sound(turns: list[tuple[list[Step], int]]) -> None:
    clock = SetClock(year(2022))
    with Base.open(None, host=clock) as base:
        books = audit(base)
        for asked, years in turns:
            futures = [ask(base, books, step) for step in asked]
            errors = [future.exception(PATIENCE) for future in futures if future is not None]
            assert all(error is None or isinstance(error, CallerError) for error in errors), errors
            known = books
            books = audit(base)
            assert books.events[: len(known.events)] == known.events
            clock.move(years * 366 * DAY)
            settled(base)
            audit(base, signatures=False)
