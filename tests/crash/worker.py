"""The process that the crash tests kill: with everything imported, it forks a life for each command.

Rules
-----
* Commands come in on its standard input, a JSON object a line, and are lived one after another. What is said goes to
  its standard output, a JSON object a line: the `pid` of a life, what the life says, and how it `ended`.
* A life works on a base on disk. It is killed from outside, or kills itself at a seam.
* What a life acknowledges it has been told by the base: whoever reads it may rely on it, whatever becomes of the life.
* No store is opened before the fork: Oxigraph's threads would not survive it.

Example
-------
::

    {"work": "write", "data": "…/base", "seam": "before the commit", "moment": null, "seed": 7}
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Final, TypedDict
from unittest.mock import patch

import kernel.writing.sequencer
from bridge import base as bases
from bridge.base import Base
from bridge.loading import session as loading
from bridge.loading.options import LoadOptions
from bridge.loading.refusals import Refusals
from bridge.loading.session import Watch, stage_files
from bridge.stores import projection_store
from bridge.stores.pair import OxigraphStores
from certificates.records import DecisionKind
from kernel.changes import Assert
from kernel.ports.records import CertificateState
from kernel.purging.purger import PurgeRequest
from kernel.purging.targets import Target, TargetKind
from kernel.terms import Iri
from kernel.writing.loading import LoadRequest
from kernel.writing.projection import delta_between
from tests.bridge.writing import ADMINISTRATOR, EDITOR, OSLO, SetClock, a_shape, decide, living, person, submission
from tests.crash.saying import acknowledge, say
from tests.crash.seams import Seam
from tests.crash.stories import LINES, LINES_A_CHUNK, SOON, THEN, large_write
from tests.crash.writers import write_at_random


class Command(TypedDict):
    """What a life is to do, on which base, and where it is to end."""

    work: str
    data: str
    seam: str | None
    moment: int | None
    seed: int


def start(command: Command, seam: Seam) -> None:
    """Opens a base, or makes one; what falls due at `SOON` has to be caught up with."""
    seam.arm()
    base = Base.open(Path(command["data"]), host=SetClock(SOON))
    base.stores.settle()
    seam.disarm()
    base.close()


def write(command: Command, seam: Seam) -> None:
    """Writes once."""
    with opened(command) as base:
        seam.arm()
        outcome = base.submit(submission(Assert(living(OSLO, person(1))), key="seam", body=b"seam")).result()
        base.stores.settle()
        seam.disarm()
        acknowledge(outcome, key="seam")


def write_shapes(command: Command, seam: Seam) -> None:
    """Writes shapes, which are judged on what is held before they are written."""
    with opened(command) as base:
        seam.arm()
        outcome = base.submit(submission(*a_shape(), by=ADMINISTRATOR, key="seam", body=b"seam")).result()
        base.stores.settle()
        seam.disarm()
        acknowledge(outcome, key="seam", by=ADMINISTRATOR)


def approve(command: Command, seam: Seam) -> None:
    """Approves the certificate that waits."""
    with opened(command) as base:
        with base.ledger.reading() as view:
            (waiting,) = view.certificates(state=CertificateState.PENDING)
        seam.arm()
        outcome = decide(base, waiting.id, DecisionKind.APPROVE, "seen")
        base.stores.settle()
        seam.disarm()
        acknowledge(outcome)


def advance(command: Command, seam: Seam) -> None:
    """Lets the clock come to `SOON`, and writes nothing."""
    kernel.writing.sequencer.LONGEST_WAIT = 0.001
    clock = SetClock(THEN)
    with opened(command, clock) as base:
        seam.arm()
        clock.at = SOON
        while base.stores.position()[1] < SOON:
            Event().wait(0.001)
        base.stores.settle()
        seam.disarm()


def load(command: Command, seam: Seam) -> None:
    """Loads the file beside the base, in chunks and deltas small enough for a seam to lie between them."""
    setattr(loading, "CHUNK", LINES_A_CHUNK)  # noqa: B010 - final for all but those that tamper with it
    in_small_deltas()
    with opened(command) as base:
        seam.arm()
        staged = stage_files(base.ledger, [Path(command["data"]).with_name("facts.nt")], LoadOptions(), EDITOR, _WATCH)
        outcome = base.load(LoadRequest(staged.request, EDITOR, lambda _: None)).result()
        base.stores.settle()
        seam.disarm()
        acknowledge(outcome)


def write_large(command: Command, seam: Seam) -> None:
    """Writes once, so much that it comes into the stores as a load does."""
    setattr(bases, "LARGE", LINES - 1)  # noqa: B010 - as above
    in_small_deltas()
    with opened(command) as base:
        changes = large_write()
        seam.arm()
        outcome = base.submit(submission(*changes, key="seam", body=b"seam")).result()
        base.stores.settle()
        seam.disarm()
        acknowledge(outcome, key="seam")


def in_small_deltas() -> None:
    """Has loads come into the stores in many pieces."""
    for limit in ("CHUNK", "BULK"):
        setattr(projection_store, limit, 1)
    assert delta_between.__kwdefaults__ is not None
    delta_between.__kwdefaults__["batch"] = 100


def write_much(command: Command, seam: Seam) -> None:
    """Writes at random, in several threads, until it is killed."""
    with Base.open(Path(command["data"])) as base:
        seam.arm()
        write_at_random(base, command["seed"])


def purge(command: Command, seam: Seam) -> None:
    """Purges somebody, and waits until nothing is left."""
    target = Target(TargetKind.NODE, person(1))
    with opened(command) as base:
        seam.arm()
        digest = base.purges.preview(ADMINISTRATOR, target).digest
        base.purges.purge(PurgeRequest(target, "seam", ADMINISTRATOR, digest)).result()
        base.purges.settled()
        seam.disarm()


def purge_amid(command: Command, seam: Seam) -> None:
    """Purges somebody, and somebody else while the stores are made anew; waits until nothing is left."""
    with opened(command) as base:
        optimize, others = OxigraphStores.optimize, [person(2)]

        def purged(somebody: Iri) -> None:
            target = Target(TargetKind.NODE, somebody)
            digest = base.purges.preview(ADMINISTRATOR, target).digest
            base.purges.purge(PurgeRequest(target, "seam", ADMINISTRATOR, digest)).result()

        def overtaken(fresh: OxigraphStores) -> None:
            optimize(fresh)
            if others:
                purged(others.pop())

        seam.arm()
        with patch.object(OxigraphStores, "optimize", overtaken):
            purged(person(1))
            for _ in range(2):
                base.purges.settled()
        seam.disarm()


WORKS: Final[dict[str, Callable[[Command, Seam], None]]] = {
    work.__name__: work
    for work in (
        start,
        write,
        write_large,
        write_shapes,
        approve,
        advance,
        load,
        purge,
        purge_amid,
        write_much,
    )
}
_WATCH: Final = Watch(Refusals(), lambda read, total: None)


@contextmanager
def opened(command: Command, clock: SetClock | None = None) -> Iterator[Base]:
    """The base of the command, at a clock of its own."""
    with Base.open(Path(command["data"]), host=clock or SetClock(THEN)) as base:
        base.stores.settle()
        yield base


def live(command: Command) -> None:
    """One life, in a process of its own; ends it."""
    status = 1
    try:
        seam = Seam(command["seam"], command["moment"])
        WORKS[command["work"]](command, seam)
        say(moments=seam.count)
        status = 0
    finally:
        if status:
            traceback.print_exc()
        os._exit(status)


def main() -> None:
    """Lives what it is told, until there is nothing more."""
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            live(json.loads(line))
        say(pid=pid)
        _, status = os.waitpid(pid, 0)
        say(ended=os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
