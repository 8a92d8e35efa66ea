"""Whom an issuer of tokens knows, and what they may do here: the setting `oidc`.

Rules
-----
* An issuer is trusted by configuration alone: its name, the audience that its tokens are for, and where its keys are.
  Nothing of that is ever taken from a token or found out on the network.
* Keys are in a file, or at the one URL that is named here: by https, or on this host. A set of keys that is asked for
  by plain http could be anybody's.
* Algorithms are signatures by a private key. `none` is none, and one with a shared secret (HS256 and the like) would
  let whoever knows the public key sign.
* Grants say which claim gives which role, in which graphs. Whoever has no grant has no role.

Example
-------
>>> grant = OidcGrant.model_validate({"claim": ["realm_access", "roles"], "has": "kg", "role": "editor"})
>>> grant.fits({"realm_access": {"roles": ["kg", "other"]}}), grant.fits({"realm_access": []})
(True, False)
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from api.callers.roles import RoleName
from kernel.errors import InvalidTerm
from kernel.terms import Iri
from kernel.vocabulary import GOVERNANCE, is_history

SIGNED_BY: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519"}
)
"""Algorithms of RFC 7518, section 3.1, and of RFC 9864 that take a key pair."""

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_WORDS: Final = frozenset({"scope", "scp"})
"""Claims whose text is a list of words (RFC 8693, section 4.2)."""

_ISSUER: Final = re.compile(r"[\x21-\x7e]{1,200}")


def require_graph(text: str) -> str:
    """A graph in which somebody may be given a role. Raises `ValueError`."""
    try:
        graph = Iri(text)
    except InvalidTerm:
        graph = None
    if graph is None or is_history(graph) or graph in GOVERNANCE:
        raise ValueError(f"{text[:80]!r} is no graph: write its IRI")
    return text


class OidcGrant(BaseModel):
    """A role for those whose tokens have a claim."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: RoleName
    claim: tuple[str, ...] = Field((), description="the claim, or the path to it; none: whoever has a token")
    has: str | None = Field(None, description="what the claim is, or has in its list")
    graphs: tuple[str, ...] | None = Field(None, description="where; by default in the whole base")
    cites: bool = Field(False, description="whether whoever has it cites what they read, with each write")

    @field_validator("claim", mode="before")
    @classmethod
    def _one_claim(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("graphs")
    @classmethod
    def _graphs(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if value is None else tuple(map(require_graph, value))

    @model_validator(mode="after")
    def _both(self) -> OidcGrant:
        if bool(self.claim) is (self.has is None):
            raise ValueError("a claim goes with what it `has`, and the other way round")
        return self

    def fits(self, claims: dict[str, JsonValue]) -> bool:
        """Whether a token with these claims has the grant."""
        value: JsonValue = claims
        for name in self.claim:
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, str) and self.claim[-1] in _WORDS:
            return self.has in value.split(" ")
        return not self.claim or value == self.has or (isinstance(value, list) and self.has in value)


class OidcSettings(BaseModel):
    """An issuer whose tokens are taken."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    issuer: str = Field(description="its name, as tokens have it in `iss`")
    audience: str = Field(min_length=1, description="what tokens for this service have in `aud`")
    jwks: str = Field(description="its keys: a file, or a URL")
    algorithms: tuple[str, ...] = Field(("RS256", "ES256"), min_length=1)
    leeway: int = Field(30, ge=0, le=600, description="by how many seconds its clock may differ")
    grants: tuple[OidcGrant, ...] = Field(min_length=1)

    @field_validator("issuer")
    @classmethod
    def _issuer(cls, value: str) -> str:
        if not _ISSUER.fullmatch(value):
            raise ValueError("an issuer is up to 200 visible ASCII characters, mostly a URL")
        return value

    @field_validator("jwks")
    @classmethod
    def _jwks(cls, value: str) -> str:
        address = urlsplit(value)
        if address.scheme in ("http", "https"):
            if address.scheme == "http" and address.hostname not in _LOOPBACK:
                raise ValueError("keys are not asked for by plain http: give an https URL, or a file")
        elif not Path(value).is_file():
            raise ValueError(f"there is no file {value[:200]}")
        return value

    @field_validator("algorithms")
    @classmethod
    def _algorithms(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for each in value:
            if each not in SIGNED_BY:
                raise ValueError(f"{each[:20]!r} is not taken: choose among {', '.join(sorted(SIGNED_BY))}")
        return value
