"""Base58btc, against the library."""

from __future__ import annotations

import base58
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.multibase import decode, encode


@given(st.builds(lambda zeros, rest: bytes(zeros) + rest, st.integers(0, 3), st.binary(max_size=70)))
def test_encoding_is_the_librarys(data: bytes) -> None:
    assert encode(data) == "z" + base58.b58encode(data).decode()
    assert decode(encode(data)) == data


@pytest.mark.parametrize("text", ["", "m6Mk", "z0", "zO", "zé"])
def test_what_is_not_base58btc_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"base58btc|[Ii]nvalid|ascii"):
        decode(text)
