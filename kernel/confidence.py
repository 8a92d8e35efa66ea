"""Confidences: how sure a source is of what it says, a decimal from 0 to 1.

Rules
-----
* A confidence keeps its digits: `0.50` stays `0.50`. There are at most 100 after the point. A number such as
  `1e-999999999` is short as it comes, and a gigabyte where it is written out, in plans, stores and messages.
* In text it is written as XSD has a decimal or a double; zero has no sign.

Example
-------
>>> read_confidence("0.50"), read_confidence("5e-1"), read_confidence("1e-101"), read_confidence("1_0e-2")
(Decimal('0.50'), Decimal('0.5'), None, None)
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

MOST_DIGITS: Final = 100
"""How many digits a confidence may have after the point."""

CONFIDENCE_SAID: Final = f"a number from 0 to 1, with at most {MOST_DIGITS} digits after the point"
"""What a confidence is, for messages."""

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)


def read_confidence(said: str | int | Decimal) -> Decimal | None:
    """The confidence that a text or number says, digit by digit; None if it is none."""
    if isinstance(said, str) and not _NUMBER.fullmatch(said):
        return None
    number = Decimal(said)
    if not number.is_finite() or not 0 <= number <= 1:
        return None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -MOST_DIGITS:
        return None
    return number.copy_abs()
