"""Whether a base's folder is as it should be, and its host: one small probe for each thing that goes wrong in practice.

Rules
-----
* A probe looks and changes nothing of what is kept: it makes no folder, no base and no key, and mends nothing.
* It never fails itself: what it meets is its answer. What cannot be looked at is said so.
* `fail`: the base cannot be served, or not safely. `warn`: it can, and somebody should know. Both have a remedy.
* A base that is being served is looked at beside the service, but for its stores, which are open there.

Example
-------
>>> folder(Path("/no/such/folder")).grade.value
'warn'
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bridge.host import SystemClock
from bridge.ledger.schema import VERSION
from bridge.ledger.sqlite import SqliteLedger
from bridge.lock import DirectoryLock
from bridge.signing.keys import KeyPlace
from bridge.stores.pair import OxigraphStores
from bridge.stores.places import store_directory
from bridge.stores.projections import Projection
from certificates.errors import CertificateError
from kernel.errors import BaseInUse, MunimentError
from kernel.time.instants import print_instant
from kernel.time.transaction_clock import refuse_if_ahead

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.signing.keys import GivenKey
    from kernel.ports.outside import HostClock

LEDGER: Final = "ledger.sqlite"

SCARCE: Final = 2**30
"""Bytes of free disk below which somebody should know."""

TOO_SCARCE: Final = 2**26
"""Bytes below which a write may fail any moment."""


class Grade(StrEnum):
    """How it stands with what was looked at."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a probe found.

    Args:
        check: what was looked at.
        grade: how it stands.
        what: what was found.
        remedy: what to do about it; None when there is nothing to do.
    """

    check: str
    grade: Grade
    what: str
    remedy: str | None = None

    def __post_init__(self) -> None:
        if (self.grade is Grade.OK) is not (self.remedy is None):
            raise ValueError(f"{self.check}: a remedy goes with what is not in order, and with nothing else")


def examine(data: Path, host: HostClock | None = None, given: GivenKey | None = None) -> Iterator[Diagnosis]:
    """Everything about a folder; of the base in it, if there is one, whose key may be given from elsewhere."""
    yield folder(data)
    yield disk(data)
    if not (data / LEDGER).is_file():
        return
    served = is_held(data)
    yield lock(data, served=served)
    yield from _of_ledger(data, host or SystemClock(), KeyPlace.of(data, given), served=served)


def folder(data: Path) -> Diagnosis:
    """Whether the folder is there, ours, writable, and closed to others."""
    if not data.is_dir():
        what = "is no folder" if data.exists() else "is not there"
        return _warn("folder", f"{data} {what}", "check --data; `muniment serve` makes a base where there is none")
    status = data.stat()
    if status.st_uid != os.getuid():
        return _fail("folder", f"{data} belongs to user {status.st_uid}, not to {os.getuid()}", "run as its owner")
    if not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        return _fail("folder", f"{data} cannot be written", f"run `chmod 700 {data}`, or mount it for writing")
    if not (data / LEDGER).is_file():
        return _warn("folder", f"there is no base in {data}", "check --data; `muniment serve` makes one")
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        mode = f"{stat.S_IMODE(status.st_mode):04o}"
        return _warn("folder", f"mode {mode} opens {data} to others than its owner", f"run `chmod 700 {data}`")
    return _ok("folder", f"{data} is there, and its owner's alone")


def disk(data: Path, scarce: int = SCARCE) -> Diagnosis:
    """Whether there is room on the disk; `muniment rebuild` needs as much again as the base has."""
    there = next(each for each in (data.absolute(), *data.absolute().parents) if each.exists())
    free = shutil.disk_usage(there).free
    told = f"{free / 2**30:.1f} GB free"
    if free < min(TOO_SCARCE, scarce):
        return _fail("disk", told, "make room: a write may fail any moment")
    if free < scarce:
        return _warn("disk", told, "make room before it runs out")
    return _ok("disk", told)


def is_held(data: Path) -> bool:
    """Whether a process holds the base."""
    if not (data / "lock").exists():
        return False
    try:
        with DirectoryLock(data / "lock"):
            return False
    except (BaseInUse, OSError):
        return True


def lock(data: Path, *, served: bool) -> Diagnosis:
    """Who holds the base."""
    if served:
        return _ok("lock", f"another process holds {data}: it is being served, or loaded into")
    return _ok("lock", "nobody holds the base")


# --- the ledger and what depends on it --------------------------------------------------------------------------------


def _of_ledger(data: Path, host: HostClock, place: KeyPlace, *, served: bool) -> Iterator[Diagnosis]:
    if not (data / LEDGER).stat().st_size:
        yield _fail("ledger", f"{data / LEDGER} is empty", "put it back from a backup")
        return
    try:
        ledger = SqliteLedger.open(data / LEDGER, host)
    except MunimentError as error:
        yield _fail("ledger", error.message, error.remedy)
        return
    with closing(ledger):
        yield _soundness(ledger)
        yield _clock(ledger, host)
        yield _key(place, ledger)
        yield _unseen() if served else _stores(data, ledger)


def _soundness(ledger: SqliteLedger) -> Diagnosis:
    try:
        ledger.require_sound()
    except MunimentError as error:
        return _fail("ledger", error.message, error.remedy)
    with ledger.reading() as view:
        head = view.head().position
    return _ok("ledger", f"schema version {VERSION}, {'nothing applied yet' if head is None else f'head {head}'}")


def _clock(ledger: SqliteLedger, host: HostClock) -> Diagnosis:
    """Whether the host's clock goes with the last instant of the ledger."""
    now = host.now()
    with ledger.reading() as view:
        last = view.head().clock
    try:
        refuse_if_ahead(last, now, accept=False)
    except MunimentError as error:
        return _fail("clock", error.message, error.remedy)
    return _ok("clock", f"{print_instant(now)}, not behind the ledger")


