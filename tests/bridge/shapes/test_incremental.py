"""IncrementalEqualsFull: a plan's findings are pySHACL's on everything after it, without those before it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import patch

from hypothesis import given, note
from hypothesis import strategies as st

from kernel.terms import Iri
from kernel.vocabulary import ONTOLOGY_GRAPH
from tests.bridge.shapes.oracle import expected, told
from tests.bridge.shapes.world import World, asserts, retracts, years

if TYPE_CHECKING:
    from kernel.changes import Change

NODES = (":a", ":b", ":c")
PREDICATES = (":p", ":q")
CLASSES = (":C", ":D")
LITERALS = ("1", "2", "2.5", "'x'", "'y'@en", "'z'@en", "'2024-05-06'^^xsd:date")
STEPS = (":p", ":q", "[ sh:inversePath :p ]", "[ sh:inversePath :q ]")

# --- shapes -----------------------------------------------------------------------------------------------------------


def paths() -> st.SearchStrategy[str]:
    steps = st.sampled_from(STEPS)
    return st.one_of(
        steps,
        steps,
        st.builds("( {} {} )".format, steps, steps),
        st.builds("[ sh:alternativePath ( {} {} ) ]".format, steps, steps),
        st.builds("[ sh:{} {} ]".format, st.sampled_from(["zeroOrMorePath", "oneOrMorePath", "zeroOrOnePath"]), steps),
        st.builds("( {} [ sh:zeroOrMorePath {} ] )".format, steps, steps),
    )


VALUE_CONSTRAINTS = (
    "sh:class :C",
    "sh:class :D",
    "sh:datatype xsd:integer",
    "sh:datatype rdf:langString",
    "sh:nodeKind sh:IRI",
    "sh:nodeKind sh:BlankNodeOrLiteral",
    "sh:minInclusive 2",
    "sh:minExclusive 1",
    "sh:minLength 2",
    "sh:maxLength 6",
    "sh:pattern '^[1y]'",
    "sh:pattern 'X' ; sh:flags 'i'",
    "sh:in ( :a 1 'y'@en )",
    "sh:languageIn ( 'en' )",
    "sh:disjoint :q",
    "sh:equals :q",
    "sh:hasValue :b",
)
COUNTS = ("sh:minCount 1", "sh:maxCount 1", "sh:minCount 2", "sh:uniqueLang true")


@st.composite
def bodies(draw: st.DrawFn, later: tuple[str, ...], depth: int, *, on_property: bool) -> str:
    """Constraints of one shape; `later` are named node shapes that it may refer to."""
    parts = draw(
        st.lists(st.sampled_from(VALUE_CONSTRAINTS + (COUNTS if on_property else ())), max_size=2, unique=True)
    )
    # One value each: the second of two would make the shape ill-formed.
    single = {part.split()[0]: part for part in parts}
    kinds = ["closed", "property", "none", "none"] if depth else ["none"]
    if depth:
        kinds += ["not", "and", "or", "xone", *(["qualified"] if on_property else []), *(["node"] if later else [])]
    kind = draw(st.sampled_from(kinds))
    extra = "" if kind == "none" else draw(_nested(kind, later, depth - 1))
    return " ; ".join([*single.values(), *([extra] if extra else [])])


def _nested(kind: str, later: tuple[str, ...], depth: int) -> st.SearchStrategy[str]:
    plain = bodies(later, depth, on_property=False).map(
        lambda body: f"[ a sh:NodeShape {'; ' + body if body else ''} ]"
    )
    if kind == "closed":
        return properties(later, depth).map(
            "sh:closed true ; sh:ignoredProperties ( rdf:type ) ; sh:property {}".format
        )
    if kind == "property":
        return properties(later, depth).map("sh:property {}".format)
    if kind == "not":
        return plain.map("sh:not {}".format)
    if kind in {"and", "or", "xone"}:
        return st.builds(f"sh:{kind} ( {{}} {{}} )".format, plain, plain)
    if kind == "node":
        return st.sampled_from(later).map("sh:node {}".format)
    return st.builds("sh:qualifiedValueShape {} ; sh:qualified{}Count 1".format, plain, st.sampled_from(["Min", "Max"]))


def properties(later: tuple[str, ...], depth: int) -> st.SearchStrategy[str]:
    return st.builds(
        lambda path, body: f"[ sh:path {path} {'; ' + body if body else ''} ]",
        paths(),
        bodies(later, depth, on_property=True),
    )


SIBLINGS = """sh:property [ sh:path :p ; sh:qualifiedValueShape [ a sh:NodeShape ; sh:class :C ] ;
        sh:qualifiedMinCount 1 ; sh:qualifiedValueShapesDisjoint true ] ;
    sh:property [ sh:path :p ; sh:qualifiedValueShape [ a sh:NodeShape ; sh:nodeKind sh:IRI ] ; sh:qualifiedMaxCount 1 ;
        sh:qualifiedValueShapesDisjoint true ]"""

TARGETS = (
    "sh:targetClass :C",
    "sh:targetClass :D",
    "sh:targetNode :a",
    "sh:targetNode :b, 1",
    "sh:targetSubjectsOf :p",
    "sh:targetObjectsOf :q",
)


@st.composite
def shapes(draw: st.DrawFn) -> str:
    """One to three named node shapes; those before may refer to those after."""
    names = draw(st.sampled_from([(":S",), (":S", ":T"), (":S", ":T", ":U")]))
    text = []
    for number, name in enumerate(names):
        later = names[number + 1 :]
        body = draw(bodies(later, 2, on_property=False))
        nested = draw(st.lists(properties(later, 1), max_size=2))
        parts = ["a sh:NodeShape", *([body] if body else []), *(f"sh:property {each}" for each in nested)]
        parts += draw(st.lists(st.sampled_from(["sh:property :PS", SIBLINGS]), max_size=1))
        parts += draw(st.lists(st.sampled_from(TARGETS), min_size=number == 0, max_size=2, unique=True))
        text.append(f"{name} {' ; '.join(parts)} .")
    # A property shape that several may share, and that may have targets of its own.
    body = draw(bodies((), 1, on_property=True))
    own = draw(st.lists(st.sampled_from(TARGETS), max_size=1))
    parts = ["a sh:PropertyShape", f"sh:path {draw(paths())}", *([body] if body else []), *own]
    text.append(f":PS {' ; '.join(parts)} .")
    return "\n".join(text)


# --- data -------------------------------------------------------------------------------------------------------------


def triples() -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(
            "{} {} {} .".format,
            st.sampled_from(NODES),
            st.sampled_from(PREDICATES),
            st.sampled_from(NODES + LITERALS),
        ),
        st.builds("{} a {} .".format, st.sampled_from(NODES), st.sampled_from(CLASSES)),
    )


def validities() -> st.SearchStrategy[tuple[int | None, int | None]]:
    return st.sampled_from([(None, None), (None, None), (2000, None), (2010, None), (None, 2010), (2000, 2010)])


Assertion = tuple[str, tuple[int | None, int | None]]


def assertions() -> st.SearchStrategy[Assertion]:
    return st.tuples(triples(), validities())


ONTOLOGY = ":D rdfs:subClassOf :C ."


def made(assertion: Assertion) -> list[Change]:
    text, validity = assertion
    return asserts(text, years(*validity))


def retracted(world: World, number: int, validity: tuple[int | None, int | None]) -> list[Change]:
    """What takes back one of the facts held, for some time."""
    held = [fact for fact in world.view.believed() if fact.statement.graph.value == "urn:g"]
    if not held:
        return []
    statement = held[number % len(held)].statement
    text = f"{statement.subject.n3} {statement.predicate.n3} {statement.object.n3} ."
    overlaps = any(fact.interval.overlaps(years(*validity).interval) for fact in world.view.believed_of(statement))
    return retracts(text, years(*validity)) if overlaps else []


@given(
    shapes(),
    st.booleans(),
    st.lists(assertions(), max_size=7),
    st.lists(assertions(), max_size=3),
    st.lists(st.tuples(st.integers(0, 9), validities()), max_size=1),
    st.booleans(),
)
def test_findings_are_what_full_validation_says_anew(
    turtle: str,
    subclass: bool,
    held: list[Assertion],
    asked: list[Assertion],
    gone: list[tuple[int, tuple[int | None, int | None]]],
    turned: bool,
) -> None:
    note(turtle)
    world = World(turtle, ontology=ONTOLOGY if subclass else "")
    for assertion in held:
        world.hold(*made(assertion))
    changes = [change for each in gone for change in retracted(world, *each)]
    changes += [change for assertion in asked for change in made(assertion)]
    if turned:
        changes += (retracts if subclass else asserts)(ONTOLOGY, graph=ONTOLOGY_GRAPH)
    plan = world.plan(*changes)
    wanted = expected(world, plan)
    findings = world.checker.findings(plan, world.view)
    assert told(findings, wanted) == wanted
    assert list(world.checker.findings(plan, world.view)) == list(findings)


@given(
    shapes(),
    st.lists(assertions(), max_size=7),
    st.lists(st.tuples(assertions(), st.sampled_from(["urn:g", "urn:h"])), min_size=2, max_size=5),
    st.lists(st.tuples(st.integers(0, 9), validities()), max_size=1),
    st.booleans(),
)
def test_the_same_is_found_however_many_changes_are_taken_together(
    turtle: str,
    held: list[Assertion],
    asked: list[tuple[Assertion, str]],
    gone: list[tuple[int, tuple[int | None, int | None]]],
    turned: bool,
) -> None:
    note(turtle)
    world = World(turtle)
    for assertion in held:
        world.hold(*made(assertion))
    changes = [change for each in gone for change in retracted(world, *each)]
    changes += [change for (text, validity), graph in asked for change in asserts(text, years(*validity), Iri(graph))]
    changes += asserts(ONTOLOGY, graph=ONTOLOGY_GRAPH) if turned else []
    plan = world.plan(*changes)
    together = world.checker.findings(plan, world.view)
    with patch("bridge.shapes.checker._CHUNK", 1):
        apart = world.checker.findings(plan, world.view)
    assert [replace(each, graphs=("urn:g",)) for each in apart] == [
        replace(each, graphs=("urn:g",)) for each in together
    ]
    for one, other in zip(apart, together, strict=True):
        assert set(one.graphs) <= set(other.graphs)


@given(shapes(), st.lists(assertions(), max_size=5), st.lists(assertions(), min_size=1, max_size=5))
def test_a_load_session_is_judged_as_the_plan_would_be(
    turtle: str, held: list[Assertion], asked: list[Assertion]
) -> None:
    note(turtle)
    world = World(turtle)
    for assertion in held:
        world.hold(*made(assertion))
    changes = [change for assertion in asked for change in made(assertion)]
    findings = world.judge(*changes)
    assert world.load(changes) == findings
