"""Having a running service write, and what became of it.

Example
-------
::

    submit("http://127.0.0.1:8350", token, body, dry_run=True)["verdict"]
"""

from __future__ import annotations

import json
from typing import NotRequired, TypedDict
from urllib.parse import quote

import httpx2

from api.commands.remote.connection import JSON, is_json, post, refusal


class ToldFinding(TypedDict):
    """The members of a finding that are shown."""

    code: str
    severity: str
    message: str


class MoreFindings(TypedDict):
    """What the answer leaves out."""

    count: int
    next: str | None


class Told(TypedDict):
    """What `POST /changes` answers."""

    certificate: str | None
    verdict: str
    state: str | None
    head: int | None
    findings: list[ToldFinding]
    moreFindings: NotRequired[MoreFindings | None]
    successor: NotRequired[str | None]
    why: NotRequired[str | None]


def submit(url: str, token: str | None, body: bytes, *, dry_run: bool) -> Told:
    """What became of changes.

    Args:
        url: of the service; `/changes` is added unless it is there.
        token: sent as a bearer token (RFC 6750).
        body: the request in JSON.
        dry_run: judge only.

    Raises:
        InvalidParameter: the URL cannot be used.
        RemoteRefusal: the service cannot be reached, or cannot plan what is asked.
    """
    headers = {"Content-Type": JSON}
    return told_by(post(url, "/changes", token, body, headers, said_beside(None, dry_run=dry_run)))


def decide(url: str, token: str | None, certificate: str, decision: dict[str, str]) -> Told:
    """What became of a certificate that was decided on.

    Args:
        url: of the service; `/certificates/…` is added.
        token: sent as a bearer token (RFC 6750); an editor's.
        certificate: its id.
        decision: the members of the decision.

    Raises:
        InvalidParameter: the URL cannot be used.
        RemoteRefusal: the service cannot be reached, or refuses.
    """
    path = f"/certificates/{quote(certificate, safe='')}/decision"
    body = json.dumps(decision).encode()
    response = post(url, path, token, body, {"Content-Type": JSON}, {})
    if response.status_code != httpx2.codes.OK:
        raise refusal(response)
    answer: Told = json.loads(response.content)
    return answer


def revert(url: str, token: str | None, certificate: str, reason: str | None, *, dry_run: bool) -> Told:
    """What became of undoing a certificate.

    Args:
        url: of the service; `/certificates/…` is added.
        token: sent as a bearer token (RFC 6750).
        certificate: its id.
        reason: for those who read the new one.
        dry_run: judge only.

    Raises:
        InvalidParameter: the URL cannot be used.
        RemoteRefusal: the service cannot be reached, or refuses.
    """
    path = f"/certificates/{quote(certificate, safe='')}/revert"
    return told_by(post(url, path, token, b"", {}, said_beside(reason, dry_run=dry_run)))


def told_by(response: httpx2.Response) -> Told:
    """What an answer says. Raises `RemoteRefusal` for one that says none of this."""
    if not is_json(response, JSON):
        raise refusal(response)
    answer: Told = json.loads(response.content)
    return answer


def said_beside(reason: str | None, *, dry_run: bool) -> dict[str, str]:
    """The parameters of a write."""
    return ({} if reason is None else {"reason": reason}) | ({"dry-run": "true"} if dry_run else {})
