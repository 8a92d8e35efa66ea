"""Results as a SARIF 2.1.0 log (OASIS, Static Analysis Results Interchange Format), for what shows them beside code.

Rules
-----
* A rule is what a shape asks for by one constraint component along one path. Its id stays the same while the shape
  keeps its name; rules that would share an id are numbered.
* Violations are errors, warnings are warnings, infos are notes.
* A result lies where its focus is described (`bridge.placing`), at the line where that is known, and at the focus as
  its logical location.
* The log is written as results come, so that the rules, which the results name by index, stand last.

Example
-------
::

    file.writelines(sarif(validation.results(), Telling(shapes.document), material.place))
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

    from bridge.placing import Place
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
_RuleKey: TypeAlias = "tuple[Iri, str | None, Iri]"


def sarif(results: Iterable[Result], telling: Telling, place: Callable[[Term], Place | None]) -> Iterator[str]:
    """The log, in pieces.

    Args:
        results: of one validation.
        telling: of the shapes that they are of.
        place: where a node is described.
    """
    rules = _Rules(telling)
    yield f'{{"$schema":{_json(SCHEMA)},"version":"{VERSION}","runs":[{{"columnKind":"unicodeCodePoints",\n"results":['
    between = "\n"
    for result in results:
        yield between + _json(_result(result, telling, rules, place(result.focus)))
        between = ",\n"
    driver = {"name": "Muniment", "version": version("muniment"), "rules": rules.descriptors}
    yield f'],\n"tool":{{"driver":{_json(driver)}}}}}]}}\n'


@dataclass(frozen=True, slots=True)
class _Rule:
    index: int
    id: str


class _Rules:
    """The rules that results have named so far."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._known: dict[_RuleKey, _Rule] = {}
        self._ids: dict[str, int] = {}
        self.descriptors: list[_Members] = []

    def of(self, result: Result) -> _Rule:
        """The rule that a result is of."""
        key = (result.shape, result.path, result.component)
        rule = self._known.get(key)
        if rule is None:
            rule = self._known[key] = _Rule(len(self.descriptors), self._new_id(result))
            self.descriptors.append(self._descriptor(rule, result))
        return rule

    def _new_id(self, result: Result) -> str:
        parts = (self._telling.name(result.shape), result.path, component_name(result.component))
        name = " ".join(part for part in parts if part)
        count = self._ids[name] = self._ids.get(name, 0) + 1
        return name if count == 1 else f"{name} {count}"

    def _descriptor(self, rule: _Rule, result: Result) -> _Members:
        name, shape = component_name(result.component), self._telling.name(result.shape)
        asked = f"{result.path or 'each value'}: {self._telling.cause(result)}"
        return {
            "id": rule.id,
            "name": name,
            "shortDescription": {"text": asked[:_LONGEST]},
            "fullDescription": {"text": asked[:_LONGEST]},
            "help": {"text": f"{asked}. The shape {shape} asks for this, by {result.component.n3}."},
            "defaultConfiguration": {"level": _LEVELS[self._telling.severity(result)]},
            "properties": {"shape": shape, "component": result.component.value},
        }


def _result(result: Result, telling: Telling, rules: _Rules, place: Place | None) -> _Members:
    rule = rules.of(result)
    location: _Members = {"logicalLocations": [{"fullyQualifiedName": RESTORED.n3(result.focus), "kind": "resource"}]}
    if place is not None:
        region: _Members = {} if place.line is None else {"region": {"startLine": place.line}}
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(place.path)}, **region}
    members: _Members = {
        "ruleId": rule.id,
        "ruleIndex": rule.index,
        "level": _LEVELS[telling.severity(result)],
        "message": {"text": telling.message(result)},
        "locations": [location],
        "partialFingerprints": dict.fromkeys(FINGERPRINTS, _fingerprint(rule, result)),
    }
    value = result.spelled or result.value
    said = {"path": result.path, "value": None if value is None else RESTORED.n3(value)}
    properties = {name: text for name, text in said.items() if text is not None}
    return {**members, "properties": properties} if properties else members


def _fingerprint(rule: _Rule, result: Result) -> str:
    """What makes a result the same one in another run."""
    value = "" if result.value is None else result.value.n3
    return sha256(f"{rule.id}\n{result.focus.n3}\n{value}".encode()).hexdigest()[:32]


def _uri(path: Path) -> str:
    """A file as a URI reference (RFC 3986), relative as it was given."""
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
