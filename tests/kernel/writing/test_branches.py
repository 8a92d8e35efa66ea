"""Branches: whose they are, how many, how large and how long, and that each is submitted once."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from kernel.access import Principal, Role
from kernel.changes import Assert, Request
from kernel.errors import Busy, Conflict, Forbidden, InvalidChange, NotFound, StateMoved, TooManyChanges
from kernel.terms import Iri, Statement
from kernel.time.instants import SECOND
from kernel.vocabulary import DEFAULT_GRAPH
from kernel.writing import branches as module
from kernel.writing.branches import Bounds, Branches
from tests.bridge.writing import SetClock

ANN, BOB = Principal("ann", Role.WRITER), Principal("bob", Role.EDITOR)
ADMINISTRATOR = Principal("administrator", Role.ADMINISTRATOR)


def plan(*names: str, by: Principal = ANN, reason: str | None = None) -> Request:
    changes = (Assert(Statement(Iri(f"urn:{name}"), Iri("urn:p"), Iri("urn:o"), DEFAULT_GRAPH)) for name in names)
    return Request(tuple(changes), reason, None, by.id)


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def branches(clock: SetClock) -> Branches:
    return Branches(Bounds(branches=2, changes=3, size=100, seconds=60), clock)


def test_a_branch_is_one_request_of_its_plans_in_order(branches: Branches) -> None:
    branch = branches.make(ANN, plan("a", reason="one"), 10)
    before, after = branches.add(ANN, branch.id, plan("b", reason="two"), 10)
    assert before is branch
    assert [change.statement.subject.value for change in after.request.changes] == ["urn:a", "urn:b"]  # type: ignore[union-attr]
    assert (after.request.reason, after.request.principal, after.size) == ("one\ntwo", "ann", 20)
    branches.put_back(before, after)
    assert branches.one(ANN, branch.id)[0] is branch


def test_a_plan_that_cites_nothing_cites_what_the_branch_does(branches: Branches) -> None:
    first, other = Iri("urn:episode:1"), Iri("urn:episode:2")
    branch = branches.make(ANN, replace(plan("a"), episode=first), 10)
    _, after = branches.add(ANN, branch.id, plan("b"), 10)
    assert (after.plans[1].episode, after.request.episode) == (first, first)
    with pytest.raises(InvalidChange, match="cites one source"):
        branches.add(ANN, branch.id, replace(plan("c"), episode=other), 10)


def test_the_place_of_an_error_is_one_in_the_plans(branches: Branches) -> None:
    branch = branches.make(ANN, plan("a"), 10)
    _, after = branches.add(ANN, branch.id, plan("b", "c"), 10)
    told = {each: after.place(each) for each in ("/changes/0", "/changes/2/object", "/changes/9", "/reason", None)}
    assert [*told.values()] == ["/plans/0/changes/0", "/plans/1/changes/1/object", "/changes/9", "/reason", None]


def test_an_administrator_sees_a_branch_and_adds_nothing_to_it(branches: Branches) -> None:
    branch = branches.make(ANN, plan("a"), 10)
    assert branches.one(ADMINISTRATOR, branch.id)[0] is branch
    with pytest.raises(Forbidden, match="only its maker"):
        branches.add(ADMINISTRATOR, branch.id, plan("b", by=ADMINISTRATOR), 10)
    assert branches.one(ANN, branch.id)[0] is branch


def test_what_is_being_submitted_stays_as_it_is(branches: Branches) -> None:
    """Else what was applied would be held for another certificate, or be told as dropped."""
    made = branches.make(ANN, plan("a"), 10)
    before, branch = branches.add(ANN, made.id, plan("b"), 10)
    assert branches.claim(ANN, branch.id) is branch
    for change in (lambda: branches.add(ANN, branch.id, plan("c"), 10), lambda: branches.drop(ANN, branch.id)):
        with pytest.raises(StateMoved, match="being submitted"):
            change()
    branches.put_back(before, branch)
    branches.settle(branch, uuid4(), refused=False)
    assert branches.one(ANN, branch.id)[0].certificate is not None


def test_others_meet_the_same_error_as_for_one_that_never_was(branches: Branches) -> None:
    branch = branches.make(ANN, plan("a"), 10)
    for identifier in (branch.id, uuid4()):
        for attempt in (branches.one, branches.drop, branches.claim):
            with pytest.raises(NotFound, match="no such branch"):
                attempt(BOB, identifier)
        with pytest.raises(NotFound, match="no such branch"):
            branches.add(BOB, identifier, plan("b"), 1)
    assert branches.of(BOB) == []
    assert branches.of(ADMINISTRATOR) == branches.of(ANN) == [branch]


def test_they_are_bounded_of_each_and_in_all(branches: Branches, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Forbidden):
        branches.make(Principal("reader", Role.READER), plan("a"), 1)
    with pytest.raises(TooManyChanges):
        branches.make(ANN, plan(*"abcd"), 1)
    with pytest.raises(TooManyChanges):
        branches.make(ANN, plan("a"), 101)
    one, _ = (branches.make(ANN, plan("a"), 60) for _ in range(2))
    with pytest.raises(Conflict, match="you hold 2"):
        branches.make(ANN, plan("a"), 1)
    monkeypatch.setattr(module, "SIZE_IN_ALL", 130)
    with pytest.raises(Busy):
        branches.make(BOB, plan("a", by=BOB), 20)
    with pytest.raises(Busy):
        branches.add(ANN, one.id, plan("b"), 20)
    monkeypatch.setattr(module, "IN_ALL", 2)
    with pytest.raises(Busy):
        branches.make(BOB, plan("a", by=BOB), 1)
    branches.drop(ANN, one.id)
    branches.make(BOB, plan("a", by=BOB), 1)


def test_each_goes_by_itself_once_its_time_is_over(branches: Branches, clock: SetClock) -> None:
    branch = branches.make(ANN, plan("a"), 1)
    clock.move(59 * SECOND)
    branches.add(ANN, branch.id, plan("b"), 1)
    clock.move(59 * SECOND)
    assert len(branches.of(ANN)) == 1
    clock.move(SECOND)
    assert branches.of(ANN) == []


def test_one_is_submitted_by_one_at_a_time_and_then_holds_nothing(branches: Branches) -> None:
    branch = branches.make(ANN, plan("a"), 1)
    assert branches.claim(ANN, branch.id) is branch
    assert branches.claim(ANN, branch.id).key == branch.key
    with pytest.raises(StateMoved):
        branches.claim(ADMINISTRATOR, branch.id)
    branches.settle(branch, uuid4(), refused=True)
    again = branches.claim(ADMINISTRATOR, branch.id)
    assert (again.request.changes, again.key != branch.key) == (branch.request.changes, True)
    certificate = uuid4()
    branches.settle(again, certificate, refused=False)
    submitted = branches.claim(ANN, branch.id)
    assert (submitted.certificate, submitted.plans, submitted.size) == (certificate, (), 0)
    with pytest.raises(Conflict, match="was submitted"):
        branches.add(ANN, branch.id, plan("b"), 1)
    branches.make(ANN, plan("a"), 1)
    branches.make(ANN, plan("a"), 1)
