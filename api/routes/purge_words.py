"""How much a purge would take, in words: of a preview as `POST /purges` answers it.

Rules
-----
* What there is nothing of is not mentioned.

Example
-------
>>> [*goes({"facts": 12, "comments": 1})]
[(12, 'facts'), (1, 'comment')]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WORDS: Final = {
    "facts": ("fact", "facts"),
    "evidence": ("piece of evidence", "pieces of evidence"),
    "planItems": ("item of plans", "items of plans"),
    "findings": ("finding", "findings"),
    "impactRows": ("row of impact", "rows of impact"),
    "comments": ("comment", "comments"),
    "rejected": ("certificate in review, which is rejected", "certificates in review, which are rejected"),
    "stagedLoads": ("staged load", "staged loads"),
}


def goes(counts: Mapping[str, object]) -> Iterator[tuple[int, str]]:
    """How many of what."""
    for name, (one, many) in _WORDS.items():
        number = counts.get(name)
        if isinstance(number, int) and number:
            yield number, one if number == 1 else many
