"""Merkle tree hashing as RFC 9162 section 2.1.1 has it.

Rules
-----
* A leaf is SHA-256(0x00 ‖ data), a node SHA-256(0x01 ‖ left ‖ right), so that neither can pass for the other.
* The root of no leaves is SHA-256 of nothing; of one leaf, that leaf; of n leaves, the node over the first k and the
  rest, where k is the largest power of two below n. Pairing neighbours level by level, an odd one out rising as it is,
  gives the same root.
* Trees are built over leaf hashes, not over data: a purged item leaves its hash, and the root stays.

Example
-------
>>> tree_root([leaf_hash(b"a"), leaf_hash(b"b")]) == node_hash(leaf_hash(b"a"), leaf_hash(b"b"))
True
>>> tree_root([]).hex()[:16]
'e3b0c44298fc1c14'
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

HASH_SIZE: Final = 32
"""Bytes of a leaf hash, a node hash and a root."""

EMPTY_ROOT: Final = sha256(b"").digest()
"""The root of the tree without leaves."""


def leaf_hash(data: bytes) -> bytes:
    """The 32-byte hash of a leaf's data."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The 32-byte hash of an inner node over the hashes of its two children."""
    return sha256(b"\x01" + left + right).digest()


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """The root over `leaves`, which are leaf hashes in their order; O(n).

    Raises:
        ValueError: a leaf is not a 32-byte hash.
    """
    if not leaves:
        return EMPTY_ROOT
    if set(map(len, leaves)) != {HASH_SIZE}:
        raise ValueError("tree_root takes leaf hashes of 32 bytes each; hash the data with leaf_hash first")
    level: Sequence[bytes] = leaves
    while len(level) > 1:
        level = _parents(level)
    return level[0]


def nodes_over(level: Sequence[bytes]) -> list[bytes]:
    """`node_hash` of each pair of neighbours (written out: this is the loop that a bulk load waits for)."""
    pairs = zip(level[::2], level[1::2], strict=False)
    return [sha256(b"\x01" + left + right).digest() for left, right in pairs]


def _parents(level: Sequence[bytes]) -> list[bytes]:
    """The level above, to which an odd one out rises as it is."""
    above = nodes_over(level)
    if len(level) % 2:
        above.append(level[-1])
    return above
