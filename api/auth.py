"""Who is calling: a bearer token (RFC 6750) and the principal that the ledger knows it by.

Rules
-----
* Every route but the health check and the OpenAPI document depends on `BEARER`, and on nothing else, for its caller.
* The ledger keeps no token, only its SHA-256. A token that is absent, malformed, unknown, expired or revoked gets the
  same answer, after the same hash and the same look-up: the answer's time tells nothing of what is kept.
* Each request looks anew: a token that is revoked works no more.

Example
-------
>>> len(token_hash("a-token"))
32
"""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Final

from fastapi import Depends
from fastapi.openapi.models import HTTPBearer as HTTPBearerModel
from fastapi.security.base import SecurityBase
from starlette.requests import Request

from api.service import Service
from kernel.access import Principal
from kernel.errors import Unauthenticated

REALM: Final = "muniment"

_SCHEME: Final = b"bearer "
_AUTHORIZATION: Final = b"authorization"


def token_hash(token: str | bytes) -> bytes:
    """What the ledger keeps of a token."""
    return sha256(token.encode() if isinstance(token, str) else token).digest()


class BearerToken(SecurityBase):
    """The dependency that names the caller."""

    def __init__(self) -> None:
        self.model = HTTPBearerModel(description="A token as `muniment token create` prints it")
        self.scheme_name = "token"

    async def __call__(self, request: Request) -> Principal:
        """The principal whose token the request carries. Raises `Unauthenticated`."""
        presented = [value for name, value in request.scope["headers"] if name == _AUTHORIZATION]
        principal = Service.of(request).base.ledger.principal_of(token_hash(_token(presented)))
        if principal is None:
            raise Unauthenticated(
                "the token is unknown, expired or revoked" if presented else "there is no token",
                remedy="send `Authorization: Bearer` and a token that `muniment token create` made",
                where="Authorization",
            )
        request.scope["muniment.principal"] = principal.id
        return principal


def _token(presented: list[bytes]) -> bytes:
    """The token of the one Authorization header; empty, which is no token, for anything else."""
    if len(presented) != 1 or presented[0][: len(_SCHEME)].lower() != _SCHEME:
        return b""
    return presented[0][len(_SCHEME) :].strip(b" ")


Caller = Annotated[Principal, Depends(BearerToken())]
"""The parameter of a route by which it knows its caller."""
