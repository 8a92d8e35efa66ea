"""What a running service answers: to queries, of graphs, and of what differs.

Example
-------
::

    ask("http://127.0.0.1:8350", token, question).body
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx2

from api.commands.export import MEDIA_TYPES, Exported
from api.commands.query import Reply
from api.commands.remote.connection import PATIENCE, authorization, connecting, post, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from api.commands.export import Wanted
    from api.commands.query import Question


def ask(url: str, token: str | None, question: Question) -> Reply:
    """The service's answer.

    Args:
        url: of the service; `/sparql` is added unless it is there.
        token: sent as a bearer token (RFC 6750).
        question: what to ask.

    Raises:
        InvalidParameter: the URL cannot be used.
        RemoteRefusal: the service cannot be reached, or refuses.
    """
    beside = {"as-of": question.as_of, "valid-at": question.valid_at, "entailment": question.entailment}
    headers = {"Accept": question.accept, "Content-Type": "application/sparql-query"}
    parameters = {name: value for name, value in beside.items() if value is not None}
    response = post(url, "/sparql", token, question.text.encode(), headers, parameters)
    if response.status_code != httpx2.codes.OK:
        raise refusal(response)
    media_type = response.headers.get("content-type", "")
    head, valid_at = (response.headers.get(f"muniment-{name}", "") for name in ("head", "valid-at"))
    return Reply(response.content, media_type, head, valid_at)


@contextmanager
def exported(url: str, token: str | None, wanted: Wanted) -> Iterator[Exported]:
    """The document of an export, as it comes.

    Args:
        url: of the service; `/exports/…` is added.
        token: sent as a bearer token (RFC 6750).
        wanted: what is to be exported.

    Raises:
        InvalidParameter: the URL cannot be used.
        RemoteRefusal: the service cannot be reached, refuses, or breaks off.
    """
    given = {
        "as-of": wanted.as_of,
        "valid-at": wanted.valid_at,
        "annotations": "true" if wanted.annotations else None,
        "signed": "true" if wanted.signed else None,
    }
    address = f"{url.rstrip('/')}/exports/{quote(wanted.graph, safe='')}"
    headers = {"Accept": MEDIA_TYPES[wanted.format]} | authorization(token)
    parameters = {name: value for name, value in given.items() if value is not None}
    with (
        connecting(url),
        httpx2.stream("GET", address, params=parameters, headers=headers, timeout=PATIENCE) as response,
    ):
        if response.status_code != httpx2.codes.OK:
            response.read()
            raise refusal(response)
        head, valid_at = (response.headers.get(f"muniment-{name}", "") for name in ("head", "valid-at"))
        yield Exported(response.iter_bytes(), head, valid_at)


@contextmanager
def compared(
    url: str, token: str | None, media_type: str, given: Mapping[str, str | None]
) -> Iterator[Iterator[bytes]]:
    """What differs between two moments, as it comes.

    Args:
        url: of the service; `/diff` is added.
        token: sent as a bearer token (RFC 6750).
        media_type: of the document.
        given: the parameters; None for those that are not.

    Raises:
        InvalidParameter: the URL cannot be used.
        RemoteRefusal: the service cannot be reached, refuses, or breaks off.
    """
    parameters = {name: value for name, value in given.items() if value is not None}
    headers = {"Accept": media_type} | authorization(token)
    with (
        connecting(url),
        httpx2.stream("GET", f"{url.rstrip('/')}/diff", params=parameters, headers=headers, timeout=PATIENCE) as told,
    ):
        if told.status_code != httpx2.codes.OK:
            told.read()
            raise refusal(told)
        yield told.iter_bytes()
