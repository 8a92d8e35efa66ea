"""Proofs about a log that stand by themselves, as files.

Rules
-----
* An inclusion proof (C2SP tlog-proof) holds an entry, as its extra data, its position, the hashes that lead to the
  root, and the checkpoint with that root. With the log's key it is all that is needed.
* A consistency proof holds the size of an older tree, the hashes, and the newer checkpoint: what a witness is sent
  (C2SP tlog-witness, add-checkpoint). With the older checkpoint and the log's key it is all that is needed.
* Both are verified as they stand: nothing is fetched, and no hash too many or too few is passed over.

Example
-------
>>> from uuid import UUID
>>> from certificates.checkpoints import origin_of, sign_checkpoint
>>> from certificates.keys import SigningKey
>>> key, origin = SigningKey.from_bytes(bytes(32)), origin_of(UUID(int=7))
>>> note = sign_checkpoint(Checkpoint(origin, 1, leaf_hash(b"entry")), key)
>>> proof = InclusionProof(b"entry", 0, (), note)
>>> InclusionProof.parse(proof.text).verify(origin, key.public).size
1
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from certificates.checkpoints import Checkpoint, read_hash, verify_checkpoint
from certificates.errors import BadSignature, MalformedDocument, WrongKey
from certificates.keys import VerifyingKey
from certificates.merkle import leaf_hash
from certificates.merkle_proofs import extends, includes

INCLUSION: Final = "c2sp.org/tlog-proof@v1"
"""The first line of an inclusion proof."""

_EXTRA: Final = "extra "
_INDEX: Final = re.compile(r"index (0|[1-9][0-9]{0,18})", re.ASCII)
_OLD: Final = re.compile(r"old (0|[1-9][0-9]{0,18})", re.ASCII)
_MOST_HASHES: Final = 128
"""Hashes of any proof in a tree of 2^63 leaves, at the most."""


@dataclass(frozen=True, slots=True)
class InclusionProof:
    """That a log holds an entry.

    Attributes:
        entry: its bytes.
        position: of the entry.
        path: the hashes that lead to the root, from the leaf up.
        checkpoint: the signed note.
    """

    entry: bytes
    position: int
    path: tuple[bytes, ...]
    checkpoint: str

    @property
    def text(self) -> str:
        """The proof as a file."""
        entry = f"{_EXTRA}{b64encode(self.entry).decode()}"
        return _file([INCLUSION, entry, f"index {self.position}"], self.path, self.checkpoint)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The proof of a file. Raises `MalformedDocument`, also for a proof without its entry."""
        magic, _, rest = text.partition("\n")
        if magic != INCLUSION:
            raise _malformed(f"its first line is not {INCLUSION}")
        extra, _, rest = rest.partition("\n")
        if not extra.startswith(_EXTRA):
            raise _malformed("the entry is not in it, as extra data")
        try:
            entry = b64decode(extra.removeprefix(_EXTRA), validate=True)
        except (Base64Error, ValueError):
            raise _malformed("its entry is not in base64") from None
        return cls(entry, *_read(rest, _INDEX))

    def verify(self, origin: str, key: VerifyingKey) -> Checkpoint:
        """The checkpoint, if the log has signed it and its tree holds the entry at the position.

        Raises:
            MalformedDocument: there is no checkpoint in it.
            WrongKey: it is of another log.
            BadSignature: it is not signed by the key, or the entry is not in the tree.
        """
        checkpoint = verify_checkpoint(self.checkpoint, origin, key)
        if not includes(leaf_hash(self.entry), self.position, checkpoint.size, self.path, checkpoint.root):
            raise BadSignature(
                f"the log does not hold this entry at position {self.position}",
                remedy="fetch the proof again; if it stays so, it was altered",
                where="proof",
            )
        return checkpoint


@dataclass(frozen=True, slots=True)
class ConsistencyProof:
    """That a log only grew.

    Attributes:
        old: the size of the older tree.
        path: the hashes.
        checkpoint: the newer one, a signed note.
    """

    old: int
    path: tuple[bytes, ...]
    checkpoint: str

    @property
    def text(self) -> str:
        """The proof as a file, and as a witness takes it."""
        return _file([f"old {self.old}"], self.path, self.checkpoint)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The proof of a file. Raises `MalformedDocument`."""
        return cls(*_read(text, _OLD))

    def verify(self, before: Checkpoint, key: VerifyingKey) -> Checkpoint:
        """The newer checkpoint, if the log has signed it and its tree begins with the older one.

        Args:
            before: the older one, verified.
            key: the log's.

        Raises:
            MalformedDocument: there is no checkpoint in it.
            WrongKey: it is of another log, or begins with a tree of another size.
            BadSignature: it is not signed by the key, or the log was rewritten.
        """
        after = verify_checkpoint(self.checkpoint, before.origin, key)
        if before.size != self.old:
            raise WrongKey(
                f"it is a proof from {self.old} entries on, and the older checkpoint has {before.size}",
                remedy=f"fetch the proof from {before.size} on",
                where="proof",
            )
        if not extends(before.size, after.size, before.root, after.root, self.path):
            raise BadSignature(
                f"the log of {after.size} entries does not begin with that of {before.size}",
                remedy="fetch the proof again; if it stays so, the log was rewritten",
                where="proof",
            )
        return after


def _file(head: list[str], path: Iterable[bytes], checkpoint: str) -> str:
    return "\n".join([*head, *(b64encode(each).decode() for each in path), "", checkpoint])


def _read(text: str, first: re.Pattern[str]) -> tuple[int, tuple[bytes, ...], str]:
    """The number of the first line, the hashes, and what comes after the empty line."""
    head, separator, checkpoint = text.partition("\n\n")
    line, *hashes = head.split("\n")
    number = first.fullmatch(line)
    if number is None or not separator or len(hashes) > _MOST_HASHES:
        raise _malformed("it does not go number, hashes, empty line, checkpoint")
    return int(number[1]), tuple(read_hash(each, "proof") for each in hashes), checkpoint


def _malformed(message: str) -> MalformedDocument:
    return MalformedDocument(f"no proof: {message}", remedy="fetch it again, to the byte", where="proof")
