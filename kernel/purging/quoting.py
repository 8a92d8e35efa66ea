"""Which items quote what is purged: what was asked and why, findings, impact, comments, and plans never applied.

Rules
-----
* Searched for is the IRI that is purged; and each node, literal and episode of the facts and evidence that go, which
  nothing else that is held names. A text of fewer than `SHORTEST` characters says nothing by itself, and is not
  searched for. Neither is a predicate or a graph that does not go as such.
* A text counts where it stands by itself: where neither before nor after it a Latin letter or digit goes on, nor an
  IRI. It is looked for as JSON writes it, plain or as an N-Triples string.
* A finding about a statement that goes, by focus, path, value and graph, or as one of two that contradict each other,
  goes whatever its texts are. So does one that names both its ends, for it may say what it rests on; and one of what
  follows, or cannot be, that names either: from what, it does not say.
* Beyond `MOST_TEXTS` only the IRI itself is searched for, and the receipt says so.

Example
-------
>>> quotes = Quotes(["http://example.org/ann", "Curaçao"], frozenset())
>>> quotes.within(canonical_json({"reason": "as Ann of <http://example.org/ann> says"}))
True
>>> quotes.within(canonical_json({"reason": "http://example.org/anna is another one"}))
False
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from certificates.canonical import canonical_json
from certificates.findings import FindingCode
from certificates.items import ItemKind
from kernel.terms import Iri, Literal, TripleTerm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from certificates.items import SaltedItem
    from kernel.ports.ledger import LedgerView
    from kernel.purging.targets import Held, Target
    from kernel.terms import Statement, Term

SHORTEST: Final = 4
"""Characters."""

MOST_TEXTS: Final = 500

_BEFORE: Final = rb"(?:(?<![0-9A-Za-z_])|(?<=\\[bfnrt]))"
_AFTER: Final = rb"(?![0-9A-Za-z_])"
_AFTER_IRI: Final = rb"(?![0-9A-Za-z_%/#?=&:~+@-]|\.[0-9A-Za-z])"


_IRI: Final = re.compile(rb'<[^\x00-\x20<>"{}|^`\\]*>')
_OF_CONSEQUENCES: Final = frozenset({FindingCode.FOLLOWS, FindingCode.INCONSISTENT})


class Quotes:
    """Finds what is quoted.

    Args:
        texts: IRIs, and lexical forms of literals.
        statements: that go.
    """

    def __init__(self, texts: Iterable[str], statements: frozenset[Statement]) -> None:
        forms = {form: after for text in texts for form, after in _forms(text)}
        parts = [_BEFORE + re.escape(form) + after for form, after in sorted(forms.items())]
        self._pattern = re.compile(b"|".join(parts)) if parts else None
        self._said = {
            (each.subject.n3, each.predicate.n3, each.object.n3, each.graph.value) for each in statements
        }  # fmt: skip
        self._quads = {each.nquad for each in statements}
        self._objects: dict[bytes, set[bytes]] = {}
        for each in statements:
            self._objects.setdefault(_as_json(each.subject), set()).add(_as_json(each.object))
        self._ends = self._objects.keys() | {end for ends in self._objects.values() for end in ends}

    def within(self, data: bytes) -> bool:
        """Whether one of the texts is quoted."""
        return self._pattern is not None and self._pattern.search(data) is not None

    def of(self, item: SaltedItem) -> bool:
        """Whether an item quotes what goes."""
        return self.within(item.body) or (item.kind is ItemKind.FINDING and self._about(item.body))

    def _about(self, body: bytes) -> bool:
        said = json.loads(body)
        if said.get("statement") in self._quads or said.get("against") in self._quads:
            return True
        triple = (said.get("focus"), said.get("path"), said.get("value"))
        if None not in triple and any((*triple, graph) in self._said for graph in said["graphs"]):
            return True
        named = set(_IRI.findall(body))
        if said["code"] in _OF_CONSEQUENCES:
            return not named.isdisjoint(self._ends)
        objects = (end for subject in named & self._objects.keys() for end in self._objects[subject])
        return any(end in named or (not _IRI.fullmatch(end) and end in body) for end in objects)


def quotes_of(view: LedgerView, target: Target, held: Held) -> tuple[Quotes, bool]:
    """What to search for; and whether that is all that should be searched for."""
    statements = frozenset(fact.statement for fact in held.facts)
    texts = {target.text} if target.iri is not None else set()
    for text in _unnamed(view, held):
        texts.add(text)
        if len(texts) > MOST_TEXTS:
            return Quotes([target.text] if target.iri is not None else [], statements), False
    return Quotes([text for text in texts if len(text) >= SHORTEST], statements), True


def _unnamed(view: LedgerView, held: Held) -> Iterator[str]:
    """The texts of what nothing else that is held names."""
    counted: dict[Term, int] = {}
    for fact in held.facts:
        for term in dict.fromkeys((fact.statement.subject, fact.statement.object)):
            counted[term] = counted.get(term, 0) + 1
    for term, times in counted.items():
        if view.mentions(term) <= times:
            yield from _texts(term)
    gone = {item.content.id for item, _ in held.evidence}
    for item, _ in held.evidence:
        if item.content.spelling.object is not None:
            yield item.content.spelling.object.lexical
    episodes = {item.content.episode for item, _ in held.evidence if item.content.episode is not None}
    cited = (item.content for item, _ in view.evidence_citing(episodes))
    elsewhere = {content.episode for content in cited if content.id not in gone}
    yield from (episode.value for episode in episodes - elsewhere)


def _as_json(term: Term) -> bytes:
    """A term in N-Triples, as it stands within a text of an item."""
    return canonical_json(term.n3)[1:-1]


def _texts(term: Term) -> Iterator[str]:
    if isinstance(term, Iri):
        yield term.value
    elif isinstance(term, Literal):
        yield term.lexical
    elif isinstance(term, TripleTerm):
        yield from _texts(term.subject)
        yield from _texts(term.object)


def _forms(text: str) -> Iterator[tuple[bytes, bytes]]:
    """How a text stands in an item, and what may not follow on it."""
    after = _AFTER_IRI if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text) else _AFTER
    for form in (text, Literal(text).n3[1:-1]):
        yield canonical_json(form)[1:-1], after
