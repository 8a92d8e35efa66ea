"""Answers in JSON, and what answers say of the state that they are of.

Example
-------
>>> json_reply({"head": 7}).body
b'{"head":7}'
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from kernel.time.instants import print_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernel.time.instants import Instant


_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""One encoder for all answers: `json.dumps` makes one for each that is not to be as usual."""


def json_reply(answer: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer of plain dictionaries, lists, texts and numbers, as JSON in UTF-8."""
    return Response(_encode(answer), status, headers, "application/json")


def state_headers(head: int | None, valid_at: Instant) -> dict[str, str]:
    """The headers that say which state an answer is of."""
    return {"Muniment-Head": "none" if head is None else str(head), "Muniment-Valid-At": print_instant(valid_at)}


STATE_HEADERS = {
    "Muniment-Head": "the head that the answer is of: a position in the log, or `none` for an empty base",
    "Muniment-Valid-At": "the valid time that the answer is of, an XSD dateTime in UTC",
}
"""What they mean."""
