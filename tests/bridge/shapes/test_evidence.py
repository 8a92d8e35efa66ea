"""sh:reifierShape and sh:reificationRequired: shapes of the evidence for what is said."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from bridge.base import Base
from bridge.checking.files import Reading
from bridge.loading.refusals import Refusals
from bridge.shapes.validation import Validation
from certificates.certificate import Verdict
from certificates.findings import FindingCode
from certificates.ids import uuid7
from kernel.changes import Assert, Change, Request
from kernel.terms import RDF, XSD, Iri, Literal, Statement, TripleTerm
from kernel.time.instants import BEGINNING, FOREVER, Instant
from kernel.time.intervals import Interval, elementary
from kernel.vocabulary import SHAPES_GRAPH
from kernel.writing.planner import Planner
from kernel.writing.submitting import Submission
from tests.bridge.shapes.oracle import holds
from tests.bridge.shapes.world import ADMIN, NOW, PREFIXES, G, World, asserts, retracts, years

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from certificates.findings import Finding
    from kernel.facts import EvidenceContent, FactContent, Validity
    from kernel.writing.plan import Plan
    from kernel.writing.submitting import Outcome

DOCUMENT: Final = Iri("urn:x:document")
OTHER: Final = Iri("urn:other")

SUPPORTED: Final = ":S a sh:NodeShape ; sh:targetSubjectsOf :p ; sh:property :P . :P sh:path :p ; {} . "
REQUIRED: Final = "sh:reificationRequired true"
CITED: Final = "sh:reifierShape :Cited"
SURE: Final = "sh:reifierShape :Sure"
OF_EVIDENCE: Final = """
    :Cited a sh:NodeShape ; sh:property [ sh:path <http://www.w3.org/ns/prov#wasDerivedFrom> ; sh:minCount 1 ] .
    :Sure a sh:NodeShape ; sh:property [ sh:path m:confidence ; sh:minCount 1 ; sh:minInclusive 0.5 ] ."""


def shapes_with(*clauses: str) -> str:
    return SUPPORTED.format(" ; ".join(clauses)) + OF_EVIDENCE


def said(turtle: str, confidence: str | None = None, validity: Validity | None = None, graph: Iri = G) -> list[Change]:
    """Assertions, each with a confidence."""
    changes = asserts(turtle, years() if validity is None else validity, graph)
    sure = None if confidence is None else Decimal(confidence)
    return [replace(change, confidence=sure) for change in changes if isinstance(change, Assert)]


def planned(world: World, changes: Iterable[Change], episode: Iri | None = None) -> Plan:
    return Planner(uuid7(), NOW, world.view, ADMIN).plan(Request(tuple(changes), None, episode, ADMIN.id))


def judged(world: World, changes: Iterable[Change], episode: Iri | None = None) -> list[Finding]:
    return list(world.checker.findings(planned(world, changes, episode), world.view))


def held(world: World, changes: Iterable[Change], episode: Iri | None = None) -> None:
    world.view.apply(planned(world, changes, episode), NOW)


# --- what is asked for ------------------------------------------------------------------------------------------------


def test_a_value_needs_evidence() -> None:
    world = World(shapes_with(REQUIRED))
    [finding] = judged(world, said(":a :p 5 ."))
    assert finding.code is FindingCode.SHAPE_VIOLATION
    assert (finding.focus, finding.path, finding.shape) == ("<urn:x:a>", "<urn:x:p>", "<urn:x:P>")
    assert finding.value == '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert finding.component == "<http://www.w3.org/ns/shacl#ReifierShapeConstraintComponent>"
    assert finding.message == (
        'the value "5"^^<http://www.w3.org/2001/XMLSchema#integer> of <urn:x:p> of <urn:x:a> needs evidence'
    ).replace("<http://www.w3.org/2001/XMLSchema#integer>", "xsd:integer")
    assert judged(world, said(":a :p 5 ."), DOCUMENT) == []
    assert judged(world, said(":a :p 5 .", "0.9")) == []
    assert judged(world, said(":a :q 5 .")) == []


def test_evidence_must_be_of_a_shape() -> None:
    world = World(shapes_with(CITED))
    assert judged(world, said(":a :p 5 .")) == []
    assert judged(world, said(":a :p 5 ."), DOCUMENT) == []
    [finding] = judged(world, said(":a :p 5 .", "0.9"))
    assert finding.message.endswith("may only have evidence that conforms to <urn:x:Cited>")


def test_a_shape_demands_an_episode_and_a_confidence() -> None:
    world = World(shapes_with(REQUIRED, CITED, SURE))
    assert judged(world, said(":a :p 5 .", "0.5"), DOCUMENT) == []
    for confidence, episode in ((None, None), ("0.9", None), (None, DOCUMENT), ("0.4", DOCUMENT)):
        [finding] = judged(world, said(":a :p 5 .", confidence), episode)
        assert "needs evidence, all of which conforms to <urn:x:Cited>, <urn:x:Sure>" in finding.message


def test_what_evidence_without_a_name_asks_for_is_told_as_turtle_has_it() -> None:
    shape = "sh:reifierShape [ sh:property [ sh:path m:confidence ; sh:minCount 1 ; sh:minInclusive 0.50 ] ]"
    [finding] = judged(World(shapes_with(REQUIRED, shape)), said(":a :p 5 ."))
    assert finding.message.endswith(
        'needs evidence, all of which conforms to [sh:property [sh:minCount "1"^^xsd:integer ; '
        'sh:minInclusive "0.50"^^xsd:decimal ; sh:path <https://w3id.org/muniment#confidence>]]'
    )


@pytest.mark.parametrize(
    ("constraint", "conforms"),
    [
        ("sh:path m:confidence ; sh:hasValue 0.5", True),
        ("sh:path m:confidence ; sh:datatype xsd:decimal ; sh:pattern '^0[.]50$'", True),
        ("sh:path m:confidence ; sh:minExclusive 0.5", False),
        ("sh:path <http://www.w3.org/ns/prov#wasDerivedFrom> ; sh:in ( :document )", True),
        ("sh:path <http://www.w3.org/ns/prov#wasDerivedFrom> ; sh:pattern '^https:'", False),
        ("sh:path m:recordedAt ; sh:datatype xsd:dateTime ; sh:minCount 1 ; sh:maxCount 1", True),
        ("sh:path m:certificate ; sh:nodeKind sh:IRI ; sh:pattern '^urn:uuid:' ; sh:minCount 1", True),
        ("sh:path m:supports ; sh:nodeKind sh:IRI ; sh:minCount 1", True),
        ("sh:path m:spelling ; sh:hasValue '05'", True),
        ("sh:path rdf:reifies ; sh:maxCount 1 ; sh:minCount 1", True),
        ("sh:path ( <http://www.w3.org/ns/prov#wasDerivedFrom> rdf:type ) ; sh:minCount 1", False),
    ],
)
def test_what_evidence_says(constraint: str, conforms: bool) -> None:
    world = World(SUPPORTED.format(f"sh:reifierShape [ sh:property [ {constraint} ] ]"), ":document a :Document .")
    assert (judged(world, said(":a :p '05'^^xsd:integer .", "0.50"), DOCUMENT) == []) is conforms


# --- evidence that comes, stays and goes ------------------------------------------------------------------------------


def test_an_old_lack_of_evidence_blocks_nothing_and_can_be_mended() -> None:
    world = World(shapes_with(REQUIRED), ":a :p 5 .")
    assert judged(world, said(":a :other 5 .")) == []
    assert judged(world, said(":a :p 6 .", "0.9")) == []
    assert judged(world, said(":a :p 5 .")) == []
    held(world, said(":a :p 5 ."), DOCUMENT)
    assert judged(world, retracts(":a :p 5 .", years(2030))) == []


def test_evidence_that_comes_to_what_is_held_is_judged() -> None:
    world = World(shapes_with(CITED))
    held(world, said(":a :p 5 .", validity=years(2020)), DOCUMENT)
    assert judged(world, said(":a :p 5 .", validity=years(2020)), DOCUMENT) == []
    [finding] = judged(world, said(":a :p 5 .", validity=years(2020)))
    assert (finding.value or "").startswith('"5"')
    assert (finding.start, finding.end) == ("2020-01-01T00:00:00Z", None)


def test_what_is_left_of_a_fact_keeps_its_evidence_unless_that_says_nothing() -> None:
    world = World(shapes_with(REQUIRED))
    held(world, said(":a :p 5 .", "0.9"))
    assert judged(world, retracts(":a :p 5 .", years(2030))) == []
    held(world, said(":b :p 5 ."))
    held(world, said(":b :p 5 ."))  # a repeat: evidence without episode or confidence
    [finding] = judged(world, retracts(":b :p 5 .", years(2030)))
    assert (finding.focus, finding.start, finding.end) == ("<urn:x:b>", None, "2030-01-01T00:00:00Z")


def test_evidence_counts_as_long_as_its_fact_holds() -> None:
    world = World(shapes_with(REQUIRED))
    held(world, said(":a :p 5 .", "0.9", years(2010, 2020)))
    findings = judged(world, said(":a :p 5 .", validity=years(2000, 2030)))
    assert [(finding.start, finding.end) for finding in findings] == [
        ("2000-01-01T00:00:00Z", "2010-01-01T00:00:00Z"),
        ("2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z"),
    ]


def test_evidence_in_any_graph_supports_the_statement() -> None:
    """Shapes look at all data graphs together."""
    world = World(shapes_with(REQUIRED))
    held(world, said(":a :p 5 .", "0.9", graph=OTHER))
    assert judged(world, said(":a :p 5 .")) == []
    held(world, said(":a :p 5 ."))
    [finding] = judged(world, retracts(":a :p 5 .", graph=OTHER))
    assert finding.graphs == (G.value, OTHER.value)


def test_what_data_says_by_reification_is_no_evidence() -> None:
    world = World(shapes_with(REQUIRED))
    quoted = TripleTerm(Iri("urn:x:a"), Iri("urn:x:p"), Literal("5", XSD + "integer"))
    claimed = Assert(Statement(Iri("urn:x:r"), Iri(RDF + "reifies"), quoted, G))
    assert len(judged(world, [claimed, *said(":a :p 5 .")])) == 1


def test_a_shape_within_asks_for_evidence() -> None:
    shapes_text = """:S a sh:NodeShape ; sh:targetClass :A ; sh:property [ sh:path :q ; sh:node :N ] .
        :N a sh:NodeShape ; sh:property [ sh:path :p ; sh:reificationRequired true ] ."""
    world = World(shapes_text, ":a a :A ; :q :b .")
    [finding] = judged(world, said(":b :p 5 ."))
    assert (finding.focus, finding.value) == ("<urn:x:a>", "<urn:x:b>")
    assert judged(world, said(":b :p 5 .", "0.9")) == []


def test_a_shape_of_evidence_applies_from_an_instant_on() -> None:
    world = World(shapes_with(CITED) + ":Cited m:appliesFrom '2020-01-01'^^xsd:date .")
    [finding] = judged(world, said(":a :p 5 .", "0.9"))
    assert finding.start == "2020-01-01T00:00:00Z"


def test_evidence_that_no_shape_looks_at_is_not_read() -> None:
    world = World(shapes_with(REQUIRED), ":a :q 5 .")
    judged(world, said(":a :q 6 ."))
    world.view.reads = 0
    assert judged(world, said(":a :q 5 . :a :q 7 .", "0.9"), DOCUMENT) == []
    assert world.view.reads == 0


def test_shapes_that_are_written_look_at_the_evidence_that_is_there() -> None:
    world = World()
    held(world, said(":a :p 5 .", "0.9"))
    held(world, said(":b :p 5 ."))
    [finding] = world.judge(*asserts(shapes_with(REQUIRED), graph=SHAPES_GRAPH))
    assert (finding.code, finding.focus) == (FindingCode.EXISTING_VIOLATION, "<urn:x:b>")


def test_a_load_is_judged_by_the_evidence_that_it_brings() -> None:
    world = World(shapes_with(REQUIRED, SURE))
    brought = [*said(":a :p 5 .", "0.9"), *said(":b :p 5 .", "0.4"), *said(":c :p 5 .")]
    expected = list(world.checker.findings(planned(world, brought), world.view))
    assert [finding.focus for finding in expected] == ["<urn:x:b>", "<urn:x:c>"]
    assert world.load(brought) == expected


def test_a_load_that_brings_only_evidence_is_judged_for_it() -> None:
    world = World(shapes_with(REQUIRED, SURE), ":z :q 5 .")
    held(world, said(":a :p 5 .", "0.9"))
    assert world.load(said(":a :p 5 .", "0.8")) == []
    doubted = said(":a :p 5 .", "0.4")
    expected = list(world.checker.findings(planned(world, doubted), world.view))
    assert [finding.focus for finding in expected] == ["<urn:x:a>"]
    assert world.load(doubted) == expected


def test_a_load_that_spells_anew_what_is_held_is_judged_for_it() -> None:
    world = World(":S a sh:NodeShape ; sh:targetSubjectsOf :v ; sh:property [ sh:path :v ; sh:pattern '^[1-9]' ] .")
    world.hold(*said(":a :v 7 ."))
    anew = said(":a :v '007'^^xsd:integer .")
    expected = list(world.checker.findings(planned(world, anew), world.view))
    assert [finding.value for finding in expected] == ['"7"^^<http://www.w3.org/2001/XMLSchema#integer>']
    assert world.load(anew) == expected


def written(base: Base, changes: Sequence[Change], episode: Iri | None = None) -> Outcome:
    request = Request(tuple(changes), None, episode, ADMIN.id)
    return base.submit(Submission(request, ADMIN, None, b"", dry_run=False)).result()


def test_a_base_refuses_what_cites_nothing(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        assert written(base, asserts(shapes_with(REQUIRED, CITED), graph=SHAPES_GRAPH)).verdict is Verdict.CLEAR
        assert written(base, said(":a :p 5 .")).verdict is Verdict.REFUSED
        assert written(base, said(":a :p 5 ."), DOCUMENT).verdict is Verdict.CLEAR
    with Base.open(tmp_path / "base") as base:
        assert written(base, retracts(":a :p 5 .", years(2030))).verdict is Verdict.CLEAR
        assert written(base, said(":a :p 5 .", "0.9")).verdict is Verdict.REFUSED


# --- well-formed or not -----------------------------------------------------------------------------------------------

MALFORMED = {
    "a longer path": (SUPPORTED.format(REQUIRED).replace("sh:path :p", "sh:path ( :p :q )"), "a path of one predicate"),
    "a path backwards": (
        SUPPORTED.format(CITED).replace("sh:path :p", "sh:path [ sh:inversePath :p ]") + OF_EVIDENCE,
        "sh:reifierShape needs a path of one predicate",
    ),
    "a node shape": (f":S a sh:NodeShape ; sh:targetClass :A ; {REQUIRED} .", "it has no meaning on a node shape"),
    "text for true": (SUPPORTED.format("sh:reificationRequired 'yes'"), "takes true or false"),
    "text for a shape": (SUPPORTED.format("sh:reifierShape 'Cited'"), "takes a shape"),
    "a property shape": (SUPPORTED.format("sh:reifierShape [ sh:path m:confidence ]"), "takes a node shape"),
    "a shape that contains itself": (SUPPORTED.format("sh:reifierShape :S"), "the shape contains itself"),
    "a misspelt word": (
        SUPPORTED.format("sh:reifierShape [ sh:property [ sh:path m:confidance ; sh:minCount 1 ] ]"),
        "evidence has no m:confidance: check its spelling",
    ),
    "a misspelt term": (SUPPORTED.format("sh:reifierShap :S"), "there is no sh:reifierShap in SHACL"),
}


@pytest.mark.parametrize(("text", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_what_cannot_be_asked_of_evidence_is_refused(text: str, reason: str) -> None:
    findings = World().judge(*asserts(text, graph=SHAPES_GRAPH))
    assert {finding.code for finding in findings} == {FindingCode.MALFORMED_SHAPES}
    assert any(reason in finding.message for finding in findings)


# --- files, as the working group's tests have it ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("constraint", "data", "at_fault"),
    [
        (CITED, ":a :p 1 {| :source :x |} . :b :p 2 {| :other :x |} . :c :p 3 .", ["<urn:x:b>"]),
        (REQUIRED, ":a :p 1 {| :source :x |} . :b :p 2 {| :other :x |} . :c :p 3 .", ["<urn:x:c>"]),
        (f"{REQUIRED} ; {CITED}", ":a :p 1 {| :source :x |} {| :other :x |} . :c :p 3 .", ["<urn:x:a>", "<urn:x:c>"]),
    ],
)
def test_files_are_judged_by_what_reifies_their_statements(
    tmp_path: Path, constraint: str, data: str, at_fault: list[str]
) -> None:
    cited = ":Cited a sh:NodeShape ; sh:property [ sh:path :source ; sh:minCount 1 ] ."
    (tmp_path / "shapes.ttl").write_text(PREFIXES + SUPPORTED.format(constraint) + cited, encoding="utf-8")
    (tmp_path / "data.ttl").write_text(PREFIXES + data, encoding="utf-8")
    refusals = Refusals()
    reading = Reading(NOW, refusals, lambda _done, _total: None)
    material = reading.read([tmp_path / "data.ttl"], [tmp_path / "shapes.ttl"])
    assert refusals.listed == []
    results = list(Validation(material.shapes, material.data).results())
    assert [result.focus.n3 for result in results] == at_fault


# --- against a model --------------------------------------------------------------------------------------------------

NODES: Final = (":a", ":b")
VALIDITIES: Final = [(None, None), (None, None), (2000, None), (2010, None), (None, 2010), (2000, 2010)]
Pair = tuple[str, str]


@st.composite
def changes(draw: st.DrawFn) -> tuple[list[Change], Iri | None]:
    """What a plan asserts, with or without a confidence, and whether it cites something."""
    asked: list[Change] = []
    for _ in range(draw(st.integers(1, 3))):
        subject, value = draw(st.sampled_from(NODES)), draw(st.sampled_from((*NODES, "1")))
        predicate = draw(st.sampled_from([":p", ":p", ":q"]))
        confidence = draw(st.sampled_from([None, None, "0.2", "0.9"]))
        validity, graph = draw(st.sampled_from(VALIDITIES)), draw(st.sampled_from([G, G, OTHER]))
        asked += said(f"{subject} {predicate} {value} .", confidence, years(*validity), graph)
    return asked, draw(st.sampled_from([None, DOCUMENT]))


def taken_back(world: World, number: int, validity: tuple[int | None, int | None]) -> list[Change]:
    """What takes back one of the facts held, for some time."""
    facts = [fact for fact in world.view.believed() if fact.statement.graph in (G, OTHER)]
    if not facts:
        return []
    statement, within = facts[number % len(facts)].statement, years(*validity)
    if not any(fact.interval.overlaps(within.interval) for fact in world.view.believed_of(statement)):
        return []
    text = f"{statement.subject.n3} {statement.predicate.n3} {statement.object.n3} ."
    return retracts(text, within, statement.graph)


def unsupported(
    facts: Iterable[FactContent], evidence: Sequence[EvidenceContent], clauses: Sequence[str], instant: int
) -> set[Pair]:
    """Subject and value of every :p at an instant whose evidence is not what the clauses ask for."""
    found: dict[Pair, list[EvidenceContent]] = {}
    for fact in facts:
        statement = fact.statement
        if statement.predicate.value == "urn:x:p" and fact.interval.contains(Instant(instant)):
            records = found.setdefault((statement.subject.n3, statement.object.n3), [])
            records += [item for item in evidence if item.fact == fact.id]
    wrong = set()
    for pair, records in found.items():
        lacking = REQUIRED in clauses and not records
        uncited = CITED in clauses and any(item.episode is None for item in records)
        unsure = SURE in clauses and any(
            item.confidence is None or item.confidence < Decimal("0.5") for item in records
        )
        if lacking or uncited or unsure:
            wrong.add(pair)
    return wrong


def pointing(facts: Iterable[FactContent], wrong: set[Pair], instant: int) -> set[Pair]:
    """Subject and value of every :q at an instant whose value has something wrong."""
    return {
        (fact.statement.subject.n3, fact.statement.object.n3)
        for fact in facts
        if fact.statement.predicate.value == "urn:x:q"
        and fact.interval.contains(Instant(instant))
        and any(fact.statement.object.n3 == subject for subject, _ in wrong)
    }


NESTED: Final = """:S a sh:NodeShape ; sh:targetSubjectsOf :q ; sh:property [ sh:path :q ; sh:node :N ] .
    :N a sh:NodeShape ; sh:property [ sh:path :p ; {} ] . """


@given(
    st.lists(st.sampled_from([REQUIRED, CITED, SURE]), min_size=1, unique=True),
    st.booleans(),
    st.lists(changes(), max_size=4),
    changes(),
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(VALIDITIES)), max_size=2),
)
def test_findings_are_what_the_model_says_anew(
    clauses: list[str],
    nested: bool,
    before: list[tuple[list[Change], Iri | None]],
    asked: tuple[list[Change], Iri | None],
    gone: list[tuple[int, tuple[int | None, int | None]]],
) -> None:
    world = World((NESTED if nested else SUPPORTED).format(" ; ".join(clauses)) + OF_EVIDENCE)
    for each, episode in before:
        held(world, each, episode)
    first = taken_back(world, *gone[0]) if gone else []
    held(world, taken_back(world, *gone[1]) if len(gone) > 1 and not first else [])
    plan = planned(world, [*first, *asked[0]], asked[1])
    note(str(plan))
    old = [fact.content for fact in world.view.believed() if fact.statement.graph != SHAPES_GRAPH]
    superseded = {fact.id for fact in plan.supersede}
    new = [*(content for content in old if content.id not in superseded), *plan.record]
    known = [item.content for item in world.view.evidence]
    findings = world.checker.findings(plan, world.view)
    for part in elementary([Interval(BEGINNING, FOREVER), *(content.interval for content in [*old, *new])]):
        was = unsupported(old, known, clauses, part.start)
        now = unsupported(new, [*known, *plan.evidence], clauses, part.start)
        if nested:
            was, now = pointing(old, was, part.start), pointing(new, now, part.start)
        told = {(each.focus or "", each.value or "") for each in findings if holds(each, part.start)}
        assert told == now - was
