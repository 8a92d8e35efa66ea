"""Reverting, on a real base: whatever a certificate did, what is believed after its revert is what was before it."""

from contextlib import suppress
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.base import Base
from kernel.changes import Assert, Change, End, Retract
from kernel.errors import Conflict, NothingToRevert, PlanError
from kernel.facts import Validity
from kernel.ports.records import CertificateState
from kernel.terms import Statement
from kernel.time.precision import Precision
from kernel.time.timevalues import Bound
from kernel.writing.reverting import inverse
from kernel.writing.submitting import Outcome
from tests.bridge.writing import DOUBTED, OSLO, PARIS, WRITER, SetClock, decide, during, living, write, year

STATEMENTS = st.sampled_from([living(PARIS), living(OSLO)])
YEARS = st.integers(2000, 2006)
SPANS = st.lists(YEARS, min_size=2, max_size=2, unique=True).map(sorted)


@st.composite
def changes(draw: st.DrawFn) -> Change:
    statement, (start, end) = draw(STATEMENTS), draw(SPANS)
    kind = draw(st.sampled_from(["assert", "end", "retract", "retract all"]))
    if kind == "assert":
        return Assert(statement, during(start, draw(st.sampled_from([end, None]))))
    if kind == "end":
        return End(statement, Bound(year(end), Precision.YEAR, None))
    return Retract(statement, during(start, end).interval if kind == "retract" else None)


Believed = set[tuple[Statement, Validity, UUID]]


def believed(base: Base) -> Believed:
    with base.ledger.reading() as view:
        return {(fact.statement, fact.content.validity, fact.content.family) for fact in view.believed()}


def tried(base: Base, made: list[Change]) -> Outcome | None:
    """What came of changes; None where they do not fit."""
    try:
        return write(base, *made)
    except PlanError:
        return None


def revert(base: Base, certificate: UUID) -> Outcome:
    with base.ledger.reading() as view:
        record = view.certificate(certificate)
        assert record is not None
        request = inverse(view, record, WRITER.id, reason=None)
    return write(base, *request.changes)


@given(st.lists(st.lists(changes(), min_size=1, max_size=3), min_size=1, max_size=6))
def test_certificates_are_undone_one_after_another(history: list[list[Change]]) -> None:
    with Base.open(None, host=SetClock()) as base:
        stack: list[tuple[Believed, UUID]] = []
        for made in history:
            before = believed(base)
            outcome = tried(base, made)
            if outcome is not None and outcome.certificate is not None:
                stack.append((before, outcome.certificate))
        while stack:
            before, certificate = stack.pop()
            with suppress(NothingToRevert):
                assert revert(base, certificate).state is CertificateState.APPLIED
            assert believed(base) == before


@given(st.lists(changes(), min_size=1, max_size=3), st.lists(changes(), min_size=1, max_size=3))
def test_a_revert_does_all_or_nothing_whatever_came_between(first: list[Change], later: list[Change]) -> None:
    with Base.open(None, host=SetClock()) as base:
        write(base, Assert(living(PARIS), during(2001, 2004)))
        before = believed(base)
        outcome = tried(base, first)
        if outcome is None or outcome.certificate is None:
            return
        middle = believed(base)
        tried(base, later)
        after = believed(base)
        try:
            revert(base, outcome.certificate)
        except (PlanError, Conflict):
            assert believed(base) == after
        else:
            # What was undone is what the certificate brought and took; what came later stands beside it.
            assert not believed(base) & (middle - before - (after - middle))
            assert before - middle <= believed(base)


def test_a_revert_that_waits_for_an_editor_is_applied_as_it_was_asked() -> None:
    with Base.open(None, host=SetClock()) as base:
        write(base, Assert(living(PARIS), during(2001, None), confidence=DOUBTED))
        with base.ledger.reading() as view:
            [waiting] = view.certificates(state=CertificateState.PENDING)
        decide(base, waiting.id)
        gone = write(base, Retract(living(PARIS)))
        assert gone.certificate is not None
        state = revert(base, gone.certificate)
        if state.state is CertificateState.PENDING:
            decide(base, state.certificate)
        assert {(statement, validity) for statement, validity, _ in believed(base)} == {
            (living(PARIS), during(2001, None))
        }


def test_a_certificate_that_waits_cannot_be_reverted() -> None:
    with Base.open(None, host=SetClock()) as base:
        outcome = write(base, Assert(living(PARIS), confidence=DOUBTED))
        assert outcome.certificate is not None
        with pytest.raises(Conflict, match="pending"):
            revert(base, outcome.certificate)
