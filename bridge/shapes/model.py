"""What shapes look at: enough to say which nodes a change concerns, and what must be read to judge them.

Rules
-----
* Made from a well-formed document (`wellformed`). Deactivated shapes, and shapes that no target leads to, look at
  nothing.
* A shape judges a *focus* through its *values*: the focus itself, or what its path leads to. `inner` are the shapes
  that judge each value: by sh:property, sh:node, sh:not, sh:and, sh:or, sh:xone, sh:qualifiedValueShape, or as the
  qualified shape of a sibling (SHACL section 4.7.3).
* `queries` look along paths from the focus or from a term, or anywhere (`sparql.looks`). What changes on a path from
  the focus concerns the foci that it leads back to; what changes elsewhere concerns every target.
* `reifiers` are the shapes that judge evidence for its values (SHACL 1.2 Core, sh:reifierShape). They look at no data.
* A class that is itself a shape is its own target (SHACL section 2.1.3.3).
* The results of a property shape of a node shape are results of that node shape, at the same focus. So it can be
  judged by itself wherever the node shape would be: it has the targets of all shapes that hand its results on
  (`targets`).
* What a shape hands on, it hands on from the instant that it applies from: so targets count from some instant on
  (`targets_at`).

Example
-------
::

    model = ShapesModel(document)
    model.notices((subject, predicate, value))       # may a shape see this statement?
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Final

from bridge.shapes.application import applies_from
from bridge.shapes.data import together
from bridge.shapes.paths import ANY, predicates, read_path
from bridge.shapes.sparql.declared import Declarations
from bridge.shapes.vocabulary import (
    OWL_CLASS,
    PARAMETERS,
    RDF_TYPE,
    RDFS_CLASS,
    SUBCLASS_OF,
    TARGETS,
    sh,
)
from kernel.terms import Iri, Literal, Term
from kernel.time.instants import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from bridge.shapes.data import Data, Nodes, Spellings
    from bridge.shapes.document import ShapesDocument, Triple
    from bridge.shapes.paths import Path
    from bridge.shapes.sparql.declared import Constraint
    from bridge.shapes.sparql.looks import Look

NODE_SHAPE: Final = sh("NodeShape")
PROPERTY_SHAPE: Final = sh("PropertyShape")
PATH: Final = sh("path")
PROPERTY: Final = sh("property")
QUALIFIED: Final = sh("qualifiedValueShape")
REIFIER: Final = sh("reifierShape")
REQUIRED: Final = sh("reificationRequired")
SHAPE_VALUED: Final = (PROPERTY, sh("node"), sh("not"), QUALIFIED)
SHAPE_LISTS: Final = (sh("and"), sh("or"), sh("xone"))

_OTHER: Final = Iri("urn:x-muniment:other-predicate")
_SHAPE_TERMS: Final = {Iri(name) for name in TARGETS | PARAMETERS}
_DISJOINT: Final = sh("disjoint")
_BESIDE: Final = (sh("equals"), _DISJOINT, sh("lessThan"), sh("lessThanOrEquals"))
_LEXICAL: Final = tuple(map(sh, ("datatype", "pattern", "minLength", "maxLength", "languageIn")))


@dataclass(frozen=True, slots=True)
class Targets:
    """What makes a node a focus of a shape (SHACL section 2.1.3); of literals among `nodes`, how they are spelled."""

    nodes: Mapping[Term, Spellings]
    classes: frozenset[Iri]
    subjects_of: frozenset[Iri]
    objects_of: frozenset[Iri]

    def __bool__(self) -> bool:
        return bool(self.nodes or self.classes or self.subjects_of or self.objects_of)

    def __or__(self, other: Targets) -> Targets:
        return Targets(
            together((self.nodes, other.nodes)),
            self.classes | other.classes,
            self.subjects_of | other.subjects_of,
            self.objects_of | other.objects_of,
        )

    def spellings(self, focus: Term, data: Data) -> Spellings:
        """How a focus is spelled where it is made one; none: it is no literal.

        Args:
            focus: it.
            data: the statements that make it a focus, or more; few, for all of them are looked at.
        """
        if not isinstance(focus, Literal):
            return ()
        named: Nodes = {focus: self.nodes[focus]} if focus in self.nodes else {}
        return together([named, *map(data.objects_of, sorted(self.objects_of, key=lambda each: each.value))])[focus]


@dataclass(frozen=True, slots=True)
class Shape:
    """What one shape looks at.

    Args:
        path: how its values are reached; None for a node shape.
        classes: classes that its values must have.
        beside: predicates whose values at the focus its own values are compared with.
        apart_from: those of them that its values are only to be disjoint from: of these one value matters to itself.
        open_to: for a closed shape, the predicates that its values may have; None: it is not closed.
        inner: the shapes that judge its values.
        handed_on: those of them whose results it hands on at its own focus, and does nothing else with.
        lexical: whether it looks at how a literal is spelled.
        reified: the predicate of its path, if it looks at evidence for what that says.
        reifiers: the shapes that judge the evidence.
        applies_from: the first instant that it judges.
        queries: the queries that it judges by.
    """

    node: Iri
    path: Path | None
    targets: Targets
    classes: frozenset[Iri]
    beside: frozenset[Iri]
    apart_from: frozenset[Iri]
    open_to: frozenset[Iri] | None
    inner: tuple[Iri, ...]
    handed_on: frozenset[Iri]
    lexical: bool
    reified: Iri | None
    reifiers: tuple[Iri, ...]
    applies_from: int
    queries: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Using:
    """The live shapes that may see a statement of one predicate, by what they do with it.

    Args:
        along: their path follows it.
        beside: they compare their values with its.
        closed_to: they are closed, and their values may not have it.
        looking: their queries look along a path that follows it: each with the path.
        anywhere: their queries may see it wherever it stands.
        targeting_subjects: roots, by their nodes, that have its subjects as targets.
        targeting_objects: those that have its objects.
        by_class: whether it says what is of a class that some of them ask for.
    """

    along: tuple[Shape, ...]
    beside: tuple[Shape, ...]
    closed_to: tuple[Shape, ...]
    looking: tuple[tuple[Shape, Look], ...]
    anywhere: tuple[Shape, ...]
    targeting_subjects: tuple[Iri, ...]
    targeting_objects: tuple[Iri, ...]
    by_class: bool

    def __bool__(self) -> bool:
        return (
            bool(self.along or self.beside or self.closed_to or self.looking or self.anywhere)
            or bool(self.targeting_subjects or self.targeting_objects)
            or self.by_class
        )


class ShapesModel:
    """The shapes of a document, and the index over what they look at.

    Attributes:
        shapes: every active shape, by its node.
        live: those that a target leads to.
        roots: those that have targets.
        outer: for each shape, the live ones whose values it judges.
        outermost: the live shapes that others within which they lie do nothing with but hand their results on.
        targets: for each live shape, its targets and those of every shape that hands its results on, at any time.
        since: the same, by the instant from which they count.
        classes: classes that some shape asks for or targets.
        reified: predicates of statements whose evidence some live shape looks at.
    """

    def __init__(self, document: ShapesDocument) -> None:
        nodes = [node for node in shapes_of(document) if not document.is_true(node, sh("deactivated"))]
        inner = {node: _inner(document, node) for node in nodes}
        declarations = Declarations(document)
        self.shapes: Mapping[Iri, Shape] = {
            node: _shape(document, node, [each for each in inner[node] if each in inner], inner.keys(), declarations)
            for node in nodes
        }
        self.roots = tuple(shape for shape in self.shapes.values() if shape.targets)
        self.live = tuple(self._live())
        self.outer = self._outer()
        self.outermost = frozenset(shape.node for shape in self.live if self._is_outermost(shape.node))
        self.since = self._all_targets()
        self.targets: Mapping[Iri, Targets] = {node: _all(since.values()) for node, since in self.since.items()}
        self.classes = frozenset(each for shape in self.live for each in (*shape.classes, *shape.targets.classes))
        self._along: dict[Iri, list[Shape]] = {}
        self._beside: dict[Iri, list[Shape]] = {}
        for shape in self.live:
            for predicate in predicates(shape.path) if shape.path is not None else ():
                self._along.setdefault(predicate, []).append(shape)
            for predicate in shape.beside:
                self._beside.setdefault(predicate, []).append(shape)
        self._looking: dict[Iri, list[tuple[Shape, Look]]] = {}
        self._anywhere: dict[Iri, list[Shape]] = {}
        for shape in self.live:
            self._index_queries(shape)
        self._closed = tuple(shape for shape in self.live if shape.open_to is not None)
        self._using = {predicate: self._all_using(predicate) for predicate in self._named()}
        self._using_others = self._all_using(_OTHER)
        self._noticed = {predicate: bool(using) for predicate, using in self._using.items()}
        self._notices_others = bool(self._using_others)
        self.reified = frozenset(shape.reified for shape in self.live if shape.reified is not None)
        self._reified = {each.node for each in self.live if any(shape.reified for shape in self._reached([each]))}
        self._asking = {each.node for each in self.live if any(shape.queries for shape in self._reached([each]))}
        self._starts = self._all_starts()
        self._lexical = {each.node for each in self.live if any(shape.lexical for shape in self._reached([each]))}

    def notices(self, triple: Triple) -> bool:
        """Whether some shape may see the statement; cheap, and reads nothing."""
        return self._noticed.get(triple[1], self._notices_others)

    def using(self, predicate: Iri) -> Using:
        """The shapes that may see a statement of a predicate."""
        return self._using.get(predicate, self._using_others)

    def _named(self) -> set[Iri]:
        """The predicates that shapes name; all others are alike to them."""
        found = {RDF_TYPE, SUBCLASS_OF, *self._along, *self._beside, *self._looking, *self._anywhere}
        found.update(*(root.targets.subjects_of | root.targets.objects_of for root in self.roots))
        return found.union(*(shape.open_to for shape in self._closed if shape.open_to is not None))

    def _all_using(self, predicate: Iri) -> Using:
        closed = (shape for shape in self._closed if shape.open_to is not None and predicate not in shape.open_to)
        return Using(
            along=tuple(self._along.get(predicate, ())),
            beside=tuple(self._beside.get(predicate, ())),
            closed_to=tuple(closed),
            looking=(*self._looking.get(predicate, ()), *self._looking.get(ANY, ())),
            anywhere=(*self._anywhere.get(predicate, ()), *self._anywhere.get(ANY, ())),
            targeting_subjects=tuple(root.node for root in self.roots if predicate in root.targets.subjects_of),
            targeting_objects=tuple(root.node for root in self.roots if predicate in root.targets.objects_of),
            by_class=bool(self.classes) and predicate in (RDF_TYPE, SUBCLASS_OF),
        )

    def seeing_anywhere(self) -> list[Iri]:
        """The live shapes whose queries may see statements that nothing leads to from a focus."""
        return [
            shape.node
            for shape in self.live
            for query in shape.queries
            if query.looks.anywhere or any(look.start is not None for look in query.looks.along)
        ]

    def holding(self, shape: Iri) -> Iterator[Shape]:
        """The shapes with targets that a shape lies within, itself among them."""
        return (root for root in self.roots if any(each.node == shape for each in self._reached([root])))

    def is_lexical(self, shape: Iri) -> bool:
        """Whether a shape, or one within it, looks at how literals are spelled."""
        return shape in self._lexical

    def is_reified(self, shape: Iri) -> bool:
        """Whether a shape, or one within it, looks at evidence."""
        return shape in self._reified

    def is_asking(self, shape: Iri) -> bool:
        """Whether a shape, or one within it, judges by queries."""
        return shape in self._asking

    def targets_at(self, shape: Iri, instant: int) -> Targets:
        """The targets of a live shape, and of those that hand its results on, that count at an instant."""
        if shape not in self._starts:
            return self.targets[shape]
        return _all(targets for start, targets in self.since[shape].items() if start <= instant)

    def starts(self, shape: Iri) -> frozenset[int]:
        """The instants at which a live shape, one within it or one that hands it on begins to apply."""
        return self._starts.get(shape, frozenset())

    def _index_queries(self, shape: Shape) -> None:
        for query in shape.queries:
            for look in query.looks.along:
                for predicate in predicates(look.path):
                    self._looking.setdefault(predicate, []).append((shape, look))
            for predicate in query.looks.anywhere:
                self._anywhere.setdefault(predicate, []).append(shape)

    def _live(self) -> Iterator[Shape]:
        return self._reached(self.roots)

    def _reached(self, starts: Iterable[Shape], *, evidence: bool = False) -> Iterator[Shape]:
        """The shapes, and all within them, each once; those that judge evidence on request."""
        waiting = list(starts)
        seen = {shape.node for shape in waiting}
        while waiting:
            shape = waiting.pop()
            yield shape
            within = (*shape.inner, *shape.reifiers) if evidence else shape.inner
            fresh = [node for node in within if node not in seen]
            seen.update(fresh)
            waiting += [self.shapes[node] for node in fresh]

    def _outer(self) -> dict[Iri, tuple[Shape, ...]]:
        found: dict[Iri, list[Shape]] = {}
        for shape in self.live:
            for node in shape.inner:
                found.setdefault(node, []).append(shape)
        return {node: tuple(shapes) for node, shapes in found.items()}

    def _is_outermost(self, node: Iri) -> bool:
        return all(node in outer.handed_on and self._is_outermost(outer.node) for outer in self.outer.get(node, ()))

    def _all_targets(self) -> dict[Iri, dict[int, Targets]]:
        found = {shape.node: {shape.applies_from: shape.targets} if shape.targets else {} for shape in self.live}
        waiting = list(self.roots)
        while waiting:
            shape = waiting.pop()
            for node in shape.handed_on:
                inner, known = self.shapes[node], dict(found[node])
                for start, targets in found[shape.node].items():
                    later = max(start, inner.applies_from)
                    found[node][later] = found[node].get(later, _NOBODY) | targets
                if found[node] != known:
                    waiting.append(inner)
        return found

    def _all_starts(self) -> dict[Iri, frozenset[int]]:
        if all(shape.applies_from == BEGINNING for shape in self.shapes.values()):
            return {}
        within = {
            each.node: {shape.applies_from for shape in self._reached([each], evidence=True)} for each in self.live
        }
        starts = {node: frozenset(own | self.since[node].keys()) - {BEGINNING} for node, own in within.items()}
        return {node: cuts for node, cuts in starts.items() if cuts}


_NOBODY: Final = Targets({}, frozenset(), frozenset(), frozenset())


def _all(several: Iterable[Targets]) -> Targets:
    return reduce(or_, several, _NOBODY)


def shapes_of(document: ShapesDocument) -> list[Iri]:
    """Every node that is a shape (SHACL section 2.1): by its type, by what is said of it, or as one refers to it."""
    found: dict[Iri, None] = {}
    for subject in document.subjects():
        described = document.described(subject)
        types = described.get(RDF_TYPE, [])
        if not _SHAPE_TERMS.isdisjoint(described) or NODE_SHAPE in types or PROPERTY_SHAPE in types:
            found[subject] = None
    for subject in list(found):
        found.update(dict.fromkeys(referred(document, subject)))
    return list(found)


def referred(document: ShapesDocument, node: Iri) -> list[Iri]:
    """The shapes that a shape's own constraints refer to."""
    return [*_judging_values(document, node), *document.nodes(node, REIFIER)]


