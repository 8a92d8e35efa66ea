"""Asking a running service.

Rules
-----
* What the service refuses is told in its own words: a problem document (RFC 9457) has what is wrong and the way out.
* A redirect is not followed: the token is for the service that was named.

Example
-------
::

    ask("http://127.0.0.1:8350", token, question).body
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict
from urllib.parse import quote

import httpx2

from api.commands.export import MEDIA_TYPES, Exported
from api.commands.query import Reply
from api.errors import RemoteRefusal
from kernel.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from api.commands.export import Wanted
    from api.commands.query import Question

_JSON: Final = "application/json"
_PATIENCE: Final = 600.0
"""Seconds: a service has limits of its own."""


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
    response = _post(url, "/sparql", token, question.text.encode(), headers, parameters)
    if response.status_code != httpx2.codes.OK:
        raise _refusal(response)
    media_type = response.headers.get("content-type", "")
    head, valid_at = (response.headers.get(f"muniment-{name}", "") for name in ("head", "valid-at"))
    return Reply(response.content, media_type, head, valid_at)


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
    parameters = {"dry-run": "true"} if dry_run else {}
    response = _post(url, "/changes", token, body, {"Content-Type": "application/json"}, parameters)
    if not _is_json(response, "application/json"):
        raise _refusal(response)
    answer: Told = json.loads(response.content)
    return answer


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
    response = _post(url, path, token, body, {"Content-Type": "application/json"}, {})
    if response.status_code != httpx2.codes.OK:
        raise _refusal(response)
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
    parameters = ({} if reason is None else {"reason": reason}) | ({"dry-run": "true"} if dry_run else {})
    response = _post(url, path, token, b"", {}, parameters)
    if not _is_json(response, "application/json"):
        raise _refusal(response)
    answer: Told = json.loads(response.content)
    return answer


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
    body, headers = (b"", {}) if members is None else (json.dumps(members).encode(), {"Content-Type": _JSON})
    response = _post(url, path, token, body, headers, {})
    if response.status_code != httpx2.codes.OK:
        raise _refusal(response)
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
    response = _post(url, path, token, json.dumps(members).encode(), {"Content-Type": _JSON}, {})
    if not response.is_success:
        raise _refusal(response)
    answer: dict[str, object] = json.loads(response.content)
    return answer


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
    parameters = ({} if reason is None else {"reason": reason}) | ({"dry-run": "true"} if dry_run else {})
    return _told(_post(url, "/queries", token, body, {"Content-Type": "application/json"}, parameters))


def remove_query(url: str, token: str | None, name: str, reason: str | None, *, dry_run: bool) -> Told:
    """What became of taking a registered query away. Raises as `put_queries` does."""
    parameters = ({} if reason is None else {"reason": reason}) | ({"dry-run": "true"} if dry_run else {})
    address = f"{url.rstrip('/')}/queries/{quote(name, safe='')}"
    with _connecting(url):
        return _told(httpx2.delete(address, params=parameters, headers=_authorization(token), timeout=_PATIENCE))


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
    headers = _authorization(token) | ({"Content-Type": _JSON} if body else {})
    with _connecting(url):
        address = f"{url.rstrip('/')}/what-if{path}"
        response = httpx2.request(method, address, content=body, headers=headers, timeout=_PATIENCE)
    if not _is_json(response, _JSON):
        raise _refusal(response)
    answer: ToldBranch = json.loads(response.content)
    return answer


def listed_branches(url: str, token: str | None) -> list[ToldBranch]:
    """The branches that a caller may see. Raises as the others do."""
    listed: list[ToldBranch] = json.loads(fetch_text(url, token, "/what-if", {}))["items"]
    return listed


def submit_branch(url: str, token: str | None, branch: str) -> Told:
    """What became of submitting a branch. Raises as the others do."""
    return _told(_post(url, f"/what-if/{quote(branch, safe='')}/submit", token, b"", {}, {}))


def _told(response: httpx2.Response) -> Told:
    if not _is_json(response, "application/json"):
        raise _refusal(response)
    answer: Told = json.loads(response.content)
    return answer


def fetch_text(url: str, token: str | None, path: str, parameters: dict[str, str], accept: str | None = None) -> str:
    """The text at a path of the service. Raises `InvalidParameter` and `RemoteRefusal` as the others do."""
    with _connecting(url):
        response = httpx2.get(
            url.rstrip("/") + path,
            params=parameters,
            headers=_authorization(token) | ({} if accept is None else {"Accept": accept}),
            timeout=_PATIENCE,
        )
    if response.status_code != httpx2.codes.OK:
        raise _refusal(response)
    return response.text


@contextmanager
def fetching(url: str, token: str | None) -> Iterator[Callable[[str, Mapping[str, str]], bytes | None]]:
    """What fetches from the service, over one connection, by path and parameters.

    It gives None for what is not there, or not for the caller; raises as `fetch_text` does.
    """
    with _connecting(url), httpx2.Client(headers=_authorization(token), timeout=_PATIENCE) as client:

        def fetch(path: str, parameters: Mapping[str, str]) -> bytes | None:
            response = client.get(url.rstrip("/") + path, params=dict(parameters))
            if response.status_code in (httpx2.codes.FORBIDDEN, httpx2.codes.NOT_FOUND):
                return None
            if response.status_code != httpx2.codes.OK:
                raise _refusal(response)
            return response.content

        yield fetch


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
    headers = {"Accept": MEDIA_TYPES[wanted.format]} | _authorization(token)
    parameters = {name: value for name, value in given.items() if value is not None}
    with (
        _connecting(url),
        httpx2.stream("GET", address, params=parameters, headers=headers, timeout=_PATIENCE) as response,
    ):
        if response.status_code != httpx2.codes.OK:
            response.read()
            raise _refusal(response)
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
    headers = {"Accept": media_type} | _authorization(token)
    with (
        _connecting(url),
        httpx2.stream("GET", f"{url.rstrip('/')}/diff", params=parameters, headers=headers, timeout=_PATIENCE) as told,
    ):
        if told.status_code != httpx2.codes.OK:
            told.read()
            raise _refusal(told)
        yield told.iter_bytes()


def _post(
    url: str, path: str, token: str | None, body: bytes, headers: dict[str, str], parameters: dict[str, str]
) -> httpx2.Response:
    address = url if url.rstrip("/").endswith(path) else url.rstrip("/") + path
    headers = headers | _authorization(token)
    with _connecting(url):
        return httpx2.post(address, params=parameters, content=body, headers=headers, timeout=_PATIENCE)


def _authorization(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}


@contextmanager
def _connecting(url: str) -> Iterator[None]:
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


def _is_json(response: httpx2.Response, media_type: str) -> bool:
    return response.headers.get("content-type", "").partition(";")[0].strip() == media_type


def _refusal(response: httpx2.Response) -> RemoteRefusal:
    """What a problem document says, or else the status line."""
    message, remedy = f"the service answered {response.status_code} {response.reason_phrase}", "see the service's log"
    where = None
    if _is_json(response, "application/problem+json"):
        problem: dict[str, object] = json.loads(response.content)
        message, remedy = str(problem.get("detail", message)), str(problem.get("remedy", remedy))
        where = str(problem["where"]) if "where" in problem else None
    return RemoteRefusal(message, remedy=remedy, where=where)
