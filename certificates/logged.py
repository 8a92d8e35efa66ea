"""What the log says of a certificate: that it was issued as it is, and whether it was applied.

Rules
-----
* A proof of inclusion is held against the certificate: its entry must be an event about it, and the log that of the
  certificate's base, signed with the same key.
* An issued event must name the very bytes that were signed; an applied one says when, and at which head.
* A certificate by a key that was revoked is worth what the log says: that it was issued, as it is, before the instant
  since when the key is not to be trusted. The instant that the certificate names itself is worth nothing.

Example
-------
::

    certificate, document = as_signed(data, key)
    logged(certificate, document, InclusionProof.parse(text), key).event
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from certificates.canonical import digest_hex
from certificates.certificate import Certificate
from certificates.checkpoints import Checkpoint, origin_of
from certificates.errors import BadSignature, WrongKey
from certificates.events import CertificateEvent, Issued, decode_event
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.key_history import HeldKey
from certificates.keys import VerifyingKey
from certificates.log_proofs import InclusionProof


@dataclass(frozen=True, slots=True)
class Logged:
    """An event that a log is proved to hold.

    Attributes:
        event: it.
        position: in the log.
        checkpoint: the signed state of the log that was held against.
    """

    event: CertificateEvent
    position: int
    checkpoint: Checkpoint


def logged(certificate: Certificate, document: bytes, proof: InclusionProof, key: VerifyingKey) -> Logged:
    """What a proof shows of a certificate.

    Args:
        certificate: verified.
        document: the bytes that the base signed (`proof.as_signed`).
        proof: from its base's log.
        key: that the log is signed with, now.

    Raises:
        MalformedDocument: the entry is no event, or there is no checkpoint.
        WrongKey: it is the proof of another certificate, or of another log.
        BadSignature: the log does not hold the entry, or logged the certificate as something else.
    """
    checkpoint = proof.verify(origin_of(certificate.base), key)
    event = decode_event(proof.entry)
    if isinstance(event, KeyRotated | KeyRevoked):
        raise WrongKey("is about a key, not a certificate", remedy="fetch the proof of this certificate", where="proof")
    if event.certificate != certificate.id:
        raise WrongKey(
            f"is about another certificate, {event.certificate}", remedy="fetch the proof of this one", where="proof"
        )
    if isinstance(event, Issued) and event.digest != digest_hex(document):
        raise BadSignature(
            "the log says that another document was issued under this id",
            remedy="fetch the certificate again; if it stays so, one of the two was forged",
            where="proof",
        )
    return Logged(event, proof.position, checkpoint)


def require_trust(held: HeldKey, proved: Iterable[Logged] = ()) -> None:
    """Raises `WrongKey` if the key is revoked, unless what it signed is proved to have been issued before.

    Args:
        held: the key that signed.
        proved: what the log is proved to say of the document (`logged`).
    """
    if held.revoked is None:
        return
    since = held.revoked.since
    issued = [datetime.fromisoformat(each.event.at) for each in proved if isinstance(each.event, Issued)]
    if not issued:
        raise WrongKey(
            f"is signed by a key that is revoked since {since}, and nothing proves that it was logged before",
            remedy="give the proof that the log has it as issued; without one, do not believe it",
            where="issuer",
        )
    if max(issued) >= datetime.fromisoformat(since):
        raise WrongKey(
            f"was logged at {max(issued).isoformat()} with a key that is revoked since {since}",
            remedy="do not believe it: somebody else may have signed it",
            where="issuer",
        )
