"""Tombstones: keyed hashes of what was purged, so that it is not written again.

Rules
-----
* A tombstone stands for a statement, a node, an episode or a graph. It is HMAC-SHA256 (RFC 2104), under a key of the
  base's own, of its kind and its text: the canonical N-Quad, or the IRI. Whoever has the key can test a guess.
* A statement may not be written that has a tombstone, nor one in a graph that has one, nor one with a node that has
  one: as subject, predicate or object, as datatype, or within a triple term. An episode that has one may not be cited,
  nor a node that has one. Nor is a query registered whose text names a node, an episode or a graph that has one, in
  full as `<IRI>`, or that is asked of such a graph.
* Whatever is planned is held against all of them, before it is judged (`kernel.writing.judging`). What is refused is
  not quoted.

Example
-------
>>> from kernel.terms import Statement
>>> stones = Tombstones(bytes(32))
>>> stones.stand([(TombstoneKind.NODE, stones.hash_of(TombstoneKind.NODE, "urn:ann"))])
>>> s = Statement(Iri("urn:bob"), Iri("urn:knows"), Iri("urn:ann"), Iri("urn:g"))
>>> stones.cover(s), stones.cover(Statement(s.subject, s.predicate, Iri("urn:cyd"), s.graph))
(True, False)
"""

from __future__ import annotations

import hmac
import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from kernel.changes import Assert
from kernel.errors import WasPurged
from kernel.terms import Iri, Literal, TripleTerm
from kernel.vocabulary import QUERIES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kernel.terms import Statement, Term
    from kernel.writing.plan import Plan

KEY_SIZE: Final = 32
_NAMED: Final = re.compile(r"""<([^\x00-\x20<>"{}|^`\\]+)>""")
"""An IRI in the text of a query (SPARQL 1.1, production IRIREF)."""

_CHECKED: Final = b"muniment tombstones"


class TombstoneKind(StrEnum):
    """What a tombstone stands for."""

    STATEMENT = "statement"
    NODE = "node"
    EPISODE = "episode"
    GRAPH = "graph"


Stone: TypeAlias = tuple[TombstoneKind, bytes]
"""The kind and the 32 bytes of a tombstone."""


class Tombstones:
    """Those of one base.

    Args:
        key: 32 secret bytes.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_SIZE:
            raise ValueError(f"a key of {len(key)} bytes, and not {KEY_SIZE}")
        self._key = key
        self._standing: dict[TombstoneKind, frozenset[bytes]] = {}

    @property
    def check(self) -> bytes:
        """32 bytes that tell this key from any other, and nothing else of it."""
        return hmac.digest(self._key, _CHECKED, "sha256")

    def hash_of(self, kind: TombstoneKind, text: str) -> bytes:
        """The 32 bytes of the tombstone for an N-Quad, or an IRI."""
        return hmac.digest(self._key, f"{kind.value}\n{text}".encode(), "sha256")

    def stand(self, standing: Iterable[Stone]) -> None:
        """From now on these stand, and no others."""
        found: dict[TombstoneKind, set[bytes]] = {}
        for kind, stone in standing:
            found.setdefault(kind, set()).add(stone)
        self._standing = {kind: frozenset(stones) for kind, stones in found.items()}

    def missing(self, stones: Iterable[Stone]) -> list[Stone]:
        """Those that do not stand."""
        return sorted({(kind, stone) for kind, stone in stones if stone not in self._standing.get(kind, ())})

    def cover(self, statement: Statement) -> bool:
        """Whether the statement may not be written."""
        if not self._standing:
            return False
        return (
            self._has(TombstoneKind.STATEMENT, statement.nquad)
            or self._has(TombstoneKind.GRAPH, statement.graph.value)
            or (TombstoneKind.NODE in self._standing and self._names(statement))
            or (statement.graph == QUERIES_GRAPH and self._asks_of(statement.object))
        )

    def cover_source(self, episode: Iri) -> bool:
        """Whether the episode may not be cited."""
        return self._has(TombstoneKind.EPISODE, episode.value) or self._has(TombstoneKind.NODE, episode.value)

    def require_none(self, plan: Plan) -> None:
        """Raises `WasPurged` for a plan that would write, or cite, what has a tombstone."""
        if not self._standing:
            return
        for fact in plan.record:
            if self.cover(fact.statement):
                raise was_purged(_place(self, plan))
        cited = {item.episode for item in plan.evidence} | {plan.request.episode}
        if any(episode is not None and self.cover_source(episode) for episode in cited):
            raise was_purged("episode")

    def _asks_of(self, value: Term) -> bool:
        """Whether what a registered query is, or is asked of, names in full what has a tombstone."""
        texts = _NAMED.findall(value.lexical) if isinstance(value, Literal) else [iri.value for iri in iris_of(value)]
        kinds = (TombstoneKind.NODE, TombstoneKind.EPISODE, TombstoneKind.GRAPH)
        return any(self._has(kind, text) for text in texts for kind in kinds)

    def _names(self, statement: Statement) -> bool:
        terms = (statement.subject, statement.predicate, statement.object)
        return any(self._has(TombstoneKind.NODE, iri.value) for term in terms for iri in iris_of(term))

    def _has(self, kind: TombstoneKind, text: str) -> bool:
        stones = self._standing.get(kind)
        return stones is not None and self.hash_of(kind, text) in stones


def iris_of(term: Term) -> Iterator[Iri]:
    """The IRIs that a term names: itself, its datatype, or those of the triple that it quotes."""
    if isinstance(term, Iri):
        yield term
    elif isinstance(term, TripleTerm):
        for part in (term.subject, term.predicate, term.object):
            yield from iris_of(part)
    elif isinstance(term, Literal):
        yield Iri(term.datatype)


def was_purged(where: str | None) -> WasPurged:
    """The error for what may not be written."""
    return WasPurged(
        "it has what was purged here and must not exist",
        remedy="leave it out; an administrator can lift the tombstone",
        where=where,
    )


def _place(stones: Tombstones, plan: Plan) -> str | None:
    """Which of the changes asks for it, as far as that can be told."""
    for number, change in enumerate(plan.request.changes):
        if isinstance(change, Assert) and stones.cover(change.statement):
            return f"/changes/{number}"
    return None
