"""JSON, strictly, and its numbers as RDF."""

from __future__ import annotations

import json
import math
from decimal import Decimal

import pyoxigraph as ox
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.documents.json_text import MAX_NESTING, native_literal, parse_json, pointer
from kernel.errors import InvalidDocument, InvalidTerm
from kernel.terms import XSD

_json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)),
    max_leaves=20,
)


@pytest.mark.parametrize(("name", "value"), [("NaN", "NaN"), ("Infinity", "INF"), ("-Infinity", "-INF")])
def test_what_is_no_number_is_one_of_xsd_as_an_object_alone(name: str, value: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        parse_json(f'{{"confidence": {name}}}'.encode())
    assert caught.value.remedy.startswith("give a number; as the object of a statement")
    assert f'{{"@value": "{value}", "@type": "{XSD}double"}}' in caught.value.remedy


@given(_json, st.booleans())
def test_what_the_standard_library_writes_is_read(value: object, ascii_only: bool) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        (b'{\n  "a" 1}', "line 2, column 7", "not JSON"),
        (b"", "line 1, column 1", "not JSON"),
        (b'{"a": 1,\n\n "b": tru}', "line 3, column 7", "not JSON"),
        (b'["\x01"]', "line 1, column 3", "control character"),
        (b'{}\n\n  "\xff"', "line 3, byte 4", "not UTF-8"),
        (b'{"a": {"b": 1, "b": 2}}', None, "'b' is given twice"),
        (b'{"a": NaN}', None, "NaN is no JSON"),
        (b"[-Infinity]", None, "-Infinity is no JSON"),
        (b'{"a": ["x", "\\ud800"]}', "/a/1", "lone surrogate"),
        (b'{"a/b": {"\\udfff~": 1}}', "/a~1b", "lone surrogate"),
        (b"[" * 100 + b"]" * 100, "/0" * (MAX_NESTING + 1), "nested more than"),
        (b"[" * 200_000, None, "nested more than"),
        (b'{"a":' * 200_000, None, "nested more than"),
        (b"1" * 2_000, None, "more than 1000 digits"),
        (b"0." + b"1" * 2_000, None, "more than 1000 digits"),
        (b"1e99999999999999999999", None, "beyond all measure"),
    ],
)
def test_what_is_refused_and_where(text: bytes, where: str | None, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message) as caught:
        parse_json(text)
    assert caught.value.where == where


def test_what_is_let_through() -> None:
    assert parse_json(b'\xef\xbb\xbf["\\ud83d\\ude00", "\\u0000"]') == ["😀", "\0"]
    assert parse_json(b"[" * MAX_NESTING + b"]" * MAX_NESTING) is not None


def test_pointers_are_those_of_rfc_6901() -> None:
    assert pointer("a/b", 0, "m~n", "") == "/a~1b/0/m~0n/"


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("42.0", f'"42"^^<{XSD}integer>'),
        ("42", f'"42"^^<{XSD}integer>'),
        ("1e3", f'"1000"^^<{XSD}integer>'),
        ("-0", f'"0"^^<{XSD}integer>'),
        ("999999999999999999999", f'"999999999999999999999"^^<{XSD}integer>'),
        ("1e21", f'"1.0E21"^^<{XSD}double>'),
        ("1.50", f'"1.5E0"^^<{XSD}double>'),
        ("-0.00012", f'"-1.2E-4"^^<{XSD}double>'),
        ("0.30000000000000004", f'"3.0000000000000004E-1"^^<{XSD}double>'),
        ("1.7976931348623157e308", f'"1.7976931348623157E308"^^<{XSD}double>'),
        ("5e-324", f'"5.0E-324"^^<{XSD}double>'),
    ],
)
def test_case_20_numbers_as_json_ld_has_them(text: str, expected: str) -> None:
    number = parse_json(text.encode())
    assert isinstance(number, int | Decimal)
    assert native_literal(number, None, where="").n3 == expected


@pytest.mark.parametrize(
    "text", ["2.0000000000000001", "0.1000000000000000055511151231257827", "1e400", "1e-400", "1234567890123456789012"]
)
def test_case_20_digits_are_not_lost_in_silence(text: str) -> None:
    number = parse_json(text.encode())
    assert isinstance(number, int | Decimal)
    with pytest.raises(InvalidTerm) as caught:
        native_literal(number, None, where="/p")
    assert caught.value.where == "/p"
    assert caught.value.remedy == "write exact numbers as strings"


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(-0.0)
def test_a_double_is_written_so_that_it_is_the_same_double(number: float) -> None:
    value = parse_json(json.dumps(number).encode())
    assert isinstance(value, int | Decimal)
    literal = native_literal(value, XSD + "double", where="")
    assert float(literal.lexical) == number
    mantissa, _, power = literal.lexical.partition("E")
    assert 1 <= abs(float(mantissa)) < 10 or number == 0
    assert len(mantissa.partition(".")[0].lstrip("-")) == 1
    assert power == str(int(power))


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_whatever_is_accepted_means_the_number_that_was_written(number: Decimal) -> None:
    value = parse_json(f"{number:E}".encode())
    assert isinstance(value, int | Decimal)
    try:
        literal = native_literal(value, None, where="")
    except InvalidTerm:
        assert not math.isfinite(float(number)) or Decimal(repr(float(number))) != number
        return
    assert Decimal(literal.lexical) == number
    assert (literal.datatype == XSD + "integer") is (abs(number) < 10**21 and number == int(number))


@given(st.integers(-(10**20), 10**20))
def test_the_parser_of_the_store_reads_integers_alike(number: int) -> None:
    (quad,) = ox.parse(f"<urn:s> <urn:p> {number} .".encode(), ox.RdfFormat.TURTLE)
    assert native_literal(number, None, where="").n3 == str(quad.object)


@pytest.mark.parametrize(
    ("text", "datatype", "expected"),
    [
        ("42", "double", '"4.2E1"'),
        ("42", "float", '"42"'),
        ("1.5", "float", '"1.5E0"'),
        ("42.0", "decimal", '"42"'),
        ("7", "unsignedByte", '"7"'),
        ("true", "string", '"true"'),
    ],
)
def test_numbers_under_a_datatype(text: str, datatype: str, expected: str) -> None:
    value = parse_json(text.encode())
    assert isinstance(value, bool | int | Decimal)
    literal = native_literal(value, XSD + datatype, where="")
    assert literal.n3.partition("^^")[0] == expected
    assert literal.datatype == XSD + datatype


@pytest.mark.parametrize("datatype", ["decimal", "integer", "string", "date"])
def test_case_20_a_fraction_under_another_datatype_is_not_written_like_a_double(datatype: str) -> None:
    with pytest.raises(InvalidTerm) as caught:
        native_literal(Decimal("1.50"), XSD + datatype, where="/p")
    assert caught.value.remedy == 'write it as the string "1.50"'
