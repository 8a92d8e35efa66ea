"""The slice of a moment that a query is answered from, read from the ledger's indexes.

Rules
-----
* A pattern is read from an end that is known: a term of the query, or what patterns before it have left of a variable.
  The one with the fewest facts to look at comes first; how many that are is counted in the indexes, up to a bound.
* A path is followed step by step, and all it comes by is read.
* No more than `MOST` facts and look-ups in all, and `LARGEST` characters: a query that would need more is given up, and
  takes a snapshot. Facts of every time count, for all of them are looked at.
* Only graphs of the dataset are read, so that neither what is read nor how much it is tells of any other.
* That something is in a slice says nothing: the query decides. That something is missing would, and so all that can be
  part of a solution is in it.

Example
-------
::

    with ledger.reading() as view:
        quads = slice_of(view, "SELECT ?n { <urn:a> <urn:knows>/<urn:name> ?n }", dataset, as_of, valid_at)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from bridge.shapes.paths import Step, inverted, reach
from bridge.slices.patterns import blocks_of
from bridge.sparql.algebra import Variable
from kernel.terms import Iri, Literal, TripleTerm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.shapes.paths import Path
    from bridge.slices.patterns import Block, Pattern
    from bridge.sparql.algebra import Node
    from bridge.sparql.dataset import Dataset
    from kernel.ports.ledger import LedgerView
    from kernel.terms import Statement, Term
    from kernel.time.instants import Instant

MOST: Final = 4_000
"""Facts and look-ups: some 40 ms at most, a fraction of what the smallest of snapshots takes that has as many facts."""

LARGEST: Final = 4 * 2**20
"""Characters of what is read."""

MANY_GRAPHS: Final = 16
"""Above as many, whoever may read all of them is not asked which: each is a look-up of its own."""

_OF_A_VALUE: Final = 4
"""Facts that a node is taken to have, where it is not worth counting."""

_OF_A_PATH: Final = 50


class _TooMuchError(Exception):
    """A slice is not enough, or would be no slice."""


def slice_of(
    view: LedgerView, text: str, dataset: Dataset, as_of: Instant, valid_at: Instant, base: str | None = None
) -> bytes | None:
    """What a query is to be run on instead of all that held at a moment, in N-Quads; None: it takes all of it.

    Args:
        view: the ledger.
        text: the query.
        dataset: what its caller may read; without history graphs, which no slice has.
        as_of: as believed when.
        valid_at: as true when.
        base: what its relative IRIs are relative to where it has no BASE.

    Raises:
        LedgerUnavailable: the ledger cannot be read.
    """
    blocks = None if dataset.history else blocks_of(text, base)
    if blocks is None:
        return None
    slicer = _Slicer(view, dataset, as_of, valid_at)
    try:
        for block in blocks:
            slicer.read(block)
    except _TooMuchError:
        return None
    return slicer.quads()


_Known: TypeAlias = "dict[str, frozenset[Term]]"
"""The values that variables can have."""

_Counted: TypeAlias = "dict[tuple[Pattern, bool], int]"


class _Slicer:
    """Reads one slice. Every method raises `_TooMuchError`."""

    def __init__(self, view: LedgerView, dataset: Dataset, as_of: Instant, valid_at: Instant) -> None:
        self._view = view
        self._dataset = dataset
        self._as_of = as_of
        self._valid_at = valid_at
        self._left = MOST
        self._room = LARGEST
        self._found: dict[Statement, None] = {}

    def quads(self) -> bytes:
        """What was read."""
        return "".join(f"{' '.join(term.n3 for term in _terms(each))} .\n" for each in self._found).encode()

    def read(self, block: Block) -> None:
        """Reads all that can be part of a solution of a block."""
        known: _Known = {}
        for name, values in block.values:
            known[name] = known.get(name, values) & values
        waiting = list(block.patterns)
        counted: _Counted = {}
        while waiting:
            pattern, as_object = self._next(waiting, known, counted)
            waiting.remove(pattern)
            if isinstance(pattern.path, Step | Variable):
                self._read(pattern, known, as_object=as_object)
            else:
                self._follow(pattern, pattern.path, known, as_object=as_object)

    def _next(self, waiting: list[Pattern], known: _Known, counted: _Counted) -> tuple[Pattern, bool]:
        """The pattern that is read with the fewest facts, and whether from its object on."""
        ways = [
            (pattern, as_object)
            for pattern in waiting
            for as_object, end in enumerate((pattern.subject, pattern.value))
            if _values(end, known) is not None
        ]
        if not ways:
            raise _TooMuchError
        chosen = ways[0] if len(ways) == 1 else min(ways, key=lambda way: self._cost(way, known, counted))
        return chosen[0], bool(chosen[1])

    def _cost(self, way: tuple[Pattern, int], known: _Known, counted: _Counted) -> int:
        """About how many facts are to be looked at."""
        pattern, as_object = way
        end = pattern.value if as_object else pattern.subject
        if isinstance(end, Variable):
            return len(known[end.name]) * _OF_A_VALUE
        if not isinstance(pattern.path, Step | Variable):
            return _OF_A_PATH
        key = pattern, bool(as_object)
        if key not in counted:
            counted[key] = self._view.count_of(
                end,
                as_object=bool(as_object),
                predicate=_predicate(pattern),
                graphs=self._named(self._graphs(pattern.graph, {})),
                most=self._left,
            )
        return counted[key]

    def _read(self, pattern: Pattern, known: _Known, *, as_object: bool) -> None:
        """Reads a triple pattern from one of its ends, and keeps what is left of its variables."""
        nodes = _values(pattern.value if as_object else pattern.subject, known) or ()
        graphs = self._graphs(pattern.graph, known)
        parts = (pattern.subject, pattern.path, pattern.value, pattern.graph)
        wanted = [
            _values(part, known) if isinstance(part, Variable | Iri | Literal | TripleTerm) else None for part in parts
        ]
        read = [
            each
            for node in nodes
            for each in self._of(node, _predicate(pattern), graphs, as_object=as_object)
            if all(values is None or term in values for values, term in zip(wanted, _terms(each), strict=True))
        ]
        self._found.update(dict.fromkeys(read))
        for place, part in enumerate(parts):
            if isinstance(part, Variable):
                known[part.name] = frozenset(_terms(each)[place] for each in read)

    def _follow(self, pattern: Pattern, path: Path, known: _Known, *, as_object: bool) -> None:
        """Reads a path from one of its ends, with all that it comes by."""
        start, end = (pattern.value, pattern.subject) if as_object else (pattern.subject, pattern.value)
        graphs = self._graphs(pattern.graph, known)

        def step(predicate: Iri, node: Term, *, inverse: bool) -> list[Term]:
            read = self._of(node, predicate, graphs, as_object=inverse)
            self._found.update(dict.fromkeys(read))
            return [each.subject if inverse else each.object for each in read]

        reached = frozenset(reach(inverted(path) if as_object else path, _values(start, known) or (), step))
        if isinstance(end, Variable):
            known[end.name] = known.get(end.name, reached) & reached

    def _of(self, node: Term, predicate: Iri | None, graphs: Sequence[Iri], *, as_object: bool) -> list[Statement]:
        """What held of a node in some graphs of the dataset."""
        if not graphs or not (as_object or isinstance(node, Iri)):
            return []
        named = self._named(graphs)
        looked, found = self._view.statements_of(
            node,
            as_object=as_object,
            predicate=predicate,
            graphs=named,
            as_of=self._as_of,
            valid_at=self._valid_at,
            most=self._left,
            largest=self._room,
        )
        self._room -= sum(len(term.n3) for each in found for term in _terms(each))
        self._left -= looked + 1
        if self._left < 0:
            raise _TooMuchError
        return found if named is not None else [each for each in found if each.graph in graphs]

    def _graphs(self, name: Node | None, known: _Known) -> Sequence[Iri]:
        """The graphs of the dataset that a pattern is looked for in."""
        if name is None:
            return self._dataset.default_graphs
        values = _values(name, known)
        return [each for each in self._dataset.named_graphs if values is None or each in values]

    def _named(self, graphs: Sequence[Iri]) -> Sequence[Iri] | None:
        """The graphs to name to the ledger; None for all, where that is as good."""
        return None if self._dataset.union and len(graphs) > MANY_GRAPHS else graphs


def _values(end: Node, known: _Known) -> frozenset[Term] | None:
    """What a part of a pattern can be; None for anything."""
    return known.get(end.name) if isinstance(end, Variable) else frozenset((end,))


def _predicate(pattern: Pattern) -> Iri | None:
    return pattern.path.predicate if isinstance(pattern.path, Step) else None


def _terms(statement: Statement) -> tuple[Term, Term, Term, Term]:
    return statement.subject, statement.predicate, statement.object, statement.graph
