"""The log of a base, for those who check it: checkpoints, tiles, entries and proofs.

Rules
-----
* A checkpoint is signed for any size up to that of the last commit, and for no other: what was signed once is the
  beginning of whatever is signed later.
* Checkpoints, hashes and proofs of consistency are for everybody who may use the base. Entries are events as they were
  logged: digests, but also ids, instants and verdicts of whatever happened. So they are for those who may read every
  graph, and a certificate's own for those who may read the certificate.
* The hash of a full subtree never changes once it is committed, so those that were worked out are remembered.
* What is asked for beyond the end of the log is not there yet.

Example
-------
::

    log = LogReader(base.ledger, base.key)
    log.checkpoint()
    log.of_certificate(principal, certificate, LoggedEvent.ISSUED).text
"""

from __future__ import annotations

from enum import StrEnum
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

from bridge.review.certificates import visible
from bridge.signing.keys import history_in
from certificates.checkpoints import Checkpoint, origin_of, sign_checkpoint
from certificates.keys import SigningKey
from certificates.log_proofs import ConsistencyProof, InclusionProof
from certificates.merkle_proofs import consistency, inclusion, root
from certificates.notes import NoteKey
from certificates.tiles import HEIGHT, WIDTH, TiledTree, bundle
from kernel.errors import Forbidden, InvalidParameter, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from certificates.merkle_proofs import Node
    from certificates.tiles import Tile
    from kernel.access import Principal
    from kernel.ports.ledger import Ledger, LedgerView


_PATIENCE: Final = 5.0
_PAUSE: Final = 0.001
"""Seconds, both."""

_REMEMBERED: Final = 65_536
"""Hashes: those of a log of four million events from tiles on; some 10 MB."""


class LoggedEvent(StrEnum):
    """What of a certificate is proved to be in the log."""

    ISSUED = "issued"
    APPLIED = "applied"


