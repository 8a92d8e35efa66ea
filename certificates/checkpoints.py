"""Checkpoints: the signed state of a log (C2SP tlog-checkpoint).

Rules
-----
* A checkpoint is a signed note of three lines: the log's origin, how many leaves it has, and the root over them, in
  base64. The log signs under its origin's name; witnesses add cosignatures of theirs.
* A log's origin names its base: nobody else's log passes for it.
* No extension lines, in neither direction: nobody could audit what stands in them.

Example
-------
>>> from certificates.keys import SigningKey
>>> from certificates.merkle import leaf_hash
>>> key, origin = SigningKey.from_bytes(bytes(32)), origin_of(UUID(int=7))
>>> note = sign_checkpoint(Checkpoint(origin, 1, leaf_hash(b"entry")), key)
>>> verify_checkpoint(note, origin, key.public).size
1
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self
from uuid import UUID

from certificates.errors import BadSignature, MalformedDocument, WrongKey
from certificates.keys import SigningKey, VerifyingKey
from certificates.merkle import EMPTY_ROOT, HASH_SIZE
from certificates.notes import NoteKey, sign, text_of, verify

ORIGIN: Final = "w3id.org/muniment/log/"
"""What all origins begin with; the base's id follows."""

_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a log.

    Attributes:
        origin: which log.
        size: how many leaves.
        root: over them: 32 bytes.
    """

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The three lines that are signed."""
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The checkpoint that `text` gave. Raises `MalformedDocument`."""
        origin, *rest = text.split("\n")
        if len(rest) != 3 or rest[2] or not origin or not _NUMBER.fullmatch(rest[0]):
            raise _malformed("no checkpoint: not three lines of origin, size and root", "checkpoint")
        root = read_hash(rest[1], "checkpoint")
        if rest[0] == "0" and root != EMPTY_ROOT:
            raise _malformed("the root of no leaves is another", "checkpoint")
        return cls(origin, int(rest[0]), root)


def origin_of(base: UUID) -> str:
    """The origin of a base's log."""
    return f"{ORIGIN}{base}"


def sign_checkpoint(checkpoint: Checkpoint, key: SigningKey) -> str:
    """The checkpoint as a note that the log has signed."""
    return sign(checkpoint.text, checkpoint.origin, key)


def read_checkpoint(note: str) -> Checkpoint:
    """What a note says of a log, whoever signed it: not to be believed. Raises `MalformedDocument`."""
    return Checkpoint.parse(text_of(note))


def verify_checkpoint(note: str, origin: str, key: VerifyingKey, witnesses: Sequence[NoteKey] = ()) -> Checkpoint:
    """The checkpoint, if the log of that origin has signed it, and each of the witnesses.

    Raises:
        MalformedDocument: it is no checkpoint.
        WrongKey: it is of another log.
        BadSignature: a signature is missing, or does not fit.
    """
    log = NoteKey(origin, key)
    verified = verify(note, [log, *witnesses])
    checkpoint = Checkpoint.parse(verified.text)
    if checkpoint.origin != origin:
        raise WrongKey(f"is of the log {checkpoint.origin[:140]!r}", remedy=f"give one of {origin}", where="origin")
    signed = {signer for signer, _ in verified.signers}
    for needed in (log, *witnesses):
        if needed not in signed:
            raise BadSignature("it is not signed by this key", remedy="fetch one that is", where=needed.name)
    return checkpoint


def read_hash(line: str, where: str) -> bytes:
    """The hash that a line gives in base64. Raises `MalformedDocument`, naming the place."""
    try:
        data = b64decode(line, validate=True)
    except (Base64Error, ValueError):
        data = b""
    if len(data) != HASH_SIZE or b64encode(data).decode() != line:
        raise _malformed("a line that is no hash in base64", where)
    return data


def _malformed(message: str, where: str) -> MalformedDocument:
    return MalformedDocument(message, remedy="fetch it again, to the byte", where=where)
