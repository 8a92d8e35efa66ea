"""How the rules are matched: from one statement on, or back from what they conclude.

Rules
-----
* A rule is entered by a statement that one of its premises fits, or by its conclusion; the other premises are looked up
  one after the other, each as soon as most of it is known. How they follow on each other is worked out once.
* A variable in the place of a predicate never stands for an auxiliary.
* The types of a literal are not stated but worked out: its datatype, what that is derived from, and `rdfs:Literal`.
* What a transitive rule gave, a *leap*, does not serve one as its last premise: on from it goes a *stride*, and so
  everything is come to all the same. A chain of n is closed in n² steps instead of n³ (a linear rule instead of a
  doubly recursive one: Bancilhon and Ramakrishnan, SIGMOD 1986).

Example
-------
>>> from kernel.entailment.table import Regime, TYPE
>>> index, rules = Index(), Matcher(Regime.RDFS.rules)
>>> domain = ("<urn:p>", "<http://www.w3.org/2000/01/rdf-schema#domain>", "<urn:C>")
>>> index.add(domain), index.add(("<urn:a>", "<urn:p>", "<urn:b>"))
(True, True)
>>> [step.conclusion == ("<urn:a>", TYPE, "<urn:C>") for step in rules.from_premise(domain, index)]
[True]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

from kernel.entailment.index import Index, Strides
from kernel.entailment.table import AUXILIARY, RDFS, TYPE, Of
from kernel.terms import RDF, XSD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kernel.entailment.index import Triple
    from kernel.entailment.table import Atom, Pattern, Rule

_Row: TypeAlias = "list[str | None]"

_LITERAL: Final = f"<{RDFS}Literal>"
_STRING: Final = f"<{XSD}string>"
_TOLD_BY_TEXT: Final = frozenset({_STRING, *(f"<{XSD}{name}>" for name in ("integer", "boolean", "date"))})
_DERIVED: Final = {f"<{XSD}integer>": f"<{XSD}decimal>"}
"""What a store leaves of the datatypes that are derived from others (XSD 1.1 Datatypes, section 3)."""


@dataclass(frozen=True, slots=True)
class Step:
    """A rule, applied.

    Args:
        rule: which.
        premises: the statements that it was applied to, in the order of its body.
        conclusion: what then holds; None: that cannot be.
    """

    rule: Rule
    premises: tuple[Triple, ...]
    conclusion: Triple | None


@dataclass(frozen=True, slots=True)
class _Entry:
    """A way into a rule: by a pattern, and the other premises in the order in which they are looked up."""

    rule: Rule
    pattern: Pattern
    rest: tuple[Pattern, ...]


Ways: TypeAlias = "dict[tuple[str, str | None], list[_Entry]]"
"""The ways into rules that may lead somewhere, for each predicate, or `rdf:type` and class."""

_Source: TypeAlias = "Index | Strides"
_NO_LEAPS: Final = Index()


class Matcher:
    """Matches some rules."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._by_predicate: dict[str, list[_Entry]] = {}
        self._by_class: dict[str, list[_Entry]] = {}
        self._by_auxiliary: dict[str, list[_Entry]] = {}
        self._of_types: list[_Entry] = []
        self._of_any: list[_Entry] = []
        self._heads: dict[str, list[_Entry]] = {}
        self._heads_of_any: list[_Entry] = []
        for rule in rules:
            for pattern in rule.body:
                self._enter(_Entry(rule, pattern, _ordered(rule, pattern, entered=True)))
            if rule.head is not None:
                entry = _Entry(rule, rule.head, _ordered(rule, rule.head, entered=False))
                self._keep(entry, self._heads, self._heads_of_any)

    def _enter(self, entry: _Entry) -> None:
        _, predicate, value = entry.pattern
        if predicate != TYPE:
            self._keep(entry, self._by_predicate, self._of_any)
        elif isinstance(value, str):
            self._by_class.setdefault(value, []).append(entry)
        else:
            self._of_types.append(entry)

    def _keep(self, entry: _Entry, named: dict[str, list[_Entry]], of_any: list[_Entry]) -> None:
        predicate = entry.pattern[1]
        if isinstance(predicate, int):
            of_any.append(entry)
        else:
            named.setdefault(predicate.name if isinstance(predicate, Of) else predicate, []).append(entry)

    def is_vocabulary(self, triple: Triple) -> bool:
        """Whether it is one of those without which no rule applies; auxiliary ones are that name no cell."""
        if triple[1][0] == AUXILIARY:
            return " " not in triple[1]
        return triple[1] in self._by_predicate or (triple[1] == TYPE and triple[2] in self._by_class)

    @property
    def axioms(self) -> list[Step]:
        """The steps that take no premises."""
        return [Step(rule, (), _made(rule.head, [])) for rule in self._rules if not rule.body and rule.head is not None]

    def from_premise(
        self, triple: Triple, index: Index, leaps: Index = _NO_LEAPS, known: Ways | None = None
    ) -> Iterator[Step]:
        """Every step that has a statement among its premises, the others being in the index; some more than once.

        The index is not to change meanwhile.

        Args:
            triple: the statement.
            index: has it, and the others.
            leaps: those of them that a transitive rule gave.
            known: what was found of earlier ones, where no statement of the vocabulary came or went since.
        """
        _, predicate, value = triple
        if predicate[0] == AUXILIARY:
            entries: Iterable[_Entry] = self._by_predicate.get(predicate.partition(" ")[0], ())
        else:
            key = predicate, value if predicate == TYPE else None
            ways = None if known is None else known.get(key)
            if ways is None:
                ways = [each for each in self._entries(*key) if _may_apply(each, *key, index)]
                if known is not None:
                    known[key] = ways
            entries = ways
        for entry in entries:
            row = _bound(entry, triple)
            if row is not None and not (entry.pattern is entry.rule.stride and triple in leaps):
                yield from _steps(entry, row, index, leaps)

    def _entries(self, predicate: str, of: str | None) -> Iterator[_Entry]:
        """The ways into rules for statements of a predicate, or of a class."""
        if of is None:
            return chain(self._by_predicate.get(predicate, ()), self._of_any)
        return chain(self._by_class.get(of, ()), self._of_types, self._of_any)

    def to_conclusion(self, triple: Triple, index: Index, leaps: Index = _NO_LEAPS) -> Step | None:
        """A step from what is in the index to a statement."""
        predicate = triple[1]
        named = self._heads.get(predicate.partition(" ")[0] if predicate[0] == AUXILIARY else predicate, ())
        for entry in chain(named, () if predicate[0] == AUXILIARY else self._heads_of_any):
            row = _bound(entry, triple)
            if row is not None:
                for step in _steps(entry, row, index, leaps):
                    return step
        return None


