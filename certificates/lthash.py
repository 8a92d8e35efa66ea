"""The state digest: LtHash, a homomorphic hash of a set of facts.

Rules
-----
* The state is 1,024 lanes of 16 bits, all zero for no facts. A fact's element is SHAKE128(fact id ‖ leaf hash), 2,048
  bytes read as lanes in little-endian order; adding a fact adds its lanes modulo 2^16, removing it subtracts them. So
  the order does not matter, a removal undoes its addition, and a change costs what it changes.
* Parameters and security argument: Bellare and Micciancio, "A new paradigm for collision-free hashing: incrementality
  at reduced cost" (1997), and Lewi, Kim, Maykov and Weis, "Securing update propagation with homomorphic hashing"
  (2019).
* It is a hash of a multiset, taken over a set: who adds a fact twice, or removes one that is not there, gets a digest
  that no set of facts has. Keeping that discipline is the caller's part.
* A purged fact keeps its leaf hash, and so its element.

Example
-------
>>> fact, leaf = bytes(16), bytes(32)
>>> state = LatticeHash().add(fact, leaf)
>>> state.remove(fact, leaf) == LatticeHash()
True
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256, shake_128
from itertools import islice
from typing import Final, Self

STATE_SIZE: Final = 2048
"""Bytes of a state: 1,024 lanes of 16 bits."""

FACT_ID_SIZE: Final = 16
LEAF_SIZE: Final = 32

# All lanes live in one integer, lane i at bits 16i to 16i+15; these are the masks that keep carries inside a lane.
_TOP: Final = int.from_bytes(b"\x00\x80" * 1024, "little")
_REST: Final = int.from_bytes(b"\xff\x7f" * 1024, "little")
_EVEN: Final = int.from_bytes(b"\xff\xff\x00\x00" * 512, "little")
_BATCH: Final = 1 << 16  # as many 16-bit values as a 32-bit field sums without overflow

Member = tuple[bytes, bytes]
"""A fact as the digest sees it: its id (16 bytes) and its leaf hash (32 bytes)."""


@dataclass(frozen=True, slots=True)
class LatticeHash:
    """The digest of a set of facts, as a value: every change gives a new one. `LatticeHash()` is that of no facts."""

    _lanes: int = field(default=0, repr=False)

    def add(self, fact_id: bytes, leaf: bytes) -> Self:
        """The state with one more fact.

        Raises:
            ValueError: the id is not 16 bytes long, or the leaf hash not 32.
        """
        return type(self)(_plus(self._lanes, _element(fact_id, leaf)))

    def remove(self, fact_id: bytes, leaf: bytes) -> Self:
        """The state with one fact less, which must be in it; raises as `add` does."""
        return type(self)(_minus(self._lanes, _element(fact_id, leaf)))

    def add_many(self, members: Iterable[Member]) -> Self:
        """The state with all of `members` added; raises as `add` does."""
        return type(self)(_plus(self._lanes, _sum(members)))

    def remove_many(self, members: Iterable[Member]) -> Self:
        """The state with all of `members` removed, each of which must be in it; raises as `add` does."""
        return type(self)(_minus(self._lanes, _sum(members)))

    def digest(self) -> bytes:
        """SHA-256 of the state: what applied events name, and all that two states are compared by."""
        return sha256(self.to_bytes()).digest()

    def hexdigest(self) -> str:
        """`digest` as 64 lower-case hexadecimal digits."""
        return sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """The 2,048 bytes of the state, from which it can be continued."""
        return self._lanes.to_bytes(STATE_SIZE, "little")

    @classmethod
    def from_bytes(cls, state: bytes) -> Self:
        """The state that `to_bytes` gave.

        Raises:
            ValueError: `state` is not 2,048 bytes long.
        """
        if len(state) != STATE_SIZE:
            raise ValueError(f"a state has {STATE_SIZE} bytes, not {len(state)}")
        return cls(int.from_bytes(state, "little"))


def _element(fact_id: bytes, leaf: bytes) -> int:
    """The lanes of one fact; both lengths are fixed, so that no two facts share their concatenation."""
    if len(fact_id) != FACT_ID_SIZE or len(leaf) != LEAF_SIZE:
        raise ValueError(f"a fact id has {FACT_ID_SIZE} bytes and a leaf hash {LEAF_SIZE}")
    return int.from_bytes(shake_128(fact_id + leaf).digest(STATE_SIZE), "little")


def _plus(left: int, right: int) -> int:
    """Lane by lane, modulo 2^16: the low 15 bits are added, the top bit is added without its carry."""
    return (left & _REST) + (right & _REST) ^ (left ^ right) & _TOP


def _minus(left: int, right: int) -> int:
    """Lane by lane, modulo 2^16: a set top bit lends to the low 15 bits, then is put right."""
    return (left | _TOP) - (right & _REST) ^ (left ^ right ^ _TOP) & _TOP


def _sum(members: Iterable[Member]) -> int:
    """The lanes of all elements added up, in batches whose sums fit fields of 32 bits."""
    remaining = iter(members)
    lanes = 0
    while batch := list(islice(remaining, _BATCH)):
        lanes = _plus(lanes, _sum_batch(batch)) if lanes else _sum_batch(batch)
    return lanes


def _sum_batch(batch: list[Member]) -> int:
    """The plain sum lets lanes carry into their neighbours; what the even lanes sum to tells both apart again."""
    if len(batch) == 1:  # as with most writes
        return _element(*batch[0])
    total = even = 0
    for fact_id, leaf in batch:
        element = _element(fact_id, leaf)
        total += element
        even += element & _EVEN
    odd = total - even >> 16
    return even & _EVEN | (odd & _EVEN) << 16
