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
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from kernel.entailment.closure import Closure
from kernel.entailment.proofs import proof_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kernel.entailment.index import Triple
    from kernel.entailment.proofs import Proved
    from kernel.entailment.table import Regime

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
        kept = self._kept[name]
        gone, come = (list(ox.parse(text, ox.RdfFormat.N_QUADS)) for text in (removed, added))
        quads = [quad for quad in (*gone, *come) if kept.is_premise(quad)]
        touched = dict(zip(_triples(quads), quads, strict=True))
        before = {triple: kept.is_shown(triple, quad) for triple, quad in touched.items()}
        for quad in gone:
            kept.store.remove(quad)
        kept.store.extend(come)
        asserted = {triple: kept.is_asserted(quad) for triple, quad in touched.items()}
        changed = kept.closure.change(
            add=[triple for triple, is_so in asserted.items() if is_so],
            remove=[triple for triple, is_so in asserted.items() if not is_so],
        )
        after = {triple: kept.is_shown(triple, quad) for triple, quad in touched.items()}
        return (
            _text(_either(changed.removed, before, after)),
            _text(_either(changed.added, after, before)),
        )

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


def _triples(quads: Iterable[ox.Quad]) -> Iterator[Triple]:
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


def _text(triples: Iterable[Triple]) -> str:
    return "".join(f"{' '.join(each)} .\n" for each in triples)