def _judging_values(document: ShapesDocument, node: Iri) -> list[Iri]:
    direct = [each for predicate in SHAPE_VALUED for each in document.nodes(node, predicate)]
    return direct + [each for predicate in SHAPE_LISTS for each in document.members(node, predicate)]


def siblings(document: ShapesDocument, node: Iri) -> list[Iri]:
    """The qualified shapes beside a shape, its own too, if they are to be disjoint (SHACL section 4.7.3)."""
    found: list[Iri] = []
    if document.is_true(node, sh("qualifiedValueShapesDisjoint")):
        for parent in document.subjects():
            beside = document.nodes(parent, PROPERTY)
            if node in beside:
                found += [each for sibling in beside for each in document.nodes(sibling, QUALIFIED)]
    return list(dict.fromkeys(found))


def _inner(document: ShapesDocument, node: Iri) -> list[Iri]:
    return list(dict.fromkeys([*_judging_values(document, node), *siblings(document, node)]))


def _handed_on(document: ShapesDocument, node: Iri) -> frozenset[Iri]:
    if document.objects(node, PATH):
        return frozenset()
    others = [each for predicate in SHAPE_VALUED if predicate != PROPERTY for each in document.nodes(node, predicate)]
    listed = [each for predicate in SHAPE_LISTS for each in document.members(node, predicate)]
    return frozenset(document.nodes(node, PROPERTY)).difference(others, listed)


