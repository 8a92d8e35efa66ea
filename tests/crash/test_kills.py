"""A process of eight writers that is killed at random moments, again and again, on the same base."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from bridge.base import Base
from bridge.host import SystemClock
from bridge.stores.errors import open_store
from bridge.stores.pair import rebuild, same_quads
from bridge.stores.projections import Projection
from kernel.changes import Assert
from kernel.ports.records import CertificateState
from tests.bridge.audit import Books, audit
from tests.bridge.writing import PARIS, PATIENCE, SetClock, living, person, submission
from tests.crash.nursery import Nursery
from tests.crash.saying import Acknowledged
from tests.crash.stories import require_kept

LIVES: Final = 50
SENT_AGAIN: Final = 10


def test_what_eight_writers_were_told_is_there_however_they_are_killed(nursery: Nursery, tmp_path: Path) -> None:
    """Case 32; AllOrNothing, Idempotent."""
    random = Random(32)
    data = tmp_path / "base"
    known: list[Acknowledged] = []
    books: Books | None = None
    for number in range(LIVES):
        begun = random.random() < 0.9  # otherwise it may be killed before it has opened the base
        life = nursery.kill_amid(
            "write_much",
            data,
            seed=number,
            acknowledgements=random.randrange(1, 40) if begun else 0,
            seconds=random.uniform(0, 0.02 if begun else 0.1),
        )
        assert life.was_killed
        assert life.broken == []
        known += life.acknowledged
        with standing(data) as base:
            before, books = books, audit(base, signatures=False)
            require_kept(books, known)
            assert before is None or books.events[: len(before.events)] == before.events
            require_idempotent(base, life.acknowledged, random)
    with standing(data) as base:
        require_variety(audit(base), known)
        require_rebuilt_equal(base, tmp_path / "anew")


def standing(data: Path) -> Base:
    """The base, at a clock that does not go while it is looked at."""
    return Base.open(data, host=SetClock(SystemClock().now()))


def require_idempotent(base: Base, told: Sequence[Acknowledged], random: Random) -> None:
    """What has a key is sent again, and gets the certificate that it had; what is sent no longer matters."""
    keyed = [each for each in told if each.key is not None]
    for each in random.sample(keyed, min(len(keyed), SENT_AGAIN)):
        key = each.key or ""
        again = base.submit(submission(Assert(living(PARIS, person(0))), key=key, body=key.encode())).result(PATIENCE)
        assert again.certificate == each.id


def require_variety(books: Books, known: Sequence[Acknowledged]) -> None:
    """The lives were worth living: everything that a base does was acknowledged, and was cut off as well."""
    assert len(known) > 10 * LIVES
    states = (CertificateState.APPLIED, CertificateState.PENDING, CertificateState.REJECTED)
    assert {each.state for each in known} >= set(states)
    assert len(books.certificates) > len({each.id for each in known})


def require_rebuilt_equal(base: Base, anew: Path) -> None:
    """The stores that were cut off so often are, quad for quad, those that are made in one piece."""
    with base.ledger.reading() as view:
        rebuild(view, anew, base.stores.position()[1])
    for projection in Projection:
        rebuilt = open_store(anew / projection)
        assert base.stores.read(projection, partial(same_quads, rebuilt))[0]
