"""20,509 real facts with their times, loaded whole and read back at a thousand pairs of times.

Rules
-----
* The data is the folder `yago-temporal` of `../shared`: a line has subject, relation, object, since and until, as
  `1990-05-##`. How the dates are meant is said in the README there; here they are read twice, by Muniment and, for
  comparison, by the few lines of `Line.days` below, which share nothing with it but that README.
* Each of the three files is a load session of its own. Between them come corrections, drawn with a fixed seed, so that
  it matters as of when something is asked.

Example
-------
`8462 3 5161 -405-##-## ####-##-##` is believed from 405 BCE, which is the year -0404, to nobody knows when.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random
from typing import Final

import pytest

from bridge.base import Base
from bridge.documents.changes_json import read_changes
from bridge.loading.options import LoadOptions
from bridge.loading.refusals import Refusal, Refusals
from bridge.loading.session import Watch, stage_files
from bridge.reading.reader import QueryRequest
from bridge.terms import OxigraphCanonicaliser
from kernel.ports.records import CertificateState
from kernel.terms import Iri
from kernel.time.instants import Instant, print_instant
from kernel.writing.loading import LoadRequest
from kernel.writing.submitting import Submission
from tests.bridge.writing import ADMINISTRATOR, PATIENCE, SetClock
from tests.requirements import require

pytestmark = pytest.mark.shared

FILES: Final = ("train", "valid", "test")
LINES: Final = {"train": 16_408, "valid": 2_050, "test": 2_051}
REFUSED: Final = {
    "train": {"invalid-interval": 63, "invalid-time": 2},
    "valid": {"invalid-interval": 6},
    "test": {"invalid-interval": 1},
}
"""By the rule that refuses them: inverted even when the end is inclusive, and dates that do not exist."""

GRAPH: Final = "urn:yago:facts"

CORRECTIONS: Final = 120
"""After each load."""

MOMENTS: Final = 100
READS_A_MOMENT: Final = 10

NEVER, EVER = -(10**9), 10**9
"""Day numbers before and after all others."""

SHIFT: Final = 4_000
SHIFTED: Final = 146_097 * SHIFT // 400
"""Years to add so that `datetime` can count them, and their days: ten times the 400 years after which all repeats."""

Statement = tuple[str, str, str]
Days = tuple[int, int]
"""From a day, to the day after the last."""


def day(year: int, month: int = 1, day_of_month: int = 1) -> int:
    """The number of a day. Raises `ValueError` if there is no such day."""
    return date(year + SHIFT, month, day_of_month).toordinal() - SHIFTED


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the data."""

    statement: Statement
    since: str
    until: str

    @classmethod
    def of(cls, text: str) -> Line:
        subject, relation, value, since, until = text.split("\t")
        return cls((f"urn:yago:e{subject}", f"urn:yago:r{relation}", f"urn:yago:e{value}"), since, until)

    def change(self) -> str:
        """The line as a change in JSON, its dates only written anew."""
        subject, predicate, value = self.statement
        return json.dumps(
            {
                "op": "assert",
                "subject": subject,
                "predicate": predicate,
                "object": {"@id": value},
                "validFrom": rewritten(self.since),
                "validThrough": rewritten(self.until),
            }
        )

    def days(self) -> Days | str:
        """When it is true, by a reading that is independent of Muniment's; or the rule that refuses it."""
        try:
            start, end = covered(self.since)[0], covered(self.until)[1]
        except ValueError:
            return "invalid-time"
        return (start, end) if start < end else "invalid-interval"


def rewritten(raw: str) -> str:
    """A date as Muniment wants it: unknown parts left out, years of four digits, and a year 0 before the year 1."""
    sign, year, month, rest = parts(raw)
    if sign and year.isdigit():
        year = str(int(year) - 1)
    written = sign + year.rjust(4, "0")
    return "-".join([written, *(part for part in (month, rest) if part != "##")])


def parts(raw: str) -> tuple[str, str, str, str]:
    sign = "-" if raw.startswith("-") else ""
    year, month, rest = raw.removeprefix("-").split("-")
    return sign, year, month, rest