def _ordered(rule: Rule, first: Pattern, *, entered: bool) -> tuple[Pattern, ...]:
    """The premises but the first, each once most of it is known; of two, the stride, of which there are fewer."""
    body = rule.body
    left = [each for each in body if not (entered and each is first)]
    known = _variables(first)
    values = {value for _, predicate, value in body if isinstance(value, int) and predicate != TYPE}
    found: list[Pattern] = []
    while left:
        # What may be a literal has to be known before its type is asked for: its types are worked out, and not found.
        early = [each for each in left if not (each[1] == TYPE and each[0] in values - known)]
        chosen = max(early or left, key=lambda each: (_known(each, known), each is rule.stride))
        left.remove(chosen)
        found.append(chosen)
        known |= _variables(chosen)
    return tuple(found)


def _variables(pattern: Pattern) -> set[int]:
    found = {each for each in pattern if isinstance(each, int)}
    return found | {pattern[1].cell} if isinstance(pattern[1], Of) else found


def _known(pattern: Pattern, known: set[int]) -> tuple[int, bool]:
    """How much of a pattern is known, and whether it is of the vocabulary, of which there is little."""
    subject, predicate, value = pattern
    if isinstance(predicate, Of) and predicate.cell not in known:
        return -1, False
    ends = sum(isinstance(each, str) or each in known for each in (subject, value))
    named = isinstance(predicate, str | Of) or predicate in known
    few = isinstance(predicate, str) and (predicate != TYPE or isinstance(value, str))
    return (ends + 1 if named and ends else 0), few


def _may_apply(entry: _Entry, predicate: str, of: str | None, index: Index) -> bool:
    """Whether the vocabulary has what a way into a rule takes, for statements of a predicate, or of a class."""
    _, named, value = entry.pattern
    given: dict[Atom, str] = {}
    if isinstance(named, int):
        given[named] = predicate
    if of is not None and isinstance(value, int):
        given[value] = of
    return all(_may_be(each, given, index) for each in entry.rest)


def _may_be(pattern: Pattern, given: Mapping[Atom, str], index: Index) -> bool:
    """Whether there may be a statement of a pattern; of those that are not of the vocabulary there may always be."""
    subject, predicate, value = pattern
    if not isinstance(predicate, str) or (predicate == TYPE and not isinstance(value, str)):
        return True
    one, other = (given.get(each, each) for each in (subject, value))
    if isinstance(one, str):
        there = index.objects(predicate, one)
        return other in there if isinstance(other, str) else bool(there)
    return bool(index.subjects(predicate, other)) if isinstance(other, str) else predicate in index.predicates()


