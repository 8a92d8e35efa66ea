r"""Closures in a process of their own, each beside a store of what is asserted.

Rules
-----
* A closure is of some graphs of its store. A triple that stands in several of them is asserted until it stands in none.
* It is told what its store gains and loses, and says what is to be *shown* since and no more: what follows, and what
  stands in the graph that lies `beside` the others, which whoever asks of those does not see; but nothing that stands
  in one of those.
* Terms are as Oxigraph writes them, whichever way they come, so that a term is always the same text.

Example
-------
>>> from kernel.entailment.table import TYPE, Regime
>>> kinds, store = f"<urn:a> {TYPE} <urn:C> <urn:g> .", ox.Store()
>>> closures = Closures()
>>> axiom = "<urn:C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:D> <urn:g> .\n"
>>> closures.make("one", store, Regime.RDFS, ["urn:g"], None, (axiom + kinds).encode())
>>> closures.shown("one")
'<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:D> .\n'
>>> closures.follow("one", kinds.encode(), b"")
('<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:D> .\n', '')
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING, Final, TypeAlias

import pyoxigraph as ox

from bridge.entailment.asking import Arisen, Foreseen
from kernel.entailment.closure import Closure
from kernel.entailment.proofs import proof_of, told_of
from kernel.entailment.table import AUXILIARY, OWL, RDFS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bridge.entailment.asking import Placed
    from kernel.entailment.closure import Changed
    from kernel.entailment.index import Triple
    from kernel.entailment.joins import Step
    from kernel.entailment.proofs import Proved
    from kernel.entailment.table import Regime

_Delta: TypeAlias = "tuple[list[ox.Quad], list[ox.Quad]]"
"""What goes, and what comes."""

_OF_ITSELF: Final = frozenset(
    {f"<{RDFS}subClassOf>", f"<{RDFS}subPropertyOf>"}
    | {f"<{OWL}{name}>" for name in ("sameAs", "equivalentClass", "equivalentProperty")}
)

_TRIED: Final = 20
"""Statements of a plan that are left out one by one, to find to which of them an inconsistency owes itself."""

_OF_ITS_OWN: Final = 1 << 20
"""Terms that are remembered while a closure is made, so that each is kept once."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A closure, its store, the graphs of that which it is of, None being all of them, and the one that lies beside."""

    closure: Closure
    store: ox.Store
    graphs: frozenset[ox.NamedNode] | None
    beside: ox.NamedNode | None

    def is_premise(self, quad: ox.Quad) -> bool:
        """Whether a quad is in one of its graphs."""
        return self.graphs is None or quad.graph_name in self.graphs

    def is_asserted(self, quad: ox.Quad, *, beside: bool = True) -> bool:
        """Whether the triple of a quad stands in one of them; or in one other than that beside."""
        standing = self.store.quads_for_pattern(quad.subject, quad.predicate, quad.object)
        return any(self.is_premise(each) and (beside or each.graph_name != self.beside) for each in standing)

    def touched(self, delta: _Delta) -> dict[Triple, ox.Quad]:
        """The triples that may change with a delta, each with a quad of it."""
        quads = [quad for side in delta for quad in side if self.is_premise(quad)]
        return dict(zip(_triples(quads), quads, strict=True))

    def real(self, delta: _Delta) -> _Delta:
        """As much of a delta as is not so already, which is what has to be undone."""
        gone, come = delta
        return [each for each in gone if each in self.store], [each for each in come if each not in self.store]

    def change(self, delta: _Delta, touched: dict[Triple, ox.Quad]) -> Changed:
        """Has the store lose and gain quads, and the closure what that comes to. Raises `TooMuchFollowsError`."""
        gone, come = delta
        for quad in gone:
            self.store.remove(quad)
        self.store.extend(come)
        asserted = {triple: self.is_asserted(quad) for triple, quad in touched.items()}
        return self.closure.change(
            add=[triple for triple, is_so in asserted.items() if is_so],
            remove=[triple for triple, is_so in asserted.items() if not is_so],
        )

    def owing(self, come: Sequence[ox.Quad], arisen: Sequence[Step]) -> dict[frozenset[Triple], list[ox.Quad]]:
        """Which of the quads that came an inconsistency owes itself to: without any one of them it is not there.

        Of many, those alone are tried that are premises of one. Nothing is different afterwards.
        """
        tried = [quad for quad in come if self.is_premise(quad)] if arisen else []
        if len(tried) > _TRIED:
            premises = {premise for step in arisen for premise in told_of(self.closure, step)}
            tried = [quad for quad, triple in zip(tried, _triples(tried), strict=True) if triple in premises][:_TRIED]
        found: dict[frozenset[Triple], list[ox.Quad]] = {}
        for quad in sorted(tried, key=str):
            touched = self.touched(([quad], []))
            for step in self.change(([quad], []), touched).settled:
                found.setdefault(frozenset(step.premises), []).append(quad)
            self.change(([], [quad]), touched)
        return found

    def arisen(self, step: Step, owing: Mapping[frozenset[Triple], list[ox.Quad]]) -> Arisen:
        """An inconsistency as it is told; first comes what it is owed to, where that is a premise."""
        quads = owing.get(frozenset(step.premises), [])
        own, premises = {*_triples(quads)}, sorted(told_of(self.closure, step))
        facts = [each for each in premises if not self.closure.is_vocabulary(each)] or premises
        first = next((each for each in facts if each in own), facts[0])
        last = [each for each in (*premises, *facts) if each != first][-1:] or [first]
        return Arisen(
            rule=step.rule.name,
            premises=premises,
            statement=self.placed(first),
            against=self.placed(last[0]),
            owing=[f"{quad} ." for quad in quads],
        )

    def is_of(self, statements: set[Triple], step: Step) -> bool:
        """Whether statements are among the premises of a step, as these are told."""
        if any(each[1][0] == AUXILIARY for each in step.premises):
            return statements <= {*told_of(self.closure, step)}
        return statements.issubset(step.premises)

    def placed(self, triple: Triple) -> Placed:
        """A triple with the first graph that it stands in."""
        (quad,) = ox.parse(f"{' '.join(triple)} .", ox.RdfFormat.N_TRIPLES)
        standing = self.store.quads_for_pattern(quad.subject, quad.predicate, quad.object)
        return *triple, min((str(each.graph_name) for each in standing if self.is_premise(each)), default=None)

    def is_shown(self, triple: Triple, quad: ox.Quad) -> bool:
        """Whether a triple, that of a quad, is to be shown."""
        return triple in self.closure and not self.is_asserted(quad, beside=False)


