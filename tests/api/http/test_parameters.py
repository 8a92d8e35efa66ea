"""Query parameters are read strictly, and documented from what reads them."""

from enum import StrEnum
from typing import Final
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.http.parameters import Parameter, _pairs, read_parameters
from kernel.errors import InvalidParameter, UnknownParameter

TEXT: Final = Parameter("text", "a text", {"type": "string"}, "x")
MANY: Final = Parameter("many", "texts", {"type": "string"}, "x", repeatable=True)
FLAG: Final = Parameter("dry-run", "a flag", {"type": "boolean"}, "true")
NUMBER: Final = Parameter("limit", "a number", {"type": "integer", "minimum": 1, "maximum": 500}, "5")
KNOWN: Final = (TEXT, MANY, FLAG, NUMBER)

texts = st.text(st.characters(exclude_categories=["Cs"]))


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


@given(texts.filter(bool), st.lists(texts))
def test_what_was_encoded_is_read(text: str, many: list[str]) -> None:
    parameters = read_parameters(KNOWN, urlencode([("text", text), *(("many", each) for each in many)]).encode())
    assert parameters.text(TEXT) == text
    assert parameters.texts(MANY) == tuple(many)


def test_utf8_that_was_not_encoded_is_read() -> None:
    assert read_parameters(KNOWN, "text=Curaçao".encode()).text(TEXT) == "Curaçao"


def test_url_and_form_are_read_together() -> None:
    parameters = read_parameters(KNOWN, b"text=a&many=b", b"many=c")
    assert (parameters.text(TEXT), parameters.texts(MANY)) == ("a", ("b", "c"))


@pytest.mark.parametrize(
    ("query", "where", "remedy"),
    [
        ("txt=a", "txt", "did you mean text?"),
        ("LIMIT=1", "LIMIT", "did you mean limit?"),
        ("dry_run=true", "dry_run", "did you mean dry-run?"),
        ("colour=a", "colour", "use one of dry-run, limit, many, text"),
        ("foo=a", "foo", "use one of dry-run, limit, many, text"),
        ("lim=a", "lim", "did you mean limit?"),
        ("li=a", "li", "use one of dry-run, limit, many, text"),
        ("=a", "", "use one of dry-run, limit, many, text"),
    ],
)
def test_an_unknown_parameter_is_named(query: str, where: str, remedy: str) -> None:
    with pytest.raises(UnknownParameter) as caught:
        read_parameters(KNOWN, query.encode())
    assert (caught.value.where, caught.value.remedy) == (where, remedy)


@pytest.mark.parametrize("query", [b"text=a&text=a", b"limit=1&limit=2"])
def test_a_single_parameter_that_stands_twice_is_refused(query: bytes) -> None:
    with pytest.raises(InvalidParameter, match="more than once"):
        read_parameters(KNOWN, query)


def test_a_parameter_in_the_url_and_in_the_form_stands_twice() -> None:
    with pytest.raises(InvalidParameter, match="more than once"):
        read_parameters(KNOWN, b"text=a", b"text=b")


@pytest.mark.parametrize("query", [b"text=%ff", b"text=\xff", b"&".join([b"many=a"] * 2_000)])
def test_what_cannot_be_read_is_refused(query: bytes) -> None:
    with pytest.raises(InvalidParameter, match=r"not in UTF-8|more than 1,000 parameters"):
        read_parameters(KNOWN, query)


@pytest.mark.parametrize("value", ["0", "501", "-1", "+5", "5.0", "", "five", "٥", "9" * 5_000])
def test_a_number_that_is_none_or_out_of_bounds_is_refused(value: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read_parameters(KNOWN, urlencode({"limit": value}).encode()).number(NUMBER, default=7)
    assert caught.value.where == "limit"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("0", "0 is not within bounds"),
        ("501", "501 is not within bounds"),
        ("five", "'five' is no whole number"),
        ("1e2", "'1e2' is no whole number"),
    ],
)
def test_the_bounds_of_a_number_are_the_remedy(value: str, problem: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read_parameters(KNOWN, f"limit={value}".encode()).number(NUMBER, default=7)
    assert (caught.value.message, caught.value.remedy) == (problem, "give a whole number from 1 to 500")


@given(st.integers(1, 500))
def test_a_number_within_bounds_is_read(number: int) -> None:
    assert read_parameters(KNOWN, f"limit={number}".encode()).number(NUMBER, default=7) == number


def test_what_is_not_given_has_its_default() -> None:
    nothing = read_parameters(KNOWN, b"")
    assert nothing.number(NUMBER, default=7) == 7
    assert nothing.text(TEXT) is None
    assert nothing.texts(MANY) == ()
    assert nothing.flag(FLAG) is False
    assert nothing.choice(TEXT, Colour) is None


@pytest.mark.parametrize("value", ["yes", "1", "True", ""])
def test_a_flag_is_true_or_false(value: str) -> None:
    assert read_parameters(KNOWN, b"dry-run=true").flag(FLAG) is True
    assert read_parameters(KNOWN, b"dry-run=false").flag(FLAG) is False
    with pytest.raises(InvalidParameter) as caught:
        read_parameters(KNOWN, f"dry-run={value}".encode()).flag(FLAG)
    assert caught.value.remedy == ("write true or false" if value else "give one, or leave the parameter out")


def test_a_choice_names_the_nearest() -> None:
    assert read_parameters(KNOWN, b"text=red").choice(TEXT, Colour) is Colour.RED
    with pytest.raises(InvalidParameter) as caught:
        read_parameters(KNOWN, b"text=grene").choice(TEXT, Colour)
    assert (caught.value.where, caught.value.remedy) == ("text", "did you mean green?")


def test_a_zone_that_lost_its_plus_is_noticed() -> None:
    with pytest.raises(InvalidParameter) as caught:
        read_parameters(KNOWN, b"text=2024-05-06T15:00:00+02:00").time(TEXT)
    assert caught.value.remedy == "write the plus as %2B"
    encoded = read_parameters(KNOWN, b"text=2024-05-06T15:00:00%2B02:00")
    assert encoded.time(TEXT) == "2024-05-06T15:00:00+02:00"


def test_the_documentation_follows_from_the_declaration() -> None:
    assert NUMBER.document() == {
        "name": "limit",
        "in": "query",
        "required": False,
        "description": "a number",
        "schema": {"type": "integer", "minimum": 1, "maximum": 500},
        "example": 5,
    }
    assert MANY.document()["schema"] == {"type": "array", "items": {"type": "string"}}


@given(
    st.lists(
        st.tuples(st.binary(max_size=8), st.sampled_from([b"=", b"", b"&", b"==", b"+", b"%", b"%2", b"%C3%A9"])),
        max_size=6,
    )
)
def test_parameters_are_parted_and_decoded_as_the_library_does(pieces: list[tuple[bytes, bytes]]) -> None:
    query = b"".join(one + other for one, other in pieces)
    try:
        expected: object = parse_qsl(query.decode(), keep_blank_values=True, errors="strict")
    except UnicodeError:
        expected = "not in UTF-8"
    try:
        found: object = _pairs(query)
    except InvalidParameter as refusal:
        found = refusal.message.removeprefix("the parameters are ")
    assert found == expected
