"""Plans read back item by item: how many changes of each kind there are, and a page of them.

Rules
-----
* Facts of one family are one change. With the same statement and start and an earlier end it is an end; with another
  value or interval a correction; with nothing left, a withdrawal; with nothing before, a gain. Evidence for a fact that
  is held already confirms it.
* Changes are numbered from 0, in the order of the items that lead them: the first fact recorded of the family, else the
  first superseded; else the first piece of evidence.
* Items are read some thousands at a time. What is held of them is the page that was asked for, the facts superseded,
  which only a request has, and what tells changes apart within a run: records, supersessions, evidence, as a request or
  one chunk of a load has them.
* A plan does not change once it was signed: its tally is worked out once, and the last ones are kept.

Example
-------
::

    reading = PlanReading(view, record.id)
    tally = reading.tally()
    page = reading.page(tally, first=200, limit=100)
"""

from __future__ import annotations

import json
import re
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol
from uuid import UUID

import pyoxigraph as ox

from bridge.terms import from_oxigraph
from certificates.ids import parse_urn
from certificates.items import ItemKind
from kernel.facts import EvidenceContent, FactContent, Spelling, Validity
from kernel.terms import Iri, Literal, Statement, parse_term
from kernel.time.instants import BEGINNING, FOREVER, parse_instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from certificates.items import SaltedItem
    from kernel.facts import Fact
    from kernel.ports.ledger import LedgerView

Body = dict[str, str]

_CHUNK: Final = 2_000
_CHANGES: Final = frozenset({"record", "supersede", "support"})
_KEPT: Final = 256
# Within a string of canonical JSON a quotation mark is escaped: these can only be members.
_MEMBERS: Final = re.compile(rb'"(op|fact|family)":"([^"]*)"')
_STATEMENT: Final = re.compile(rb'"statement":"(<[^>]*>) (<[^>]*>) (<[^>]*>)?')


class Kind(StrEnum):
    """What happens to what is believed."""

    GAINED = "gained"
    ENDED = "ended"
    CORRECTED = "corrected"
    WITHDRAWN = "withdrawn"
    CONFIRMED = "confirmed"


class Version(Protocol):
    """What tells the facts of a family apart."""

    @property
    def statement(self) -> Statement:
        """What it says."""
        ...

    @property
    def interval(self) -> Interval:
        """When that is true."""
        ...


def kind_of(before: Sequence[Version], after: Sequence[Version]) -> Kind:
    """What kind of change it is that the one facts of a family give way to the others."""
    if not before:
        return Kind.GAINED
    if not after:
        return Kind.WITHDRAWN
    one, other = before[0], after[0]
    if len(before) == len(after) == 1 and one.statement == other.statement:
        ends_earlier = one.interval.start == other.interval.start and other.interval.end < one.interval.end
        return Kind.ENDED if ends_earlier else Kind.CORRECTED
    return Kind.CORRECTED


@dataclass(frozen=True, slots=True)
class Tally:
    """How many changes of each kind a plan has; and whether it supersedes facts, or adds evidence, at all."""

    changes: Counter[Kind]
    supersedes: bool
    supports: bool


@dataclass(frozen=True, slots=True)
class PlanPage:
    """Some changes of a plan, as their items.

    Args:
        records: facts to record.
        supersedes: ids of facts to supersede.
        supports: evidence to add, also for facts to record.
    """

    records: tuple[tuple[SaltedItem, Body], ...]
    supersedes: tuple[UUID, ...]
    supports: tuple[Body, ...]


