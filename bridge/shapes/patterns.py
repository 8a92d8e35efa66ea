r"""Regular expressions of shapes: sh:pattern as SPARQL's REGEX has it, in time that nobody can stretch.

Rules
-----
* A pattern means what it means to Oxigraph's REGEX (SHACL section 4.4.3, SPARQL 1.1 section 17.4.3.14), which takes
  time in proportion to the text, whatever the pattern. So there is no lookaround and no back-reference, and a pattern
  must not grow too large when counted repetition is written out.
* Asking Oxigraph costs 0.1 ms a text. Python's own matching costs a microsecond, but goes through the ways in which a
  pattern can match one by one. It is used where those ways, counted beforehand, are few, and where both say the same:
  for ASCII text without line ends.
* A pattern must be one to both; then every text can go either way. Python has no categories of characters, such as
  `\p{L}`: a pattern with one always goes to Oxigraph, and must be one to Python with `\w` in its place.

Example
-------
>>> Pattern("^(a+)+$", "").matches("a" * 10_000 + "!")
False
>>> fault("(?=a)", "")
'it must do without lookaround and back-references, and stay small when its counts are written out'
"""

from __future__ import annotations

import re
import warnings
from re import _constants, _parser  # type: ignore[attr-defined, unused-ignore] # no stubs; tests hold both to it
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

if TYPE_CHECKING:
    from collections.abc import Sequence

FLAGS: Final = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "q": re.NOFLAG}
"""Those that mean the same to both; `q` has a pattern stand for itself. White space is left out by `x` in two ways."""

STEPS: Final = 1_000_000
"""How many steps Python's matching may take at most; some ten milliseconds."""

_ESCAPED: Final = re.compile(r"\\(?:[pP](?:\{\w+\}|[A-Z])|.)", re.DOTALL)
_ENDLESS: Final = STEPS + 1
_ONE: Final = frozenset(
    {_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY, _constants.AT, _constants.RANGE}
)
"""What matches in one way, and at one length."""

_AT_START: Final = (_constants.AT, _constants.AT_BEGINNING)
_REPEATS: Final = frozenset({_constants.MAX_REPEAT, _constants.MIN_REPEAT})
_EMPTY: Final = ox.Store()
_TRUE: Final = str(ox.Literal(True))
_REFUSED: Final = "it must do without lookaround and back-references, and stay small when its counts are written out"
_CATEGORIES: Final = r"of the categories of characters there are Unicode's general ones and scripts, such as \p{Lu}"


def fault(pattern: str, flags: str) -> str | None:
    """Why a pattern cannot be used; None: it can.

    Args:
        pattern: the regular expression.
        flags: some of `FLAGS`.
    """
    try:
        with warnings.catch_warnings():
            # What Python only warns of, such as nested sets, means something else elsewhere.
            warnings.simplefilter("error")
            re.compile(_to_python(pattern, flags), _flags(flags))
    except RecursionError:
        return "its groups are nested too deep"
    except (re.error, Warning, OverflowError) as error:
        return str(error)
    if _asked(pattern, flags, "") is not None:
        return None
    return _REFUSED if _to_python(pattern, flags) == pattern else f"{_REFUSED}; {_CATEGORIES}"


class Pattern:
    """A pattern without fault.

    Args:
        pattern: the regular expression.
        flags: some of `FLAGS`.
    """

    def __init__(self, pattern: str, flags: str) -> None:
        self._pattern = pattern
        self._flags = flags
        written = _to_python(pattern, flags)
        self._compiled = re.compile(written, _flags(flags))
        self._parsed = _parser.parse(written, _flags(flags))
        self._short = self._shortest_too_long() if written == pattern or "q" in flags else 0

    def matches(self, text: str) -> bool:
        """Whether it matches somewhere in a text."""
        if len(text) < self._short and text.isascii() and "\n" not in text and "\r" not in text:
            return self._compiled.search(text) is not None
        return bool(_asked(self._pattern, self._flags, text))

    def _shortest_too_long(self) -> int:
        """The length, a power of two, from which on Python might take too many steps."""
        length = 1
        while length < STEPS and self._steps(2 * length) <= STEPS:
            length *= 2
        return length

    def _steps(self, length: int) -> int:
        """How many steps Python takes at most on a text of a length: places to begin, ways from there, and each way."""
        parsed = self._parsed
        begins = next(iter(parsed), None) == _AT_START and not self._compiled.flags & re.MULTILINE
        least = int(parsed.getwidth()[0])
        return (1 if begins else length + 1) * _ways(parsed, length) * (least + len(self._pattern))


def _ways(parts: Sequence[tuple[object, object]], length: int) -> int:
    """In how many ways a sequence can match a text of a length, at most; beyond `STEPS` they are not counted."""
    ways = 1
    for operator, argument in parts:
        ways = min(ways * _ways_of(operator, argument, length), _ENDLESS)
    return ways


def _ways_of(operator: object, argument: object, length: int) -> int:
    if operator in _ONE:
        return 1
    if operator is _constants.SUBPATTERN and isinstance(argument, tuple):
        return _ways(argument[-1], length)
    if operator is _constants.BRANCH and isinstance(argument, tuple):
        return sum(_ways(branch, length) for branch in argument[1])
    if operator in _REPEATS and isinstance(argument, tuple):
        least, most, repeated = argument
        inner = _ways(repeated, length)
        if most == 1:
            return 1 + inner
        # Repeated choices multiply: those are left to Oxigraph.
        return min(int(most), length) - min(least, length) + 1 if inner == 1 else _ENDLESS
    return _ENDLESS


def _to_python(pattern: str, flags: str) -> str:
    r"""The pattern as Python knows it; `\w` stands for a category, of which Python knows none."""
    if "q" in flags:
        return re.escape(pattern)
    return _ESCAPED.sub(lambda found: r"\w" if found[0][1] in "pP" else found[0], pattern)


def _flags(flags: str) -> int:
    return sum(FLAGS[flag] for flag in set(flags))


def _asked(pattern: str, flags: str, text: str) -> bool | None:
    """What Oxigraph says; None when the pattern is none to it."""
    said = ", ".join(str(ox.Literal(each)) for each in (text, pattern, flags))
    answer = _EMPTY.query(f"SELECT (REGEX({said}) AS ?matches) {{}}")
    if not isinstance(answer, ox.QuerySolutions):
        raise TypeError(answer)
    matches = next(answer)["matches"]
    return None if matches is None else str(matches) == _TRUE