class LogReader:
    """Reads the log of one base; every method raises `LedgerUnavailable`.

    Args:
        ledger: the base's.
        key: that it signs with; where it may be changed, what gives the one of now.
    """

    def __init__(self, ledger: Ledger, key: SigningKey | Callable[[], SigningKey]) -> None:
        self._ledger = ledger
        self._key = key
        self._known: dict[tuple[int, int], bytes] = {}
        self._base = ledger.base_id()
        self.origin = origin_of(self._base)

    @property
    def key(self) -> NoteKey:
        """The key that checkpoints are signed with."""
        key = self._key if isinstance(self._key, SigningKey) else self._key()
        return NoteKey(self.origin, key.public)

    def checkpoint(self) -> str:
        """The signed checkpoint of the log as it is."""
        with self._ledger.reading() as view:
            return self._signed(view, _tree(view, None))

    def tile(self, tile: Tile) -> bytes:
        """The hashes of a tile, one after another. Raises `NotFound` beyond the end of the log."""
        with self._ledger.reading() as view:
            _require(view, tile)
            return _hashes(view, tile)

    def entries(self, principal: Principal, tile: Tile) -> bytes:
        """The bundle of the entries beside a tile of level 0.

        Raises:
            Forbidden: there are graphs that the principal may not read.
            NotFound: beyond the end of the log.
        """
        _require_all(principal)
        with self._ledger.reading() as view:
            _require(view, tile)
            return bundle(view.events(tile.index * WIDTH, tile.width))

    def inclusion(self, principal: Principal, position: int, size: int | None = None) -> InclusionProof:
        """That the log of a size, by default of all, has the entry at a position.

        Raises:
            Forbidden: there are graphs that the principal may not read.
            InvalidParameter: the position is not below the size.
            NotFound: the log is not as long.
        """
        _require_all(principal)
        with self._ledger.reading() as view:
            return self._inclusion(view, position, size)

    def of_certificate(
        self, principal: Principal, certificate: UUID, event: LoggedEvent, size: int | None = None
    ) -> InclusionProof:
        """That the log of a size, by default of all, says that a certificate was issued, or applied.

        Raises:
            InvalidParameter: the log of that size does not say so yet.
            NotFound: no certificate of that id that the principal may see; one that is not applied; a log not as long.
        """
        with self._ledger.reading() as view:
            record = visible(view, principal, certificate)
            position = record.issued if event is LoggedEvent.ISSUED else record.head
            if position is None:
                raise NotFound(
                    f"the certificate is {record.state.value}, not applied",
                    remedy="ask for event=issued",
                    where="event",
                )
            return self._inclusion(view, position, size)

    def consistency(self, old: int, size: int | None = None) -> ConsistencyProof:
        """That the log of a size, by default of all, begins with that of an older size.

        Raises:
            InvalidParameter: the older size is the greater one.
            NotFound: the log is not as long.
        """
        with self._ledger.reading() as view:
            tree = _tree(view, size)
            if old > tree.size:
                raise InvalidParameter(
                    f"a log of {tree.size} entries does not begin with one of {old}",
                    remedy="if a checkpoint of the greater size was signed, the base was rolled back: audit it",
                    where="from",
                )
            path = tuple(consistency(old, tree.size, self._node(tree))) if old else ()
            return ConsistencyProof(old, path, self._signed(view, tree))

    def _inclusion(self, view: LedgerView, position: int, size: int | None) -> InclusionProof:
        tree = _tree(view, size)
        if position >= tree.size:
            raise InvalidParameter(
                f"a log of {tree.size} entries has none at position {position}",
                remedy="positions count from 0; give a greater size, or none",
                where="size" if size else "position",
            )
        [entry] = view.events(position, 1)
        path = tuple(inclusion(position, tree.size, self._node(tree)))
        return InclusionProof(entry, position, path, self._signed(view, tree))

    def _signed(self, view: LedgerView, tree: TiledTree) -> str:
        checkpoint = Checkpoint(self.origin, tree.size, root(tree.size, self._node(tree)))
        return sign_checkpoint(checkpoint, self._signer(view))

    def _signer(self, view: LedgerView) -> SigningKey:
        """The key of now. A log that tells of a rotation is never signed with the key before it: nobody believes that.

        Between the commit of a rotation and the first use of the new key there are some milliseconds.
        """
        if isinstance(self._key, SigningKey):
            return self._key
        known, deadline = view.signing_key(), monotonic() + _PATIENCE
        while (key := self._key()).public.multibase != known and monotonic() < deadline:
            if not any(held.key == key.public for held in history_in(view, self._base)[0].keys):
                return key  # the view is from before the rotation
            sleep(_PAUSE)
        return key

    def _node(self, tree: TiledTree) -> Node:
        def node(level: int, index: int) -> bytes:
            known = self._known.get((level, index))
            if known is None:
                known = tree.node(level, index)
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                if level < HEIGHT:
                    self._known[level, index] = known
                else:
                    self._known.update(tree.beside(level, index))
            return known

        return node


def _require_all(principal: Principal) -> None:
    if not principal.reads_everything:
        raise Forbidden(
            "entries tell of every graph of the base", remedy="ask with a token for all graphs, or for a certificate"
        )


def _tree(view: LedgerView, size: int | None) -> TiledTree:
    whole = view.log_size()
    if size is not None and size > whole:
        raise NotFound(
            f"the log has no {size} entries, but {whole}", remedy="ask for a size of at most that", where="size"
        )
    return TiledTree(whole if size is None else size, lambda tile: _hashes(view, tile))


def _hashes(view: LedgerView, tile: Tile) -> bytes:
    return b"".join(view.log_hashes(tile.level, tile.index * WIDTH, tile.width))


def _require(view: LedgerView, tile: Tile) -> None:
    whole = view.log_size()
    if tile.leaves > whole:
        raise NotFound(
            f"the log has {whole} entries, too few for this tile",
            remedy="take the names of tiles from the size of a checkpoint",
            where="tile",
        )
