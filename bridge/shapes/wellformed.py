"""Whether a shapes graph is well formed: what is not is refused when it is written, with its place.

Rules
-----
* Every SHACL term is one that exists and, as predicate or type, one that can be used here (`vocabulary`).
* The syntax rules of SHACL (SHACL appendix B): what kind of value each property takes, how many, and on which shapes;
  a property shape has exactly one well-formed path; lists are well formed and end.
* Patterns can be used (`patterns`), and flags are among those that mean the same everywhere.
* No shape contains itself (SHACL section 3.4.3 leaves the meaning open), none is nested beyond `DEEPEST` or unfolds
  to more than `LARGEST` shapes: judging must end.
* A shape that is referred to and not described is told apart (`undescribed`): profiles in use have such references.
  So is what is well formed and has no effect (`idle`): a parameter without the one that it goes with, another spelling
  of `true`, a constraint component without a validator for the shape, and a word that SHACL has not at a node that is
  described as something else than shapes and the like.
* Queries, and the constraint components that are made of them, are as `sparql` has it.
* What the base says of its shapes in words of its own is as `application` has it.
* Shapes of evidence stand on property shapes whose path is one predicate, since only statements have evidence; what
  they ask of it in words of the base is among those that evidence has, and they ask it without queries.
* All of it is total and linear in the document, apart from the unfolding, which is counted and not carried out.

Example
-------
::

    for problem in problems(document):
        problem.place, problem.reason
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bridge.shapes.application import faults
from bridge.shapes.evidence import EVIDENCE_WORDS
from bridge.shapes.model import (
    PATH,
    PROPERTY,
    PROPERTY_SHAPE,
    REIFIER,
    REQUIRED,
    SHAPE_LISTS,
    SHAPE_VALUED,
    referred,
    shapes_of,
)
from bridge.shapes.neighbourhood import reach_all
from bridge.shapes.parameters import RULES
from bridge.shapes.paths import levels, read_path
from bridge.shapes.patterns import FLAGS, fault
from bridge.shapes.sparql.declared import SPARQL, Declarations
from bridge.shapes.vocabulary import RDF_TYPE, REPORTED, SH, UNSUPPORTED, USABLE, is_blank, sh
from kernel.terms import Iri, Literal, Term
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from bridge.shapes.document import ShapesDocument
    from bridge.shapes.parameters import Rule

DEEPEST: Final = 30
"""How many shapes may lie within one another."""

LARGEST: Final = 5_000
"""How many shapes one may unfold to, those that it refers to twice counted twice."""

PATH_LEVELS: Final = 10
"""How deep the parts of a path may lie inside one another."""

_NODE_SHAPES: Final = {
    sh("node"): "sh:node takes a node shape: use sh:property for one with a path",
    REIFIER: "sh:reifierShape takes a node shape, and this one has a path",
}

_KNOWN: Final = USABLE | UNSUPPORTED | REPORTED


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that keeps a shapes graph from being used.

    Args:
        place: the node that it is about.
        predicate: what is said of the node, if that is at fault.
        value: the value at fault, if one is.
        reason: what is wrong, and what to write instead.
    """

    place: Iri
    predicate: Iri | None
    value: Term | None
    reason: str


def problems(document: ShapesDocument) -> list[Problem]:
    """Every problem of a shapes graph; none: it can be used."""
    shapes = shapes_of(document)
    declarations = Declarations(document)
    declared = dict.fromkeys(Problem(*fault) for fault in declarations.faults(shapes))
    bystanders = set(_bystanders(document, shapes))
    words = (each for each in _vocabulary(document) if each.place not in bystanders)
    found = [*words, *(Problem(*fault) for fault in faults(document, shapes)), *declared]
    for node in dict.fromkeys(each for each in declarations.sources(shapes) if each not in shapes):
        found += _values(document, node)
    for shape in shapes:
        found += _values(document, shape)
        found += _paths(document, shape)
        found += _patterns(document, shape)
        found += _references(document, shape)
        found += _of_evidence(document, shape, declarations)
    return found + list(_nesting(document, shapes))


def idle(document: ShapesDocument) -> list[Problem]:
    """What is said in well-formed shapes, or beside them, and has no effect."""
    shapes = shapes_of(document)
    declarations = Declarations(document)
    bystanders = set(_bystanders(document, shapes))
    found = [each for each in _vocabulary(document) if each.place in bystanders]
    for shape in shapes:
        found += _without_effect(document, shape)
        found += [
            Problem(shape, None, component.node, "the constraint component has no validator for such a shape")
            for component in declarations.used(shape)
            if declarations.is_idle(shape, component)
        ]
    return found


