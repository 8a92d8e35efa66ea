"""The way out of a misspelling.

Example
-------
>>> did_you_mean("valid_at", ["valid-at", "as-of", "query"])
'did you mean valid-at?'
>>> did_you_mean("colour", ["valid-at", "as-of"])
'use one of as-of, valid-at'
>>> did_you_mean("foo", ["format"])
'use one of format'
>>> did_you_mean("colour", [])
'leave it out: there are none'
>>> [did_you_mean(name, ["OUR_PORT", "OUR_HOST"], prefix="OUR_") for name in ("OUR_FOO", "OUR_PROT")]
['use one of OUR_HOST, OUR_PORT', 'did you mean OUR_PORT?']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extractOne

if TYPE_CHECKING:
    from collections.abc import Iterable

_NEAR: Final = 70.0
"""Of 100, of whole names: a letter or two apart. That a part of one is like a part of the other says nothing."""


def did_you_mean(name: str, known: Iterable[str], *, prefix: str = "") -> str:
    """A remedy for a name that is not among the known ones. A prefix that they all have makes it like none of them."""
    choices = sorted(known)
    if not choices:
        return "leave it out: there are none"

    def told_apart_by(each: str) -> str:
        return each.lower().removeprefix(prefix.lower())

    nearest = extractOne(name[:100], choices, scorer=ratio, processor=told_apart_by, score_cutoff=_NEAR)
    return f"did you mean {nearest[0]}?" if nearest else f"use one of {', '.join(choices)}"
