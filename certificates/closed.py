"""Reading JSON documents of closed shape: exactly the members that are known, each of the kind it should be.

Rules
-----
* A document is UTF-8, at most 64 KiB, at most 64 objects and arrays in all (which bounds nesting before it is parsed).
* A name given twice in one object is an error: readers differ in which of the two they take.
* Floats, NaN and Infinity are errors. A member that is missing, unknown or of another kind is an error that names it.

Example
-------
>>> members = closed(parse(b'{"verdict": "clear"}'), "", frozenset({"verdict"}))
>>> text(members, "verdict", "")
'clear'
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Final, NoReturn, TypeVar
from uuid import UUID

from certificates.errors import InvalidValue, MalformedDocument
from certificates.ids import parse_urn

MAX_BYTES: Final = 1 << 16
"""The size of the largest document that is read: 64 KiB."""

_MAX_CONTAINERS: Final = 64
_BLANK: Final = b" \t\r\n"
_BEGINNINGS: Final = frozenset(bytes((byte,)) for byte in b'{["-0123456789tfn')
"""What a JSON text begins with (RFC 8259 section 2)."""

_REMEDY: Final = "fetch the document again; it has to arrive as it was issued"
_NONE: Final[frozenset[str]] = frozenset()

Choice = TypeVar("Choice", bound=StrEnum)


def parse(data: bytes) -> object:
    """The JSON value in `data`.

    Raises:
        MalformedDocument: `data` is too large, too deeply nested, not UTF-8, not JSON, names a member twice or holds a
            float.
    """
    # What is no JSON at all is not told of limits that go for JSON.
    beginning = data.lstrip(_BLANK)[:1]
    if beginning not in _BEGINNINGS:
        raise malformed(
            f"not JSON in UTF-8: {f'it begins with {beginning!r}' if beginning else 'there is nothing in it'}"
        )
    if len(data) > MAX_BYTES:
        raise malformed(f"more than {MAX_BYTES} bytes")
    if data.count(b"{") + data.count(b"[") > _MAX_CONTAINERS:
        raise malformed(f"more than {_MAX_CONTAINERS} objects and arrays")
    try:
        return json.loads(data.decode(), object_pairs_hook=unique, parse_float=_no_float, parse_constant=_no_float)
    except ValueError as error:  # UnicodeDecodeError and JSONDecodeError are both of this kind
        raise malformed(f"not JSON in UTF-8: {error}") from None


def closed_document(data: bytes) -> tuple[dict[str, object], object]:
    """The members of a secured document apart from its proof, and the proof.

    Raises:
        MalformedDocument: `data` is not a JSON object with a proof.
    """
    document = parse(data)
    if not isinstance(document, dict):
        raise malformed("not an object")
    if "proof" not in document:
        raise malformed("the member is missing", "proof")
    return document, document.pop("proof")


def closed(value: object, where: str, required: frozenset[str], optional: frozenset[str] = _NONE) -> dict[str, object]:
    """The members of `value`, if it is an object with all of `required` and nothing beyond `optional`.

    Raises:
        MalformedDocument: it is not; the message names the first member at fault.
    """
    if not isinstance(value, dict):
        raise malformed("not an object", where)
    if missing := required - value.keys():
        raise malformed("the member is missing", path(where, min(missing)))
    if unknown := value.keys() - required - optional:
        raise malformed("no member of that name belongs here", path(where, min(unknown)))
    return value


def text(members: dict[str, object], name: str, where: str) -> str:
    """The text that member `name` holds; `MalformedDocument` if it holds anything else."""
    value = members[name]
    if isinstance(value, str):
        return value
    raise malformed("not text", path(where, name))


def optional_text(members: dict[str, object], name: str, where: str) -> str | None:
    """As `text`, or None where the member is absent."""
    return text(members, name, where) if name in members else None


def integer(members: dict[str, object], name: str, where: str) -> int:
    """The integer that member `name` holds; `MalformedDocument` if it holds anything else."""
    value = members[name]
    if type(value) is int:
        return value
    raise malformed("not an integer", path(where, name))


def optional_integer(members: dict[str, object], name: str, where: str) -> int | None:
    """As `integer`, or None where the member is absent."""
    return integer(members, name, where) if name in members else None


def identifier(members: dict[str, object], name: str, where: str) -> UUID:
    """The id whose URN member `name` holds; `MalformedDocument` if it holds anything else."""
    try:
        return parse_urn(text(members, name, where))
    except InvalidValue as error:
        raise malformed(error.message, path(where, name)) from None


def optional_identifier(members: dict[str, object], name: str, where: str) -> UUID | None:
    """As `identifier`, or None where the member is absent."""
    return identifier(members, name, where) if name in members else None


def choice(members: dict[str, object], name: str, where: str, kind: type[Choice]) -> Choice:
    """The one of `kind` that member `name` holds; `MalformedDocument` if it is none of them."""
    value = text(members, name, where)
    try:
        return kind(value)
    except ValueError:
        raise malformed(f"{value[:40]!r} is none of {', '.join(kind)}", path(where, name)) from None


def exactly(members: dict[str, object], name: str, where: str, expected: object) -> None:
    """`MalformedDocument` unless member `name` is `expected` to the letter."""
    if members[name] != expected:
        raise malformed(f"not {json.dumps(expected)}", path(where, name))


def path(where: str, name: str) -> str:
    """The place of a member: names joined by dots."""
    return f"{where}.{name}" if where else name


def malformed(message: str, where: str = "") -> MalformedDocument:
    """The error for a document that is not as it should be at `where`."""
    return MalformedDocument(message, remedy=_REMEDY, where=where or None)


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object's members, for `json.loads`; `MalformedDocument` if a name is given twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        raise malformed("the member is given twice", next(name for name in names if names.count(name) > 1))
    return members


def _no_float(literal: str) -> NoReturn:
    raise malformed(f"the number {literal[:40]} is no integer")
