"""Rows that are one value, or go on as they are."""

from __future__ import annotations


def select(columns: str, rest: str) -> str:
    """A SELECT of columns."""
    return f"SELECT {columns} {rest}"


def number_of(row: tuple[int]) -> int:
    """The one number of a row."""
    return row[0]


def bytes_of(row: tuple[bytes]) -> bytes:
    """The one value of a row, of bytes."""
    return row[0]


def text_of(row: tuple[str]) -> str:
    """The one text of a row."""
    return row[0]
