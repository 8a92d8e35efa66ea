"""What nobody would see in a text, made visible; and texts too long for their place, cut.

Rules
-----
* Shown are characters that have no form of their own: controls, format characters, all that Unicode has renderers leave
  out (Default_Ignorable_Code_Point, UAX #44), line and paragraph separators. Tab and line feed are as they are.
* Left alone is what does something that is seen: joiners where the script before them joins (UAX #31, section 2.3), and
  joiners and variation selectors within an emoji.
* Everywhere the code is written between brackets, `⟦U+202E⟧`: templates do so with whatever they are given, also in
  attributes and drawings. Where there may be elements, `marked` says the character's name too. What a form sends back,
  and where a link leads, is `exact`.
* A text is cut after a word where that leaves most of it, and always says so by an ellipsis. No mark is cut in two.

Example
-------
>>> visible("abc\u202etxt.exe"), clipped("George the Sixth", 14)
('abc⟦U+202E⟧txt.exe', 'George the…')
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final
from unicodedata import bidirectional, category, combining, decomposition, name

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADING: Final = 100
"""Characters of one term in a heading or a list."""

PASSAGE: Final = 240
"""Characters of one term within a sentence or a table."""

_IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN: Final = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb\u2800{_IGNORABLE}]")
_JOINERS: Final = "\u200c\u200d"
_EMOJI: Final = "\u200d\ufe0e\ufe0f"
_SYMBOLS: Final = ("So", "Sk", "Sm")
_VIRAMA: Final = 9
"""The combining class of the signs by which Indic scripts join (UAX #44, table 15)."""

_NAMED: Final = {"\x00": "NULL", "\x1b": "ESCAPE", "\x7f": "DELETE", "\x85": "NEXT LINE"}
"""Controls have no name in Unicode's table: those that somebody may meet, others by their kind."""


def visible(text: str) -> str:
    """The text with what is hidden written out."""
    if _HIDDEN.search(text) is None:
        return text
    return "".join(_code(piece) if hidden else piece for piece, hidden in _pieces(text))


def marked(text: str) -> Markup:
    """The same as HTML: what is hidden is an element with the character's name."""
    return Markup("").join(
        Markup('<span class="hidden-char" title="{} {}">{}</span>').format(_point(piece), _name(piece), _point(piece))
        if hidden
        else escape(piece)
        for piece, hidden in _pieces(text)
    )


def exact(text: str) -> Markup:
    """The text as it is, for what is sent back or followed and not read."""
    return escape(text)


def finalized(value: object) -> object:
    """What a template puts out: text with what is hidden written out; markup as it is."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def clipped(text: str, most: int) -> str:
    """The text, cut where it is longer than that many characters."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    words = cut.rstrip().rpartition(" ")[0] if not text[most - 1].isspace() else cut
    kept = words if len(words) > most // 2 else cut
    return kept.rstrip() + "…"


def in_full(text: str) -> str:
    """A message as a sentence of its own; what it begins with is left as it is where that is quoted.

    >>> in_full("there is no such fact"), in_full("'x' is no date"), in_full("why not?")
    ('There is no such fact.', "'x' is no date.", 'Why not?')
    """
    whole = text[:1].upper() + text[1:]
    return whole if whole.endswith((".", "?", "!", ":", "…")) else f"{whole}."


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, and whether each is one hidden character."""
    start = 0
    for match in _HIDDEN.finditer(text):
        if not _is_seen(text, match.start()):
            if start < match.start():
                yield text[start : match.start()], False
            yield match.group(), True
            start = match.end()
    if start < len(text):
        yield text[start:], False


def _is_seen(text: str, place: int) -> bool:
    """Whether what stands there changes how its neighbours look."""
    character, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if not before:
        return False
    if character in _EMOJI and (category(before) in _SYMBOLS or before == "\ufe0f" or after == "\u20e3"):
        return character != "\u200d" or (after != "" and category(after) in _SYMBOLS)
    if character not in _JOINERS or not after:
        return False
    return combining(before) == _VIRAMA or (before in _joining() and bidirectional(after) == "AL")


@cache
def _joining() -> frozenset[str]:
    """Arabic letters that join to the next one: those of which Unicode has an initial form."""
    forms = (decomposition(chr(code)).split() for code in (*range(0xFB50, 0xFE00), *range(0xFE70, 0xFF00)))
    return frozenset(chr(int(form[1], 16)) for form in forms if len(form) == 2 and form[0] == "<initial>")


def _code(character: str) -> str:
    return f"⟦{_point(character)}⟧"


def _point(character: str) -> str:
    return f"U+{ord(character):04X}"


def _name(character: str) -> str:
    return name(character, "") or _NAMED.get(character, "CONTROL CHARACTER" if category(character) == "Cc" else "")
