"""Registered queries of a running service.

Example
-------
::

    [query["name"] for query in listed_queries("http://127.0.0.1:8350", token)]
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import quote

import httpx2

from api.commands.remote.connection import JSON, PATIENCE, authorization, connecting, fetch_text, post
from api.commands.remote.outcomes import said_beside, told_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from api.commands.remote.outcomes import Told


class ToldQuery(TypedDict):
    """The members of a registered query that are shown."""

    name: str
    owner: str
    contact: str
    moment: str
    weight: int
    action: str


def listed_queries(url: str, token: str | None) -> list[ToldQuery]:
    """The registered queries that a caller may see. Raises `InvalidParameter` and `RemoteRefusal` as the others do."""
    listed: list[ToldQuery] = json.loads(fetch_text(url, token, "/queries", {}))["items"]
    return listed


def put_queries(
    url: str, token: str | None, definitions: Mapping[str, object], reason: str | None, *, dry_run: bool
) -> Told:
    """What became of registering queries.

    Args:
        url: of the service; `/queries` is added.
        token: sent as a bearer token (RFC 6750); an administrator's.
        definitions: the members of each query, by its name.
        reason: for those who read the certificate.
        dry_run: judge only.

    Raises:
        InvalidParameter: the URL cannot be used.
        RemoteRefusal: the service cannot be reached, or refuses.
    """
    body = json.dumps({"queries": definitions}).encode()
    return told_by(post(url, "/queries", token, body, {"Content-Type": JSON}, said_beside(reason, dry_run=dry_run)))


def remove_query(url: str, token: str | None, name: str, reason: str | None, *, dry_run: bool) -> Told:
    """What became of taking a registered query away. Raises as `put_queries` does."""
    parameters = said_beside(reason, dry_run=dry_run)
    address = f"{url.rstrip('/')}/queries/{quote(name, safe='')}"
    with connecting(url):
        return told_by(httpx2.delete(address, params=parameters, headers=authorization(token), timeout=PATIENCE))