def _shape(
    document: ShapesDocument,
    node: Iri,
    inner: Iterable[Iri],
    active: Collection[Iri],
    declarations: Declarations,
) -> Shape:
    looks_at_evidence = bool(document.nodes(node, REIFIER)) or document.is_true(node, REQUIRED)
    paths = [read_path(document, value) for value in document.objects(node, PATH)]
    path = next((path for path in paths if not isinstance(path, str)), None)
    return Shape(
        node=node,
        path=path,
        targets=_targets(document, node),
        classes=frozenset(document.nodes(node, sh("class"))),
        beside=frozenset(each for predicate in _BESIDE for each in document.nodes(node, predicate)),
        apart_from=frozenset(document.nodes(node, _DISJOINT)).difference(
            each for predicate in _BESIDE if predicate != _DISJOINT for each in document.nodes(node, predicate)
        ),
        open_to=_open_to(document, node) if document.is_true(node, sh("closed")) else None,
        inner=tuple(inner),
        handed_on=_handed_on(document, node).intersection(inner),
        lexical=any(document.objects(node, predicate) for predicate in _LEXICAL),
        reified=next(iter(document.nodes(node, PATH)), None) if looks_at_evidence else None,
        reifiers=tuple(each for each in document.nodes(node, REIFIER) if each in active),
        applies_from=applies_from(document, node),
        queries=declarations.constraints(node, path),
    )


