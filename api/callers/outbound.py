"""What is asked of other hosts: only what `MUNIMENT_OUTBOUND` lists, and within limits.

Rules
-----
* Nothing is listed by default, and then nothing is asked. What is listed is the beginning of a URL: scheme, host and
  port are to be the same, the path one below, segment by segment; where a URL is more than that (a name and password,
  dot segments however they are written, encoded slashes), it is not.
* A redirect is followed to what is listed as well, `MOST_REDIRECTS` times.
* A host that is listed by a name is asked only if that name stands for addresses of the public internet alone: else
  whoever owns the name could have this service ask its own neighbours. A private one is listed by its address, or as
  `localhost`. What was looked up is what is connected to. An address of IPv6 that stands for one of IPv4 is judged as
  that: mapped (RFC 4291, section 2.5.5.2), 6to4 (RFC 3056), or translated (RFC 6052, section 2.1).
* Size and time are limited, in all. Codings are not undone, proxies of the environment not used, cookies not kept.
* Whoever asks is told what went wrong, and no more of another host's answer than its status.

Example
-------
>>> listed = (listed_url("https://example.org/data/"),)
>>> [is_listed(url, listed) for url in ("https://example.org/data/a.ttl", "https://example.org/data/../x",
...                                     "https://example.org.evil.test/data/", "http://example.org/data/a.ttl")]
[True, False, False, False]
"""

from __future__ import annotations

import asyncio
import re
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

import httpx2

from kernel.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_REDIRECTS: Final = 5
SECONDS: Final = 30.0
"""That fetching one document takes at most."""

_PORTS: Final = {"http": 80, "https": 443}
_UNTOLD: Final = re.compile(r"(?:^|/)\.{1,2}(?:[/;]|$)|%(?:25)*(?:2e|2f|5c)|\\", re.IGNORECASE)
"""What servers read as dot segments or slashes: also before a parameter, and where they decode more than once."""

_LOCAL: Final = "localhost"
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_UNICAST: Final = IPv6Network("2000::/3")
"""Where the addresses of IPv6 are that lead anywhere (RFC 4291, section 2.4)."""

_TRANSLATED: Final = IPv6Network("64:ff9b::/96")


class NotListed(CallerError):
    """A URL that this service may not ask."""

    code = "not-listed"


class FetchFailed(CallerError):
    """Another host that did not give what it was asked for."""

    code = "fetch-failed"


@dataclass(frozen=True, slots=True)
class Listed:
    """The beginning of URLs that may be asked: scheme, host, port, and the path with its last slash."""

    scheme: str
    host: str
    port: int
    path: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came: its media type, as it is announced, and its bytes."""

    media_type: str
    body: bytes
    url: str


def listed_url(text: str) -> Listed:
    """Reads an entry of the list. Raises `ValueError`, with what is wrong."""
    parts = _parts(text)
    if parts is None or urlsplit(text).query or urlsplit(text).fragment:
        raise ValueError(f"{text[:80]!r} is no beginning of a URL: write it as https://example.org/data/")
    return Listed(parts.scheme, parts.host, parts.port, parts.path.rstrip("/") + "/")


def is_listed(url: str, listed: Sequence[Listed]) -> bool:
    """Whether a URL begins as one that is listed does."""
    parts = _parts(url)
    return parts is not None and any(
        (parts.scheme, parts.host, parts.port) == (each.scheme, each.host, each.port)
        and f"{parts.path}/".startswith(each.path)
        for each in listed
    )


def _parts(url: str) -> Listed | None:
    """What a URL is compared by; None for one that is more than that, or none at all."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    plain = parts.scheme in _PORTS and parts.hostname and "@" not in parts.netloc and not _UNTOLD.search(parts.path)
    if not plain or not url.isascii() or any(each <= " " for each in url):
        return None
    port = _PORTS[parts.scheme] if port is None else port
    return Listed(parts.scheme, (parts.hostname or "").rstrip("."), port, parts.path or "/")


