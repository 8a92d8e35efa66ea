"""Texts that differ in the IRIs that they ask about alone: what is found out about one of them holds for the others.

Rules
-----
* A template is a query with numbers in the place of its IRIs: of absolute ones after the first brace, the same number
  for the same IRI. Whoever has kept something by the template puts the IRIs back.
* Only what cannot be mistaken has one. There are no comments, long strings or escapes in it, whose parts could look
  like an IRI; strings and their datatypes stay as they are. Each IRI is one that is never written anew
  (`bridge.sparql.tokens`) and none of ours, which say what may be read. No word in it lets an IRI mean something else
  than a node, a predicate or a graph (a prefix, a dataset or a service would), nor is it an update, or asks for NOW().
* So the template has the tokens of the text, IRIs aside, at the same places in their order.

Example
-------
>>> found = template_of("SELECT ?o { <urn:a> <urn:p> ?o . ?o <urn:p> <http://b.example/> }")
>>> found.text
'SELECT ?o { <muniment-template:0> <muniment-template:1> ?o . ?o <muniment-template:1> <muniment-template:2> }'
>>> found.iris
('urn:a', 'urn:p', 'http://b.example/')
>>> template_of("ASK { <urn:a> ?p '<urn:b>' }").text
"ASK { <muniment-template:0> ?p '<urn:b>' }"
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

LONGEST: Final = 16_384
"""Characters of a text that is looked at."""

_NAMESPACE: Final = "muniment-template:"
_OURS: Final = "muniment"
_PART: Final = re.compile(
    r"""
      <([A-Za-z][A-Za-z0-9+.\-]*:(?://[A-Za-z0-9:/._~%\-\#?=&@+]{1,400}|(?!//)[A-Za-z0-9:/._~%\-]{0,400}))>
    | "[^"\\\r\n]*" | '[^'\\\r\n]*' | \^\^[ \t\r\n]*<[^<>"{}|^`\\\x00-\x20]*>
    """,
    re.VERBOSE,
)
"""An IRI that may have another in its place; a string; a datatype."""

_LONG_STRINGS: Final = ('"""', "'''")
_TELLING: Final = re.compile(
    r"""["'#\\]|<(?![ =])|prefix|base|from|service|load|now|insert|delete|using|with""", re.IGNORECASE
)
"""What may not stand beside these: what hides one, begins another IRI, or gives one another meaning."""

_UPDATES: Final = re.compile(r"""["'#\\]|insert|delete""", re.IGNORECASE)
"""What may not stand before the first brace."""


@dataclass(frozen=True, slots=True)
class Template:
    """A text without its IRIs.

    Args:
        text: with numbers in their place.
        iris: by their numbers.
    """

    text: str
    iris: tuple[str, ...]


@lru_cache(maxsize=16)
def template_of(text: str) -> Template | None:
    """The template of a query; None where it has none."""
    if len(text) > LONGEST or _NAMESPACE in text or any(each in text for each in _LONG_STRINGS):
        return None
    before, brace, rest = text.partition("{")
    if _UPDATES.search(_PART.sub("", before)) is not None:
        return None
    numbers: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        iri = match[1]
        if iri is None or _OURS in iri:
            return match[0]
        return f"<{_NAMESPACE}{numbers.setdefault(iri, len(numbers))}>"

    plain = _PART.sub(numbered, rest)
    if not numbers or _TELLING.search(_PART.sub("", rest)) is not None:
        return None
    return Template(before + brace + plain, tuple(numbers))


def placeholder(number: int) -> str:
    """The IRI that stands in the place of one."""
    return f"{_NAMESPACE}{number}"
