"""Registered queries: what somebody relies on, kept as facts of `m:queries`.

Rules
-----
* A registered query is a node of the type `m:RegisteredQuery` named by `QUERY` and its name, with exactly one
  `m:queryText`, `m:owner`, `m:contact`, `m:weight` and `m:action`, at most one `m:moment`, and any number of `m:reads`.
* `m:reads` names the graphs that it is asked of; without any, all graphs of data. `m:moment` is the instant of valid
  time that it is asked for; without one, now.
* What uses the vocabulary `m:` in any other way is an invalid query, with its reason; nothing is ignored.
* Each version is facts that were believed for a while: a change of it is certified as any other.
* A table is read once for the same tuple of facts.

Example
-------
>>> mayors = RegisteredQuery("mayors", "SELECT * { ?s a <urn:Mayor> }", "city-desk", "desk@city.example")
>>> read_statements(mayors.statements()).queries["mayors"] == mayors
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from kernel.errors import InvalidQuery, InvalidTime
from kernel.facts import SameFacts
from kernel.terms import RDF, XSD, Iri, Literal, Statement
from kernel.time.instants import Instant, parse_instant, print_instant
from kernel.vocabulary import DEFAULT_GRAPH, QUERIES_GRAPH, M, is_ours

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kernel.facts import Fact
    from kernel.terms import Term

QUERY: Final = "https://w3id.org/muniment/query/"
LONGEST_TEXT: Final = 16_384
"""Characters of a query: what is longer, nobody reads, and nobody classifies."""

LONGEST_WORDS: Final = 500
MOST_GRAPHS: Final = 64
HEAVIEST: Final = 100
"""The highest weight: a plan that changes the answers of queries that weigh as much together is held for review."""

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Controls, ends of lines, and what turns the direction of writing."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_WEIGHT: Final = re.compile(r"0|[1-9][0-9]{0,2}", re.ASCII)

RDF_TYPE: Final = Iri(RDF + "type")
REGISTERED: Final = Iri(M + "RegisteredQuery")
TEXT: Final = Iri(M + "queryText")
OWNER: Final = Iri(M + "owner")
CONTACT: Final = Iri(M + "contact")
READS: Final = Iri(M + "reads")
MOMENT: Final = Iri(M + "moment")
WEIGHT: Final = Iri(M + "weight")
ACTION: Final = Iri(M + "action")
_ONCE: Final = (TEXT, OWNER, CONTACT, WEIGHT, ACTION)
_KNOWN: Final = frozenset({*_ONCE, READS, MOMENT})


class Action(StrEnum):
    """What becomes of a plan that changes the answer."""

    NOTE = "note"
    REVIEW = "review"
    REFUSE = "refuse"


_ACTIONS: Final[Mapping[Term, Action]] = {Iri(M + each.value.capitalize()): each for each in Action}


@dataclass(frozen=True)
class RegisteredQuery:
    """A query that somebody relies on.

    Args:
        name: letters, digits, dots, hyphens and underscores; up to 100.
        text: of the query.
        owner: who relies on it; whoever has a token of this name may see it.
        contact: how to reach them.
        graphs: that it is asked of; none: all graphs of data.
        moment: the valid time that it is asked for; None: now.
        weight: how much depends on it, from 0 to 100.
        action: what becomes of a plan that changes its answer.

    Raises:
        InvalidQuery: one of them is not so.
    """

    name: str
    text: str
    owner: str
    contact: str
    graphs: tuple[Iri, ...] = ()
    moment: Instant | None = None
    weight: int = 1
    action: Action = Action.REVIEW

    def __post_init__(self) -> None:
        """Refuse what nobody could register, and put the graphs in order."""
        require_name(self.name)
        _require_words(self.text, "query", LONGEST_TEXT)
        _require_words(self.owner, "owner", LONGEST_WORDS)
        _require_words(self.contact, "contact", LONGEST_WORDS)
        if not 0 <= self.weight <= HEAVIEST:
            raise InvalidQuery(
                f"a query has no weight of {self.weight}",
                remedy=f"give a whole number from 0 to {HEAVIEST}",
                where="weight",
            )
        object.__setattr__(self, "graphs", tuple(sorted(set(self.graphs), key=lambda graph: graph.value)))
        if len(self.graphs) > MOST_GRAPHS:
            raise InvalidQuery(
                f"it names {len(self.graphs)} graphs",
                remedy=f"name at most {MOST_GRAPHS}, or none for all",
                where="graphs",
            )
        for graph in self.graphs:
            if is_ours(graph) and graph != DEFAULT_GRAPH:
                raise InvalidQuery(
                    f"{graph.value} is no graph of data", remedy="name graphs of data, or none for all", where="graphs"
                )

    @cached_property
    def node(self) -> Iri:
        """The node that stands for it."""
        return node_of(self.name)

    @cached_property
    def asked(self) -> str:
        """What is asked of what and when, in a digest: the same, the same answer at any state."""
        moment = "now" if self.moment is None else str(self.moment)
        said = "\n".join((moment, *(graph.value for graph in self.graphs), self.text))
        return sha256(said.encode()).hexdigest()

    def statements(self) -> frozenset[Statement]:
        """What is believed while it is registered."""
        said: list[tuple[Iri, Term]] = [
            (RDF_TYPE, REGISTERED),
            (TEXT, Literal(self.text)),
            (OWNER, Literal(self.owner)),
            (CONTACT, Literal(self.contact)),
            (WEIGHT, Literal(str(self.weight), XSD + "integer")),
            (ACTION, Iri(M + self.action.value.capitalize())),
            *((READS, graph) for graph in self.graphs),
        ]
        if self.moment is not None:
            said.append((MOMENT, Literal(print_instant(self.moment), XSD + "dateTime")))
        return frozenset(Statement(self.node, predicate, value, QUERIES_GRAPH) for predicate, value in said)


@dataclass(frozen=True, slots=True)
class InvalidEntry:
    """A node of `m:queries` that is no registered query: which, and why."""

    node: Iri
    reason: str


@dataclass(frozen=True, slots=True)
class QueryTable:
    """The registered queries, by name, and what is none."""

    queries: Mapping[str, RegisteredQuery] = field(default_factory=dict)
    invalid: tuple[InvalidEntry, ...] = ()


NO_QUERIES: Final = QueryTable()


def require_name(name: str) -> None:
    """Raises `InvalidQuery` for a name that no query can have."""
    if not _NAME.fullmatch(name):
        raise InvalidQuery(
            f"{name[:40]!r} is no name of a query",
            remedy="use up to 100 letters, digits, dots, hyphens and underscores, the first a letter or digit",
            where="name",
        )


def node_of(name: str) -> Iri:
    """The node that stands for the query of a name."""
    return Iri(QUERY + name)


def read_queries(facts: tuple[Fact, ...]) -> QueryTable:
    """The table of the believed facts of `m:queries`; total, and remembered for the tuple given."""
    return _read(SameFacts(facts)) if facts else NO_QUERIES


def read_statements(statements: Iterable[Statement]) -> QueryTable:
    """The table of statements, whatever their graph."""
    described: dict[Iri, dict[Iri, list[Term]]] = {}
    for statement in statements:
        described.setdefault(statement.subject, {}).setdefault(statement.predicate, []).append(statement.object)
    queries, invalid = {}, []
    for node, terms in sorted(described.items(), key=lambda item: item[0].value):
        entry = _entry(node, terms)
        if isinstance(entry, RegisteredQuery):
            queries[entry.name] = entry
        elif entry is not None:
            invalid.append(entry)
    return QueryTable(queries, tuple(invalid))


@lru_cache(maxsize=8)
def _read(key: SameFacts) -> QueryTable:
    return read_statements(fact.statement for fact in key.facts)


def _entry(node: Iri, terms: Mapping[Iri, list[Term]]) -> RegisteredQuery | InvalidEntry | None:
    """The query that a node describes; None when it uses nothing of our vocabulary."""
    ours = [predicate for predicate in terms if predicate.value.startswith(M)]
    types = [term for term in terms.get(RDF_TYPE, ()) if isinstance(term, Iri) and term.value.startswith(M)]
    if not ours and not types and not node.value.startswith(QUERY):
        return None
    try:
        _require_shape(node, types, ours, terms)
        return _query(node, terms)
    except InvalidQuery as error:
        where = "" if error.where is None else f"{error.where}: "
        return InvalidEntry(node, f"{where}{error.message}; {error.remedy}")


def _require_shape(node: Iri, types: list[Iri], ours: list[Iri], terms: Mapping[Iri, list[Term]]) -> None:
    if not node.value.startswith(QUERY):
        raise InvalidQuery("its name is none of a query", remedy=f"call it {QUERY} and a name")
    if types != [REGISTERED]:
        raise InvalidQuery("it has another type", remedy="give it the type m:RegisteredQuery, and no other of m:")
    if strange := [each.n3 for each in ours if each not in _KNOWN]:
        raise InvalidQuery(f"a registered query has no {strange[0]}", remedy="take it out")
    for predicate in _ONCE:
        if len(terms.get(predicate, ())) != 1:
            raise InvalidQuery(f"it has not exactly one {predicate.n3}", remedy="give one")
    if len(terms.get(MOMENT, ())) > 1:
        raise InvalidQuery("it has several moments", remedy="give one, or none for now")


def _query(node: Iri, terms: Mapping[Iri, list[Term]]) -> RegisteredQuery:
    graphs = [term for term in terms.get(READS, ()) if isinstance(term, Iri)]
    if len(graphs) != len(terms.get(READS, ())):
        raise InvalidQuery("a graph that is no IRI", remedy="name graphs by their IRIs", where="graphs")
    action = _ACTIONS.get(terms[ACTION][0])
    if action is None:
        raise InvalidQuery("no such action", remedy="write m:Note, m:Review or m:Refuse", where="action")
    weight = _text(terms[WEIGHT][0], "weight")
    if not _WEIGHT.fullmatch(weight):
        raise InvalidQuery("no weight", remedy=f"give a whole number from 0 to {HEAVIEST}", where="weight")
    text, owner, contact = (_text(terms[each][0], each.value.removeprefix(M)) for each in (TEXT, OWNER, CONTACT))
    name = node.value.removeprefix(QUERY)
    return RegisteredQuery(name, text, owner, contact, tuple(graphs), _moment(terms), int(weight), action)


def _moment(terms: Mapping[Iri, list[Term]]) -> Instant | None:
    if MOMENT not in terms:
        return None
    try:
        return parse_instant(_text(terms[MOMENT][0], "moment"), field="moment")
    except InvalidTime as error:
        raise InvalidQuery(error.message, remedy=error.remedy, where="moment") from error


def _text(term: Term, name: str) -> str:
    if not isinstance(term, Literal):
        raise InvalidQuery("no literal", remedy="give a literal", where=name)
    return term.lexical


def _require_words(text: str, name: str, longest: int) -> None:
    if name != "query" and (control := _CONTROL.search(text)):
        problem, remedy = f"U+{ord(control[0]):04X} is in it", "take it out: it is shown to people as one line"
        raise InvalidQuery(problem, remedy=remedy, where=name)
    if not text.strip() or len(text) > longest:
        problem = f"{len(text):,} characters" if text.strip() else "nothing in it"
        raise InvalidQuery(problem, remedy=f"give a text of 1 to {longest:,} characters", where=name)
