r"""What a query asks for, as far as what it may read and how it is answered depend on it.

Rules
-----
* The scan is over tokens, so that names, variables, strings, comments and IRIs are not taken for keywords.
* It errs on the side of refusal. The engine takes `service:x {` for `SERVICE :x {`, and `trueSERVICE` for two words;
  SPARQL 1.1 had escapes decoded before anything else. A SERVICE by any of these readings is a SERVICE.
* IRIs are compared as they are written once prefixes, base and escapes are resolved.
* What differs in the IRIs that it asks about alone (`bridge.sparql.templates`) is scanned once.
* NOW() can be given a value: the text is then run with a literal in its place. It is in brackets, which may stand
  wherever a call may.
* Programs ask the same of one node after another: texts that differ in the IRIs of their body alone are looked at once
  (`alike`), as far as no IRI there could make a difference.

Example
-------
>>> shape = scan("PREFIX s: <urn:s#> ASK FROM s:g { GRAPH ?g { ?service s:SERVICE 'SERVICE <urn:x> {}' } }")
>>> shape.form.value, shape.service, shape.graph_variable, shape.from_default
('ask', False, True, (Iri(value='urn:s#g'),))
>>> scan("ASK { BIND('\\u0027 AS ?x) SERVICE <urn:x> {} #' AS ?x) }").service
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final

import pyoxigraph as ox

from bridge.long_iris import LongIris
from bridge.sparql.templates import template_of
from bridge.sparql.tokens import END, Token, decode, pieces, tokenise
from kernel.errors import InvalidDocument, InvalidTerm, QueryRefused
from kernel.terms import XSD, Iri
from kernel.time.instants import Instant, print_instant
from kernel.vocabulary import GOVERNANCE, HISTORY

_CACHED: Final = 1_024
_LONGEST_CACHED: Final = 16_384
"""Characters; so that the cache holds tens of megabytes at the very most."""

_HISTORY: Final = HISTORY.removeprefix("https://w3id.org/")
_GOVERNANCE: Final = frozenset(graph.value for graph in GOVERNANCE)
_VOLATILE: Final = frozenset({"NOW", "RAND", "UUID", "STRUUID", "BNODE"})
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_LOCAL_ESCAPE: Final = re.compile(r"\\(.)")


class Form(StrEnum):
    """The form of a request; `unknown` for what is neither query nor update."""

    SELECT = "select"
    ASK = "ask"
    CONSTRUCT = "construct"
    DESCRIBE = "describe"
    UPDATE = "update"
    UNKNOWN = "unknown"


_FORMS: Final = {
    **{form.name: form for form in (Form.SELECT, Form.ASK, Form.CONSTRUCT, Form.DESCRIBE)},
    **dict.fromkeys(
        ("INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "ADD", "MOVE", "COPY", "WITH"), Form.UPDATE
    ),
}


@dataclass(frozen=True, slots=True)
class QueryShape:
    """What a text asks for.

    Args:
        form: which query form, or an update.
        service: it calls SERVICE, by some reading.
        load: it is an update that calls LOAD.
        graph: it has a GRAPH pattern.
        graph_variable: it has one whose graph is a variable.
        from_default: the graphs of its FROM clauses, in order.
        from_named: the graphs of its FROM NAMED clauses, in order.
        mentions_history: it names a history graph, or has its prefix in a string.
        mentions_governance: it names a governance graph.
        volatile: it calls a function whose value changes by itself: its answer is never cached.
        relative: it has an IRI that is relative to no BASE of its own.
    """

    form: Form
    service: bool
    load: bool
    graph: bool
    graph_variable: bool
    from_default: tuple[Iri, ...]
    from_named: tuple[Iri, ...]
    mentions_history: bool
    mentions_governance: bool
    volatile: bool
    relative: bool


def scan(text: str) -> QueryShape:
    """The shape of a text.

    Raises:
        QueryRefused: a text without tokens, or one too deep for the engine (see `bridge.sparql.tokens`).
    """
    return _prepare(text).shape


def runnable(text: str, now: Instant | None = None) -> str:
    """The text as it is to be run.

    Args:
        text: the query.
        now: the value of NOW(); None leaves it to the engine's clock.

    Raises:
        QueryRefused: as `scan` does.
    """
    prepared = _prepare(text)
    if now is None or len(prepared.pieces) == 1:
        return prepared.settled
    return f'("{print_instant(now)}"^^<{XSD}dateTime>)'.join(prepared.pieces)


@dataclass(frozen=True, slots=True)
class _Prepared:
    shape: QueryShape
    settled: str
    pieces: tuple[str, ...]


def _prepare(text: str) -> _Prepared:
    return _prepared_briefly(text) if len(text) <= _LONGEST_CACHED else _prepared(text)


def _prepared(text: str) -> _Prepared:
    template = template_of(text)
    if template is not None:
        found = _of_template(template.text)
        if found is not None:
            return replace(found, settled=text, pieces=(text,))
    return _by_tokens(text)


@lru_cache(maxsize=_CACHED)
def _of_template(text: str) -> _Prepared | None:
    """What holds for every text of a template; None where it is to be looked at for itself."""
    try:
        found = _by_tokens(text)
    except QueryRefused:
        return None
    return found if found.settled == text and len(found.pieces) == 1 else None


def _by_tokens(text: str) -> _Prepared:
    tokens = tokenise(text)
    shape = _Scan(text, tokens).shape()
    settled = "".join(pieces(text, tokens, {}))
    calls = _calls_of_now(text, tokens)
    return _Prepared(shape, settled, tuple(pieces(text, tokens, calls)) if calls else (settled,))


_prepared_briefly = lru_cache(maxsize=_CACHED)(_prepared)


def _calls_of_now(text: str, tokens: list[Token]) -> dict[int, int]:
    calls = {}
    for word, opening, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if word.keyword == "NOW" and word.kind == "word" and (opening.text, closing.text) == ("(", ")"):
            between = text[word.end : opening.start] + text[opening.end : closing.start]
            if not between.strip():
                calls[word.start] = closing.end
    return calls


class _Scan:
    """One pass over the tokens of a text."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._names = Names()
        self._from: dict[bool, list[Iri]] = {False: [], True: []}
        self._seen: set[str] = set()
        self._relative = False

    def shape(self) -> QueryShape:
        self._resolve()
        keywords = [token.keyword for token in self._tokens]
        graphs = [position for position, keyword in enumerate(keywords) if keyword.endswith("GRAPH")]
        form = _form(self._tokens)
        return QueryShape(
            form=form,
            service=_calls_service(self._tokens) or _calls_service(_as_before(self._text)),
            load=form is Form.UPDATE and (_calls_load(self._tokens) or _calls_load(_as_before(self._text))),
            graph=bool(graphs),
            graph_variable=any(self._after(position).kind == "variable" for position in graphs),
            from_default=tuple(self._from[False]),
            from_named=tuple(self._from[True]),
            mentions_history=_HISTORY in decode(self._text) or any(iri.startswith(HISTORY) for iri in self._seen),
            mentions_governance=not self._seen.isdisjoint(_GOVERNANCE),
            volatile=any(
                keyword in _VOLATILE and self._after(position).text == "(" for position, keyword in enumerate(keywords)
            ),
            relative=self._relative,
        )

    def _after(self, position: int) -> Token:
        return self._tokens[position + 1] if position + 1 < len(self._tokens) else END

    def _resolve(self) -> None:
        """Follows the prologue, and gathers the IRIs and the FROM clauses."""
        depth = 0
        for position, token in enumerate(self._tokens):
            if token.kind == "mark":
                depth += (token.text == "{") - (token.text == "}")
            elif token.kind in {"iri", "name"}:
                self._see(position, token, depth)

    def _see(self, position: int, token: Token, depth: int) -> None:
        before, earlier = (self._tokens[position - back] if position >= back else END for back in (1, 2))
        if before.keyword == "PREFIX" and before.kind == "word":
            return
        iri = self._names.resolve(token)
        if iri is None:
            self._relative |= token.kind == "iri"
            return
        if before.keyword == "BASE" and before.kind == "word":
            self._names.base = iri
        elif before.kind == "name" and earlier.keyword == "PREFIX":
            self._names.prefixes[before.text] = iri
        else:
            self._seen.add(iri)
            named = before.keyword == "NAMED"
            if depth == 0 and (before.keyword == "FROM" or (named and earlier.keyword == "FROM")):
                self._from[named].append(self._graph(iri, token))

    def _graph(self, iri: str, token: Token) -> Iri:
        try:
            return Iri(iri)
        except InvalidTerm as error:
            raise QueryRefused(error.message, remedy=error.remedy, where=token.text) from error


