"""The items of a certificate beside their leaf hashes, and the root over these, in bounded memory.

Rules
-----
* A slot is one ordinal of one kind: its kept leaf hash, and salt and body where the item is still there. An item
  without leaf hash is a slot without one.
* Slots are read as they are asked for, and roots grow leaf by leaf: a load has as many as it has facts.

Example
-------
>>> from certificates.merkle import leaf_hash, tree_root
>>> leaves, tree = [leaf_hash(bytes([number])) for number in range(7)], RunningTree()
>>> for leaf in leaves:
...     tree.append(leaf)
>>> tree.root() == tree_root(leaves), tree.count
(True, 7)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from certificates.merkle import EMPTY_ROOT, HASH_SIZE, node_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.ledger.session import Session
    from certificates.items import ItemKind

R = TypeVar("R")

_ITEMS: Final = "SELECT ordinal, salt, body FROM items WHERE certificate = ? AND kind = ? ORDER BY ordinal"
_LEAVES: Final = "SELECT first, hashes FROM leaves WHERE certificate = ? AND kind = ? ORDER BY first"


class Item(NamedTuple):
    """An item as stored."""

    ordinal: int
    salt: bytes
    body: bytes


class Slot(NamedTuple):
    """One ordinal of one kind; an item without leaf hash has None for it, a leaf hash without item None for that."""

    ordinal: int
    leaf: bytes | None
    item: Item | None


def as_it_is(row: R) -> R:
    """A row, undecoded."""
    return row


def slots(session: Session, certificate: bytes, kind: ItemKind) -> Iterator[Slot]:
    """The slots of a certificate's items of one kind, by ordinal.

    Raises:
        LedgerUnavailable: the tables cannot be read.
        ValueError: the leaf hashes do not follow one another.
    """
    items = session.stream(_ITEMS, (certificate, kind.value), Item._make)
    item = next(items, None)
    for ordinal, leaf in enumerate(_leaves(session, certificate, kind)):
        while item is not None and item.ordinal < ordinal:
            yield Slot(item.ordinal, None, item)
            item = next(items, None)
        if item is not None and item.ordinal == ordinal:
            yield Slot(ordinal, leaf, item)
            item = next(items, None)
        else:
            yield Slot(ordinal, leaf, None)
    while item is not None:
        yield Slot(item.ordinal, None, item)
        item = next(items, None)


def _leaves(session: Session, certificate: bytes, kind: ItemKind) -> Iterator[bytes]:
    chunks: Iterator[tuple[int, bytes]] = session.stream(_LEAVES, (certificate, kind.value), as_it_is)
    following = 0
    for first, hashes in chunks:
        if first != following or len(hashes) % HASH_SIZE:
            raise ValueError(f"leaf hashes from {first} on follow those up to {following}")
        following += len(hashes) // HASH_SIZE
        for start in range(0, len(hashes), HASH_SIZE):
            yield hashes[start : start + HASH_SIZE]


class RunningTree:
    """An RFC 9162 tree that grows leaf by leaf and keeps only the roots of its full subtrees."""

    def __init__(self) -> None:
        self.count = 0
        self._full: list[bytes] = []

    def append(self, leaf: bytes) -> None:
        """Takes the next leaf hash: it completes as many subtrees as the count has trailing ones."""
        node, before = leaf, self.count
        while before & 1:
            node = node_hash(self._full.pop(), node)
            before >>= 1
        self._full.append(node)
        self.count += 1

    def root(self) -> bytes:
        """The root over the leaves so far (RFC 9162 section 2.1.1)."""
        if not self._full:
            return EMPTY_ROOT
        node = self._full[-1]
        for left in reversed(self._full[:-1]):
            node = node_hash(left, node)
        return node
