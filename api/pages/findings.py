"""Findings for people: by their cause, each with the facts that it is about and what speaks for them.

Rules
-----
* Findings of one code, shape, component and path have one cause. The gravest causes come first, of those the most
  frequent; a cause says what is asked for, and how many findings it has.
* With the certificate the first findings of the first causes are shown. The others have a page: the causes, and those
  of one cause a page at a time. So a hundred thousand of them are a page that can be read, and is there at once.
* IRIs in a message are called by their names; a link leads to their pages.
* What a finding is about are the facts, of the plan or held, of its node and predicate; each with its evidence. Where
  there is none, because what is found is that something is missing, the certificate's own source stands for it.

Example
-------
::

    causes_of(effects, names)[0].title        # "Contradicts what is held"
    GET /queue/0197…/findings?cause=2&from=51 → 200
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api.http.parameters import Parameter
from api.pages.effects import FactShown, fact_shown
from api.pages.names import names_for
from api.pages.paging import PagerShown
from api.pages.rendering import page
from api.pages.terms import Shown
from api.pages.times import in_words
from api.pages.visiting import Visitor, page_parameters
from api.routes.certificates import CertificateId, certificate_named
from api.service import Service
from bridge.review.findings import GRAVITY, Cause, Found
from bridge.shapes.reports.of_findings import asked_by
from kernel.errors import InvalidParameter, InvalidTerm
from kernel.terms import Iri, parse_term
from kernel.time.instants import BEGINNING, FOREVER, parse_instant
from kernel.time.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from api.pages.terms import Names
    from api.pages.visiting import Visit
    from bridge.review.effects import Effects, EffectsReader
    from certificates.findings import Finding
    from certificates.impacts import Impact
    from kernel.facts import Evidence, Fact

TITLES: Final = {
    "shape-violation": "Does not fit a shape",
    "undescribed-shape": "Refers to a shape that is not there",
    "without-effect": "Says something that has no effect",
    "reviewable-violation": "Does not fit a shape; an editor may let it in",
    "existing-violation": "Held already, and does not fit the shapes as they would be",
    "waived-violation": "Does not fit a shape, and is waived",
    "waiver-ended": "A waiver has ended",
    "malformed-shapes": "Shapes that cannot be applied",
    "neighbourhood-exceeded": "Too much to check at once",
    "single-valued-by-subject": "Contradicts what is held",
    "single-valued-by-object": "Contradicts what is held",
    "disjoint-classes": "Is of classes that share nothing",
    "exclusive-by-ends": "Contradicts another relation of the two",
    "exclusive-by-subject": "Contradicts another relation of the same",
    "value-order": "Values in the wrong order",
    "interval-overlap": "Times that overlap",
    "asymmetric": "Contradicts the other direction",
    "edge-signature": "Ends of other classes than the predicate has",
    "not-admitted": "Not of the graph's vocabulary",
    "vocabulary-full": "A vocabulary that admits too much",
    "low-confidence": "Low confidence",
    "invalid-rule": "A rule that cannot be applied",
    "impact": "Changes an answer that somebody relies on",
    "impact-unknown": "May change an answer that somebody relies on",
    "follows": "What follows is different",
    "follows-unknown": "What follows is not known",
    "inconsistent": "Cannot all hold together",
    "invalid-query": "A registered query that cannot be asked",
    "invalid-policy": "A policy that cannot be read",
    "unsafe-auto-approve": "Let through whatever was found",
}
"""By code; one that is not here is shown as it is."""
_IRI: Final = re.compile(r"<([A-Za-z][A-Za-z0-9+.\-]*:[^<>\s]*)>")
_INSTANT: Final = re.compile(r"-?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_MOST: Final = 6
"""Facts that are shown with one finding."""

MOST_OF_A_CAUSE: Final = 5
"""Findings of a cause that are shown with the certificate."""

MOST_CAUSES: Final = 20
"""Causes that are."""

PAGE: Final = 50
"""Findings, or causes, that their own page shows."""

_LARGEST: Final = 2**53 - 1
CAUSE: Final = Parameter(
    "cause", "the findings of which cause", {"type": "integer", "minimum": 1, "maximum": _LARGEST}, "2"
)
FROM: Final = Parameter("from", "from which one on", {"type": "integer", "minimum": 1, "maximum": _LARGEST}, "51")

_Facts: TypeAlias = "Sequence[tuple[Fact, Sequence[Evidence]]]"

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class RowShown:
    """A row that an answer gains or loses, so often: its terms, by column."""

    gained: bool
    times: int
    cells: tuple[Shown | None, ...]


@dataclass(frozen=True, slots=True)
class ImpactShown:
    """What becomes of an answer: some of the rows, and how many there are besides."""

    query: str
    owner: str
    weight: int
    columns: tuple[str, ...]
    rows: tuple[RowShown, ...]
    more: int


@dataclass(frozen=True, slots=True)
class FindingShown:
    """One finding; of which kind, where it is a contradiction."""

    message: tuple[Shown | str, ...]
    focus: Shown | None
    value: Shown | None
    when: str | None
    facts: tuple[FactShown, ...]
    impact: ImpactShown | None
    kind: str | None


@dataclass(frozen=True, slots=True)
class CauseShown:
    """Findings of one cause: some of them, and how many there are.

    Args:
        asked: what was asked for of every node alike; empty where each finding has to say what it is.
        address: the page of its findings.
    """

    title: str
    code: str
    severity: str
    path: Shown | None
    shape: Shown | None
    asked: tuple[Shown | str, ...]
    findings: tuple[FindingShown, ...]
    total: int
    address: str


@dataclass(frozen=True, slots=True)
class RestShown:
    """What is not shown with the certificate: how many findings, of how many causes, and their page."""

    findings: int
    causes: int
    address: str


@router.get("/queue/{certificate}/findings", response_class=Response)
async def look(request: Request, visit: Visitor, certificate: CertificateId) -> Response:
    """The causes of what a certificate's checks found, or the findings of one cause, a page at a time."""
    parameters = page_parameters(request, (CAUSE, FROM))
    cause, first = parameters.number(CAUSE, default=0), parameters.number(FROM, default=1) - 1
    identifier, service = certificate_named(certificate), Service.of(request)
    reader: EffectsReader = request.app.state.effects
    content = await service.read(lambda: _content(service, reader, visit, identifier, cause - 1, first))
    return page(request, "findings.html", visit, content)


