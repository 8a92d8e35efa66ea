"""Walking the neighbourhood of a change: which nodes it concerns, and what must be read to judge them.

Rules
-----
* Backwards from a changed statement: every shape that may use it, in a path, a class, a comparison, a target or a
  closed node, gives foci; from a focus the shapes around it lead outwards to the focus of a shape with targets. Those
  pairs (shape, focus) are all whose results the statement can change.
* Forwards from a pair: its target's statements, its paths, classes with their superclasses, comparisons, and the same
  for every shape within. That is all that its results depend on, so results from those statements alone are the
  results from all of them.
* A shape that judges value by value gives the same results with and without a value that is at no fault. So it is
  asked for that value first (`Slices.passes`), and of what else its focus has nothing is read.
* What comes or goes of a predicate that values are only to be disjoint from matters where the path leads to it as well.
* What always holds, before and after, and is enough to know that a node is of a class, or a target, is enough to read:
  of one more pointer at a node that others point at all the time nothing else is read, nor of a class those above.
* A query reads what it looks along. What changes where it may look from everywhere concerns all targets of the shapes
  that it lies within.
* A predicate is read only in the direction in which a shape follows it, so that a hub is not unfolded by pointing at
  it.
* Only facts that hold at some instant of the horizon are followed.
* What is read, and how much of it there may be: `bridge.shapes.reader`.

Example
-------
::

    walk = Walk(model, Reader(overlay, Budget(10_000)), horizon)
    pairs = walk.concerned([triple])
    facts = walk.surroundings(*pair)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from bridge.shapes.paths import ANY, Step, inverted, reach, sources
from bridge.shapes.vocabulary import RDF_TYPE, SUBCLASS_OF
from kernel.terms import Iri, Literal, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from uuid import UUID

    from bridge.shapes.document import Triple
    from bridge.shapes.model import Shape, ShapesModel, Targets, Using
    from bridge.shapes.overlay import Seen
    from bridge.shapes.reader import Reader
    from bridge.shapes.sparql.looks import Looks
    from kernel.time.intervals import Interval

FEW: Final = 4
"""Facts that are looked at for one that always holds."""

Pair: TypeAlias = tuple[Iri, Term]
"""A shape and a node to judge by it."""

Match: TypeAlias = "Callable[[Iri | None, Iri | None, Term | None], Iterable[Seen]]"


class Told:
    """What is known of changes before everything is looked at: of these, nothing.

    It is true of those of which more is known: what the facts read are said to be, there before and after, is so then.
    Where shapes are followed through what changed meanwhile it is not: what came is there all the time.
    """

    def __bool__(self) -> bool:
        return False

    def is_indifferent(self, shape: Shape, triple: Triple) -> bool:
        """Whether no result of a shape depends on a statement that changes as a step of its path."""
        del shape, triple
        return False

    def says_the_same(self, shape: Iri, node: Term) -> bool:
        """Whether a shape is known to give the same results at a node, before and after."""
        del shape, node
        return False


NOTHING_TOLD: Final = Told()


class Walk:
    """Walks from statements to foci and from foci to statements, over the facts that hold within a horizon."""

    def __init__(self, model: ShapesModel, reader: Reader, horizon: Interval) -> None:
        self._model = model
        self._reader = reader
        self._horizon = horizon
        self._used: dict[UUID, Seen] = {}
        self._afterwards = False

    # --- backwards ----------------------------------------------------------------------------------------------------

    def concerned(self, triples: Collection[Triple], told: Told = NOTHING_TOLD) -> set[Pair]:
        """Every pair whose results may change with one of the statements.

        Args:
            triples: they.
            told: what is known of their change.
        """
        alike: dict[Iri, list[Triple]] = {}
        for triple in triples:
            alike.setdefault(triple[1], []).append(triple)
        return set().union(*(self._concerned(predicate, some, told) for predicate, some in alike.items()))

    def _concerned(self, predicate: Iri, triples: Sequence[Triple], told: Told) -> set[Pair]:
        """The same for statements of one predicate."""
        pairs: set[Pair] = set()
        using = self._model.using(predicate)
        for shape in using.along:
            minded = [triple for triple in triples if not told.is_indifferent(shape, triple)]
            if shape.path is not None and minded:
                pairs |= self.outward(shape, sources(shape.path, minded, self._step), told)
        for shape in using.beside:
            anyway = predicate not in shape.apart_from
            foci = {subject for subject, _, value in triples if anyway or self._leads_to(shape, subject, value)}
            pairs |= self.outward(shape, foci, told)
        for shape in using.closed_to:
            pairs |= self.outward(shape, self._judging(shape, {subject for subject, _, _ in triples}), told)
        for asking in self._asking(using, triples, pairs):
            pairs |= self._all_targets(asking)
        self._concern_targets(using, triples, told, pairs)
        if using.by_class:
            of_class: dict[Iri, set[Iri]] = {}
            for subject, _, value in triples:
                if isinstance(value, Iri):
                    of_class.setdefault(value, set()).add(subject)
            for value, subjects in of_class.items():
                pairs |= self._concerned_by_class(subjects, predicate, value, told)
        return pairs

    def _concern_targets(self, using: Using, triples: Sequence[Triple], told: Told, pairs: set[Pair]) -> None:
        """Adds the pairs whose focus is a target by one of the statements, and not anyway."""
        for subject, predicate, value in triples if using.targeting_subjects or using.targeting_objects else ():
            if using.targeting_subjects and not (told and self._always(subject, predicate, None)):
                pairs.update((root, subject) for root in using.targeting_subjects)
            if using.targeting_objects:
                anyway = bool(told) and self._always(None, predicate, value)
                roots = using.targeting_objects
                pairs.update((root, value) for root in roots if not anyway or self._reads(root, value))

    def is_sound(self, shape: Shape, focus: Term, value: Term) -> bool:
        """Whether a value is at no fault at a focus throughout, before and after, apart from what it is by itself.

        False, too, where it takes more than two look-ups or so to know that.
        """
        if shape.inner or shape.open_to is not None or shape.beside != shape.apart_from:
            return False
        if shape.classes and not shape.classes <= self._classes_anyway(value, shape.classes):
            return False
        return not (isinstance(focus, Iri) and any(self._facts(focus, each, value) for each in shape.apart_from))

    def _leads_to(self, shape: Shape, focus: Iri, value: Term) -> bool:
        """Whether the path of a shape may lead from a focus to a value at some time, before or after."""
        if shape.path is None:
            return focus == value
        if isinstance(shape.path, Step) and not shape.path.inverse:
            return bool(self._facts(focus, shape.path.predicate, value))
        return True

    def _always(self, subject: Iri | None, predicate: Iri, value: Term | None) -> bool:
        """Whether one of the first facts that match holds throughout, before and after."""
        known, key = self._reader.always, (subject, predicate, value, self._horizon)
        if key not in known:
            known[key] = any(map(self._stays, self._reader.some(subject, predicate, value, FEW)))
        return known[key]

    def _stays(self, seen: Seen) -> bool:
        """Whether a fact holds throughout, after the plan, and before it where that matters."""
        interval, horizon = seen.interval, self._horizon
        stays = seen.after and (seen.before or self._afterwards)
        return stays and interval.start <= horizon.start and horizon.end <= interval.end

    def outward(self, shape: Shape, foci: Iterable[Term], told: Told = NOTHING_TOLD) -> set[Pair]:
        """The pairs, no wider than need be, whose results depend on the shape judging one of the foci."""
        if shape.node in self._model.outermost:
            return {(shape.node, focus) for focus in foci} if self._model.targets[shape.node] else set()
        pairs: set[Pair] = set()
        waiting: list[tuple[Shape, frozenset[Term], bool]] = [(shape, frozenset(foci), True)]
        seen: set[tuple[Iri, Term, bool]] = set()
        while waiting:
            inner, nodes, counts = waiting.pop()
            fresh = {node for node in nodes if (inner.node, node, counts) not in seen}
            seen |= {(inner.node, node, counts) for node in fresh}
            if counts and self._model.targets[inner.node]:
                pairs |= {(inner.node, node) for node in fresh}
            for outer in self._model.outer.get(inner.node, ()) if fresh else ():
                if inner.node in outer.handed_on:
                    # It has been counted, with the targets of the shape that hands it on.
                    waiting.append((outer, frozenset(fresh), False))
                else:
                    changed = {node for node in fresh if not told.says_the_same(inner.node, node)}
                    waiting.append((outer, frozenset(self._judging(outer, changed)), True))
        return pairs

    def _asking(self, using: Using, triples: Sequence[Triple], pairs: set[Pair]) -> dict[Iri, None]:
        """Adds the pairs whose queries may see a statement from their focus; answers shapes that do from anywhere."""
        found = {shape.node: None for shape in using.anywhere}
        for shape, look in using.looking:
            starts = sources(look.path, triples, self._step)
            if look.start is None:
                pairs |= self.outward(shape, starts)
            elif look.start in starts:
                found[shape.node] = None
        return found

    def _all_targets(self, shape: Iri) -> set[Pair]:
        """Every target of the shapes that a shape lies within."""
        return {
            (root.node, focus)
            for root in self._model.holding(shape)
            for focus in every_focus(root.targets, self._reader.read)
        }

    def _judging(self, shape: Shape, values: set[Term]) -> set[Term]:
        """The foci at which a shape has one of the values."""
        return values if shape.path is None else reach(inverted(shape.path), values, self._step)

    def _concerned_by_class(self, subjects: set[Iri], predicate: Iri, value: Iri, told: Told) -> set[Pair]:
        classes = self._model.classes & self._superclasses({value})
        if not classes:
            return set()
        nodes: set[Term] = set(subjects)
        if predicate == SUBCLASS_OF:
            below = reach_all(subjects, lambda each: self._subjects(SUBCLASS_OF, each))
            nodes = {instance for each in below for instance in self._subjects(RDF_TYPE, each)}
        anyway = {node: self._classes_anyway(node, classes) if told else frozenset() for node in nodes}
        pairs: set[Pair] = set()
        for shape in self._model.live:
            asked = shape.classes & classes
            if asked:
                changing = {node for node in nodes if not asked <= anyway[node]}
                pairs |= self.outward(shape, self._judging(shape, changing), told)
            if not shape.targets.classes.isdisjoint(classes):
                pairs |= {(shape.node, node) for node in nodes if shape.targets.classes.isdisjoint(anyway[node])}
        return pairs

    def _classes_anyway(self, node: Term, classes: frozenset[Iri]) -> frozenset[Iri]:
        """Those of the classes that a node is of throughout, before and after."""
        found: set[Iri] = set()

        def enough(known: AbstractSet[Iri]) -> bool:
            found.update(known)
            return classes <= known

        self._read_classes(node, enough)
        return classes & found

    # --- forwards -----------------------------------------------------------------------------------------------------

    def surroundings(self, shape: Iri, focus: Term, *, afterwards: bool = False) -> list[Seen] | None:
        """Every fact that the results of the shape at the focus depend on, its target's included.

        None if the node is no focus of the shape at any instant of the horizon.

        Args:
            shape: a live shape.
            focus: the node.
            afterwards: whether it is enough to know what is a focus after the plan.
        """
        self._used = {}
        self._afterwards = afterwards
        is_target = self._may_be_target(shape, focus)
        self._afterwards = False
        if not is_target:
            return None
        self._look(self._model.shapes[shape], focus, set())
        return list(self._used.values())

    def inside(self, shape: Iri, focus: Term) -> list[Seen]:
        """The same for a shape within another, targets apart."""
        self._used = {}
        self._look(self._model.shapes[shape], focus, set())
        return list(self._used.values())

    def around_value(self, shape: Shape, focus: Term, value: Term) -> list[Seen]:
        """Every fact that what the shape says of a value at the focus depends on, but for those that lead to it."""
        self._used = {}
        self._look_at(shape, focus, {value}, set())
        return list(self._used.values())

    def target_facts(self, shape: Iri, focus: Term) -> list[Seen]:
        """The facts that make the node a focus of the shape."""
        self._used = {}
        self._may_be_target(shape, focus)
        return list(self._used.values())

    def _look(self, shape: Shape, focus: Term, done: set[Pair]) -> None:
        if (shape.node, focus) in done:
            return
        done.add((shape.node, focus))
        self._look_at(shape, focus, {focus} if shape.path is None else reach(shape.path, {focus}, self._step), done)

    def _look_at(self, shape: Shape, focus: Term, values: set[Term], done: set[Pair]) -> None:
        for predicate in shape.beside:
            self._step(predicate, focus, inverse=False)
        for query in shape.queries:
            self._look_along(query.looks, focus)
        for value in values:
            if shape.classes:
                self._read_classes(value, lambda known: shape.classes <= known)
            if shape.open_to is not None and isinstance(value, Iri):
                self._facts(subject=value)
        for node in shape.inner:
            for value in values:
                self._look(self._model.shapes[node], value, done)

    def _look_along(self, looks: Looks, focus: Term) -> None:
        """Reads what a query looks at."""
        for look in looks.along:
            reach(look.path, {focus if look.start is None else look.start}, self._step)
        for predicate in looks.anywhere:
            self._facts(predicate=None if predicate == ANY else predicate)

    def _may_be_target(self, shape: Iri, focus: Term) -> bool:
        """Whether the node is a focus at some instant, before or after; reads what says so."""
        targets, changing = self._model.targets[shape], bool(self._model.starts(shape))

        def enough(known: AbstractSet[Iri]) -> bool:
            return not changing and not targets.classes.isdisjoint(known)

        found = focus in targets.nodes
        if targets.classes and not targets.classes.isdisjoint(self._read_classes(focus, enough)):
            found = True
        for predicate in targets.subjects_of:
            if isinstance(focus, Iri) and self._facts(subject=focus, predicate=predicate):
                found = True
        for predicate in targets.objects_of:
            found = self._is_object_of(predicate, focus, every=self._reads(shape, focus)) or found
        return found

    def _reads(self, shape: Iri, focus: Term) -> bool:
        """Whether it matters to a shape how each statement that makes a node its focus spells it."""
        return isinstance(focus, Literal) and self._model.is_lexical(shape)

    def _is_object_of(self, predicate: Iri, focus: Term, *, every: bool) -> bool:
        """Whether something points at the node; a pointer that always does is enough, however many there are.

        Afterwards that may be one that the plan brings.

        Args:
            predicate: by which.
            focus: the node.
            every: whether all of them are read all the same.
        """
        found = False
        for seen in self._reader.stream(None, predicate, focus, coming_first=self._afterwards):
            if seen.interval.overlaps(self._horizon):
                found = True
                self._used[seen.content.id] = seen
                if not every and self._stays(seen):
                    break
        return found

    def _read_classes(self, node: Term, enough: Callable[[AbstractSet[Iri]], bool]) -> AbstractSet[Iri]:
        """Reads what says of which classes a node is; answers those that it may be of at some time.

        Args:
            node: it.
            enough: whether it is enough to know that it is of certain classes throughout: then no more is read.
        """
        found: dict[Iri, bool] = {}  # whether it is of the class throughout, as far as is known
        waiting: list[tuple[Iri, Iri, bool]] = [(node, RDF_TYPE, True)] if isinstance(node, Iri) else []
        for below, predicate, throughout in waiting:
            for seen in self._facts(below, predicate):
                above = seen.content.statement.object
                if isinstance(above, Iri):
                    stays = throughout and self._stays(seen)
                    if above not in found or (stays and not found[above]):
                        found[above] = stays
                        waiting.append((above, SUBCLASS_OF, stays))
            if enough({each for each, stays in found.items() if stays}):
                break
        return found.keys()

    def _superclasses(self, classes: set[Iri]) -> set[Iri]:
        """The classes and all above them."""
        return reach_all(
            classes,
            lambda each: (up for up in self._step(SUBCLASS_OF, each, inverse=False) if isinstance(up, Iri)),
        )

    def _subjects(self, predicate: Iri, value: Iri) -> Iterator[Iri]:
        return (seen.content.statement.subject for seen in self._facts(predicate=predicate, object=value))

    def _step(self, predicate: Iri, node: Term, *, inverse: bool) -> list[Term]:
        asked = None if predicate == ANY else predicate
        if inverse:
            return [seen.content.statement.subject for seen in self._facts(predicate=asked, object=node)]
        if not isinstance(node, Iri):
            return []
        return [seen.content.statement.object for seen in self._facts(subject=node, predicate=asked)]

    def _facts(
        self,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the term's name in RDF
    ) -> list[Seen]:
        horizon, used = self._horizon, self._used
        found = [seen for seen in self._reader.read(subject, predicate, object) if seen.interval.overlaps(horizon)]
        for seen in found:
            used[seen.content.id] = seen
        return found


def every_focus(targets: Targets, match: Match) -> Iterator[Term]:
    """Every node that is a target at some time (SHACL section 2.1.3), before or after a change; some several times.

    Args:
        targets: of a shape.
        match: gives the facts of a subject, predicate and object, each of them any if it is None.
    """
    yield from targets.nodes
    below = reach_all(set(targets.classes), lambda each: _subjects(match(None, SUBCLASS_OF, each)))
    for each in below:
        yield from _subjects(match(None, RDF_TYPE, each))
    for predicate in targets.subjects_of:
        yield from _subjects(match(None, predicate, None))
    for predicate in targets.objects_of:
        yield from (seen.content.statement.object for seen in match(None, predicate, None))


def _subjects(facts: Iterable[Seen]) -> Iterator[Iri]:
    return (seen.content.statement.subject for seen in facts)


def reach_all(starts: set[Iri], onward: Callable[[Iri], Iterable[Iri]]) -> set[Iri]:
    """The starts and everything that leads on from them."""
    found = set(starts)
    waiting = list(starts)
    while waiting:
        fresh = set(onward(waiting.pop())) - found
        found |= fresh
        waiting += fresh
    return found
