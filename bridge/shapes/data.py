"""A data graph that holds throughout one slice of time, indexed the ways that shapes follow it.

Rules
-----
* A literal is kept as the term that is stored, with the spellings that it was submitted in beside it: sets, counts and
  comparisons go by the term, whatever looks at how a literal is written goes by each spelling.
* A predicate is indexed backwards when it is first followed backwards.
* The slice begins at an instant; what no slice is cut from, such as files, is judged by shapes whenever they apply.
* What reifies a statement (RDF 1.2 Concepts, section 1.5) is described in the data itself, or in data of its own:
  evidence is not data of the base, and only shapes of evidence look at it.
* Value nodes carry the spellings of the statements by which they were reached, and of no others.

Example
-------
>>> ann, knows, bob = Iri("urn:ann"), Iri("urn:knows"), Iri("urn:bob")
>>> list(Data({(ann, knows, bob): ()}).follow(Step(knows), {ann: ()}))
[Iri(value='urn:bob')]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from bridge.shapes.paths import Alternative, Repeat, Sequence, Step
from bridge.shapes.sparql.patience import ENDLESS
from bridge.shapes.vocabulary import RDF_REIFIES, RDF_TYPE, SUBCLASS_OF
from kernel.terms import Iri, Literal, Term, TripleTerm
from kernel.time.instants import FOREVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bridge.shapes.document import Triple
    from bridge.shapes.paths import Path
    from bridge.shapes.sparql.patience import Patience

Spellings: TypeAlias = tuple[Literal, ...]
"""The ways in which a literal was written; none for what is no literal."""

Nodes: TypeAlias = dict[Term, Spellings]
"""Nodes of the data graph, each with its spellings."""

_NONE: Nodes = {}


class Data:
    """What holds.

    Args:
        triples: the statements, each with the spellings of its literal.
        at: an instant of the slice.
        evidence: where what reifies the statements is described; None: among them.
        patience: of whoever waits while it is judged.

    Attributes:
        at: the same.
        patience: the same.
    """

    def __init__(
        self,
        triples: Mapping[Triple, Spellings],
        at: int = FOREVER,
        evidence: Data | None = None,
        patience: Patience = ENDLESS,
    ) -> None:
        self.at = at
        self.patience = patience
        self._evidence = evidence
        self._outgoing: dict[Iri, dict[Iri, Nodes]] = {}
        self._incoming: dict[Iri, dict[Term, Nodes]] = {}
        self._above: dict[Term, frozenset[Term]] = {}
        self._towards: dict[Term, list[Triple]] | None = None
        outgoing = self._outgoing
        for (subject, predicate, value), spellings in triples.items():
            outgoing.setdefault(subject, {}).setdefault(predicate, {})[value] = spellings

    def add(self, triple: Triple, spellings: Spellings) -> None:
        """One more statement; of one that is there already, more spellings."""
        subject, predicate, value = triple
        values = self._outgoing.setdefault(subject, {}).setdefault(predicate, {})
        known = values.get(value)
        values[value] = spellings if known is None else _merged(known, spellings)
        self._incoming.pop(predicate, None)
        self._towards = None
        if predicate == SUBCLASS_OF:
            self._above.clear()

    def __len__(self) -> int:
        """How many statements there are."""
        return sum(len(values) for described in self._outgoing.values() for values in described.values())

    def items(self) -> Iterator[tuple[Triple, Spellings]]:
        """Every statement, with its spellings."""
        for subject, described in self._outgoing.items():
            for predicate, values in described.items():
                for value, spellings in values.items():
                    yield (subject, predicate, value), spellings

    def outgoing(self, subject: Term) -> Mapping[Iri, Nodes]:
        """What is said of a node, by predicate."""
        return self._outgoing.get(subject, {}) if isinstance(subject, Iri) else {}

    def described(self, subject: Term) -> Iterator[Triple]:
        """The statements about a node."""
        if isinstance(subject, Iri):
            for predicate, values in self.outgoing(subject).items():
                for value in values:
                    yield subject, predicate, value

    def incoming(self, value: Term) -> Iterable[Triple]:
        """The statements that have a node for their object."""
        if self._towards is None:
            self._towards = {}
            for subject, described in self._outgoing.items():
                for predicate, values in described.items():
                    for each in values:
                        self._towards.setdefault(each, []).append((subject, predicate, each))
        return self._towards.get(value, ())

    def objects(self, subject: Term, predicate: Iri) -> Nodes:
        """The values of a predicate at a node."""
        described = self._outgoing.get(subject) if isinstance(subject, Iri) else None
        return described.get(predicate, _NONE) if described is not None else _NONE

    def subjects(self, predicate: Iri, value: Term) -> Nodes:
        """The nodes that have a value of a predicate."""
        incoming = self._incoming.get(predicate)
        if incoming is None:
            incoming = self._incoming[predicate] = self._backwards(predicate)
        return incoming.get(value, _NONE)

    @property
    def evidence(self) -> Data:
        """Where what reifies the statements is described."""
        return self if self._evidence is None else self._evidence

    def reifiers(self, subject: Term, predicate: Iri, value: Term) -> Nodes:
        """The nodes that reify a statement; they are described in `evidence`."""
        if not isinstance(subject, Iri):
            return _NONE
        return self.evidence.subjects(RDF_REIFIES, TripleTerm(subject, predicate, value))

    def subjects_of(self, predicate: Iri) -> Nodes:
        """The nodes that have any value of a predicate; looks at every node."""
        return {node: () for node, described in self._outgoing.items() if predicate in described}

    def objects_of(self, predicate: Iri) -> Nodes:
        """The values that any node has of a predicate; looks at every node."""
        return together(described[predicate] for described in self._outgoing.values() if predicate in described)

    def is_instance(self, node: Term, of: Iri) -> bool:
        """Whether a node is an instance of a class (SHACL section 1.1: types, and all above them)."""
        types = self.objects(node, RDF_TYPE)
        return of in types or any(of in self._superclasses(each) for each in types)

    def _superclasses(self, of: Term) -> frozenset[Term]:
        above = self._above.get(of)
        if above is None:
            above = self._above[of] = frozenset(self.follow(_ABOVE, {of: ()}))
        return above

    def follow(self, path: Path, nodes: Nodes) -> Nodes:
        """The nodes that a path leads to from any of the nodes (SHACL section 2.3.1); not to be written to."""
        match path:
            case Step(predicate, inverse):
                step = self._backward if inverse else self._forward
                if len(nodes) == 1:
                    return step(predicate, next(iter(nodes)))
                return together(step(predicate, node) for node in nodes)
            case Sequence(parts):
                for part in parts:
                    nodes = self.follow(part, nodes)
                return nodes
            case Alternative(parts):
                return together(self.follow(part, nodes) for part in parts)
            case Repeat():
                return self._repeat(path, nodes)

    def _repeat(self, path: Repeat, nodes: Nodes) -> Nodes:
        found = {} if path.once else dict(nodes)
        frontier = self.follow(path.path, nodes)
        if not frontier:
            return found
        while fresh := {node: spellings for node, spellings in frontier.items() if node not in found}:
            _add(found, frontier)
            frontier = self.follow(path.path, fresh) if path.unbounded else {}
        _add(found, frontier)
        return found

    def _backwards(self, predicate: Iri) -> dict[Term, Nodes]:
        found: dict[Term, Nodes] = {}
        for subject, described in self._outgoing.items():
            for value in described.get(predicate, _NONE):
                found.setdefault(value, {})[subject] = ()
        return found

    def _forward(self, predicate: Iri, node: Term) -> Nodes:
        return self.objects(node, predicate)

    def _backward(self, predicate: Iri, node: Term) -> Nodes:
        return self.subjects(predicate, node)


_ABOVE = Repeat(Step(SUBCLASS_OF), once=False, unbounded=True)


def together(several: Iterable[Mapping[Term, Spellings]]) -> Nodes:
    """All of the nodes; one that is reached in several ways has all their spellings."""
    found: Nodes = {}
    for nodes in several:
        _add(found, nodes)
    return found


def _add(found: Nodes, nodes: Mapping[Term, Spellings]) -> None:
    for node, spellings in nodes.items():
        known = found.get(node)
        found[node] = spellings if known is None or known == spellings else _merged(known, spellings)


def _merged(one: Spellings, other: Spellings) -> Spellings:
    return tuple(dict.fromkeys((*one, *other)))
