"""Media types in requests: what a body is, and which of a few formats a caller wants.

Rules
-----
* A `Content-Type` names one type; its charset, if any, is UTF-8. A body without one is refused, not guessed at.
* `Accept` is read as RFC 9110, section 12.5.1: the most specific range that fits a type gives its weight, the highest
  weight wins, and of equals the one that the service prefers. No header accepts everything.

Example
-------
>>> body_type("text/turtle; charset=UTF-8")
'text/turtle'
>>> preferred("application/*;q=0.5, application/vc", ["application/json", "application/vc"])
'application/vc'
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from api.errors import UnsupportedMediaType
from kernel.errors import NotAcceptable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

_UTF_8: Final = frozenset({"utf-8", "utf8", "us-ascii"})


@lru_cache(maxsize=256)
def body_type(header: str | None) -> str:
    """The media type that a `Content-Type` header names, in lower case.

    Raises:
        UnsupportedMediaType: there is none, or its charset is not UTF-8.
    """
    media_type, _, rest = (header or "").partition(";")
    media_type = media_type.strip().lower()
    if "/" not in media_type:
        raise UnsupportedMediaType(
            "the body's format is not said", remedy="send a Content-Type header", where="Content-Type"
        )
    for parameter in rest.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset" and value.strip().strip('"').lower() not in _UTF_8:
            raise UnsupportedMediaType(
                f"the charset {value.strip()[:40]} is not read", remedy="send UTF-8", where="Content-Type"
            )
    return media_type


def accepted(request: Request) -> str | None:
    """The `Accept` headers of a request as one; None when there is none."""
    return ", ".join(request.headers.getlist("accept")) or None


def preferred(accept: str | None, offered: Sequence[str]) -> str:
    """Which of the offered types, best first, an `Accept` header wants.

    Raises:
        NotAcceptable: none of them; the error names them.
    """
    ranges = _ranges(accept) if accept and accept.strip() else {"*/*": 1.0}
    best = max(offered, key=lambda media_type: _weight(ranges, media_type))
    if _weight(ranges, best) <= 0:
        raise NotAcceptable(
            "none of the formats accepted can be given", remedy=f"accept one of {', '.join(offered)}", where="Accept"
        )
    return best


def _weight(ranges: dict[str, float], media_type: str) -> float:
    kind = media_type.partition("/")[0]
    return next((ranges[each] for each in (media_type, f"{kind}/*", "*/*") if each in ranges), 0.0)


@lru_cache(maxsize=256)
def _ranges(accept: str) -> dict[str, float]:
    ranges: dict[str, float] = {}
    for element in accept.split(","):
        media_range, *parameters = (part.strip().lower() for part in element.split(";"))
        if media_range:
            ranges[media_range] = _quality(parameters)
    return ranges


def _quality(parameters: list[str]) -> float:
    """The weight, 0 to 1; what cannot be read as one is taken for a wish without weight."""
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            digits = value.strip()
            return min(float(digits), 1.0) if digits.replace(".", "", 1).isdecimal() and digits.isascii() else 0.0
    return 1.0
