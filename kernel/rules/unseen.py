"""What rules across graphs find for somebody who may not read all of these, told so that it is no way to ask of them.

Rules (NothingLeaks)
-----
* Where a plan touches what a rule or an edge signature across graphs is about, and whoever asks may not read every
  graph of data, it waits for an editor, whether or not anything is found; and there are always two findings of the
  kind. One says that, and is theirs to see. The other is drawn from all graphs of data, says what was found, if
  anything, and is information: it has no part in the verdict.
* So neither the verdict, nor the number of findings, nor what whoever asks sees of them depends on other graphs.

Example
-------
::

    touched = touched_by(plan, table, signatures)                 # {FindingCode.SINGLE_VALUED_BY_SUBJECT: {"urn:g"}}
    findings = kept_apart(touched, findings, signatures, graphs)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from certificates.findings import Finding, FindingCode, Severity
from kernel.rules.contradictions import group_of
from kernel.rules.words import RDF_TYPE
from kernel.terms import parse_iri
from kernel.vocabulary import is_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kernel.rules.signatures import Signatures
    from kernel.rules.table import RuleTable
    from kernel.terms import Iri
    from kernel.writing.plan import Plan

Touched: TypeAlias = "dict[FindingCode, set[str]]"
"""By the code of what may be found across graphs, the graphs of what was written that it may be about."""


def touched_by(plan: Plan, table: RuleTable, signatures: Signatures) -> Touched:
    """What of a plan is held against all graphs of data."""
    found: Touched = {}
    written = [content.statement for content in plan.record]
    for statement in written:
        for rule in table.of(statement.predicate):
            if rule.across and group_of(rule, statement) is not None:
                found.setdefault(rule.kind.code, set()).add(statement.graph.value)
    if signatures.across:
        for statement in (*written, *(fact.statement for fact in plan.supersede)):
            if is_data(statement.graph) and (
                statement.predicate == RDF_TYPE or _looks_across(statement.predicate, signatures)
            ):
                found.setdefault(FindingCode.EDGE_SIGNATURE, set()).add(statement.graph.value)
    return found


def kept_apart(
    touched: Mapping[FindingCode, set[str]], findings: Sequence[Finding], signatures: Signatures, graphs: Iterable[Iri]
) -> list[Finding]:
    """The findings with those that were drawn across graphs put into one of each kind, and another that says so.

    Args:
        touched: what is held against all graphs of data.
        findings: of contradictions and edge signatures.
        signatures: those in force.
        graphs: all that there are.
    """
    hidden = {
        code: [each for each in findings if each.code is code and _is_across(each, signatures)] for code in touched
    }
    left = [each for each in findings if each not in hidden.get(each.code, ())]
    every = tuple(graph.value for graph in graphs if is_data(graph))
    for code, own in sorted(touched.items()):
        left.append(
            Finding(
                code,
                Severity.WARNING,
                "this is held against all graphs of data, which whoever asks may not all read: an editor decides",
                tuple(own),
            )
        )
        messages = "; ".join(each.message for each in hidden[code])
        left.append(
            Finding(
                code,
                Severity.INFO,
                messages or "nothing was found in all graphs of data",
                (*every, *own),
                contradiction=next((each.contradiction for each in hidden[code]), None),
            )
        )
    return left


def _is_across(finding: Finding, signatures: Signatures) -> bool:
    if finding.code is FindingCode.EDGE_SIGNATURE:
        return finding.path is not None and _looks_across(parse_iri(finding.path), signatures)
    return finding.contradiction is not None and len(finding.graphs) > 1


def _looks_across(predicate: Iri, signatures: Signatures) -> bool:
    return any(demand.across for demand in signatures.of(predicate))
