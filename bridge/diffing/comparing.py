"""What differs between two moments: statements gained, lost and corrected, with the certificates that did it.

Rules
-----
* Two moments differ along one axis. Along transaction time: what was believed at T1 and at T2 to be true at one valid
  time. Along valid time: what held at D1 and at D2, as it was known at one time. The first is the earlier one.
* Compared are the facts of a graph, or of a node as subject or object, in the graphs that the caller may read. Others
  are as if they were empty, in entries and counts alike.
* A statement is *gained* if it holds at the second moment alone, and *lost* if it holds at the first alone. *Corrected*
  is a fact whose place was taken: by one of its family, or, along transaction time, by one that states the same for
  another interval or anew. So a statement that holds at both moments is never gained or lost.
* Responsible is the certificate that recorded a fact which came, and the one that superseded a fact which went; for
  what ended by itself, the one that said when it would.
* Each fact is as it was known at the second moment.
* It takes memory that does not grow with what differs (`bridge.diffing.pairing`), and no longer than it may.

Example
-------
::

    sides = sides_of(base, Axis.TRANSACTION, "head:41")
    with Diff(base.ledger, Comparison(principal, sides, graph=g), seconds=10) as diff:
        diff.counts, [entry.kind for entry in diff.entries()]
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from time import monotonic
from typing import TYPE_CHECKING, Final, Self

from bridge.diffing.pairing import Pairing
from bridge.reading.facts import FoundFact, as_known
from kernel.errors import DamagedBase, InvalidParameter, InvalidTime, QueryLimit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType
    from uuid import UUID

    from bridge.base import Base
    from bridge.diffing.pairing import Counts
    from bridge.reading.moments import Moment
    from bridge.reading.reader import Reader
    from kernel.access import Principal
    from kernel.facts import Fact
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.terms import Iri
    from kernel.time.instants import Instant

_LOOKED_UP: Final = 256
"""Facts after which it is looked at the clock."""


class Axis(StrEnum):
    """The axis along which two moments differ, by the name of its parameter."""

    TRANSACTION = "as-of"
    VALID = "valid-at"


class Kind(StrEnum):
    """What became of a statement."""

    GAINED = "gained"
    LOST = "lost"
    CORRECTED = "corrected"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two moments; `head` is the last one by then, None before the first."""

    as_of: Instant
    valid_at: Instant
    head: int | None

    def holds(self, fact: Fact) -> bool:
        """Whether a fact is believed and true at it."""
        believed = fact.recorded_at <= self.as_of and (fact.superseded is None or self.as_of < fact.superseded.at)
        return believed and fact.interval.contains(self.valid_at)


@dataclass(frozen=True, slots=True)
class Sides:
    """Both moments. Raises `InvalidParameter` unless the first is the earlier one along the axis."""

    axis: Axis
    first: Side
    second: Side

    def __post_init__(self) -> None:
        if (self.first.as_of, self.first.valid_at) > (self.second.as_of, self.second.valid_at):
            raise InvalidParameter("`from` is later than `to`", remedy="swap them", where="from")


def sides_of(base: Base, axis: Axis, first: str, second: str | None = None, other: str | None = None) -> Sides:
    """The two moments that parameters name.

    Args:
        base: whose moments they are.
        axis: along which they differ.
        first: `from`, on the axis.
        second: `to`, on the axis; None: the present.
        other: the one moment on the other axis; None: the present.

    Raises:
        InvalidParameter: as `Reader.moment` does, naming `from` or `to`; or `from` is later than `to`.
        InvalidTime: a time that cannot be read.
    """
    with base.ledger.reading() as view:
        head = view.head()
        latest = head.clock if head.instant is None else head.instant

        def side(text: str | None, where: str, since: Side | None = None) -> Side:
            as_of, valid_at = (text, other) if axis is Axis.TRANSACTION else (other, text)
            moment = _moment(base.reader, as_of, valid_at, where, axis)
            # Without as-of, or on this axis, the present is meant: at one valid time, and not at that of either as-of.
            present = moment.valid_at is None or (axis is Axis.TRANSACTION and valid_at is None)
            known = latest if moment.as_of is None else moment.as_of
            true = head.clock if present or moment.valid_at is None else moment.valid_at
            # The present goes on since the last head, and since the last boundary.
            if text is None and since is not None:
                known = max(known, since.as_of)
                true = max(true, min(since.valid_at, base.host.now()))
            return Side(known, true, view.head_at(known))

        earlier = side(first, "from")
        return Sides(axis, earlier, side(second, "to", earlier))


