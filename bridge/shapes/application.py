"""How a shapes graph is applied: what a base says of it in words of its own, beside SHACL.

Rules
-----
* `m:shapes m:mode m:Refuse`, `m:Review` or `m:Warn` says what becomes of a change that the shapes find fault with: it
  is refused, waits for an editor, or is let through with what was found on its certificate. Unsaid, it is refused.
* Said once, of the shapes graph alone; anything else is a fault, and a shapes graph with a fault is not used at all.

Example
-------
::

    for place, predicate, value, reason in faults(document):
        ...
    mode_of(document)          # of a document without faults
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from kernel.terms import Iri, Term
from kernel.vocabulary import SHAPES_GRAPH, M

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.shapes.document import ShapesDocument

Fault: TypeAlias = tuple[Iri, Iri, Term | None, str]
"""The node that something is wrong at, the predicate, the value if it is one, and what is wrong."""

MODE: Final = Iri(M + "mode")


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
_KNOWN: Final = frozenset({MODE})


def mode_of(document: ShapesDocument) -> Mode:
    """The mode of a shapes graph without faults."""
    said = document.nodes(SHAPES_GRAPH, MODE)
    return _MODES[said[0]] if said else Mode.REFUSE


def faults(document: ShapesDocument) -> Iterator[Fault]:
    """What is wrong with what a shapes graph says in words of the base."""
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


def _short(predicate: Iri) -> str:
    return f"m:{predicate.value.removeprefix(M)}"