class Tallies:
    """How many changes of each kind plans have: of the last ones that were asked for. Safe from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[UUID, Tally] = OrderedDict()

    def of(self, reading: PlanReading) -> Tally:
        """The tally of a plan."""
        found = self._kept.get(reading.certificate)
        if found is None:
            found = self._kept[reading.certificate] = reading.tally()
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found


@dataclass(slots=True)
class _Run:
    """Records, supersessions and evidence that follow one another; the next record after that begins another."""

    facts: set[str] = field(default_factory=set)
    families: set[str] = field(default_factory=set)
    recording: bool = True

    def begins_with(self, operation: str) -> None:
        recording = operation == "record"
        if recording and not self.recording:
            self.facts.clear()
            self.families.clear()
        self.recording = recording

    def is_first(self, operation: str, fact: str, family: str) -> bool:
        """Whether an item leads a change."""
        if operation == "support":
            known = fact in self.facts
        else:
            known = family in self.families
            self.families.add(family)
        self.facts.add(fact)
        return not known


class PlanReading:
    """Reads one plan within one view of the ledger."""

    def __init__(self, view: LedgerView, certificate: UUID) -> None:
        self.certificate = certificate
        self._view = view
        self._held: dict[str, list[Fact]] | None = None

    def request(self) -> Body | None:
        """The item that says who asked, why and citing what; None once it was purged."""
        first = self._view.items(self.certificate, ItemKind.PLAN, limit=1)
        body: Body = json.loads(first[0].body) if first else {}
        return body if body.get("op") == "request" else None

    def tally(self) -> Tally:
        """How many changes of each kind there are."""
        counted: Counter[Kind] = Counter()
        after: dict[str, list[FactContent]] = {}
        held, supports = self._superseded(), False
        for item, operation, family, leads in self._led():
            if operation == "support":
                supports = True
                counted[Kind.CONFIRMED] += leads
            elif family not in held:
                counted[Kind.GAINED] += leads
            elif operation == "record":
                after.setdefault(family, []).append(recorded(json.loads(item.body)))
        for family, facts in held.items():
            counted[kind_of(facts, after.get(family, ()))] += 1
        return Tally(+counted, bool(held), supports)

    def page(self, tally: Tally, *, first: int, limit: int) -> PlanPage:
        """The items of up to `limit` changes from the one of number `first` on."""
        records: list[tuple[SaltedItem, Body]] = []
        supersedes: list[UUID] = []
        supports: list[Body] = []
        if not tally.supersedes:
            self._held = {}
        held, wanted, number, before = self._superseded(), set[str](), 0, "record"
        for item, operation, key, leads in self._led():
            number += leads
            another_run = operation == "record" != before
            if number > first + limit and not tally.supersedes and (another_run or not tally.supports):
                break  # nothing from here on belongs to this page
            before = operation
            if leads and first < number <= first + limit:
                wanted.add(key)
                supersedes += [fact.id for fact in held.get(key, ())]
            if operation != "supersede" and key in wanted:
                body: Body = json.loads(item.body)
                if operation == "record":
                    records.append((item, body))
                    wanted.add(body["fact"])
                else:
                    supports.append(body)
        return PlanPage(tuple(records), tuple(supersedes), tuple(supports))

    def about(self, wanted: frozenset[tuple[str, str | None]], most: int) -> PlanPage:
        """The items of up to `most` facts of each: of a node, subject or object, and a predicate; None: of any.

        The whole plan is gone through.
        """
        counted: Counter[tuple[str, str | None]] = Counter()
        records: list[tuple[SaltedItem, Body]] = []
        supports: list[Body] = []
        facts: set[str] = set()
        for item, members in self._items():
            if members["op"] == "support" and members["fact"] in facts:
                supports.append(json.loads(item.body))
            said = _STATEMENT.search(item.body) if members["op"] == "record" else None
            if said is None:
                continue
            subject, predicate, value = (b"" if part is None else part for part in said.groups())
            ends, by = {subject.decode(), value.decode()}, predicate.decode()
            fitting = {(end, path) for end in ends for path in (None, by)} & wanted
            if any(counted[each] < most for each in fitting):
                counted.update(fitting)
                facts.add(members["fact"])
                records.append((item, json.loads(item.body)))
        superseded = (
            fact.id
            for each in self._superseded().values()
            for fact in each
            for end in (fact.statement.subject.n3, fact.statement.object.n3)
            if {(end, None), (end, fact.statement.predicate.n3)} & wanted
        )
        return PlanPage(tuple(records), tuple(islice(dict.fromkeys(superseded), most)), tuple(supports))

    def _led(self) -> Iterator[tuple[SaltedItem, str, str, bool]]:
        """Every item with what it does, the family or else fact that it is of, and whether it leads a change."""
        run, families = _Run(), {fact.id: family for family, facts in self._superseded().items() for fact in facts}
        for item, members in self._items():
            operation, fact = members["op"], members.get("fact", "")
            if operation not in _CHANGES:  # a request, or what was purged
                continue
            run.begins_with(operation)
            family = members.get("family", "")
            if operation == "supersede":
                family = families.get(parse_urn(fact), fact)
            yield item, operation, fact if operation == "support" else family, run.is_first(operation, fact, family)

    def _superseded(self) -> dict[str, list[Fact]]:
        """The facts to supersede, by family."""
        if self._held is None:
            self._held = {}
            for _, members in self._items():
                fact = self._view.fact(parse_urn(members["fact"])) if members["op"] == "supersede" else None
                if fact is not None:
                    self._held.setdefault(f"urn:uuid:{fact.content.family}", []).append(fact)
        return self._held

    def _items(self) -> Iterator[tuple[SaltedItem, Body]]:
        first = 0
        while items := self._view.items(self.certificate, ItemKind.PLAN, first=first, limit=_CHUNK):
            for item in items:
                yield item, {name.decode(): value.decode() for name, value in _MEMBERS.findall(item.body)}
            first = items[-1].ordinal + 1


def recorded(body: Body) -> FactContent:
    """The fact that an item records."""
    start, end = body.get("from"), body.get("to")
    interval = Interval(
        BEGINNING if start is None else parse_instant(start, field="from"),
        FOREVER if end is None else parse_instant(end, field="to"),
    )
    precisions = (Precision(body.get(name, Precision.UNBOUNDED)) for name in ("fromPrecision", "toPrecision"))
    validity = Validity(interval, *precisions)
    return FactContent(parse_urn(body["fact"]), parse_urn(body["family"]), statement_of(body["statement"]), validity)


def statement_of(nquad: str) -> Statement:
    """The statement of an N-Quads line of ours."""
    quad = next(iter(ox.parse(nquad, ox.RdfFormat.N_QUADS)))
    subject, predicate, graph = (Iri(node.value) for node in (quad.subject, quad.predicate, quad.graph_name))
    return Statement(subject, predicate, from_oxigraph(quad.object), graph)


def evidence(body: Body) -> EvidenceContent:
    """The evidence that an item adds."""
    episode, confidence, spelled = body.get("episode"), body.get("confidence"), body.get("object")
    literal = None if spelled is None else parse_term(spelled)
    return EvidenceContent(
        parse_urn(body["evidence"]),
        parse_urn(body["fact"]),
        None if episode is None else Iri(episode),
        None if confidence is None else Decimal(confidence),
        Spelling(literal if isinstance(literal, Literal) else None, body.get("validFrom"), body.get("validTo")),
    )
