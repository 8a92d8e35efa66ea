"""The contestant's end of the pipe: one JSON object a line in, one out.

Rules
-----
* The first line out says that the store is open, and what its load came to. Then each line in is an `Ask`, and its
  answer a sample. An empty object is the answer where nothing was timed.
* What a contestant prints goes to the log (standard error): the answers have standard output to themselves.
* What fails ends the process: the end of its log says why. The end of the input is the end of the process, too.

Example
-------
>>> Ask.read(Ask(Work.BULK, 10_000).line).count
10000
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import time
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from bench.measuring import once, timed
from bench.workload import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.measuring import Sample


class Work(StrEnum):
    """What a contestant can be asked for."""

    BULK = "bulk"
    WRITE = "write"
    LOOK_UP = "look_up"
    JSONLD = "jsonld"
    TURTLE = "turtle"
    VALIDATE = "validate"
    FACT = "fact"
    HUB = "hub"
    LEAF = "leaf"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Ask:
    """A request to a contestant.

    Args:
        work: what.
        count: calls to make; facts to load.
        kind: of the facts to write.
        first: number of the first fact to write; for look-ups, the seed by which they are drawn.
        threads: how many call at once.
        limit: seconds after which no call begins.
    """

    work: Work
    count: int
    kind: Kind = Kind.PLAIN
    first: int = 0
    threads: int = 1
    limit: float = 60.0

    @property
    def line(self) -> str:
        """The request as it goes over the pipe, line end included."""
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def read(cls, line: str) -> Ask:
        """The request of a line."""
        raw = json.loads(line)
        return cls(**raw | {"work": Work(raw["work"]), "kind": Kind(raw["kind"])})


class Contestant:
    """What is measured: a store with the shape and some `SEED` facts in it, open once this is made.

    Args:
        facts: how many.
        opened: what the load of them came to; None where it was not timed.
    """

    facts: int
    opened: Sample | None = None

    def bulk(self, count: int) -> Sample:
        """Loads so many `SEED` facts into a store that is made for it and dropped after it."""
        raise NotImplementedError(f"no bulk load of {count} facts")

    def prepare(self, kind: Kind, first: int, count: int) -> int:
        """Makes what is not to be timed, before `write`s are; answers how many of the facts can then be written."""
        del kind, first
        return count

    def write(self, kind: Kind, number: int) -> None:
        """Writes one fact, durably; from any thread."""
        raise NotImplementedError(f"no write of {kind} fact {number}")

    def wrote(self, kind: Kind, first: int, count: int) -> None:
        """Called after `write`s were timed."""

    def look_up(self, number: int) -> int:
        """Answers how many objects the look-up of a `SEED` fact found; from any thread."""
        raise NotImplementedError(f"no look-up of fact {number}")

    def jsonld(self) -> None:
        """Writes all `SEED` facts to a file as JSON-LD."""
        raise NotImplementedError("no export as JSON-LD")

    def turtle(self) -> None:
        """Writes all `SEED` facts to a file as Turtle."""
        raise NotImplementedError("no export as Turtle")

    def load(self) -> None:
        """Reads the graph that is to be validated."""
        raise NotImplementedError("no validation")

    def validate(self) -> None:
        """Validates it, and lets go of it. Raises `ValueError` for another number of results than there are."""
        raise NotImplementedError("no validation")

    def ready(self, work: Work, first: int, count: int) -> None:
        """Makes what is not to be timed, before `judge`s are."""
        raise NotImplementedError(f"no {work} judged: neither {first} nor the {count} from there on")

    def judge(self, work: Work, number: int) -> None:
        """Judges the change of that number. Raises `ValueError` where it does not conform."""
        raise NotImplementedError(f"no {work} judged, nor number {number}")

    def settle(self) -> None:
        """Waits until nothing is done in the background any more, so that others are measured undisturbed."""

    def cpu(self) -> float | None:
        """CPU seconds of the process measured, so far."""
        return time.process_time()

    def close(self) -> None:
        """Gives everything back."""


def serve(make: Callable[[], Contestant]) -> None:
    """Makes the contestant, and answers requests until there are no more, or until one fails."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    contestant = make()
    try:
        _answer(contestant, answers, contestant.opened)
        for line in sys.stdin:
            _answer(contestant, answers, _do(contestant, Ask.read(line)))
    finally:
        contestant.close()


def _answer(contestant: Contestant, answers: TextIO, sample: Sample | None) -> None:
    contestant.settle()
    answers.write(json.dumps({} if sample is None else asdict(sample)) + "\n")
    answers.flush()


def _do(contestant: Contestant, asked: Ask) -> Sample:
    match asked.work:
        case Work.BULK:
            return contestant.bulk(asked.count)
        case Work.WRITE:
            return _write(contestant, asked)
        case Work.LOOK_UP:
            return _look_up(contestant, asked)
        case Work.JSONLD:
            return once(contestant.jsonld, contestant.facts, contestant.cpu)
        case Work.TURTLE:
            return once(contestant.turtle, contestant.facts, contestant.cpu)
        case Work.VALIDATE:
            contestant.load()
            sample = once(contestant.validate, contestant.facts, contestant.cpu)
            return replace(sample, peak=_peak())
        case Work.FACT | Work.HUB | Work.LEAF | Work.ENDED:
            contestant.ready(asked.work, asked.first, asked.count)
            numbers = range(asked.first, asked.first + asked.count)
            return timed(
                lambda number: contestant.judge(asked.work, number), numbers, contestant.cpu, limit=asked.limit
            )


def _peak() -> float:
    """The most memory that this process had so far, in MB.

    What `getrusage` says begins with what the process that started this one had (getrusage(2)), so Linux is asked for
    the high-water mark of this program alone (proc_pid_status(5)).
    """
    status = Path("/proc/self/status")
    if status.exists():
        marks = (line.split() for line in status.read_text(encoding="ascii").splitlines())
        return next(int(words[1]) for words in marks if words[0] == "VmHWM:") / 1_024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024


def _write(contestant: Contestant, asked: Ask) -> Sample:
    ready = contestant.prepare(asked.kind, asked.first, asked.count)
    sample = timed(
        lambda number: contestant.write(asked.kind, number),
        range(asked.first, asked.first + ready),
        contestant.cpu,
        threads=asked.threads,
        limit=asked.limit,
    )
    contestant.wrote(asked.kind, asked.first, sample.count)
    return sample


def _look_up(contestant: Contestant, asked: Ask) -> Sample:
    def look_up(number: int) -> None:
        found = contestant.look_up(number)
        if found != 1:
            raise ValueError(f"the look-up of fact {number} found {found} objects, not 1")

    numbers = random.Random(asked.first).choices(range(contestant.facts), k=asked.count)
    return timed(look_up, numbers, contestant.cpu, threads=asked.threads, limit=asked.limit)
