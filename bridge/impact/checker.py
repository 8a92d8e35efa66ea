"""Impact as a check of plans: which registered queries a plan can touch, and how their answers change.

Rules (IncrementalEqualsFull, NothingLeaks)
-----
* Asked are the queries that mind a statement of the plan at the moment that they are asked for. Of all others the
  answer stays: that is proved, not guessed (`bridge.impact.compiled`).
* A query whose answer changes is a finding, with the exact numbers of rows gained and lost, and a sample of them. One
  that does not come to its end, or cannot be asked, is a finding of its own: never "no impact".
* A finding is drawn from all graphs that its query is asked of.
* The plan is judged by the queries in force at its head. What it writes into `m:queries` itself is held against what
  may be registered, as any shapes and rules that are written.
* Where an entry of the registry cannot be read, nobody knows what it minds: every plan that changes data is told so.
* A load is gathered chunk by chunk; no more is laid over a store than `MOST` statements, of those that matter.

Example
-------
::

    findings = checker.findings(plan, facts, view)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bridge.impact.admission import require_admissible
from bridge.impact.compiled import Compiled
from bridge.impact.staging import Planned, Unanswered
from bridge.impact.touch import QueryIndex
from bridge.replicas.comparing import Compared
from bridge.shapes.sparql.patience import IN_TURN, Patience
from certificates.findings import Finding, FindingCode, Severity
from certificates.impacts import Impact, SampleRow
from kernel.errors import InvalidQuery, QueryRefused
from kernel.impact import changes_at
from kernel.instants import Instant
from kernel.queries import Action, InvalidEntry, read_queries, read_statements
from kernel.vocabulary import QUERIES_GRAPH, is_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bridge.impact.staging import Staging, Told
    from kernel.facts import Fact, FactContent
    from kernel.plan import Plan
    from kernel.ports import Ledger, LedgerView
    from kernel.queries import RegisteredQuery
    from kernel.terms import Iri

MOST: Final = 100_000
"""Statements of a load that are laid over a store for its queries."""

OF_A_LOAD: Final = 60.0
"""Seconds that the queries about a load may take."""

_KEPT: Final = 4
_SEVERITIES: Final = {Action.NOTE: Severity.INFO, Action.REVIEW: Severity.WARNING, Action.REFUSE: Severity.VIOLATION}


@dataclass(frozen=True, slots=True)
class InForce:
    """The registered queries in force: those that can be asked, and entries that nobody can read."""

    index: QueryIndex
    invalid: tuple[InvalidEntry, ...]


class Registry:
    """Keeps what was last in force, made ready."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[Fact, ...], InForce]] = {}
        self._ready: dict[RegisteredQuery, Compiled | InvalidEntry] = {}

    def of(self, facts: tuple[Fact, ...]) -> InForce:
        """What these facts hold; the same for the same tuple."""
        known = self._known.get(id(facts))
        if known is not None and known[0] is facts:
            return known[1]
        table = read_queries(facts)
        self._ready = {query: self._ready.get(query) or _ready(query) for query in table.queries.values()}
        invalid = [each for each in self._ready.values() if isinstance(each, InvalidEntry)]
        index = QueryIndex(each for each in self._ready.values() if isinstance(each, Compiled))
        while len(self._known) >= _KEPT:
            del self._known[next(iter(self._known))]
        self._known[id(facts)] = facts, InForce(index, (*table.invalid, *invalid))
        return self._known[id(facts)][1]


def _ready(query: RegisteredQuery) -> Compiled | InvalidEntry:
    try:
        return Compiled(query)
    except QueryRefused as error:  # only where it was let in all the same
        return InvalidEntry(query.node, f"{error.message}; {error.remedy}")


