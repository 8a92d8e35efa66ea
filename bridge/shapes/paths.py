"""SHACL property paths (SHACL section 2.3.1): read, written, followed, and asked what a statement means to them.

Rules
-----
* Inverses are pushed down to single steps: the inverse of a/b is ^b/^a. So a path is made of steps, sequences,
  alternatives and repetitions, and following its inverse is following a path.
* `reach` gives the values of a path; `sources` gives every node from which following it may use one of some
  statements. How a step is taken, from the facts of one time or another, is the caller's business.
* A step of `ANY` predicate is what a query's variable asks for; no path of a shape has one.
* Reading is total: a node that is no path is answered by the reason, and so is a path of more than `LARGEST` parts.

Example
-------
>>> knows, name = Iri("urn:knows"), Iri("urn:name")
>>> path = Sequence((Step(knows), Step(name)))
>>> text(inverted(path))
'^<urn:name>/^<urn:knows>'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from bridge.shapes.vocabulary import RDF_FIRST, is_blank, sh
from kernel.terms import Iri, Term

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from bridge.shapes.document import ShapesDocument, Triple

LARGEST: Final = 200
"""How many parts a path may have."""

ANY: Final = Iri("urn:x-muniment:any-predicate")
"""In a step, whichever predicate."""


@dataclass(frozen=True, slots=True)
class Step:
    """One predicate, forwards or backwards."""

    predicate: Iri
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    """One path after the other."""

    parts: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """Any of the paths."""

    parts: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A path again and again: not at all (unless `once`), once, or, if `unbounded`, more often."""

    path: Path
    once: bool
    unbounded: bool


Path: TypeAlias = Step | Sequence | Alternative | Repeat


class Stepper(Protocol):
    """Takes one step from a node."""

    def __call__(self, predicate: Iri, node: Term, *, inverse: bool) -> Iterable[Term]:
        """The nodes that the step leads to."""
        ...


def inverted(path: Path) -> Path:
    """The path that leads back."""
    match path:
        case Step(predicate, inverse):
            return Step(predicate, not inverse)
        case Sequence(parts):
            return Sequence(tuple(map(inverted, reversed(parts))))
        case Alternative(parts):
            return Alternative(tuple(map(inverted, parts)))
        case Repeat(inner, once, unbounded):
            return Repeat(inverted(inner), once, unbounded)


def predicates(path: Path) -> set[Iri]:
    """Every predicate that a path follows."""
    match path:
        case Step(predicate):
            return {predicate}
        case Sequence(parts) | Alternative(parts):
            return set().union(*map(predicates, parts))
        case Repeat(inner):
            return predicates(inner)


def replaced(path: Path, by: Mapping[Iri, Iri]) -> Path:
    """The path with other predicates in the place of some."""
    match path:
        case Step(predicate, inverse):
            return Step(by.get(predicate, predicate), inverse)
        case Sequence(parts):
            return Sequence(tuple(replaced(part, by) for part in parts))
        case Alternative(parts):
            return Alternative(tuple(replaced(part, by) for part in parts))
        case Repeat(inner, once, unbounded):
            return Repeat(replaced(inner, by), once, unbounded)


def text(path: Path) -> str:
    """The path as SPARQL writes it; a single predicate is its N-Triples form."""
    match path:
        case Step(predicate, inverse):
            return f"^{predicate.n3}" if inverse else predicate.n3
        case Sequence(parts):
            return "/".join(f"({text(part)})" if isinstance(part, Sequence) else text(part) for part in parts)
        case Alternative(parts):
            return f"({'|'.join(map(text, parts))})"
        case Repeat(inner, once, unbounded):
            mark = ("+" if once else "*") if unbounded else "?"
            return f"({text(inner)}){mark}"


def levels(path: Path) -> int:
    """How deep its parts lie inside one another; each level of repetition may double the work of following it."""
    match path:
        case Step():
            return 0
        case Sequence(parts) | Alternative(parts):
            return 1 + max(map(levels, parts), default=0)
        case Repeat(inner):
            return 1 + levels(inner)


def is_nullable(path: Path) -> bool:
    """Whether a path may lead from a node to itself in no step at all."""
    match path:
        case Step():
            return False
        case Sequence(parts):
            return all(map(is_nullable, parts))
        case Alternative(parts):
            return any(map(is_nullable, parts))
        case Repeat(inner, once):
            return not once or is_nullable(inner)


