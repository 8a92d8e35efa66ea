"""Salted items: what a certificate commits to without holding it.

Rules
-----
* Each item of a plan, each finding, each impact row and each comment is canonical JSON beside a random salt of 128
  bits. Its leaf is the RFC 9162 leaf hash of salt ‖ body.
* The certificate holds only the count and the Merkle root of each kind's leaves. So an item can be shown to those who
  may see it and withheld from others, and can be purged with its salt: the leaf that stays tells nothing of what it
  was, and root and signature hold.
* Neither salt nor body appears in the `repr`: what may have to be purged must not reach a log.

Example
-------
>>> item, = salt_items(ItemKind.PLAN, [b'{"op":"assert"}'])
>>> ItemTree.of([item.leaf]).count
1
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self

from certificates.errors import InvalidValue
from certificates.fields import count, digest
from certificates.merkle import EMPTY_ROOT, leaf_hash, tree_root

SALT_SIZE: Final = 16
_EMPTY_ROOT_HEX: Final = EMPTY_ROOT.hex()


class ItemKind(StrEnum):
    """What an item belongs to."""

    PLAN = "plan"
    FINDING = "finding"
    IMPACT = "impact"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class SaltedItem:
    """One item.

    Attributes:
        kind: what it belongs to.
        ordinal: its place among the items of its kind in one certificate, from 0.
        salt: 16 random bytes.
        body: the item as canonical JSON.
        leaf: the 32-byte leaf hash that commits to it.
    """

    kind: ItemKind
    ordinal: int
    salt: bytes = field(repr=False)
    body: bytes = field(repr=False)
    leaf: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a salt of another length: with a fixed one, salt ‖ body can be read in one way only.

        The leaf is hashed here, once: a tree is made of it, and then it is kept.
        """
        if len(self.salt) != SALT_SIZE:
            raise InvalidValue(f"a salt of {len(self.salt)} bytes", remedy=f"use {SALT_SIZE} bytes", where="salt")
        if self.ordinal < 0:
            raise InvalidValue(f"ordinal {self.ordinal}", remedy="count from 0", where="ordinal")
        object.__setattr__(self, "leaf", leaf_hash(self.salt + self.body))


def salt_items(kind: ItemKind, bodies: Iterable[bytes], first_ordinal: int = 0) -> list[SaltedItem]:
    """The items with these bodies, each with a fresh salt, numbered from `first_ordinal` on."""
    listed = list(bodies)
    noise = os.urandom(SALT_SIZE * len(listed))
    return [
        SaltedItem(kind, first_ordinal + index, noise[index * SALT_SIZE : (index + 1) * SALT_SIZE], body)
        for index, body in enumerate(listed)
    ]


@dataclass(frozen=True, slots=True)
class ItemTree:
    """What a certificate says of its items of one kind.

    Attributes:
        count: how many there are.
        root: the Merkle root over their leaves in order of ordinal, in hexadecimal.
    """

    count: int
    root: str

    def __post_init__(self) -> None:
        """Refuse a count out of range, a root that is no digest, and a root that does not go with no items."""
        count(self.count, "count")
        digest(self.root, "root")
        if (self.count == 0) != (self.root == _EMPTY_ROOT_HEX):
            raise InvalidValue("count and root disagree", remedy="no items go with the empty root, and only they")

    @classmethod
    def of(cls, leaves: Sequence[bytes]) -> Self:
        """The tree over these leaf hashes, in their order."""
        return cls(len(leaves), tree_root(leaves).hex())
