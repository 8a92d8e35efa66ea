"""Findings: what a check says about a plan.

Rules
-----
* A finding has a closed code, a severity, a message that a person understands, and the graphs it was drawn from: who
  may not read all of them does not see it. A finding without a graph cannot be built.
* Where it applies, it names the focus node, path, value, shape and constraint component (SHACL section 3.6.2), the
  constraint where a shape has several of its component (section 5), and the part of valid time in which it holds, from
  `start` (inclusive) to `end` (exclusive).
* One about a registered query says how its answer changes (`certificates.impacts`); one about two statements that
  cannot both hold, which these are and of which kind that is (`certificates.contradictions`).
* RDF terms are N-Triples text (`<urn:a>`, `"1"^^<…>`), graphs are plain IRIs, times are XSD dateTime text. In JSON
  the two times are called `from` and `to`; what does not apply is left out.

Example
-------
>>> finding = Finding(
...     FindingCode.SHAPE_VIOLATION, Severity.VIOLATION, "needs a name", ("urn:g",), start="2026-01-01T00:00:00Z"
... )
>>> finding.body()["from"], Finding.from_body(finding.body()) == finding
('2026-01-01T00:00:00Z', True)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self

from certificates import contradictions
from certificates.canonical import canonical_json
from certificates.closed import choice, closed, malformed, optional_text, text
from certificates.contradictions import Contradiction
from certificates.errors import InvalidValue
from certificates.impacts import NAMES, Impact


class Severity(StrEnum):
    """How grave a finding is; the three of SHACL section 2.1.4."""

    VIOLATION = "violation"
    WARNING = "warning"
    INFO = "info"


class FindingCode(StrEnum):
    """Every kind of finding that a check can make."""

    SHAPE_VIOLATION = "shape-violation"
    REVIEWABLE_VIOLATION = "reviewable-violation"
    EXISTING_VIOLATION = "existing-violation"
    WAIVED_VIOLATION = "waived-violation"
    WAIVER_ENDED = "waiver-ended"
    MALFORMED_SHAPES = "malformed-shapes"
    UNDESCRIBED_SHAPE = "undescribed-shape"
    WITHOUT_EFFECT = "without-effect"
    NEIGHBOURHOOD_EXCEEDED = "neighbourhood-exceeded"
    SINGLE_VALUED_BY_SUBJECT = "single-valued-by-subject"
    SINGLE_VALUED_BY_OBJECT = "single-valued-by-object"
    DISJOINT_CLASSES = "disjoint-classes"
    EXCLUSIVE_BY_ENDS = "exclusive-by-ends"
    EXCLUSIVE_BY_SUBJECT = "exclusive-by-subject"
    VALUE_ORDER = "value-order"
    INTERVAL_OVERLAP = "interval-overlap"
    ASYMMETRIC = "asymmetric"
    EDGE_SIGNATURE = "edge-signature"
    NOT_ADMITTED = "not-admitted"
    VOCABULARY_FULL = "vocabulary-full"
    LOW_CONFIDENCE = "low-confidence"
    INVALID_RULE = "invalid-rule"
    IMPACT = "impact"
    IMPACT_UNKNOWN = "impact-unknown"
    FOLLOWS = "follows"
    FOLLOWS_UNKNOWN = "follows-unknown"
    INCONSISTENT = "inconsistent"
    INVALID_QUERY = "invalid-query"
    INVALID_POLICY = "invalid-policy"
    UNSAFE_AUTO_APPROVE = "unsafe-auto-approve"


FindingKey = tuple[FindingCode, str | None, str | None, str | None, str | None, str | None, str | None, str | None]
"""What makes two findings the same one: code, focus, path, value, component, shape, constraint, query."""

_REQUIRED: Final = frozenset({"code", "severity", "message", "graphs"})
_OPTIONAL: Final = {
    "focus": "focus", "path": "path", "value": "value", "shape": "shape", "component": "component",
    "constraint": "constraint", "from": "start", "to": "end",
}  # fmt: skip
_OPTIONAL_NAMES: Final = frozenset(_OPTIONAL)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; see the rules above for what each member holds. Graphs are kept sorted and without repeats."""

    code: FindingCode
    severity: Severity
    message: str
    graphs: tuple[str, ...]
    focus: str | None = None
    path: str | None = None
    value: str | None = None
    shape: str | None = None
    component: str | None = None
    constraint: str | None = None
    start: str | None = None
    end: str | None = None
    impact: Impact | None = None
    contradiction: Contradiction | None = None
    _canonical: bytes | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a finding without message or graphs, and put the graphs in order."""
        if not self.message:
            raise InvalidValue("a finding without a message", remedy="say what is wrong", where="message")
        if not self.graphs:
            raise InvalidValue(
                "a finding drawn from no graph", remedy="name the graphs it was drawn from", where="graphs"
            )
        object.__setattr__(self, "graphs", tuple(sorted(set(self.graphs))))

    @property
    def key(self) -> FindingKey:
        """What makes two findings the same one, whatever their wording and interval."""
        query = None if self.impact is None else self.impact.query
        return (self.code, self.focus, self.path, self.value, self.component, self.shape, self.constraint, query)

    def canonical(self) -> bytes:
        """The body as canonical JSON: worked out once, and so beforehand where there is time for it beforehand."""
        found = self._canonical
        if found is None:
            found = canonical_json(self.body())
            object.__setattr__(self, "_canonical", found)
        return found

    def body(self) -> dict[str, object]:
        """The JSON members, ready for canonical JSON."""
        members: dict[str, object] = {
            "code": self.code.value,
            "severity": self.severity.value,
            "message": self.message,
            "graphs": list(self.graphs),
        }
        for name, attribute in _OPTIONAL.items():
            value = getattr(self, attribute)
            if value is not None:
                members[name] = value
        if self.contradiction is not None:
            members |= self.contradiction.members()
        return members if self.impact is None else members | self.impact.members()

    @classmethod
    def from_body(cls, body: object) -> Self:
        """The finding whose `body` this is.

        Raises:
            MalformedDocument: a member is missing, unknown or of the wrong kind.
            InvalidValue: the message is empty, or there are no graphs.
        """
        members = closed(body, "", _REQUIRED, _OPTIONAL_NAMES | NAMES | contradictions.NAMES)
        return cls(
            code=choice(members, "code", "", FindingCode),
            severity=choice(members, "severity", "", Severity),
            message=text(members, "message", ""),
            graphs=_graphs(members["graphs"]),
            impact=Impact.from_members(members),
            contradiction=Contradiction.from_members(members),
            **{attribute: optional_text(members, name, "") for name, attribute in _OPTIONAL.items()},
        )


def _graphs(value: object) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(graph, str) for graph in value):
        return tuple(value)
    raise malformed("not a list of IRIs", "graphs")
