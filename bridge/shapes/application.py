"""How a shapes graph is applied: what a base says of it in words of its own, beside SHACL.

Rules
-----
* `m:shapes m:mode m:Refuse`, `m:Review` or `m:Warn` says what becomes of a change that the shapes find fault with: it
  is refused, waits for an editor, or is let through with what was found on its certificate. Unsaid, it is refused.
* A shape with `m:appliesFrom` judges no instant of valid time before that one: until then it is as a deactivated shape,
  by itself and for every shape that refers to it. It takes an xsd:dateTime with a zone, or an xsd:date, which stands
  for its first instant, in UTC if it names no zone.
* The mode is said of the shapes graph, an instant of a shape, each once; anything else is a fault, and a shapes graph
  with a fault is not used at all.

Example
-------
::

    for place, predicate, value, reason in faults(document):
        ...
    mode_of(document), applies_from(document, shape)          # of a document without faults
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from kernel.errors import InvalidTime
from kernel.instants import BEGINNING
from kernel.precision import Precision
from kernel.terms import XSD, Iri, Literal, Term
from kernel.timevalues import parse_time
from kernel.vocabulary import SHAPES_GRAPH, M

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from bridge.shapes.document import ShapesDocument

Fault: TypeAlias = tuple[Iri, Iri, Term | None, str]
"""The node that something is wrong at, the predicate, the value if it is one, and what is wrong."""

MODE: Final = Iri(M + "mode")
APPLIES_FROM: Final = Iri(M + "appliesFrom")


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
_KNOWN: Final = frozenset({MODE, APPLIES_FROM})
_TAKEN: Final = "an xsd:dateTime with a zone, or an xsd:date"
_DATATYPES: Final = {Precision.INSTANT: XSD + "dateTime", Precision.DAY: XSD + "date"}


def mode_of(document: ShapesDocument) -> Mode:
    """The mode of a shapes graph without faults."""
    said = document.nodes(SHAPES_GRAPH, MODE)
    return _MODES[said[0]] if said else Mode.REFUSE


def applies_from(document: ShapesDocument, shape: Iri) -> int:
    """The first instant that a shape judges, in a shapes graph without faults; `BEGINNING`: every one."""
    starts = [_start(document, shape, value) for value in document.objects(shape, APPLIES_FROM)]
    return next((start for start in starts if isinstance(start, int)), BEGINNING)


def faults(document: ShapesDocument, shapes: Collection[Iri]) -> Iterator[Fault]:
    """What is wrong with what a shapes graph says in words of the base.

    Args:
        document: the shapes graph.
        shapes: the shapes in it.
    """
    yield from _of_modes(document)
    for node in document.subjects():
        starts = document.objects(node, APPLIES_FROM)
        if starts and node not in shapes:
            yield node, APPLIES_FROM, None, "m:appliesFrom is said of a shape, and this is none"
        if len(starts) > 1:
            yield node, APPLIES_FROM, None, f"m:appliesFrom is given {len(starts)} times: give it once"
        for value in starts:
            start = _start(document, node, value)
            if isinstance(start, str):
                yield node, APPLIES_FROM, value, start


def _of_modes(document: ShapesDocument) -> Iterator[Fault]:
    for subject, predicate, value in document:
        if predicate.value.startswith(M) and predicate not in _KNOWN:
            yield subject, predicate, None, f"shapes know no {_short(predicate)}: check its spelling"
        if predicate == MODE and subject != SHAPES_GRAPH:
            yield subject, MODE, None, f"m:mode is said of {SHAPES_GRAPH.n3}, the shapes graph as a whole"
        elif predicate == MODE and value not in _MODES:
            yield subject, MODE, value, "m:mode takes m:Refuse, m:Review or m:Warn"
    modes = document.objects(SHAPES_GRAPH, MODE)
    if len(modes) > 1:
        yield SHAPES_GRAPH, MODE, None, f"m:mode is given {len(modes)} times: give it once"


def _start(document: ShapesDocument, shape: Iri, value: Term) -> int | str:
    """The instant that a value of m:appliesFrom stands for, or what is wrong with it."""
    given = document.spelling((shape, APPLIES_FROM, value)) or value
    if not isinstance(given, Literal) or given.datatype not in _DATATYPES.values():
        return f"m:appliesFrom takes {_TAKEN}"
    try:
        time = parse_time(given.lexical, field="m:appliesFrom")
    except InvalidTime as error:
        return f"{error.message}: m:appliesFrom takes {_TAKEN}"
    if _DATATYPES.get(time.precision) != given.datatype:
        return f"{given.lexical!r} is no {given.datatype.replace(XSD, 'xsd:')}: m:appliesFrom takes {_TAKEN}"
    return time.first


def _short(predicate: Iri) -> str:
    return f"m:{predicate.value.removeprefix(M)}"