def undescribed(document: ShapesDocument) -> list[Problem]:
    """The references to shapes of which nothing is said: such a shape judges nothing, and everything conforms to it."""
    return [
        Problem(shape, predicate, node, "there is no such shape: it judges nothing")
        for shape in shapes_of(document)
        for predicate in (*SHAPE_VALUED, *SHAPE_LISTS, REIFIER)
        for node in (document.members if predicate in SHAPE_LISTS else document.nodes)(shape, predicate)
        if not document.described(node)
    ]


# --- words ------------------------------------------------------------------------------------------------------------


def _vocabulary(document: ShapesDocument) -> Iterator[Problem]:
    """Terms that do not exist, wherever they stand, and terms that cannot be used where they would have an effect."""
    for subject, predicate, value in document:
        acting: set[Term] = {predicate, value} if predicate == RDF_TYPE else {predicate}
        for term in (subject, predicate, value):
            if isinstance(term, Iri) and term.value.startswith(SH) and _is_unusable(term, acting):
                yield Problem(subject, predicate, value, _unusable(term.value))


def _bystanders(document: ShapesDocument, shapes: Collection[Iri]) -> Iterator[Iri]:
    """The nodes that are described as something else, and by no word that SHACL has."""
    for node in document.subjects():
        types = document.nodes(node, RDF_TYPE)
        is_else = bool(types) and not any(each.value.startswith(SH) for each in types)
        if is_else and node not in shapes and not any(each.value in _KNOWN for each in document.described(node)):
            yield node


def _is_unusable(term: Iri, acting: set[Term]) -> bool:
    return term.value not in USABLE and (term in acting or term.value not in _KNOWN)


def _unusable(name: str) -> str:
    short = f"sh:{name.removeprefix(SH)}"
    if name in UNSUPPORTED:
        return f"{short} is not supported: shapes are judged by SHACL Core and SHACL-SPARQL alone"
    if name in REPORTED:
        return f"{short} belongs in validation reports, not in shapes"
    return f"there is no {short} in SHACL: check its spelling"


# --- values -----------------------------------------------------------------------------------------------------------


def _values(document: ShapesDocument, shape: Iri) -> Iterator[Problem]:
    on_property = bool(document.objects(shape, PATH))
    described = document.described(shape)
    for predicate, terms in described.items():
        rule = RULES.get(predicate)
        if rule is None:
            continue
        short = f"sh:{predicate.value.removeprefix(SH)}"
        if rule.on_properties_only and not on_property:
            yield Problem(shape, predicate, None, f"{short} needs a path: it has no meaning on a node shape")
        if rule.single and len(terms) > 1:
            yield Problem(shape, predicate, None, f"{short} is given {len(terms)} times: give it once")
        for term in terms:
            given = document.spelling((shape, predicate, term)) or term
            if not _fits(document, rule, given):
                yield Problem(shape, predicate, given, f"{short} takes {rule.expected}")
    yield from _pairs(shape, described)


def _fits(document: ShapesDocument, rule: Rule, term: Term) -> bool:
    if not rule.listed:
        return rule.fits(term)
    items = document.items(term)
    return items is not None and all(map(rule.fits, items))


def _pairs(shape: Iri, described: Mapping[Iri, Sequence[Term]]) -> Iterator[Problem]:
    """Properties that mean nothing without another one."""
    counts = (sh("qualifiedMinCount"), sh("qualifiedMaxCount"))
    qualified = sh("qualifiedValueShape")
    if qualified in described and not any(count in described for count in counts):
        yield Problem(
            shape, qualified, None, "sh:qualifiedValueShape needs sh:qualifiedMinCount or sh:qualifiedMaxCount"
        )
    if sh("ignoredProperties") in described and sh("closed") not in described:
        yield Problem(shape, sh("ignoredProperties"), None, "it needs sh:closed")


def _without_effect(document: ShapesDocument, shape: Iri) -> Iterator[Problem]:
    described = document.described(shape)
    qualified, disjoint = sh("qualifiedValueShape"), sh("qualifiedValueShapesDisjoint")
    for predicate in (sh("qualifiedMinCount"), sh("qualifiedMaxCount"), disjoint):
        if predicate in described and qualified not in described:
            yield Problem(shape, predicate, None, "it goes with sh:qualifiedValueShape, and there is none")
    if sh("flags") in described and sh("pattern") not in described:
        yield Problem(shape, sh("flags"), None, "it goes with sh:pattern, and there is none")
    for predicate in (sh("uniqueLang"), disjoint):
        for term in document.objects(shape, predicate):
            given = document.spelling((shape, predicate, term))
            if given is not None:
                yield Problem(shape, predicate, given, "SHACL goes by true and false, spelled so")


# --- paths and patterns -----------------------------------------------------------------------------------------------


