"""Memento (RFC 7089) around what is read: what an answer says of the state that it is of, and of others like it.

Rules
-----
* Each URL that reads the base is an original resource and its own timegate: with `Accept-Datetime` it answers 200 with
  the state of then, and `Content-Location` names where that state stays (section 4.1.2).
* The memento of a URL is the same URL with `as-of`; of `/sparql` so is `/at/{as-of}/sparql`. `Memento-Datetime` is the
  second of its `as-of`, rounded down; a time that HTTP has no date for has none.
* `Link` names the original, which is the timegate, and the timemap; where a date was negotiated also the memento that
  it found, and the first, last, previous and next head. So many addresses take room: of a URL of more than `LONG`
  characters only the first three are named, and nothing of one of more than `LONGEST`.
* Answers depend on `Accept-Datetime`, so caches are told so. What has an `as-of` that is fixed (`api.http.moments`) may
  be kept for `KEPT` seconds without asking; by its caller alone, for others may read something else.

Example
-------
>>> without_as_of("query=ASK%20%7B%7D&as-of=head:41&valid-at=2024")
'query=ASK%20%7B%7D&valid-at=2024'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote_plus

from api.http.moments import AS_OF, VALID_AT, AskedMoment, is_fixed, spell_date
from api.http.paths import base_of, base_url, raw_path_within
from api.http.validators import tagged
from api.service import Service
from bridge.reading.mementos import Around, around
from kernel.time.instants import Instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request

    from kernel.ports.heads import AppliedHead

LINK_FORMAT: Final = "application/link-format"
TIMEMAP: Final = "/timemap"
TIMEMAP_OPERATION: Final = "listMementos"
OF: Final = "of"

LONG: Final = 400
LONGEST: Final = 1_500

KEPT: Final = 3_600
"""Seconds: as long as a purge may take to reach what callers keep."""

AT: Final = "/at/"
_SAFE: Final = "!#$%&'()*+,/:;=?@[]~"
"""What stays as it is in a URL that is named in a header."""

_CLEAN: Final = re.compile(rf"[A-Za-z0-9_.\-{re.escape(_SAFE)}]*", re.ASCII)

VARY: Final = "Accept, Accept-Datetime, Accept-Encoding, Authorization"


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer says of its moment.

    Args:
        asked: the moment as it was asked for.
        as_of: its transaction time; None for the present.
        latest: the transaction instant of the last head, before anything was read.
        found: where a date was negotiated, the heads around what it found.
    """

    asked: AskedMoment
    as_of: Instant | None
    latest: Instant | None
    found: Around | None = None

    def headers(self, request: Request) -> dict[str, str]:
        """Which memento it is, and how the others are found."""
        original = original_of(request, self.asked.valid_at)
        shown = None if self.as_of is None else spell_date(self.as_of)
        headers = {"Vary": VARY}
        if shown is not None:
            headers["Memento-Datetime"] = shown
        if request.method != "POST":
            if len(original) > LONGEST:
                return headers
            if self.asked.negotiated and self.asked.as_of is not None:
                headers["Content-Location"] = memento_of(original, self.asked.as_of)
            mapped = Service.of(request).has(TIMEMAP_OPERATION)
            headers["Link"] = ", ".join(self._links(original, shown, mapped=mapped))
        return headers

    def cached(self, tag: str | None) -> dict[str, str]:
        """How long the answer may be kept, and by which tag it is asked for again."""
        headers = tagged(tag)
        if tag is not None and not self.asked.negotiated and is_fixed(self.as_of, self.latest):
            headers["Cache-Control"] = f"private, max-age={KEPT}"
        return headers

    def _links(self, original: str, shown: str | None, *, mapped: bool) -> Iterator[str]:
        yield f'<{original}>; rel="original timegate"'
        if mapped:
            yield f'<{timemap_of(original)}>; rel="timemap"; type="{LINK_FORMAT}"'
        if self.asked.negotiated and shown is not None and self.asked.as_of is not None:
            yield f'<{memento_of(original, self.asked.as_of)}>; rel="memento"; datetime="{shown}"'
        if self.found is not None and len(original) <= LONG:
            yield from (memento_link(original, head, rel) for rel, head in _named(self.found))


async def told(request: Request, asked: AskedMoment, as_of: Instant | None, latest: Instant | None) -> Told:
    """What an answer is to say of its moment."""
    service = Service.of(request)
    if not asked.negotiated or as_of is None:
        return Told(asked, as_of, latest)
    return Told(asked, as_of, latest, await service.read(lambda: _around(service, as_of)))


def memento_link(original: str, head: AppliedHead, rel: str) -> str:
    """A link to a URL as it was at a head."""
    dated = spell_date(head.instant)
    return f'<{memento_of(original, f"head:{head.position}")}>; rel="{rel}"; datetime="{dated}"'


def memento_of(original: str, as_of: str) -> str:
    """Where a URL is as it was known at a time."""
    return f"{original}{'&' if '?' in original else '?'}{AS_OF.name}={quote(as_of, safe=':')}"


def timemap_of(original: str) -> str:
    """Where the heads are listed for a URL."""
    # What else has a meaning in a query is escaped in a URL already; this is done with each answer.
    escaped = original.replace("%", "%25").replace("&", "%26").replace("+", "%2B").replace("#", "%23")
    return f"{base_of(original)}{TIMEMAP}?{OF}={escaped}"


def original_of(request: Request, valid_at: str | None) -> str:
    """The URL of a request without the transaction time that it names.

    Args:
        request: it.
        valid_at: the valid time that it names, which stands as a parameter where it stood in the path.
    """
    path, query = raw_path_within(request.scope).decode("latin-1"), request.scope["query_string"].decode("latin-1")
    if path.startswith(AT):
        path = f"/{path.rpartition('/')[2]}"
        query += "" if valid_at is None else f"&{VALID_AT.name}={quote(valid_at, safe=':')}"
    return original_url(f"{base_url(request)}{path}", query)


def original_url(address: str, query: str) -> str:
    """A URL without `as-of`, such that it may stand in a header."""
    left = without_as_of(query)
    url = f"{address}?{left}" if left else address
    return url if _CLEAN.fullmatch(url) else quote(url, safe=_SAFE)


def without_as_of(query: str) -> str:
    """A query string without its `as-of`; all else as it was written."""
    return "&".join(each for each in query.split("&") if unquote_plus(each.partition("=")[0]) != AS_OF.name)


def _around(service: Service, as_of: Instant) -> Around | None:
    with service.base.ledger.reading() as view:
        return around(view, as_of)


def _named(found: Around) -> Iterator[tuple[str, AppliedHead]]:
    """The heads around, each once, by their relations."""
    rels: dict[AppliedHead, list[str]] = {}
    for rel, head in (
        ("first", found.first),
        ("prev", found.previous),
        ("next", found.following),
        ("last", found.last),
    ):
        if head is not None:
            rels.setdefault(head, []).append(rel)
    yield from ((" ".join([*each, "memento"]), head) for head, each in rels.items())