def targeting_only(document: ShapesDocument, shapes: Collection[Iri]) -> ShapesDocument:
    """The document in which no other shapes have targets."""

    def is_left_out(triple: Triple) -> bool:
        subject, predicate, value = triple
        if subject in shapes:
            return False
        return predicate.value in TARGETS or (predicate == RDF_TYPE and _is_class_of_classes(document, value))

    return document.without(is_left_out)


def _is_class_of_classes(document: ShapesDocument, node: Term) -> bool:
    """Whether what is of it is a class, and if it is a shape, its own target."""
    if not isinstance(node, Iri):
        return False
    return node in {RDFS_CLASS, OWL_CLASS} or RDFS_CLASS in document.objects(node, SUBCLASS_OF)


def _targets(document: ShapesDocument, node: Iri) -> Targets:
    is_class = any(_is_class_of_classes(document, each) for each in document.objects(node, RDF_TYPE))
    return Targets(
        nodes={each: _spelled(document, node, each) for each in document.objects(node, sh("targetNode"))},
        classes=frozenset([*document.nodes(node, sh("targetClass")), *([node] if is_class else [])]),
        subjects_of=frozenset(document.nodes(node, sh("targetSubjectsOf"))),
        objects_of=frozenset(document.nodes(node, sh("targetObjectsOf"))),
    )


def _spelled(document: ShapesDocument, node: Iri, target: Term) -> Spellings:
    """How a shape writes a node that it targets by name."""
    if not isinstance(target, Literal):
        return ()
    return (document.spelling((node, sh("targetNode"), target)) or target,)


def _open_to(document: ShapesDocument, node: Iri) -> frozenset[Iri]:
    """The predicates that sh:closed allows: the plain paths of its property shapes, and those that are ignored."""
    own = [path for shape in document.nodes(node, PROPERTY) for path in document.nodes(shape, PATH)]
    return frozenset([*own, *document.members(node, sh("ignoredProperties"))])