class QueryImpact:
    """Implements the port `ImpactChecker`.

    Args:
        ledger: what is committed.
        staging: answers queries about plans.
    """

    def __init__(self, ledger: Ledger, staging: Staging) -> None:
        self._ledger = ledger
        self._staging = staging
        self._registry = Registry()

    def findings(self, plan: Plan, facts: tuple[Fact, ...], view: LedgerView) -> Sequence[Finding]:
        """What the plan does to the answers of registered queries, and what is wrong with those that it writes.

        Args:
            plan: that is not in the view.
            facts: those of `m:queries` that are believed in the view.
            view: what it was planned against.
        """
        found = _of_written(plan.record, plan.supersede, facts)
        if not facts:
            return found
        in_force = self._registry.of(facts)
        index = in_force.index
        found += _of_invalid(in_force.invalid, plan)
        statements = [content.statement for content in plan.record] + [fact.statement for fact in plan.supersede]
        minding = index.minding(statements)
        if not minding:
            return found
        at = Instant(max(view.head().clock, plan.issued_at))
        graphs = _data(view)
        after = graphs | {each.statement.graph for each in plan.record if is_data(each.statement.graph)}
        patience = Patience(IN_TURN)
        for moment in _moments(minding):
            asked = [each for each in minding if each.query.moment == moment]
            changes = changes_at(plan.record, plan.supersede, at if moment is None else moment)
            planned = Planned(view, str(plan.certificate), at, moment, changes, graphs, after)
            found += self._told(asked, planned, patience, index)
        return found

    def load(self, facts: tuple[Fact, ...]) -> LoadImpact:
        """The same for a load session that is planned chunk by chunk."""
        return LoadImpact(self, facts, self._registry.of(facts).index if facts else QueryIndex(()))

    def of_load(self, load: LoadImpact, certificate: str, issued_at: Instant, view: LedgerView) -> list[Finding]:
        """What was gathered of a load whose facts are in the view."""
        found = _of_written(load.written, (), load.facts)
        if not load.minding:
            return found
        at = Instant(max(view.head().clock, issued_at))
        with self._ledger.reading() as committed:
            graphs = _data(committed)
        minding = [each for each in load.index if each in load.minding]
        patience = Patience(OF_A_LOAD)
        for moment in _moments(minding):
            asked = [each for each in minding if each.query.moment == moment]
            changes = changes_at(load.record, (), at if moment is None else moment)
            planned = Planned(view, certificate, at, moment, changes, graphs, _data(view), loaded=True)
            if load.too_many:
                why = Unanswered(f"the load brings more than {MOST:,} statements that it may depend on")
                found += [_finding(each, why, planned) for each in asked if _may_change(each, planned)]
            else:
                found += self._told(asked, planned, patience, load.index)
        return found

    def _told(
        self, asked: Sequence[Compiled], planned: Planned, patience: Patience, index: QueryIndex
    ) -> list[Finding]:
        changed = [each for each in asked if _may_change(each, planned)]
        answers = self._staging.compare(changed, planned, patience, index) if changed else []
        return [
            _finding(each, answer, planned)
            for each, answer in zip(changed, answers, strict=True)
            if not isinstance(answer, Compared) or answer.gained or answer.lost
        ]


@dataclass(slots=True)
class LoadImpact:
    """What of a load may matter to registered queries.

    Args:
        facts: those of `m:queries` that are in force.
        index: the queries that they hold.
        record: facts whose statements are minded.
        written: facts of `m:queries` that it brings.
        minding: the queries that mind something of it.
        too_many: whether there were more facts than are kept.
    """

    checker: QueryImpact
    facts: tuple[Fact, ...]
    index: QueryIndex
    record: list[FactContent] = field(default_factory=list)
    written: list[FactContent] = field(default_factory=list)
    minding: set[Compiled] = field(default_factory=set)
    too_many: bool = False

    def take(self, plan: Plan) -> None:
        """Gathers what matters of the next chunk."""
        for content in plan.record:
            if content.statement.graph == QUERIES_GRAPH:
                self.written.append(content)
            elif self.index and (minding := self.index.minding((content.statement,))):
                self.minding.update(minding)
                if len(self.record) < MOST:
                    self.record.append(content)
                else:
                    self.too_many = True

    def findings(self, certificate: str, issued_at: Instant, view: LedgerView) -> list[Finding]:
        """What is found of it, once its facts are in the view."""
        return self.checker.of_load(self, certificate, issued_at, view)


