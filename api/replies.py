"""Answers in JSON.

Example
-------
>>> json_reply({"head": 7}).body
b'{"head":7}'
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Mapping


def json_reply(answer: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer of plain dictionaries, lists, texts and numbers, as JSON in UTF-8."""
    body = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return Response(body, status, headers, "application/json")
