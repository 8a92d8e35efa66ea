"""What goes over the socket between the service and a worker: frames of a kind, a small head and a body.

Rules
-----
* A frame is its kind, the lengths of head and body, then both. The head is JSON; the body is bytes that nobody looks
  into: text for a store, or a piece of an answer.
* The service asks, the worker answers, one request at a time. What a store loses and gains (`DELTA`) has no
  answer. `OPEN` and `FORGET` are acknowledged: so it is known when a directory is let go of.
* `ASK` brings along what it is asked of, so that a worker without replicas answers it, too (`bridge.replicas.direct`).
* An answer is `WHOLE`; or `BEGIN`, any number of `PART`s and `END`; or `ERROR`, also in the middle. One that is `held`
  is for nobody before its end.

Example
-------
>>> reader = FrameReader()
>>> data = frame(Kind.WHOLE, {"rows": 3}, b"abc")
>>> list(reader.feed(data[:12])), [(each.kind.name, each.head, each.body) for each in reader.feed(data[12:])]
([], [('WHOLE', {'rows': 3}, b'abc')])
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LENGTHS: Final = Struct("<BII")

CHUNK_SIZE: Final = 256 * 2**10
"""Bytes of an answer that are sent in one frame."""


class Kind(IntEnum):
    """What a frame is."""

    OPEN = 1
    """Make a store, or make it anew: `store`; `path` of its directory, or null and the body in N-Quads."""
    DELTA = 2
    """Bring a store up: `store`, and `steps`, each what it loses and what it gains, as text."""
    FORGET = 4
    """Let go of a store: `store`."""
    QUERY = 5
    """Answer a query, with what `bridge.replicas.answers.asked_for` says of it; of a store, or of what the body has."""
    WHOLE = 6
    BEGIN = 7
    PART = 8
    END = 9
    ERROR = 10
    """What went wrong: `what` (memory, size, syntax, evaluation, store, refused), and `message`."""
    TAKEN = 11
    """A worker is ready, or has done what it was told."""
    ASK = 12
    """Answer a query of what the body says, with what `bridge.replicas.direct.Asked` says of it."""
    COMPARE = 13
    """Answer queries at two states of a store and say how the answers differ: see `bridge.replicas.direct`."""
    ENTAIL = 14
    """Do something with a closure: see `bridge.entailment.asking`."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; its head is an object of JSON."""

    kind: Kind
    head: Mapping[str, Any]
    body: bytes


def frame(kind: Kind, head: Mapping[str, Any], body: bytes = b"") -> bytes:
    """The bytes of a frame."""
    encoded = orjson.dumps(head)
    return b"".join((_LENGTHS.pack(kind, len(encoded), len(body)), encoded, body))


class FrameReader:
    """Puts frames together from bytes as they come."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are whole with these bytes."""
        self._pending += data
        while len(self._pending) >= _LENGTHS.size:
            kind, head, body = _LENGTHS.unpack_from(self._pending)
            start, end = _LENGTHS.size + head, _LENGTHS.size + head + body
            if len(self._pending) < end:
                return
            with memoryview(self._pending) as view:
                told, content = bytes(view[_LENGTHS.size : start]), bytes(view[start:end])
            del self._pending[:end]
            yield Frame(Kind(kind), orjson.loads(told), content)
