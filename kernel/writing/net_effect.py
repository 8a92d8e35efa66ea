"""The net effect of a request whose operations insert and delete statements one after the other.

Rules
-----
* What counts of a statement is the last that was done to it: inserted and deleted again, it leaves nothing; deleted and
  inserted again, it stays as it is held, and what was said of it is evidence.
* What is current is what a fact of the view holds at the clock. Only that can be deleted; the future stays.
* A deletion ends the fact, and an insertion is believed, from an instant on: that of issue, or the one that the request
  gives (`kernel.writing.deferred`).
* Nothing is inserted or deleted where the principal may not write, whether there is something or not.

Example
-------
::

    effect = NetEffect(view, clock, principal)
    effect.delete(old)
    effect.insert(new)
    request = Request(effect.changes(group.tx, group.instant()), None, None, principal.id)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Self

from kernel.changes import NO_SPELLING
from kernel.errors import InvalidParameter, TooManyChanges
from kernel.terms import Statement
from kernel.time.precision import Precision
from kernel.time.timevalues import exact, valid_from, valid_to
from kernel.vocabulary import GOVERNANCE
from kernel.writing.deferred import Deletion, current_in, deletion, insertion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kernel.access import Principal
    from kernel.changes import Change
    from kernel.facts import Spelling
    from kernel.ports.facts import FactsView
    from kernel.terms import Iri, Term
    from kernel.time.instants import Instant
    from kernel.time.timevalues import Bound
    from kernel.writing.deferred import Deferred

MOST: Final = 250_000
"""Statements that the operations of one request may insert and delete: what a plan holds in memory, some 1 KB each."""

MOST_TEXT: Final = 64 * 2**20
"""Characters of objects that may come of solutions: a short update can make a long value, and put it in many places."""


@dataclass(frozen=True, slots=True)
class Since:
    """From when on the effect holds, where that is not the issue instant: as a start, and as an end."""

    start: Bound
    end: Bound

    @classmethod
    def parse(cls, text: str, *, field: str, zone: str | None = None) -> Self:
        """From a time as people give it. Raises `InvalidTime`."""
        start = valid_from(text, field=field, zone=zone)
        ends = start.precision is not Precision.UNBOUNDED  # else: since ever, and not for ever
        return cls(start, valid_to(text, field=field, zone=zone) if ends else start)

    @classmethod
    def issued(cls, at: Instant) -> Self:
        """From an instant of issue on."""
        return cls(exact(at), exact(at))

    def require_known(self) -> None:
        """Raises `InvalidParameter` unless something can end then."""
        if self.start.precision is Precision.UNKNOWN:
            raise InvalidParameter(
                "nothing can end at an unknown time", remedy="give a time, or leave it out", where="valid-from"
            )


class NetEffect:
    """What has come of the operations so far.

    Args:
        view: the state that the first of them saw.
        clock: the instant at which that state is current.
        principal: who asks.
    """

    def __init__(self, view: FactsView, clock: Instant, principal: Principal) -> None:
        self._view = view
        self._clock = clock
        self._principal = principal
        self._writable: set[Iri] = set()
        self._last: dict[Statement, Spelling | None] = {}
        """By statement the spelling in which it was inserted, or None where it was deleted."""
        self._inserted: dict[tuple[Iri, Iri, Term], dict[Iri, None]] = {}
        self._touched: dict[Statement, None] = {}

    def __len__(self) -> int:
        """Of how many statements something has come."""
        return len(self._last)

    def insert(self, statement: Statement, spelling: Spelling = NO_SPELLING) -> None:
        """Inserts a statement. Raises `Forbidden`, `TooManyChanges`."""
        self._touch(statement)
        self._last[statement] = spelling
        self._inserted.setdefault(_triple(statement), {})[statement.graph] = None

    def delete(self, statement: Statement) -> None:
        """Deletes a statement, if it is there. Raises `Forbidden`, `TooManyChanges`."""
        self._touch(statement)
        if self._is_held(statement):
            self._last[statement] = None
        else:
            self._last.pop(statement, None)

    def replace(self, graph: Iri, statements: Iterable[tuple[Statement, Spelling]]) -> None:
        """Has a graph hold these statements and no others; what it holds of them already is left alone."""
        wanted = dict(statements)
        for statement in self.statements_in(graph):
            if statement not in wanted:
                self.delete(statement)
        self.add(wanted.items())

    def add(self, statements: Iterable[tuple[Statement, Spelling]]) -> None:
        """Inserts what is not there yet."""
        for statement, spelling in statements:
            if not self.holds(statement):
                self.insert(statement, spelling)

    def holds(self, statement: Statement) -> bool:
        """Whether the statement is current by now."""
        if statement in self._last:
            return self._last[statement] is not None
        return self._is_held(statement)

    def graphs_of(self, subject: Iri, predicate: Iri, value: Term) -> list[Iri]:
        """The graphs in which a triple is current by now."""
        held = dict.fromkeys(current_in(self._view, self._clock, subject, predicate, value))
        candidates = held | self._inserted.get((subject, predicate, value), {})
        return [graph for graph in candidates if self.holds(Statement(subject, predicate, value, graph))]

    def statements_in(self, graph: Iri) -> list[Statement]:
        """What is current in a graph by now. Raises `TooManyChanges` where that is more than could be changed."""
        facts = self._view.believed(graph=graph)
        current = (fact.statement for fact in facts if fact.interval.contains(self._clock))
        held = dict.fromkeys(islice(current, MOST + 1))
        if len(held) > MOST:
            raise too_many()
        candidates = held | dict.fromkeys(each for each in self._last if each.graph == graph)
        return [statement for statement in candidates if self.holds(statement)]

    def has(self, graph: Iri) -> bool:
        """Whether something is current in a graph by now."""
        held = (fact.statement for fact in self._view.believed(graph=graph) if fact.interval.contains(self._clock))
        return any(map(self.holds, held)) or any(map(self.holds, (each for each in self._last if each.graph == graph)))

    def graphs(self) -> set[Iri]:
        """The graphs in which something was inserted."""
        return {statement.graph for statement, spelling in self._last.items() if spelling is not None}

    def touched(self) -> Iterable[Statement]:
        """What was inserted or deleted, each once; what came of it tells `holds`."""
        return self._touched

    def changes(self, view: FactsView, at: Instant, since: Since | None = None) -> tuple[Change, ...]:
        """The changes that amount to the effect, those that end something first.

        Args:
            view: the facts believed at the head that they are planned at.
            at: the issue instant.
            since: from when on the effect holds; None for the issue instant.

        Raises:
            InvalidParameter: something is to end at a time that is not known.
            ReservedGraph: a time was given for what has transaction time only.
        """
        holds = Since.issued(at) if since is None else since
        deleted = [statement for statement, spelling in self._last.items() if spelling is None]
        if deleted:
            holds.require_known()
        ended = [deletion(each, view, at, holds.end) for each in deleted]
        asserted = [
            insertion(statement, spelling, holds.start, given=since is not None)
            for statement, spelling in self._last.items()
            if spelling is not None
        ]
        return (*(change for change in ended if change is not None), *asserted)

    @property
    def governs(self) -> bool:
        """Whether something of a reserved graph has come of it."""
        return any(statement.graph in GOVERNANCE for statement in self._last)

    def drained(self, now: Instant, since: Since | None = None) -> Iterator[Deferred]:
        """The same as `changes`, to be planned later, one by one; what was given is not kept here any more.

        Args:
            now: the instant from which on it holds, unless that is said.
            since: from when on it holds; None for now.

        Raises:
            InvalidParameter: something is to end at a time that is not known.
        """
        holds = Since.issued(now) if since is None else since
        self._touched.clear()
        self._inserted.clear()
        deleted = [statement for statement, spelling in self._last.items() if spelling is None]
        if deleted:
            holds.require_known()
        for statement in _drawn(deleted):
            del self._last[statement]
            yield Deletion(statement, holds.end)
        for statement in _drawn(list(self._last)):
            spelling = self._last.pop(statement)
            if spelling is not None:
                yield insertion(statement, spelling, holds.start, given=since is not None)

    def _touch(self, statement: Statement) -> None:
        graph = statement.graph
        if graph not in self._writable:
            self._principal.require_write(graph)
            self._writable.add(graph)
        if len(self._last) >= MOST and statement not in self._last:
            raise too_many()
        self._touched[statement] = None

    def _is_held(self, statement: Statement) -> bool:
        return any(fact.interval.contains(self._clock) for fact in self._view.believed_of(statement))


def too_many() -> TooManyChanges:
    """What to raise for a request that changes more than `MOST` statements."""
    return TooManyChanges(
        f"the request changes more than {MOST:,} statements",
        remedy="change fewer at a time: by LIMIT in a sub-SELECT, or graph by graph",
    )


def too_much() -> TooManyChanges:
    """What to raise for a request that inserts more than `MOST_TEXT`."""
    return TooManyChanges(
        f"the request inserts more than {MOST_TEXT // 2**20} MB of text",
        remedy="insert less at a time: by LIMIT in a sub-SELECT, or shorter values",
    )


def _drawn(statements: list[Statement]) -> Iterator[Statement]:
    """Them in their order, none of which is held on to."""
    statements.reverse()
    while statements:
        yield statements.pop()


def _triple(statement: Statement) -> tuple[Iri, Iri, Term]:
    return statement.subject, statement.predicate, statement.object
