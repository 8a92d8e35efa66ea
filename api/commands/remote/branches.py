"""Branches of a running service.

Example
-------
::

    of_branches("http://127.0.0.1:8350", token, "GET", f"/{branch}")["verdict"]
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NotRequired, TypedDict
from urllib.parse import quote

import httpx2

from api.commands.remote.connection import (
    JSON,
    PATIENCE,
    authorization,
    connecting,
    fetch_text,
    is_json,
    post,
    refusal,
)
from api.commands.remote.outcomes import told_by

if TYPE_CHECKING:
    from api.commands.remote.outcomes import Told, ToldFinding


class ToldBranch(TypedDict):
    """The members of a branch that are shown."""

    branch: str
    maker: str
    state: str
    until: str
    plans: int
    changes: int
    certificate: NotRequired[str]
    head: NotRequired[int | None]
    verdict: NotRequired[str | None]
    findings: NotRequired[list[ToldFinding]]
    why: NotRequired[str]


def of_branches(url: str, token: str | None, method: str, path: str = "", body: bytes = b"") -> ToldBranch:
    """What the service answers of branches, in JSON.

    Args:
        url: of the service; `/what-if` and the path are added.
        token: sent as a bearer token (RFC 6750).
        method: of HTTP.
        path: within the branches.
        body: in JSON, where there is one.

    Raises:
        InvalidParameter: the URL cannot be used.
        RemoteRefusal: the service cannot be reached, or refuses.
    """
    headers = authorization(token) | ({"Content-Type": JSON} if body else {})
    with connecting(url):
        address = f"{url.rstrip('/')}/what-if{path}"
        response = httpx2.request(method, address, content=body, headers=headers, timeout=PATIENCE)
    if not is_json(response, JSON):
        raise refusal(response)
    answer: ToldBranch = json.loads(response.content)
    return answer


def listed_branches(url: str, token: str | None) -> list[ToldBranch]:
    """The branches that a caller may see. Raises as the others do."""
    listed: list[ToldBranch] = json.loads(fetch_text(url, token, "/what-if", {}))["items"]
    return listed


def submit_branch(url: str, token: str | None, branch: str) -> Told:
    """What became of submitting a branch. Raises as the others do."""
    return told_by(post(url, f"/what-if/{quote(branch, safe='')}/submit", token, b"", {}, {}))