def reach(path: Path, nodes: Iterable[Term], step: Stepper) -> set[Term]:
    """The nodes that a path leads to from any of the nodes."""
    match path:
        case Step(predicate, inverse):
            return {found for node in nodes for found in step(predicate, node, inverse=inverse)}
        case Sequence(parts):
            reached = set(nodes)
            for part in parts:
                reached = reach(part, reached, step)
            return reached
        case Alternative(parts):
            starts = set(nodes)
            return set().union(*(reach(part, starts, step) for part in parts))
        case Repeat(inner, once, unbounded):
            starts = set(nodes)
            found = set() if once else set(starts)
            frontier = reach(inner, starts, step)
            while frontier - found:
                frontier -= found
                found |= frontier
                frontier = reach(inner, frontier, step) if unbounded else set()
            return found


def sources(path: Path, triples: Collection[Triple], step: Stepper) -> set[Term]:
    """The nodes from which following the path may use one of the statements.

    Of many statements together that takes hardly more than of one, where their ways back run together.
    """
    match path:
        case Step(predicate, inverse):
            end = 2 if inverse else 0
            return {triple[end] for triple in triples if predicate in (ANY, triple[1])}
        case Sequence(parts):
            found: set[Term] = set()
            for number, part in enumerate(parts):
                before = Sequence(parts[:number])
                found |= reach(inverted(before), sources(part, triples, step), step)
            return found
        case Alternative(parts):
            return set().union(*(sources(part, triples, step) for part in parts))
        case Repeat(inner, _, unbounded):
            starts = sources(inner, triples, step)
            return reach(Repeat(inverted(inner), once=False, unbounded=True), starts, step) if unbounded else starts


# --- reading ----------------------------------------------------------------------------------------------------------

_INVERSE: Final = sh("inversePath")
_ALTERNATIVE: Final = sh("alternativePath")
_REPEATS: Final = {
    sh("zeroOrMorePath"): (False, True),
    sh("oneOrMorePath"): (True, True),
    sh("zeroOrOnePath"): (False, False),
}
_KINDS: Final = frozenset({_INVERSE, _ALTERNATIVE, *_REPEATS})


def read_path(document: ShapesDocument, node: Term) -> Path | str:
    """The path that a node of a shapes graph describes, or why it describes none."""
    return _Reader(document).read(node, ())


class _Reader:
    """Reads one path, and counts its parts: shared parts could unfold beyond all measure."""

    def __init__(self, document: ShapesDocument) -> None:
        self._document = document
        self._left = LARGEST

    def read(self, node: Term, above: tuple[Term, ...]) -> Path | str:
        if not isinstance(node, Iri):
            return f"{node.n3} is no path: give an IRI or a blank node"
        self._left -= 1
        if self._left < 0:
            return f"the path has more than {LARGEST} parts"
        if node in above:
            return f"the path contains itself at {node.n3}"
        if not is_blank(node):
            return Step(node)
        described = self._document.described(node)
        kinds = [kind for kind in described if kind in _KINDS]
        if RDF_FIRST in described:
            # A list of paths is a sequence path, whatever else is said of its first node (SHACL section 2.3.1.2); what
            # is said of the other kinds is all that is said (2.3.1.3 to 2.3.1.7), so that it is none of them.
            sequence = self._parts(node, (*above, node), Sequence)
            if not isinstance(sequence, str) or not kinds:
                return sequence
        if len(kinds) != 1 or RDF_FIRST in described or len(described[kinds[0]]) != 1:
            return f"{node.n3} is not exactly one kind of path"
        return self._special(kinds[0], described[kinds[0]][0], (*above, node))

    def _special(self, kind: Iri, value: Term, above: tuple[Term, ...]) -> Path | str:
        if kind == _ALTERNATIVE:
            return self._parts(value, above, Alternative)
        inner = self.read(value, above)
        if isinstance(inner, str):
            return inner
        return inverted(inner) if kind == _INVERSE else Repeat(inner, *_REPEATS[kind])

    def _parts(self, head: Term, above: tuple[Term, ...], kind: type[Sequence | Alternative]) -> Path | str:
        items = self._document.items(head)
        if items is None or len(items) < 2:
            return f"{head.n3} is no list of at least two paths"
        parts: list[Path] = []
        for item in items:
            part = self.read(item, above)
            if isinstance(part, str):
                return part
            parts.append(part)
        return kind(tuple(parts))
