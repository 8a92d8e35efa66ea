"""The write path through a base, in memory and on disk: the invariants of the write path, each by its name."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from time import sleep
from uuid import UUID

import pyoxigraph as ox
import pytest

from bridge.base import Base
from bridge.host import SystemClock
from bridge.stores.markers import StoreState
from bridge.stores.projection_store import ProjectionStore
from bridge.stores.projections import Projection
from certificates.certificate import Verdict
from certificates.findings import FindingCode
from certificates.proof import verify
from certificates.records import DecisionKind
from kernel.changes import Assert, Change, End, Retract
from kernel.errors import (
    Conflict,
    Forbidden,
    IdempotencyMismatch,
    InvalidParameter,
    LedgerUnavailable,
    NothingToEnd,
    PlanError,
    ShuttingDown,
    StoreUnavailable,
)
from kernel.ports.outside import HostClock
from kernel.ports.records import CertificateState
from kernel.terms import Iri, Literal, Statement
from kernel.time.instants import SECOND, Instant, print_instant
from kernel.time.intervals import Interval
from kernel.time.timevalues import exact
from kernel.vocabulary import DEFAULT_GRAPH, SHAPES_GRAPH
from kernel.writing import sequencer
from kernel.writing.projection import delta_between
from tests.bridge.audit import audit, read_books
from tests.bridge.writing import (
    ADMINISTRATOR,
    DOUBTED,
    EDITOR,
    HOUR,
    NOON,
    OSLO,
    PARIS,
    PATIENCE,
    ROME,
    BaseCase,
    Busy,
    InMemory,
    OnDisk,
    SetClock,
    WatchedLedger,
    WatchedStores,
    a_shape,
    decide,
    during,
    homes,
    living,
    load,
    one_home,
    person,
    settled,
    stage,
    submission,
    unavailable,
    until,
    write,
    year,
)

ELSEWHERE = Iri("http://example.org/elsewhere")


class WritingCase(BaseCase):
    """Everything but decisions."""

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

    def test_one_sequencer_who_wrote_together_is_waited_for(self, base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sequencer, "GATHERING", 4 * PATIENCE)
        busy = Busy(base)
        together = [base.submit(submission(Assert(living(PARIS, person(number))))) for number in range(3)]
        busy.go_on()
        for future in together:
            future.result(PATIENCE)
        again = []
        for number in range(3):
            sleep(0.05)  # whoever came first would be on its way alone by now
            again.append(base.submit(submission(Assert(living(ROME, person(number))))))
        assert {future.result(PATIENCE).state for future in again} == {CertificateState.APPLIED}
        assert WatchedLedger.of(base).commits == busy.commits + 3
        assert len(audit(base).certificates) == 7

    def test_one_sequencer_who_does_not_come_is_not_waited_for(self, base: Base) -> None:
        busy = Busy(base)
        together = [base.submit(submission(Assert(living(PARIS, person(number))))) for number in range(3)]
        busy.go_on()
        for future in together:
            future.result(PATIENCE)
        assert write(base, Assert(living(ROME))).state is CertificateState.APPLIED
        assert write(base, Assert(living(OSLO, person(1)))).state is CertificateState.APPLIED

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

    def test_one_sequencer_a_large_request_is_in_both_stores_once_it_is_answered(
        self, base: Base, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("bridge.base.LARGE", 39)
        assert delta_between.__kwdefaults__ is not None
        monkeypatch.setitem(delta_between.__kwdefaults__, "batch", 10)
        large = submission(*(Assert(living(PARIS, person(number))) for number in range(40)), key="large")
        busy = Busy(base)
        before = [base.submit(submission(Assert(living(ROME, person(number))))) for number in range(3)]
        future = base.submit(large)
        after = [base.submit(submission(Assert(living(PARIS, person(number))))) for number in range(3)]
        busy.go_on()
        outcome = future.result(PATIENCE)
        for projection in Projection:
            quads, state = base.stores.read(projection, set)
            assert {living(PARIS, person(number)).subject.value for number in range(40)} <= {
                quad.subject.value for quad in quads if quad.object == ox.NamedNode(PARIS.value)
            }
            assert (state.head or 0) >= (outcome.head or 0)
        heads = [each.result(PATIENCE).head for each in (*before, future, *after)]
        assert heads == sorted(heads, key=lambda head: head or 0)
        books = audit(base)
        assert sum(fact.certificate == outcome.certificate for fact in books.facts) == 40
        assert len(books.evidence) == 3
        assert base.submit(large).result(PATIENCE) == outcome, "Idempotent"
        assert write(base, *large.request.changes, dry_run=True).state is None

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
        write(base, Retract(living(Literal("somewhere"))))
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

    def test_facts_begin_and_end_by_themselves_by_the_systems_clock(self, opening: Callable[[HostClock], Base]) -> None:
        base = opening(SystemClock())
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

    # --- the complete store follows -----------------------------------------------------------------------------------

    def test_an_answer_does_not_wait_for_the_complete_store_but_its_readers_do(
        self, base: Base, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = write(base, Assert(living(OSLO)))
        held, released = Event(), Event()
        arrive = ProjectionStore._arrive

        def slow(store: ProjectionStore, quads: ox.Store, state: StoreState) -> None:
            if store._projection is Projection.COMPLETE and state.head != before.head:
                held.set()
                assert released.wait(PATIENCE)
            arrive(store, quads, state)

        monkeypatch.setattr(ProjectionStore, "_arrive", slow)
        outcome = write(base, Assert(living(PARIS)))
        assert held.wait(PATIENCE)
        with ThreadPoolExecutor(1) as readers:
            reading = readers.submit(base.stores.read, Projection.COMPLETE, len)
            now, state = base.stores.read(Projection.CURRENT, len)
            assert (now, state.head) == (2, outcome.head)
            assert not reading.done()
            released.set()
            assert reading.result(PATIENCE)[1].head == outcome.head

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
        monkeypatch.setattr("kernel.writing.sequencer.LONGEST_WAIT", 3_600.0)
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


class TestInMemory(InMemory, WritingCase):
    """In memory."""


class TestOnDisk(OnDisk, WritingCase):
    """On disk."""
