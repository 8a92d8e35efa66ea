"""Canonical JSON (RFC 8785) of the values that records here are made of, and their digests.

Rules
-----
* Values are text, integers n with |n| < 2^53, booleans, None, lists or tuples, and dicts with ASCII text as keys.
* Refused: floats (RFC 8785 section 3.2.2.3 prints them as ECMAScript does; nothing here needs one), larger integers
  (section 3.1: not every reader keeps them), lone surrogates (section 3.2.2.2), keys outside ASCII (section 3.2.3
  sorts by UTF-16 code units, which differs from code point order beyond ASCII), every other type, and nesting deeper
  than 32.
* Members are sorted, no white space, UTF-8. What is refused is named by its JSON pointer (RFC 6901).

Example
-------
>>> canonical_json({"op": "assert", "graphs": ("urn:g", None), "at": 7})
b'{"at":7,"graphs":["urn:g",null],"op":"assert"}'
>>> digest_hex(b"")
'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import Final

import orjson

from certificates.errors import UnsupportedJson

_MAX_DEPTH: Final = 32
_INTEGER_LIMIT: Final = 1 << 53
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def canonical_json(value: object) -> bytes:
    """The RFC 8785 bytes of `value`.

    Raises:
        UnsupportedJson: the value lies outside the part of JSON described above; `where` is its JSON pointer.
    """
    _check(value, 0)
    try:
        # A copy: what the library gives keeps the room that it was written in, some 4 KB, for as long as it is kept.
        return memoryview(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).tobytes()
    except orjson.JSONEncodeError:  # all else that it does not take was refused before
        [character, *_] = _SURROGATE.findall(json.dumps(value, ensure_ascii=False))
        raise UnsupportedJson(
            f"text with a lone surrogate, U+{ord(character):04X}", remedy="send text that is valid Unicode"
        ) from None


def digest_hex(data: bytes) -> str:
    """SHA-256 of `data` as 64 lower-case hexadecimal digits."""
    return sha256(data).hexdigest()


def _check(value: object, depth: int) -> None:
    """Refuse what would be printed otherwise than RFC 8785 has it, or differently from how it was given."""
    if isinstance(value, dict):
        _check_names(*value)
        _check_items(value.items(), depth)
    elif isinstance(value, list | tuple):
        _check_items(enumerate(value), depth)
    else:
        _check_scalar(value)


@lru_cache(maxsize=256, typed=True)  # what is written has the same members each time
def _check_names(*names: object) -> None:
    for name in names:
        if type(name) is not str or not name.isascii():
            raise UnsupportedJson(f"member name {name!r:.60}", remedy="use ASCII text as names")


def _check_items(items: Iterable[tuple[str | int, object]], depth: int) -> None:
    """Check what a container holds; text, the commonest, needs no look."""
    if depth == _MAX_DEPTH:
        raise UnsupportedJson(f"more than {_MAX_DEPTH} levels of nesting", remedy="flatten the value")
    for step, item in items:
        if type(item) is not str:
            try:
                _check(item, depth + 1)
            except UnsupportedJson as error:
                raise _within(str(step), error) from None


def _check_scalar(value: object) -> None:
    if value is None or isinstance(value, str | bool):
        return
    if not isinstance(value, int):
        raise UnsupportedJson(f"a value of type {type(value).__name__}", remedy="use text, or an integer below 2^53")
    if not -_INTEGER_LIMIT < value < _INTEGER_LIMIT:
        raise UnsupportedJson("an integer of 2^53 or more", remedy="write large numbers as text")


def _within(step: str, error: UnsupportedJson) -> UnsupportedJson:
    """The same error, its JSON pointer prefixed by one step."""
    pointer = f"/{step.replace('~', '~0').replace('/', '~1')}{error.where or ''}"
    return UnsupportedJson(error.message, remedy=error.remedy, where=pointer)
