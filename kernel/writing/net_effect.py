"""The net effect of a request whose operations insert and delete statements one after the other.

Rules
-----
* What counts of a statement is the last that was done to it: inserted and deleted again, it leaves nothing; deleted and
  inserted again, it stays as it is held, and what was said of it is evidence.
* What is current is what a fact of the view holds at the clock. Only that can be deleted; the future stays.
* A deletion ends the fact from an instant on: that of issue, or the one that the request gives. What would be left no
  time at all is retracted; so is what lies in a reserved graph, which has no valid time.
* An insertion is believed from that instant on, in a reserved graph as such.
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

from kernel.changes import NO_SPELLING, Assert, End, Retract
from kernel.errors import InvalidParameter, TooManyChanges
from kernel.facts import Spelling, Validity
from kernel.terms import Statement
from kernel.time.instants import FOREVER
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.time.timevalues import exact, valid_from, valid_to
from kernel.vocabulary import GOVERNANCE
from kernel.writing.bitemporal import containing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernel.access import Principal
    from kernel.changes import Change
    from kernel.ports.facts import FactsView
    from kernel.terms import Iri, Term
    from kernel.time.instants import Instant
    from kernel.time.timevalues import Bound

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

    @property
    def known(self) -> bool:
        """Whether something can end then."""
        return self.start.precision is not Precision.UNKNOWN


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
        facts = self._view.believed(subject=subject, predicate=predicate, object=value)
        held = dict.fromkeys(fact.statement.graph for fact in facts if fact.interval.contains(self._clock))
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
        deleted = [statement for statement, spelling in self._last.items() if spelling is None]
        if deleted and since is not None and not since.known:
            raise InvalidParameter(
                "nothing can end at an unknown time", remedy="give a time, or leave it out", where="valid-from"
            )
        ended = [_deletion(each, view, at, exact(at) if since is None else since.end) for each in deleted]
        start = exact(at) if since is None else since.start
        asserted = [
            insertion(statement, spelling, start, given=since is not None)
            for statement, spelling in self._last.items()
            if spelling is not None
        ]
        return (*(change for change in ended if change is not None), *asserted)

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


def _deletion(statement: Statement, view: FactsView, at: Instant, end: Bound) -> End | Retract | None:
    """What lets a statement be true no longer from a time on; None where nothing of it is current."""
    found = containing([fact.interval for fact in view.believed_of(statement)], at)
    if found is None or end.instant >= found.end:
        return None
    if statement.graph in GOVERNANCE:
        return Retract(statement)
    if found.start < end.instant:
        return End(statement, end)
    return Retract(statement, Interval(end.instant, found.end))


def insertion(statement: Statement, spelling: Spelling, start: Bound, *, given: bool) -> Assert:
    """What has a statement be true from a time on.

    Args:
        statement: which.
        spelling: how its object was submitted.
        start: from when on.
        given: whether the request says so; else a reserved graph, which has no valid time, is left without.

    Raises:
        ReservedGraph: a time was given for what has transaction time only.
    """
    if statement.graph in GOVERNANCE and not given:
        return Assert(statement, spelling=spelling)
    validity = Validity(Interval(start.instant, FOREVER), start.precision, Precision.UNBOUNDED)
    spelled = spelling if start.spelling is None else Spelling(spelling.object, start.spelling, None)
    return Assert(statement, validity, spelled)


def _triple(statement: Statement) -> tuple[Iri, Iri, Term]:
    return statement.subject, statement.predicate, statement.object
