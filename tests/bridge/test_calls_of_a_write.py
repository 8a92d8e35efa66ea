"""What a write costs, in calls: time tells nothing where other work shares the machine."""

from __future__ import annotations

import time
from cProfile import Profile
from typing import TYPE_CHECKING, Final

import pytest

from bridge.base import Base
from kernel.changes import Assert
from kernel.terms import Literal
from kernel.writing.sequencer import Sequencer
from tests.bridge.writing import living, person, write

if TYPE_CHECKING:
    from kernel.writing.jobs import Job

WRITES: Final = 40
CALLS: Final = 950
"""In the sequencer, of whatever is called: some 800 when this was written, 1,080 before they were counted."""


def test_a_change_that_no_shape_targets_takes_few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    profile, attempt = Profile(time.thread_time), Sequencer._attempt

    def profiled(self: Sequencer, jobs: list[Job[object]]) -> None:
        with profile:
            attempt(self, jobs)

    with Base.open(None) as base:
        write(base, Assert(living(Literal("nowhere"), person(0))))
        monkeypatch.setattr(Sequencer, "_attempt", profiled)
        for number in range(WRITES):
            assert write(base, Assert(living(Literal(f"{number} High Street"), person(number)))).head is not None
    assert sum(each.callcount for each in profile.getstats()) / WRITES < CALLS
