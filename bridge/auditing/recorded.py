"""Facts that plan items recorded, against their rows, many at a time.

Rules
-----
* A row is as its item says if the item made of the row's texts and numbers has the very bytes of the item, its keys are
  those of its texts, and certificate, instant and leaf hash are the item's. That is the common case, and takes no term
  to be read.
* Subject, predicate and graph have no spaces: without that rule a row could be cut in other places and give the same
  statement.
* Whatever is not so at once is decoded and looked at column by column, so that what differs has a name.
* Rows are asked for by the hundred: a question to SQLite costs more than the row that it answers.

Example
-------
::

    recorded = RecordedFacts(session, found)
    recorded.take("items … plan 3", fact, body, leaf, certificate, at)
    recorded.look()
    recorded.count
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from bridge.auditing.faults import UNREADABLE
from bridge.auditing.slots import as_it_is
from bridge.ledger.fact_rows import fact_of, fact_rows, term_key, validity_of
from certificates.ids import read_uuid, urn
from kernel.time.instants import FOREVER
from kernel.writing.plan import record_body, recorded_body

if TYPE_CHECKING:
    from bridge.auditing.faults import Faults
    from bridge.ledger.session import Session
    from kernel.time.instants import Instant

_TOGETHER: Final = 500
"""Rows that are asked for at once."""

_COLUMNS: Final = (
    "id", "family", "subject", "predicate", "object", "graph", "subject_key", "predicate_key", "object_key",
    "graph_key", "valid_from", "valid_to", "from_precision", "to_precision", "recorded", "superseded", "certificate",
    "superseded_by", "leaf",
)  # fmt: skip
_LATER: Final = frozenset({"superseded", "superseded_by"})
"""Columns that superseding sets."""

_Row = tuple[
    bytes, bytes, str, str, str, str, int, int, int, int, int, int, int, int, int, int, bytes, bytes | None, bytes
]  # fmt: skip


class _Recorded(NamedTuple):
    """What an item says: where it stands, the fact's 16 bytes, the item's own bytes and hash; by what, and when."""

    item: str
    fact: bytes
    body: bytes
    leaf: bytes
    certificate: UUID
    at: Instant


class RecordedFacts:
    """Looks at the rows of facts.

    Attributes:
        count: how many are there of those that were looked at.
    """

    def __init__(self, session: Session, found: Faults) -> None:
        self._session = session
        self._found = found
        self._taken: list[_Recorded] = []
        self.count = 0

    def take(self, item: str, fact: bytes, body: bytes, leaf: bytes, certificate: UUID, at: Instant) -> None:
        """Takes what an item recorded; looks at the rows once there are enough."""
        self._taken.append(_Recorded(item, fact, body, leaf, certificate, at))
        if len(self._taken) >= _TOGETHER:
            self.look()

    def look(self) -> None:
        """Looks at the rows of what was taken."""
        taken, self._taken = self._taken, []
        if not taken:
            return
        sql = f"SELECT {', '.join(_COLUMNS)} FROM facts WHERE id IN ({', '.join('?' * len(taken))})"  # noqa: S608 - of constants
        found: list[_Row] = self._session.all(sql, [each.fact for each in taken], as_it_is)
        rows = {row[0]: row for row in found}
        for each in taken:
            row = rows.get(each.fact)
            if row is None:
                self._found.add(_place(each.fact), f"is not there, and was recorded by {each.item}")
                continue
            self.count += 1
            if _as_stated(row, each):
                self._found.counts.facts += 1
            else:
                self._look_into(row, each)

    def _look_into(self, row: _Row, said: _Recorded) -> None:
        """Names the columns that differ."""
        place = _place(said.fact)
        with self._found.reading(place):
            content = fact_of((*row[:6], *row[10:14], row[16], row[14], row[15], row[17], row[18])).content
            expected = next(fact_rows([(content, said.leaf)], said.certificate, said.at, term_key, set()))
            wrong = differing(_COLUMNS, row, expected)
            if row[17] is not None:
                wrong -= _LATER
            stated = record_body(content)
            if stated != said.body:
                wrong |= members(stated, said.body)
            if wrong:
                self._found.add(place, f"differs from what {said.item} recorded: {', '.join(sorted(wrong))}")
            else:
                self._found.counts.facts += 1


def _as_stated(row: _Row, said: _Recorded) -> bool:
    """Whether a row is what would be written of the item today; False as well for what makes no sense."""
    identifier, family, subject, predicate, value, graph = row[:6]
    if " " in subject or " " in predicate or " " in graph:
        return False
    if row[6:10] != (term_key(subject), term_key(predicate), term_key(value), term_key(graph)):
        return False
    if (row[14], row[16], row[18]) != (said.at, said.certificate.bytes, said.leaf):
        return False
    if row[17] is None and row[15] != FOREVER:
        return False
    try:
        own = f"urn:uuid:{read_uuid(identifier)}"
        stated = recorded_body(
            own,
            own if family == identifier else urn(read_uuid(family)),
            f"{subject} {predicate} {value} {graph} .",
            validity_of(*row[10:14]),
        )
    except UNREADABLE:
        return False
    return stated == said.body


def differing(names: tuple[str, ...], stored: tuple[object, ...], expected: tuple[object, ...]) -> set[str]:
    """The names of the columns in which two rows differ."""
    return {name for name, one, other in zip(names, stored, expected, strict=True) if one != other}


def members(one: bytes, other: bytes) -> set[str]:
    """The members in which two items differ."""
    first, second = json.loads(one), json.loads(other)
    return {name for name in {*first, *second} if first.get(name) != second.get(name)} or {"spelling"}


def _place(fact: bytes) -> str:
    """A fact as it is called in a fault; what is no id, in hexadecimal."""
    return f"facts {UUID(bytes=fact) if len(fact) == 16 else fact.hex()}"
