"""Who visits the pages: their session and principal, and whether a form came from a page of ours.

Rules
-----
* A session's cookie is `HttpOnly`, `SameSite=Strict`, for every path of the base; where the browser came by https it is
  `Secure` and by its name bound to the host, if the base is at its root. No route of the JSON API takes it.
* Each request looks the principal up anew. Without a session there is `Unauthenticated`.
* Where the graph is open to whoever has no token (`api.callers.auth`), so are the pages: such a visitor has a session
  that nothing is kept of, and sends no forms but queries.
* A form is taken only with the session's forgery token, and, where the browser says whence it comes (`Sec-Fetch-Site`,
  else `Origin`), from this very site.
* Empty fields of a form are as those that are not there. Others that nothing knows are errors, as everywhere.
* A time may be given to the minute, as browsers' own inputs have it. Without a zone it is UTC, as all that pages show.
* What somebody wrote into a form that is not taken is there for the page that says so (`written_in`), by few names: a
  token is not among them.

Example
-------
::

    async def queue(request: Request, visitor: Visitor) -> Response:
        ...
    async def decide(request: Request, visitor: Visitor) -> Response:
        form = await read_form(request, visitor.session.forgery_token, (DECISION, COMMENT))
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import Depends
from starlette.requests import Request

from api.callers.access_log import note_caller
from api.callers.sessions import LONGEST, Session, Sessions
from api.errors import ForgedForm, UnsupportedMediaType
from api.http.bodies import read_body
from api.http.media import body_type
from api.http.parameters import Parameter, Parameters, read_parameters
from api.http.paths import path_within, root_of
from api.routes.sparql import FORM
from api.service import Service
from kernel.access import Principal, Role
from kernel.errors import CallerError, Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

FORGERY_TOKEN: Final = Parameter("forgery-token", "what the page's form carries", {"type": "string"}, "")

_COOKIE: Final = "muniment-session"
_FORM_LIMIT: Final = 2**18
_MOST_FIELDS: Final = 1_000
_FORM_SENT: Final = "muniment.form"
"""In the scope of a request: the form that was read."""

WRITTEN: Final = ("comment", "query", "reason")
"""The fields that people write at length in."""

MINUTE: Final = re.compile(r"(-?\d{4,6}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?", re.ASCII)
"""A day and a time of it: the seconds and the zone may be left out."""

_ROLES: Final = {
    Role.READER: "reader",
    Role.WRITER: "writer",
    Role.EDITOR: "editor",
    Role.ADMINISTRATOR: "administrator",
}


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody who is signed in."""

    principal: Principal
    session: Session

    @property
    def role(self) -> str:
        """What they are, in a word."""
        return _ROLES[self.principal.highest]


def sessions_of(request: Request) -> Sessions:
    """The sessions of the service that a request came to."""
    sessions: Sessions = request.app.state.sessions
    return sessions


def visit_of(request: Request) -> Visit | None:
    """Who visits; None when they are not signed in, or no longer, and would have to be."""
    session = sessions_of(request).find(cookie_of(request))
    if session is None:
        return _anonymous(request)
    service = Service.of(request)
    principal = service.base.ledger.principal_of(session.token)
    if principal is None:
        sessions_of(request).end(cookie_of(request))
        return _anonymous(request)
    principal = service.within(principal)
    request.scope["muniment.principal"] = principal.id
    note_caller(request.scope, principal)
    return Visit(principal, session)


def _anonymous(request: Request) -> Visit | None:
    principal = Service.of(request).anonymous
    if principal is None or (request.method == "POST" and path_within(request.scope) != "/query"):
        return None
    request.scope["muniment.principal"] = principal.id
    note_caller(request.scope, principal)
    principal = Service.of(request).within(principal)
    # There is nobody in whose name another site could send a form, and so nothing to tell such a form by.
    return Visit(principal, Session(b"", 0.0, 0.0, forgery_token=""))


async def _required(request: Request) -> Visit:
    visit = visit_of(request)
    if visit is None:
        raise Unauthenticated("you are not signed in, or no longer", remedy="sign in")
    return visit


Visitor = Annotated[Visit, Depends(_required)]
"""The parameter of a page's route by which it knows its visitor."""


# --- cookies ----------------------------------------------------------------------------------------------------------


