"""A base whose writers were killed is sound as it lies there, before anybody opens it again."""

from pathlib import Path
from random import Random

from bridge.auditing.audit import audit
from tests.crash.nursery import Nursery


def test_a_base_is_sound_right_after_each_kill(tmp_path: Path) -> None:
    random = Random(33)
    with Nursery() as nursery:
        for number in range(5):
            life = nursery.kill_amid(
                "write_much",
                tmp_path / "base",
                seed=number,
                acknowledgements=random.randrange(1, 40),
                seconds=random.uniform(0, 0.02),
            )
            assert life.was_killed
            found = audit(tmp_path / "base")
            assert found.faults == ()
            assert found.counts.facts > 0
