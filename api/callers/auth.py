"""Who is calling: a bearer token (RFC 6750) and the principal that the ledger knows it by.

Rules
-----
* Every route but the health check and the OpenAPI document depends on `BEARER`, and on nothing else, for its caller.
* The ledger keeps no token, only its SHA-256. A token that is malformed, unknown, expired or revoked gets the same
  answer; where there is none, this is said. All of it comes after the same hash and the same look-up: the answer's
  time tells nothing of what is kept.
* A JSON Web Token counts where an issuer is configured that vouches for it (`api.callers.oidc`).
* Whoever sends no token at all is anonymous, where `MUNIMENT_ANONYMOUS_GRAPHS` lets such callers read some graphs. They
  read; whatever else they ask is told to say who it is (401, not 403).
* Of callers that have to cite what they read it is asked here that they do (`api.callers.citing`).
* Each request looks anew: a token that is revoked works no more. An answer that is still being sent by then ends soon
  (`api.callers.welcome`).

Example
-------
>>> len(token_hash("a-token"))
32
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Depends
from fastapi.openapi.models import HTTPBearer as HTTPBearerModel
from fastapi.security.base import SecurityBase
from starlette.requests import Request

from api.callers.access_log import note_caller
from api.callers.citing import read_or_cited
from api.callers.oidc import is_web_token
from api.callers.welcome import welcome
from api.service import Service
from kernel.access import ANONYMOUS, Principal
from kernel.errors import Forbidden, Unauthenticated

if TYPE_CHECKING:
    from api.callers.oidc import Issuer
    from kernel.ports.ledger import Ledger

REALM: Final = "muniment"

_REMEDY: Final = "send `Authorization: Bearer` and a token that `muniment token create` made"

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
        """The principal whose token the request carries. Raises `Unauthenticated`, and as `read_or_cited` does."""
        principal = await caller_of(request)
        if principal is None:
            raise Unauthenticated(_problem(request), remedy=_REMEDY, where="Authorization")
        read_or_cited(request, principal, Service.of(request).base.stores.feed.state.head)
        return principal


async def caller_of(request: Request) -> Principal | None:
    """Who sends a request; None for whoever is not let in."""
    service, token = Service.of(request), token_of(request)
    principal = await _of_issuer(request, service.issuer, token) or _of_ledger(request, service.base.ledger, token)
    if principal is None and not _presented(request) and _only_reads(request):
        principal = service.anonymous
    if principal is not None:
        principal = service.within(principal)
        request.scope["muniment.principal"] = principal.id
        note_caller(request.scope, principal)
    return principal


def _of_ledger(request: Request, ledger: Ledger, token: bytes) -> Principal | None:
    """Whose token it is, if it was made here."""
    known_by = token_hash(token)
    principal = ledger.principal_of(known_by)
    if principal is not None:
        welcome(request.scope, lambda: ledger.principal_of(known_by) is not None)
    return principal


async def _of_issuer(request: Request, issuer: Issuer | None, token: bytes) -> Principal | None:
    """Whose token it is, if the issuer that is configured made it. Raises as `Issuer.vouched` does."""
    vouched = await issuer.vouched(token) if issuer is not None and is_web_token(token) else None
    if issuer is None or vouched is None:
        return None
    until = vouched.until
    welcome(request.scope, lambda: issuer.still(until))
    return vouched.principal


def as_told(request: Request, error: Exception) -> Exception:
    """The error that a caller meets: who is anonymous and may not do something is asked who they are."""
    if isinstance(error, Forbidden) and request.scope.get("muniment.principal") == ANONYMOUS:
        return Unauthenticated("without a token this may not be done", remedy=_REMEDY, where="Authorization")
    return error


def _only_reads(request: Request) -> bool:
    """Whether a request reads, as far as can be told without looking into it: queries are posted as well."""
    return request.method in ("GET", "HEAD") or (request.method == "POST" and request.scope["path"].endswith("/sparql"))


def token_of(request: Request) -> bytes:
    """The token of the one Authorization header; empty, which is no token, for anything else."""
    presented = _presented(request)
    if len(presented) != 1 or presented[0][: len(_SCHEME)].lower() != _SCHEME:
        return b""
    return presented[0][len(_SCHEME) :].strip(b" ")


def _presented(request: Request) -> list[bytes]:
    return [value for name, value in request.scope["headers"] if name == _AUTHORIZATION]


def _problem(request: Request) -> str:
    """Why a request's headers let nobody in."""
    if token_of(request):
        return "the token is unknown, expired or revoked"
    presented = _presented(request)
    if len(presented) > 1:
        return "there are several Authorization headers, and one alone can count"
    if presented and presented[0].split(b" ")[0].lower() != _SCHEME.strip():
        return "the Authorization header is of another scheme than Bearer"
    return "there is no token"


BEARER: Final = Depends(BearerToken())
"""What a route depends on that is for whoever may use the base, and need not know who that is."""

Caller = Annotated[Principal, BEARER]
"""The parameter of a route by which it knows its caller."""
