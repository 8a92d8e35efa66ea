"""A process that is killed at a seam of the write path leaves everything that it acknowledged, and nothing by half."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

import pytest

from bridge.base import Base
from bridge.ledger.sqlite import SqliteLedger
from bridge.loading.options import LoadOptions
from bridge.loading.refusals import Refusals
from bridge.loading.session import Watch, stage_files
from bridge.signing.keys import SIGNING_KEY
from certificates.certificate import Verdict
from kernel.changes import Assert
from kernel.errors import AlreadyDecided, MunimentError
from kernel.ports.records import CertificateState
from kernel.terms import Literal
from kernel.writing.loading import LoadRequest
from tests.bridge.audit import Books, audit
from tests.bridge.writing import (
    ADMINISTRATOR,
    EDITOR,
    OSLO,
    PARIS,
    PATIENCE,
    ROME,
    SetClock,
    a_shape,
    decide,
    homes,
    living,
    person,
    submission,
    write,
)
from tests.crash.nursery import Life, Nursery
from tests.crash.seams import ANSWERED, APPLY, BIRTH, LOAD, STAGING
from tests.crash.stories import LATER, LINES, LINES_A_CHUNK, SOON, large_write, prepare, require_kept

MOMENTS: Final = 12
"""At how many calls and returns each work is cut off, drawn from all that it takes."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base, and a file to load."""
    folder = tmp_path_factory.mktemp("prepared")
    prepare(folder / "base")
    lines = [f"<http://example.org/{n}> <http://example.org/p> <http://example.org/{n % 7}> .\n" for n in range(LINES)]
    (folder / "facts.nt").write_text("".join(lines))
    return folder


@pytest.fixture
def data(tmp_path: Path, prepared: Path) -> Path:
    """A base to be killed in."""
    return copied(prepared, tmp_path / "copy")


def copied(prepared: Path, to: Path) -> Path:
    shutil.copytree(prepared, to)
    return to / "base"


def anywhere(nursery: Nursery, work: str, make: Callable[[Path], Path], folder: Path) -> Iterator[tuple[Path, Life]]:
    """Lives that are cut off at moments spread over all that they do, each on a base of its own."""
    whole = nursery.live(work, make(folder / "whole"), moment=0)
    assert whole.ended == 0
    assert whole.moments is not None
    random = Random(work)
    for number in range(MOMENTS):
        moment = 1 + int((number + random.random()) * whole.moments / MOMENTS)
        data = make(folder / str(moment))
        life = nursery.live(work, data, moment=moment)
        assert life.was_killed or life.ended == 0
        with noted(f"killed at moment {moment} of {whole.moments}"):
            yield data, life


