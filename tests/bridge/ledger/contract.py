"""What every ledger promises: one test case for `kernel.ports.ledger.Ledger`, to be subclassed for each adapter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from threading import Barrier, Thread
from typing import TYPE_CHECKING, ClassVar, Final
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certificates.certificate import Verdict
from certificates.ids import uuid7
from certificates.items import ItemKind, salt_items
from certificates.lthash import LatticeHash
from kernel.access import Grant, Principal, Role
from kernel.changes import Assert, End, Request
from kernel.errors import Conflict, LedgerUnavailable, NotFound, StaleFact
from kernel.facts import EvidenceContent, FactContent, Spelling, Validity
from kernel.ports.heads import AppliedHead, Head
from kernel.ports.records import CertificateRecord, CertificateState, DecisionRecord, IdempotencyEntry
from kernel.terms import Iri, Literal, Statement, Term, TripleTerm
from kernel.time.instants import BEGINNING, FOREVER, Instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from tests.bridge.ledger.model import (
    GRAPHS,
    MOMENTS,
    OBJECTS,
    PREDICATES,
    SUBJECTS,
    LedgerModel,
    Step,
    histories,
    stored,
)
from tests.bridge.test_terms import terms

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kernel.facts import Evidence, Fact
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.ports.texts import StatementTexts
    from kernel.ports.writing import LedgerTransaction

G: Final = Iri("urn:g")
STATEMENT: Final = Statement(Iri("urn:s"), Iri("urn:p"), Iri("urn:o"), G)
ELSEWHERE: Final = replace(STATEMENT, subject=Iri("urn:elsewhere"))
SPACED: Final = Iri("urn:no-break\xa0and-ideographic\u3000space")
EPISODE: Final = Iri("urn:episode")
LEAF: Final = bytes(range(32))
REQUEST: Final = Request((Assert(STATEMENT), End(STATEMENT)), "because", EPISODE, "p1")
FIRST: Final = Validity(Interval(10, 20), Precision.INSTANT, Precision.INSTANT)
SECOND: Final = Validity(Interval(30, 40), Precision.INSTANT, Precision.INSTANT)

states: Final = st.sampled_from(list(CertificateState))
verdicts: Final = st.sampled_from(list(Verdict))


iris: Final = st.text("abé:/%\xa0\u3000", max_size=9).map(lambda text: Iri(f"urn:{text}"))
issues: Final = st.lists(st.tuples(st.integers(0, 99), states, verdicts), max_size=12, unique_by=lambda issue: issue[0])


class StubClock:
    """A host's clock that stands where it is put."""

    def __init__(self) -> None:
        self.instant = Instant(1_000)

    def now(self) -> Instant:
        return self.instant


def certificate(
    identifier: UUID | None = None,
    state: CertificateState = CertificateState.PENDING,
    verdict: Verdict = Verdict.REVIEW,
    request: Request | None = None,
) -> CertificateRecord:
    """A certificate's record."""
    return CertificateRecord(
        id=identifier or uuid7(),
        document=b'{"signed":"bytes"}',
        verdict=verdict,
        state=state,
        principal="p1",
        graphs=(G, Iri("urn:ünïcode")),
        issued_at=Instant(7),
        base_head=None,
        issued=0,
        request=request,
    )


def content(number: int, statement: Statement = STATEMENT, validity: Validity = FIRST) -> FactContent:
    """A fact to record."""
    return FactContent(UUID(int=number), UUID(int=number + 1_000), statement, validity)


def apply(tx: LedgerTransaction, number: int, *facts: FactContent) -> Head:
    """A whole applied certificate, as the write path writes it; its instant is its number."""
    at = Instant(number)
    record = certificate(UUID(int=number), verdict=Verdict.CLEAR)
    items = salt_items(ItemKind.PLAN, [b'{"op":"request"}', *(b"{}" for _ in facts)])
    tx.issue(record)
    tx.add_items(record.id, items)
    tx.append_event(b'{"type":"issued"}')
    tx.record(record.id, at, ((fact, item.leaf) for fact, item in zip(facts, items[1:], strict=True)))
    position = tx.append_event(b'{"type":"applied"}')
    tx.settle(record.id, CertificateState.APPLIED, head=position, instant=at)
    tx.remember("p1", f"key {number}", IdempotencyEntry(LEAF, record.id))
    head = Head(position, at, at, tx.head().state.add_many((fact.id.bytes, LEAF) for fact in facts))
    tx.set_head(head)
    return head


def write(ledger: Ledger, number: int, *facts: FactContent) -> Head:
    """The same, committed."""
    with ledger.transaction() as tx:
        head = apply(tx, number, *facts)
        tx.commit()
    return head