class Closures:
    """Some closures, by name."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    def make(
        self,
        name: str,
        store: ox.Store,
        regime: Regime,
        graphs: Sequence[str] | None,
        beside: str | None,
        further: bytes = b"",
    ) -> None:
        """Makes a closure, in the place of the one of that name.

        Args:
            name: of it.
            store: of what is asserted, which is its own from now on.
            regime: by which rules.
            graphs: it is of these alone; None: of all that the store has.
            beside: the one of them that lies beside; None: there is none.
            further: what the store gains before, in N-Quads.

        Raises:
            TooMuchFollowsError: too much follows.
        """
        self._kept.pop(name, None)
        if further:
            store.bulk_load(further, ox.RdfFormat.N_QUADS)
        closure = Closure(regime)
        named = None if graphs is None else [*map(ox.NamedNode, graphs)]
        closure.change(add=_triples(_quads_of(store, named)))
        apart = None if beside is None else ox.NamedNode(beside)
        self._kept[name] = _Kept(closure, store, None if named is None else frozenset(named), apart)

    def forget(self, name: str) -> None:
        """Lets go of a closure."""
        self._kept.pop(name, None)

    def shown(self, name: str) -> str:
        """All that is to be shown, as N-Triples."""
        kept = self._kept[name]
        beside = [] if kept.beside is None else _quads_of(kept.store, [kept.beside])
        alone = _triples(quad for quad in beside if not kept.is_asserted(quad, beside=False))
        return _text(kept.closure.inferred) + _text(alone)

    def follow(self, name: str, removed: bytes, added: bytes) -> tuple[str, str]:
        """Has what is asserted lose and gain quads; answers what is shown no more and what is since, as N-Triples.

        Raises:
            TooMuchFollowsError: what is there then is of no use any more.
        """
        kept, delta = self._kept[name], _parsed(removed, added)
        touched = kept.touched(delta)
        before = {triple: kept.is_shown(triple, quad) for triple, quad in touched.items()}
        changed = kept.change(delta, touched)
        after = {triple: kept.is_shown(triple, quad) for triple, quad in touched.items()}
        return (
            _text(_either(changed.removed, before, after)),
            _text(_either(changed.added, after, before)),
        )

    def foresee(self, name: str, before: tuple[bytes, bytes], plan: tuple[bytes, bytes], most: int) -> Foreseen:
        """What a plan would lead to, after what was accepted before it. Nothing is different afterwards.

        Args:
            name: of the closure.
            before: what goes and what comes before the plan, in N-Quads.
            plan: the same of the plan.
            most: how many examples of each kind are told.

        Raises:
            TooMuchFollowsError: what is there then is of no use any more.
        """
        kept = self._kept[name]
        first, second = kept.real(_parsed(*before)), _parsed(*plan)
        kept.change(first, kept.touched(first))
        second = kept.real(second)
        touched = kept.touched(second)
        held = {triple for triple in touched if triple in kept.closure}
        changed = kept.change(second, touched)
        follows = [each for each in changed.added if each not in held and not _is_trivial(each)]
        ceases = [each for each in changed.removed if each not in kept.closure and not _is_trivial(each)]
        owing = kept.owing(second[1], changed.arisen)
        arisen = [kept.arisen(step, owing) for step in changed.arisen]
        told = Foreseen(
            follows=len(follows),
            ceases=len(ceases),
            gained=nsmallest(most, follows),
            lost=nsmallest(most, ceases),
            inconsistencies=len(arisen),
            arisen=nsmallest(most, arisen, key=lambda each: (each["rule"], each["premises"])),
            schema=any(map(kept.closure.is_vocabulary, touched)),
        )
        for gone, come in (second, first):
            kept.change((come, gone), kept.touched((come, gone)))
        return told

    def clashing(self, name: str, pairs: Sequence[Sequence[str]]) -> list[bool]:
        """Of pairs of statements, in N-Triples, whether both are premises of one inconsistency that there is."""
        kept = self._kept[name]
        wanted = [{*_triples(ox.parse("\n".join(pair), ox.RdfFormat.N_TRIPLES))} for pair in pairs]
        return [any(kept.is_of(pair, step) for step in kept.closure.inconsistencies) for pair in wanted]

    def proof(self, name: str, statement: bytes, most: int) -> list[Proved]:
        """How a statement follows (`kernel.entailment.proofs`); empty: it does not hold."""
        (quad,) = ox.parse(statement, ox.RdfFormat.N_QUADS)
        (triple,) = _triples([quad])
        return proof_of(self._kept[name].closure, triple, most)


def _quads_of(store: ox.Store, graphs: Sequence[ox.NamedNode] | None) -> Iterator[ox.Quad]:
    if graphs is None:
        yield from store
        return
    for graph in graphs:
        yield from store.quads_for_pattern(None, None, None, graph)


def _triples(quads: Iterable[ox.Quad | ox.Triple]) -> Iterator[Triple]:
    known: dict[str, str] = {}
    for quad in quads:
        one, two, three = str(quad.subject), str(quad.predicate), str(quad.object)
        if len(known) > _OF_ITS_OWN:
            known.clear()
        yield known.setdefault(one, one), known.setdefault(two, two), known.setdefault(three, three)


def _either(others: Iterable[Triple], there: dict[Triple, bool], not_there: dict[Triple, bool]) -> Iterator[Triple]:
    """Of the triples that were touched those that are shown here and not there; and all others."""
    yield from (each for each in others if each not in there)
    yield from (triple for triple, shown in there.items() if shown and not not_there[triple])


def _parsed(removed: bytes, added: bytes) -> _Delta:
    gone, come = ([*ox.parse(text, ox.RdfFormat.N_QUADS)] for text in (removed, added))
    return gone, come


def _is_trivial(triple: Triple) -> bool:
    """Whether it says that something is itself, or below itself, which is true of everything."""
    return triple[0] == triple[2] and triple[1] in _OF_ITSELF


def _text(triples: Iterable[Triple]) -> str:
    return "".join(f"{' '.join(each)} .\n" for each in triples)
