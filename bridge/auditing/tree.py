"""The log's tree: the hashes that are kept of it, and a checkpoint from elsewhere, against its leaves.

Rules
-----
* The kept root of each full subtree is that of its leaves; there is one for each, and none besides.
* A checkpoint that was kept outside of the base shows what the base cannot show of itself: that its end was cut off,
  or that it was replaced by an older state or another history.

Example
-------
::

    tree = TreeAudit(session, found, anchor)
    for leaf in leaves:
        tree.append(leaf)
    tree.look()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.auditing.slots import RunningTree, as_it_is
from certificates.merkle import tree_root
from certificates.tiles import WIDTH
from kernel.counting import counted

if TYPE_CHECKING:
    from bridge.auditing.faults import Faults
    from bridge.ledger.session import Session
    from certificates.checkpoints import Checkpoint

_KEPT: Final = "SELECT root FROM subtrees WHERE level = ? AND number = ?"
_COUNT: Final = "SELECT count(*) FROM subtrees"


class TreeAudit:
    """Takes the leaf hashes of the log in their order.

    Args:
        anchor: a checkpoint from outside, verified.
    """

    def __init__(self, session: Session, found: Faults, anchor: Checkpoint | None) -> None:
        self._session = session
        self._found = found
        self._anchor = anchor
        self._tree = RunningTree()
        self._open: list[list[bytes]] = [[]]
        self._full = 0
        self._meet_anchor()

    def append(self, leaf: bytes) -> None:
        """Takes the next leaf; looks at what it completes."""
        self._tree.append(leaf)
        self._meet_anchor()
        level, node = 0, leaf
        while True:
            self._open[level].append(node)
            if len(self._open[level]) < WIDTH:
                return
            node = tree_root(self._open[level])
            self._open[level] = []
            level += 1
            if level == len(self._open):
                self._open.append([])
            self._look_at(level, self._tree.count // WIDTH**level - 1, node)

    def look(self) -> None:
        """Looks at what can be told only once all leaves were taken."""
        with self._found.reading("subtrees"):
            stored: tuple[int] | None = self._session.one(_COUNT, (), as_it_is)
            if stored is not None and stored[0] > self._full:
                self._found.add("subtrees", f"holds {stored[0] - self._full} roots of subtrees that are not full")
        if self._anchor is None:
            return
        if self._anchor.size > self._tree.count:
            signed = counted(self._anchor.size, "event")
            self._found.add(
                f"events {self._tree.count}",
                f"the log ends before this position, and a checkpoint was signed for {signed}:"
                " its end was cut off, or the base was replaced by an older one",
            )

    def _look_at(self, level: int, number: int, expected: bytes) -> None:
        self._full += 1
        place = f"subtrees {level} {number}"
        with self._found.reading(place):
            stored: tuple[bytes] | None = self._session.one(_KEPT, (level, number), as_it_is)
            self._found.differ(place, "root", None if stored is None else stored[0], expected)

    def _meet_anchor(self) -> None:
        if self._anchor is not None and self._tree.count == self._anchor.size:
            self._found.counts.anchored = self._anchor.size
            if self._tree.root() != self._anchor.root:
                self._found.add(
                    f"events 0 to {self._anchor.size - 1}",
                    "are not those that the checkpoint was signed for: the log was rewritten",
                )
