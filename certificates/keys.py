"""Ed25519 keys: the one a base signs with, and the one its readers verify with.

Rules
-----
* A verifying key is published as a Multikey document (W3C Controlled Identifiers 1.0, section 2.2.2): base58btc
  multibase of the bytes 0xED 0x01 and the 32 bytes of the key. Its DID is `did:key:` and that text, its verification
  method the DID, `#` and that text again.
* A signing key is stored as unencrypted PKCS #8 in PEM. `save` makes the file readable by its owner alone, whole or
  not at all, and never over another; `load` refuses a file that group or world can read.
* A signing key signs under the DID of its public half, unless it was put `under` another (`dids`).
* No `repr` shows a secret.

Example
-------
>>> key = SigningKey.from_bytes(bytes(32))
>>> key.public.did
'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp'
>>> key.public.verify(key.sign(b"deed"), b"deed")
True
"""

from __future__ import annotations

import os
import stat
import tempfile
from base64 import b64decode
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from certificates.closed import closed, parse, text
from certificates.errors import KeyExists, MalformedDocument, UnreadableKey
from certificates.multibase import decode, encode

MULTIKEY_CONTEXT: Final = "https://w3id.org/security/multikey/v1"

_KEY_SIZE: Final = 32
_ED25519_PUBLIC: Final = b"\xed\x01"
_MEMBERS: Final = frozenset({"id", "type", "controller", "publicKeyMultibase"})


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A public key.

    Attributes:
        raw: its 32 bytes.
        multibase: `z6Mk…`.
        did: `did:key:z6Mk…`, the issuer that certificates name.
        verification_method: `did:key:z6Mk…#z6Mk…`, the key that proofs name.
    """

    raw: bytes
    multibase: str = field(init=False, repr=False, compare=False)
    did: str = field(init=False, repr=False, compare=False)
    verification_method: str = field(init=False, repr=False, compare=False)
    _public: Ed25519PublicKey = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a key of another length, and work out its names once."""
        if len(self.raw) != _KEY_SIZE:
            raise UnreadableKey(f"a public key of {len(self.raw)} bytes", remedy="use the 32 bytes of an Ed25519 key")
        multibase = encode(_ED25519_PUBLIC + self.raw)
        object.__setattr__(self, "multibase", multibase)
        object.__setattr__(self, "did", f"did:key:{multibase}")
        object.__setattr__(self, "verification_method", f"did:key:{multibase}#{multibase}")
        object.__setattr__(self, "_public", Ed25519PublicKey.from_public_bytes(self.raw))

    def verify(self, signature: bytes, data: bytes) -> bool:
        """Whether `signature` is this key's over `data` (RFC 8032 section 5.1.7)."""
        try:
            self._public.verify(signature, data)
        except InvalidSignature:
            return False
        return True

    def multikey(self) -> dict[str, str]:
        """The Multikey document, to be published as JSON."""
        return {
            "@context": MULTIKEY_CONTEXT,
            "id": self.verification_method,
            "type": "Multikey",
            "controller": self.did,
            "publicKeyMultibase": self.multibase,
        }

    @classmethod
    def from_multikey(cls, document: dict[str, object] | str) -> Self:
        """The key in a Multikey document, given as its members, as JSON text, or as `z6Mk…` alone.

        Raises:
            UnreadableKey: it is no Multikey of an Ed25519 public key, or its members contradict one another.
        """
        if isinstance(document, str) and document.startswith("z"):
            return cls(_decode_multibase(document.strip()))
        try:
            members = closed(
                parse(document.encode(errors="replace")) if isinstance(document, str) else document,
                "", _MEMBERS, frozenset({"@context"}),
            )  # fmt: skip
            key = cls(_decode_multibase(text(members, "publicKeyMultibase", "")))
        except MalformedDocument as error:
            raise UnreadableKey(
                f"no Multikey document: {error.message}",
                remedy="publish id, type, controller and publicKeyMultibase, and nothing else",
                where=error.where,
            ) from None
        for name, expected in key.multikey().items():
            if members.get(name, expected) != expected:
                raise UnreadableKey("does not go with publicKeyMultibase", remedy=f"expected {expected}", where=name)
        return key


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key and its public half; equal to another if the public halves are.

    Attributes:
        public: the public half.
        controller: the DID under which it signs; None: that of the public half.
    """

    public: VerifyingKey
    _private: Ed25519PrivateKey = field(repr=False, compare=False)
    controller: str | None = field(default=None, compare=False)

    @classmethod
    def generate(cls) -> Self:
        """A new key from the system's randomness."""
        return cls._of(Ed25519PrivateKey.generate())

    @classmethod
    def from_bytes(cls, seed: bytes) -> Self:
        """The key with this seed of 32 bytes (RFC 8032 section 5.1.5).

        Raises:
            UnreadableKey: the seed has another length.
        """
        if len(seed) != _KEY_SIZE:
            raise UnreadableKey(f"a seed of {len(seed)} bytes", remedy="use the 32 bytes of an Ed25519 seed")
        return cls._of(Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def _of(cls, private: Ed25519PrivateKey) -> Self:
        return cls(VerifyingKey(private.public_key().public_bytes_raw()), private)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The key in PKCS #8 PEM, or the seed in hexadecimal or base64. Raises `UnreadableKey`, and quotes nothing."""
        if "-----BEGIN" in text:
            return cls._of(_read_pem(text.strip().encode() + b"\n", None))
        for read in (bytes.fromhex, _from_base64):
            try:
                seed = read(text.strip())
            except ValueError:
                continue
            if len(seed) == _KEY_SIZE:
                return cls.from_bytes(seed)
        raise UnreadableKey(
            "is no Ed25519 key", remedy="give it as PKCS #8 in PEM, or its seed of 32 bytes in hexadecimal or base64"
        )

    def under(self, did: str | None) -> Self:
        """The same key, signing under a DID; None: under its own."""
        return replace(self, controller=did)

    @property
    def did(self) -> str:
        """The issuer that what it signs names."""
        return self.public.did if self.controller is None else self.controller

    @property
    def verification_method(self) -> str:
        """The key that proofs by it name."""
        return f"{self.did}#{self.public.multibase}"

    def to_bytes(self) -> bytes:
        """The seed: 32 secret bytes."""
        return self._private.private_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        """The 64-byte signature over `data`."""
        return self._private.sign(data)

    def save(self, path: Path) -> None:
        """Write the key to a new file that its owner alone can read; durable when this returns.

        Raises:
            KeyExists: there is a file of that name.
            OSError: the folder cannot be written.
        """
        pem = self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        descriptor, scratch = tempfile.mkstemp(dir=path.parent, prefix=".key-")  # made with mode 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(pem)
                file.flush()
                os.fsync(file.fileno())
            os.link(scratch, path)  # unlike a rename, refuses to replace
        except FileExistsError:
            raise KeyExists(
                "a key is there already", remedy="keep it: what it signed cannot be signed again", where=str(path)
            ) from None
        finally:
            Path(scratch).unlink()
        _sync_folder(path.parent)

    @classmethod
    def load(cls, path: Path) -> Self:
        """The key in a file that `save` wrote.

        Raises:
            UnreadableKey: the file is missing, can be read by others than its owner, or holds no Ed25519 key.
        """
        try:
            with path.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                pem = file.read(4096)
        except OSError as error:
            raise UnreadableKey(
                f"cannot be read: {error.strerror}", remedy="check path and owner", where=str(path)
            ) from None
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UnreadableKey(
                f"mode {stat.S_IMODE(mode):04o} opens the signing key to others than its owner",
                remedy="run `chmod 600` on it, and consider whether somebody has read it",
                where=str(path),
            )
        return cls._of(_read_pem(pem, path))


def take_place(new: Path, of: Path) -> None:
    """Put a key file in the place of another of the same folder, which is gone then; durable when this returns.

    Raises:
        OSError: the folder cannot be written.
    """
    new.replace(of)
    _sync_folder(of.parent)


def _from_base64(text: str) -> bytes:
    return b64decode(text, validate=True)


def _read_pem(pem: bytes, path: Path | None) -> Ed25519PrivateKey:
    try:
        private = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # not PEM, damaged, encrypted, or of an unknown kind
        private = None
    if isinstance(private, Ed25519PrivateKey):
        return private
    where = None if path is None else str(path)
    raise UnreadableKey("holds no Ed25519 key in PKCS #8", remedy="restore it from a backup", where=where)


def _decode_multibase(multibase: str) -> bytes:
    try:
        decoded = decode(multibase)
    except ValueError:
        decoded = b""
    if len(decoded) == len(_ED25519_PUBLIC) + _KEY_SIZE and decoded.startswith(_ED25519_PUBLIC):
        return decoded.removeprefix(_ED25519_PUBLIC)
    raise UnreadableKey(
        "no Ed25519 public key", remedy='expected base58btc text that begins with "z6Mk"', where="publicKeyMultibase"
    )


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