def everything(view: LedgerView) -> tuple[object, ...]:
    """All that a view can tell."""
    certificates = view.certificates(limit=1_000)
    return (
        view.head(),
        certificates,
        [(view.items(each.id, kind), view.leaves(each.id, kind)) for each in certificates for kind in ItemKind],
        [view.decisions(each.id) for each in certificates],
        list(view.facts_recorded(None, FOREVER)),
        list(view.evidence_recorded(None, FOREVER)),
        view.graphs(),
        [view.idempotent("p1", f"key {number}") for number in range(10)],
        [view.recorded_in(position) for position in range(20)],
    )


def settle(tx: LedgerTransaction, number: int, state: CertificateState) -> None:
    """Settles the certificate after a number; applied is at that position and instant."""
    if state is CertificateState.APPLIED:
        tx.settle(UUID(int=number + 1), state, head=number, instant=Instant(number))
    else:
        tx.settle(UUID(int=number + 1), state)


def snapshot(ledger: Ledger) -> tuple[object, ...]:
    """All that the ledger holds."""
    with ledger.reading() as view:
        return everything(view)


class LedgerContract(ABC):
    """Subclass it, say how the ledger is opened, and name the class `Test…`."""

    clock: ClassVar[StubClock] = StubClock()

    @abstractmethod
    def open(self, folder: Path) -> Ledger:
        """A new ledger, which may use the folder, and `clock`."""

    @pytest.fixture
    def ledger(self, tmp_path: Path) -> Iterator[Ledger]:
        self.clock.instant = Instant(1_000)
        ledger = self.open(tmp_path)
        yield ledger
        ledger.close()

    # --- transactions and views ---------------------------------------------------------------------------------------

    def test_a_new_ledger_is_empty(self, ledger: Ledger) -> None:
        with ledger.reading() as view:
            assert view.head() == Head(None, None, BEGINNING, LatticeHash())
            assert view.certificates() == []
            assert list(view.believed()) == list(view.facts_recorded(None, FOREVER)) == []
            assert view.next_due(BEGINNING) is None
            assert view.head_at(FOREVER) is None
            assert view.graphs() == frozenset()

    def test_all_or_nothing_a_transaction_that_is_left_keeps_nothing(self, ledger: Ledger) -> None:
        write(ledger, 1, content(1))
        before = snapshot(ledger)
        with ledger.transaction() as tx:
            apply(tx, 2, content(2, replace(STATEMENT, graph=Iri("urn:new"))))
            tx.supersede(UUID(int=2), Instant(2), [UUID(int=1)])
            support = EvidenceContent(UUID(int=9), UUID(int=1), EPISODE, None, Spelling())
            tx.add_evidence(UUID(int=2), Instant(2), [support])
            tx.add_decision(DecisionRecord(UUID(int=1), "decision", b"{}", salt_items(ItemKind.COMMENT, [b"{}"])[0]))
            assert everything(tx) != before
        assert snapshot(ledger) == before
        assert write(ledger, 2).position == 3

    def test_all_or_nothing_an_error_within_keeps_nothing_and_passes_through(self, ledger: Ledger) -> None:
        def fail() -> None:
            with ledger.transaction() as tx:
                apply(tx, 1, content(1))
                raise ZeroDivisionError

        before = snapshot(ledger)
        with pytest.raises(ZeroDivisionError):
            fail()
        assert snapshot(ledger) == before

    def test_all_or_nothing_an_error_amid_the_facts_keeps_nothing(self, ledger: Ledger) -> None:
        def failing() -> Iterator[tuple[FactContent, bytes]]:
            yield content(1), LEAF
            raise ZeroDivisionError

        before = snapshot(ledger)
        with pytest.raises(ZeroDivisionError), ledger.transaction() as tx:
            tx.record(UUID(int=1), Instant(1), failing())
        assert snapshot(ledger) == before

    def test_a_transaction_reads_its_own_writes_and_readers_do_not(self, ledger: Ledger) -> None:
        before = snapshot(ledger)
        with ledger.transaction() as tx:
            head = apply(tx, 1, content(1))
            assert tx.head() == head
            assert [fact.id for fact in tx.believed_of(STATEMENT)] == [UUID(int=1)]
            assert snapshot(ledger) == before
            tx.commit()
        assert snapshot(ledger) != before

    def test_a_view_stays_on_its_state_while_others_are_committed(self, ledger: Ledger) -> None:
        write(ledger, 1, content(1))
        with ledger.reading() as view:
            before = everything(view)
            write(ledger, 2, content(2, validity=SECOND))
            assert everything(view) == before
            assert snapshot(ledger) != before

    def test_nothing_works_once_it_is_left(self, ledger: Ledger) -> None:
        write(ledger, 1, content(1), content(2, validity=SECOND))
        with ledger.reading() as view:
            begun, unbegun = view.believed(), view.believed()
            next(begun)
        with ledger.transaction() as tx:
            streamed = tx.believed()
            next(streamed)
            tx.commit()
            with pytest.raises(LedgerUnavailable):
                tx.append_event(b"{}")
        with pytest.raises(LedgerUnavailable):
            tx.commit()
        for left in (view, tx):
            with pytest.raises(LedgerUnavailable):
                left.head()
        for iterator in (begun, unbegun, streamed):
            with pytest.raises(LedgerUnavailable):
                next(iterator)

    def test_readings_may_be_nested_and_abandoned(self, ledger: Ledger) -> None:
        write(ledger, 1, content(1), content(2, validity=SECOND))
        with ledger.reading() as outer:
            facts = outer.believed()
            next(facts)
            with ledger.reading() as inner:
                assert len(list(inner.believed())) == 2
        write(ledger, 2, content(3, ELSEWHERE))
        with ledger.reading() as view:
            assert len(list(view.believed())) == 3

    def test_one_sequencer_a_second_writer_waits_for_the_first(self, ledger: Ledger) -> None:
        second = Thread(target=write, args=(ledger, 2))
        with ledger.transaction() as tx:
            second.start()
            first = apply(tx, 1)
            tx.commit()
        second.join()
        with ledger.reading() as view:
            assert (view.recorded_in(first.position or 0), view.head().position) == (1, 3)

    def test_readers_never_see_half_a_transaction(self, ledger: Ledger) -> None:
        write(ledger, 1, content(1))
        writing = Thread(target=lambda: [write(ledger, number, content(number)) for number in range(2, 80)])

        def read() -> int:
            with ledger.reading() as view:
                head = view.head()
                facts = list(view.facts_recorded(None, FOREVER))
                assert head.position is not None
                assert len(facts) == (head.position + 1) // 2 == head.instant
                assert view.recorded_in(head.position) == head.instant
            return len(facts)

        def read_on(_: int) -> list[int]:
            seen = [read()]
            while writing.is_alive():
                seen.append(read())
            return seen

        writing.start()
        with ThreadPoolExecutor(3) as readers:
            for seen in readers.map(read_on, range(3)):
                assert seen == sorted(seen)
        writing.join()
        assert read() == 79

    def test_a_closed_ledger_says_so(self, ledger: Ledger) -> None:
        ledger.close()
        ledger.close()
        with pytest.raises(LedgerUnavailable), ledger.reading():
            pass
        with pytest.raises(LedgerUnavailable), ledger.transaction():
            pass

    def test_closing_lets_a_reading_end(self, ledger: Ledger) -> None:
        with ledger.reading() as view:
            head = view.head()
            ledger.close()
            assert view.head() == head

    # --- log, head and state ------------------------------------------------------------------------------------------

    def test_log_positions_count_from_0_without_gaps(self, ledger: Ledger) -> None:
        with ledger.transaction() as tx:
            assert [tx.append_event(b"{}"), tx.append_event(b"{}")] == [0, 1]
            tx.commit()
        with ledger.transaction() as tx:
            assert tx.append_event(b"{}") == 2
        with ledger.transaction() as tx:
            assert [tx.append_event(b"{}"), tx.append_event(b"{}")] == [2, 3]

    def test_the_head_is_what_it_was_set_to(self, ledger: Ledger) -> None:
        head = Head(5, Instant(-7), Instant(11), LatticeHash().add(bytes(16), LEAF))
        with ledger.transaction() as tx:
            tx.set_head(Head(None, None, Instant(3), LatticeHash()))
            tx.set_head(head)
            tx.commit()
        with ledger.reading() as view:
            assert view.head() == head

    def test_heads_are_found_by_position_and_by_instant(self, ledger: Ledger) -> None:
        positions = [write(ledger, number).position for number in (10, 20, 30)]
        assert positions == [1, 3, 5]
        with ledger.reading() as view:
            assert [view.recorded_in(position) for position in range(7)] == [None, 10, None, 20, None, 30, None]
            found = {instant: view.head_at(Instant(instant)) for instant in (BEGINNING, 9, 10, 19, 20, 29, 30, FOREVER)}
            listed = [AppliedHead(position, Instant(at)) for position, at in ((1, 10), (3, 20), (5, 30))]
            assert view.heads() == view.heads(limit=3) == listed
            assert (view.heads(limit=1), view.heads(limit=1, newest_first=True)) == (listed[:1], listed[2:])
            assert (view.heads(after=1), view.heads(after=2, limit=1), view.heads(after=5)) == (
                listed[1:],
                listed[1:2],
                [],
            )
        assert found == {BEGINNING: None, 9: None, 10: 1, 19: 1, 20: 3, 29: 3, 30: 5, FOREVER: 5}

    def test_a_base_has_one_id_of_its_own(self, ledger: Ledger, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        other = self.open(tmp_path / "other")
        assert ledger.base_id() == ledger.base_id() != other.base_id()
        other.close()

    # --- certificates -------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("verdict", Verdict)
    @pytest.mark.parametrize("state", CertificateState)
    def test_a_certificate_comes_back_as_it_was_issued(
        self, ledger: Ledger, state: CertificateState, verdict: Verdict
    ) -> None:
        record = replace(certificate(state=state, verdict=verdict), base_head=4, successor=UUID(int=9))
        if state is CertificateState.APPLIED:
            record = replace(record, head=5, instant=Instant(8))
        with ledger.transaction() as tx:
            tx.issue(record)
            assert tx.certificate(record.id) == record
            assert tx.certificate(UUID(int=1)) is None

    def test_a_request_is_kept_while_its_certificate_is_pending(self, ledger: Ledger) -> None:
        waiting, decided, refused = (
            certificate(request=REQUEST),
            certificate(request=REQUEST),
            certificate(state=CertificateState.REFUSED, request=REQUEST),
        )
        with ledger.transaction() as tx:
            for record in (waiting, decided, refused):
                tx.issue(record)
            tx.settle(waiting.id, CertificateState.PENDING)
            tx.settle(decided.id, CertificateState.STALE, successor=waiting.id)
            tx.commit()
        with ledger.reading() as view:
            assert view.certificate(waiting.id) == waiting
            assert view.certificate(refused.id) == replace(refused, request=None)
            assert view.certificate(decided.id) == replace(
                decided, request=None, state=CertificateState.STALE, successor=waiting.id
            )

    def test_an_applied_certificate_has_its_head_and_instant(self, ledger: Ledger) -> None:
        record = certificate(request=REQUEST)
        with ledger.transaction() as tx:
            tx.issue(record)
            tx.settle(record.id, CertificateState.APPLIED, head=3, instant=Instant(9))
            applied = replace(record, request=None, state=CertificateState.APPLIED, head=3, instant=Instant(9))
            assert tx.certificate(record.id) == applied

    def test_what_was_not_issued_cannot_be_settled(self, ledger: Ledger) -> None:
        with ledger.transaction() as tx, pytest.raises(NotFound):
            tx.settle(UUID(int=1), CertificateState.REJECTED)

    @pytest.mark.parametrize("oldest_first", [False, True])
    def test_certificates_are_listed_by_age(self, ledger: Ledger, oldest_first: bool) -> None:
        @given(issues, st.none() | states, st.none() | verdicts, st.none() | st.integers(-1, 99), st.integers(1, 5))
        def listed(
            issued: list[tuple[int, CertificateState, Verdict]],
            state: CertificateState | None,
            verdict: Verdict | None,
            after: int | None,
            limit: int,
        ) -> None:
            with ledger.transaction() as tx:
                for number, each_state, each_verdict in issued:
                    tx.issue(certificate(UUID(int=number + 1), verdict=each_verdict))
                    settle(tx, number, each_state)
                last = None if after is None else UUID(int=after + 1)
                found = tx.certificates(
                    state=state, verdict=verdict, after=last, limit=limit, oldest_first=oldest_first
                )
            wanted = [
                UUID(int=number + 1)
                for number, each_state, each_verdict in sorted(issued, reverse=not oldest_first)
                if state in (None, each_state)
                and verdict in (None, each_verdict)
                and (after is None or (number > after if oldest_first else number < after))
            ]
            assert [record.id for record in found] == wanted[:limit]

        listed()

    def test_pages_of_certificates_leave_none_out(self, ledger: Ledger) -> None:
        records = [certificate() for _ in range(7)]
        with ledger.transaction() as tx:
            for record in records:
                tx.issue(record)
            for oldest_first in (False, True):
                seen: list[UUID] = []
                while page := tx.certificates(after=seen[-1] if seen else None, limit=3, oldest_first=oldest_first):
                    seen += [record.id for record in page]
                assert seen == sorted((record.id for record in records), reverse=not oldest_first)

    # --- items and decisions ------------------------------------------------------------------------------------------

    def test_items_and_leaves_come_back_by_ordinal_and_kind(self, ledger: Ledger) -> None:
        plan = salt_items(ItemKind.PLAN, (b"%d" % number for number in range(2_500)))
        more = salt_items(ItemKind.PLAN, [b"{}", b"\x00\xff"], len(plan))
        findings = salt_items(ItemKind.FINDING, [b"finding"])
        one, other = UUID(int=1), UUID(int=2)
        with ledger.transaction() as tx:
            tx.add_items(one, plan)
            tx.add_items(other, findings)
            tx.add_items(one, more)
            tx.add_items(one, findings)
            tx.add_items(one, [])
            tx.commit()
        with ledger.reading() as view:
            assert view.items(one, ItemKind.PLAN) == plan + more
            for first, limit in ((0, 0), (0, 1), (1, 7), (2_499, 2), (2_501, 2), (2_502, 1), (3_000, None), (7, None)):
                until = None if limit is None else first + limit
                assert view.items(one, ItemKind.PLAN, first=first, limit=limit) == (plan + more)[first:until]
            assert view.leaves(one, ItemKind.PLAN) == [item.leaf for item in plan + more]
            assert view.items(one, ItemKind.FINDING) == view.items(other, ItemKind.FINDING) == findings
            assert view.items(other, ItemKind.PLAN) == []
            assert view.leaves(other, ItemKind.PLAN) == []

    def test_decisions_come_back_oldest_first_with_their_comments(self, ledger: Ledger) -> None:
        record, other = certificate(), certificate()
        comments = salt_items(ItemKind.COMMENT, [b'{"comment":"well"}', b'{"comment":"after all"}'])
        decisions = [
            DecisionRecord(record.id, "decision", b"1", comments[0]),
            DecisionRecord(record.id, "recheck", b"2", None),
            DecisionRecord(record.id, "decision", b"3", comments[1]),
        ]
        with ledger.transaction() as tx:
            for each in (record, other):
                tx.issue(each)
            tx.add_decision(decisions[0])
            tx.add_decision(DecisionRecord(other.id, "decision", b"4", comments[0]))
            for decision in decisions[1:]:
                tx.add_decision(decision)
            tx.commit()
        with ledger.reading() as view:
            assert view.decisions(record.id) == decisions
            assert view.items(record.id, ItemKind.COMMENT) == comments
            assert view.leaves(record.id, ItemKind.COMMENT) == [comment.leaf for comment in comments]
            assert view.decisions(UUID(int=1)) == []

    # --- facts and evidence -------------------------------------------------------------------------------------------

    def test_facts_are_found_as_in_a_naive_model(self, ledger: Ledger) -> None:
        @given(histories, st.sets(st.integers(0, 6)))
        def found(history: list[Step], taken_back: set[int]) -> None:
            model = LedgerModel()
            with ledger.transaction() as tx:
                for number, step in enumerate(history):
                    model.write(tx, step, take_back=number in taken_back)
                self._same_facts(tx, model)
                self._same_times(tx, model)
                self._same_evidence(tx, model)

        found()

    def _same_facts(self, view: LedgerView, model: LedgerModel) -> None:
        for fact in model.facts:
            assert view.fact(fact.id) == fact
        assert view.fact(UUID(int=0)) is None
        assert view.graphs() == {fact.statement.graph for fact in model.facts}
        pools = ((None, *SUBJECTS, ELSEWHERE.subject), (None, *PREDICATES), (None, *OBJECTS), (None, *GRAPHS))
        for s, p, o, g in product(*pools):
            found = list(view.believed(subject=s, predicate=p, object=o, graph=g))
            assert sorted(found, key=_by_id) == sorted(model.believed(s, p, o, g), key=_by_id)
            if s and p and o and g:
                exactly = sorted(model.believed(s, p, o, g), key=lambda fact: fact.interval.start)
                assert [fact.interval.start for fact in view.believed_of(Statement(s, p, o, g))] == [
                    fact.interval.start for fact in exactly
                ]
                assert sorted(view.believed_of(Statement(s, p, o, g)), key=_by_id) == sorted(exactly, key=_by_id)

    def _same_differences(self, view: LedgerView, model: LedgerModel) -> None:
        first, last = Instant(1), Instant(2**40)
        middle = model.instants[len(model.instants) // 2] or first
        early, late = MOMENTS[2], MOMENTS[-3]
        for one, other in (
            ((first, late), (middle, late)),
            ((middle, late), (last, late)),
            ((middle, early), (middle, late)),
        ):
            held, holding = ([fact.id for fact in model.facts_at(*moment)] for moment in (one, other))
            differing = [fact for fact in model.facts if (fact.id in held) != (fact.id in holding)]
            for graph in GRAPHS:
                wanted = [fact for fact in differing if fact.statement.graph == graph]
                assert list(view.facts_differing(one, other, graph=graph)) == wanted
            for node, graphs in product(SUBJECTS, (None, GRAPHS[:1])):
                wanted = [
                    fact
                    for fact in differing
                    if node in (fact.statement.subject, fact.statement.object)
                    and (graphs is None or fact.statement.graph in graphs)
                ]
                found = list(view.facts_differing(one, other, node=node, graphs=graphs))
                assert sorted(found, key=_by_id) == sorted(wanted, key=_by_id)

    def _same_times(self, view: LedgerView, model: LedgerModel) -> None:
        for as_of, valid_at in product(model.instants, MOMENTS):
            if as_of is not None:
                found = sorted(view.facts_at(as_of, valid_at), key=_by_id)
                assert found == sorted(model.facts_at(as_of, valid_at), key=_by_id)
        if model.instants[-1] is not None:
            moment = model.instants[len(model.instants) // 2] or model.instants[-1], MOMENTS[len(MOMENTS) // 2]
            self._same_nodes(view, list(model.facts_at(*moment)), *moment)
            self._same_beliefs(view, model, moment[0])
        self._same_differences(view, model)
        for as_of, true_at in product(model.instants, (None, *MOMENTS)):
            for graph, predicate in product(GRAPHS, (None, PREDICATES[0])):
                whole = list(model.facts_of_graph(graph, predicate, as_of, true_at))
                assert list(view.facts_of_graph(graph, predicate=predicate, as_of=as_of, valid_at=true_at)) == whole
                for last in model.facts[::3]:
                    rest = [fact for fact in whole if model.facts.index(fact) > model.facts.index(last)]
                    assert rest == list(
                        view.facts_of_graph(graph, predicate=predicate, as_of=as_of, valid_at=true_at, after=last.id)
                    )
        assert list(view.facts_of_graph(GRAPHS[0], after=UUID(int=0))) == []
        self._same_recorded(view, model)
        for after, until in product(MOMENTS, MOMENTS):
            due = sorted(view.facts_due(after, until), key=_by_id)
            assert due == sorted(model.facts_due(after, until), key=_by_id)
            assert view.next_due(after) == model.next_due(after)

    def _same_recorded(self, view: LedgerView, model: LedgerModel) -> None:
        for after, until in product(model.instants, [*model.instants[1:], FOREVER]):
            if until is not None:
                recorded = model.facts_recorded(after, until)
                assert list(view.facts_recorded(after, until)) == recorded
                assert list(view.texts_recorded(after, until)) == [*map(stored, recorded)]
                assert view.count_recorded(after, until) == len(recorded)
                if after is not None:
                    assert view.count_recorded(after, until, most=0) == min(1, len(recorded))

    def _same_beliefs(self, view: LedgerView, model: LedgerModel, as_of: Instant) -> None:
        for predicate, graph in product((None, PREDICATES[0]), (None, GRAPHS[0])):
            held = [
                fact
                for each in (GRAPHS if graph is None else [graph])
                for fact in model.facts_of_graph(each, predicate, as_of, None)
            ]
            for subject in SUBJECTS:
                found = view.believed_at(as_of, subject=subject, predicate=predicate, graph=graph)
                wanted = [fact for fact in held if fact.statement.subject == subject]
                assert sorted(found, key=_by_id) == sorted(wanted, key=_by_id)
            for value in OBJECTS:
                found = view.believed_at(as_of, object=value, predicate=predicate, graph=graph)
                wanted = [fact for fact in held if fact.statement.object == value]
                assert sorted(found, key=_by_id) == sorted(wanted, key=_by_id)

    def _same_nodes(self, view: LedgerView, held: list[Fact], as_of: Instant, valid_at: Instant) -> None:
        there = sorted(_texts(fact.statement) for fact in held)
        assert sorted(view.statements_at(as_of, valid_at)) == there
        assert view.count_at(as_of, valid_at) == len(there)
        assert view.count_at(as_of, valid_at, most=0) == min(1, len(there))
        nodes = [*product((False,), SUBJECTS), *product((True,), OBJECTS)]
        for (as_object, node), predicate, graphs in product(nodes, (None, PREDICATES[0]), (None, GRAPHS[:1], GRAPHS)):
            expected = [
                fact.statement
                for fact in held
                if node == (fact.statement.object if as_object else fact.statement.subject)
                and predicate in (None, fact.statement.predicate)
                and (graphs is None or fact.statement.graph in graphs)
            ]
            of = partial(
                view.statements_of,
                node,
                as_object=as_object,
                predicate=predicate,
                graphs=graphs,
                as_of=as_of,
                valid_at=valid_at,
                largest=100_000,
            )
            looked, found = of(most=1_000)
            assert sorted(found, key=str) == sorted(expected, key=str)
            assert len(expected) <= looked
            looks = partial(view.count_of, node, as_object=as_object, predicate=predicate, graphs=graphs)
            assert looks(most=1_000) == looked
            assert (looks(most=0), of(most=0)[0]) == (min(1, looked),) * 2

    def _same_evidence(self, view: LedgerView, model: LedgerModel) -> None:
        kept: dict[UUID, list[Evidence]] = {}
        for evidence in model.evidence:
            kept.setdefault(evidence.content.fact, []).append(evidence)
        found = view.evidence_of([fact.id for fact in model.facts])
        assert found == kept
        # Confidences that are equal may have other digits: 0.5 and 0.50.
        assert {fact: repr(evidence) for fact, evidence in found.items()} == {
            fact: repr(evidence) for fact, evidence in kept.items()
        }
        for after, until in product(model.instants, [*model.instants[1:], FOREVER]):
            if until is not None:
                assert list(view.evidence_recorded(after, until)) == [
                    (evidence, model.graph_of(evidence.content.fact))
                    for evidence in model.evidence
                    if (BEGINNING if after is None else after) < evidence.recorded_at <= until
                ]

    def test_any_statement_is_read_back_as_it_was(self, ledger: Ledger) -> None:
        @given(terms, iris)
        @example(Literal("", SPACED.value), SPACED)
        @example(TripleTerm(SPACED, SPACED, Literal("\u2028\x85\xa0")), SPACED)
        def read_back(value: Term, iri: Iri) -> None:
            statement = Statement(iri, iri, value, iri)
            with ledger.transaction() as tx:
                tx.record(UUID(int=1), Instant(1), [(content(1, statement), LEAF)])
                assert [fact.statement for fact in tx.believed_of(statement)] == [statement]
                assert [fact.statement for fact in tx.believed(object=value)] == [statement]
                assert tx.graphs() == {iri}

        read_back()

    def test_only_what_is_believed_can_be_superseded(self, ledger: Ledger) -> None:
        with ledger.transaction() as tx:
            apply(tx, 1, content(1))
            tx.supersede(UUID(int=2), Instant(2), [UUID(int=1)])
            for identifier in (UUID(int=1), UUID(int=77)):
                with pytest.raises(StaleFact) as refused:
                    tx.supersede(UUID(int=3), Instant(3), [identifier])
                assert refused.value.where == str(identifier)

    def test_what_is_taken_back_leaves_the_rest_of_the_transaction(self, ledger: Ledger) -> None:
        shared, only = (replace(STATEMENT, graph=Iri(f"urn:{name}")) for name in ("shared", "only"))
        write(ledger, 1, content(1))
        with ledger.transaction() as tx:
            tx.record(UUID(int=2), Instant(2), [(content(2, shared), LEAF), (content(3, only), LEAF)])
            tx.record(UUID(int=2), Instant(2), [(content(4, shared, SECOND), LEAF)])
            tx.supersede(UUID(int=2), Instant(2), [UUID(int=1)])
            tx.record(UUID(int=3), Instant(3), [(content(5, shared), LEAF)])
            tx.unrecord(UUID(int=2))
            tx.unrecord(UUID(int=99))
            tx.commit()
        with ledger.reading() as view:
            assert [fact.id.int for fact in view.believed()] == [1, 5]
            assert view.graphs() == {G, shared.graph}

    def test_what_was_committed_before_cannot_be_taken_back(self, ledger: Ledger) -> None:
        write(ledger, 1, content(1))
        with ledger.transaction() as tx:
            tx.unrecord(UUID(int=1))
            tx.commit()
        with ledger.reading() as view:
            assert len(list(view.believed())) == 1

    def test_many_facts_are_recorded_without_being_listed_first(self, ledger: Ledger) -> None:
        drawn = 0

        def facts() -> Iterator[tuple[FactContent, bytes]]:
            nonlocal drawn
            for number in range(1, 3_001):
                drawn += 1
                yield content(number, replace(STATEMENT, subject=Iri(f"urn:{number}"))), LEAF

        with ledger.transaction() as tx:
            tx.record(UUID(int=1), Instant(1), facts())
            tx.commit()
        with ledger.reading() as view:
            assert drawn == sum(1 for _ in view.facts_at(Instant(1), Instant(10))) == 3_000

    # --- idempotency --------------------------------------------------------------------------------------------------

    def test_keys_are_remembered_for_each_principal(self, ledger: Ledger) -> None:
        first, second = (IdempotencyEntry(bytes([number]) * 32, UUID(int=number)) for number in (1, 2))
        with ledger.transaction() as tx:
            tx.remember("p1", "k", first)
            tx.remember("p2", "k", second)
            tx.remember("p1", "K", second)
            tx.commit()
        with ledger.reading() as view:
            assert (view.idempotent("p1", "k"), view.idempotent("p2", "k")) == (first, second)
            assert (view.idempotent("p1", "K"), view.idempotent("p3", "k")) == (second, None)

    def test_the_last_use_of_a_key_counts(self, ledger: Ledger) -> None:
        with ledger.transaction() as tx:
            for number in (1, 2):
                tx.remember("p1", "k", IdempotencyEntry(b"", UUID(int=number)))
            assert tx.idempotent("p1", "k") == IdempotencyEntry(b"", UUID(int=2))

    def test_case_35_a_key_sent_concurrently_gets_one_certificate(self, ledger: Ledger) -> None:
        together = Barrier(4)

        def send(_: int) -> UUID:
            together.wait()
            with ledger.transaction() as tx:
                before = tx.idempotent("p1", "k")
                if before is not None:
                    return before.certificate
                record = certificate()
                tx.issue(record)
                tx.remember("p1", "k", IdempotencyEntry(LEAF, record.id))
                tx.commit()
                return record.id

        with ThreadPoolExecutor(4) as senders:
            answers = set(senders.map(send, range(4)))
        with ledger.reading() as view:
            assert {record.id for record in view.certificates()} == answers
        assert len(answers) == 1

    # --- principals ---------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("graphs", [None, frozenset[Iri](), frozenset({G, Iri("urn:é")})])
    def test_a_token_finds_its_principal(self, ledger: Ledger, graphs: frozenset[Iri] | None) -> None:
        principal = Principal("p1", Role.EDITOR, graphs)
        ledger.add_principal(principal, LEAF)
        assert ledger.principal_of(LEAF) == principal
        assert ledger.principal_of(bytes(32)) is None

    @pytest.mark.parametrize("graphs", [None, frozenset[Iri](), frozenset({G})])
    def test_a_token_finds_what_was_granted(self, ledger: Ledger, graphs: frozenset[Iri] | None) -> None:
        grants = frozenset({Grant(Role.WRITER, Iri("urn:é")), Grant(Role.READER, G)})
        principal = Principal("p1", Role.READER, graphs, grants, cites=graphs is None)
        ledger.add_principal(principal, LEAF)
        assert ledger.principal_of(LEAF) == principal

    def test_an_expired_token_finds_nobody(self, ledger: Ledger) -> None:
        ledger.add_principal(Principal("p1", Role.READER), LEAF, expires=Instant(2_000))
        self.clock.instant = Instant(1_999)
        assert ledger.principal_of(LEAF) is not None
        self.clock.instant = Instant(2_000)
        assert ledger.principal_of(LEAF) is None

    def test_a_revoked_token_finds_nobody(self, ledger: Ledger) -> None:
        ledger.add_principal(Principal("p1", Role.READER), LEAF)
        ledger.add_principal(Principal("p2", Role.READER), bytes(32))
        ledger.revoke("p1")
        ledger.revoke("p1")
        assert ledger.principal_of(LEAF) is None
        assert ledger.principal_of(bytes(32)) is not None
        with pytest.raises(NotFound):
            ledger.revoke("nobody")

    def test_an_id_or_token_that_is_taken_is_refused(self, ledger: Ledger) -> None:
        first = Principal("p1", Role.READER)
        ledger.add_principal(first, LEAF)
        for other, token_hash in (("p1", bytes(32)), ("p2", LEAF)):
            with pytest.raises(Conflict):
                ledger.add_principal(Principal(other, Role.ADMINISTRATOR), token_hash)
        assert (ledger.principal_of(LEAF), ledger.principal_of(bytes(32))) == (first, None)

    # --- keys ---------------------------------------------------------------------------------------------------------

    def test_the_signing_key_is_the_one_used_last(self, ledger: Ledger) -> None:
        assert ledger.signing_key() is None
        for key in ("z6MkOne", "z6MkTwo", "z6MkTwo", "z6MkOne"):
            ledger.use_key(key)
            assert ledger.signing_key() == key

    def test_an_event_about_a_key_is_logged_with_its_use_and_found_again(self, ledger: Ledger) -> None:
        ledger.use_key("z6MkOne")
        events = [b'{"at":"x","event":"key-rotated"}', b'{"event":"issued"}', b'{"at":"y","event":"key-revoked"}']
        ledger.use_key("z6MkTwo", events[0])
        with ledger.transaction() as tx:
            for event in events[1:]:
                tx.append_event(event)
            tx.commit()
        with ledger.reading() as view:
            assert view.key_events() == [(0, events[0]), (2, events[2])]
            assert view.events(0, 9) == events
        assert ledger.signing_key() == "z6MkTwo"

    # --- load sessions ------------------------------------------------------------------------------------------------

    def test_staged_chunks_come_back_in_order(self, ledger: Ledger) -> None:
        for chunk in (2, 0, 1, 10):
            ledger.stage("one", chunk, b"%d" % chunk)
        ledger.stage("other", 0, b"other")
        ledger.stage("one", 1, b"1 again")
        assert list(ledger.staged("one")) == [b"0", b"1 again", b"2", b"10"]
        assert [ledger.staged_chunks(session) for session in ("one", "other", "none")] == [4, 1, 0]
        assert list(ledger.staged("none")) == []

    def test_staged_chunks_are_dropped_by_session(self, ledger: Ledger) -> None:
        for session in ("one", "other"):
            ledger.stage(session, 0, session.encode())
        ledger.unstage("one")
        ledger.unstage("none")
        assert (list(ledger.staged("one")), list(ledger.staged("other"))) == ([], [b"other"])

    def test_staged_chunks_are_read_while_a_transaction_is_open(self, ledger: Ledger) -> None:
        for chunk in range(3):
            ledger.stage("one", chunk, b"%d" % chunk)
        with ledger.transaction() as tx:
            for number, _ in enumerate(ledger.staged("one"), start=1):
                tx.record(UUID(int=number), Instant(number), [(content(number), LEAF)])
            assert len(tx.believed_of(STATEMENT)) == 3


def _texts(statement: Statement) -> StatementTexts:
    return statement.subject.n3, statement.predicate.n3, statement.object.n3, statement.graph.n3


def _by_id(fact: Fact) -> UUID:
    return fact.id
