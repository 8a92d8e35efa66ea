"""Findings for people: by their cause, each with the facts that it is about and what speaks for them.

Rules
-----
* Findings of one code, shape and predicate have one cause. The gravest causes come first.
* Of one cause the first findings are shown, and it is said how many there are: a shape may find fault with thousands.
* IRIs in a message are called by their names; a link leads to their pages.
* What a finding is about are the facts, of the plan or held, of its node and predicate; each with its evidence. Where
  there is none, because what is found is that something is missing, the certificate's own source stands for it.

Example
-------
::

    causes_of(effects, changes, names)[0].title        # "Contradicts what is held"
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from api.pages.effects import FactShown, fact_shown
from api.pages.terms import Shown
from api.pages.times import in_words
from certificates.findings import FindingCode, Severity
from kernel.errors import InvalidTerm
from kernel.instants import BEGINNING, FOREVER, parse_instant
from kernel.intervals import Interval
from kernel.terms import Iri, parse_term

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.pages.terms import Names
    from bridge.certificate_effects import Effects
    from certificates.findings import Finding
    from kernel.facts import Fact

TITLES: Final = {
    "shape-violation": "Does not fit a shape",
    "undescribed-shape": "Refers to a shape that is not there",
    "reviewable-violation": "Does not fit a shape; an editor may let it in",
    "existing-violation": "Held already, and does not fit the shapes as they would be",
    "malformed-shapes": "Shapes that cannot be applied",
    "neighbourhood-exceeded": "Too much to check at once",
    "single-valued-by-subject": "Contradicts what is held",
    "single-valued-by-object": "Contradicts what is held",
    "low-confidence": "Low confidence",
    "invalid-rule": "A rule that cannot be applied",
}
"""By code; one that is not here is shown as it is."""
_GRAVITY: Final = (Severity.VIOLATION, Severity.WARNING, Severity.INFO)
_IRI: Final = re.compile(r"<([A-Za-z][A-Za-z0-9+.\-]*:[^<>\s]*)>")
_INSTANT: Final = re.compile(r"-?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_MOST: Final = 6
"""Facts that are shown with one finding."""

MOST_OF_A_CAUSE: Final = 40


_Cause: TypeAlias = tuple[FindingCode, Severity, str | None, str | None]


@dataclass(frozen=True, slots=True)
class FindingShown:
    """One finding."""

    message: tuple[Shown | str, ...]
    focus: Shown | None
    value: Shown | None
    when: str | None
    facts: tuple[FactShown, ...]


@dataclass(frozen=True, slots=True)
class Cause:
    """Findings of one cause: the first of them, and how many there are."""

    title: str
    code: str
    severity: str
    path: Shown | None
    shape: Shown | None
    findings: tuple[FindingShown, ...]
    total: int


def nodes_in_findings(effects: Effects) -> set[Iri]:
    """Every node that findings name."""
    texts = (
        text
        for findings in _by_cause(effects).values()
        for finding in findings[:MOST_OF_A_CAUSE]
        for text in (finding.message, finding.focus, finding.path, finding.value, finding.shape)
        if text is not None
    )
    return {iri for text in texts for iri in _iris(text)}


def causes_of(effects: Effects, names: Names) -> list[Cause]:
    """The findings that the caller may see, by cause."""
    return [
        Cause(
            TITLES.get(code, code.value),
            code.value,
            severity.value,
            None if path is None else names.n3(path),
            None if shape is None else names.n3(shape),
            tuple(_shown(finding, effects, names) for finding in findings[:MOST_OF_A_CAUSE]),
            len(findings),
        )
        for (code, severity, path, shape), findings in sorted(
            _by_cause(effects).items(), key=lambda group: _GRAVITY.index(group[0][1])
        )
    ]


def _by_cause(effects: Effects) -> dict[_Cause, list[Finding]]:
    groups: dict[_Cause, list[Finding]] = {}
    for finding in effects.findings:
        groups.setdefault((finding.code, finding.severity, finding.path, finding.shape), []).append(finding)
    return groups


def _shown(finding: Finding, effects: Effects, names: Names) -> FindingShown:
    facts = [
        fact_shown(fact, (effects.brought if planned else effects.held).get(fact.id, ()), names)
        for planned, fact in _about(finding, effects)
    ]
    return FindingShown(
        tuple(message_in_parts(finding.message, names)),
        None if finding.focus is None else names.n3(finding.focus),
        None if finding.value is None else names.n3(finding.value),
        _when(finding),
        tuple(facts[:_MOST]),
    )


def _about(finding: Finding, effects: Effects) -> Iterator[tuple[bool, Fact]]:
    """The facts that a finding is about, at the time that it is of, those of the plan first."""
    during = Interval(
        BEGINNING if finding.start is None else parse_instant(finding.start, field="from"),
        FOREVER if finding.end is None else parse_instant(finding.end, field="to"),
    )
    for planned, facts in ((True, effects.recorded), (False, (*effects.superseded, *effects.against))):
        for fact in facts:
            statement = fact.statement
            ends = (statement.subject.n3, statement.object.n3)
            if (
                finding.focus in ends
                and finding.path in (None, statement.predicate.n3)
                and fact.interval.intersect(during)
            ):
                yield planned, fact


def _when(finding: Finding) -> str | None:
    start, end = (None if each is None else _moment(each) for each in (finding.start, finding.end))
    if start is None:
        return None if end is None else f"until {end}"
    return f"since {start}" if end is None else f"from {start} until {end}"


def message_in_parts(message: str, names: Names) -> Iterator[Shown | str]:
    """The text with its IRIs as nodes and its instants in words."""
    position = 0
    for match in _IRI.finditer(message):
        yield _instants(message[position : match.start()])
        iri = next(_iris(match.group()), None)
        yield match.group() if iri is None else names(iri)
        position = match.end()
    yield _instants(message[position:])


def _instants(text: str) -> str:
    return _INSTANT.sub(lambda match: _moment(match.group()), text)


def _moment(instant: str) -> str:
    """An instant in words; one at midnight is, as a bound, just the day."""
    return in_words(instant.removesuffix("T00:00:00Z")).text


def _iris(text: str) -> Iterator[Iri]:
    for match in _IRI.finditer(text):
        try:
            found = parse_term(match.group())
        except InvalidTerm:
            continue
        if isinstance(found, Iri):
            yield found
