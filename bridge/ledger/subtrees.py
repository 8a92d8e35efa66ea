"""The log's Merkle tree in the ledger: the hashes that tiles are made of (C2SP tlog-tiles).

Rules
-----
* At level 0 stand the leaf hashes of events. Above it, each hash is that of a full tile of the level below: of 256
  leaves at level 1, of 256^2 at level 2. It is kept in the transaction of the event that fills the tile.
* So one event in 256 costs its 255 hashes, and no other costs anything.

Example
-------
::

    keep_full_subtrees(session, size)           # after each event
    hashes_of(session, 1, 0, 3)                 # the roots over leaves 0 to 255, 256 to 511, 512 to 767
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from certificates.merkle import tree_root
from certificates.tiles import WIDTH

if TYPE_CHECKING:
    from bridge.ledger.session import Session

_LEAVES: Final = "SELECT leaf FROM events WHERE position >= ? AND position < ? ORDER BY position"
_ROOTS: Final = "SELECT root FROM subtrees WHERE level = ? AND number >= ? AND number < ? ORDER BY number"


def keep_full_subtrees(session: Session, size: int) -> None:
    """Keeps the roots of the tiles that are full now that the log has `size` events."""
    level, count = 0, size
    while count and count % WIDTH == 0:
        root = tree_root(hashes_of(session, level, count - WIDTH, WIDTH))
        level, count = level + 1, count // WIDTH
        session.execute("INSERT INTO subtrees VALUES (?, ?, ?)", (level, count - 1, root))


def hashes_of(session: Session, level: int, first: int, count: int) -> list[bytes]:
    """So many hashes of a level, from the first given on."""
    if level:
        return session.all(_ROOTS, (level, first, first + count), _hash)
    return session.all(_LEAVES, (first, first + count), _hash)


def _hash(row: tuple[bytes]) -> bytes:
    return row[0]
