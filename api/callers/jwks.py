"""The public keys of an issuer (JSON Web Key Set, RFC 7517, section 5), as they are now.

Rules
-----
* They are read when the first token comes, again when they are `FRESH` seconds old, and when a token names a key that
  is not among them; but not twice within `PAUSE` seconds, whatever tokens name.
* Where they cannot be read, those from before are good for `KEPT` seconds after they were read. Then nobody is let in,
  and the service says that it cannot tell.
* Asked for is the URL that is configured, without following redirects, with no proxy of the environment's, for so long
  and so much; and nothing else, whatever a token says of where its keys are.
* Taken are keys for signatures that have a public half, RSA from 2048 bits on; others are passed over. A token that
  names no key has the only one there is, if there is only one.

Example
-------
::

    keys = IssuerKeys("https://login.example.org/keys")
    key = await keys.named("2026-11")
"""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

import httpx2
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, OKPKey, RSAKey

from kernel.errors import OperatorError

if TYPE_CHECKING:
    from collections.abc import Callable

    from joserfc.jwk import Key

FRESH: Final = 900.0
PAUSE: Final = 30.0
KEPT: Final = 86_400.0
"""Seconds, as are the others."""

_PATIENCE: Final = 5.0
_MOST: Final = 2**20
_SHORTEST_RSA: Final = 2_048

log = logging.getLogger("muniment.http")


class IssuerUnavailable(OperatorError):
    """Whether a token is the issuer's cannot be told, because its keys cannot be read."""

    code = "issuer-unavailable"


class IssuerKeys:
    """The keys at one place.

    Args:
        place: an http or https URL, or a file.
        clock: seconds that do not step back.
    """

    def __init__(self, place: str, clock: Callable[[], float] = monotonic) -> None:
        self._place = place
        self._clock = clock
        self._keys: dict[str, Key] = {}
        self._read_at: float | None = None
        self._tried_at: float | None = None
        self._lock = asyncio.Lock()

    async def named(self, kid: str | None) -> Key | None:
        """The key of that name; None if there is none. Raises `IssuerUnavailable`."""
        if self._is_due(kid):
            async with self._lock:
                if self._is_due(kid):
                    await self._read()
        if self._read_at is None or self._clock() - self._read_at > KEPT:
            raise IssuerUnavailable("the issuer's keys cannot be read", remedy="look at the log, and at `oidc.jwks`")
        if kid is None:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(kid)

    def _is_due(self, kid: str | None) -> bool:
        now = self._clock()
        if self._tried_at is not None and now - self._tried_at < PAUSE:
            return False
        old = self._read_at is None or now - self._read_at > FRESH
        return old or (kid is not None and kid not in self._keys)

    async def _read(self) -> None:
        begun = self._clock()
        try:
            self._keys = usable_keys(await self._text())
        except (OSError, ValueError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            log.warning("the issuer's keys cannot be read from %s: %s", self._place, str(error) or type(error).__name__)
        else:
            self._read_at = begun
        self._tried_at = begun  # at the end: whoever comes meanwhile waits for it

    async def _text(self) -> bytes:
        if not self._place.startswith(("http://", "https://")):
            return await asyncio.to_thread(Path(self._place).read_bytes)
        async with (
            asyncio.timeout(_PATIENCE),
            httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=_PATIENCE) as client,
            client.stream("GET", self._place, headers={"Accept": "application/json"}) as answer,
        ):
            if answer.status_code != httpx2.codes.OK:
                raise ValueError(f"it answers {answer.status_code}")
            text = b""
            async for chunk in answer.aiter_bytes():
                text += chunk
                if len(text) > _MOST:
                    raise ValueError("it is too large for a set of keys")
            return text


def usable_keys(text: bytes) -> dict[str, Key]:
    """The keys of a set that verify signatures, by their names. Raises `ValueError` where there are none."""
    listed = json.loads(text)
    members = listed.get("keys") if isinstance(listed, dict) else None
    keys: dict[str, Key] = {}
    for each in members if isinstance(members, list) else ():
        key = _usable(each)
        if key is not None and key.kid is not None:
            keys[key.kid] = key
    if not keys:
        raise ValueError("it has no key that can be used")
    return keys


def _usable(listed: object) -> Key | None:
    if not isinstance(listed, dict) or listed.get("use", "sig") != "sig":
        return None
    modulus = listed.get("n")
    if isinstance(modulus, str) and len(modulus) * 6 < _SHORTEST_RSA:  # base64url has six bits a character
        return None
    try:
        key = JWKRegistry.import_key(listed)
        key.ensure_kid()
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    return key if isinstance(key, RSAKey | ECKey | OKPKey) else None
