"""What is read from the ledger and makes no sense is damage, never somebody's bad request.

Example
-------
>>> @sound("a number")
... def number(row: tuple[str]) -> int:
...     return int(row[0])
>>> number(("seven",))
Traceback (most recent call last):
kernel.errors.DamagedBase: the ledger holds a number that cannot be read: invalid literal for int() with base 10: \
'seven' (restore the ledger from a backup)
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeVar

from certificates.errors import CertificateError
from kernel.errors import DamagedBase, MunimentError

if TYPE_CHECKING:
    from collections.abc import Callable

R = TypeVar("R")
T = TypeVar("T")


def sound(what: str) -> Callable[[Callable[[R], T]], Callable[[R], T]]:
    """Makes whatever a decoder trips over a `DamagedBase` that says what cannot be read."""

    def guard(decode: Callable[[R], T]) -> Callable[[R], T]:
        @wraps(decode)
        def decoded(stored: R) -> T:
            try:
                return decode(stored)
            except (ValueError, TypeError, LookupError, ArithmeticError, CertificateError, MunimentError) as error:
                raise DamagedBase(
                    f"the ledger holds {what} that cannot be read: {error}", remedy="restore the ledger from a backup"
                ) from error

        return decoded

    return guard
