r"""JSON as it is written, strictly: nothing is lost between the text and what is made of it.

Rules
-----
* Refused: a member given twice, NaN and its kin, lone surrogates, nesting beyond `MAX_NESTING`, what is not UTF-8.
* Numbers keep their text: integers are `int`, others `Decimal`. As RDF (JSON-LD 1.1 API, section 8.6) a number without
  fraction and below 10^21 is an xsd:integer, any other an xsd:double; one that a double cannot hold to the last digit
  given is refused, for exact numbers are to be written as strings. So is a number that would be written like a double
  under another datatype, where it would be ill-typed.
* A double is written in its canonical form, from the shortest digits that mean it.

Example
-------
>>> parse_json(b'{"a": [1.50, 42.0]}')
{'a': [Decimal('1.50'), Decimal('42.0')]}
>>> [native_literal(number, None, where="/a").n3[:6] for number in (Decimal("1.50"), Decimal("42.0"), True)]
['"1.5E0', '"42"^^', '"true"']
>>> native_literal(Decimal("2.0000000000000001"), None, where="/a")
Traceback (most recent call last):
kernel.errors.InvalidTerm: /a: a double cannot hold 2.0000000000000001 exactly (write exact numbers as strings)
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, DecimalException
from typing import Final, TypeAlias

from kernel.errors import InvalidDocument, InvalidTerm
from kernel.terms import XSD, Literal

Json: TypeAlias = "str | bool | int | Decimal | list[Json] | dict[str, Json] | None"

MAX_NESTING: Final = 64

_INTEGERS_BELOW: Final = 10**21
_LONGEST_NUMBER: Final = 1_000
_DOUBLE: Final = XSD + "double"
_LIKE_DOUBLE: Final = frozenset({_DOUBLE, XSD + "float"})
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_SHOWN: Final = 60
_AS_STRING: Final = "give another; as the object of a statement, write it as a string"


def parse_json(data: bytes) -> Json:
    """The value of a JSON text. Raises `InvalidDocument`, with line and column or a JSON pointer where there is one."""
    text = _decoded(data)
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InvalidDocument(
            f"this is not JSON: {error.msg}",
            remedy="correct it at or before that place",
            where=f"line {error.lineno}, column {error.colno}",
        ) from error
    except RecursionError as error:
        raise _too_deep(None) from error
    if text.count("{") + text.count("[") > MAX_NESTING or _SURROGATE.search(text):
        _check(value, "", 0)
    return value


def pointer(*steps: str | int) -> str:
    """The JSON pointer (RFC 6901) of these steps."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def native_literal(value: bool | int | Decimal, datatype: str | None, *, where: str) -> Literal:
    """The literal that a JSON number or boolean stands for.

    Args:
        value: as `parse_json` gives it.
        datatype: the datatype that is given for it; None for its own.
        where: its place, for the error.

    Raises:
        InvalidTerm: a number that would lose digits, or be ill-typed.
    """
    if isinstance(value, bool):
        return Literal("true" if value else "false", datatype or XSD + "boolean")
    # Compared, never computed with: arithmetic on decimals would round them.
    whole = -_INTEGERS_BELOW < value < _INTEGERS_BELOW and value == int(value)
    if whole and datatype != _DOUBLE:
        return Literal(str(int(value)), datatype or XSD + "integer")
    if datatype is not None and datatype not in _LIKE_DOUBLE:
        raise InvalidTerm(
            f"the number {_shown(value)} would be written like a double, which is no {datatype}",
            remedy=f'write it as the string "{_shown(value)}"',
            where=where,
        )
    return Literal(_double(value, where), datatype or _DOUBLE)


def _double(value: int | Decimal, where: str) -> str:
    """The canonical form of xsd:double (XSD 1.1 Part 2, section E.1)."""
    try:
        held = Decimal(repr(float(value)))
    except OverflowError:
        held = Decimal("Infinity")
    if held != value:
        raise InvalidTerm(
            f"a double cannot hold {_shown(value)} exactly", remedy="write exact numbers as strings", where=where
        )
    sign, digits, exponent = held.as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    power = 0 if text == "0" else len(digits) - 1 + int(exponent)
    return f"{'-' * sign}{text[0]}.{text[1:] or '0'}E{power}"


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidDocument(
            "the text is not UTF-8",
            remedy="send JSON in UTF-8",
            where=f"line {line}, byte {error.start - data.rfind(b'%c' % 10, 0, error.start)}",
        ) from error


def _check(value: Json, where: str, depth: int) -> None:
    if depth > MAX_NESTING:
        raise _too_deep(where)
    if isinstance(value, dict):
        for name, member in value.items():
            _check(name, where, depth)
            _check(member, where + pointer(name), depth + 1)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            _check(member, where + pointer(index), depth + 1)
    elif isinstance(value, str) and not value.isascii() and any("\ud800" <= each <= "\udfff" for each in value):
        raise InvalidDocument(
            "a text has a lone surrogate in it",
            remedy=r"write characters beyond U+FFFF as themselves, or as a pair of \u escapes",
            where=where or None,
        )


def _too_deep(where: str | None) -> InvalidDocument:
    return InvalidDocument(
        f"the JSON is nested more than {MAX_NESTING} deep",
        remedy="refer to nodes by @id instead of nesting them",
        where=where,
    )


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidDocument(f"the member {twice!r} is given twice in one object", remedy="give each member once")
    return members


def _integer(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise _too_long()
    return int(text)


def _fraction(text: str) -> Decimal:
    if len(text) > _LONGEST_NUMBER:
        raise _too_long()
    try:
        return Decimal(text)
    except DecimalException as error:
        raise InvalidDocument(f"the number {text[:_SHOWN]} is beyond all measure", remedy=_AS_STRING) from error


def _too_long() -> InvalidDocument:
    return InvalidDocument(f"a number has more than {_LONGEST_NUMBER} digits", remedy=_AS_STRING)


def _no_number(name: str) -> Json:
    value = name.replace("Infinity", "INF")  # as XSD writes it
    raise InvalidDocument(
        f"{name} is no JSON",
        remedy=f'give a number; as the object of a statement it is {{"@value": "{value}", "@type": "{_DOUBLE}"}}',
    )


def _shown(value: int | Decimal) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_integer, parse_float=_fraction, parse_constant=_no_number
)
