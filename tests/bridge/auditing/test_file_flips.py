"""A single bit is flipped anywhere in the folder of a closed base: nothing is served that was not so, or it is refused.

And whatever is refused, the audit names before anybody opens the base. No flip takes all the memory there is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

from bridge.base import Base
from kernel.access import Principal, Role
from tests.bridge.auditing.flipping import CALLER, flips, told
from tests.bridge.auditing.history import copy, make
from tests.bridge.writing import SetClock

FLIPS: Final = 200 if settings.default is settings.get_profile("fuzz") else 8
SEED: Final = 7


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SetClock, dict[str, object]]:
    """A base that was closed, its clock, and what it says."""
    path, clock = tmp_path_factory.mktemp("flips") / "base", SetClock()
    make(path, clock=clock)
    with Base.open(path, host=clock) as base:
        base.ledger.add_principal(Principal("reader", Role.READER), CALLER)
    truth = told(copy(path, path.with_name("asked")), clock)
    assert None not in truth.values()
    return path, clock, truth


def test_no_byte_that_was_flipped_is_served_as_true(
    closed: tuple[Path, SetClock, dict[str, object]], tmp_path: Path
) -> None:
    path, clock, truth = closed
    refused = 0
    for number, tried in enumerate(flips(path, tmp_path, clock.at, SEED, FLIPS)):
        assert tried.said is not None, (number, tried.file, "ended the process")
        for question, answer in tried.said.items():
            assert answer is None or answer == truth[question], (number, tried.file, question)
        if None in tried.said.values():
            refused += 1
            assert not tried.sound, (number, tried.file)
    assert refused
