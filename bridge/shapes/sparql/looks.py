"""What statements the results of a query at a focus can depend on, as paths that lead to them.

Rules
-----
* A triple pattern is read from a node that is known: from the focus, from a variable that every solution binds to
  what a path from the focus leads to, or from a term in the query. What the pattern leads to is then known in turn. So
  a query looks along paths (`Look`), each of which starts at the focus or at a term.
* All that a path uses is read, also what other patterns would rule out: more than is needed changes no result, for a
  pattern that is joined with others has no effect beyond what is compatible with them.
* What is known holds for what is joined with it, and for what an OPTIONAL or an EXISTS adds to it; not the other way
  round, nor beyond a query within the query, which is evaluated by itself (SPARQL 1.1, section 18.2). A variable that
  only an OPTIONAL binds is not known: where nothing was bound, the next pattern matches anything.
* A pattern that nothing known touches may match anywhere: then so may a change, and every target has to be judged.
* A path of no step at all leads from a node to itself whether or not it is in the data; so the query is asked where it
  is (`standing`). That would show to whom asks for any predicate, and so the two do not go together.

Example
-------
>>> from bridge.shapes.paths import text
>>> from bridge.shapes.sparql.parsing import read_query
>>> query = read_query("PREFIX : <urn:> SELECT $this { $this :id ?id . ?other :id ?id FILTER(?other != $this) }")
>>> [text(look.path) for look in looks_of(query, {"this": FOCUS}).along]
['<urn:id>/^<urn:id>']
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from bridge.shapes.paths import ANY, Alternative, Sequence, Step, inverted, is_nullable, predicates
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
from kernel.errors import QueryRefused
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bridge.shapes.paths import Path
    from bridge.sparql.algebra import Node, Part
    from kernel.terms import Term

MOST: Final = 100
"""Paths along which a query may look."""


@dataclass(frozen=True, slots=True)
class Look:
    """A path that a query looks along.

    Args:
        start: where it starts; None: at the focus.
        path: no steps: the start itself.
    """

    start: Term | None
    path: Sequence

    def then(self, path: Path) -> Look:
        """The same path, and another one after it."""
        more = path.parts if isinstance(path, Sequence) else (path,)
        return Look(self.start, Sequence((*self.path.parts, *more)))


@dataclass(frozen=True, slots=True)
class Looks:
    """All that a query looks at.

    Args:
        along: the paths.
        anywhere: the predicates of statements that it may see wherever they stand; `ANY`: every one.
        standing: the terms that count as being in the data, besides those bound beforehand; None: none do.
    """

    along: tuple[Look, ...]
    anywhere: frozenset[Iri]
    standing: frozenset[Term] | None

    @property
    def predicates(self) -> frozenset[Iri]:
        """Every predicate that it follows; `ANY`: every one."""
        return self.anywhere.union(*(predicates(look.path) for look in self.along))


FOCUS: Final = Look(None, Sequence(()))

_Ways: TypeAlias = "dict[Term | None, Look]"
"""How a node is known: by start, the path that leads to it."""

_Known: TypeAlias = "dict[str, _Ways]"


def looks_of(query: Select, bound: Mapping[str, Look]) -> Looks:
    """What a query looks at.

    Args:
        query: a well-formed one.
        bound: the variables that are bound beforehand, and what leads to their values.

    Raises:
        QueryRefused: it cannot be said, or it is too much.
    """
    reader = _Reader({name: {look.start: look} for name, look in bound.items()})
    reader.select(query)
    return reader.looks()


@dataclass(slots=True)
class _Reader:
    bound: _Known
    along: dict[Look, None] = field(default_factory=dict)
    anywhere: set[Iri] = field(default_factory=set)
    standing: set[Term] | None = None

    def looks(self) -> Looks:
        """What was found."""
        found = Looks(tuple(_longest(self.along)), frozenset(self.anywhere), _frozen(self.standing))
        if len(found.along) > MOST:
            raise QueryRefused(
                f"the query looks along more than {MOST} paths",
                remedy="ask in several constraints, each of them simpler",
            )
        if found.standing is not None and ANY in found.predicates:
            raise QueryRefused(
                "the query has both a path of zero steps and a predicate that is a variable or excluded",
                remedy="write the path with + and a UNION, or name the predicates",
            )
        return found

    # --- groups -------------------------------------------------------------------------------------------------------

    def select(self, query: Select) -> _Known:
        """Reads a query; answers what is known of its variables outside of it."""
        inside = self._group(query.group, {})
        for group in query.groups:
            self._group(group, {})
        return {name: ways for name, ways in inside.items() if query.projected is None or name in query.projected}

    def _group(self, group: Group, outside: _Known) -> _Known:
        """Reads a group; answers what is known of the variables that every one of its solutions binds.

        Args:
            group: whose solutions are joined with others.
            outside: what is known of those.
        """
        known = dict(outside)
        waiting = [part for part in group.parts if isinstance(part, Triple)]
        self._follow(waiting, known, constants=False)
        certain: list[set[str]] = []  # before each part
        so_far: set[str] = set()
        for part in group.parts:
            certain.append(set(so_far))
            so_far |= self._joined(part, known, so_far)
            self._follow(waiting, known, constants=False)
        self._follow(waiting, known, constants=True)
        for part, before in zip(group.parts, certain, strict=True):
            self._added(part, {name: known[name] for name in before if name in known})
        within = {name: known[name] for name in so_far if name in known}
        for part in group.parts:
            if isinstance(part, Filter):
                self._each(part.groups, within)
        return within

    def _joined(self, part: Part, known: _Known, certain: set[str]) -> set[str]:
        """Reads what is joined with the rest of a group; answers the variables that it binds in every solution."""
        found: _Known = {}
        match part:
            case Triple(subject, path, value):
                return {each.name for each in (subject, path, value) if isinstance(each, Variable)}
            case Group():
                found = self._group(part, known)
            case Select():
                found = self.select(part)
            case Union(groups):
                found = _in_all([self._group(each, known) for each in groups])
            case Bind(variable, value, _):
                ways = None if value is None else self._ways(value, known)
                is_certain = not isinstance(value, Variable) or value.name in certain or value.name in self.bound
                found = {variable.name: ways} if ways and is_certain else {}
            case InGraph() | Optional() | Minus() | Values() | Filter():
                pass
        for name, ways in found.items():
            known.setdefault(name, ways)
        return set(found)

    def _added(self, part: Part, known: _Known) -> None:
        """Reads what adds to the solutions of what stands before it."""
        match part:
            case Optional(group):
                self._group(group, known)
            case Bind(_, _, groups):
                self._each(groups, known)
            case _:
                pass

    def _each(self, groups: Iterable[Group], known: _Known) -> None:
        for group in groups:
            self._group(group, known)

    # --- triples ------------------------------------------------------------------------------------------------------

    def _follow(self, waiting: list[Triple], known: _Known, *, constants: bool) -> None:
        """Reads the triple patterns that something known touches, and removes them from those that wait.

        Args:
            waiting: the patterns.
            known: what is known; more and more.
            constants: whether to go on from terms, and to read the rest wherever it may stand.
        """
        while waiting:
            reached = [(self._reached(each, known), each) for each in waiting]
            best = min(reached, key=lambda each: each[0])
            if best[0] > _BACKWARD and not constants:
                return
            waiting.remove(best[1])
            self._read(best[1], known, best[0])

    def _reached(self, triple: Triple, known: _Known) -> int:
        """How well a pattern can be read: the less the better."""
        ends = [self._ways(end, known) for end in (triple.subject, triple.value)]
        for rank, ways in enumerate(ends):
            if ways is not None and set(ways) == {None}:
                return _FORWARD + rank
        for rank, ways in enumerate(ends):
            if ways is not None:
                return _FROM_TERM + rank
        return _ANYWHERE

    def _read(self, triple: Triple, known: _Known, rank: int) -> None:
        path = self._path(triple.path)
        if path is None:
            return  # what is bound beforehand to no IRI is no predicate
        if rank == _ANYWHERE:
            self._read_anywhere(path)
            return
        backward = rank in (_BACKWARD, _BACK_FROM_TERM)
        start, end = (triple.value, triple.subject) if backward else (triple.subject, triple.value)
        ways = self._ways(start, known) or {}
        onward = {each: look.then(inverted(path) if backward else path) for each, look in ways.items()}
        self.along.update(dict.fromkeys(onward.values()))
        for each, look in onward.items():
            if is_nullable(look.path):
                self.standing = (self.standing or set()) | ({each} if each is not None else set())
        if isinstance(end, Variable) and end.name not in known and end.name not in self.bound:
            known[end.name] = onward

    def _read_anywhere(self, path: Path) -> None:
        if is_nullable(path):
            raise QueryRefused(
                "a path of zero steps leads from everything to itself, as nothing else says where it starts or ends",
                remedy="bind one of its ends, or write it with +",
            )
        self.anywhere |= predicates(path)

    def _path(self, path: Path | Variable) -> Path | None:
        if not isinstance(path, Variable):
            return path
        ways = self.bound.get(path.name)
        if ways is None:
            return Step(ANY)
        start = next(iter(ways))
        if start is None:
            return Step(ANY)  # the focus, for example
        return Step(start) if isinstance(start, Iri) else None

    def _ways(self, node: Node, known: _Known) -> _Ways | None:
        if isinstance(node, Variable):
            return self.bound.get(node.name) or known.get(node.name)
        return {node: Look(node, Sequence(()))}


_FORWARD, _BACKWARD, _FROM_TERM, _BACK_FROM_TERM, _ANYWHERE = range(5)


def _in_all(several: list[_Known]) -> _Known:
    """What is known of the variables that all have, one way or another."""
    names = set.intersection(*map(set, several))
    return {name: _either([each[name] for each in several]) for name in names}


def _either(several: list[_Ways]) -> _Ways:
    found: dict[Term | None, list[Look]] = {}
    for ways in several:
        for start, look in ways.items():
            looks = found.setdefault(start, [])
            if look not in looks:
                looks.append(look)
    return {
        start: looks[0]
        if len(looks) == 1
        else Look(start, Sequence((Alternative(tuple(each.path for each in looks)),)))
        for start, looks in found.items()
    }


def _longest(looks: Iterable[Look]) -> list[Look]:
    """Those paths that no other one goes on from: to follow it is to follow them."""
    begun = {(look.start, look.path.parts[:number]) for look in looks for number in range(len(look.path.parts))}
    return [look for look in looks if (look.start, look.path.parts) not in begun]


def _frozen(terms: set[Term] | None) -> frozenset[Term] | None:
    return None if terms is None else frozenset(terms)
