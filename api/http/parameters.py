"""Query parameters: declared once, read strictly, and documented from the same declaration.

Rules
-----
* A parameter that the route does not declare is an error that names the nearest one: never ignored, never "all".
* A parameter that may stand once and stands twice is an error: neither value is picked.
* Names and values are UTF-8, percent-encoded; a bare plus sign means a space, which a zone such as +02:00 notices.

Example
-------
>>> limit = Parameter("limit", "how many at most", {"type": "integer", "minimum": 1, "maximum": 9}, "5")
>>> read_parameters([limit], b"limit=3").number(limit, default=5)
3
>>> read_parameters([limit], b"limits=3")
Traceback (most recent call last):
kernel.errors.UnknownParameter: limits: there is no such parameter here (did you mean limit?)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import unquote_to_bytes

from api.suggestions import did_you_mean
from kernel.errors import InvalidParameter, InvalidTerm, UnknownParameter
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from enum import StrEnum

    from starlette.requests import Request

    from kernel.ports.outside import TermCanonicaliser

E = TypeVar("E", bound="StrEnum")

_MOST: Final = 1_000
"""Parameters of one request, repeated ones counted; more is no honest request."""

_WHOLE: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_LOST_PLUS: Final = re.compile(r"(?:-?\d{4}.*)? \d\d:\d\d", re.ASCII)

JsonSchema = dict[str, object]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a route.

    Args:
        name: as it is written.
        description: for people.
        schema: JSON Schema of one value; `enum`, `minimum` and `maximum` are enforced from it.
        example: a value that works.
        repeatable: whether it may stand more than once.
        required: whether it has to be there.
    """

    name: str
    description: str
    schema: JsonSchema
    example: str
    repeatable: bool = False
    required: bool = False

    @property
    def whole_schema(self) -> JsonSchema:
        """The schema of all its values together."""
        return {"type": "array", "items": self.schema} if self.repeatable else self.schema

    def document(self) -> JsonSchema:
        """The parameter as OpenAPI describes it."""
        example: object = int(self.example) if self.schema.get("type") == "integer" else self.example
        return {
            "name": self.name,
            "in": "query",
            "required": self.required,
            "description": self.description,
            "schema": self.whole_schema,
            "example": [example] if self.repeatable else example,
        }


class Parameters:
    """The parameters of one request."""

    __slots__ = ("_values",)

    def __init__(self, values: dict[str, list[str]]) -> None:
        self._values = values

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._values)

    def names(self) -> list[str]:
        """Which ones there are."""
        return list(self._values)

    def text(self, parameter: Parameter) -> str | None:
        """The value; None when it is not given. Raises `InvalidParameter` when it is empty."""
        given = self._values.get(parameter.name)
        if given is None:
            return None
        if not given[0]:
            remedy = "give one, or leave the parameter out"
            raise InvalidParameter("it has no value", remedy=remedy, where=parameter.name)
        return given[0]

    def time(self, parameter: Parameter) -> str | None:
        """The text of a time. Raises `InvalidParameter` where the plus of its zone was not encoded."""
        value = self.text(parameter)
        if value is not None and _LOST_PLUS.fullmatch(value):
            raise InvalidParameter(
                f"{value!r} has a space where its zone begins: a plus sign in a URL means a space",
                remedy="write the plus as %2B",
                where=parameter.name,
            )
        return value

    def iri(self, parameter: Parameter, canonicaliser: TermCanonicaliser) -> Iri | None:
        """An IRI that a store will hold. Raises `InvalidTerm`."""
        text = self.text(parameter)
        if text is None:
            return None
        try:
            iri = Iri(text)
            canonicaliser.canonical(iri)
        except InvalidTerm as error:
            error.where = parameter.name
            raise
        return iri

    def texts(self, parameter: Parameter) -> tuple[str, ...]:
        """Every value of a parameter that may be repeated."""
        return tuple(self._values.get(parameter.name, ()))

    def flag(self, parameter: Parameter) -> bool:
        """Whether it is `true`; False when it is not given."""
        value = self.text(parameter)
        if value not in (None, "true", "false"):
            raise InvalidParameter(f"{value[:40]!r} is no flag", remedy="write true or false", where=parameter.name)
        return value == "true"

    def number(self, parameter: Parameter, *, default: int) -> int:
        """A whole number within the bounds that the schema has."""
        value = self.text(parameter)
        if value is None:
            return default
        lowest, highest = parameter.schema["minimum"], parameter.schema["maximum"]
        number = int(value) if _WHOLE.fullmatch(value) else None
        if number is not None and isinstance(lowest, int) and isinstance(highest, int) and lowest <= number <= highest:
            return number
        problem = f"{value[:40]!r} is no whole number" if number is None else f"{number} is not within bounds"
        raise InvalidParameter(problem, remedy=f"give a whole number from {lowest} to {highest}", where=parameter.name)

    def choice(self, parameter: Parameter, kind: type[E]) -> E | None:
        """One of the values of an enumeration."""
        value = self.text(parameter)
        try:
            return None if value is None else kind(value)
        except ValueError as error:
            remedy = did_you_mean(value or "", [each.value for each in kind])
            raise InvalidParameter(f"there is no {value!r}", remedy=remedy, where=parameter.name) from error


NONE: Final = Parameters({})


def query_parameters(request: Request, known: Sequence[Parameter]) -> Parameters:
    """The parameters in a request's URL. Raises `UnknownParameter` and `InvalidParameter`, naming the parameter."""
    query: bytes = request.scope["query_string"]
    return read_parameters(known, query) if query else NONE


def read_parameters(known: Iterable[Parameter], *encoded: bytes) -> Parameters:
    """The parameters in URL-encoded text: a query string, a form, or both together."""
    declared = {parameter.name: parameter for parameter in known}
    values: dict[str, list[str]] = {}
    for text in encoded:
        for name, value in _pairs(text):
            parameter = declared.get(name)
            if parameter is None:
                remedy = did_you_mean(name, declared)
                raise UnknownParameter("there is no such parameter here", remedy=remedy, where=name[:100])
            values.setdefault(name, []).append(value)
            if len(values[name]) > 1 and not parameter.repeatable:
                raise InvalidParameter("it is given more than once", remedy="give it once", where=name)
    return Parameters(values)


def _pairs(text: bytes) -> list[tuple[str, str]]:
    """Names and values, as `urllib.parse.parse_qsl` has them; decoded at once, which takes a third of its time."""
    if text.count(b"&") >= _MOST:
        raise InvalidParameter(f"there are more than {_MOST:,} parameters", remedy="send fewer")
    try:
        parted = (each.partition(b"=") for each in text.split(b"&") if each)
        return [(_decoded(name), _decoded(value)) for name, _, value in parted]
    except UnicodeError as error:
        raise InvalidParameter("the parameters are not in UTF-8", remedy="percent-encode them as UTF-8") from error


def _decoded(text: bytes) -> str:
    return unquote_to_bytes(text.replace(b"+", b" ")).decode()