def covered(raw: str) -> Days:
    """The days that a date covers. Raises `ValueError`."""
    if raw == "####-##-##":
        return NEVER, EVER
    sign, text, month, rest = parts(raw)
    if text.endswith("#"):
        first = int(text.replace("#", "0"))
        return day(first), day(first + 10 ** text.count("#"))
    year = 1 - int(text) if sign else int(text)
    if month == "##":
        return day(year), day(year + 1)
    if len(month) != 2 or len(rest) != 2:
        raise ValueError(raw)
    if rest == "##":
        return day(year, int(month)), day(year + int(month) // 12, int(month) % 12 + 1)
    return day(year, int(month), int(rest)), day(year, int(month), int(rest)) + 1


class Beliefs:
    """What is believed of each statement, as intervals that do not overlap: naively."""

    def __init__(self) -> None:
        self.held: dict[Statement, list[Days]] = defaultdict(list)

    def add(self, statement: Statement, wanted: Days) -> None:
        """Believes what is not believed yet of an interval."""
        start = wanted[0]
        for held in sorted(self.held[statement]):
            if held[1] <= start or held[0] >= wanted[1]:
                continue
            if start < held[0]:
                self.held[statement].append((start, held[0]))
            start = held[1]
        if start < wanted[1]:
            self.held[statement].append((start, wanted[1]))

    def remove(self, statement: Statement, cut: Days) -> None:
        """Believes nothing any more of an interval."""
        self.held[statement] = [
            part
            for start, end in self.held[statement]
            for part in ((start, min(end, cut[0])), (max(start, cut[1]), end))
            if part[0] < part[1]
        ]

    def end(self, statement: Statement, at: int) -> None:
        """Ends the interval that contains a day there."""
        (held,) = (held for held in self.held[statement] if held[0] < at < held[1])
        self.held[statement].remove(held)
        self.held[statement].append((held[0], at))

    def at(self, moment: int) -> set[Statement]:
        """What is true on a day."""
        return {each for each, held in self.held.items() if any(start <= moment < end for start, end in held)}


def written_day(number: int) -> str:
    """A day as XSD writes it."""
    shifted = date.fromordinal(number + SHIFTED)
    year = shifted.year - SHIFT
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{shifted:%m-%d}"


def corrections(beliefs: Beliefs, random: Random) -> Iterator[dict[str, object]]:
    """Changes to statements that are believed, each made to the beliefs as well."""
    known = sorted(statement for statement, held in beliefs.held.items() if held)
    for statement in random.sample(known, CORRECTIONS):
        first = day(random.randint(1800, 2020), random.randint(1, 12), random.randint(1, 28))
        last = first + random.randint(0, 9_000)
        subject, predicate, value = statement
        said = {"subject": subject, "predicate": predicate, "object": {"@id": value}}
        during = {"validFrom": written_day(first), "validThrough": written_day(last)}
        within = [at for start, end in beliefs.held[statement] for at in (first, last) if start < at < end]
        if within and random.random() < 0.3:
            beliefs.end(statement, within[0])
            yield {"op": "end", **said, "at": written_day(within[0])}
        elif any(start <= last and first < end for start, end in beliefs.held[statement]) and random.random() < 0.5:
            beliefs.remove(statement, (first, last + 1))
            yield {"op": "retract", **said, **during}
        elif random.random() < 0.2:
            beliefs.remove(statement, (NEVER, EVER))
            yield {"op": "retract", **said}
        else:
            beliefs.add(statement, (first, last + 1))
            yield {"op": "assert", **said, **during}


class History:
    """A base with the data in it, beside what should be believed at each of its heads."""

    def __init__(self, base: Base, folder: Path) -> None:
        self.base = base
        self.refused: dict[str, list[Refusal]] = {}
        self.heads: list[tuple[int, Beliefs]] = []
        self._folder = folder
        self._beliefs = Beliefs()
        self._random = Random(20_509)

    def load(self, name: str, lines: list[Line]) -> None:
        """Loads a file in one session, leaving out what cannot be loaded."""
        path = self._folder / f"{name}.ndjson"
        path.write_text("".join(f"{line.change()}\n" for line in lines))
        told = self.refused[name] = list[Refusal]()
        options = LoadOptions(graph=Iri(GRAPH), skip_invalid=True)
        watch = Watch(Refusals(told.append), lambda done, total: None)
        staged = stage_files(self.base.ledger, [path], options, ADMINISTRATOR, watch)
        assert staged.changes == len(lines) - len(told)
        outcome = self.base.load(LoadRequest(staged.request, ADMINISTRATOR, lambda done: None)).result(PATIENCE)
        assert outcome.state is CertificateState.APPLIED
        for line in lines:
            days = line.days()
            if not isinstance(days, str):
                self._beliefs.add(line.statement, days)
        self._arrive(outcome.head)

    def correct(self) -> None:
        """Makes corrections, under one certificate."""
        body = json.dumps({"graph": GRAPH, "changes": list(corrections(self._beliefs, self._random))}).encode()
        request = read_changes(body, principal=ADMINISTRATOR.id, canonicaliser=OxigraphCanonicaliser())
        outcome = self.base.submit(Submission(request, ADMINISTRATOR, None, b"", dry_run=False)).result(PATIENCE)
        assert outcome.state is CertificateState.APPLIED
        self._arrive(outcome.head)

    def _arrive(self, head: int | None) -> None:
        assert head is not None
        self.heads.append((head, deepcopy(self._beliefs)))


@pytest.fixture(scope="module")
def data() -> dict[str, list[Line]]:
    folder = require("shared") / "data" / "yago-temporal"
    return {
        name: [Line.of(text) for text in (folder / f"{name}.txt").read_text(encoding="utf-8").splitlines()]
        for name in FILES
    }


@pytest.fixture(scope="module")
def history(data: dict[str, list[Line]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    folder = tmp_path_factory.mktemp("yago")
    with Base.open(folder / "data", host=SetClock()) as base:
        history = History(base, folder)
        for name, lines in data.items():
            history.load(name, lines)
            history.correct()
        yield history


def test_every_line_that_cannot_be_loaded_is_listed_with_its_rule(
    history: History, data: dict[str, list[Line]]
) -> None:
    for name, lines in data.items():
        assert len(lines) == LINES[name]
        read = {number: line.days() for number, line in enumerate(lines, 1)}
        expected = {number: rule for number, rule in read.items() if isinstance(rule, str)}
        assert {refusal.line: refusal.code for refusal in history.refused[name]} == expected
        assert Counter(expected.values()) == REFUSED[name]
        assert all(refusal.message for refusal in history.refused[name])


def answered(history: History, values: str, head: int, moment: int) -> set[Statement]:
    """What SPARQL answers, as known at a head and as true on a day."""
    reader = history.base.reader
    query = f"SELECT ?s ?p ?o {{ GRAPH <{GRAPH}> {{ {values} ?s ?p ?o }} }}"
    asked = QueryRequest(ADMINISTRATOR, query, "text/csv")
    answer = reader.query(asked, reader.moment(f"head:{head}", written_day(moment)))
    rows = [line.split(",") for line in answer.body.decode().splitlines()[1:]]
    found = {(subject, predicate, value) for subject, predicate, value in rows}
    assert len(found) == len(rows)
    return found


def a_day(beliefs: Beliefs, random: Random) -> int:
    """A day at which something begins or ends, or one beside it."""
    held = random.sample(sorted(days for intervals in beliefs.held.values() for days in intervals), 20)
    bounds = {bound for days in held for bound in days} - {NEVER, EVER}
    return random.choice(sorted(bounds)) + random.randint(-1, 1)


def a_pattern(statement: Statement, random: Random) -> tuple[str, Callable[[Statement], bool]]:
    """What binds some of a statement's terms, and what it is that matches."""
    subject, predicate, value = statement
    return random.choice([
        (f"VALUES ?s {{ <{subject}> }}", lambda each: each[0] == subject),
        (f"VALUES ?o {{ <{value}> }}", lambda each: each[2] == value),
        (f"VALUES (?s ?p) {{ (<{subject}> <{predicate}>) }}", lambda each: each[:2] == (subject, predicate)),
    ])  # fmt: skip


def test_a_thousand_reads_at_sampled_times_equal_a_plain_reading_of_the_files(history: History) -> None:
    random = Random(1_000)
    reads = found = 0
    for _ in range(MOMENTS):
        head, beliefs = random.choice(history.heads)
        moment = a_day(beliefs, random)
        true = beliefs.at(moment)
        assert answered(history, "", head, moment) == true
        for statement in random.sample(sorted(beliefs.held), READS_A_MOMENT - 1):
            values, matches = a_pattern(statement, random)
            expected = set(filter(matches, true))
            assert answered(history, values, head, moment) == expected
            found += len(expected)
        reads += READS_A_MOMENT
    assert reads == 1_000
    assert found > reads


def test_a_moment_between_two_heads_is_known_as_at_the_first(history: History) -> None:
    (first, beliefs), (second, _) = history.heads[:2]
    with history.base.ledger.reading() as view:
        recorded, corrected = view.recorded_in(first), view.recorded_in(second)
    assert recorded is not None
    assert corrected is not None
    reader = history.base.reader
    query = f"SELECT (COUNT(*) AS ?n) {{ GRAPH <{GRAPH}> {{ ?s ?p ?o }} }}"
    for instant, expected in ((recorded, first), (Instant(corrected - 1), first), (corrected, second)):
        moment = reader.moment(print_instant(instant), "2000")
        answer = reader.query(QueryRequest(ADMINISTRATOR, query, "text/csv"), moment)
        assert answer.head == expected
        if expected == first:
            assert int(answer.body.decode().splitlines()[1]) == len(beliefs.at(day(2000)))
