"""Waivers: violations that are let through, because somebody who may write the shapes said so, with a reason.

Rules
-----
* A waiver is a node of the shapes graph, an `m:Waiver`. It names shapes with `m:waives`, each with all property shapes
  within it, and says why in `m:reason`. `m:component` narrows it to constraint components, `m:focus` to nodes.
* Without `m:focus` it waives what shapes newly break of the data that is there when they are written, and nothing that
  is written later. With it, whatever those nodes break, as often as they are written: it is an exemption for them.
* What is waived is told as `waived-violation`, a warning at most, and blocks nothing. All else is as without it.
* `m:until` is the first instant at which it does not hold any more; held against it is the instant at which a
  certificate is issued. Its end refuses nothing by itself: what was waived is an old violation by then. It is shown in
  the queue until the waiver is removed, or given another end.
* It waives what it says once it is applied; a change that brings it is judged by the shapes before it, as any other,
  and only what shapes in the same change newly break is waived by it.

Example
-------
::

    [] a m:Waiver ; m:waives ex:PersonShape ; m:component sh:MinCountConstraintComponent ;
        m:until "2027-01-01"^^xsd:date ; m:reason "names are being gathered" .
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from bridge.shapes.moments import instant_of
from bridge.shapes.neighbourhood import reach_all
from bridge.shapes.vocabulary import COMPONENTS, RDF_TYPE, SH, sh
from certificates.findings import Finding, FindingCode, Severity
from kernel.terms import Iri, Literal
from kernel.time.instants import FOREVER, Instant, print_instant
from kernel.vocabulary import SHAPES_GRAPH, M

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from bridge.shapes.document import ShapesDocument
    from bridge.shapes.results import Result
    from kernel.terms import Term

Fault: TypeAlias = "tuple[Iri, Iri, Term | None, str]"
"""The node that something is wrong at, the predicate, the value if it is one, and what is wrong."""

WAIVER: Final = Iri(M + "Waiver")
WAIVES: Final = Iri(M + "waives")
FOCUS: Final = Iri(M + "focus")
COMPONENT: Final = Iri(M + "component")
UNTIL: Final = Iri(M + "until")
REASON: Final = Iri(M + "reason")
WAIVER_WORDS: Final = frozenset({WAIVES, FOCUS, COMPONENT, UNTIL, REASON})
"""What is said of waivers."""

_PROPERTY: Final = sh("property")
_ONCE: Final = (UNTIL, REASON)


@dataclass(frozen=True, slots=True)
class Waiver:
    """A waiver.

    Args:
        node: what names it.
        waives: the shapes that it names.
        foci: the nodes that it is for; none: those found when shapes are written.
        components: the constraint components that it is for; none: all.
        until: the first instant at which it does not hold.
        reason: why.
    """

    node: Iri
    waives: tuple[Iri, ...]
    foci: frozenset[Term]
    components: frozenset[Iri]
    until: int
    reason: str

    def covers(self, result: Result, *, is_there: bool) -> bool:
        """Whether it covers a result of one of its shapes.

        Args:
            result: of a shape that it waives, or of one within that.
            is_there: whether the data is there already, and shapes are written.
        """
        if self.components and result.component not in self.components:
            return False
        return result.focus in self.foci if self.foci else is_there

    @property
    def told(self) -> str:
        """It, in words."""
        until = "" if self.until == FOREVER else f" until {print_instant(Instant(self.until))}"
        return f"waived{until} by {self.node.n3}: {self.reason}"


class Waivers:
    """The waivers of a shapes graph without faults.

    Args:
        document: the shapes graph.
    """

    def __init__(self, document: ShapesDocument) -> None:
        self._by_shape: dict[Iri, list[Waiver]] = {}
        for waiver in waivers_of(document):
            for shape in reach_all(set(waiver.waives), lambda each: document.nodes(each, _PROPERTY)):
                self._by_shape.setdefault(shape, []).append(waiver)

    def lapse(self, one: int, other: int) -> bool:
        """Whether one of them ends between two instants, whichever comes first."""
        first, last = sorted((one, other))
        return any(first < each.until <= last for waivers in self._by_shape.values() for each in waivers)

    def of(self, result: Result, at: int, *, is_there: bool) -> Waiver | None:
        """The waiver that covers a result at an instant, the one that lasts longest."""
        holding = (each for each in self._by_shape.get(result.shape, ()) if at < each.until)
        covering = [each for each in holding if each.covers(result, is_there=is_there)]
        return max(covering, key=lambda each: (each.until, each.node.value), default=None)


def waivers_of(document: ShapesDocument) -> list[Waiver]:
    """The waivers of a shapes graph; of one with faults, as far as they can be read."""
    return [
        Waiver(
            node,
            tuple(document.nodes(node, WAIVES)),
            frozenset(document.objects(node, FOCUS)),
            frozenset(document.nodes(node, COMPONENT)),
            _until(document, node),
            next(iter(document.texts(node, REASON)), ""),
        )
        for node in document.subjects()
        if WAIVER in document.objects(node, RDF_TYPE)
    ]


def _until(document: ShapesDocument, node: Iri) -> int:
    ends = [instant_of(document, node, UNTIL, value) for value in document.objects(node, UNTIL)]
    return next((end for end in ends if isinstance(end, int)), FOREVER)


def ended(waivers: Iterable[Waiver], at: int) -> list[Finding]:
    """A finding for each waiver that does not hold any more, the one that ended last first."""
    over = sorted((each for each in waivers if each.until <= at), key=lambda each: (-each.until, each.node.value))
    return [
        Finding(
            code=FindingCode.WAIVER_ENDED,
            severity=Severity.WARNING,
            message=(
                f"a waiver ended at {print_instant(Instant(each.until))} ({each.reason}): mend what it let through and "
                "remove it, or give it another end"
            ),
            graphs=(SHAPES_GRAPH.value,),
            focus=each.node.n3,
            path=WAIVES.n3,
            value=shape.n3,
        )
        for each in over
        for shape in each.waives
    ]


# --- faults -----------------------------------------------------------------------------------------------------------


def waiver_faults(document: ShapesDocument, shapes: Collection[Iri]) -> Iterator[Fault]:
    """What is wrong with the waivers of a shapes graph.

    Args:
        document: the shapes graph.
        shapes: the shapes in it.
    """
    for node in document.subjects():
        described = document.described(node)
        if WAIVER in document.objects(node, RDF_TYPE):
            yield from _of_waiver(document, node, shapes)
        else:
            for word in WAIVER_WORDS.intersection(described):
                yield node, word, None, f"{_short(word)} is said of a waiver: give the node the type m:Waiver"


def _of_waiver(document: ShapesDocument, node: Iri, shapes: Collection[Iri]) -> Iterator[Fault]:
    for word, what in ((WAIVES, "the shapes that it waives"), (REASON, "a reason")):
        if not document.objects(node, word):
            yield node, word, None, f"a waiver needs {what}: give {_short(word)}"
    for word in _ONCE:
        if len(document.objects(node, word)) > 1:
            yield node, word, None, f"{_short(word)} is given more than once: give it once"
    for word in (WAIVES, COMPONENT, REASON, UNTIL):
        for value in document.objects(node, word):
            reason = _fault(document, node, word, value, shapes)
            if reason is not None:
                yield node, word, value, reason


def _fault(document: ShapesDocument, node: Iri, word: Iri, value: Term, shapes: Collection[Iri]) -> str | None:
    """What is wrong with one value."""
    if word == WAIVES:
        return None if value in shapes else "m:waives takes shapes, and this is none"
    if word == COMPONENT:
        fits = isinstance(value, Iri) and (value.value in COMPONENTS or not value.value.startswith(SH))
        return None if fits else "m:component takes constraint components: sh:MinCountConstraintComponent, …"
    if word == REASON:
        return None if isinstance(value, Literal) and value.lexical.strip() else "m:reason takes a text"
    end = instant_of(document, node, UNTIL, value)
    return end if isinstance(end, str) else None


def _short(word: Iri) -> str:
    return f"m:{word.value.removeprefix(M)}"
