"""Faults: what an audit finds, and where.

Rules
-----
* A fault names one place, and what is wrong there: a row of a table, a log position, a certificate, a quad of a store.
* Nothing that an audit reads can stop it: what a decoder trips over is a fault of the place that was being read.
* Every fault is counted; the first `KEPT` are kept.

Example
-------
>>> found = Faults()
>>> with found.reading("events 7"):
...     int("seven")
>>> found.kept
[Fault(place='events 7', what="cannot be read: invalid literal for int() with base 10: 'seven'")]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from certificates.errors import CertificateError
from kernel.errors import MunimentError

if TYPE_CHECKING:
    from types import TracebackType

KEPT: Final = 10_000

UNREADABLE: Final = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
    CertificateError,
    MunimentError,
)
"""All that decoders raise for what makes no sense; SQLite's errors arrive as errors of the kernel."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Args:
        place: the row, log position, certificate, file or quad.
        what: what is wrong with it.
    """

    place: str
    what: str


@dataclass(slots=True)
class Counts:
    """How much was looked at and found to be as it should.

    Args:
        items: whose bodies and salts were there.
        by_commitment: items that are gone, so that only their leaf hashes could be verified.
        complete: quads of the complete store; None if that was not looked at.
        current: quads of the current store; None if that was not looked at.
        anchored: events that a checkpoint from outside was held against; None if there was none as far.
    """

    events: int = 0
    certificates: int = 0
    signatures: int = 0
    items: int = 0
    by_commitment: int = 0
    facts: int = 0
    evidence: int = 0
    complete: int | None = None
    current: int | None = None
    anchored: int | None = None


class Faults:
    """Takes what is found.

    Attributes:
        total: how many there are.
        kept: the first of them.
        notes: what was not looked at, and why.
        counts: what was verified.
    """

    def __init__(self) -> None:
        self.total = 0
        self.kept: list[Fault] = []
        self.notes: list[str] = []
        self.counts = Counts()

    def add(self, place: str, what: str) -> None:
        """Takes one."""
        self.total += 1
        if len(self.kept) < KEPT:
            self.kept.append(Fault(place, what))

    def differ(self, place: str, name: str, stored: object, expected: object) -> None:
        """Takes a value that is not what it should be; passes one that is."""
        if stored != expected:
            self.add(place, f"its {name} is {_shown(stored)}, and should be {_shown(expected)}")

    def reading(self, place: str) -> Reading:
        """What cannot be read within the context is a fault of the place."""
        return Reading(self, place)


class Reading:
    """A context within which a place is read. A class: it is entered for each of millions of rows."""

    __slots__ = ("_found", "_place")

    def __init__(self, found: Faults, place: str) -> None:
        self._found = found
        self._place = place

    def __enter__(self) -> None:
        """Begins to read."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Takes what tells that something makes no sense; lets everything else through."""
        if not isinstance(error, UNREADABLE):
            return False
        self._found.add(self._place, f"cannot be read: {said(error)}")
        return True


def said(error: BaseException) -> str:
    """What is wrong, without the remedy: that is for whoever asked for something, not for an audit."""
    if isinstance(error, MunimentError | CertificateError):
        return f"{error.where}: {error.message}" if error.where else error.message
    return str(error) or type(error).__name__


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= 120 else f"{text[:120]}…"
