"""From the kernel's types to the JSON of answers.

Rules
-----
* What a caller may not see was left out before it came here; nothing is filtered or looked up.
* Of a fact, literal and times are spelled as they were submitted with it, else canonically.

Example
-------
>>> from kernel.terms import Literal
>>> value(Literal("colour", language="en-GB"))
{'@value': 'colour', '@language': 'en-GB'}
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from bridge.exporting.submitted import submitted
from certificates.findings import Severity
from certificates.ids import urn
from kernel.terms import XSD_STRING, Iri, Literal, parse_term
from kernel.time.instants import BEGINNING, FOREVER, Instant, print_instant
from kernel.time.timevalues import spell_end, spell_start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from api.models import certificates, facts, outcomes, queries, values
    from bridge.impact.reading import Found, Standing
    from bridge.reading.facts import FoundFact
    from bridge.review.certificates import CertificateDetail, ItemSlice
    from certificates.contradictions import Contradiction
    from certificates.findings import Finding
    from certificates.impacts import Impact
    from certificates.items import SaltedItem
    from kernel.facts import Evidence
    from kernel.ports.records import CertificateRecord, DecisionRecord
    from kernel.queries import RegisteredQuery
    from kernel.terms import Term
    from kernel.time.timevalues import Bound
    from kernel.writing.submitting import Outcome


def value(term: Term) -> values.Value:
    """A term as a JSON-LD value object; a triple term, for which JSON-LD has none, under `@triple`."""
    if isinstance(term, Iri):
        return {"@id": term.value}
    if not isinstance(term, Literal):
        return {
            "@triple": {
                "subject": {"@id": term.subject.value},
                "predicate": {"@id": term.predicate.value},
                "object": value(term.object),
            }
        }
    answer: values.LiteralValue = {"@value": term.lexical}
    if term.language is not None:
        answer["@language"] = term.language
        if term.direction is not None:
            answer["@direction"] = "ltr" if term.direction == "ltr" else "rtl"
    elif term.datatype != XSD_STRING:
        answer["@type"] = term.datatype
    return answer


# --- outcomes and findings --------------------------------------------------------------------------------------------


WITHHELD: Final = "the verdict also rests on graphs that you may not read: ask an editor of the whole base"


MOST_FINDINGS: Final = 500
"""Findings in the answer to a request, and in a page of them unless more are asked for."""


def outcome(outcome: Outcome, findings: Sequence[Finding]) -> outcomes.Outcome:
    """What became of a request, with the first of the findings that its caller may see, and whether those are all."""
    answer: outcomes.Outcome = {
        "certificate": None if outcome.certificate is None else urn(outcome.certificate),
        "verdict": outcome.verdict,
        "state": outcome.state,
        "head": outcome.head,
        "findings": [finding(each) for each in findings[:MOST_FINDINGS]],
    }
    if len(findings) > MOST_FINDINGS:
        answer["moreFindings"] = _more(outcome, findings)
    if outcome.successor is not None:
        answer["successor"] = urn(outcome.successor)
    if outcome.why is not None:
        answer["why"] = outcome.why
    elif _weighing(findings) < _weighing(outcome.findings):
        answer["why"] = WITHHELD
    return answer


def _weighing(findings: Sequence[Finding]) -> int:
    """How many findings a verdict can rest on: what is only noted is none."""
    return sum(each.severity is not Severity.INFO for each in findings)


def _more(outcome: Outcome, findings: Sequence[Finding]) -> outcomes.MoreFindings:
    following = findings[MOST_FINDINGS]
    ordinal = next(number for number, each in enumerate(outcome.findings) if each is following)
    path = None if outcome.certificate is None else f"/certificates/{outcome.certificate}?findings-from={ordinal}"
    return {"count": len(findings) - MOST_FINDINGS, "next": path}


def finding(finding: Finding) -> outcomes.Finding:
    """A finding, its IRIs without angle brackets and its value as JSON-LD has it."""
    answer: outcomes.Finding = {"code": finding.code, "severity": finding.severity, "message": finding.message}
    if finding.focus is not None:
        answer["focus"] = _plain(finding.focus)
    if finding.path is not None:
        answer["path"] = _plain(finding.path)
    if finding.value is not None:
        answer["value"] = value(parse_term(finding.value))
    if finding.shape is not None:
        answer["shape"] = _plain(finding.shape)
    if finding.component is not None:
        answer["component"] = _plain(finding.component)
    if finding.constraint is not None:
        answer["constraint"] = _plain(finding.constraint)
    if finding.start is not None:
        answer["from"] = finding.start
    if finding.end is not None:
        answer["to"] = finding.end
    _add_impact(answer, finding.impact)
    _add_contradiction(answer, finding.contradiction)
    return answer


def _add_contradiction(answer: outcomes.Finding, said: Contradiction | None) -> None:
    if said is not None:
        answer["kind"], answer["statement"], answer["against"] = said.kind, said.statement, said.against


def _add_impact(answer: outcomes.Finding, impact: Impact | None) -> None:
    if impact is None:
        return
    answer["query"], answer["owner"], answer["weight"] = impact.query, impact.owner, impact.weight
    if impact.gained is not None and impact.lost is not None:
        answer["gained"], answer["lost"] = impact.gained, impact.lost
        answer["sample"] = [
            {
                "change": "gained" if each.gained else "lost",
                "times": each.times,
                "row": {name: value(parse_term(term)) for name, term in each.row},
            }
            for each in impact.sample
        ]


def _plain(text: str) -> str:
    return text[1:-1] if text.startswith("<") and text.endswith(">") and " " not in text else text


# --- certificates -----------------------------------------------------------------------------------------------------


def summary(record: CertificateRecord) -> certificates.CertificateSummary:
    """A certificate in a list."""
    answer: certificates.CertificateSummary = {
        "certificate": urn(record.id),
        "verdict": record.verdict,
        "state": record.state,
        "head": record.head,
        "instant": None if record.instant is None else print_instant(record.instant),
        "issuedAt": print_instant(record.issued_at),
        "principal": record.principal,
        "graphs": [graph.value for graph in record.graphs],
    }
    if record.successor is not None:
        answer["successor"] = urn(record.successor)
    return answer


def certificate(detail: CertificateDetail) -> certificates.Certificate:
    """A certificate with everything that belongs to it."""
    credential = json.loads(detail.record.document)
    return {
        **summary(detail.record),
        "findings": [finding(each) for each in detail.findings],
        "plan": _items(detail.plan),
        "findingItems": _items(detail.finding_items),
        "decisions": [_decision(each) for each in detail.decisions],
        "predecessor": credential.get("predecessor"),
        "credential": credential,
    }


def _items(items: ItemSlice) -> certificates.Items:
    listed: list[certificates.Item] = []
    for ordinal, leaf in enumerate(items.leaves, items.first):
        item = items.items.get(ordinal)
        listed.append({"ordinal": ordinal, "leaf": leaf.hex()} if item is None else _item(item, leaf))
    return {"items": listed, "next": items.following}


def _item(item: SaltedItem, leaf: bytes) -> certificates.Item:
    return {"ordinal": item.ordinal, "leaf": leaf.hex(), "salt": item.salt.hex(), "body": json.loads(item.body)}


def _decision(decision: DecisionRecord) -> certificates.DecisionRecord:
    answer: certificates.DecisionRecord = {
        "kind": "decision" if decision.kind == "decision" else "recheck",
        "record": json.loads(decision.record),
    }
    if decision.comment is not None:
        answer["comment"] = _item(decision.comment, decision.comment.leaf)
    return answer


# --- facts ------------------------------------------------------------------------------------------------------------


def fact(found: FoundFact) -> facts.Fact:
    """A fact with its evidence."""
    held, content = found.fact, found.fact.content
    interval, validity, statement = content.interval, content.validity, content.statement
    said = submitted(held, found.evidence)
    answer: facts.Fact = {
        "fact": urn(content.id),
        "family": urn(content.family),
        "statement": {
            "subject": {"@id": statement.subject.value},
            "predicate": {"@id": statement.predicate.value},
            "object": value(said.object),
            "graph": {"@id": statement.graph.value},
        },
        "fromPrecision": validity.start_precision,
        "toPrecision": validity.end_precision,
        "recordedAt": print_instant(held.recorded_at),
        "certificate": urn(held.certificate),
        "evidence": [_evidence(item) for item in found.evidence],
    }
    if interval.start != BEGINNING:
        answer["from"] = print_instant(Instant(interval.start))
    if interval.end != FOREVER:
        answer["to"] = print_instant(Instant(interval.end))
    _spell_start(answer, said.start)
    _spell_end(answer, said.end)
    if held.superseded is not None:
        answer["supersededAt"] = print_instant(held.superseded.at)
        answer["supersededBy"] = urn(held.superseded.certificate)
    return answer


def _spell_start(answer: facts.Fact, start: Bound) -> None:
    spelled = spell_start(start)
    if spelled is not None:
        answer["validFrom"] = spelled


def _spell_end(answer: facts.Fact, end: Bound) -> None:
    spelled = spell_end(end)
    if spelled is not None:
        answer[spelled[0]] = spelled[1]


def _evidence(evidence: Evidence) -> facts.Evidence:
    content, spelling = evidence.content, evidence.content.spelling
    answer: facts.Evidence = {
        "evidence": urn(content.id),
        "certificate": urn(evidence.certificate),
        "recordedAt": print_instant(evidence.recorded_at),
    }
    if content.episode is not None:
        answer["episode"] = content.episode.value
    if content.confidence is not None:
        answer["confidence"] = float(content.confidence)
    if spelling.object is not None:
        answer["object"] = value(spelling.object)
    if spelling.valid_from is not None:
        answer["validFrom"] = spelling.valid_from
    if spelling.valid_to is not None:
        answer["validTo"] = spelling.valid_to
    return answer


# --- registered queries -----------------------------------------------------------------------------------------------


def registered_query(query: RegisteredQuery) -> queries.RegisteredQuery:
    """A registered query."""
    return {
        "name": query.name,
        "query": query.text,
        "owner": query.owner,
        "contact": query.contact,
        "graphs": [graph.value for graph in query.graphs],
        "moment": "now" if query.moment is None else print_instant(query.moment),
        "weight": query.weight,
        "action": query.action,
    }


def found_query(found: Found, stands: Standing | None) -> queries.FoundQuery:
    """A registered query with its versions, and how an answer to it stands."""
    versions: list[queries.Version] = [
        {"certificate": urn(certificate), "recordedAt": print_instant(at)} for certificate, at in found.versions
    ]
    query = registered_query(found.query)
    if stands is None:
        return {**query, "certificates": versions}  # type: ignore[typeddict-item] # the rest need not be there
    return {**query, "certificates": versions, "standing": standing(stands)}


def standing(stands: Standing) -> queries.Standing:
    """How an answer stands."""
    return {
        "freshness": stands.freshness,
        "head": stands.head,
        "validAt": print_instant(stands.clock_at),
        "certificates": [urn(each) for each in stands.by],
        "clock": stands.clock,
    }