def _bound(entry: _Entry, triple: Triple) -> _Row | None:
    """The variables of a rule where a pattern of it fits a triple; None: it does not."""
    row: _Row = [None] * entry.rule.variables
    subject, predicate, value = entry.pattern
    if isinstance(predicate, Of):
        row[predicate.cell] = triple[1].partition(" ")[2]
    elif isinstance(predicate, int):
        if triple[1][0] == AUXILIARY:
            return None
        row[predicate] = triple[1]
    for atom, term in ((subject, triple[0]), (value, triple[2])):
        if isinstance(atom, int):
            if row[atom] is None:
                row[atom] = term
            elif row[atom] != term:
                return None
        elif atom != term:
            return None
    return row


def _steps(entry: _Entry, row: _Row, index: Index, leaps: Index) -> Iterator[Step]:
    rule = entry.rule
    sources = [Strides(index, leaps) if each is rule.stride else index for each in entry.rest]
    for _ in _solutions(entry.rest, sources, row):
        if any(row[one] == row[other] for one, other in rule.different):
            continue
        if not all(_unlike(row[one], row[other]) for one, other in rule.unlike):
            continue
        conclusion = None if rule.head is None else _made(rule.head, row)
        if conclusion is None or _can_be_said(conclusion):
            yield Step(rule, tuple(_made(each, row) for each in rule.body), conclusion)


def _unlike(one: str | None, other: str | None) -> bool:
    """Whether they are literals of one datatype whose values are told apart by their text."""
    if one is None or other is None or one == other or one[0] != '"' or other[0] != '"':
        return False
    kind = _datatype(one)
    return kind == _datatype(other) and kind in _TOLD_BY_TEXT


def _can_be_said(triple: Triple) -> bool:
    """Whether RDF has such triples: of a literal, or a triple term, nothing is said."""
    subject, predicate, _ = triple
    return _is_iri(subject) and (predicate[0] == AUXILIARY or _is_iri(predicate))


def _is_iri(term: str) -> bool:
    return term[0] == "<" and term[1] != "<"


def _made(pattern: Pattern, row: _Row) -> Triple:
    subject, predicate, value = pattern
    named = predicate.of(_term(predicate.cell, row)) if isinstance(predicate, Of) else _term(predicate, row)
    return _term(subject, row), named, _term(value, row)


def _term(atom: Atom, row: _Row) -> str:
    found = row[atom] if isinstance(atom, int) else atom
    if found is None:
        raise ValueError("a variable of a conclusion is in no premise")
    return found


def _solutions(patterns: Sequence[Pattern], sources: Sequence[_Source], row: _Row, at: int = 0) -> Iterator[None]:
    """Fills in the variables, in every way in which the patterns from one on are in their sources."""
    if at == len(patterns):
        yield
        return
    (subject, predicate, value), source = patterns[at], sources[at]
    if isinstance(predicate, Of):
        named: str | None = predicate.of(_term(predicate.cell, row))
    else:
        named = row[predicate] if isinstance(predicate, int) else predicate
    if named is not None:
        if named[0] != AUXILIARY or not isinstance(predicate, int):
            for _ in _ends(named, subject, value, row, source):
                yield from _solutions(patterns, sources, row, at + 1)
        return
    assert isinstance(predicate, int)  # noqa: S101 - what is not known is a variable
    for each in list(source.predicates()):
        if each[0] != AUXILIARY:
            row[predicate] = each
            for _ in _ends(each, subject, value, row, source):
                yield from _solutions(patterns, sources, row, at + 1)
    row[predicate] = None


def _ends(predicate: str, subject: Atom, value: Atom, row: _Row, index: _Source) -> Iterator[None]:
    """Fills in subject and object, in every way in which there is such a triple."""
    one = row[subject] if isinstance(subject, int) else subject
    other = row[value] if isinstance(value, int) else value
    if one is not None and other is not None:
        if (one, predicate, other) in index or (predicate == TYPE and one[0] == '"' and other in _types(one)):
            yield
    elif one is not None and isinstance(value, int):
        for each in index.objects(predicate, one):
            row[value] = each
            yield
        row[value] = None
    elif other is not None and isinstance(subject, int):
        for each in index.subjects(predicate, other):
            row[subject] = each
            yield
        row[subject] = None
    elif isinstance(subject, int) and isinstance(value, int):
        for first, second in index.pairs(predicate):
            if subject != value or first == second:
                row[subject], row[value] = first, second
                yield
        row[subject] = row[value] = None


def _types(literal: str) -> Iterator[str]:
    """The datatypes of a literal (OWL 2 Profiles, table 8, dt-type2)."""
    yield _LITERAL
    datatype: str | None = _datatype(literal)
    while datatype is not None:
        yield datatype
        datatype = _DERIVED.get(datatype)


def _datatype(literal: str) -> str:
    end = literal.rindex('"')
    if literal[end + 1 :].startswith("^^"):
        return literal[end + 3 :]
    return _STRING if end == len(literal) - 1 else f"<{RDF}langString>"