class Names:
    """The prologue so far."""

    def __init__(self) -> None:
        self.base: str | None = None
        self.prefixes: dict[str, str] = {}
        self._long = LongIris()

    def resolve(self, token: Token) -> str | None:
        """The IRI that an `iri` or `name` token stands for; None where the prologue does not say.

        Raises:
            QueryRefused: long IRIs come to too much.
        """
        iri = self._resolved(token)
        if iri is not None:
            try:
                self._long.use(iri)
            except InvalidDocument as error:
                raise QueryRefused(error.message, remedy=error.remedy) from error
        return iri

    def _resolved(self, token: Token) -> str | None:
        if token.kind == "iri":
            reference = decode(token.text[1:-1])
            return reference if _ABSOLUTE.match(reference) else _resolve(self.base, token.text)
        prefix, colon, local = token.text.partition(":")
        namespace = self.prefixes.get(prefix + colon)
        return None if namespace is None else namespace + _LOCAL_ESCAPE.sub(r"\1", local)


def _resolve(base: str | None, reference: str) -> str | None:
    """A relative reference against a base by RFC 3986, section 5, as the engine itself does it."""
    if base is None:
        return None
    try:
        quad = next(ox.parse(f"{reference} <urn:p> <urn:o> .", ox.RdfFormat.TURTLE, base_iri=base))
    except (SyntaxError, ValueError):
        return None
    resolved: str = quad.subject.value
    return resolved


