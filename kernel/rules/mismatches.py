"""Mismatches: statements whose ends are not of the classes that edge signatures ask for.

Rules
-----
* A statement of a data graph is judged at every instant at which it is true, by the types that its ends have then:
  those asserted in its graph or in `m:ontology`, and, where the signature looks across graphs, in any graph of data.
* An end that has types then, and none that is one of the classes asked for or below them, does not fit. An end that has
  none is let through: nobody knows what it is, and to ask for a type is for shapes. A literal is of its datatype.
* A plan is told only of what it brings: of statements that it records, and of those held, where it records or
  supersedes a type of one of their ends; never of what was so before (IncrementalEqualsFull).
* Held statements are looked up only by nodes whose types change, in the graphs where they do, and, where a node has
  many, by the predicates that may mind that. What other graphs have changes nothing, not even how many are told.
* A load session is judged whole: what its chunks bring is judged again when all of it is there.

Example
-------
::

    [mismatch] = mismatches(plan, signatures, view)
    told(mismatch, signatures)            # … <urn:x> is of <urn:Place>: …
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final

from certificates.findings import Finding, FindingCode
from kernel.rules.signatures import EVERYTHING
from kernel.rules.words import RDF_TYPE
from kernel.terms import Iri, Literal
from kernel.time.instants import BEGINNING, FOREVER, Instant, print_instant
from kernel.time.intervals import Interval, gaps
from kernel.vocabulary import ONTOLOGY_GRAPH, is_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from uuid import UUID

    from kernel.facts import Fact, FactContent
    from kernel.ports.facts import FactsView
    from kernel.rules.signatures import Demand, Ends, Signatures
    from kernel.terms import Statement, Term
    from kernel.writing.plan import Plan

FEW: Final = 32
"""Facts of a node that are looked through whatever their predicate."""

MOST: Final = 1_000
"""Facts of a node and predicate that are looked at where its types change: what is found then has one cause."""

_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Typing:
    """That a node is of a class, over a time, as a graph says."""

    of: Iri
    during: Interval
    graph: Iri


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A statement whose ends do not fit, and over which time.

    Args:
        subject: the types of the subject then.
        value: those of the object, where it is a node.
        graphs: where these are asserted.
    """

    statement: Statement
    demand: Demand
    during: Interval
    subject: frozenset[Iri]
    value: frozenset[Iri]
    graphs: frozenset[Iri]

    @property
    def of_object(self) -> frozenset[Iri]:
        """The types of the object; of a literal, its datatype."""
        term = self.statement.object
        return frozenset({Iri(term.datatype)}) if isinstance(term, Literal) else self.value


class Types:
    """What nodes are, before a plan and after it."""

    def __init__(self, view: FactsView, record: Iterable[FactContent] = (), supersede: Iterable[Fact] = ()) -> None:
        self._view = view
        self._gone = {fact.id for fact in supersede if _is_type(fact.statement)}
        self._brought: dict[Iri, list[Typing]] = {}
        self._known: dict[Iri, tuple[list[Typing], list[Typing]]] = {}
        for content in record:
            if (typing := _typing(content)) is not None:
                self._brought.setdefault(content.statement.subject, []).append(typing)

    def of(self, node: Iri, *, after: bool) -> list[Typing]:
        """The types of a node, before or after."""
        if node not in self._known:
            held = list(self._view.believed(subject=node, predicate=RDF_TYPE))
            before = [typing for fact in held if (typing := _typing(fact.content)) is not None]
            kept = (fact for fact in held if fact.id not in self._gone) if self._gone else held
            left = [typing for fact in kept if (typing := _typing(fact.content)) is not None]
            self._known[node] = before, [*left, *self._brought.get(node, ())]
        return self._known[node][after]

    def changed(self, plan: Plan) -> dict[Iri, list[Iri]]:
        """The nodes whose types a plan changes, in order of appearance, and in which graphs it does."""
        found: dict[Iri, dict[Iri, None]] = {}
        for node, typings in self._brought.items():
            found.setdefault(node, {}).update(dict.fromkeys(typing.graph for typing in typings))
        for said in (fact.statement for fact in plan.supersede if fact.id in self._gone):
            found.setdefault(said.subject, {})[said.graph] = None
        return {node: list(graphs) for node, graphs in found.items()}