def _data(view: LedgerView) -> frozenset[Iri]:
    """The graphs of data that are known."""
    return frozenset(filter(is_data, view.graphs()))


def _moments(queries: Iterable[Compiled]) -> list[Instant | None]:
    """The moments that queries are asked for, now first."""
    moments = {each.query.moment for each in queries}
    return sorted(moments, key=lambda moment: (moment is not None, moment or 0))


def _may_change(query: Compiled, planned: Planned) -> bool:
    """Whether the plan changes what a query minds, at its moment; one that nobody can tell of is asked anyway."""
    if query.minded is None:
        return True
    return any(map(query.minds, planned.changes.added)) or any(map(query.minds, planned.changes.removed))


# --- findings ---------------------------------------------------------------------------------------------------------


def _finding(query: Compiled, told: Told, planned: Planned) -> Finding:
    registered = query.query
    severity = _SEVERITIES[registered.action]
    graphs = query.drawn_from(planned.after)
    named = f"the answer to {registered.name}, which {registered.owner} relies on,"
    if isinstance(told, Unanswered):
        return Finding(
            code=FindingCode.IMPACT_UNKNOWN,
            severity=severity if severity is Severity.INFO else Severity.WARNING,
            message=f"whether {named} changes is not known: {told.why}",
            graphs=graphs,
            impact=Impact(registered.name, registered.owner, registered.weight),
        )
    sample = tuple(SampleRow(gained, times, row) for gained, times, row in told.sample)
    return Finding(
        code=FindingCode.IMPACT,
        severity=severity,
        message=f"{named} {_words(told)}",
        graphs=graphs,
        impact=Impact(registered.name, registered.owner, registered.weight, told.gained, told.lost, sample),
    )


def _words(told: Compared) -> str:
    said = [(told.gained, "gains"), (told.lost, "loses")]
    return " and ".join(f"{verb} {count:,} {'row' if count == 1 else 'rows'}" for count, verb in said if count)


def _of_written(record: Sequence[FactContent], supersede: Sequence[Fact], facts: tuple[Fact, ...]) -> list[Finding]:
    """What is wrong with the registered queries as they would be, as far as they are written."""
    written = [content.statement for content in record if content.statement.graph == QUERIES_GRAPH]
    gone = {fact.id: fact.statement for fact in supersede if fact.statement.graph == QUERIES_GRAPH}
    if not written and not gone:
        return []
    concerned = {statement.subject for statement in (*written, *gone.values())}
    held = [fact.statement for fact in facts if fact.id not in gone and fact.statement.subject in concerned]
    table = read_statements({*held, *written})
    faults = [(entry.node, entry.reason) for entry in table.invalid]
    for query in table.queries.values():
        try:
            require_admissible(query.text)
        except InvalidQuery as error:
            faults.append((query.node, f"{error.message}; {error.remedy}"))
    return [_invalid(node, f"this is no query to register: {reason}") for node, reason in faults]


def _of_invalid(invalid: Sequence[InvalidEntry], plan: Plan) -> list[Finding]:
    """Fail closed: an entry that nobody can read may be about what is written."""
    if not invalid or not any(map(is_data, plan.graphs)):
        return []
    return [
        _invalid(entry.node, f"what depends on this is not known until it is mended: {entry.reason}")
        for entry in invalid
    ]


def _invalid(node: Iri, message: str) -> Finding:
    return Finding(
        code=FindingCode.INVALID_QUERY,
        severity=Severity.VIOLATION,
        message=message,
        graphs=(QUERIES_GRAPH.value,),
        focus=node.n3,
    )
