"""What is found of a plan by registered queries, in words.

Rules
-----
* An answer that changes is information, a warning or a violation, as its query says; one that is not known is a warning
  at most. The finding is drawn from all graphs that the query is asked of.
* What is written into `m:queries` and may not be registered, is a violation; so is an entry that nobody can read, for
  every plan that changes data.

Example
-------
::

    told_of(query, Compared(1, 0, ()), planned).message
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.impact.admission import require_admissible
from bridge.impact.asked import Unanswered
from certificates.findings import Finding, FindingCode, Severity
from certificates.impacts import Impact, SampleRow
from kernel.counting import counted
from kernel.errors import InvalidQuery
from kernel.queries import Action, read_statements
from kernel.vocabulary import QUERIES_GRAPH, is_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.impact.asked import Planned, Told
    from bridge.impact.compiled import Compiled
    from bridge.replicas.comparing import Compared
    from kernel.facts import Fact, FactContent
    from kernel.queries import InvalidEntry
    from kernel.terms import Iri
    from kernel.writing.plan import Plan

_SEVERITIES: Final = {Action.NOTE: Severity.INFO, Action.REVIEW: Severity.WARNING, Action.REFUSE: Severity.VIOLATION}


def told_of(query: Compiled, told: Told, planned: Planned) -> Finding:
    """What becomes of the answer to a query."""
    registered = query.query
    severity = _SEVERITIES[registered.action]
    graphs = query.drawn_from(planned.after)
    named = f"the answer to {registered.name}, which {registered.owner} relies on,"
    if isinstance(told, Unanswered):
        return Finding(
            code=FindingCode.IMPACT_UNKNOWN,
            severity=severity if severity is Severity.INFO else Severity.WARNING,
            message=f"whether {named} changes is not known: {told.why}",
            graphs=graphs,
            impact=Impact(registered.name, registered.owner, registered.weight),
        )
    sample = tuple(SampleRow(gained, times, row) for gained, times, row in told.sample)
    return Finding(
        code=FindingCode.IMPACT,
        severity=severity,
        message=f"{named} {_words(told)}",
        graphs=graphs,
        impact=Impact(registered.name, registered.owner, registered.weight, told.gained, told.lost, sample),
    )


def _words(told: Compared) -> str:
    said = [(told.gained, "gains"), (told.lost, "loses")]
    return " and ".join(f"{verb} {counted(count, 'row')}" for count, verb in said if count)


def of_written(record: Sequence[FactContent], supersede: Sequence[Fact], facts: tuple[Fact, ...]) -> list[Finding]:
    """What is wrong with the registered queries as they would be, as far as they are written."""
    written = [content.statement for content in record if content.statement.graph == QUERIES_GRAPH]
    gone = {fact.id: fact.statement for fact in supersede if fact.statement.graph == QUERIES_GRAPH}
    if not written and not gone:
        return []
    concerned = {statement.subject for statement in (*written, *gone.values())}
    held = [fact.statement for fact in facts if fact.id not in gone and fact.statement.subject in concerned]
    table = read_statements({*held, *written})
    faults = [(entry.node, entry.reason) for entry in table.invalid]
    for query in table.queries.values():
        try:
            require_admissible(query.text)
        except InvalidQuery as error:
            faults.append((query.node, f"{error.message}; {error.remedy}"))
    return [_invalid(node, f"this is no query to register: {reason}") for node, reason in faults]


def of_invalid(invalid: Sequence[InvalidEntry], plan: Plan) -> list[Finding]:
    """Fail closed: an entry that nobody can read may be about what is written."""
    if not invalid or not any(map(is_data, plan.graphs)):
        return []
    return [
        _invalid(entry.node, f"what depends on this is not known until it is mended: {entry.reason}")
        for entry in invalid
    ]


def _invalid(node: Iri, message: str) -> Finding:
    return Finding(
        code=FindingCode.INVALID_QUERY,
        severity=Severity.VIOLATION,
        message=message,
        graphs=(QUERIES_GRAPH.value,),
        focus=node.n3,
    )
