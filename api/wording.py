"""What a value is refused for, in our words: those of the library that checks it speak of schemas and parsers.

Rules
-----
* It is told what the value was, shortened, and what there may be.

Example
-------
>>> from pydantic import TypeAdapter, ValidationError
>>> try:
...     TypeAdapter(int).validate_python("abc")
... except ValidationError as error:
...     in_words(error)
"'abc' is no whole number"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pydantic import ValidationError

_LONGEST: Final = 40

_NO_NUMBER: Final = {
    "int_parsing": "whole number",
    "int_parsing_size": "whole number of a size that can be read",
    "int_from_float": "whole number",
    "decimal_parsing": "number",
    "finite_number": "number",
}


def in_words(error: ValidationError) -> str:
    """What is wrong with the first value that was refused."""
    first = error.errors(include_url=False)[0]
    kind, given, limits = first["type"], _shown(first["input"]), first.get("ctx", {})
    if kind in _NO_NUMBER:
        return f"{given} is no {_NO_NUMBER[kind]}"
    match kind:
        case "greater_than_equal":
            return f"{given} is less than {limits['ge']}"
        case "less_than_equal":
            return f"{given} is more than {limits['le']}"
        case "string_too_short":
            return "it is empty"
        case "enum":
            return f"{given} is none of {limits['expected']}"
        case "value_error":
            return str(limits["error"])
        case _:
            return first["msg"][:1].lower() + first["msg"][1:]


def _shown(given: object) -> str:
    return repr(given if len(str(given)) <= _LONGEST else f"{str(given)[:_LONGEST]}…")