def _moment(reader: Reader, as_of: str | None, valid_at: str | None, where: str, axis: Axis) -> Moment:
    """The moment; what is wrong with what stands on the axis is said of the parameter that said it."""
    try:
        return reader.moment(as_of, valid_at)
    except (InvalidParameter, InvalidTime) as error:
        if error.where == axis.value:
            error.where = where
        raise


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared, for whom.

    Args:
        graph: whose facts, if a graph is named.
        node: whose facts, if a node is named; both: those of the node in the graph.

    Raises:
        InvalidParameter: neither a graph nor a node.
    """

    principal: Principal
    sides: Sides
    graph: Iri | None = None
    node: Iri | None = None

    def __post_init__(self) -> None:
        if self.graph is None and self.node is None:
            raise InvalidParameter("what to compare is not said", remedy="give a graph or a node", where="graph")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that differs.

    Args:
        before: the fact that held at the first moment, if one did.
        after: the fact that holds at the second, if one does.
    """

    before: FoundFact | None
    after: FoundFact | None

    @property
    def kind(self) -> Kind:
        """What became of the statement."""
        if self.before is None:
            return Kind.GAINED
        return Kind.LOST if self.after is None else Kind.CORRECTED

    @property
    def certificates(self) -> tuple[UUID, ...]:
        """Those that are responsible, each once, in their order."""
        found = []
        if self.before is not None:
            fact = self.before.fact
            found.append(fact.certificate if fact.superseded is None else fact.superseded.certificate)
        if self.after is not None:
            found.append(self.after.fact.certificate)
        return tuple(dict.fromkeys(found))


class Diff:
    """What differs, while its view is open; for one thread at a time."""

    def __init__(self, ledger: Ledger, asked: Comparison, seconds: float) -> None:
        """Compares. Raises `QueryLimit` where that takes longer than it may, and `StoreUnavailable` without room."""
        self.asked = asked
        with ExitStack() as opened:
            self._view = opened.enter_context(ledger.reading())
            self._pairing = opened.enter_context(Pairing())
            second = asked.sides.second
            found = _within(seconds, _differing(self._view, asked))
            restated = asked.sides.axis is Axis.TRANSACTION
            self._pairing.gather(((second.holds(fact), fact) for fact in found), restated=restated)
            self.opened = opened.pop_all()

    @property
    def counts(self) -> Counts:
        """How many entries of each kind there are."""
        return self._pairing.counts()

    def entries(self, first: int = 0, limit: int | None = None) -> Iterator[Entry]:
        """The entries from a number on, in the order in which what is newer in them was recorded."""
        for before, after in self._pairing.entries(first, limit):
            yield Entry(self._found(before), self._found(after))

    def close(self) -> None:
        """Gives everything back."""
        self.opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _found(self, identifier: UUID | None) -> FoundFact | None:
        if identifier is None:
            return None
        fact, as_of = self._view.fact(identifier), self.asked.sides.second.as_of
        if fact is None:
            raise DamagedBase(f"the fact {identifier} is gone", remedy="audit the base")
        evidence = self._view.evidence_of([identifier]).get(identifier, ())
        return FoundFact(as_known(fact, as_of), tuple(each for each in evidence if each.recorded_at <= as_of))


def _differing(view: LedgerView, asked: Comparison) -> Iterator[Fact]:
    """The facts on one side alone, in graphs that the caller may read."""
    principal, first, second = asked.principal, asked.sides.first, asked.sides.second
    moments = (first.as_of, first.valid_at), (second.as_of, second.valid_at)
    if asked.node is None:
        graph = asked.graph
        return view.facts_differing(*moments, graph=graph) if graph and principal.may_read(graph) else iter(())
    graphs = None if asked.graph is None and principal.reads_everything else _readable(view, asked)
    found = view.facts_differing(*moments, node=asked.node, graphs=graphs)
    return (fact for fact in found if principal.may_read(fact.statement.graph) and _is_in(fact, asked.graph))


def _readable(view: LedgerView, asked: Comparison) -> list[Iri]:
    graphs = view.graphs() if asked.graph is None else [asked.graph]
    return [graph for graph in graphs if asked.principal.may_read(graph)]


def _is_in(fact: Fact, graph: Iri | None) -> bool:
    """Whether it is in the graph, of which the ledger's index has no more than a hash."""
    return graph is None or fact.statement.graph == graph


def _within(seconds: float, facts: Iterable[Fact]) -> Iterator[Fact]:
    until = monotonic() + seconds
    for number, fact in enumerate(facts):
        if number % _LOOKED_UP == 0 and monotonic() > until:
            raise QueryLimit(
                f"more differs than {seconds:g} s are enough to compare",
                remedy="take moments that are closer together, or compare a node",
                where="from",
                limit=seconds,
                of="time",
            )
        yield fact
