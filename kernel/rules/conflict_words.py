"""What a contradiction is told as: findings, over the time in which two facts do not go together.

Rules
-----
* A finding's focus, path and value are those of the fact that the plan brings, seen from the node that the rule is
  about. Both statements are its `contradiction`, and it was drawn from the graphs of both.
* The message says what contradicts what, since when that holds, why it is a contradiction, and what is proposed.
* `proposes` finds the fact of a plan that has a proposed bound.

Example
-------
::

    <rome> contradicts <paris>, held since 2024-…: <ann> has one <livesIn> at a time; it is proposed that <rome> ends …
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from certificates.contradictions import Contradiction
from certificates.findings import Finding, FindingCode, Severity
from kernel.rules.kinds import Proposal, RuleKind
from kernel.rules.proposals import lost
from kernel.time.instants import BEGINNING, FOREVER, Instant, print_instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from uuid import UUID

    from kernel.facts import FactContent
    from kernel.rules.contradictions import Conflict
    from kernel.rules.preferring import Weighing
    from kernel.rules.proposals import Trim
    from kernel.terms import Statement, Term
    from kernel.time.intervals import Interval

_SHOWN: Final = 120
_BETTER: Final[Mapping[Proposal, str]] = {
    Proposal.PREFER_CREDIBLE: "has the more credible source",
    Proposal.PREFER_RECENT: "has the later evidence",
    Proposal.PREFER_CONFIDENT: "was asserted with more confidence",
    Proposal.PREFER_ARGUED: "has more that speaks for it",
}
_EVEN: Final[Mapping[Proposal, str]] = {
    Proposal.PREFER_CREDIBLE: "their sources are equally credible",
    Proposal.PREFER_RECENT: "evidence for both came in at the same moment",
    Proposal.PREFER_CONFIDENT: "both were asserted with the same confidence",
    Proposal.PREFER_ARGUED: "as much speaks for the one as for the other",
}
"""Words without numbers: how credible a source is, is not for everybody who sees the finding."""


def told(conflict: Conflict, trims: Mapping[UUID, Trim], weighing: Weighing) -> Iterator[Finding]:
    """The findings of a contradiction, one for each part of time.

    Args:
        conflict: it.
        trims: what is proposed.
        weighing: what was weighed for that.
    """
    rule = conflict.group.rule
    new, other = conflict.new.content.statement, conflict.other.content.statement
    anchor, value = (new.object, new.subject) if rule.kind is RuleKind.BY_OBJECT else (new.subject, new.object)
    message = f"{_claim(conflict)}; {_proposal(conflict, trims, weighing)}"
    for part in conflict.parts:
        yield Finding(
            code=rule.kind.code,
            severity=Severity.VIOLATION,
            message=message,
            graphs=(new.graph.value, other.graph.value),
            focus=anchor.n3,
            path=new.predicate.n3,
            value=value.n3,
            start=_at(part.start) if part.start != BEGINNING else None,
            end=_at(part.end) if part.end != FOREVER else None,
            contradiction=Contradiction(rule.kind.contradiction, new.nquad, other.nquad),
        )


def proposes(finding: Finding, content: FactContent) -> bool:
    """Whether a finding of a contradiction proposes a bound that a fact of the plan has."""
    said = finding.contradiction
    if said is None or content.statement.nquad not in (said.statement, said.against):
        return False
    named, (start, end) = _named(finding.code, content.statement), (content.interval.start, content.interval.end)
    if end != FOREVER and _ending(named, end) in finding.message:
        return True
    bounds = [f"{word} {_at(end)}" for word in ("from", "since") if end != FOREVER]
    bounds += [f"until {_at(start)}"] if start != BEGINNING else []
    return _yielding(named) in finding.message and any(bound in finding.message for bound in bounds)


def _claim(conflict: Conflict) -> str:
    code, new, other = conflict.group.rule.kind.code, conflict.new.content.statement, conflict.other.content
    standing = "held" if conflict.other.fact is not None else "asserted with it"
    where = "" if other.statement.graph == new.graph else f" in {_show(other.statement.graph)}"
    return (
        f"{_named(code, new)} contradicts {_named(code, other.statement)}, {standing}{where} {_when(other.interval)}: "
        f"{_limit(conflict)}"
    )


def _limit(conflict: Conflict) -> str:
    """Why it is a contradiction."""
    rule, anchor = conflict.group.rule, _show(conflict.group.anchor)
    first, second = _show(rule.terms[0]), _show(rule.terms[-1])
    match rule.kind:
        case RuleKind.BY_SUBJECT:
            return f"{anchor} has one {first} at a time"
        case RuleKind.BY_OBJECT:
            return f"{anchor} is the {first} of one subject at a time"
        case RuleKind.DISJOINT:
            return f"{anchor} is of one of these classes at a time"
        case RuleKind.BY_ENDS:
            return f"{first} and {second} do not hold between the same two at a time"
        case RuleKind.EXCLUSIVE:
            return f"{anchor} has no {first} and {second} at a time"
        case RuleKind.ORDER:
            return f"{first} of {anchor} is not after {second}"
        case RuleKind.OVERLAP:
            return f"times of {first} of {anchor} do not overlap" + (
                f" with those of {second}" if first != second else ""
            )
        case RuleKind.ASYMMETRIC:
            return f"{first} does not hold one way while {second} holds the other way"


def _proposal(conflict: Conflict, trims: Mapping[UUID, Trim], weighing: Weighing) -> str:
    proposal = conflict.group.rule.proposal
    if proposal is Proposal.KEEP_BOTH:
        return "it is proposed to keep both"
    if proposal is Proposal.ASK:
        return "nothing is proposed: decide which one holds"
    if proposal is Proposal.END_OLDER:
        return _end(conflict, trims)
    return _preference(conflict, trims, weighing)


def _end(conflict: Conflict, trims: Mapping[UUID, Trim]) -> str:
    trim = trims.get(conflict.older.content.id)
    if not conflict.proposes_an_end or trim is None or trim.by is None:
        return "both start at the same moment, so nothing is proposed: decide which one holds"
    named = _named(conflict.group.rule.kind.code, trim.side.content.statement)
    gone = " and ".join(map(_when, lost(trim, trims)))
    return _ending(named, trim.by.start) + (f", and so is no longer believed {gone}" if gone else "")


def _preference(conflict: Conflict, trims: Mapping[UUID, Trim], weighing: Weighing) -> str:
    rule = conflict.group.rule
    winner = weighing.preferred(conflict)
    if winner is None:
        return f"{_even(conflict, weighing)}, so nothing is proposed: decide which one holds"
    loser = conflict.other if winner is conflict.new else conflict.new
    named, chosen = (_named(rule.kind.code, side.content.statement) for side in (loser, winner))
    parts, gone = (" and ".join(map(_when, each)) for each in (conflict.parts, lost(trims[loser.content.id], trims)))
    words = f"{chosen} {_BETTER[rule.proposal]}: {_yielding(named)}{parts}"
    return words + (f"; nothing takes its place {gone}" if gone else "")


def _even(conflict: Conflict, weighing: Weighing) -> str:
    proposal = conflict.group.rule.proposal
    known = all(weighing.weight(conflict, side) is not None for side in (conflict.new, conflict.other))
    if known:
        return _EVEN[proposal]
    argued = proposal is Proposal.PREFER_ARGUED
    return "more is argued than was looked at" if argued else "how credible their sources are is not known"


def _named(code: FindingCode, statement: Statement) -> str:
    """A statement, or no more of it than the rule is about."""
    if code in (FindingCode.SINGLE_VALUED_BY_SUBJECT, FindingCode.DISJOINT_CLASSES):
        return _show(statement.object)
    if code is FindingCode.SINGLE_VALUED_BY_OBJECT:
        return _show(statement.subject)
    return " ".join(map(_show, (statement.subject, statement.predicate, statement.object)))


def _ending(named: str, at: int) -> str:
    return f"it is proposed that {named} ends at {_at(at)}"


def _yielding(named: str) -> str:
    return f"it is proposed that {named} is not believed "


def _at(instant: int) -> str:
    return print_instant(Instant(instant))


def _when(interval: Interval) -> str:
    start = None if interval.start == BEGINNING else _at(interval.start)
    end = None if interval.end == FOREVER else _at(interval.end)
    if start is None:
        return f"until {end}" if end else "at all times"
    return f"from {start} until {end}" if end else f"since {start}"


def _show(term: Term) -> str:
    return term.n3 if len(term.n3) <= _SHOWN else term.n3[:_SHOWN] + "…"
