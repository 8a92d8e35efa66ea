"""The names under which a base signs: `did:key`, of its key itself, or `did:web`, of the URL at which it is public.

Rules
-----
* A `did:web` name is made from an https URL: host, port and path, in which colons take the place of slashes (did:web
  method, section 3.1). Its document lies at `/.well-known/did.json`, or at `did.json` below the path.
* What a proof is verified with is a key, whatever it is named by: its verification method is the issuer's name, `#` and
  the key's multibase text. Who holds the key may sign under either name; whether a name is to be trusted with a key is
  told by its document, or by whoever knows the key.
* The document has all keys that the base ever signed with. Those that were revoked say since when, and are none by
  which it makes assertions.

Example
-------
>>> did_web("https://kg.example.org:8443/b/one"), document_path("https://kg.example.org/b/one")
('did:web:kg.example.org%3A8443:b:one', '/b/one/did.json')
>>> document_path("https://kg.example.org")
'/.well-known/did.json'
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from certificates.errors import InvalidValue, WrongKey
from certificates.keys import MULTIKEY_CONTEXT

if TYPE_CHECKING:
    from certificates.key_history import HeldKey, KeyHistory
    from certificates.keys import VerifyingKey

DID: Final = re.compile(
    r"did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}|did:web:[A-Za-z0-9._-]+(?:%3A[0-9]{1,5})?(?::[A-Za-z0-9._-]+)*"
)
"""What issues certificates: no other text can stand in one."""

CONTEXT: Final = "https://www.w3.org/ns/did/v1"

_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
_SEGMENT: Final = re.compile(r"[A-Za-z0-9._-]+")
_WEB: Final = "did:web:"


def did_web(url: str) -> str:
    """The name of what is public at a URL. Raises `InvalidValue` for a URL that gives none."""
    host, port, segments = _parts(url)
    return _WEB + ":".join([host + ("" if port is None else f"%3A{port}"), *segments])


def document_path(url: str) -> str:
    """The path at which the document of that name is looked for. Raises `InvalidValue` as `did_web` does."""
    segments = _parts(url)[2]
    return "/".join(["", *segments, "did.json"]) if segments else "/.well-known/did.json"


def did_document(did: str, history: KeyHistory) -> dict[str, object]:
    """The document of a name (DID Core, section 5), with all keys of a base, the one that signs first."""
    held = list(reversed(history.keys))
    return {
        "@context": [CONTEXT, MULTIKEY_CONTEXT],
        "id": did,
        "alsoKnownAs": [each.key.did for each in held],
        "verificationMethod": [_method(did, each) for each in held],
        "assertionMethod": [method_of(did, each.key) for each in held if each.revoked is None],
    }


def method_of(did: str, key: VerifyingKey) -> str:
    """What proofs under a name call a key."""
    return f"{did}#{key.multibase}"


def require_issuer(issuer: str, key: VerifyingKey, where: str = "issuer") -> None:
    """Returns if the key may be that of an issuer: for `did:key`, if it is it. Raises `WrongKey`."""
    if issuer != key.did and not (issuer.startswith(_WEB) and DID.fullmatch(issuer)):
        raise WrongKey(
            f"names {issuer[:140]!r}, not the key given",
            remedy="verify with the key of the issuer it names",
            where=where,
        )


def require_method(named: str, key: VerifyingKey, issuer: str | None, where: str) -> None:
    """Returns if a proof names the key given, as its issuer calls it, or as any may. Raises `WrongKey`."""
    did, _, fragment = named.partition("#")
    if fragment == key.multibase and issuer in (None, did):
        require_issuer(did, key, where)
        return
    raise WrongKey(
        f"names {named[:140]!r}, not the key given",
        remedy="verify with the key of the issuer it names",
        where=where,
    )


def _method(did: str, held: HeldKey) -> dict[str, object]:
    revoked: dict[str, object] = {} if held.revoked is None else {"revoked": held.revoked.since}
    return {
        "id": method_of(did, held.key),
        "type": "Multikey",
        "controller": did,
        "publicKeyMultibase": held.key.multibase,
        **revoked,
    }


def _parts(url: str) -> tuple[str, int | None, list[str]]:
    """Host, port and path of a URL."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _unusable(url) from None
    segments = [each for each in parts.path.split("/") if each]
    plain = parts.scheme == "https" and "@" not in parts.netloc and not (parts.query or parts.fragment)
    if not plain or not _HOST.fullmatch(host) or _is_address(host) or not all(map(_is_segment, segments)):
        raise _unusable(url)
    return host, port, segments


def _is_segment(text: str) -> bool:
    return _SEGMENT.fullmatch(text) is not None and text.strip(".") != ""


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _unusable(url: str) -> InvalidValue:
    return InvalidValue(
        f"{url[:80]!r} is no public URL",
        remedy="write https, the name of a host, and a path of letters, digits, dots and dashes, if any",
        where="public_url",
    )