def _key(place: KeyPlace, ledger: SqliteLedger) -> Diagnosis:
    """Whether the signing key is there, closed to others, and the one that the ledger knows."""
    path, known = place.path or "the key that is given", ledger.signing_key()
    if known is None and place.made and place.path is not None and not place.path.exists():
        return _ok("key", "none yet: the first start makes it")
    try:
        key = place.load()
    except CertificateError as error:
        return _fail("key", f"{path}: {error.message}", error.remedy)
    if known not in (None, key.public.multibase):
        if place.following is not None and place.following.exists():
            return _warn("key", "a rotation was interrupted", "start the service: it finishes that")
        return _fail("key", f"{path} is not the key that the base signs with", "put that one back from a backup")
    return _ok("key", f"{path} is there, its owner's alone, and the base's")


def _stores(data: Path, ledger: SqliteLedger) -> Diagnosis:
    """How far behind the ledger the stores are; the base is held meanwhile."""
    path = data / "stores"
    if not all(store_directory(path, projection).is_dir() for projection in Projection):
        return _warn("stores", "not there", "start the service: it makes them, some seconds per 100,000 facts")
    try:
        with DirectoryLock(data / "lock"), closing(OxigraphStores.open(path)) as stores:
            reached, _ = stores.position()
    except BaseInUse:
        return _unseen()
    except MunimentError as error:
        return _fail("stores", error.message, f"{error.remedy}; or delete {path}: the next start makes them anew")
    with ledger.reading() as view:
        head = view.head()
        at = None if reached is None else view.head_at(reached)
    if reached == head.instant:
        return _ok("stores", "level with the ledger")
    if head.instant is None or (reached is not None and reached > head.instant):
        return _fail(
            "stores",
            "they know more than the ledger, which is older than they are",
            f"put the newest ledger back, or, if this is the newest, delete {path}",
        )
    return _warn(
        "stores",
        f"at {'nothing' if at is None else f'head {at}'}, the ledger at head {head.position}",
        "start the service: it brings them up",
    )


def _unseen() -> Diagnosis:
    return _ok("stores", "open in the process that holds the base; GET /health tells whether they are behind")


def _ok(check: str, what: str) -> Diagnosis:
    return Diagnosis(check, Grade.OK, what)


def _warn(check: str, what: str, remedy: str) -> Diagnosis:
    return Diagnosis(check, Grade.WARN, what, remedy)


def _fail(check: str, what: str, remedy: str) -> Diagnosis:
    return Diagnosis(check, Grade.FAIL, what, remedy)
