"""Answers in JSON that a client may hold already: conditional requests for what was so at a moment.

Rules
-----
* An answer has a tag of the state that it is of, of its URL and of its caller (`api.http.validators`), and headers that
  name the moment and what lies around it (`api.http.memento`). Whoever has it is told so, and it is not made again
  (RFC 9110, section 13.1.2).

Example
-------
::

    return await answered_at(request, caller, await asked_moment(request, parameters), page)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.http.memento import told
from api.http.replies import json_reply
from api.http.validators import tag_of_url, unchanged
from api.service import Service

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from api.http.moments import AskedMoment
    from bridge.reading.moments import Moment
    from kernel.access import Principal


async def answered_at(
    request: Request, caller: Principal, asked: AskedMoment, made: Callable[[Moment], Awaitable[object]]
) -> Response:
    """What is made of the moment that is asked for; 304 where its caller has it already.

    Raises:
        CallerError: there is no such moment, or what is asked of it cannot be answered.
    """
    reader = Service.of(request).base.reader
    moment, head = await Service.of(request).read(lambda: (asked.of(reader), reader.head()))
    about = await told(request, asked, moment.as_of, head.instant)
    tag = tag_of_url(request, caller, "application/json", head, asked)
    headers = about.headers(request) | about.cached(tag)
    if (known := unchanged(request, tag, headers)) is not None:
        return known
    return json_reply(await made(moment), headers=headers)
