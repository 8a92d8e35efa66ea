"""The closed set of errors that this package raises.

Rules
-----
* Every error has a stable `code`, a `message` that names what is wrong, a `remedy` (the way out) and, where one place
  is meant, a `where`: the member of the document, or the file.
* Errors of JSON, base58 and the cryptographic library never leave the package: they become one of these.
* No message holds a secret, nor more than a short piece of what was submitted.

Example
-------
>>> error = BadSignature("the signature does not fit the document", remedy="fetch the document again", where="proof")
>>> error.code, str(error)
('bad-signature', 'proof: the signature does not fit the document (fetch the document again)')
"""

from __future__ import annotations

from typing import ClassVar


class CertificateError(Exception):
    """Base of every error of this package.

    Args:
        message: what is wrong, in one sentence that a person understands.
        remedy: what to do about it.
        where: the place: a member of the document (`credentialSubject.verdict`) or a file; None for the whole.
    """

    code: ClassVar[str] = "certificate-error"

    def __init__(self, message: str, *, remedy: str, where: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.where = where

    def __str__(self) -> str:
        """The place, the message and the way out, on one line."""
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.message} ({self.remedy})"


class InvalidValue(CertificateError):
    """A value that a certificate, record, event or finding cannot hold; raised before it is built."""

    code = "invalid-value"


class UnsupportedJson(CertificateError):
    """A value outside the part of JSON that is canonicalised here: a float, a large integer, a lone surrogate."""

    code = "unsupported-json"


class MalformedDocument(CertificateError):
    """A document that is not one of ours: not JSON, or a member missing, unknown or of the wrong kind."""

    code = "malformed-document"


class WrongKey(CertificateError):
    """The document is issued, or is to be issued, by another key than the one given."""

    code = "wrong-key"


class BadSignature(CertificateError):
    """The document was altered after it was signed, or was not signed by the key it names."""

    code = "bad-signature"


class UnreadableKey(CertificateError):
    """A key that cannot be used: damaged, of another kind, or readable by others than its owner."""

    code = "unreadable-key"


class KeyExists(CertificateError):
    """A key file that is already there: keys are never overwritten."""

    code = "key-exists"