class Outbound:
    """Asks other hosts.

    Args:
        listed: what may be asked.
        limit: bytes that an answer may have.
    """

    def __init__(self, listed: Sequence[Listed], limit: int) -> None:
        self._listed = tuple(listed)
        self._limit = limit

    @property
    def asks(self) -> bool:
        """Whether anything may be asked at all."""
        return bool(self._listed)

    def require_listed(self, url: str) -> None:
        """Raises `NotListed` for what may not be asked."""
        if not is_listed(url, self._listed):
            raise NotListed(
                f"{url[:200]} may not be asked from here",
                remedy="send what you have as a document; or ask whoever runs the service to list it",
            )

    async def fetch(self, url: str, accept: str, form: Mapping[str, str] | None = None) -> Fetched:
        """What a URL stands for, or answers to a form that is posted.

        Raises:
            NotListed: it may not be asked, or leads elsewhere.
            FetchFailed: it does not give it, within the limits.
        """
        try:
            async with asyncio.timeout(SECONDS):
                return await self._followed(url, accept, form)
        except TimeoutError:
            raise _failed(url, f"takes more than {SECONDS:g} s") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _failed(url, f"cannot be reached: {type(error).__name__}") from error

    async def _followed(self, url: str, accept: str, form: Mapping[str, str] | None) -> Fetched:
        for _ in range(MOST_REDIRECTS + 1):
            self.require_listed(url)
            got = await self._got(url, accept, form)
            if isinstance(got, Fetched):
                return got
            url = _joined(url, got)
        raise _failed(url, f"redirects more than {MOST_REDIRECTS} times")

    async def _got(self, url: str, accept: str, form: Mapping[str, str] | None) -> Fetched | str:
        """What a URL gives, or where it redirects to."""
        target, extensions, host = await _resolved(url)
        method = "GET" if form is None else "POST"
        headers = {"Accept": accept, "Host": host, "Accept-Encoding": "identity", "User-Agent": "Muniment"}
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as client,
            client.stream(method, target, headers=headers, data=form, extensions=extensions) as answer,
        ):
            if answer.status_code in _REDIRECTS and "location" in answer.headers:
                return answer.headers["location"]
            if answer.status_code != httpx2.codes.OK:
                raise _failed(url, f"answers {answer.status_code}")
            return Fetched(answer.headers.get("content-type", ""), await self._read(url, answer), url)

    async def _read(self, url: str, answer: httpx2.Response) -> bytes:
        chunks, size = [], 0
        async for chunk in answer.aiter_raw():
            size += len(chunk)
            if size > self._limit:
                raise _failed(url, f"gives more than {self._limit:,} bytes")
            chunks.append(chunk)
        return b"".join(chunks)


async def _resolved(url: str) -> tuple[httpx2.URL, dict[str, str], str]:
    """The URL with an address for its host, what to name the host to TLS, and what to name it to the server."""
    parsed = httpx2.URL(url)
    netloc = parsed.netloc.decode("ascii")
    try:
        ip_address(parsed.host)
    except ValueError:
        address = await _address_of(url, parsed.host)
        return parsed.copy_with(host=address), {"sni_hostname": parsed.host}, netloc
    return parsed, {}, netloc


async def _address_of(url: str, host: str) -> str:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise _failed(url, "has a host that nobody knows") from error
    addresses = [str(each[4][0]).partition("%")[0] for each in found]
    if host != _LOCAL and not all(map(_is_public, addresses)):
        raise NotListed(
            f"{host} stands for an address that is not public",
            remedy="whoever runs the service lists such a host by its address",
        )
    return addresses[0]


def _is_public(text: str) -> bool:
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        address = _stood_for(address) or address
    leads = isinstance(address, IPv4Address) or address in _UNICAST
    return leads and address.is_global and not address.is_multicast


def _stood_for(address: IPv6Address) -> IPv4Address | None:
    """The address of IPv4 that is reached by one of IPv6, if it is one of those."""
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def _joined(url: str, location: str) -> str:
    """Where a redirect leads."""
    try:
        return urljoin(url, location)
    except ValueError:
        raise _failed(url, "redirects to what is no URL") from None


def _failed(url: str, what: str) -> FetchFailed:
    return FetchFailed(f"{url[:200]} {what}", remedy="look there; or send the document itself")
