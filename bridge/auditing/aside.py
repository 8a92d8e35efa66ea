"""The stores, held against the ledger in a process of their own while the rest of an audit goes on.

Rules
-----
* It is begun for large ledgers, where there is a second processor: it halves the time, and takes some 150 MB more.
* The process says one thing: that the stores hold just what follows from the ledger, and how many quads that is. If it
  says anything else, or nothing, or the ledger has a fault, the stores are looked at here, and what differs is named.
* It ends when the audit does, whatever it is doing, and takes away its temporary files.

Example
-------
::

    with beside(directory) as told:
        ...                              # the ledger is audited
        told()                           # Counts, or None
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from bridge.auditing.faults import Faults
from bridge.auditing.stores import look_at_stores
from bridge.ledger.connection import connect_reader
from bridge.ledger.fact_rows import term_key
from bridge.ledger.reading import SqliteView
from bridge.ledger.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LEDGER: Final = "ledger.sqlite"
LARGE: Final = 1 << 26
"""Bytes of a ledger, some 60,000 facts, that take longer to compare than a process takes to begin."""

_PATIENCE: Final = 60.0


class Followed(NamedTuple):
    """The stores hold just what follows from the ledger: so many quads; with what is to be noted."""

    complete: int
    current: int
    notes: list[str]


@contextmanager
def beside(directory: Path) -> Iterator[Callable[[], Followed | None]]:
    """Begins to compare the stores of a base that nobody has open.

    Args:
        directory: the base's.

    Returns:
        What waits for the outcome: None where there is none, or not that all is well.
    """
    if (directory / LEDGER).stat().st_size < LARGE or len(os.sched_getaffinity(0)) < 2:
        yield lambda: None
        return
    # Our own interpreter and module. It ends with its standard input, and so with this process, however that ends.
    command = [sys.executable, "-P", "-m", __name__, str(directory)]
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield lambda: _outcome(process)
        finally:
            process.terminate()


def _outcome(process: subprocess.Popen[bytes]) -> Followed | None:
    """What the process says before it ends."""
    told = b"" if process.stdout is None else process.stdout.read()
    return Followed(**json.loads(told)) if process.wait() == 0 and told else None


def compare(directory: Path) -> Followed | None:
    """Whether the stores hold just what follows; raises whatever keeps one from saying so."""
    found = Faults()
    with closing(connect_reader(directory / LEDGER, patience=_PATIENCE)) as connection:
        session = Session(connection)
        session.execute("BEGIN")
        look_at_stores(SqliteView(session, term_key), directory, found, names=False)
        session.leave()
    counts = found.counts
    if found.total or counts.complete is None or counts.current is None:
        return None
    return Followed(counts.complete, counts.current, found.notes)


def _end_with_input() -> None:
    os.read(sys.stdin.fileno(), 1)  # not by way of the buffer, whose lock would be held when the interpreter ends
    os.kill(os.getpid(), signal.SIGTERM)


def _leave(*_: object) -> None:
    raise SystemExit(1)


def main() -> None:
    """Compares the stores of the base whose directory is the one argument, and prints the outcome as JSON."""
    signal.signal(signal.SIGTERM, _leave)
    Thread(target=_end_with_input, daemon=True).start()
    followed = compare(Path(sys.argv[1]))
    if followed is not None:
        print(json.dumps(followed._asdict()))  # noqa: T201 - to the process that began this one


if __name__ == "__main__":
    main()
