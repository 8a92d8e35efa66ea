"""`GET /timemap?of=…`: the heads at which a URL of the base can be had (RFC 7089, section 5).

Rules
-----
* `of` is the URL, whole or from its path on, of something that is read here. Its `as-of`, if it has one, is left out.
* A link document (RFC 6690) comes by default, JSON by `Accept`. A page names the one that follows it, as a timemap of
  its own with the dates that it covers.
* Listed are heads. Every instant between them can be asked for too: facts begin and end by themselves.
* Heads are no secret: every answer tells its own.

Example
-------
::

    GET /timemap?of=/facts?subject=urn:ada → </facts?…>; rel="original timegate", …; rel="first memento"; datetime="…"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.callers.auth import BEARER
from api.http.media import accepted, preferred
from api.http.memento import (
    LINK_FORMAT,
    OF,
    TIMEMAP,
    TIMEMAP_OPERATION,
    memento_link,
    memento_of,
    original_url,
    timemap_of,
)
from api.http.moments import spell_date
from api.http.openapi import Answer, answers, extra, json_content, text_content
from api.http.parameters import Parameter, query_parameters
from api.http.paths import base_url, root_of
from api.http.replies import json_reply
from api.service import Service
from kernel.errors import InvalidParameter
from kernel.time.instants import print_instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from api.models import timemaps as models
    from kernel.ports.heads import AppliedHead

_JSON: Final = "application/json"
_READ_HERE: Final = ("/sparql", "/facts", "/graphs", "/graphs/", "/exports/")
"""What has mementos: these paths, and what is under those that end with a slash."""

_OF: Final = Parameter(
    OF, "the URL, or what of it begins with its path", {"type": "string"}, "/facts?subject=urn:ada", required=True
)
_LIMIT: Final = Parameter(
    "limit", "how many heads at most", {"type": "integer", "minimum": 1, "maximum": 1_000, "default": 500}, "500"
)
_AFTER: Final = Parameter(
    "after", "the head after which to begin", {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}, "41"
)
_PARAMETERS: Final = (_OF, _LIMIT, _AFTER)

router = APIRouter(tags=["reading"])


@router.get(
    TIMEMAP,
    operation_id=TIMEMAP_OPERATION,
    summary="List the heads at which a URL can be had",
    response_class=Response,
    responses=answers(
        {200: Answer("A page of heads", text_content([LINK_FORMAT]) | json_content("TimeMap"))},
        problems=(400, 401, 406),
    ),
    openapi_extra=extra(parameters=_PARAMETERS),
    dependencies=[BEARER],
)
async def list_mementos(request: Request) -> Response:
    """The states of a URL, oldest first, as links or as JSON."""
    parameters = query_parameters(request, _PARAMETERS)
    media_type = preferred(accepted(request), (LINK_FORMAT, _JSON))
    original = _original(request, parameters.text(_OF))
    limit, after = parameters.number(_LIMIT, default=500), parameters.number(_AFTER, default=-1)
    service = Service.of(request)
    heads = await service.read(lambda: _heads(service, after, limit + 1))
    following = (
        f"{timemap_of(original)}&limit={limit}&after={heads[limit - 1].position}" if len(heads) > limit else None
    )
    headers = {"Vary": "Accept, Accept-Encoding, Authorization", "Cache-Control": "private, no-cache"}
    shown = heads[:limit]
    if media_type == _JSON:
        return json_reply(_document(original, shown, following), headers=headers)
    links = _links(original, shown, following, is_first=after < 0)
    return Response(",\n".join(links), 200, headers, LINK_FORMAT)


def _heads(service: Service, after: int, limit: int) -> list[AppliedHead]:
    with service.base.ledger.reading() as view:
        return view.heads(after=after, limit=limit)


def _original(request: Request, text: str | None) -> str:
    """The URL whose states are asked for. Raises `InvalidParameter` for one that has none here."""
    if text is None:
        raise InvalidParameter("which URL is not said", remedy="give it as `of`", where=OF)
    here = base_url(request)
    path, _, query = text.removeprefix(here).removeprefix(root_of(request.scope)).partition("?")
    known = any(path == each or (each.endswith("/") and path.startswith(each)) for each in _READ_HERE)
    if not known or "#" in text or urlsplit(path).netloc:
        remedy = f"name one of {', '.join(dict.fromkeys(each.rstrip('/') for each in _READ_HERE))}"
        raise InvalidParameter(f"{text[:80]!r} is nothing that is read here", remedy=remedy, where=OF)
    return original_url(here + path, query)


def _document(original: str, heads: Sequence[AppliedHead], following: str | None) -> models.TimeMap:
    return {
        "original": original,
        "timegate": original,
        "timemap": timemap_of(original),
        "mementos": [
            {
                "head": each.position,
                "instant": print_instant(each.instant),
                "datetime": spell_date(each.instant) or "",
                "uri": memento_of(original, f"head:{each.position}"),
            }
            for each in heads
        ],
        "next": following,
    }


def _links(original: str, heads: Sequence[AppliedHead], following: str | None, *, is_first: bool) -> Iterator[str]:
    yield f'<{original}>; rel="original timegate"'
    covered = f'; from="{spell_date(heads[0].instant)}"; until="{spell_date(heads[-1].instant)}"' if heads else ""
    yield f'<{timemap_of(original)}>; rel="self"; type="{LINK_FORMAT}"{covered}'
    if following is not None:
        yield f'<{following}>; rel="timemap next"; type="{LINK_FORMAT}"'
    for number, head in enumerate(heads):
        first, last = is_first and number == 0, following is None and number == len(heads) - 1
        yield memento_link(original, head, "first " * first + "last " * last + "memento")
