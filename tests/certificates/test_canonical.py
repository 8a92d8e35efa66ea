"""Canonical JSON against an independent implementation of RFC 8785, and what it refuses."""

import json
import sys
from enum import IntEnum, StrEnum
from pathlib import Path

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from certificates.canonical import canonical_json, digest_hex
from certificates.errors import UnsupportedJson

_SAFE = 2**53 - 1
_NAMES = st.text(st.characters(max_codepoint=127), max_size=8)
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-_SAFE, _SAFE) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=20,
)


@given(_VALUES)
def test_agrees_with_an_independent_implementation(value: object) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)  # type: ignore[arg-type]  # its JSON type is a private alias


@given(_VALUES)
def test_says_what_was_given(value: object) -> None:
    assert json.loads(canonical_json(value)) == value


def test_escapes_only_what_must_be() -> None:
    text = "".join(map(chr, range(0x21))) + '"\\/\x7f\u2028\ufffd\U0001f600'
    assert canonical_json(text) == rfc8785.dumps(text)


def test_tuples_and_enumerations_are_written_as_what_they_hold() -> None:
    class Colour(StrEnum):
        RED = "red"

    class Level(IntEnum):
        HIGH = 3

    assert canonical_json((Colour.RED, Level.HIGH, True)) == b'["red",3,true]'


@pytest.mark.parametrize(
    ("value", "where", "words"),
    [
        (1.5, None, "float"),
        ({"a": [1, 2.0]}, "/a/1", "float"),
        ({"a": {"b/c~d": float("nan")}}, "/a/b~1c~0d", "float"),
        (2**53, None, "2^53"),
        ([-(2**53)], "/0", "2^53"),
        ("\ud800", None, "D800"),
        ({"a": "x\udfff"}, None, "DFFF"),
        ({"a": b"bytes"}, "/a", "bytes"),
        ({"a": {1, 2}}, "/a", "set"),
        ({1: "a"}, None, "1"),
        ({None: "a"}, None, "None"),
        ({"a": {"é": 1}}, "/a", "é"),
    ],
)
def test_refuses_what_it_would_not_print_as_others_do(value: object, where: str | None, words: str) -> None:
    with pytest.raises(UnsupportedJson, match=words.replace("^", r"\^")) as caught:
        canonical_json(value)
    assert caught.value.where == where
    assert caught.value.remedy


def test_refuses_endless_and_deep_nesting() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(UnsupportedJson, match="nesting"):
        canonical_json(endless)
    deep: object = 1
    for _ in range(32):
        deep = {"a": deep}
    assert canonical_json(deep).count(b"{") == 32
    with pytest.raises(UnsupportedJson, match="nesting"):
        canonical_json({"a": deep})


def test_digest_of_a_published_example() -> None:
    # NIST FIPS 180-4, the example "abc"
    assert digest_hex(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def _private() -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_is_kept_takes_little_more_room_than_its_text() -> None:
    before = _private()
    kept = [canonical_json({"n": f"{number:0300}"}) for number in range(20_000)]
    assert _private() - before < 4 * sum(map(len, kept))
