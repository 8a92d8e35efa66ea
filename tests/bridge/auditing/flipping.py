"""Flips single bits of files of a base that is closed, in a process that may take so much memory and no more.

Rules
-----
* A flip may make a reader ask for any amount of memory: a length is read that nobody wrote. So flips are tried in a
  process of their own under `RLIMIT_AS`. What ends it is told from what it refuses.
* One line of JSON a flip, as soon as it was tried: whoever reads them knows which one ended the process.

Example
-------
::

    python -m tests.bridge.auditing.flipping BASE SCRATCH 7 0 25      # with seed 7, the first 25 flips
"""

from __future__ import annotations

import json
import pickle
import random
import resource
import shutil
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.reading.facts import FactFilter
from bridge.reading.reader import QueryRequest
from bridge.review.certificates import CertificateReader, Window
from bridge.signing.log import LogReader
from certificates.errors import CertificateError
from kernel.errors import MunimentError
from tests.bridge.auditing.history import copy
from tests.bridge.writing import ADMINISTRATOR, ANN, SetClock

if TYPE_CHECKING:
    from kernel.time.instants import Instant

MEMORY: Final = 4 << 30
"""Bytes of addresses that a process may have."""

TOGETHER: Final = 25
"""Flips that one process tries: what stores leave behind that failed adds up."""

CALLER: Final = bytes(32)
"""The hash of a token."""

_EVERYTHING: Final = "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } } ORDER BY STR(?g) STR(?s) STR(?p) STR(?o)"
_MOST: Final = Window(0, 1_000)


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a flip.

    Args:
        file: in which the bit was.
        said: each answer, None for one that was refused; None where the process ended instead.
        sound: whether the audit found nothing.
    """

    file: str
    said: dict[str, object] | None
    sound: bool


def told(path: Path, host: SetClock) -> dict[str, object]:
    """The answers of a base, about all that it keeps; None for those that are refused."""
    said: dict[str, object] = {}
    try:
        with Base.open(path, host=host) as base:
            for name, ask in _answers(base).items():
                try:
                    said[name] = ask()
                except (MunimentError, CertificateError):
                    said[name] = None
    except (MunimentError, CertificateError):
        said.setdefault("opened", None)
    return said


def _answers(base: Base) -> dict[str, Callable[[], object]]:
    reader, certificates = base.reader, CertificateReader(base.ledger)

    def asked(as_of: str | None = None, valid_at: str | None = None) -> bytes:
        return reader.query(QueryRequest(ADMINISTRATOR, _EVERYTHING, "text/csv"), reader.moment(as_of, valid_at)).body

    def recorded() -> list[object]:
        with base.ledger.reading() as view:
            return [
                [
                    certificates.detail(ADMINISTRATOR, record.id, planned=_MOST, found=_MOST)
                    for record in view.certificates(state=None, verdict=None, after=None, limit=500)
                ],
                [view.idempotent("writer", "first"), view.head(), view.events(0, 1_000)],
            ]

    return {
        "now": asked,
        "then": lambda: asked(valid_at="2006-01-01T00:00:00Z"),
        "as of": lambda: asked("head:3"),
        "facts": lambda: reader.facts(ADMINISTRATOR, FactFilter(subject=ANN, every_time=True), limit=1_000),
        "certificates": recorded,
        "log": LogReader(base.ledger, base.key).checkpoint,
        "callers": lambda: base.ledger.principal_of(CALLER),
    }


def flips(base: Path, scratch: Path, host: Instant, seed: int, count: int) -> Iterator[Tried]:
    """Tries so many flips of a base, drawn by a seed, in processes that have a limit each."""
    done = 0
    while done < count:
        until = min(count, done - done % TOGETHER + TOGETHER)
        command = [sys.executable, "-m", __name__, *map(str, (base, scratch, host, seed, done, until))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                yield _tried(**json.loads(line))
                done += 1
        if process.returncode:
            yield Tried(str(_places(base, seed)(done)[0].relative_to(base)), None, sound=False)
            done += 1


def _tried(file: str, said: str, *, sound: bool) -> Tried:
    return Tried(file, pickle.loads(b64decode(said)), sound)  # what a process of ours has said


def _places(base: Path, seed: int) -> Callable[[int], tuple[Path, int, int]]:
    """Gives file, byte and bit of a flip by its number."""
    files = sorted(each for each in base.rglob("*") if each.is_file() and each.stat().st_size)

    def place(number: int) -> tuple[Path, int, int]:
        chosen = random.Random(f"{seed} {number}")
        # By turns of any file alike, and of any byte alike: else small files would never be met, or large ones seldom.
        sizes = None if number % 2 else [each.stat().st_size for each in files]
        [file] = chosen.choices(files, sizes)
        return file, chosen.randrange(file.stat().st_size), chosen.randrange(8)

    return place


def _flip(file: Path, at: int, bit: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1 << bit
    file.write_bytes(data)


def main(base: Path, scratch: Path, host: Instant, seed: int, first: int, until: int) -> None:
    """Tries flips, and prints what became of each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    place = _places(base, seed)
    for number in range(first, until):
        file, at, bit = place(number)
        victim = copy(base, scratch / f"victim-{number}")
        _flip(victim / file.relative_to(base), at, bit)
        sound = audit(victim).sound
        said = told(victim, SetClock(host))
        answers = b64encode(pickle.dumps(said)).decode()
        print(json.dumps({"file": str(file.relative_to(base)), "said": answers, "sound": sound}), flush=True)  # noqa: T201
        shutil.rmtree(victim, ignore_errors=True)  # a store that failed may still be busy closing


if __name__ == "__main__":
    _, _base, _scratch, *_numbers = sys.argv
    _host, *_rest = map(int, _numbers)
    main(Path(_base), Path(_scratch), _host, *_rest)  # type: ignore[arg-type]
