"""Impacts: how the answer of a registered query changes, as the member of a finding that says it.

Rules
-----
* Answers are compared as multisets: `gained` and `lost` are exact, each row counted as often as it comes.
* A sample holds some of these rows, each once, with how often it was gained or lost. A row is pairs of a variable's
  name, which may be of any letters, and its RDF term in N-Triples text; what is not bound is absent.
* Where an answer is not known, neither of the counts is, and there is no sample.
* In JSON the members stand in the finding itself: `query`, `owner`, `weight`, `gained`, `lost`, `sample`.

Example
-------
>>> impact = Impact("mayors", "city-desk", 5, 1, 0, (SampleRow(True, 1, (("who", "<urn:ann>"),)),))
>>> impact.members()["sample"]
[{'change': 'gained', 'row': [['who', '<urn:ann>']]}]
>>> Impact.from_members(impact.members()) == impact
True
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from certificates.closed import choice, closed, integer, malformed, optional_integer, path, text
from certificates.errors import InvalidValue
from certificates.fields import count

NAMES: Final = frozenset({"query", "owner", "weight", "gained", "lost", "sample"})
"""The members that an impact adds to a finding."""


class _Change(StrEnum):
    GAINED = "gained"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A row that an answer gains or loses.

    Args:
        gained: else it is lost.
        times: how often.
        row: names of variables and terms, by name.
    """

    gained: bool
    times: int
    row: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        """Refuse a row that comes less than once, and put its terms in order."""
        if self.times < 1:
            raise InvalidValue(f"a row that comes {self.times} times", remedy="leave it out", where="times")
        object.__setattr__(self, "row", tuple(sorted(self.row)))

    def body(self) -> dict[str, object]:
        """The JSON members."""
        members: dict[str, object] = {"change": "gained" if self.gained else "lost", "row": list(map(list, self.row))}
        if self.times > 1:
            members["times"] = self.times
        return members

    @classmethod
    def from_body(cls, body: object) -> Self:
        """The row whose `body` this is. Raises `MalformedDocument`."""
        members = closed(body, "sample", frozenset({"change", "row"}), frozenset({"times"}))
        times = optional_integer(members, "times", "sample")
        gained = choice(members, "change", "sample", _Change) is _Change.GAINED
        return cls(gained, 1 if times is None else times, _row(members["row"]))


def _row(value: object) -> tuple[tuple[str, str], ...]:
    pairs = [each for each in value if isinstance(each, list)] if isinstance(value, list) else None
    if pairs is None or not isinstance(value, list) or len(pairs) < len(value):
        raise malformed("not a list of pairs", path("sample", "row"))
    if any(len(each) != 2 or not all(isinstance(part, str) for part in each) for each in pairs):
        raise malformed("not a variable and its term", path("sample", "row"))
    return tuple((name, term) for name, term in pairs)


@dataclass(frozen=True, slots=True)
class Impact:
    """What a plan does to one answer.

    Args:
        query: the name of the registered query.
        owner: who relies on it.
        weight: how much depends on it, as was registered.
        gained: rows that the answer gains; None: that is not known.
        lost: rows that it loses; None: that is not known.
        sample: some of them.
    """

    query: str
    owner: str
    weight: int
    gained: int | None = None
    lost: int | None = None
    sample: tuple[SampleRow, ...] = ()

    def __post_init__(self) -> None:
        """Refuse counts of which one alone is known, no change at all, and a sample of what is not known."""
        if (self.gained is None) != (self.lost is None) or (self.gained is None and self.sample):
            raise InvalidValue("an impact that is known by half", remedy="give both counts, or neither", where="gained")
        if self.gained is not None and self.lost is not None:
            count(self.gained, "gained")
            count(self.lost, "lost")
            if not self.gained and not self.lost:
                raise InvalidValue("an impact that is none", remedy="leave the finding out", where="gained")

    def members(self) -> dict[str, object]:
        """The JSON members, ready for canonical JSON."""
        members: dict[str, object] = {"query": self.query, "owner": self.owner, "weight": self.weight}
        if self.gained is not None and self.lost is not None:
            members |= {"gained": self.gained, "lost": self.lost, "sample": [each.body() for each in self.sample]}
        return members

    @classmethod
    def from_members(cls, members: dict[str, object]) -> Self | None:
        """The impact that a finding's members say; None where they say none.

        Raises:
            MalformedDocument: a member is missing or of the wrong kind.
            InvalidValue: the members do not go together.
        """
        given = {name: value for name, value in members.items() if name in NAMES}
        if not given:
            return None
        closed(given, "", frozenset({"query", "owner", "weight"}), NAMES)
        sample = given.get("sample", [])
        if not isinstance(sample, list):
            raise malformed("not a list of rows", "sample")
        return cls(
            text(given, "query", ""),
            text(given, "owner", ""),
            integer(given, "weight", ""),
            optional_integer(given, "gained", ""),
            optional_integer(given, "lost", ""),
            tuple(map(SampleRow.from_body, sample)),
        )
