"""Numbers of things, in words.

Example
-------
>>> counted(1, "row"), counted(2_000, "row"), counted(2, "piece of evidence", "pieces of evidence")
('1 row', '2,000 rows', '2 pieces of evidence')
"""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """So many things: what one is called, and many, by default with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
