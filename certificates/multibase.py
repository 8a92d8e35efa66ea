"""Base58btc in its multibase form, `z…` (W3C Controlled Identifiers 1.0, section 2.4).

Rules
-----
* Encoding is ours: each write has a signature, and digit by digit it would be a fiftieth of the write. Ten digits are
  taken off at once, so that the long divisions are few. Decoding is the library's.

Example
-------
>>> encode(bytes([0, 1, 2, 3]))
'z1Ldp'
>>> decode(encode(b"muniment"))
b'muniment'
"""

from __future__ import annotations

from typing import Final

import base58

_DIGITS: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BASE: Final = len(_DIGITS)
_PAIRS: Final = [high + low for high in _DIGITS for low in _DIGITS]
_PAIR: Final = _BASE**2
_TEN: Final = _BASE**10


def encode(data: bytes) -> str:
    """The bytes in base58btc, after the `z` that says so."""
    number = int.from_bytes(data)
    tens: list[str] = []
    while number:
        number, ten = divmod(number, _TEN)
        tens.append(_ten_digits(ten))
    zeros = len(data) - len(data.lstrip(b"\0"))  # each is a digit of its own
    return "z" + "1" * zeros + "".join(reversed(tens)).lstrip("1")


def decode(text: str) -> bytes:
    """The bytes of a multibase text.

    Raises:
        ValueError: it is not base58btc.
    """
    if not text.startswith("z"):
        raise ValueError("not base58btc")
    return base58.b58decode(text[1:])


def _ten_digits(number: int) -> str:
    number, fifth = divmod(number, _PAIR)
    number, fourth = divmod(number, _PAIR)
    number, third = divmod(number, _PAIR)
    first, second = divmod(number, _PAIR)
    return _PAIRS[first] + _PAIRS[second] + _PAIRS[third] + _PAIRS[fourth] + _PAIRS[fifth]
