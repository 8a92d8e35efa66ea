"""Proofs about a Merkle tree: that it holds a leaf, and that a larger one begins with it (RFC 9162, section 2.1).

Rules
-----
* A proof is a list of hashes. Who verifies one needs it, the positions, and the roots, and nothing else of the tree.
* Whoever makes one gives the hashes of perfect subtrees: `node(level, index)` is the root over the 2^level leaves from
  index · 2^level on. Any run of leaves in question is put together from a logarithmic number of those.
* A proof that is too short, too long or for other positions does not verify; nothing of it is taken on trust.

Example
-------
>>> from certificates.merkle import leaf_hash
>>> leaves = [leaf_hash(bytes([number])) for number in range(7)]
>>> node = Perfect(leaves)
>>> proof = inclusion(3, 7, node)
>>> includes(leaves[3], 3, 7, proof, tree_root(leaves)), includes(leaves[3], 2, 7, proof, tree_root(leaves))
(True, False)
>>> extends(4, 7, tree_root(leaves[:4]), tree_root(leaves), consistency(4, 7, node))
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hmac import compare_digest

from certificates.merkle import EMPTY_ROOT, node_hash, tree_root

Node = Callable[[int, int], bytes]
"""The hash of a perfect subtree, by its level and its index among those of the level."""


class Perfect:
    """Perfect subtrees of leaf hashes that are at hand."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self._leaves = leaves

    def __call__(self, level: int, index: int) -> bytes:
        """The root over the 2^level leaves from index · 2^level on."""
        return tree_root(self._leaves[index << level : (index + 1) << level])


def root(size: int, node: Node) -> bytes:
    """The root of the tree of the first `size` leaves (section 2.1.1)."""
    return _over(0, size, node) if size else EMPTY_ROOT


def inclusion(position: int, size: int, node: Node) -> list[bytes]:
    """The inclusion proof of the leaf at a position in the tree of the first `size` leaves (section 2.1.3.1).

    Raises:
        ValueError: the position is not below the size.
    """
    if not 0 <= position < size:
        raise ValueError(f"no leaf {position} in a tree of {size}")
    path: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if position < middle:
            path.append(_over(middle, end, node))
            end = middle
        else:
            path.append(_over(start, middle, node))
            start = middle
    return path[::-1]


def consistency(first: int, second: int, node: Node) -> list[bytes]:
    """The proof that the tree of `second` leaves begins with that of `first` (section 2.1.4.1).

    Raises:
        ValueError: not 0 < first ≤ second; of nothing, and of less, there is nothing to prove.
    """
    if not 0 < first <= second:
        raise ValueError(f"no proof from {first} to {second} leaves")
    path: list[bytes] = []
    start, end = 0, second
    while end > first:
        middle = start + _split(end - start)
        if first <= middle:
            path.append(_over(middle, end, node))
            end = middle
        else:
            path.append(_over(start, middle, node))
            start = middle
    if start:
        path.append(_over(start, end, node))
    return path[::-1]


def includes(leaf: bytes, position: int, size: int, proof: Sequence[bytes], expected: bytes) -> bool:
    """Whether a proof shows that the tree of `size` leaves with the expected root holds the leaf (section 2.1.3.2)."""
    if not 0 <= position < size:
        return False
    at, last, found = position, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return False
        if at & 1 or at == last:
            found = node_hash(sibling, found)
            at, last = _past_left_children(at, last)
        else:
            found = node_hash(found, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and compare_digest(found, expected)


def extends(first: int, second: int, before: bytes, after: bytes, proof: Sequence[bytes]) -> bool:
    """Whether a proof shows that the tree with root `after` begins with the one with root `before` (section 2.1.4.2).

    Of the empty tree every other is a continuation; a tree is one of itself. For both the proof is empty.
    """
    if not proof:
        return before == EMPTY_ROOT if first == 0 <= second else 0 < first == second and before == after
    if not 0 < first < second:
        return False
    path = [before, *proof] if first & (first - 1) == 0 else list(proof)
    at, last = _past_right_children(first - 1, second - 1)
    old = new = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            at, last = _past_left_children(at, last)
        else:
            new = node_hash(new, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and compare_digest(old, before) and compare_digest(new, after)


def _split(size: int) -> int:
    """The largest power of two below a size of two or more: how many leaves are in the left subtree."""
    return 1 << (size - 1).bit_length() - 1


def _over(start: int, end: int, node: Node) -> bytes:
    """The root over a run of leaves that is one of the subtrees of some tree: each subtree begins at its own size."""
    hashes: list[bytes] = []
    while start < end:
        level = (end - start).bit_length() - 1
        hashes.append(node(level, start >> level))
        start += 1 << level
    found = hashes.pop()
    while hashes:
        found = node_hash(hashes.pop(), found)
    return found


def _past_left_children(at: int, last: int) -> tuple[int, int]:
    """Up to where the node is a right child, or the first: in between an odd one out rises as it is."""
    while at and not at & 1:
        at, last = at >> 1, last >> 1
    return at, last


def _past_right_children(at: int, last: int) -> tuple[int, int]:
    """Up past the right children, which lie wholly in the older tree."""
    while at & 1:
        at, last = at >> 1, last >> 1
    return at, last