def _paths(document: ShapesDocument, shape: Iri) -> Iterator[Problem]:
    values = document.objects(shape, PATH)
    is_property = PROPERTY_SHAPE in document.objects(shape, RDF_TYPE)
    if is_property and not values:
        yield Problem(shape, PATH, None, "a property shape needs a sh:path")
    if sh("NodeShape") in document.objects(shape, RDF_TYPE) and (values or is_property):
        yield Problem(shape, PATH, None, "a node shape has no sh:path, and is no property shape")
    if len(values) > 1:
        yield Problem(shape, PATH, None, f"a property shape has one sh:path, this one has {len(values)}")
    for value in values:
        path = read_path(document, value)
        if isinstance(path, str):
            yield Problem(shape, PATH, value, path)
        elif levels(path) > PATH_LEVELS:
            yield Problem(shape, PATH, value, f"the path is nested {levels(path)} deep: {PATH_LEVELS} are allowed")


def _patterns(document: ShapesDocument, shape: Iri) -> Iterator[Problem]:
    given = document.texts(shape, sh("flags"))
    for each in given:
        if not FLAGS.keys() >= set(each):
            yield Problem(shape, sh("flags"), Literal(each), "only the flags i, m, s and q are supported")
    flags = "".join(each for each in FLAGS if each in "".join(given))
    for term in document.objects(shape, sh("pattern")):
        reason = fault(term.lexical, flags) if isinstance(term, Literal) else None
        if reason is not None:
            yield Problem(shape, sh("pattern"), term, f"the regular expression cannot be used: {reason}")


# --- references -------------------------------------------------------------------------------------------------------


def _references(document: ShapesDocument, shape: Iri) -> Iterator[Problem]:
    """Whatever is referred to must be of the kind that is asked for."""
    for predicate in (*SHAPE_VALUED, REIFIER):
        for node in document.nodes(shape, predicate):
            is_property = bool(document.objects(node, PATH))
            if not document.described(node):
                continue  # `undescribed` tells
            if predicate == PROPERTY and not is_property:
                yield Problem(node, PATH, None, "a property shape needs a sh:path")
            elif predicate in _NODE_SHAPES and is_property:
                yield Problem(shape, predicate, node, _NODE_SHAPES[predicate])
    for predicate in SHAPE_LISTS:
        if any(document.items(head) == [] for head in document.objects(shape, predicate)):
            yield Problem(shape, predicate, None, "the list is empty")


def _of_evidence(document: ShapesDocument, shape: Iri, declarations: Declarations) -> Iterator[Problem]:
    for predicate in (REIFIER, REQUIRED):
        if document.objects(shape, predicate) and any(map(is_blank, document.objects(shape, PATH))):
            short = f"sh:{predicate.value.removeprefix(SH)}"
            yield Problem(
                shape, predicate, None, f"{short} needs a path of one predicate: only statements have evidence"
            )
    for node in reach_all(set(document.nodes(shape, REIFIER)), lambda each: referred(document, each)):
        if document.objects(node, SPARQL) or any(declarations.used(node)):
            yield Problem(node, SPARQL, None, "evidence is judged by SHACL Core alone: take the query out")
        for path in document.nodes(node, PATH):
            if path.value.startswith(M) and path not in EVIDENCE_WORDS:
                yield Problem(node, PATH, path, f"evidence has no m:{path.value.removeprefix(M)}: check its spelling")


def _nesting(document: ShapesDocument, shapes: Sequence[Iri]) -> Iterator[Problem]:
    """The first shape found to contain itself, or every one that holds too many others."""
    measured: dict[Iri, tuple[int, int]] = {}
    for shape in shapes:
        cycle = _measure(document, shape, measured)
        if cycle is not None:
            route = " → ".join(each.n3 for each in cycle)
            yield Problem(cycle[0], None, None, f"the shape contains itself: {route}")
            return
    for shape in shapes:
        depth, size = measured[shape]
        if depth > DEEPEST:
            yield Problem(shape, None, None, f"shapes lie within one another {depth} deep: {DEEPEST} are allowed")
        elif size > LARGEST:
            yield Problem(shape, None, None, f"the shape unfolds to {size} shapes: {LARGEST} are allowed")


def _measure(document: ShapesDocument, start: Iri, measured: dict[Iri, tuple[int, int]]) -> list[Iri] | None:
    """Measures depth and unfolded size of a shape and of all within; answers a cycle instead, if it meets one.

    Without recursion of its own, because the document decides how deep it would go.
    """
    route: list[Iri] = []
    waiting: list[tuple[Iri, bool]] = [(start, False)]
    while waiting:
        node, leaving = waiting.pop()
        if leaving:
            route.pop()
            within = [measured[each] for each in referred(document, node)]
            measured[node] = (1 + max((depth for depth, _ in within), default=0), 1 + sum(size for _, size in within))
        elif node in route:
            return [*route[route.index(node) :], node]
        elif node not in measured:
            route.append(node)
            waiting.append((node, True))
            waiting += [(each, False) for each in referred(document, node)]
    return None
