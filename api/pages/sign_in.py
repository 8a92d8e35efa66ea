"""`/sign-in` and `/sign-out`: by token, or by a link that works once.

Rules
-----
* A link with a code shows who it is for, and signs in only when that is confirmed: a browser or mail program that looks
  at links in advance does not use it up.
* After signing in one is where one wanted to be, if that is a page of ours; never anywhere else.
* Signing in begins a new session, whatever cookie came with it; signing out ends it.
* What somebody had written when their session had ended goes through the form, and is on its page again after that.
* `SameSite=Strict` cookies are not sent along when a link on another site is followed: the page then says so, and links
  on.

Example
-------
::

    GET /sign-in?code=… → "Sign in as editor-1", a button; POST /sign-in → 303 /queue
"""

from __future__ import annotations

import re
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.callers.auth import REALM, token_hash
from api.http.parameters import Parameter, query_parameters
from api.http.paths import path_within, root_of
from api.pages.rendering import page, see_other
from api.pages.visiting import (
    Visitor,
    cookie_of,
    drop,
    is_secure,
    keep,
    page_parameters,
    read_form,
    sessions_of,
    visit_of,
)
from api.service import Service

if TYPE_CHECKING:
    from api.http.parameters import Parameters
    from kernel.access import Principal

_TEXT: Final[dict[str, object]] = {"type": "string"}
TOKEN: Final = Parameter("token", "a token that `muniment token create` made", _TEXT, "…")
CODE: Final = Parameter("code", "a code that works once", _TEXT, "…")
NEXT: Final = Parameter("next", "the page to go on to", _TEXT, "/queue")

WRITTEN: Final = Parameter("written", "what was written on that page", _TEXT, "as the register has it")

HOME: Final = "/queue"
_PAGE: Final = re.compile(r"/(?:queue(?:/[0-9A-Za-z:-]+){0,2}|purging(?:/[0-9A-Za-z:-]+)?|node|query)", re.ASCII)
"""Paths of pages: none has dots, so that nothing leads out of them."""

_NONCE: Final = "muniment-sign-in"
_NONCE_LIFETIME: Final = 3_600

LONGEST_ADDRESS: Final = 4_000
"""Characters of a page's address: longer ones are lost on the way, here or in proxies."""

router = APIRouter(include_in_schema=False)


@router.get("/", response_class=Response)
async def front(request: Request) -> Response:
    """The queue for those who are signed in, the sign-in form for others."""
    query_parameters(request, ())
    return see_other(HOME if visit_of(request) else "/sign-in")


@router.get("/sign-in", response_class=Response)
async def sign_in_form(request: Request) -> Response:
    """The form; or, with a code, the question whether it is meant."""
    parameters = page_parameters(request, (CODE, NEXT))
    code, onwards = parameters.text(CODE), _onwards(parameters)
    visit = visit_of(request)
    if visit is not None and not visit.principal.is_anonymous and code is None:
        return see_other(onwards)
    who = None if code is None else _who(request, sessions_of(request).peek(code))
    return _form(request, code=code if who else None, who=who, onwards=onwards, spent=code is not None and who is None)


@router.post("/sign-in", response_class=Response)
async def sign_in(request: Request) -> Response:
    """Begins a session for a token, or for a code."""
    sessions = sessions_of(request)
    form = await read_form(
        request, sessions.forgery_token(request.cookies.get(_NONCE, "")), (TOKEN, CODE, NEXT, WRITTEN)
    )
    address = request.client.host if request.client else ""
    sessions.require_patience(address)
    token, code, onwards, written = form.text(TOKEN), form.text(CODE), _onwards(form), form.text(WRITTEN)
    known = sessions.redeem(code) if code is not None else token_hash((token or "").strip())
    if known is None or _who(request, known) is None:
        sessions.failed(address)
        problem = None if code is not None else "That token is unknown, expired or revoked."
        return _form(request, onwards=onwards, written=written, spent=code is not None, problem=problem, status=401)
    sessions.end(cookie_of(request))
    answer = see_other(onwards)
    keep(request, answer, sessions.begin(known, None if written is None else (onwards, written)))
    answer.delete_cookie(_NONCE, path=f"{root_of(request.scope)}/sign-in", httponly=True, samesite="strict")
    return answer


@router.post("/sign-out", response_class=Response)
async def sign_out(request: Request, visit: Visitor) -> Response:
    """Ends the session."""
    await read_form(request, visit.session.forgery_token, ())
    sessions_of(request).end(cookie_of(request))
    answer = see_other("/sign-in")
    drop(request, answer)
    return answer


def sign_in_path(request: Request) -> str:
    """Where somebody who is not signed in goes, to come back after that."""
    query = request.url.query
    onwards = path_within(request.scope) + (f"?{query}" if query else "")
    if not _is_ours(onwards):
        return "/sign-in"
    return "/sign-in?" + urlencode({"next": onwards})


def sign_in_again(request: Request, written: str | None) -> Response:
    """The form for somebody who sent one when their session had ended, with what they wrote."""
    onwards = path_within(request.scope).removesuffix("/decision")
    return _form(request, onwards=onwards if _is_ours(onwards) else HOME, written=written, status=401)


def _form(
    request: Request,
    *,
    code: str | None = None,
    who: Principal | None = None,
    onwards: str,
    written: str | None = None,
    spent: bool = False,
    problem: str | None = None,
    status: int = 200,
) -> Response:
    """The form, in a browser that from now on keeps a nonce to send it with."""
    nonce = request.cookies.get(_NONCE) or token_urlsafe(16)
    content = {
        "code": code,
        "who": who,
        "onwards": onwards,
        "written": written,
        "spent": spent,
        "problem": problem,
        "ended": status == 401 and problem is None and not spent,
        "forgery_token": sessions_of(request).forgery_token(nonce),
        "from_elsewhere": request.headers.get("sec-fetch-site") == "cross-site" and onwards != HOME,
    }
    headers = {"WWW-Authenticate": f'Bearer realm="{REALM}"'} if status == 401 else {}
    answer = page(request, "sign_in.html", None, content, status=status, headers=headers)
    answer.set_cookie(
        _NONCE,
        nonce,
        max_age=_NONCE_LIFETIME,
        path=f"{root_of(request.scope)}/sign-in",
        secure=is_secure(request),
        httponly=True,
        samesite="strict",
    )
    return answer


def _who(request: Request, known: bytes | None) -> Principal | None:
    """Whom a token stands for that opens the pages; not one that cites what it read, for pages have nothing to cite."""
    principal = None if known is None else Service.of(request).base.ledger.principal_of(known)
    return None if principal is not None and principal.cites else principal


def _onwards(parameters: Parameters) -> str:
    wanted = parameters.text(NEXT)
    return wanted if wanted is not None and _is_ours(wanted) else HOME


def _is_ours(path: str) -> bool:
    """Whether it is the address of a page of this service, as links have it, and cannot be read as any other."""
    page_path, _, query = path.partition("?")
    plain = query.isascii() and query.isprintable() and not set(" \\#") & set(query)
    return len(path) <= LONGEST_ADDRESS and plain and _PAGE.fullmatch(page_path) is not None
