"""Results as a SARIF 2.1.0 log (OASIS, Static Analysis Results Interchange Format), for what shows them beside code.

Rules
-----
* A rule is what a shape asks for by one constraint component along one path, or what another check looks for. Its id
  stays the same while the shape keeps its name; rules that would share an id are numbered.
* Violations are errors, warnings are warnings, infos are notes. What is waived is a warning, and suppressed.
* A result lies where its focus is described (`bridge.checking.placing`), at the line where that is known, and at the
  focus as its logical location.
* The log is written as results come, so that the rules, which the results name by index, stand last.

Example
-------
::

    file.writelines(sarif(alerts_of(validation.results(), Telling(shapes.document), material.place)))
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import quote

from bridge.exporting.nodes import RESTORED
from bridge.shapes.reports.telling import component_name
from certificates.findings import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from bridge.checking.placing import Place
    from bridge.shapes.reports.telling import Telling
    from bridge.shapes.results import Result
    from kernel.terms import Iri, Term

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION: Final = "2.1.0"
FINGERPRINTS: Final = ("shaclResult/v1", "primaryLocationLineHash")
"""By what a result is the same in the next run; code scanning goes by the second alone."""

_LEVELS: Final = {Severity.VIOLATION: "error", Severity.WARNING: "warning", Severity.INFO: "note"}

_LONGEST: Final = 1024
"""Characters of a description that what reads these logs takes."""

_Members: TypeAlias = dict[str, object]
_RuleKey: TypeAlias = "tuple[Iri, str | None, Iri, Iri | None]"


def sarif(alerts: Iterable[Alert]) -> Iterator[str]:
    """The log of alerts, in pieces."""
    rules = _Rules()
    yield f'{{"$schema":{_json(SCHEMA)},"version":"{VERSION}","runs":[{{"columnKind":"unicodeCodePoints",\n"results":['
    between = "\n"
    for alert in alerts:
        yield between + _json(_result(alert, rules))
        between = ",\n"
    driver = {"name": "Muniment", "version": version("muniment"), "rules": rules.descriptors}
    yield f'],\n"tool":{{"driver":{_json(driver)}}}}}]}}\n'


@dataclass(frozen=True, slots=True)
class Rule:
    """What alerts are of.

    Args:
        node: the shape itself, with a name or without.
        source: what it is a rule of: the name of a shape, or of a check.
        path: along which it asks.
        name: what it asks for: a constraint component, or a code.
        asked: the same in words.
        help: more of it.
        severity: of its alerts.
        properties: what else is known of it.
    """

    node: str
    source: str
    path: str | None
    name: str
    asked: str
    help: str
    severity: Severity
    properties: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Alert:
    """One result.

    Args:
        rule: what it is of.
        message: what it says.
        focus: the node at fault, as text.
        place: where that is described.
        same: what tells it apart from the others of its rule, in every run.
        properties: what else is known of it.
        waived: by which waiver and why, if it is.
    """

    rule: Rule
    message: str
    focus: str
    place: Place | None
    same: str
    properties: tuple[tuple[str, str], ...]
    waived: str | None = None


def alerts_of(results: Iterable[Result], telling: Telling, place: Callable[[Term], Place | None]) -> Iterator[Alert]:
    """The results of a validation.

    Args:
        results: of one validation.
        telling: of the shapes that they are of.
        place: where a node is described.
    """
    rules: dict[_RuleKey, Rule] = {}
    for result in results:
        key = (result.shape, result.path, result.component, result.constraint)
        rule = rules.get(key)
        if rule is None:
            rule = rules[key] = _rule(result, telling)
        value, waiver = result.spelled or result.value, telling.waiver(result)
        said = (("path", result.path), ("value", None if value is None else RESTORED.n3(value)))
        yield Alert(
            rule,
            telling.message(result),
            RESTORED.n3(result.focus),
            place(result.focus),
            f"{result.focus.n3}\n{'' if result.value is None else result.value.n3}",
            tuple((name, text) for name, text in said if text is not None),
            None if waiver is None else waiver.told,
        )


def _rule(result: Result, telling: Telling) -> Rule:
    shape = telling.name(result.shape)
    asked = f"{result.path or 'each value'}: {telling.cause(result)}"
    query = () if result.constraint is None else (("constraint", RESTORED.n3(result.constraint)),)
    return Rule(
        node=result.shape.value,
        source=shape,
        path=result.path,
        name=component_name(result.component),
        asked=asked,
        help=f"{asked}. The shape {shape} asks for this, by {result.component.n3}.",
        severity=telling.asked_severity(result),
        properties=(("shape", shape), ("component", result.component.value), *query),
    )


@dataclass(frozen=True, slots=True)
class _Listed:
    index: int
    id: str


class _Rules:
    """The rules of the alerts so far."""

    def __init__(self) -> None:
        self._listed: dict[Rule, _Listed] = {}
        self._ids: dict[str, int] = {}
        self.descriptors: list[_Members] = []

    def of(self, rule: Rule) -> _Listed:
        """Where the rule is in the list, and by which id."""
        listed = self._listed.get(rule)
        if listed is None:
            listed = self._listed[rule] = _Listed(len(self.descriptors), self._new_id(rule))
            self.descriptors.append(_descriptor(rule, listed.id))
        return listed

    def _new_id(self, rule: Rule) -> str:
        name = " ".join(part for part in (rule.source, rule.path, rule.name) if part)
        count = self._ids[name] = self._ids.get(name, 0) + 1
        return name if count == 1 else f"{name} {count}"


def _descriptor(rule: Rule, identifier: str) -> _Members:
    return {
        "id": identifier,
        "name": rule.name,
        "shortDescription": {"text": rule.asked[:_LONGEST]},
        "fullDescription": {"text": rule.asked[:_LONGEST]},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": dict(rule.properties),
    }


def _result(alert: Alert, rules: _Rules) -> _Members:
    listed = rules.of(alert.rule)
    location: _Members = {"logicalLocations": [{"fullyQualifiedName": alert.focus, "kind": "resource"}]}
    if alert.place is not None:
        region: _Members = {} if alert.place.line is None else {"region": {"startLine": alert.place.line}}
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(alert.place.path)}, **region}
    members: _Members = {
        "ruleId": listed.id,
        "ruleIndex": listed.index,
        "level": _level(alert),
        "message": {"text": alert.message},
        "locations": [location],
        "partialFingerprints": dict.fromkeys(FINGERPRINTS, _fingerprint(listed, alert)),
    }
    if alert.waived is not None:
        members["suppressions"] = [{"kind": "external", "status": "accepted", "justification": alert.waived}]
    return {**members, "properties": dict(alert.properties)} if alert.properties else members


def _level(alert: Alert) -> str:
    waived = alert.waived is not None and alert.rule.severity is Severity.VIOLATION
    return _LEVELS[Severity.WARNING if waived else alert.rule.severity]


def _fingerprint(listed: _Listed, alert: Alert) -> str:
    """What makes a result the same one in another run."""
    return sha256(f"{listed.id}\n{alert.same}".encode()).hexdigest()[:32]


def _uri(path: Path) -> str:
    """A file as a URI reference (RFC 3986), relative as it was given."""
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
