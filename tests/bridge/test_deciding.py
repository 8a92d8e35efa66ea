"""BoundToState: what is approved, rejected or stale; and what rules and shapes make of a write."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from bridge.base import Base
from certificates.certificate import Verdict
from certificates.events import Applied, Decided, Stale
from certificates.findings import FindingCode
from certificates.items import ItemKind
from certificates.proof import verify
from certificates.records import Decision, DecisionKind, Recheck, verify_record
from kernel.access import Principal, Role
from kernel.changes import Assert, Retract
from kernel.errors import AlreadyDecided, Forbidden, LedgerUnavailable, NotFound
from kernel.ports.records import CertificateState
from kernel.terms import Iri, Literal, Statement
from kernel.time.instants import DAY, Instant, print_instant
from kernel.vocabulary import DEFAULT_GRAPH
from tests.bridge.audit import audit
from tests.bridge.writing import (
    ADMINISTRATOR,
    ANN,
    DOUBTED,
    EDITOR,
    NOON,
    OSLO,
    PARIS,
    PATIENCE,
    ROME,
    WRITER,
    BaseCase,
    Busy,
    InMemory,
    OnDisk,
    SetClock,
    WatchedLedger,
    a_shape,
    decide,
    during,
    homes,
    living,
    one_home,
    person,
    submission,
    unavailable,
    write,
    year,
)

ELSEWHERE = Iri("http://example.org/elsewhere")


class DecidingCase(BaseCase):
    """Decisions, rules and shapes."""

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
        written = write(base, *a_shape(), by=ADMINISTRATOR)
        assert [finding.code for finding in written.findings] == [FindingCode.EXISTING_VIOLATION]
        assert decide(base, written.certificate, by=ADMINISTRATOR).state is CertificateState.APPLIED
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


class TestInMemory(InMemory, DecidingCase):
    """In memory."""


class TestOnDisk(OnDisk, DecidingCase):
    """On disk."""
