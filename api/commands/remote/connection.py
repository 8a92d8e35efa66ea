"""Asking a running service.

Rules
-----
* What the service refuses is told in its own words: a problem document (RFC 9457) has what is wrong and the way out.
* A redirect is not followed: the token is for the service that was named.
* Whatever asks raises `InvalidParameter` for a URL that cannot be used, and `RemoteRefusal` where the service cannot be
  reached, or refuses.

Example
-------
::

    response = post("http://127.0.0.1:8350", "/changes", token, body, {"Content-Type": JSON})
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import httpx2

from api.errors import RemoteRefusal
from kernel.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

JSON: Final = "application/json"
PATIENCE: Final = 600.0
"""Seconds: a service has limits of its own."""


def post(
    url: str, path: str, token: str | None, body: bytes, headers: dict[str, str], parameters: dict[str, str]
) -> httpx2.Response:
    """What is answered to a post, to a path that is added to the URL unless it is there."""
    address = url if url.rstrip("/").endswith(path) else url.rstrip("/") + path
    headers = headers | authorization(token)
    with connecting(url):
        return httpx2.post(address, params=parameters, content=body, headers=headers, timeout=PATIENCE)


def fetch_text(url: str, token: str | None, path: str, parameters: dict[str, str], accept: str | None = None) -> str:
    """The text at a path of the service. Raises `InvalidParameter` and `RemoteRefusal` as the others do."""
    with connecting(url):
        response = httpx2.get(
            url.rstrip("/") + path,
            params=parameters,
            headers=authorization(token) | ({} if accept is None else {"Accept": accept}),
            timeout=PATIENCE,
        )
    if response.status_code != httpx2.codes.OK:
        raise refusal(response)
    return response.text


@contextmanager
def fetching(url: str, token: str | None) -> Iterator[Callable[[str, Mapping[str, str]], bytes | None]]:
    """What fetches from the service, over one connection, by path and parameters.

    It gives None for what is not there, or not for the caller; raises as `fetch_text` does.
    """
    with connecting(url), httpx2.Client(headers=authorization(token), timeout=PATIENCE) as client:

        def fetch(path: str, parameters: Mapping[str, str]) -> bytes | None:
            response = client.get(url.rstrip("/") + path, params=dict(parameters))
            if response.status_code in (httpx2.codes.FORBIDDEN, httpx2.codes.NOT_FOUND):
                return None
            if response.status_code != httpx2.codes.OK:
                raise refusal(response)
            return response.content

        yield fetch


def authorization(token: str | None) -> dict[str, str]:
    """The header that a token is sent in (RFC 6750)."""
    return {} if token is None else {"Authorization": f"Bearer {token}"}


@contextmanager
def connecting(url: str) -> Iterator[None]:
    """What becomes of a connection that fails."""
    try:
        yield
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise InvalidParameter(
            f"{url} cannot be used: {error}", remedy="give http://HOST:PORT", where="--url"
        ) from error
    except httpx2.RemoteProtocolError as error:
        raise RemoteRefusal(
            f"{url} broke off: {error}", remedy="try again; if it stays so, see the service's log"
        ) from error
    except httpx2.TransportError as error:
        raise RemoteRefusal(f"{url} cannot be reached: {error}", remedy="check that it is served there") from error


def is_json(response: httpx2.Response, media_type: str) -> bool:
    """Whether an answer is of a media type."""
    return response.headers.get("content-type", "").partition(";")[0].strip() == media_type


def refusal(response: httpx2.Response) -> RemoteRefusal:
    """What a problem document says, or else the status line."""
    message, remedy = f"the service answered {response.status_code} {response.reason_phrase}", "see the service's log"
    where = None
    if is_json(response, "application/problem+json"):
        problem: dict[str, object] = json.loads(response.content)
        message, remedy = str(problem.get("detail", message)), str(problem.get("remedy", remedy))
        where = str(problem["where"]) if "where" in problem else None
    return RemoteRefusal(message, remedy=remedy, where=where)