def cookie_of(request: Request) -> str:
    """The cookie of the session; empty, which is no session's, where there is none."""
    return request.cookies.get(_name(request, secure=True)) or request.cookies.get(_name(request, secure=False), "")


def keep(request: Request, response: Response, cookie: str) -> None:
    """Has the browser keep a session's cookie."""
    secure = is_secure(request)
    response.set_cookie(
        _name(request, secure=secure),
        cookie,
        max_age=int(LONGEST),
        path=root_of(request.scope) or "/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )


def drop(request: Request, response: Response) -> None:
    """Has the browser forget it."""
    secure = is_secure(request)
    name, path = _name(request, secure=secure), root_of(request.scope) or "/"
    response.delete_cookie(name, path=path, secure=secure, httponly=True, samesite="strict")


def _name(request: Request, *, secure: bool) -> str:
    """What a session's cookie is called: of each base differently, so that none takes the place of another's."""
    root = root_of(request.scope)
    if root:
        return f"{'__Secure-' * secure}{_COOKIE}-{root.rpartition('/')[2]}"
    return f"{'__Host-' * secure}{_COOKIE}"


def is_secure(request: Request) -> bool:
    """Whether the browser came by https, also where a proxy took that off: its Origin says so."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")


# --- forms ------------------------------------------------------------------------------------------------------------


async def read_form(request: Request, forgery_token: str, known: Sequence[Parameter]) -> Parameters:
    """The fields of a form that a page of ours sent.

    Raises:
        ForgedForm: another site sent it, or it does not carry the token.
        UnknownParameter: a field that nothing knows.
    """
    require_same_site(request)
    media_type = body_type(request.headers.get("content-type"))
    if media_type != FORM:
        raise UnsupportedMediaType(f"a form does not come as {media_type}", remedy=f"send {FORM}", where="Content-Type")
    body = request.scope[_FORM_SENT] = await read_body(request, _FORM_LIMIT)
    form = read_parameters((*known, FORGERY_TOKEN), without_empty(body))
    if sessions_of(request).is_forgery(forgery_token, form.text(FORGERY_TOKEN) or ""):
        raise _forged("the form is not one of this session, or it is from before you signed in")
    return form


def require_same_site(request: Request) -> None:
    """Raises `ForgedForm` where the browser says that the request comes from elsewhere."""
    if not is_from_here(request):
        raise _forged("the form was sent from another site")


def is_from_here(request: Request) -> bool:
    """Whether the browser does not say that the request comes from elsewhere."""
    fetched_from, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if fetched_from is not None:
        return fetched_from in ("same-origin", "none")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host", "")


def page_parameters(request: Request, known: Sequence[Parameter]) -> Parameters:
    """The parameters of a page, of which a form sends also those that were left empty."""
    query: bytes = request.scope["query_string"]
    return read_parameters(known, without_empty(query))


def time_of(parameters: Parameters, parameter: Parameter) -> str | None:
    """The text of a time, with seconds and zone where it has an hour."""
    given = MINUTE.fullmatch(parameters.text(parameter) or "")
    if given is None:
        return parameters.time(parameter)
    day, minute, second, zone = given.groups()
    return f"{day}T{minute}{second or ':00'}{zone or 'Z'}"


async def written_in(request: Request) -> dict[str, str]:
    """What somebody wrote into the form that a request of this site brought, by the names in `WRITTEN`."""
    if not is_from_here(request):
        return {}
    body = request.scope.get(_FORM_SENT)
    try:
        if body is None and body_type(request.headers.get("content-type")) == FORM:
            body = await read_body(request, _FORM_LIMIT)
        fields = parse_qsl((body or b"").decode(), max_num_fields=_MOST_FIELDS)
    except (CallerError, ValueError):
        return {}
    return {name: value.replace("\r\n", "\n") for name, value in fields if name in WRITTEN and value.strip()}


def without_empty(encoded: bytes) -> bytes:
    """A form or query string without the fields that are empty; what cannot be read is left for the error to say."""
    try:
        fields = parse_qsl(encoded.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        return encoded
    return urlencode([(name, value.replace("\r\n", "\n")) for name, value in fields if value]).encode()


def _forged(message: str) -> ForgedForm:
    return ForgedForm(message, remedy="open the page again, and send its form from there")
