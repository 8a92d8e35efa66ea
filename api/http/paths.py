"""Where a base is served: at the root of the host, or under `/b/{name}` beside others.

Rules
-----
* Routes, and whatever is decided by a path, go by the path within the base. URLs that are given out are whole.

Example
-------
>>> scope = {"path": "/b/one/facts", "raw_path": b"/b/one/facts", "root_path": "/b/one"}
>>> path_within(scope), raw_path_within(scope), path_within({"path": "/facts", "root_path": ""})
('/facts', b'/facts', '/facts')
>>> base_of("https://example.org/b/one/facts?x=/b/two"), base_of("https://example.org/facts")
('https://example.org/b/one', 'https://example.org')
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

BASES: Final = "/b/"
"""What the paths of bases begin with that have a name."""

_BASE: Final = re.compile(r"[a-z]+://[^/?#]*(?:/b/[^/?#]+)?")


def root_of(scope: Mapping[str, Any]) -> str:
    """What comes before the paths of the base that a request came to; empty for the one at the root."""
    root: str = scope.get("root_path", "")
    return root


def path_within(scope: Mapping[str, Any]) -> str:
    """The path of a request within its base."""
    path: str = scope["path"]
    return path.removeprefix(root_of(scope))


def raw_path_within(scope: Mapping[str, Any]) -> bytes:
    """The same as it came, percent-encoded."""
    path: bytes = scope["raw_path"]
    return path.removeprefix(root_of(scope).encode())


def base_url(request: Request) -> str:
    """The URL of the base that a request came to, without a slash at its end."""
    scope = request.scope
    # As `request.url` has it, which reads and puts together all of a URL for it.
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), None)
    return f"{scope['scheme']}://{request.url.netloc if host is None else host}{root_of(scope)}"


def base_of(url: str) -> str:
    """The URL of the base that a URL is in."""
    found = _BASE.match(url)
    return found[0] if found else url