def _content(
    service: Service, reader: EffectsReader, visit: Visit, certificate: UUID, cause: int, first: int
) -> Mapping[str, object]:
    record, causes, findings = reader.findings(visit.principal, certificate, cause=cause, first=first, limit=PAGE)
    listed = list(enumerate(causes.listed, 1))
    if cause >= len(listed):
        raise InvalidParameter(f"there are {len(listed)} causes", remedy="begin with the first", where=CAUSE.name)
    one = cause >= 0
    total = causes.listed[cause].total if one else len(listed)
    if first >= max(total, 1):
        raise InvalidParameter(f"there are {total:,}", remedy="begin with the first", where=FROM.name)
    shown = [listed[cause]] if one else listed[first : first + PAGE]
    nodes = nodes_in(findings).union(*(_nodes_of_cause(found) for _, found in shown))
    names = names_for(service.base.reader, visit.principal, nodes)
    return {
        "id": record.id,
        "one": one,
        "causes": [_cause(certificate, number, found, (), names) for number, found in shown],
        "findings": [_shown(finding, (), names) for finding in findings],
        "total": total,
        "withheld": causes.withheld,
        "pager": _pager(certificate, cause, first, total),
    }


def _pager(certificate: UUID, cause: int, first: int, total: int) -> PagerShown | None:
    """Which are shown, and where the others are."""
    if total <= PAGE:
        return None
    last = min(first + PAGE, total)
    return PagerShown(
        first + 1,
        last,
        _address(certificate, cause + 1, 1) if first else None,
        _address(certificate, cause + 1, max(first - PAGE, 0) + 1) if first else None,
        _address(certificate, cause + 1, last + 1) if last < total else None,
    )


def _address(certificate: UUID, cause: int, first: int) -> str:
    asked = {CAUSE.name: cause, FROM.name: first}
    kept = {name: number for name, number in asked.items() if number > (name == FROM.name)}
    return f"/queue/{certificate}/findings" + (f"?{urlencode(kept)}" if kept else "")


# --- with the certificate ---------------------------------------------------------------------------------------------


def nodes_in_findings(effects: Effects) -> set[Iri]:
    """Every node that the findings shown with a certificate name."""
    shown = effects.causes.listed[:MOST_CAUSES]
    return set().union(*map(_nodes_of_cause, shown), *(nodes_in(found.findings) for found in shown))


def causes_of(effects: Effects, names: Names) -> list[CauseShown]:
    """The first causes of what the caller may see, with their first findings."""
    certificate, facts = effects.record.id, _facts(effects)
    return [
        _cause(certificate, number, found, facts, names)
        for number, found in enumerate(effects.causes.listed[:MOST_CAUSES], 1)
    ]


