"""Confidences keep their digits, and what would be long written out is none."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.confidence import MOST_DIGITS, read_confidence


@given(st.decimals(0, 1, places=MOST_DIGITS) | st.decimals(0, 1))
def test_what_is_taken_is_kept_digit_by_digit_and_short_written_out(number: Decimal) -> None:
    for said in (number, str(number), format(number, "f")):
        read = read_confidence(said)
        if read is not None:
            assert read == number
            assert len(format(read, "f")) <= MOST_DIGITS + 2
    if len(format(number.copy_abs(), "f")) <= MOST_DIGITS + 2:
        assert read_confidence(format(number, "f")) is not None


@pytest.mark.parametrize(
    "said",
    [
        "", " 0.5", "0,5", "0.1_0", "٠.5", "NaN", "Infinity", "1.1", "-0.1", 2, -1, "0x1", "1e1",
        "1e-101", "1e-999999999", Decimal("1e-999999999"), "0." + "0" * 101, "0e-101", "1e-9999999999999999999999",
    ],
)  # fmt: skip
def test_what_is_no_confidence_or_too_long_is_none(said: str | int | Decimal) -> None:
    assert read_confidence(said) is None


def test_zero_has_no_sign() -> None:
    assert str(read_confidence("-0.0")) == str(read_confidence(Decimal("-0.0"))) == "0.0"
