"""The keys of a base as a document that is published: a JWK Set, with the events that lead from key to key.

Rules
-----
* `keys` are the public keys whose signatures are good, the one that signs first: RFC 7517 sets of RFC 8037 keys (kty
  OKP, crv Ed25519), each under the name of its verification method. Those that were revoked are not among them.
* `events` are the log's events about keys, with their positions: readers of JWK Sets ignore them (RFC 7517, section 5).
* Whoever knows one of the keys believes the events, for they are signed; of the `keys`, and of positions, nothing is
  believed. So what is verified with a set takes a checkpoint by the last key.

Example
-------
>>> from certificates.keys import SigningKey
>>> key = SigningKey.from_bytes(bytes(32)).public
>>> key_set(KeyHistory.of(key), [])["keys"][0]["x"], read_key_set(b'{"keys": [], "events": []}', key).current == key
('O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik', True)
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable
from typing import Final, TypedDict

from certificates import closed
from certificates.canonical import canonical_json
from certificates.errors import WrongKey
from certificates.events import KeyEvent, decode_event
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.key_history import KeyHistory
from certificates.keys import VerifyingKey

_SET: Final = frozenset({"keys", "events"})
_PLACED: Final = frozenset({"position", "event"})


class Jwk(TypedDict):
    """A public key (RFC 8037, section 2)."""

    kty: str
    crv: str
    x: str
    kid: str
    use: str
    alg: str


class Placed(TypedDict):
    """An event of the log, and where it stands."""

    position: int
    event: dict[str, object]


class KeySet(TypedDict):
    """The document."""

    keys: list[Jwk]
    events: list[Placed]


def key_set(history: KeyHistory, events: Iterable[tuple[int, KeyEvent]]) -> KeySet:
    """The document of a base with these keys and events."""
    good = [held.key for held in reversed(history.keys) if held.revoked is None]
    return {
        "keys": [_jwk(key) for key in good],
        "events": [{"position": position, "event": event.members()} for position, event in events],
    }


def read_key_set(document: bytes, known: VerifyingKey) -> KeyHistory:
    """The keys of the base that had a key which is known, in order.

    Raises:
        MalformedDocument: it is no such document.
        WrongKey: its events do not go on from one another, or not from or to the known key.
        BadSignature: an event is not signed by the keys that it names.
    """
    members = closed.closed(closed.parse(document), "", _SET)
    placed = members["events"]
    if not isinstance(placed, list):
        raise closed.malformed("is no list", "events")
    events = [_event(each, f"events[{number}]") for number, each in enumerate(placed)]
    last = next((event.key for _, event in reversed(events) if isinstance(event, KeyRotated)), known)
    history = KeyHistory.follow(events, events[0][1].base, last) if events else KeyHistory.of(known)
    if history.held(known.did) is None:
        raise WrongKey(
            "the key that is known is none of these", remedy="name a key of the base that the set is of", where="keys"
        )
    return history


def _jwk(key: VerifyingKey) -> Jwk:
    return {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": urlsafe_b64encode(key.raw).rstrip(b"=").decode(),
        "kid": key.verification_method,
        "use": "sig",
        "alg": "EdDSA",
    }


def _event(value: object, where: str) -> tuple[int, KeyEvent]:
    members = closed.closed(value, where, _PLACED)
    event = decode_event(canonical_json(members["event"]))
    if not isinstance(event, KeyRotated | KeyRevoked):
        raise closed.malformed("is no event about a key", where)
    return closed.integer(members, "position", where), event
