"""The findings of a certificate, as validation reports tell of them.

Rules
-----
* What shapes found is told as a validation tells it, with when it holds: `m:validFrom`, `m:validTo`, as of a fact.
* What other checks found is told too: a report without it would pass for the report of a plan that conforms. It is by a
  component of ours, `m:` and the code in one word (SHACL section 6.2 leaves components open), and about the
  certificate where it names no node.
* A literal has the form in which it is stored, a message the words that were signed.

Example
-------
>>> finding = Finding(FindingCode.LOW_CONFIDENCE, Severity.WARNING, "doubtful", ("urn:g",), focus="<urn:ann>")
>>> [name.value.partition("#")[2] for name, _ in finding_node(finding, Iri("urn:c")).members][-3:]
['sourceConstraintComponent', 'resultSeverity', 'resultMessage']
>>> component_of(finding).value
'https://w3id.org/muniment#LowConfidence'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.exporting.nodes import RESTORED
from bridge.shapes.path_text import parse_path
from bridge.shapes.reports.rdf import Node, path_value
from bridge.shapes.reports.sarif import Alert, Rule
from bridge.shapes.reports.telling import component_name
from bridge.shapes.vocabulary import RDF_TYPE, is_blank, sh
from certificates.findings import Finding, FindingCode, Severity
from kernel.terms import XSD, Iri, Literal, parse_iri, parse_term
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.shapes.reports.rdf import Value

SEVERITIES: Final = {
    Severity.VIOLATION: sh("Violation"),
    Severity.WARNING: sh("Warning"),
    Severity.INFO: sh("Info"),
}
_DATE_TIME: Final = XSD + "dateTime"


def finding_nodes(findings: Iterable[Finding], certificate: Iri) -> Iterator[Node]:
    """The findings as results of a report."""
    return (finding_node(finding, certificate) for finding in findings)


def finding_node(finding: Finding, certificate: Iri) -> Node:
    """One finding as a result of a report (SHACL section 3.6.2)."""
    members: list[tuple[Iri, Value]] = [
        (RDF_TYPE, sh("ValidationResult")),
        (sh("focusNode"), certificate if finding.focus is None else parse_term(finding.focus)),
    ]
    path = None if finding.path is None else parse_path(finding.path)
    members += [(sh("resultPath"), path_value(path))] if path is not None else []
    members += [(sh("value"), parse_term(finding.value))] if finding.value is not None else []
    members += [(sh("sourceShape"), parse_iri(finding.shape))] if finding.shape is not None else []
    members += [
        (sh("sourceConstraintComponent"), component_of(finding)),
        *([] if finding.constraint is None else [(sh("sourceConstraint"), parse_iri(finding.constraint))]),
        (sh("resultSeverity"), SEVERITIES[finding.severity]),
        (sh("resultMessage"), Literal(finding.message)),
    ]
    for name, instant in (("validFrom", finding.start), ("validTo", finding.end)):
        members += [(Iri(M + name), Literal(instant, _DATE_TIME))] if instant is not None else []
    return Node(tuple(members))


def component_of(finding: Finding) -> Iri:
    """What a finding is by: a constraint component of SHACL, or a check of ours."""
    return _check(finding.code) if finding.component is None else parse_iri(finding.component)


def _check(code: FindingCode) -> Iri:
    return Iri(M + "".join(map(str.capitalize, code.value.split("-"))))


def asked_by(finding: Finding) -> str:
    """What was asked for, as far as the message says it of every node alike; else the whole message."""
    about = f" of {finding.focus} " if finding.path is not None else f"{finding.focus} "
    return finding.message.partition(about)[2] or finding.message


def alerts_of_findings(findings: Iterable[Finding]) -> Iterator[Alert]:
    """The findings for a SARIF log; of a shape without a name its id stands."""
    for finding in findings:
        said = (("code", finding.code.value), ("path", finding.path), ("value", finding.value),
                ("from", finding.start), ("to", finding.end),
                ("kind", None if finding.contradiction is None else finding.contradiction.kind.value))  # fmt: skip
        yield Alert(
            _rule(finding),
            finding.message,
            "the plan as a whole" if finding.focus is None else _shown(finding.focus),
            None,
            f"{finding.focus}\n{finding.value}\n{finding.start}",
            tuple((name, text) for name, text in said if text is not None),
        )


def _rule(finding: Finding) -> Rule:
    component = component_of(finding)
    name = finding.code.value if finding.component is None else component_name(component)
    source = "Muniment" if finding.shape is None else parse_iri(finding.shape).value
    asked = asked_by(finding) if finding.shape is not None else finding.code.value.replace("-", " ")
    words = f"{finding.path}: {asked}" if finding.path is not None else asked
    said = (
        ("shape", finding.shape and source),
        ("component", component.value),
        ("constraint", finding.constraint and _shown(finding.constraint)),
    )
    return Rule(
        node=source,
        source=source,
        path=finding.path,
        name=name,
        asked=words,
        help=f"{words}. {source} asks for this, by {component.n3}.",
        severity=finding.severity,
        properties=tuple((each, text) for each, text in said if text is not None),
    )


def _shown(text: str) -> str:
    term = parse_term(text)
    return RESTORED.n3(term) if is_blank(term) else text
