"""Request bodies: read whole, within the limit, before anything looks at them.

Rules
-----
* The limit holds for what arrives, not only for what `Content-Length` announces.
* A body is sent as it is: content codings are not undone, so that a small one cannot become a large one.

Example
-------
::

    body = await read_body(request, limit=settings.body_limit)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.errors import BrokenOff, TooLarge, UnsupportedMediaType

if TYPE_CHECKING:
    from starlette.requests import Request


async def read_body(request: Request, limit: int) -> bytes:
    """The body of a request.

    Args:
        request: not read yet.
        limit: in bytes.

    Raises:
        TooLarge: it is larger than the limit.
        UnsupportedMediaType: it is compressed.
        BrokenOff: the client went away.
    """
    headers = request.headers
    if headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedMediaType("the body is compressed", remedy="send it as it is", where="Content-Encoding")
    announced = headers.get("content-length", "0")
    if announced.isdecimal() and int(announced) > limit:
        raise _too_large(limit)
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise BrokenOff("the connection ended before the body did", remedy="send the request again")
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > limit:
            raise _too_large(limit)
        more = message.get("more_body", False)
    return b"".join(chunks)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        f"the body is larger than {_size(limit)}",
        remedy="use `muniment load` on the server's machine, which takes files of any size, or send smaller requests",
        limit=limit,
    )


def _size(octets: int) -> str:
    return f"{octets // 2**20} MB" if octets >= 2**20 else f"{octets} bytes"