@contextmanager
def noted(what: str) -> Iterator[None]:
    """Says in an error under which circumstances it came about."""
    try:
        yield
    except (AssertionError, MunimentError) as error:
        error.add_note(what)
        raise


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the worker: a session is gone on with in chunks of the same size."""
    monkeypatch.setattr("bridge.loading.session.CHUNK", LINES_A_CHUNK)


def reopened(data: Path) -> Base:
    return Base.open(data, host=SetClock(LATER))


def require_sound(base: Base, life: Life) -> Books:
    """AllOrNothing; and the clock has been caught up with."""
    books = audit(base)
    assert books.head.clock == LATER
    require_kept(books, life.acknowledged)
    return books


# --- a write ----------------------------------------------------------------------------------------------------------


def require_a_write(data: Path, life: Life) -> bool:
    """Whether it was applied in that life; sent again it has the same certificate, and is there once."""
    with reopened(data) as base:
        applied = require_sound(base, life).idempotency.get(("writer", "seam"))
        assert homes(base, subject=person(1)) == ({ROME} if applied is None else {ROME, OSLO})
        again = base.submit(submission(Assert(living(OSLO, person(1))), key="seam", body=b"seam")).result(PATIENCE)
        assert again.state is CertificateState.APPLIED
        assert applied in {None, again.certificate}
        assert homes(base, subject=person(1)) == {ROME, OSLO}
        assert len(audit(base).certificates) == 4
    return applied is not None


@pytest.mark.parametrize("seam", APPLY)
def test_a_write_that_is_killed(nursery: Nursery, data: Path, seam: str) -> None:
    life = nursery.live("write", data, seam=seam)
    assert life.was_killed
    assert seam in ANSWERED or life.acknowledged == []
    assert require_a_write(data, life) == (seam != "before the commit")


def test_a_write_that_is_killed_anywhere(nursery: Nursery, prepared: Path, tmp_path: Path) -> None:
    applied = [
        require_a_write(data, life) for data, life in anywhere(nursery, "write", partial(copied, prepared), tmp_path)
    ]
    assert set(applied) == {True, False}


# --- shapes -----------------------------------------------------------------------------------------------------------


def require_shapes(data: Path, life: Life) -> bool:
    """Whether they were written in that life; all of them or none, and sent again they have the same certificate."""
    with reopened(data) as base:
        applied = require_sound(base, life).idempotency.get(("administrator", "seam"))
        nameless = Assert(living(Literal("nowhere"), person(4)))
        assert write(base, nameless, dry_run=True).verdict is (Verdict.CLEAR if applied is None else Verdict.REFUSED)
        asked = submission(*a_shape(), by=ADMINISTRATOR, key="seam", body=b"seam")
        again = base.submit(asked).result(PATIENCE)
        assert again.state is CertificateState.APPLIED
        assert applied in {None, again.certificate}
        assert write(base, nameless, dry_run=True).verdict is Verdict.REFUSED
    return applied is not None


@pytest.mark.parametrize("seam", APPLY)
def test_shapes_whose_write_is_killed(nursery: Nursery, data: Path, seam: str) -> None:
    life = nursery.live("write_shapes", data, seam=seam)
    assert life.was_killed
    assert seam in ANSWERED or life.acknowledged == []
    assert require_shapes(data, life) == (seam != "before the commit")


def test_shapes_whose_write_is_killed_anywhere(nursery: Nursery, prepared: Path, tmp_path: Path) -> None:
    """Also while they are judged beside the writes, when nothing of them is kept."""
    lives = anywhere(nursery, "write_shapes", partial(copied, prepared), tmp_path)
    assert False in {require_shapes(data, life) for data, life in lives}


# --- a decision -------------------------------------------------------------------------------------------------------


def require_an_approval(data: Path, life: Life) -> bool:
    """Whether it was applied in that life; otherwise it still waits."""
    with reopened(data) as base:
        books = require_sound(base, life)
        waiting = next(record for record in books.certificates.values() if record.verdict is Verdict.REVIEW)
        applied = waiting.state is CertificateState.APPLIED
        assert homes(base, subject=person(3)) == ({PARIS} if applied else set())
        if not applied:
            assert waiting.state is CertificateState.PENDING
            assert decide(base, waiting.id).state is CertificateState.APPLIED
        else:
            with pytest.raises(AlreadyDecided):
                decide(base, waiting.id)
        audit(base)
    return applied


@pytest.mark.parametrize("seam", APPLY)
def test_an_approval_that_is_killed(nursery: Nursery, data: Path, seam: str) -> None:
    life = nursery.live("approve", data, seam=seam)
    assert life.was_killed
    assert require_an_approval(data, life) == (seam != "before the commit")


def test_an_approval_that_is_killed_anywhere(nursery: Nursery, prepared: Path, tmp_path: Path) -> None:
    applied = [
        require_an_approval(data, life)
        for data, life in anywhere(nursery, "approve", partial(copied, prepared), tmp_path)
    ]
    assert set(applied) == {True, False}


# --- the clock --------------------------------------------------------------------------------------------------------


def require_the_boundary_is_passed(data: Path, life: Life) -> None:
    with reopened(data) as base:
        books = require_sound(base, life)
        assert len(books.certificates) == 3
        assert homes(base, subject=person(1)) == {ROME}
        assert homes(base, subject=person(2)) == {ROME}


@pytest.mark.parametrize("work", ["advance", "start"])
@pytest.mark.parametrize("seam", APPLY)
def test_a_clock_that_is_killed_as_it_passes_a_boundary(nursery: Nursery, data: Path, work: str, seam: str) -> None:
    assert nursery.live(work, data, seam=seam).was_killed
    if work == "advance":  # a start looks after its stores before it advances
        with closing(SqliteLedger.open(data / "ledger.sqlite")) as ledger, ledger.reading() as view:
            assert (view.head().clock == SOON) == (seam != "before the commit")
    require_the_boundary_is_passed(data, Life())


@pytest.mark.parametrize("work", ["advance", "start"])
def test_a_clock_that_is_killed_anywhere(nursery: Nursery, prepared: Path, tmp_path: Path, work: str) -> None:
    for data, life in anywhere(nursery, work, partial(copied, prepared), tmp_path):
        require_the_boundary_is_passed(data, life)


def test_a_start_without_stores_that_is_killed_anywhere(nursery: Nursery, prepared: Path, tmp_path: Path) -> None:
    def without_stores(folder: Path) -> Path:
        data = copied(prepared, folder)
        shutil.rmtree(data / "stores")
        return data

    for data, life in anywhere(nursery, "start", without_stores, tmp_path):
        require_the_boundary_is_passed(data, life)


# --- a large write ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seam", [each for each in LOAD if each != "amid the apply"])
def test_a_large_write_that_is_killed(nursery: Nursery, data: Path, seam: str) -> None:
    life = nursery.live("write_large", data, seam=seam)
    assert life.was_killed
    assert life.acknowledged == []
    with reopened(data) as base:
        applied = require_sound(base, life).idempotency.get(("writer", "seam"))
        assert (applied is None) == (seam == "before the commit")
        again = base.submit(submission(*large_write(), key="seam", body=b"seam")).result(PATIENCE)
        assert again.state is CertificateState.APPLIED
        assert applied in {None, again.certificate}
        books = audit(base)
        assert len(books.certificates) == 4
        assert sum(fact.certificate == again.certificate for fact in books.facts) == LINES


# --- a load session ---------------------------------------------------------------------------------------------------


def require_a_load(data: Path, life: Life) -> bool:
    """Whether it was applied in that life; loaded again it goes on where it was, and has one certificate."""
    with reopened(data) as base:
        books = require_sound(base, life)
        applied = len(books.certificates) == 4
        loaded = [fact for fact in books.facts if fact.statement.predicate.value == "http://example.org/p"]
        assert len(loaded) == (LINES if applied else 0)
        watch = Watch(Refusals(), lambda read, total: None)
        staged = stage_files(base.ledger, [data.with_name("facts.nt")], LoadOptions(), EDITOR, watch)
        outcome = base.load(LoadRequest(staged.request, EDITOR, lambda planned: None)).result(PATIENCE)
        assert outcome.state is CertificateState.APPLIED
        assert base.ledger.staged_sessions() == []
        books = audit(base)
        assert len(books.certificates) == 4
        assert sum(fact.certificate == outcome.certificate for fact in books.facts) == LINES
    return applied


@pytest.mark.parametrize("seam", STAGING | LOAD)
def test_a_load_session_that_is_killed(nursery: Nursery, data: Path, seam: str) -> None:
    life = nursery.live("load", data, seam=seam)
    assert life.was_killed
    assert require_a_load(data, life) == (seam not in {*STAGING, "amid the apply", "before the commit"})


def test_a_load_session_that_is_killed_anywhere(nursery: Nursery, prepared: Path, tmp_path: Path) -> None:
    applied = [
        require_a_load(data, life) for data, life in anywhere(nursery, "load", partial(copied, prepared), tmp_path)
    ]
    assert set(applied) == {True, False}


# --- a base that is made ----------------------------------------------------------------------------------------------


def require_a_base(data: Path) -> None:
    """One that opens, signs, and opens again with the key that it signed with."""
    with reopened(data) as base:
        assert audit(base).certificates == {}
        write(base, Assert(living(PARIS)))
        key = base.key
    assert stat.S_IMODE((data / SIGNING_KEY).stat().st_mode) == 0o600
    with reopened(data) as base:
        assert base.key == key
        assert homes(base) == {PARIS}
        audit(base)


@pytest.mark.parametrize("seam", BIRTH)
def test_a_base_that_is_killed_as_it_is_made(nursery: Nursery, tmp_path: Path, seam: str) -> None:
    assert nursery.live("start", tmp_path / "base", seam=seam).was_killed
    require_a_base(tmp_path / "base")


def test_a_base_that_is_killed_anywhere_as_it_is_made(nursery: Nursery, tmp_path: Path) -> None:
    for data, _ in anywhere(nursery, "start", lambda folder: folder / "base", tmp_path):
        require_a_base(data)
