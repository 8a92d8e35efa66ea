r"""Changes in JSON, as `POST /changes` and lines of NDJSON have them.

Rules
-----
* A request is `{"reason", "episode", "graph", "zone", "changes": […]}`; `graph` and `zone` are for the changes that say
  nothing else. A change has an `op` and the members that the op knows:

  | op | members |
  | --- | --- |
  | assert | subject, predicate, object, graph; validFrom, validTo or validThrough; confidence |
  | end | subject, predicate, object, graph, or else fact; at |
  | retract | subject, predicate, object, graph, or else fact; validFrom, validTo or validThrough: the part to retract |
  | revise | fact; object; validFrom, validTo or validThrough; confidence |

* Terms are those of `bridge.documents.json_terms`. A blank node is the same node throughout a request, and a new one
  in the next.
* A confidence keeps its digits. `null` is no value: what is not said is left out.
* Every error has the JSON pointer of its place. A member that is not known is named, with the one that may be meant;
  one that other changes have is no slip for another.

Example
-------
>>> from bridge.terms import OxigraphCanonicaliser
>>> body = b'''{"changes": [{"op": "assert", "subject": "urn:ada", "predicate": "urn:lives",
...             "object": {"@id": "urn:rome"}, "validFrom": "2019", "validThrough": "2023-12-31"}]}'''
>>> request = read_changes(body, principal="p", canonicaliser=OxigraphCanonicaliser())
>>> request.changes[0].validity.end_precision.value
'day'
>>> read_changes(body.replace(b"validThrough", b"validThru"), principal="p", canonicaliser=OxigraphCanonicaliser())
Traceback (most recent call last):
kernel.errors.InvalidChange: /changes/0/validThru: assert has no member 'validThru' (did you mean 'validThrough'?)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypeAlias
from uuid import UUID

from rapidfuzz import fuzz, process

from bridge.documents.json_terms import JsonTerms
from bridge.documents.json_text import Json, parse_json, pointer
from bridge.documents.skolem import Skolem
from kernel.changes import NO_SPELLING, Assert, Change, End, Request, Retract, Revise
from kernel.confidence import CONFIDENCE_SAID, read_confidence
from kernel.errors import CallerError, InvalidChange, InvalidDocument, InvalidTime
from kernel.facts import Spelling, Validity
from kernel.terms import Iri, Literal, Statement
from kernel.time.instants import name_zone, parse_zone
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.time.timevalues import NO_END, NO_START, Bound, interval_between, valid_from, valid_through, valid_to
from kernel.vocabulary import DEFAULT_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernel.ports.outside import TermCanonicaliser
    from kernel.time.instants import Zone

Members: TypeAlias = dict[str, Json]

LIMIT: Final = 16 * 2**20
"""Bytes of a request, unless the caller says otherwise."""

_REQUEST: Final = frozenset({"reason", "episode", "graph", "zone", "changes"})
_STATEMENT: Final = frozenset({"subject", "predicate", "object", "graph"})
_WHEN: Final = frozenset({"validFrom", "validTo", "validThrough"})
_MEMBERS: Final = {
    "assert": _STATEMENT | _WHEN | {"op", "confidence"},
    "end": _STATEMENT | {"op", "fact", "at"},
    "retract": _STATEMENT | _WHEN | {"op", "fact"},
    "revise": _WHEN | {"op", "fact", "object", "confidence"},
}
_FACT: Final = re.compile(r"(?:urn:uuid:)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE)
_FIND_FACT: Final = "give the id that GET /facts?subject=… lists beside the fact, urn:uuid:…"
_ALIKE: Final = 70
"""How alike two names are, of 100, for one to be taken for a slip of the other."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds for all changes of a request.

    Args:
        terms: how terms are read.
        graph: the graph of changes that name none.
        zone: the zone of times that have none; None refuses them.
    """

    terms: JsonTerms
    graph: Iri = DEFAULT_GRAPH
    zone: Zone = None


def read_changes(
    body: bytes,
    *,
    principal: str,
    canonicaliser: TermCanonicaliser,
    skolem: Callable[[str], Iri] | None = None,
    limit: int = LIMIT,
) -> Request:
    """The request of a JSON body.

    Args:
        body: the JSON text.
        principal: who asks, by id.
        canonicaliser: knows what a store will hold.
        skolem: the names of blank nodes by label; new ones if left out.
        limit: bytes that the body may have.

    Raises:
        InvalidDocument: it is no JSON, or too large.
        InvalidChange: members that are missing, unknown, contradictory or of the wrong kind.
        InvalidTerm: a term that RDF, or a store, does not allow.
        InvalidTime: a time that cannot be read.
        InvalidInterval: an interval that is empty or inverted.
        ReservedGraph: a valid time on a graph that has none.
    """
    if len(body) > limit:
        raise InvalidDocument(
            f"the request has {len(body):,} bytes, more than {limit:,}", remedy="load it in a session"
        )
    members = _members(parse_json(body), "a request", "")
    _require_known(members, _REQUEST, "a request", "")
    terms = JsonTerms(canonicaliser, skolem or Skolem())
    setting = Setting(terms, _graph(members, terms, DEFAULT_GRAPH, ""), _zone(members))
    changes = members.get("changes")
    if not isinstance(changes, list) or not changes:
        raise _wrong("there are no changes", "give an array of at least one", "/changes")
    try:
        read = tuple(read_change(each, setting, where=f"/changes/{at}") for at, each in enumerate(changes))
    except InvalidTime as error:
        name_zone(error, "give the request a zone")
        raise
    return Request(
        read,
        _reason(members),
        terms.node(members["episode"], "/episode") if "episode" in members else None,
        principal,
    )


def read_change(value: Json, setting: Setting, *, where: str = "") -> Change:
    """One change.

    Args:
        value: as `bridge.documents.json_text.parse_json` gives it.
        setting: what holds for all changes.
        where: its JSON pointer.

    Raises:
        CallerError: as `read_changes` does.
    """
    members = _members(value, "a change", where)
    op = members.get("op")
    if not isinstance(op, str) or op not in _MEMBERS:
        problem = "the op is missing" if op is None else f"there is no op {op!r}"
        raise _wrong(problem, _suggestion(op, _MEMBERS) or f"give one of {_listed(_MEMBERS)}", where + pointer("op"))
    if op == "revise" and "fact" not in members:
        remedy = f"{_FIND_FACT}; or retract the statement and assert another"
        raise _wrong("revise corrects one fact, and none is named", remedy, where + pointer("fact"))
    _require_known(members, _MEMBERS[op], op, where)
    try:
        return _READERS[op](_Change(members, setting, where))
    except CallerError as error:
        error.where = error.where or where or None
        raise


class _Change:
    """The members of one change, each read with its place."""

    def __init__(self, members: Members, setting: Setting, where: str) -> None:
        self._members = members
        self._setting = setting
        self._where = where
        self.has = members.__contains__

    def place(self, name: str) -> str:
        """The pointer to a member."""
        return f"{self._where}/{name}"

    def statement(self) -> tuple[Statement, Spelling]:
        """Subject, predicate, object and graph, and how the object was spelled."""
        members, terms = self._members, self._setting.terms
        for name in ("subject", "predicate", "object"):
            if name not in members:
                raise _wrong(f"the {name} is missing", f"give the {name}", self.place(name))
        subject = terms.node(members["subject"], self.place("subject"))
        predicate = terms.name(members["predicate"], self.place("predicate"))
        held, spelling = terms.value(members["object"], self.place("object"))
        return Statement(subject, predicate, held, _graph(members, terms, self._setting.graph, self._where)), spelling

    def target(self) -> Statement | UUID:
        """The statement, or the fact that is named instead."""
        if not self.has("fact"):
            return self.statement()[0]
        for name in _STATEMENT:
            if self.has(name):
                raise _wrong(
                    f"a fact is named, and a {name} is given besides",
                    "name the fact, or give the statement",
                    self.place(name),
                )
        return self.fact()

    def fact(self) -> UUID:
        """The id of the fact."""
        value = self._members.get("fact")
        match = _FACT.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            problem = "there is no id of a fact" if value is None else "this is not the id of a fact, which is a UUID"
            raise _wrong(problem, _FIND_FACT, self.place("fact"))
        return UUID(match[1])

    def value(self) -> tuple[Iri | Literal | None, Spelling]:
        """The object, if one is given, and how it was spelled."""
        if not self.has("object"):
            return None, NO_SPELLING
        return self._setting.terms.value(self._members["object"], self.place("object"))

    def start(self) -> Bound | None:
        """What `validFrom` gives."""
        return self._bound("validFrom", valid_from) if self.has("validFrom") else None

    def end(self) -> Bound | None:
        """What `validTo` or `validThrough` gives."""
        if not self.has("validThrough"):
            return self._bound("validTo", valid_to) if self.has("validTo") else None
        if self.has("validTo"):
            raise _wrong(
                "validTo and validThrough are two ends",
                "give one: up to validTo and without it, or through all of validThrough",
                self.place("validThrough"),
            )
        return self._bound("validThrough", valid_through)

    def point(self) -> Bound | None:
        """What `at` gives: an exclusive end, which is a point in time."""
        bound = self._bound("at", valid_to) if self.has("at") else None
        if bound is not None and bound.precision in {Precision.UNKNOWN, Precision.UNBOUNDED}:
            raise InvalidTime(
                f"ending something at {self._members['at']!r} says nothing of when",
                remedy="give a time, or revise the fact with validTo unknown",
                where=self.place("at"),
            )
        return bound

    def interval(self, start: Bound, end: Bound) -> Interval:
        """The interval of two bounds; the place of an error is the end that is given, else the start."""
        name = next((name for name in ("validThrough", "validTo") if self.has(name)), "validFrom")
        return interval_between(start, end, field=self.place(name))

    def confidence(self) -> Decimal | None:
        """The confidence, digit by digit."""
        if not self.has("confidence"):
            return None
        value = self._members["confidence"]
        number = read_confidence(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else None
        if number is None:
            raise _wrong(f"a confidence is {CONFIDENCE_SAID}", "give one, or leave it out", self.place("confidence"))
        return number

    def _bound(self, name: str, read: Callable[..., Bound]) -> Bound:
        text = self._members[name]
        if not isinstance(text, str):
            raise InvalidTime(
                f"{name} is no text", remedy='write times as text, as in "2024" or "2024-05-06"', where=self.place(name)
            )
        try:
            return read(text, field=name, zone=self._setting.zone)
        except InvalidTime as error:
            error.where = self.place(name)
            raise


def _assert(change: _Change) -> Assert:
    statement, spelling = change.statement()
    start, end = change.start(), change.end()
    if start is None and end is None:
        return Assert(statement, Validity.always(), spelling, change.confidence())
    start, end = start or NO_START, end or NO_END
    validity = Validity(change.interval(start, end), start.precision, end.precision)
    return Assert(statement, validity, _spelled(spelling, start, end), change.confidence())


def _end(change: _Change) -> End:
    return End(change.target(), change.point())


def _retract(change: _Change) -> Retract:
    target = change.target()
    start, end = change.start(), change.end()
    if start is None and end is None:
        return Retract(target)
    return Retract(target, change.interval(start or NO_START, end or NO_END))


def _revise(change: _Change) -> Revise:
    fact = change.fact()
    value, spelling = change.value()
    start, end = change.start(), change.end()
    if start is not None and end is not None:
        change.interval(start, end)
    spelling = _spelled(spelling, start or NO_START, end or NO_END)
    return Revise(fact, value, start, end, spelling, change.confidence())


_READERS: Final[dict[str, Callable[[_Change], Change]]] = {
    "assert": _assert,
    "end": _end,
    "retract": _retract,
    "revise": _revise,
}


def _spelled(spelling: Spelling, start: Bound, end: Bound) -> Spelling:
    if start.spelling is None and end.spelling is None:
        return spelling
    return Spelling(spelling.object, start.spelling, end.spelling)


def _graph(members: Members, terms: JsonTerms, otherwise: Iri, where: str) -> Iri:
    return terms.name(members["graph"], f"{where}/graph") if "graph" in members else otherwise


def _zone(members: Members) -> Zone:
    if "zone" not in members:
        return None
    zone = members["zone"]
    if not isinstance(zone, str):
        raise InvalidTime("the zone is no text", remedy='give an offset, such as "+02:00" or "Z"', where="/zone")
    return parse_zone(zone, field="/zone")


def _reason(members: Members) -> str | None:
    if "reason" not in members:
        return None
    reason = members["reason"]
    if not isinstance(reason, str):
        raise _wrong("the reason is no text", "give it as text, or leave it out", "/reason")
    return reason


def _members(value: Json, what: str, where: str) -> Members:
    if not isinstance(value, dict):
        raise _wrong(f"{what} is an object", "write it as {…}", where)
    return value


def _require_known(members: Members, known: frozenset[str], what: str, where: str) -> None:
    if known.issuperset(members):
        return
    name = next(name for name in members if name not in known)
    told = f"known are {_listed(sorted(known))}"
    elsewhere = any(name in others for others in (_REQUEST, *_MEMBERS.values()))
    remedy = f"leave it out; {told}" if elsewhere else _suggestion(name, known) or told
    raise _wrong(f"{what} has no member {name!r}", remedy, where + pointer(name))


def _suggestion(name: Json, known: Iterable[str]) -> str | None:
    if not isinstance(name, str):
        return None
    nearest = process.extractOne(name, sorted(known), scorer=fuzz.ratio, processor=str.lower, score_cutoff=_ALIKE)
    return None if nearest is None else f"did you mean {nearest[0]!r}?"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _wrong(message: str, remedy: str, where: str) -> InvalidChange:
    return InvalidChange(message, remedy=remedy, where=where or None)
