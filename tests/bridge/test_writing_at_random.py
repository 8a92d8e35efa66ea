"""Whatever is asked, in whatever order: after each turn the base is sound, and its stores are what they should be."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.base import Base
from certificates.records import DecisionKind
from kernel.changes import Assert, Change, End, Retract, Revise
from kernel.errors import CallerError
from kernel.rules.kinds import Proposal
from kernel.terms import Iri
from kernel.time.instants import DAY
from kernel.time.timevalues import exact
from kernel.writing.deciding import DecisionRequest
from kernel.writing.submitting import Outcome
from tests.bridge.audit import Books, audit
from tests.bridge.writing import (
    ADMINISTRATOR,
    DOUBTED,
    PARIS,
    PATIENCE,
    ROME,
    SetClock,
    during,
    living,
    one_home,
    settled,
    submission,
    year,
)


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
