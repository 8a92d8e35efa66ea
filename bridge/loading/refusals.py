"""What of a file cannot be loaded: all of it is counted, and as much of it listed as a person would read.

Rules
-----
* A refusal names file, line (where the format has lines), a stable code, and what is wrong.
* However many there are, memory does not grow: the first ones are kept, the rest is counted by code. Whoever wants all
  of them gives a sink, which gets each as it is met.

Example
-------
>>> refusals = Refusals()
>>> refusals.add(Refusal("facts.nt", 7, "invalid-term", "'x' is not an absolute IRI"))
>>> refusals.total, refusals.by_code, str(refusals.listed[0])
(1, Counter({'invalid-term': 1}), "facts.nt:7: invalid-term: 'x' is not an absolute IRI")
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

LISTED: Final = 20
"""How many refusals are kept."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One line, or one statement, that cannot be loaded.

    Args:
        file: its name, as it was given.
        line: counted from 1; None where the format does not tell.
        code: of the error, as in `kernel.errors`.
        message: what is wrong, and the way out.
        ends_file: the rest of the file cannot be read either, or would mean something else by itself, so that this
            cannot be left out and the rest loaded.
    """

    file: str
    line: int | None
    code: str
    message: str
    ends_file: bool = False

    def __str__(self) -> str:
        """In one line, the place first."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.code}: {self.message}"


@dataclass(slots=True)
class Refusals:
    """What was refused of the files of one load session.

    Args:
        sink: gets every refusal.
    """

    sink: Callable[[Refusal], None] | None = None
    listed: list[Refusal] = field(default_factory=list)
    by_code: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        """How many there are."""
        return self.by_code.total()

    def add(self, refusal: Refusal) -> None:
        """Counts one more."""
        self.by_code[refusal.code] += 1
        if len(self.listed) < LISTED:
            self.listed.append(refusal)
        if self.sink is not None:
            self.sink(refusal)
