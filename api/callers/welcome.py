"""Whether somebody whose answer is still being sent may still have it.

Rules
-----
* A request is let in once, when it comes (`api.callers.auth`). An answer that takes long is looked at again every
  `RECHECKED` seconds: where its caller's token was revoked, or has expired, no more of it is sent, and the connection
  breaks with the answer unfinished.
* What was asked for is done to its end all the same: a write that was taken is judged, and applied or not, as a whole.

Example
-------
>>> scope = {}
>>> welcome(scope, lambda: False)
>>> require_welcome(scope, now=0.0), require_welcome(scope, now=RECHECKED - 1)
(None, None)
>>> require_welcome(scope, now=RECHECKED)
Traceback (most recent call last):
kernel.errors.Unauthenticated: the token was revoked, or has expired, while its answer was sent (use another token)
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from kernel.errors import Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

RECHECKED: Final = 5.0
"""Seconds."""

_KEY: Final = "muniment.welcome"


@dataclass(slots=True)
class _Welcome:
    still: Callable[[], bool]
    looked: float | None = None


def welcome(scope: MutableMapping[str, Any], still: Callable[[], bool]) -> None:
    """Keeps with a request how to find out whether its caller is still let in."""
    scope[_KEY] = _Welcome(still)


def require_welcome(scope: MutableMapping[str, Any], *, now: float | None = None) -> None:
    """Called before each part of an answer is sent. Raises `Unauthenticated` where its caller may have no more.

    Args:
        scope: of the request.
        now: seconds on any clock that does not step back.
    """
    kept: _Welcome | None = scope.get(_KEY)
    if kept is None:
        return
    now = monotonic() if now is None else now
    if kept.looked is None:
        kept.looked = now
    elif now - kept.looked >= RECHECKED:
        kept.looked = now
        if not kept.still():
            raise Unauthenticated(
                "the token was revoked, or has expired, while its answer was sent", remedy="use another token"
            )
