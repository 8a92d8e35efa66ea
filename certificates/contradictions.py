"""Contradictions: which two statements cannot both hold, and of which kind that is, as the member of a finding.

Rules
-----
* There are five kinds: of *values* (two where one may be), of *types* (classes that share nothing), of *relations*
  (predicates that exclude each other), *temporal* (an order or times that do not go together) and *logical* (what
  follows from a predicate's meaning alone).
* The two statements are N-Quads lines without the line end: the one that the plan brings, and the one that it is
  `against`, which is held or brought with it.
* In JSON the members stand in the finding itself: `kind`, `statement`, `against`.

Example
-------
>>> one, other = "<urn:a> <urn:p> <urn:b> <urn:g> .", "<urn:a> <urn:p> <urn:c> <urn:g> ."
>>> said = Contradiction(ContradictionKind.VALUE, one, other)
>>> Contradiction.from_members(said.members()) == said
True
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from certificates.closed import choice, closed, text

NAMES: Final = frozenset({"kind", "statement", "against"})
"""The members that a contradiction adds to a finding."""


class ContradictionKind(StrEnum):
    """What does not go together."""

    VALUE = "value"
    TYPE = "type"
    RELATION = "relation"
    TEMPORAL = "temporal"
    LOGICAL = "logical"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two statements that contradict each other; see the rules above."""

    kind: ContradictionKind
    statement: str
    against: str

    def members(self) -> dict[str, object]:
        """The JSON members."""
        return {"kind": self.kind.value, "statement": self.statement, "against": self.against}

    @classmethod
    def from_members(cls, members: dict[str, object]) -> Self | None:
        """The contradiction that a finding with these members speaks of, if any. Raises `MalformedDocument`."""
        given = {name: value for name, value in members.items() if name in NAMES}
        if not given:
            return None
        closed(given, "", NAMES)
        kind = choice(given, "kind", "", ContradictionKind)
        return cls(kind, text(given, "statement", ""), text(given, "against", ""))
