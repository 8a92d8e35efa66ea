"""Callers whom an issuer vouches for: JSON Web Tokens (RFC 7519), such as OpenID Connect gives.

Rules
-----
* A token counts if a key of the issuer signed it, by an algorithm that is configured and that the key is for; if it is
  from that issuer, for this audience, and neither expired nor to be used later, but for some leeway. It must say when
  it expires, and who it is about.
* What a token says of its own verification is not followed: `jku`, `jwk`, `x5u`, `x5c`; what it calls critical is not
  known here, and refuses it (RFC 7515, section 4.1.11). Encrypted tokens are not read.
* A principal is called after issuer and subject, `https://issuer#subject`, so that no two of them are the same, and
  none is that of a token which was made here.
* Of its grants all that fit count together.
* Whoever sends what does not count learns no more than that; the log has the reason, and nothing of the token.

Example
-------
>>> principal_name("https://login.example.org", "ada lovelace")
'https://login.example.org#ada%20lovelace'
"""

from __future__ import annotations

import json
import logging
import re
from base64 import urlsafe_b64decode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jws import JWSRegistry

from api.callers.jwks import IssuerKeys
from kernel.access import Grant, Principal, Role
from kernel.errors import Unauthenticated
from kernel.terms import Iri
from kernel.time.instants import SECOND, Instant

if TYPE_CHECKING:
    from pydantic import JsonValue

    from api.callers.oidc_settings import OidcSettings
    from kernel.ports.outside import HostClock

LONGEST: Final = 16_384
"""Characters of a token."""

_SUBJECT: Final = re.compile(r"[\x20-\x7e]{1,255}")
"""OpenID Connect Core 1.0, section 2."""

log = logging.getLogger("muniment.http")


@dataclass(frozen=True, slots=True)
class Vouched:
    """Somebody whom the issuer vouches for, until an instant."""

    principal: Principal
    until: Instant


class Issuer:
    """An issuer whose tokens are taken.

    Args:
        settings: how.
        host: the clock by which tokens expire.
        keys: its keys; by default those at the place that is configured.
    """

    def __init__(self, settings: OidcSettings, host: HostClock, keys: IssuerKeys | None = None) -> None:
        self._settings = settings
        self._host = host
        self._keys = keys or IssuerKeys(settings.jwks)

    async def vouched(self, token: bytes) -> Vouched | None:
        """Whom a token is about; None for one that does not count.

        Raises:
            Unauthenticated: it counts, and gives no role here.
            IssuerUnavailable: the issuer's keys cannot be read.
        """
        try:
            key = await self._keys.named(_key_named_in(token))
            if key is None:
                raise ValueError("it is signed with no key of the issuer")
            registry = JWSRegistry(strict_check_header=False)
            claims = jwt.decode(token, key, [*self._settings.algorithms], registry).claims
            self._require(claims)
        except (JoseError, ValueError, OverflowError, RecursionError) as error:
            log.info("a token is refused: %s", _reason(error))
            return None
        return Vouched(self._principal(claims), Instant((int(claims["exp"]) + self._settings.leeway) * SECOND))

    def still(self, until: Instant) -> bool:
        """Whether a token that counts until then still does."""
        return self._host.now() < until

    def _require(self, claims: dict[str, JsonValue]) -> None:
        """Raises `JoseError` or `ValueError` for claims that do not count."""
        wanted = self._settings
        jwt.JWTClaimsRegistry(
            now=self._host.now() // SECOND,
            leeway=wanted.leeway,
            iss={"essential": True, "value": wanted.issuer},
            aud={"essential": True, "value": wanted.audience},
            exp={"essential": True},
            sub={"essential": True},
        ).validate(claims)
        if not _SUBJECT.fullmatch(str(claims["sub"])):
            raise ValueError("its subject is not 1 to 255 ASCII characters")

    def _principal(self, claims: dict[str, JsonValue]) -> Principal:
        grants = [grant for grant in self._settings.grants if grant.fits(claims)]
        if not grants:
            raise Unauthenticated(
                "the issuer knows you, and you have no role here",
                remedy="ask an administrator for a grant of `oidc`",
                where="Authorization",
            )
        everywhere = [grant.role.role for grant in grants if grant.graphs is None]
        within = frozenset(Grant(grant.role.role, Iri(graph)) for grant in grants for graph in grant.graphs or ())
        cites = any(grant.cites for grant in grants)
        name = principal_name(self._settings.issuer, str(claims["sub"]))
        return Principal(name, max(everywhere, default=Role.READER), None if everywhere else frozenset(), within, cites)


def principal_name(issuer: str, subject: str) -> str:
    """What somebody is called here."""
    return f"{issuer}#{quote(subject, safe='@.:+-_|')}"


def is_web_token(token: bytes) -> bool:
    """Whether a token has the form of a signed JSON Web Token, which none has that was made here."""
    return token.count(b".") == 2


def _key_named_in(token: bytes) -> str | None:
    """The name of the key that a token says it was signed with; None: it names none. Raises `ValueError`."""
    if len(token) > LONGEST:
        raise ValueError("it is too long")
    encoded = token.partition(b".")[0]
    header = json.loads(urlsafe_b64decode(encoded + b"=" * (-len(encoded) % 4)))
    kid = header.get("kid") if isinstance(header, dict) else None
    if kid is not None and not isinstance(kid, str):
        raise ValueError("it names no key")
    return kid


def _reason(error: Exception) -> str:
    """Why, in words that are not the token's."""
    if isinstance(error, JoseError):
        return error.error
    return str(error) if type(error) is ValueError else type(error).__name__
