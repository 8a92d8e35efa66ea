"""The facts of two times that every contestant holds, and the moments at which each is asked for one of them.

Rules
-----
* A subject has a value in each of four periods of five years. The subjects are recorded in ten transactions; between
  the fifth and the sixth of them, in ten more, every fiftieth subject has its four values corrected.
* So a look-up at a date within the periods, as known once the subject was recorded, has one answer: which one goes by
  both times.
* The number of a look-up says all of it, so that everyone is asked the same.
* Standard library only: this is imported in the peers' environments too.

Example
-------
>>> look_up(12345, 1_000)
LookUp(subject=106, step=19, valid_at='2014-10-18T00:00:00Z', value='period 0')
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

EX: Final = "http://bench.example/"
PREDICATE: Final = f"{EX}value"
PERIODS: Final = 4
YEARS: Final = 5
FIRST_YEAR: Final = 2010
LOADS: Final = 10
BEFORE: Final = 5
"""Loads before the corrections."""

CORRECTIONS: Final = 10
STEPS: Final = LOADS + CORRECTIONS
_EVERY: Final = 50


@dataclass(frozen=True, slots=True)
class TimedFact:
    """A value of a subject in a period."""

    subject: str
    value: str
    valid_from: str
    valid_to: str


@dataclass(frozen=True, slots=True)
class LookUp:
    """What is asked, and what the answer is.

    Args:
        subject: its number.
        step: as known after which transaction, counted from 1.
        valid_at: as true when.
        value: the answer.
    """

    subject: int
    step: int
    valid_at: str
    value: str

    @property
    def text(self) -> str:
        """As SPARQL."""
        return f"SELECT ?o WHERE {{<{iri(self.subject)}> <{PREDICATE}> ?o}}"


def iri(subject: int) -> str:
    """Of a subject."""
    return f"{EX}s{subject}"


def subjects(facts: int) -> int:
    """How many subjects make so many facts, corrections apart."""
    return max(LOADS, facts // PERIODS)


def loaded(facts: int, load: int) -> Iterator[TimedFact]:
    """What is recorded in one of the ten loads."""
    for subject in range(load, subjects(facts), LOADS):
        for period in range(PERIODS):
            yield _fact(subject, period, f"period {period}")


def corrected(facts: int, group: int) -> Iterator[tuple[TimedFact, TimedFact]]:
    """What is corrected in one of the ten transactions for that: the fact that goes, and the one that comes."""
    for subject in _corrected(facts):
        if subject // _EVERY % CORRECTIONS == group:
            for period in range(PERIODS):
                yield _fact(subject, period, f"period {period}"), _fact(subject, period, f"mended {period}")


def look_up(number: int, facts: int) -> LookUp:
    """The look-up of a number."""
    random = Random(number)
    subject = random.randrange(subjects(facts))
    period = random.randrange(PERIODS)
    recorded = 1 + subject % LOADS + (CORRECTIONS if subject % LOADS >= BEFORE else 0)
    step = random.randint(recorded, STEPS)
    at = date(FIRST_YEAR + YEARS * period, 1, 1) + timedelta(days=random.randrange(365 * YEARS))
    mended = is_corrected(subject) and step > BEFORE + subject // _EVERY % CORRECTIONS
    return LookUp(subject, step, f"{at}T00:00:00Z", f"{'mended' if mended else 'period'} {period}")


def is_corrected(subject: int) -> bool:
    """Whether its values are among those that were corrected."""
    return subject % _EVERY == 0


def _corrected(facts: int) -> range:
    return range(0, subjects(facts), _EVERY)


def _fact(subject: int, period: int, value: str) -> TimedFact:
    start = FIRST_YEAR + YEARS * period
    return TimedFact(iri(subject), value, f"{start}-01-01T00:00:00Z", f"{start + YEARS}-01-01T00:00:00Z")
