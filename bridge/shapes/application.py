"""How a shapes graph is applied: what a base says of it in words of its own, beside SHACL.

Rules
-----
* `m:shapes m:mode m:Refuse`, `m:Review` or `m:Warn` says what becomes of a change that the shapes find fault with: it
  is refused, waits for an editor, or is let through with what was found on its certificate. Unsaid, it is refused.
* A shape with `m:appliesFrom` judges no instant of valid time before that one: until then it is as a deactivated shape,
  by itself and for every shape that refers to it. It takes an xsd:dateTime with a zone, or an xsd:date, which stands
  for its first instant, in UTC if it names no zone.
* `m:shapes m:appliesTo` names the graphs that the shapes are bound to: what they judge are the statements of those
  together, and of the ontology graph. Unsaid, it is every graph of data.
* Shapes with targets may be gathered in shape sets: a node of type `m:ShapeSet` `m:contains` them, and has a mode and
  graphs of its own. Each set judges by itself, as if it were a shapes graph of its own; what shapes refer to, several
  sets may share. The shapes that no set contains go by what is said of `m:shapes`.
* A waiver (`waivers`) says which violations are to be let through.
* Mode and graphs are said of the shapes graph or of a set, an instant of a shape; mode and instant once. Anything else
  is a fault, and a shapes graph with a fault is not used at all.

Example
-------
::

    for place, predicate, value, reason in faults(document):
        ...
    mode_of(document, SHAPES_GRAPH), applies_from(document, shape)                # of a document without faults
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from bridge.shapes.moments import instant_of
from bridge.shapes.overlay import EVERYTHING, Scope
from bridge.shapes.vocabulary import RDF_TYPE, is_blank
from bridge.shapes.waivers import WAIVER, WAIVER_WORDS, waiver_faults
from kernel.terms import Iri, Term
from kernel.time.instants import BEGINNING
from kernel.vocabulary import SHAPES_GRAPH, M, is_history

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from bridge.shapes.document import ShapesDocument

Fault: TypeAlias = tuple[Iri, Iri, Term | None, str]
"""The node that something is wrong at, the predicate, the value if it is one, and what is wrong."""

MODE: Final = Iri(M + "mode")
APPLIES_FROM: Final = Iri(M + "appliesFrom")
APPLIES_TO: Final = Iri(M + "appliesTo")
SHAPE_SET: Final = Iri(M + "ShapeSet")
CONTAINS: Final = Iri(M + "contains")


class Mode(StrEnum):
    """What becomes of a change that the shapes find fault with."""

    REFUSE = "Refuse"
    REVIEW = "Review"
    WARN = "Warn"

    @property
    def iri(self) -> Iri:
        """What it is called in a shapes graph."""
        return Iri(M + self)


_MODES: Final = {mode.iri: mode for mode in Mode}
_KNOWN: Final = frozenset({MODE, APPLIES_FROM, APPLIES_TO, CONTAINS}) | WAIVER_WORDS
_TYPES: Final = frozenset({WAIVER, SHAPE_SET})
_OF_THE_GRAPH: Final = frozenset({MODE, APPLIES_TO})


def sets_of(document: ShapesDocument) -> dict[Iri, frozenset[Iri]]:
    """The shape sets, in an order of their own, each with the shapes that it contains."""
    return {
        node: frozenset(document.nodes(node, CONTAINS))
        for node in sorted(document.subjects(), key=lambda each: each.value)
        if SHAPE_SET in document.objects(node, RDF_TYPE)
    }


def mode_of(document: ShapesDocument, of: Iri) -> Mode:
    """The mode of a shapes graph without faults, or of a set in it."""
    said = document.nodes(of, MODE)
    return _MODES[said[0]] if said else Mode.REFUSE


def scope_of(document: ShapesDocument, of: Iri) -> Scope:
    """The graphs that a shapes graph without faults is bound to, or a set in it."""
    said = document.nodes(of, APPLIES_TO)
    return Scope(frozenset(said)) if said else EVERYTHING


def applies_from(document: ShapesDocument, shape: Iri) -> int:
    """The first instant that a shape judges, in a shapes graph without faults; `BEGINNING`: every one."""
    starts = [instant_of(document, shape, APPLIES_FROM, value) for value in document.objects(shape, APPLIES_FROM)]
    return next((start for start in starts if isinstance(start, int)), BEGINNING)


def faults(document: ShapesDocument, shapes: Collection[Iri]) -> Iterator[Fault]:
    """What is wrong with what a shapes graph says in words of the base.

    Args:
        document: the shapes graph.
        shapes: the shapes in it.
    """
    yield from _of_words(document)
    yield from _of_the_graph(document)
    yield from _of_sets(document, shapes)
    yield from waiver_faults(document, shapes)
    for node in document.subjects():
        starts = document.objects(node, APPLIES_FROM)
        if starts and node not in shapes:
            yield node, APPLIES_FROM, None, "m:appliesFrom is said of a shape, and this is none"
        if len(starts) > 1:
            yield node, APPLIES_FROM, None, f"m:appliesFrom is given {len(starts)} times: give it once"
        for value in starts:
            start = instant_of(document, node, APPLIES_FROM, value)
            if isinstance(start, str):
                yield node, APPLIES_FROM, value, start


def _of_words(document: ShapesDocument) -> Iterator[Fault]:
    """Words in `m:` that shapes do not know."""
    for subject, predicate, value in document:
        if predicate.value.startswith(M) and predicate not in _KNOWN:
            yield subject, predicate, None, f"shapes know no {_short(predicate)}: check its spelling"
        if predicate == RDF_TYPE and isinstance(value, Iri) and value.value.startswith(M) and value not in _TYPES:
            yield subject, RDF_TYPE, value, f"shapes know no {_short(value)}: check its spelling"


def _of_the_graph(document: ShapesDocument) -> Iterator[Fault]:
    gathered = {SHAPES_GRAPH, *sets_of(document)}
    for subject, predicate, value in document:
        if predicate in _OF_THE_GRAPH and subject not in gathered:
            reason = f"{_short(predicate)} is said of {SHAPES_GRAPH.n3}, the shapes graph as a whole, or an m:ShapeSet"
            yield subject, predicate, None, reason
        elif predicate == MODE and value not in _MODES:
            yield subject, MODE, value, "m:mode takes m:Refuse, m:Review or m:Warn"
        elif predicate == APPLIES_TO and not _is_graph_of_data(value):
            yield subject, APPLIES_TO, value, "m:appliesTo takes graphs of data, by their IRIs"
    for node in gathered:
        modes = document.objects(node, MODE)
        if len(modes) > 1:
            yield node, MODE, None, f"m:mode is given {len(modes)} times: give it once"


def _of_sets(document: ShapesDocument, shapes: Collection[Iri]) -> Iterator[Fault]:
    sets = sets_of(document)
    within: dict[Iri, Iri] = {}
    for subject, predicate, value in document:
        if predicate != CONTAINS:
            continue
        if subject not in sets:
            yield subject, CONTAINS, None, "m:contains is said of a shape set: give the node the type m:ShapeSet"
        elif not isinstance(value, Iri) or value not in shapes:
            yield subject, CONTAINS, value, "m:contains takes shapes, and this is none"
        elif within.setdefault(value, subject) != subject:
            yield subject, CONTAINS, value, f"the shape is in {within[value].n3} already: a shape is in one set at most"
    for node in sets:
        if not document.objects(node, CONTAINS):
            yield node, CONTAINS, None, "a shape set needs shapes: give m:contains"


def _is_graph_of_data(value: Term) -> bool:
    return isinstance(value, Iri) and value in EVERYTHING and not is_history(value) and not is_blank(value)


def _short(word: Iri) -> str:
    return f"m:{word.value.removeprefix(M)}"