def rest_of(effects: Effects) -> RestShown | None:
    """The causes that are not shown with the certificate; None where they all are."""
    rest = effects.causes.listed[MOST_CAUSES:]
    if not rest:
        return None
    return RestShown(sum(found.total for found in rest), len(rest), _address(effects.record.id, 0, MOST_CAUSES + 1))


def findings_shown(findings: Sequence[Finding], names: Names) -> list[CauseShown]:
    """The causes of findings that no certificate has, with all of these, the gravest first."""
    grouped: dict[Cause, list[Finding]] = {}
    for each in findings:
        cause = Cause(each.code, each.severity, each.path, each.shape, each.component)
        grouped.setdefault(cause, []).append(each)
    found = (Found(cause, len(those), tuple(those)) for cause, those in grouped.items())
    return [_shown_cause(each, (), names, "") for each in sorted(found, key=lambda each: GRAVITY[each.cause.severity])]


def _cause(certificate: UUID, number: int, found: Found, facts: _Facts, names: Names) -> CauseShown:
    return _shown_cause(found, facts, names, _address(certificate, number, 1))


def _shown_cause(found: Found, facts: _Facts, names: Names, address: str) -> CauseShown:
    cause = found.cause
    asked = "" if cause.shape is None or not found.findings else asked_by(found.findings[0])
    alike = found.total > 1 and bool(asked) and all(asked_by(each) == asked for each in found.findings)
    return CauseShown(
        TITLES.get(cause.code, cause.code.value),
        cause.code.value,
        cause.severity.value,
        None if cause.path is None else names.n3(cause.path),
        None if cause.shape is None else names.n3(cause.shape),
        tuple(message_in_parts(asked, names)) if alike else (),
        tuple(_shown(finding, facts, names) for finding in found.findings),
        found.total,
        address,
    )


def _nodes_of_cause(found: Found) -> set[Iri]:
    return {iri for text in (found.cause.path, found.cause.shape) if text is not None for iri in _iris(text)}


def nodes_in(findings: Iterable[Finding]) -> set[Iri]:
    """Every node that findings name."""
    texts = (
        text
        for finding in findings
        for text in (finding.message, finding.focus, finding.path, finding.value, finding.shape, *_terms(finding))
        if text is not None
    )
    return {iri for text in texts for iri in _iris(text)}


def _terms(finding: Finding) -> Iterator[str]:
    """The terms of the rows of an answer."""
    for each in () if finding.impact is None else finding.impact.sample:
        yield from (term for _, term in each.row)


def _facts(effects: Effects) -> _Facts:
    """The facts that findings may be about, those of the plan first, each with its evidence."""
    held = (*effects.superseded, *effects.against)
    return [
        *((fact, effects.brought.get(fact.id, ())) for fact in effects.recorded),
        *effects.elsewhere,
        *((fact, effects.held.get(fact.id, ())) for fact in held),
    ]


def _shown(finding: Finding, facts: _Facts, names: Names) -> FindingShown:
    about = (fact_shown(fact, evidence, names) for fact, evidence in facts if _is_about(finding, fact))
    return FindingShown(
        tuple(message_in_parts(finding.message, names)),
        None if finding.focus is None else names.n3(finding.focus),
        None if finding.value is None else names.n3(finding.value),
        _when(finding),
        tuple(islice(about, _MOST)),
        None if finding.impact is None else _impact(finding.impact, names),
        None if finding.contradiction is None else finding.contradiction.kind.value,
    )


def _impact(impact: Impact, names: Names) -> ImpactShown:
    columns = sorted({name for each in impact.sample for name, _ in each.row})
    rows = []
    for each in impact.sample:
        terms = dict(each.row)
        cells = tuple(names.n3(terms[name]) if name in terms else None for name in columns)
        rows.append(RowShown(each.gained, each.times, cells))
    more = (impact.gained or 0) + (impact.lost or 0) - sum(each.times for each in impact.sample)
    return ImpactShown(impact.query, impact.owner, impact.weight, tuple(columns), tuple(rows), more)


def _is_about(finding: Finding, fact: Fact) -> bool:
    """Whether a finding is about a fact, at a time that it is of."""
    during = Interval(
        BEGINNING if finding.start is None else parse_instant(finding.start, field="from"),
        FOREVER if finding.end is None else parse_instant(finding.end, field="to"),
    )
    statement = fact.statement
    return (
        finding.focus in (statement.subject.n3, statement.object.n3)
        and finding.path in (None, statement.predicate.n3)
        and fact.interval.intersect(during) is not None
    )


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
