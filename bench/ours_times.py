"""Ours at any pair of times, in process: a base on disk, asked through its reader.

Rules
-----
* A look-up is settled, read and answered in JSON as the service does it, for a caller who may read everything; the two
  times are given as text.
* The base, closed, is what the one over HTTP serves, and what snapshots are measured on.

Example
-------
::

    python -m bench.ours_times DIRECTORY FACTS EXCHANGE
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench import times
from bench.exchange import Exchange
from bench.ours import JSON, WRITER, accepted
from bench.serving import Contestant, serve
from bridge.base import Base
from bridge.loading.options import LoadOptions
from bridge.loading.refusals import Refusals
from bridge.loading.session import Watch, stage_files
from bridge.reading.reader import QueryRequest
from kernel.changes import Assert, Request, Retract
from kernel.facts import Validity
from kernel.terms import Iri, Literal, Statement
from kernel.time.instants import parse_instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.vocabulary import DEFAULT_GRAPH
from kernel.writing.loading import LoadRequest
from kernel.writing.submitting import Submission

if TYPE_CHECKING:
    from bench.times import TimedFact


class OursTimes(Contestant):
    """A base with the facts of two times in it."""

    def __init__(self, directory: Path, facts: int, exchange: Exchange) -> None:
        self.facts = facts
        data = directory / "data"
        with Base.open(data) as base:
            heads = fill(base, directory, facts)
        (data / "heads.json").write_text(json.dumps(heads), encoding="utf-8")
        shutil.copytree(data, exchange.base)
        self._heads = heads
        self._base = Base.open(data)

    def look_up(self, number: int) -> int:
        """A SELECT at its two times, answered in JSON."""
        wanted = times.look_up(number, self.facts)
        reader = self._base.reader
        moment = reader.moment(f"head:{self._heads[wanted.step - 1]}", wanted.valid_at)
        body = reader.query(QueryRequest(WRITER, wanted.text, JSON), moment).body
        return body.count(f'"{wanted.value}"'.encode())

    def close(self) -> None:
        """Closes the base."""
        self._base.close()


def fill(base: Base, directory: Path, facts: int) -> list[int]:
    """Records the facts; answers the head of each step."""
    heads: list[int] = []
    for load in range(times.LOADS):
        if load == times.BEFORE:
            heads += [_correct(base, facts, group) for group in range(times.CORRECTIONS)]
        heads.append(_load(base, directory, facts, load))
    return heads


def _load(base: Base, directory: Path, facts: int, load: int) -> int:
    path = directory / "load.ndjson"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(_change(fact)) + "\n" for fact in times.loaded(facts, load))
    watch = Watch(Refusals(), lambda _read, _size: None)
    staged = stage_files(base.ledger, [path], LoadOptions(), WRITER, watch)
    outcome = base.load(LoadRequest(staged.request, WRITER, lambda _planned: None)).result()
    accepted(outcome)
    return outcome.head or 0


def _change(fact: TimedFact) -> dict[str, object]:
    return {
        "op": "assert",
        "subject": fact.subject,
        "predicate": times.PREDICATE,
        "object": {"@value": fact.value},
        "validFrom": fact.valid_from,
        "validTo": fact.valid_to,
    }


def _correct(base: Base, facts: int, group: int) -> int:
    changes: list[Assert | Retract] = []
    for gone, come in times.corrected(facts, group):
        changes += [Retract(_statement(gone)), Assert(_statement(come), _validity(come))]
    request = Request(tuple(changes), None, None, WRITER.id)
    outcome = base.submit(Submission(request, WRITER, None, b"", dry_run=False)).result()
    accepted(outcome)
    return outcome.head or 0


def _statement(fact: TimedFact) -> Statement:
    return Statement(Iri(fact.subject), Iri(times.PREDICATE), Literal(fact.value), DEFAULT_GRAPH)


def _validity(fact: TimedFact) -> Validity:
    interval = Interval(parse_instant(fact.valid_from), parse_instant(fact.valid_to))
    return Validity(interval, Precision.INSTANT, Precision.INSTANT)


if __name__ == "__main__":
    serve(lambda: OursTimes(Path(sys.argv[1]), int(sys.argv[2]), Exchange(Path(sys.argv[3]))))
