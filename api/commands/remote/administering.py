"""What only administrators ask of a running service: of its keys, and of purges.

Example
-------
::

    change_key("http://127.0.0.1:8350", token, "/keys/rotate", None)["key"]
"""

from __future__ import annotations

import json

import httpx2

from api.commands.remote.connection import JSON, fetch_text, post, refusal


def change_key(url: str, token: str | None, path: str, members: dict[str, str] | None) -> dict[str, str]:
    """What became of a change of the service's keys.

    Args:
        url: of the service.
        token: sent as a bearer token (RFC 6750); an administrator's.
        path: of the operation.
        members: of the body; None for none.

    Raises:
        InvalidParameter: the URL cannot be used.
        RemoteRefusal: the service cannot be reached, or refuses.
    """
    body, headers = (b"", {}) if members is None else (json.dumps(members).encode(), {"Content-Type": JSON})
    response = post(url, path, token, body, headers, {})
    if response.status_code != httpx2.codes.OK:
        raise refusal(response)
    answer: dict[str, str] = json.loads(response.content)
    return answer


def ask_purge(
    url: str,
    token: str | None,
    path: str,
    members: dict[str, object] | None,
    parameters: dict[str, str] | None = None,
) -> dict[str, object]:
    """What a service says of purges: of one or all of them, or of what it is asked to do.

    Args:
        url: of the service.
        token: sent as a bearer token (RFC 6750); an administrator's.
        path: of the operation.
        members: of the body; None to read.
        parameters: of what is read.

    Raises:
        InvalidParameter: the URL cannot be used.
        RemoteRefusal: the service cannot be reached, or refuses.
    """
    if members is None:
        told: dict[str, object] = json.loads(fetch_text(url, token, path, parameters or {}))
        return told
    response = post(url, path, token, json.dumps(members).encode(), {"Content-Type": JSON}, {})
    if not response.is_success:
        raise refusal(response)
    answer: dict[str, object] = json.loads(response.content)
    return answer
