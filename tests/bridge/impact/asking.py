"""What tests of impact share: registering queries, asking them in full, and what is found of a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from bridge.base import Base
from bridge.reading.reader import QueryRequest
from bridge.sparql.scan import Form, scan
from certificates.findings import Finding, FindingCode
from certificates.impacts import Impact
from kernel.access import Principal, Role
from kernel.changes import Assert
from kernel.policy.conditions import AllOf, AtLeast, HasCode
from kernel.policy.verdicts import Policy
from kernel.ports.records import CertificateState
from kernel.queries import Action, RegisteredQuery
from kernel.time.instants import print_instant
from kernel.writing.submitting import Outcome
from tests.bridge.writing import ADMINISTRATOR, SetClock, write

_ACCEPTED: Final = {Form.SELECT: "text/tab-separated-values", Form.ASK: "application/sparql-results+json"}
_NEVER: Final = AllOf((AtLeast(10**9), *map(HasCode, FindingCode)))
AUTO: Final = Policy(refuse=_NEVER, review=_NEVER)
"""Lets everything through, without a finding of its own: impact can be held against what became of the answers."""


def registered(name: str, text: str, **members: object) -> RegisteredQuery:
    """A query that is noted, unless it says otherwise."""
    given: dict[str, object] = {"action": Action.NOTE, **members}
    return RegisteredQuery(name, text, "desk", "desk@example.org", **given)  # type: ignore[arg-type]


def open_base() -> Base:
    return Base.open(None, policy=AUTO, host=SetClock())


def register(base: Base, *queries: RegisteredQuery) -> None:
    changes = [Assert(statement) for query in queries for statement in query.statements()]
    assert write(base, *changes, by=ADMINISTRATOR).state is CertificateState.APPLIED


def answer(base: Base, query: RegisteredQuery) -> Counter[str]:
    """The whole answer to a query, as anybody who may read its graphs gets it: its rows, by how often they come."""
    asker = Principal("asker", Role.READER, frozenset(query.graphs) if query.graphs else None)
    moment = base.reader.moment(None, None if query.moment is None else print_instant(query.moment))
    form = scan(query.text).form
    body = base.reader.query(QueryRequest(asker, query.text, _ACCEPTED.get(form, "application/n-triples")), moment).body
    lines = body.decode().split("\n")
    return Counter(lines[1:-1] if form is Form.SELECT else sorted(set(lines)))


def answers(base: Base, queries: Iterable[RegisteredQuery]) -> dict[str, Counter[str]]:
    return {query.name: answer(base, query) for query in queries}


def impacts(findings: Iterable[Finding]) -> dict[str, Impact]:
    """What was found, by query."""
    assert all(each.code is FindingCode.IMPACT for each in findings), findings
    return {each.impact.query: each.impact for each in findings if each.impact is not None}


def require_exact(outcome: Outcome, before: Mapping[str, Counter[str]], after: Mapping[str, Counter[str]]) -> int:
    """What is found is the difference of the whole answers, of every query; answers how many changed."""
    found = impacts(outcome.findings)
    expected = {
        name: (sum((after[name] - before[name]).values()), sum((before[name] - after[name]).values()))
        for name in before
        if before[name] != after[name]
    }
    assert {name: (impact.gained, impact.lost) for name, impact in found.items()} == expected
    return len(expected)
