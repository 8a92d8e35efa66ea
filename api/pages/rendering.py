"""Pages as answers: templates, what every page has, and the headers that keep it to itself.

Rules
-----
* Everything that a template is given is escaped, and what is hidden in it is written out (`api.pages.visible`), but for
  what is `exact`. Nothing is inline, no script, no style, so that the policy can forbid them: `default-src 'self'`, no
  frames around it, forms to this site alone.
* What is private is never stored by a browser or a proxy. Style sheet and icon have their digest in their address and
  are kept for as long as anybody likes.

Example
-------
::

    return page(request, "queue.html", visit, {"rows": rows})
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from api.errors import UnknownPath
from api.http.parameters import query_parameters
from api.http.paths import path_within, root_of
from api.pages.visible import HEADING, PASSAGE, clipped, exact, finalized, in_full, marked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from api.pages.visiting import Visit

_POLICY: Final = (
    "default-src 'self'; script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
SECURITY: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": with that a browser would not say either where our own forms come from.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
PRIVATE: Final = {**SECURITY, "Cache-Control": "no-store", "Vary": "Cookie"}
_LASTING: Final = {**SECURITY, "Cache-Control": "public, max-age=31536000, immutable"}
_KINDS: Final = {"muniment.css": "text/css; charset=utf-8", "muniment.svg": "image/svg+xml"}

_LINK: Final = re.compile(r'\b(href|action|src)="/')

router = APIRouter(include_in_schema=False)


def page(
    request: Request,
    template: str,
    visit: Visit | None,
    content: Mapping[str, object],
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A page.

    Args:
        request: what it answers.
        template: its file.
        visit: who is signed in.
        content: what the template shows.
        status: of the answer.
        headers: beyond those that every page has.
    """
    values: dict[str, Any] = {"visit": visit, "path": path_within(request.scope), "asset": asset_path, **content}
    body = within(root_of(request.scope), _environment().get_template(template).render(values))
    return Response(body, status, {**PRIVATE, **(headers or {})}, "text/html; charset=utf-8")


def within(root: str, body: str) -> str:
    """A page whose links stay within its base. What a page tells has no quotes of its own that they could be taken for.

    >>> within("/b/one", '<a href="/queue">=&#34;/queue</a>')
    '<a href="/b/one/queue">=&#34;/queue</a>'
    """
    return _LINK.sub(rf'\1="{root}/', body) if root else body


@cache
def make_ready() -> None:
    """Compiles the templates, once a process, so that no visitor waits for it: it takes longer than any page."""
    environment = _environment()
    for name in environment.list_templates(extensions=["html"]):
        environment.get_template(name)


def see_other(path: str) -> Response:
    """Sends a browser on to a page of ours."""
    return RedirectResponse(path, 303, PRIVATE)


@cache
def asset_path(name: str) -> str:
    """Where an asset is."""
    return f"/assets/{_digest(name)}/{name}"


@router.get("/assets/{digest}/{name}", response_class=Response)
async def asset(request: Request, digest: str, name: str) -> Response:
    """The style sheet and the icon; for everybody."""
    query_parameters(request, ())
    if name not in _KINDS or digest != _digest(name):
        raise UnknownPath("there is no such file", remedy="open the page again")
    return Response(_asset(name), 200, {**_LASTING, "Content-Type": _KINDS[name]})


@cache
def _asset(name: str) -> bytes:
    return (files("api.pages") / "assets" / name).read_bytes()


@cache
def _digest(name: str) -> str:
    return sha256(_asset(name)).hexdigest()[:16]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("api.pages"),
        autoescape=True,
        finalize=finalized,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {"clipped": clipped, "exact": exact, "in_full": in_full, "marked": marked}
    environment.globals |= {"HEADING": HEADING, "PASSAGE": PASSAGE}
    return environment
