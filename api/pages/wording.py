"""What to do about an error, in words of pages.

Rules
-----
* Most remedies say the same to whoever asked, by the JSON API or on a page. Those that name what only a program has
  (headers, methods, parameters, encodings) are put otherwise here: by the error's code, else by what they name.

Example
-------
>>> remedy_on_pages("invalid-parameter", "write head:N, the number from Muniment-Head or a certificate")
'write head:N: a certificate that was applied says its head beside its state'
>>> remedy_on_pages("invalid-time", "give a date")
'give a date'
"""

from __future__ import annotations

from typing import Final

_BY_LINKS: Final = "open the page again, and use its links and forms"
_FILES: Final = "take one of the files that the page offers below an answer"

_BY_CODE: Final = {
    "broken-off": "send the form again",
    "method-not-allowed": "go back, and use the links and forms of the page",
    "not-acceptable": _FILES,
    "too-large": "shorten what you wrote, then send it again",
    "unknown-parameter": _BY_LINKS,
    "unknown-path": "begin at the queue",
    "unsupported-media-type": _BY_LINKS,
}
_BY_NAME: Final = {
    "%2B": "write it with a plus before the zone, as in 2026-05-06T15:00:00+02:00",
    "Authorization": "sign in",
    "GET /what-if": "look for it among your branches, under What if",
    "GET /purges": "look for it among the purges",
    "`entailment`": "see whether its terms are spelled as they are held, and by which rules and for when you ask",
    "GET /": "look for it in the queue",
    "Muniment-Head": "write head:N: a certificate that was applied says its head beside its state",
    "application/sparql-update": "a page only reads: send updates to /sparql, and changes by `muniment submit`",
    "`next`": "go back to the start of the list",
    "a format": _FILES,
    "accept one of": _FILES,
    "leave the parameter out": "leave it empty",
    "percent-encode": _BY_LINKS,
    "send fewer": _BY_LINKS,
}


def remedy_on_pages(code: str, remedy: str) -> str:
    """What somebody at a page can do.

    Args:
        code: of the error.
        remedy: what the error itself says.
    """
    named = (words for name, words in _BY_NAME.items() if name in remedy)
    return _BY_CODE.get(code) or next(named, remedy)
