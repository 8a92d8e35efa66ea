"""Seams: the places at which a process kills itself, put into the service's classes from outside.

Rules
-----
* A named seam is before or after a method. Armed, it kills the process the first time it is passed, or the n-th.
* A counted seam is the n-th call or return of any thread, once it is armed: every one is a moment like any other.
* Nothing in the service knows of any of this.

Example
-------
::

    seam = Seam("before the commit", None)
    seam.arm()                                   # the next commit is the end
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import FrameType, ModuleType
from typing import Final

from bridge.ledger.sqlite import SqliteLedger
from bridge.ledger.writing import SqliteTransaction
from bridge.purging.eraser import Eraser
from bridge.snapshots.cache import Snapshots
from bridge.stores import pair
from bridge.stores.pair import OxigraphStores
from bridge.stores.projection_store import Load, ProjectionStore
from bridge.stores.projections import Projection
from bridge.stores.serving import ServedStore
from certificates.keys import SigningKey

Condition = Callable[..., bool]


def die() -> None:
    """At once, and without a word."""
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


def nth(number: int) -> Condition:
    """Whether it is asked for the n-th time."""
    count = iter(range(1, 10_000))
    return lambda *_: next(count) == number


def of(projection: Projection) -> Condition:
    """Whether it is a method of that store."""
    return lambda store, *_: store._projection is projection


def _before(owner: type | ModuleType, name: str, when: Condition | None = None) -> Callable[[], None]:
    def arm() -> None:
        method = getattr(owner, name)

        @wraps(method)
        def passing(*args: object, **named: object) -> object:
            if when is None or when(*args):
                die()
            return method(*args, **named)

        setattr(owner, name, passing)

    return arm


def _after(owner: type | ModuleType, name: str, when: Condition | None = None) -> Callable[[], None]:
    def arm() -> None:
        method = getattr(owner, name)

        @wraps(method)
        def passing(*args: object, **named: object) -> object:
            result = method(*args, **named)
            if when is None or when(*args):
                die()
            return result

        setattr(owner, name, passing)

    return arm


APPLY: Final = {
    "before the commit": _before(SqliteTransaction, "commit"),
    "after the commit": _after(SqliteTransaction, "commit"),
    "amid the current store": _before(ProjectionStore, "_arrive", of(Projection.CURRENT)),
    "between the stores": _after(ProjectionStore, "_arrive", of(Projection.CURRENT)),
    "amid the complete store": _before(ProjectionStore, "_arrive", of(Projection.COMPLETE)),
    "after the stores": _after(ProjectionStore, "_arrive", of(Projection.COMPLETE)),
}
"""On the way of a group of writes, or of the clock, into ledger and stores."""

ANSWERED: Final = frozenset(
    {"amid the current store", "between the stores", "amid the complete store", "after the stores"}
)
"""Those of `APPLY` at which the answer may have been given."""

STAGING: Final = {
    "amid staging": _after(SqliteLedger, "stage", nth(2)),
    "before all is staged": _before(SqliteLedger, "stage", nth(5)),
}
"""While a load session is staged."""

LOAD: Final = {
    "amid the apply": _after(SqliteTransaction, "record", nth(2)),
    "before the commit": APPLY["before the commit"],
    "after the commit": APPLY["after the commit"],
    "before the first store freezes its readers": _before(ServedStore, "freeze"),
    "after the second store froze its readers": _after(ServedStore, "freeze", nth(2)),
    "amid the bulk load of the complete store": _after(Load, "take", nth(3)),
    "amid the bulk load of the current store": _after(Load, "take", nth(4)),
    "before the first bulk load is finished": _before(ProjectionStore, "finish_load"),
    "amid the complete store": APPLY["amid the complete store"],
    "between the bulk loads": _before(ProjectionStore, "finish_load", nth(2)),
    "amid the current store": APPLY["amid the current store"],
    "after the bulk loads": _after(ProjectionStore, "finish_load", nth(2)),
}
"""While a load session is applied."""

BIRTH: Final = {
    "before the key is saved": _before(SigningKey, "save"),
    "before the key has its name": _before(os, "link"),
    "when the key has two names": _after(os, "link"),
    "after the key is saved": _after(SigningKey, "save"),
    "before the ledger knows the key": _before(SqliteLedger, "use_key"),
    "after the ledger knows the key": _after(SqliteLedger, "use_key"),
    "before the first commit": APPLY["before the commit"],
    "before the stores are there": _before(ProjectionStore, "__init__"),
    "between the stores": APPLY["between the stores"],
}
"""While a base is made."""

PURGE: Final = {
    "before the commit": APPLY["before the commit"],
    "after the commit": APPLY["after the commit"],
    "before snapshots are forgotten": _before(Snapshots, "invalidate"),
    "amid the current store": APPLY["amid the current store"],
    "before stores are made anew": _before(Eraser, "_make_anew"),
    "amid making them anew": _before(OxigraphStores, "optimize"),
    "before they take their place": _before(OxigraphStores, "swap"),
    "when one of them has its name": _after(Path, "rename"),
    "after they took their place": _after(OxigraphStores, "swap"),
    "before the file is written anew": _before(SqliteLedger, "compact"),
    "before the old ones are unlinked": _before(pair, "unlinked"),
    "before the receipt": _before(SqliteTransaction, "commit", nth(3)),
    "after the receipt": _after(SqliteTransaction, "commit", nth(3)),
}
"""While something is purged; the third commit, after that of the swap, is the receipt's."""

PURGE_AMID: Final = {
    "before it is taken out of the new ones": _before(OxigraphStores, "take_out"),
    "after they took their place": PURGE["after they took their place"],
    "before the first receipt": _before(SqliteTransaction, "commit", nth(4)),
    "after the first receipt": _after(SqliteTransaction, "commit", nth(4)),
}
"""While something is purged, and something else amid the first round; the fourth commit is the first receipt's."""

NAMED: Final = APPLY | STAGING | LOAD | BIRTH | PURGE | PURGE_AMID


class Seam:
    """Where a process ends.

    Args:
        name: of a named seam.
        moment: of a counted one; 0 is never reached, so that the moments can be counted.
    """

    def __init__(self, name: str | None, moment: int | None) -> None:
        self._name = name
        self._moment = moment
        self._armed = False
        self.count = 0
        if moment is not None:
            threading.setprofile(self._pass)
            sys.setprofile(self._pass)

    def arm(self) -> None:
        """From now on."""
        if self._name is not None:
            NAMED[self._name]()
        self._armed = True

    def disarm(self) -> None:
        """No more: what there was to do is done."""
        self._armed = False

    def _pass(self, frame: FrameType, event: str, arg: object) -> None:
        if self._armed:
            self.count += 1
            if self.count == self._moment:
                die()
