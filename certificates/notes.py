r"""Signed notes: text with signatures under it (C2SP signed-note).

Rules
-----
* A note is text that ends with a line end, an empty line, and a line for each signature: an em dash, the name of the
  key, and the base64 of the key's id and the signature.
* A key's id is the first four bytes of SHA-256 over its name, a line end, the type of its signatures and its bytes. So
  a key is known by name and id, and those of unknown keys are passed over.
* A note is believed once a known key has signed it, and not if the signature of a known key does not fit.
* Two types are known: plain Ed25519, and the timestamped cosignature of a witness over a checkpoint.

Example
-------
>>> from certificates.keys import SigningKey
>>> key = SigningKey.from_bytes(bytes(32))
>>> note = sign("example.com/log\n", "example.com/log", key)
>>> print(note.split("\n")[2][:34])
— example.com/log Hd5FMfXuRTN1sPvF
>>> verify(note, [NoteKey("example.com/log", key.public)]).text
'example.com/log\n'
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256
from typing import Final

from certificates.errors import BadSignature, InvalidValue, MalformedDocument, UnreadableKey
from certificates.keys import SigningKey, VerifyingKey

MOST_SIGNATURES: Final = 100
"""Signatures that are looked at: a log and its witnesses have far fewer."""

_NAME: Final = re.compile(r"[^\s+\x00-\x1f\x7f]+")
_SIGNATURE: Final = re.compile(r"— (\S+) ([A-Za-z0-9+/]+={0,2})")
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f]")
_ID_SIZE: Final = 4
_TIME_SIZE: Final = 8
_SIGNATURE_SIZE: Final = 64


class NoteKeyType(IntEnum):
    """What a signature is made over."""

    ED25519 = 1
    COSIGNATURE = 4


@dataclass(frozen=True, slots=True)
class NoteKey:
    """A key that is known.

    Attributes:
        name: under which it signs.
        key: its public half.
        type: of its signatures.
    """

    name: str
    key: VerifyingKey
    type: NoteKeyType = NoteKeyType.ED25519

    def __post_init__(self) -> None:
        """Refuse a name that cannot stand in a signature line."""
        if not _NAME.fullmatch(self.name):
            raise InvalidValue("a key's name has no space and no plus", remedy="use a URL without scheme", where="name")

    @property
    def id(self) -> bytes:
        """The four bytes that it is known by, beside its name."""
        return sha256(self.name.encode() + b"\n" + bytes([self.type]) + self.key.raw).digest()[:_ID_SIZE]

    @property
    def vkey(self) -> str:
        """The key as C2SP writes it: name, id and bytes, joined by plus signs."""
        return f"{self.name}+{self.id.hex()}+{b64encode(bytes([self.type]) + self.key.raw).decode()}"

    @classmethod
    def parse(cls, vkey: str) -> NoteKey:
        """The key that `vkey` gave. Raises `InvalidValue`."""
        name, _, rest = vkey.strip().partition("+")
        identifier, _, encoded = rest.partition("+")
        try:
            data = b64decode(encoded, validate=True)
            key = cls(name, VerifyingKey(data[1:]), NoteKeyType(data[0]))
        except (Base64Error, ValueError, IndexError, UnreadableKey):
            raise _no_vkey(vkey) from None
        if key.id.hex() != identifier:
            raise _no_vkey(vkey)
        return key


@dataclass(frozen=True, slots=True)
class VerifiedNote:
    """A note that is believed.

    Attributes:
        text: what was signed.
        signers: the known keys that signed it, each with its POSIX time if it gave one.
    """

    text: str
    signers: tuple[tuple[NoteKey, int | None], ...]


def sign(text: str, name: str, key: SigningKey) -> str:
    """The text with a plain signature under it. Raises `InvalidValue` for text that no note can have."""
    if not text.endswith("\n") or _CONTROL.search(text):
        raise InvalidValue("a note's text ends with a line end, and has no other control characters", remedy="mend it")
    known = NoteKey(name, key.public)
    return f"{text}\n{_line(known, key.sign(text.encode()))}"


def cosign(note: str, name: str, key: SigningKey, time: int) -> str:
    """The note with a witness's cosignature of a time (POSIX seconds) added (C2SP tlog-cosignature)."""
    text, _ = _split(note)
    known = NoteKey(name, key.public, NoteKeyType.COSIGNATURE)
    return note + _line(known, time.to_bytes(_TIME_SIZE) + key.sign(_cosigned(text, time)))


def text_of(note: str) -> str:
    """What a note says, whoever may have signed it: not to be believed. Raises `MalformedDocument`."""
    return _split(note)[0]


def verify(note: str, keys: Sequence[NoteKey]) -> VerifiedNote:
    """The note, if a known key signed it.

    Raises:
        MalformedDocument: it is no signed note.
        BadSignature: no known key signed it, or the signature of one does not fit.
    """
    text, lines = _split(note)
    known = {(key.name, key.id): key for key in keys}
    signers: dict[NoteKey, int | None] = {}
    for name, data in map(_signature, lines):
        key = known.get((name, data[:_ID_SIZE]))
        if key is not None:
            signers[key] = _checked(text, key, data[_ID_SIZE:])
    if not signers:
        raise BadSignature("no known key has signed it", remedy="verify with the key of who signed it", where="note")
    return VerifiedNote(text, tuple(signers.items()))


def _checked(text: str, key: NoteKey, signature: bytes) -> int | None:
    """The time that the signer gave, if any. Raises `BadSignature` where the signature does not fit."""
    time, data = None, text.encode()
    if key.type is NoteKeyType.COSIGNATURE:
        time, signature = int.from_bytes(signature[:_TIME_SIZE]), signature[_TIME_SIZE:]
        data = _cosigned(text, time)
    if len(signature) != _SIGNATURE_SIZE or not key.key.verify(signature, data):
        raise BadSignature(
            "the signature does not fit the text",
            remedy="it was altered after it was signed; fetch it again",
            where=key.name,
        )
    return time


def _cosigned(text: str, time: int) -> bytes:
    return f"cosignature/v1\ntime {time}\n{text}".encode()


def _line(key: NoteKey, signature: bytes) -> str:
    return f"— {key.name} {b64encode(key.id + signature).decode()}\n"


def _split(note: str) -> tuple[str, list[str]]:
    """Text and signature lines."""
    text, separator, signatures = note.rpartition("\n\n")
    if not separator or not signatures.endswith("\n") or _CONTROL.search(note):
        raise _malformed("no text, empty line and signatures")
    lines = signatures.removesuffix("\n").split("\n")
    if len(lines) > MOST_SIGNATURES:
        raise _malformed(f"more than {MOST_SIGNATURES} signatures")
    return text + "\n", lines


def _signature(line: str) -> tuple[str, bytes]:
    """Name, and id with signature, of a signature line."""
    match = _SIGNATURE.fullmatch(line)
    if match is not None and _NAME.fullmatch(match[1]):
        try:
            data = b64decode(match[2], validate=True)
        except Base64Error:
            data = b""
        if len(data) > _ID_SIZE:
            return match[1], data
    raise _malformed("a line that is no signature")


def _malformed(message: str) -> MalformedDocument:
    return MalformedDocument(f"no signed note: {message}", remedy="fetch it again, to the byte", where="note")


def _no_vkey(vkey: str) -> InvalidValue:
    return InvalidValue(f"{vkey[:80]!r} is no key of a signed note", remedy="write name+id+base64, as C2SP has it")
