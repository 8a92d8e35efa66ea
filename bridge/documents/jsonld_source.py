"""JSON-LD before expansion: what the document's own contexts say, and what of it expansion would drop or misread.

Rules
-----
* Refused, with its place: a keyword that JSON-LD 1.1 does not have, a value that stands alone, a language without a
  value, and a language map inside an array, which would be taken for a node.
* Expansion copies, for each context, all terms that it inherits; `MAX_COPIED` in all, which takes it a second or two.
* A text in a context, which may be put before any number of terms, has `bridge.long_iris.LONG` characters at most.
* What a term means is looked up in every context of the document at once, wherever it stands. That is coarser than
  expansion is, and only ever refuses what could be meant in two ways.

Example
-------
>>> document = {"@context": {"name": {"@id": "urn:name", "@container": "@language"}}, "name": [{"en": "x"}]}
>>> Source(document).check(document, "", top=True)
Traceback (most recent call last):
kernel.errors.InvalidDocument: /name/0: a language map stands in an array (give the map, or values with @language)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bridge.documents.json_text import Json, pointer
from bridge.long_iris import LONG
from kernel.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_COPIED: Final = 10_000_000

_KEYWORD_LIKE: Final = re.compile(r"@[A-Za-z]+")
_KEYWORDS: Final = frozenset(
    {
        *("@base", "@container", "@context", "@direction", "@graph", "@id", "@import", "@included", "@index", "@json"),
        *("@language", "@list", "@nest", "@none", "@prefix", "@propagate", "@protected", "@reverse", "@set", "@type"),
        *("@value", "@version", "@vocab"),
    }
)


class Source:
    """What the document's own contexts say of terms, anywhere in it, and what of the document would be dropped."""

    def __init__(self, document: Json) -> None:
        self.places: dict[str, str] = {}
        self._aliases: dict[str, set[str]] = {}
        self._language_maps: set[str] = set()
        self._json: set[str] = set()
        self._copied = 0
        self._find_contexts(document, 0)

    def check(self, value: Json, where: str, *, top: bool = False) -> None:
        """Raises `InvalidDocument` for what expansion would drop or misread."""
        if isinstance(value, dict):
            self._check_object(value, where)
        elif isinstance(value, list):
            for index, each in enumerate(value):
                if top and not isinstance(each, dict | list):
                    raise _refused("a value stands alone", where + pointer(index), "give it to a property of a node")
                self.check(each, where + pointer(index), top=top)

    def _check_object(self, value: dict[str, Json], where: str) -> None:
        if value and self._names("@language", "@direction", "@index").issuperset(value):
            raise _refused("there is a language, but no value", where, "give @value with it")
        json_value = any(value.get(name) == "@json" for name in self._names("@type"))
        for name, each in value.items():
            place = where + pointer(name)
            if name == "@context":
                continue
            if _KEYWORD_LIKE.fullmatch(name) and name not in _KEYWORDS:
                raise _refused(f"JSON-LD 1.1 has no keyword {name}", place, "take it out")
            self.places.setdefault(name, place)
            if name in self._json or (json_value and name in self._names("@value")):
                continue
            if name in self._language_maps and isinstance(each, list):
                self._check_language_map(each, place)
            self.check(each, place, top=name in self._names("@graph", "@included"))

    def _check_language_map(self, values: list[Json], where: str) -> None:
        for index, each in enumerate(values):
            if isinstance(each, dict) and not self._has(each, "@value"):
                raise _refused(
                    "a language map stands in an array",
                    where + pointer(index),
                    "give the map, or values with @language",
                )

    def _find_contexts(self, value: Json, inherited: int) -> None:
        if isinstance(value, list):
            for each in value:
                self._find_contexts(each, inherited)
        elif isinstance(value, dict):
            contexts = value.get("@context")
            for context in contexts if isinstance(contexts, list) else [contexts]:
                inherited = self._read_context(context, inherited)
            for each in value.values():
                self._find_contexts(each, inherited)

    def _read_context(self, context: Json, inherited: int) -> int:
        """Takes note of the terms of a context; gives how many there are with those that it inherits."""
        if not isinstance(context, dict):
            return inherited
        inherited += len(context)
        self._copied += inherited
        if self._copied > MAX_COPIED:
            raise InvalidDocument(
                f"contexts within contexts come to more than {MAX_COPIED:,} terms",
                remedy="define each term once, in one context at the top, and only terms that are used",
            )
        for term, definition in context.items():
            _require_short(term, definition)
            if isinstance(definition, str):
                self._aliases.setdefault(definition, set()).add(term)
            elif isinstance(definition, dict):
                self._read_definition(term, definition)
        return inherited

    def _read_definition(self, term: str, definition: dict[str, Json]) -> None:
        container = definition.get("@container")
        if container == "@language" or (isinstance(container, list) and "@language" in container):
            self._language_maps.add(term)
        if definition.get("@type") == "@json":
            self._json.add(term)
        if isinstance(definition.get("@id"), str):
            self._aliases.setdefault(str(definition["@id"]), set()).add(term)

    def _names(self, *keywords: str) -> set[str]:
        return {*keywords}.union(*(self._aliases.get(keyword, set()) for keyword in keywords))

    def _has(self, value: Mapping[str, Json], *keywords: str) -> bool:
        return not self._names(*keywords).isdisjoint(value)


def _require_short(term: str, definition: Json) -> None:
    meant = definition.get("@id") if isinstance(definition, dict) else definition
    if isinstance(meant, str) and len(meant) > LONG:
        raise InvalidDocument(
            f"a context gives {term[:60]!r} a text of more than {LONG} characters", remedy="use a shorter IRI for it"
        )


def _refused(message: str, where: str, remedy: str) -> InvalidDocument:
    return InvalidDocument(message, remedy=remedy, where=where)