def mismatches(plan: Plan, signatures: Signatures, view: FactsView) -> list[Mismatch]:
    """What a plan brings that does not fit.

    Args:
        plan: a plan whose facts are not in the view.
        signatures: those in force.
        view: the facts believed at the head.
    """
    if not signatures:
        return []
    types = Types(view, plan.record, plan.supersede)
    found: list[Mismatch] = []
    for content in plan.record:
        demands = signatures.of(content.statement.predicate)
        if demands and is_data(content.statement.graph):
            found += _of_statement(content.statement, content.interval, demands, signatures, types, view)
    gone = {fact.id for fact in plan.supersede}
    seen: set[UUID] = set(gone)
    across = signatures.across
    for node, graphs in types.changed(plan).items():
        everywhere = ONTOLOGY_GRAPH in graphs or (across and any(map(is_data, graphs)))
        for graph in [None] if everywhere else filter(is_data, graphs):
            for fact in _minding(node, graph, signatures, types, view):
                if fact.id in seen:
                    continue
                seen.add(fact.id)
                demands = signatures.of(fact.statement.predicate)
                found += _of_statement(fact.statement, fact.interval, demands, signatures, types, view)
    return found


def remaining(found: Sequence[Mismatch], signatures: Signatures, view: FactsView) -> list[Mismatch]:
    """What of the mismatches of a load's chunks is so once all of it is in the view."""
    types = Types(view)
    left: dict[Mismatch, None] = {}
    for each in found:
        for now in _failing(each.statement, each.during, each.demand, signatures, types, after=True):
            left.setdefault(now)
    return list(left)


def told(mismatch: Mismatch, signatures: Signatures) -> Finding:
    """The finding of a mismatch."""
    said, during = mismatch.statement, mismatch.during
    graphs = {said.graph, *mismatch.graphs, *([ONTOLOGY_GRAPH] if mismatch.demand.public else [])}
    return Finding(
        code=FindingCode.EDGE_SIGNATURE,
        severity=mismatch.demand.severity,
        message=_message(mismatch, signatures),
        graphs=tuple(graph.value for graph in graphs),
        focus=said.subject.n3,
        path=said.predicate.n3,
        value=said.object.n3,
        start=None if during.start == BEGINNING else print_instant(Instant(during.start)),
        end=None if during.end == FOREVER else print_instant(Instant(during.end)),
    )


# --- judging ----------------------------------------------------------------------------------------------------------


def _of_statement(
    statement: Statement,
    interval: Interval,
    demands: Iterable[Demand],
    signatures: Signatures,
    types: Types,
    view: FactsView,
) -> Iterator[Mismatch]:
    """Where a statement does not fit after the plan, and did before nowhere."""
    for demand in demands:
        now = list(_failing(statement, interval, demand, signatures, types, after=True))
        if not now:
            continue
        before = [
            each.during
            for fact in view.believed_of(statement)
            for each in _failing(statement, fact.interval, demand, signatures, types, after=False)
        ]
        for each in now:
            for part in gaps(each.during, before):
                yield replace(each, during=part)


def _failing(
    statement: Statement, interval: Interval, demand: Demand, signatures: Signatures, types: Types, *, after: bool
) -> list[Mismatch]:
    """Where a statement does not fit, each as long as its ends are of the same types."""
    subject, value = (
        _relevant(end, statement.graph, demand, types, after=after) for end in (statement.subject, statement.object)
    )
    found: list[Mismatch] = []
    for part in _parts(interval, (*subject, *value)):
        ends = [[typing for typing in those if typing.during.contains(part.start)] for those in (subject, value)]
        of_subject, of_object = (frozenset(typing.of for typing in those) for those in ends)
        graphs = frozenset(typing.graph for those in ends for typing in those)
        now = Mismatch(statement, demand, part, of_subject, of_object, graphs)
        if any(_fits(each, now, signatures) for each in demand.either):
            continue
        if found and _goes_on(found[-1], now):
            now = replace(now, during=Interval(found.pop().during.start, part.end))
        found.append(now)
    return found


def _goes_on(one: Mismatch, other: Mismatch) -> bool:
    return one.during.end == other.during.start and one == replace(other, during=one.during)


def _fits(ends: Ends, mismatch: Mismatch, signatures: Signatures) -> bool:
    """Whether both ends of a statement fit a signature."""
    fits = signatures.classes.fits(mismatch.subject, ends.subjects)
    return fits and _object_fits(ends, mismatch, signatures)


def _object_fits(ends: Ends, mismatch: Mismatch, signatures: Signatures) -> bool:
    classes = signatures.classes
    if isinstance(mismatch.statement.object, Literal) and classes.takes_literals(ends.objects):
        return True
    return classes.fits(mismatch.of_object, ends.objects)


