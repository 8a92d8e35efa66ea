"""Texts that differ in the IRIs that they ask about alone: what is found out about one of them holds for the others.

Rules
-----
* A template is a query with numbers in the place of its IRIs: of absolute ones after the first brace, the same number
  for the same IRI. Whoever has kept something by the template puts the IRIs back.
* Only what cannot be mistaken has one. There are no strings, comments or escapes in it, whose parts could look like an
  IRI, and each IRI is one that is never written anew (`bridge.sparql.tokens`) and none of ours, which say what may be
  read. No word in it lets an IRI mean something else than a node, a predicate or a graph (a prefix, a dataset or a
  service would), nor is it an update, or asks for NOW().
* So the template has the tokens of the text, IRIs aside, at the same places in their order.

Example
-------
>>> found = template_of("SELECT ?o { <urn:a> <urn:p> ?o . ?o <urn:p> <http://b.example/> }")
>>> found.text
'SELECT ?o { <muniment-template:0> <muniment-template:1> ?o . ?o <muniment-template:1> <muniment-template:2> }'
>>> found.iris
('urn:a', 'urn:p', 'http://b.example/')
>>> template_of("SELECT ?o { <urn:a> <urn:p> ?o FILTER(?o != '<urn:c>') }") is None
True
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
_IRI: Final = re.compile(
    r"<([A-Za-z][A-Za-z0-9+.\-]*:(?://[A-Za-z0-9:/._~%\-#?=&]{1,400}|(?!//)[A-Za-z0-9:/._~%\-]{0,400}))>"
)
_TELLING: Final = re.compile(r"""["'#\\]|prefix|base|from|service|load|now|insert|delete|using|with""", re.IGNORECASE)
"""What may not stand beside IRIs: what hides one, or gives it another meaning."""

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
    if len(text) > LONGEST or _NAMESPACE in text:
        return None
    before, brace, rest = text.partition("{")
    if _UPDATES.search(_IRI.sub("", before)) is not None:
        return None
    numbers: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        iri = match[1]
        return match[0] if _OURS in iri else f"<{_NAMESPACE}{numbers.setdefault(iri, len(numbers))}>"

    plain = _IRI.sub(numbered, rest)
    if not numbers or _TELLING.search(_IRI.sub("", plain)) is not None:
        return None
    return Template(before + brace + plain, tuple(numbers))


def placeholder(number: int) -> str:
    """The IRI that stands in the place of one."""
    return f"{_NAMESPACE}{number}"
