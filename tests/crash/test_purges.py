"""A purge that is killed is carried out or not; once it is, the next start leaves nothing of it, whatever was done."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from bridge.auditing.audit import audit
from bridge.base import Base
from kernel.changes import Assert
from kernel.errors import WasPurged
from kernel.ports.purges import PurgeState
from kernel.purging.purger import PurgeRequest
from kernel.purging.targets import Target, TargetKind
from tests.bridge.purging import bytes_of
from tests.bridge.writing import ADMINISTRATOR, OSLO, PATIENCE, SetClock, living, person, write
from tests.crash.nursery import Nursery
from tests.crash.seams import PURGE, PURGE_AMID
from tests.crash.stories import LATER, prepare

MOMENTS = 6


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared")
    prepare(folder / "base")
    return folder / "base"


def require_all_or_nothing(data: Path) -> bool:
    """Whether it was carried out in that life; if not, it is now. Nothing is left in either case."""
    with Base.open(data, host=SetClock(LATER)) as base:
        done = bool(base.purges.listed(ADMINISTRATOR))
        if not done:
            target = Target(TargetKind.NODE, person(1))
            digest = base.purges.preview(ADMINISTRATOR, target).digest
            base.purges.purge(PurgeRequest(target, "again", ADMINISTRATOR, digest)).result(PATIENCE)
        with pytest.raises(WasPurged):
            write(base, Assert(living(OSLO, person(1))))
        base.purges.settled()
        assert [record.state for record in base.purges.listed(ADMINISTRATOR)] == [PurgeState.COMPLETE]
    assert f"{person(1).value}>".encode() not in bytes_of(data)
    audited = audit(data)
    assert (audited.faults, audited.whole) == ((), True)
    return done


@pytest.mark.parametrize("seam", PURGE)
def test_a_purge_that_is_killed(nursery: Nursery, prepared: Path, tmp_path: Path, seam: str) -> None:
    data = tmp_path / "base"
    shutil.copytree(prepared, data)
    life = nursery.live("purge", data, seam=seam)
    assert life.was_killed, life
    assert require_all_or_nothing(data) == (seam != "before the commit")


def require_nothing_left(data: Path) -> int:
    """The next start ends whatever was carried out in that life; answers how many purges that is."""
    with Base.open(data, host=SetClock(LATER)) as base:
        base.purges.settled()
        ended = [record.state for record in base.purges.listed(ADMINISTRATOR)]
    assert set(ended) <= {PurgeState.COMPLETE}
    found = bytes_of(data)
    assert not [number for number in range(1, 1 + len(ended)) if f"{person(number).value}>".encode() in found]
    audited = audit(data)
    assert (audited.faults, audited.whole) == ((), True)
    return len(ended)


@pytest.mark.parametrize("seam", PURGE_AMID)
def test_a_purge_amid_the_second_phase_of_another_that_is_killed(
    nursery: Nursery, prepared: Path, tmp_path: Path, seam: str
) -> None:
    data = Path(shutil.copytree(prepared, tmp_path / "base"))
    life = nursery.live("purge_amid", data, seam=seam)
    assert life.was_killed, life
    assert require_nothing_left(data) == 2


@pytest.mark.fuzz
def test_a_purge_amid_the_second_phase_of_another_that_is_killed_anywhere(
    nursery: Nursery, prepared: Path, tmp_path: Path
) -> None:
    whole = nursery.live("purge_amid", Path(shutil.copytree(prepared, tmp_path / "whole")), moment=0)
    assert whole.moments is not None
    random = Random(6)
    for number in range(10 * MOMENTS):
        data = Path(shutil.copytree(prepared, tmp_path / str(number)))
        nursery.live("purge_amid", data, moment=1 + random.randrange(whole.moments))
        require_nothing_left(data)


@pytest.mark.fuzz
def test_a_purge_that_is_killed_anywhere(nursery: Nursery, prepared: Path, tmp_path: Path) -> None:
    def copied(name: str) -> Path:
        return Path(shutil.copytree(prepared, tmp_path / name))

    whole = nursery.live("purge", copied("whole"), moment=0)
    assert whole.moments is not None
    random = Random(5)
    for number in range(10 * MOMENTS):
        data = copied(str(number))
        nursery.live("purge", data, moment=1 + random.randrange(whole.moments))
        require_all_or_nothing(data)