def _form(tokens: list[Token]) -> Form:
    """The first keyword that is not of the prologue; it may run into the next, as in ASKFROM."""
    for position, token in enumerate(tokens):
        keyword = token.keyword
        declared = position > 0 and tokens[position - 1].keyword == "PREFIX"
        if keyword and not declared and keyword not in {"BASE", "PREFIX", "VERSION"}:
            return next((form for word, form in _FORMS.items() if keyword.startswith(word)), Form.UNKNOWN)
    return Form.UNKNOWN


def _as_before(text: str) -> list[Token]:
    """The tokens by the rule of SPARQL 1.1, which decodes escapes before all else; none where there are no escapes."""
    decoded = decode(text)
    if decoded == text:
        return []
    try:
        return tokenise(decoded)
    except QueryRefused:
        return []


def _calls_service(tokens: list[Token]) -> bool:
    """SERVICE comes before a group. No other word contains it; a prefix may, but before a group it is in doubt."""
    return any(
        "SERVICE" in token.keyword and (token.kind == "word" or after.text == "{")
        for token, after in pairwise([*tokens, END])
    )


def _calls_load(tokens: list[Token]) -> bool:
    """LOAD begins an operation and, but for INTO, ends it."""
    return any(
        token.keyword.startswith("LOAD")
        and (token.kind == "word" or after is END or after.text == ";" or after.keyword == "INTO")
        for token, after in pairwise([*tokens, END])
    )