def _relevant(end: Term, graph: Iri, demand: Demand, types: Types, *, after: bool) -> list[Typing]:
    """The types of an end that count for a demand on a statement of a graph."""
    if not isinstance(end, Iri):
        return []
    return [
        typing
        for typing in types.of(end, after=after)
        if typing.graph in (graph, ONTOLOGY_GRAPH) or (demand.across and is_data(typing.graph))
    ]


def _parts(interval: Interval, typings: Iterable[Typing]) -> Iterator[Interval]:
    """The interval, cut wherever one of the types begins or ends."""
    cuts = {interval.start, interval.end}
    for typing in typings:
        cuts |= {bound for bound in (typing.during.start, typing.during.end) if interval.contains(bound)}
    return (Interval(start, end) for start, end in pairwise(sorted(cuts)))


def _minding(node: Iri, graph: Iri | None, signatures: Signatures, types: Types, view: FactsView) -> Iterator[Fact]:
    """The facts of a node, in a graph or in any, that its types may fit less after the plan than before.

    All of a node that has few: in one look-up for each of its ends. Else those of the predicates that may mind.
    """
    for is_subject in (True, False):
        subject, value = (node, None) if is_subject else (None, node)
        facts = list(islice(view.believed(subject=subject, object=value, graph=graph), FEW + 1))
        if len(facts) > FEW:
            predicates = _minding_predicates(node, signatures, types, is_subject=is_subject)
            by_predicate = (
                view.believed(subject=subject, predicate=each, object=value, graph=graph) for each in predicates
            )
            facts = [fact for found in by_predicate for fact in islice(found, MOST)]
        yield from (fact for fact in facts if is_data(fact.statement.graph) and signatures.of(fact.statement.predicate))


def _minding_predicates(node: Iri, signatures: Signatures, types: Types, *, is_subject: bool) -> Iterator[Iri]:
    """The predicates by which a node may fit less at one of its ends."""
    before, after = types.of(node, after=False), types.of(node, after=True)
    known: dict[frozenset[Iri], bool] = {}
    for predicate, demands in signatures.demands.items():
        for ends in (ends for demand in demands for ends in demand.either):
            classes = ends.subjects if is_subject else ends.objects
            if classes not in known:
                known[classes] = _fits_less(before, after, classes, signatures)
            if known[classes]:
                yield predicate
                break


def _fits_less(
    before: Sequence[Typing], after: Sequence[Typing], classes: frozenset[Iri], signatures: Signatures
) -> bool:
    """Whether, somewhere in time and as some graphs say, what was of the classes, or of none, is of others now."""
    within = signatures.classes.within(classes) if classes else None
    if within is None:
        return False
    lost = {typing for typing in before if typing.of in within} - set(after)
    brought = {typing for typing in after if typing.of not in within} - set(before)
    return bool(lost or brought) and any(typing.of not in within for typing in after)


# --- words ------------------------------------------------------------------------------------------------------------


def _message(mismatch: Mismatch, signatures: Signatures) -> str:
    said, either, classes = mismatch.statement, mismatch.demand.either, signatures.classes
    faults = []
    if not all(classes.fits(mismatch.subject, ends.subjects) for ends in either):
        faults.append(_being(said.subject, mismatch.subject))
    if not all(_object_fits(ends, mismatch, signatures) for ends in either):
        faults.append(_being(said.object, mismatch.of_object))
    asked = "; or ".join(map(_signature, either))
    way_out = "give it a type that fits, use another predicate, or have the signature changed"
    return f"{said.predicate.n3} goes {asked}, and {' and '.join(faults)}: {way_out}"


def _signature(ends: Ends) -> str:
    words = [
        f"{word} {_listed(classes, ' or ')}"
        for word, classes in (("from", ends.subjects), ("to", ends.objects))
        if classes
    ]
    return " ".join(words)


def _being(end: Term, types: frozenset[Iri]) -> str:
    literal = isinstance(end, Literal)
    named = "its object" if literal else end.n3
    return f"{named} is {'a literal of' if literal else 'of'} {_listed(types, ' and ')}"


def _listed(classes: frozenset[Iri], word: str) -> str:
    named = sorted(each.n3 for each in classes)
    return word.join(named[:_SHOWN]) + (f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else "")


# --- types ------------------------------------------------------------------------------------------------------------


def _is_type(statement: Statement) -> bool:
    return statement.predicate == RDF_TYPE and isinstance(statement.object, Iri) and statement.object not in EVERYTHING


def _typing(content: FactContent) -> Typing | None:
    said = content.statement
    if not _is_type(said) or not isinstance(said.object, Iri):
        return None
    return Typing(said.object, content.interval, said.graph)
