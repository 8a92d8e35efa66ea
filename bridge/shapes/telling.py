"""Violations as findings: in words, in the mode of the shapes, and as waived where a waiver covers them.

Rules
-----
* One finding for each stretch of time in which the same result is found. Of several ways in which it is, the first in
  time and spelling is told.
* Where the mode of the shapes is `m:Warn`, a violation is a warning; where a waiver covers it, a `waived-violation`.
* The order is that of the findings' keys, however the violations came about.
* A teller remembers what it said of a result, for as long as the same is found of it.

Example
-------
::

    Teller(shapes, FindingCode.SHAPE_VIOLATION).told(by_key(violations), issued_at)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from bridge.shapes.application import Mode
from bridge.shapes.delta import fused
from bridge.shapes.messages import message_of
from bridge.shapes.vocabulary import sh
from certificates.findings import Finding, FindingCode, Severity
from kernel.time.instants import BEGINNING, FOREVER, Instant, print_instant
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bridge.shapes.registry import Shapes
    from bridge.shapes.results import Result, ResultKey
    from bridge.shapes.slices import Violation
    from bridge.shapes.waivers import Waiver
    from kernel.terms import Term
    from kernel.time.intervals import Interval

_SEVERITIES: Final = {sh("Warning"): Severity.WARNING, sh("Info"): Severity.INFO}

_Said: TypeAlias = "Sequence[tuple[Result, Finding]]"
"""What was said of a result, stretch by stretch."""


def by_key(violations: Iterable[Violation]) -> dict[ResultKey, list[Violation]]:
    """The violations of each result."""
    found: dict[ResultKey, list[Violation]] = {}
    for violation in violations:
        found.setdefault(violation.result.key, []).append(violation)
    return found


class Teller:
    """Tells what is found by some shapes.

    Args:
        shapes: without problems.
        code: what the violations are, apart from those that are waived.
    """

    def __init__(self, shapes: Shapes, code: FindingCode) -> None:
        self._shapes = shapes
        self._code = code
        self._said: dict[ResultKey, tuple[Sequence[Violation], _Said]] = {}
        self._waived: dict[tuple[Finding, Waiver], Finding] = {}

    def told(self, violations: Mapping[ResultKey, Sequence[Violation]], at: int) -> list[Finding]:
        """The findings.

        Args:
            violations: by the keys of their results.
            at: when what they are found of was issued, in microseconds.
        """
        is_there = self._code is FindingCode.EXISTING_VIOLATION
        found = []
        for key, same in violations.items():
            for result, finding in self._of_one(key, same):
                waiver = self._shapes.waivers.of(result, at, is_there=is_there)
                found.append(finding if waiver is None else self._as_waived(finding, waiver))
        return sorted(found, key=_place)

    def _of_one(self, key: ResultKey, same: Sequence[Violation]) -> _Said:
        known = self._said.get(key)
        if known is None or known[0] != same:
            known = self._said[key] = (same, list(self._merged(same)))
        return known[1]

    def _as_waived(self, finding: Finding, waiver: Waiver) -> Finding:
        known = self._waived.get((finding, waiver))
        if known is None:
            known = self._waived[finding, waiver] = _waived(finding, waiver)
        return known

    def _merged(self, same: Sequence[Violation]) -> Iterator[tuple[Result, Finding]]:
        for stretch in fused([violation.part for violation in same]):
            within = [violation for violation in same if violation.part.overlaps(stretch)]
            first = min(within, key=_in_order)
            graphs = {graph.value for violation in within for graph in violation.graphs}
            yield first.result, _finding(self._shapes, self._code, first, stretch, graphs)


def _waived(finding: Finding, waiver: Waiver) -> Finding:
    severity = Severity.WARNING if finding.severity is Severity.VIOLATION else finding.severity
    return replace(
        finding,
        code=FindingCode.WAIVED_VIOLATION,
        severity=severity,
        message=f"{finding.message}; {waiver.told}",
        graphs=(*finding.graphs, SHAPES_GRAPH.value),
    )


def _finding(shapes: Shapes, code: FindingCode, violation: Violation, stretch: Interval, graphs: set[str]) -> Finding:
    result = violation.result
    severity = _SEVERITIES.get(result.severity, Severity.VIOLATION) if result.severity else Severity.VIOLATION
    return Finding(
        code=code,
        severity=at_most(severity, shapes.mode),
        message=message_of(shapes.document, result),
        graphs=tuple(graphs),
        focus=result.focus.n3,
        path=result.path,
        value=n3_of(result.value),
        shape=result.shape.n3,
        component=result.component.n3,
        constraint=n3_of(result.constraint),
        start=print_instant(Instant(stretch.start)) if stretch.start != BEGINNING else None,
        end=print_instant(Instant(stretch.end)) if stretch.end != FOREVER else None,
    )


def at_most(severity: Severity, mode: Mode) -> Severity:
    """The severity that a finding has in a mode."""
    return Severity.WARNING if mode is Mode.WARN and severity is Severity.VIOLATION else severity


def n3_of(term: Term | None) -> str | None:
    """The term in N-Triples."""
    return None if term is None else term.n3


def _place(finding: Finding) -> tuple[str, ...]:
    return tuple(text or "" for text in (*finding.key[1:], finding.start, finding.end))


def _in_order(violation: Violation) -> tuple[Interval, str]:
    """Which of several violations of one key is told: the first one, and of one time the first spelling."""
    return violation.part, n3_of(violation.result.spelled) or ""
