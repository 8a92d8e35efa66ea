"""Bases that earlier releases made are opened by this one, and go on: one of each format is kept, as it was made.

Where the format of the ledger changes, a base of the format before is added to `formats`, and stays there as long as
releases open it: version n opens n - 1. It is made by `tests.bridge.auditing.history.make`.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.ledger.schema import VERSION
from kernel.changes import Assert
from kernel.ports.purges import PurgeState
from kernel.purging.targets import Target, TargetKind
from kernel.time.instants import DAY, Instant
from tests.bridge.purging import asked, everything, purge, sound
from tests.bridge.writing import ADMINISTRATOR, LIVES_IN, NOON, OSLO, SetClock, living, person, write

FORMATS = Path(__file__).parent / "formats"
KEPT = sorted(int(path.stem.removeprefix("format-")) for path in FORMATS.iterdir())


def test_there_is_one_of_this_format_or_of_the_one_before() -> None:
    assert KEPT[-1] in (VERSION, VERSION - 1)


@pytest.mark.parametrize("version", [each for each in KEPT if each >= VERSION - 1])
def test_a_base_of_an_earlier_release_is_sound_and_goes_on(tmp_path: Path, version: int) -> None:
    with tarfile.open(FORMATS / f"format-{version}.tgz") as kept:
        kept.extractall(tmp_path, filter="data")
    folder = tmp_path / "base"
    found = audit(folder)
    assert (found.faults, found.counts.facts, found.counts.certificates) == ((), 49, 20)
    with Base.open(folder, host=SetClock(Instant(NOON + 30 * DAY))) as base:
        known = asked(base, f"?who <{LIVES_IN.value}> ?where", valid_at="2000-01-01T00:00:00Z", as_of="head:33")
        assert known.count(b"\n") == 63
        sound(base)
        assert write(base, Assert(living(OSLO, person(90)))).head is not None
        purge(base, Target(TargetKind.NODE, person(12)))
        base.purges.settled()
        assert [record.state for record in base.purges.listed(ADMINISTRATOR)] == [PurgeState.COMPLETE]
        assert f"{person(12).value}>".encode() not in everything(base)
    after = audit(folder)
    assert (after.faults, after.whole) == ((), True)
