"""How files are to be loaded.

Rules
-----
* Options apply to all files of a session and are part of its name: other options, another session.
* A valid time that is given goes for every fact that does not bring its own.

Example
-------
>>> LoadOptions(valid_from="1970", valid_through="1970-01-01").validity.interval
Interval(start=0, end=86400000000)
>>> LoadOptions(valid_to="2020", valid_through="2021").validity
Traceback (most recent call last):
kernel.errors.InvalidParameter: valid-through: an end is given twice (give valid-to, exclusive, or valid-through, \
inclusive)
"""

from __future__ import annotations

from dataclasses import dataclass

from kernel.errors import InvalidParameter
from kernel.facts import Spelling, Validity
from kernel.terms import Iri
from kernel.time.timevalues import Bound, interval_between, valid_from, valid_through, valid_to


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What may be said of a load session.

    Args:
        graph: where statements go whose file names no graph; None: `m:default`.
        valid_from: start of all facts that bring none, as text; None: unbounded.
        valid_to: their exclusive end.
        valid_through: their inclusive end, instead of `valid_to`.
        reason: for the people who will read the certificate.
        episode: the source that all facts cite.
        skip_invalid: leave out what cannot be loaded, instead of refusing the load.
        again: load files anew that were loaded before.
    """

    graph: Iri | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    valid_through: str | None = None
    reason: str | None = None
    episode: Iri | None = None
    skip_invalid: bool = False
    again: bool = False

    @property
    def validity(self) -> Validity:
        """When facts are true that bring no valid time. Raises `InvalidTime`, `InvalidInterval`, `InvalidParameter`."""
        start, end = self._bounds()
        return Validity(interval_between(start, end, field=self._end_name), start.precision, end.precision)

    @property
    def spelling(self) -> Spelling:
        """How that valid time was written, where it is not the canonical way; raises as `validity` does."""
        start, end = self._bounds()
        return Spelling(None, start.spelling, end.spelling)

    def told(self) -> list[str | None]:
        """What a session's name depends on."""
        return [
            None if self.graph is None else self.graph.value,
            self.valid_from,
            self.valid_to,
            self.valid_through,
            self.reason,
            None if self.episode is None else self.episode.value,
            "skip" if self.skip_invalid else None,
        ]

    @property
    def _end_name(self) -> str:
        return "valid-to" if self.valid_through is None else "valid-through"

    def _bounds(self) -> tuple[Bound, Bound]:
        if self.valid_to is not None and self.valid_through is not None:
            raise InvalidParameter(
                "an end is given twice",
                remedy="give valid-to, exclusive, or valid-through, inclusive",
                where="valid-through",
            )
        start = valid_from(self.valid_from, field="valid-from")
        if self.valid_through is not None:
            return start, valid_through(self.valid_through, field="valid-through")
        return start, valid_to(self.valid_to, field="valid-to")
