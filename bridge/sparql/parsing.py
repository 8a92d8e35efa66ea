"""What a query is made of: its tokens put together to groups, triple patterns and paths.

Rules
-----
* The engine parses the text as well, and shows nothing of what it found; so that it is known what a query can read, its
  tokens (`bridge.sparql.tokens`) are put together once more (SPARQL 1.1, section 19.8).
* Whatever is not foreseen is refused: of such a query it would not be known. Among that are triple terms, reifiers and
  annotations, DESCRIBE, and words that run into each other.
* A predicate that a path excludes is taken for a step of `ANY` predicate.
* A reader that allows less, or more, overrides what looks at it: `bridge.shapes.sparql.parsing` is one of the former,
  `bridge.sparql.quoting` one of the latter.

Example
-------
>>> QueryParser("PREFIX : <urn:> SELECT ?x { ?x :p/:q* ?y MINUS { ?y a :C } }").query().projected
('x',)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import pyoxigraph as ox

from bridge.shapes.paths import ANY, Alternative, Repeat, Sequence, Step, inverted
from bridge.shapes.vocabulary import RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE
from bridge.sparql.algebra import (
    Bind,
    Filter,
    Group,
    InGraph,
    Minus,
    Optional,
    Select,
    Triple,
    Union,
    Values,
    Variable,
)
from bridge.sparql.scan import Names
from bridge.sparql.tokens import END, Token, place, tokenise
from bridge.terms import OxigraphCanonicaliser, from_oxigraph
from kernel.errors import QueryRefused
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections import abc

    from bridge.shapes.paths import Path
    from bridge.sparql.algebra import Node, Part
    from kernel.terms import Term

_REPEATS: Final = {"*": (False, True), "+": (True, True), "?": (False, False)}
_CANONICALISER: Final = OxigraphCanonicaliser()
_IRIS: Final = frozenset({"iri", "name"})


class QueryParser:
    """Takes the tokens of a query one by one; every method raises `QueryRefused` for what is not foreseen.

    Args:
        text: of the query.
        base: what its relative IRIs are relative to, where it has no BASE.
    """

    ALONE: ClassVar = frozenset({"[", "("})
    """What begins a node of which nothing more has to be said."""

    def __init__(self, text: str, base: str | None = None) -> None:
        self._text = text
        self._tokens = [*tokenise(text), END]
        self._names = Names()
        self._names.base = base
        self._position = 0
        self._blanks = 0
        self._worded: dict[str, abc.Callable[[], Part]] = {
            "OPTIONAL": lambda: Optional(self._group()),
            "FILTER": lambda: Filter(tuple(self._constraint())),
            "BIND": self._bind,
            "GRAPH": lambda: InGraph(self._name(), self._group()),
            "MINUS": lambda: Minus(self._group()),
            "VALUES": self._values,
        }

    # --- tokens -------------------------------------------------------------------------------------------------------

    @property
    def _next(self) -> Token:
        return self._tokens[self._position]

    def _take(self) -> Token:
        token = self._tokens[self._position]
        self._position += token is not END
        return token

    def _took(self, text: str) -> bool:
        if self._next.text != text:
            return False
        self._position += 1
        return True

    def _took_word(self, *words: str) -> bool:
        if not self._is_word(*words):
            return False
        self._position += 1
        return True

    def _is_word(self, *words: str) -> bool:
        return self._next.kind == "word" and self._next.keyword in words

    def _expect(self, text: str) -> None:
        if not self._took(text):
            raise self._unknown(self._next)

    def _unknown(self, token: Token) -> QueryRefused:
        return self._refusal(
            token,
            f"{token.text[:40]!r} is not understood here",
            "use what SPARQL 1.1 has, with spaces between the words",
        )

    def _refusal(self, token: Token, what: str, remedy: str) -> QueryRefused:
        return QueryRefused(what, remedy=remedy, where=place(self._text, token.start))

    # --- queries ------------------------------------------------------------------------------------------------------

    def query(self) -> Select:
        """The whole text; ASK and CONSTRUCT select nothing."""
        while self._is_word("PREFIX", "BASE"):
            self._declaration()
        if self._took_word("SELECT"):
            select = self._select()
        elif self._took_word("ASK"):
            select = self._selecting(())
        elif self._took_word("CONSTRUCT"):
            if self._next.text == "{":
                self._group()  # the template, which reads nothing
            select = self._selecting(())
        else:
            select = self._of_another_form()
        if self._next is not END:
            raise self._unknown(self._next)
        return select

    def _of_another_form(self) -> Select:
        raise self._unknown(self._next)

    def _declaration(self) -> None:
        prefix = self._take().keyword == "PREFIX"
        name = self._take().text if prefix else ""
        iri = self._iri(self._take()).value
        if prefix:
            self._names.prefixes[name] = iri
        else:
            self._names.base = iri

    def _select(self) -> Select:
        projected: list[str] = []
        groups: list[Group] = []
        everything = False
        self._took_word("DISTINCT", "REDUCED")
        while True:
            if self._next.kind == "variable":
                projected.append(self._take().text[1:])
            elif self._next.text == "(":
                groups += self._brackets()[1]
            elif self._took("*"):
                everything = True
            else:
                break
        return self._selecting(None if everything else tuple(projected), groups)

    def _selecting(self, projected: tuple[str, ...] | None, groups: abc.Sequence[Group] = ()) -> Select:
        """What comes after what is selected."""
        group = self._where()
        modifiers = self._modifiers()
        if self._took_word("VALUES"):
            group = Group((*group.parts, self._values()))
        return Select(projected, group, (*groups, *modifiers))

    def _where(self) -> Group:
        while self._took_word("FROM"):
            self._took_word("NAMED")
            self._iri(self._take())
        self._took_word("WHERE")
        return self._group()

    def _modifiers(self) -> tuple[Group, ...]:
        groups: list[Group] = []
        while self._next is not END and self._next.text != "}" and not self._is_word("VALUES"):
            groups += self._expression_part()
        return tuple(groups)

    # --- groups -------------------------------------------------------------------------------------------------------

    def _group(self) -> Group:
        self._expect("{")
        parts: list[Part] = []
        if self._took_word("SELECT"):
            parts.append(self._select())
        while not self._took("}"):
            if not self._took("."):
                parts += self._part()
        return Group(tuple(parts))

    def _part(self) -> list[Part]:
        token = self._next
        if token.text == "{":
            return [self._alternatives()]
        read = self._worded.get(token.keyword) if token.kind == "word" else None
        if read is None:
            return [*self._triples()]
        self._take()
        return [read()]

    def _alternatives(self) -> Group | Union:
        groups = [self._group()]
        while self._took_word("UNION"):
            groups.append(self._group())
        return groups[0] if len(groups) == 1 else Union(tuple(groups))

    def _constraint(self) -> list[Group]:
        if self._next.text == "(":
            return self._brackets()[1]
        groups: list[Group] = []
        while not groups and self._next.text != "(":
            if self._next.text in {"{", "}"}:
                raise self._unknown(self._next)
            groups += self._expression_part()
        return groups or self._brackets()[1]

    def _bind(self) -> Bind:
        inner, groups = self._brackets()
        if len(inner) < 3 or inner[-2].keyword != "AS" or inner[-1].kind != "variable":
            raise self._unknown(inner[-1] if inner else self._next)
        value: Node | None = None
        if len(inner) == 3 and inner[0].kind == "variable":
            value = Variable(inner[0].text[1:])
        elif len(inner) == 3 and inner[0].kind in _IRIS:
            value = self._iri(inner[0])
        return Bind(Variable(inner[-1].text[1:]), value, tuple(groups))

    def _values(self) -> Values:
        """What stands after VALUES."""
        several = self._took("(")
        names: list[str] = []
        while self._next.kind == "variable":
            names.append(self._take().text[1:])
            if not several:
                break
        if several:
            self._expect(")")
        self._expect("{")
        rows: list[tuple[Term | None, ...]] = []
        while not self._took("}"):
            rows.append(self._row(len(names)) if several else (self._value(),))
        return Values(tuple(names), tuple(rows))

    def _row(self, length: int) -> tuple[Term | None, ...]:
        self._expect("(")
        row = tuple(self._value() for _ in range(length))
        self._expect(")")
        return row

    def _value(self) -> Term | None:
        if self._took_word("UNDEF"):
            return None
        return self._iri(self._take()) if self._next.kind in _IRIS else self._literal()

    # --- expressions --------------------------------------------------------------------------------------------------

    def _brackets(self) -> tuple[list[Token], list[Group]]:
        """What stands in brackets: the tokens, those of groups left out, and the groups of every EXISTS."""
        tokens: list[Token] = []
        groups: list[Group] = []
        self._expect("(")
        depth = 1
        while depth:
            token = self._next
            depth += (token.text == "(") - (token.text == ")")
            tokens.append(token)
            groups += self._expression_part()
        return tokens[:-1], groups

    def _expression_part(self) -> list[Group]:
        """Takes a token of an expression, and the group after EXISTS."""
        token = self._take()
        if token is END or token.text in {"{", "}"}:
            raise self._unknown(token)
        if token.kind == "word" and token.keyword == "EXISTS":
            return [self._group()]
        return []

    # --- triples ------------------------------------------------------------------------------------------------------

    def _triples(self) -> list[Triple]:
        """The triples of one subject."""
        found: list[Triple] = []
        by_itself = self._next.text in self.ALONE
        subject = self._node(found)
        if not (by_itself and found and not self._is_verb()):
            self._properties(subject, found)
        return found

    def _properties(self, subject: Node, found: list[Triple]) -> None:
        while True:
            path = self._verb()
            while True:
                found.append(Triple(subject, path, self._node(found)))
                self._annotations(found)
                if not self._took(","):
                    break
            if not self._took(";"):
                return
            while self._took(";"):
                pass
            if not self._is_verb():
                return

    def _annotations(self, found: list[Triple]) -> None:
        """What annotates the last of the triples: nothing that is foreseen here."""

    def _is_verb(self) -> bool:
        token = self._next
        return token.kind in {"variable", *_IRIS} or token.text in {"a", "^", "!", "("}

    def _verb(self) -> Path | Variable:
        if self._next.kind == "variable":
            return Variable(self._take().text[1:])
        return self._path()

    def _name(self) -> Node:
        """A variable or an IRI."""
        token = self._take()
        return Variable(token.text[1:]) if token.kind == "variable" else self._iri(token)

    def _node(self, found: list[Triple]) -> Node:
        """A node of a triple; what is said of it within brackets is found."""
        token = self._next
        if token.kind == "variable" or token.kind in _IRIS:
            return self._name()
        if token.kind == "blank":
            return Variable(self._take().text)
        if self._took("["):
            return self._described(found)
        if self._took("("):
            return self._collection(found)
        return self._literal()

    def _blank(self) -> Variable:
        self._blanks += 1
        return Variable(f"_:[{self._blanks}]")

    def _described(self, found: list[Triple]) -> Node:
        node = self._blank()
        if not self._took("]"):
            self._properties(node, found)
            self._expect("]")
        return node

    def _collection(self, found: list[Triple]) -> Node:
        items: list[Node] = []
        while not self._took(")"):
            items.append(self._node(found))
        rest: Node = RDF_NIL
        for item in reversed(items):
            cell = self._blank()
            found += [Triple(cell, Step(RDF_FIRST), item), Triple(cell, Step(RDF_REST), rest)]
            rest = cell
        return rest

    def _literal(self) -> Term:
        """A literal as the store holds it."""
        token = self._take()
        text = token.text
        if token.text in {"+", "-"}:
            text += self._take().text
        elif token.kind == "word" and token.keyword in {"TRUE", "FALSE"}:
            text = token.text.lower()
        elif token.kind == "string" and self._next.kind == "language":
            text += self._take().text
        elif token.kind == "string" and self._took("^"):
            self._expect("^")
            text += f"^^{self._iri(self._take()).n3}"
        elif token.kind not in {"string", "number"}:
            raise self._unknown(token)
        try:
            quad = next(ox.parse(f"<urn:s> <urn:p> {text} .", ox.RdfFormat.TURTLE))
        except (SyntaxError, StopIteration) as error:
            raise self._unknown(token) from error
        return _CANONICALISER.canonical(from_oxigraph(quad.object))

    def _iri(self, token: Token) -> Iri:
        resolved = self._names.resolve(token) if token.kind in _IRIS else None
        if resolved is None:
            raise self._unknown(token)
        return Iri(resolved)

    # --- paths --------------------------------------------------------------------------------------------------------

    def _path(self) -> Path:
        parts = [self._sequence()]
        while self._took("|"):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Alternative(tuple(parts))

    def _sequence(self) -> Path:
        parts = [self._step()]
        while self._took("/"):
            parts.append(self._step())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _step(self) -> Path:
        inverse = self._took("^")
        path = self._primary()
        if self._next.text in _REPEATS:
            path = Repeat(path, *_REPEATS[self._take().text])
        return inverted(path) if inverse else path

    def _primary(self) -> Path:
        if self._took("("):
            path = self._path()
            self._expect(")")
            return path
        if self._took("!"):
            return self._negated()
        return Step(self._predicate())

    def _predicate(self) -> Iri:
        return RDF_TYPE if self._took("a") else self._iri(self._take())

    def _negated(self) -> Path:
        """Any predicate but some: taken as any."""
        directions: set[bool] = set()
        several = self._took("(")
        while True:
            if several and self._took(")"):
                break
            directions.add(self._took("^"))
            self._predicate()
            if not several:
                break
            self._took("|")
        steps = [Step(ANY, inverse) for inverse in sorted(directions or {False})]
        return steps[0] if len(steps) == 1 else Alternative(tuple(steps))
