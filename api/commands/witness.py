"""Asking witnesses to cosign a checkpoint (C2SP tlog-witness, add-checkpoint).

Rules
-----
* A witness is named with its key and its URL by whoever asks; nobody else is asked anything. The URL is https, or of
  this very host; redirects are not followed.
* A witness is sent the proof from the size that it has seen last. It tells that size if it is another, and is asked
  again, once.
* What it answers counts if its key, and no other, signed the checkpoint that was sent.

Example
-------
::

    witness = Witness.parse("example.com/witness+1a2b3c4d+BA… https://witness.example.com/")
    note = cosigned(note, origin, key, witness, prove)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

import httpx2

from api.errors import RemoteRefusal
from certificates.checkpoints import verify_checkpoint
from certificates.errors import CertificateError
from certificates.notes import NoteKey, NoteKeyType
from kernel.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from certificates.keys import VerifyingKey

_PATIENCE: Final = 60.0
_LONGEST: Final = 2**16
_SIZE: Final = re.compile(r"(0|[1-9][0-9]{0,18})\n?", re.ASCII)
_LOCAL: Final = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness that may be asked.

    Args:
        key: its key.
        url: what `add-checkpoint` is below of.
    """

    key: NoteKey
    url: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """The witness of `NAME+ID+KEY URL`. Raises `InvalidParameter`."""
        vkey, _, url = text.strip().partition(" ")
        try:
            key = NoteKey.parse(vkey)
        except CertificateError as error:
            raise InvalidParameter(error.message, remedy=error.remedy, where="--witness") from None
        parts = urlsplit(url)
        if key.type is not NoteKeyType.COSIGNATURE or not (
            parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL))
        ):
            raise InvalidParameter(
                f"{text[:80]!r} is no witness",
                remedy="write its key for cosignatures as NAME+ID+KEY, a space, and its https URL",
                where="--witness",
            )
        return cls(key, url.rstrip("/"))


def cosigned(
    note: str, origin: str, key: VerifyingKey, witness: Witness, prove: Callable[[int], str], seen: int = 0
) -> str:
    """The checkpoint with the witness's cosignature under it.

    Args:
        note: the checkpoint, as the log signed it.
        origin: of the log.
        key: that it is signed with.
        witness: whom to ask.
        prove: the proof that this checkpoint goes on from one of an older size.
        seen: the size that the witness has seen last, as far as is known.

    Raises:
        RemoteRefusal: the witness cannot be reached, refuses, or answers something else.
    """
    answer = _asked(witness, prove(seen))
    if answer.status_code == httpx2.codes.CONFLICT:
        size = _SIZE.fullmatch(answer.text)
        if size is None:
            raise _refused(witness, "has seen another size, and does not say which")
        answer = _asked(witness, prove(int(size[1])))
    if answer.status_code != httpx2.codes.OK:
        raise _refused(witness, f"answers {answer.status_code}")
    lines = [line for line in answer.text.splitlines() if line.startswith(f"— {witness.key.name} ")]
    signed = note + "".join(f"{line}\n" for line in lines)
    try:
        verify_checkpoint(signed, origin, key, [witness.key])
    except CertificateError as error:
        raise _refused(witness, f"has not cosigned this checkpoint: {error.message}") from error
    return signed


def _asked(witness: Witness, proof: str) -> httpx2.Response:
    address = f"{witness.url}/add-checkpoint"
    try:
        with httpx2.stream("POST", address, content=proof.encode(), timeout=_PATIENCE) as response:
            response.read()
    except httpx2.HTTPError as error:
        raise _refused(witness, f"cannot be reached: {type(error).__name__}") from error
    if len(response.content) > _LONGEST:
        raise _refused(witness, "answers far too much")
    return response


def _refused(witness: Witness, what: str) -> RemoteRefusal:
    return RemoteRefusal(
        f"the witness {witness.key.name} {what}", remedy="ask whoever runs it; nothing was kept", where=witness.url
    )
