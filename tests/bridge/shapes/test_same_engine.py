"""IncrementalEqualsFull by the engine itself: several spellings, several graphs, and what is held already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import example, given, note
from hypothesis import strategies as st

from bridge.shapes.data import Data
from bridge.shapes.document import ShapesDocument
from bridge.shapes.registry import Shapes
from bridge.shapes.validation import Validation
from kernel.terms import Iri, Literal
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.oracle import Key, cut, told
from tests.bridge.shapes.test_incremental import CLASSES, NODES, PREDICATES, shapes, validities
from tests.bridge.shapes.world import NOW, CountingView, World, asserts, retracts, years

if TYPE_CHECKING:
    from kernel.changes import Change
    from kernel.facts import Fact
    from kernel.writing.plan import Plan

SPELLED = ("1", "'01'^^xsd:integer", "'1'^^xsd:byte", "'02'^^xsd:int", "2.5", "2.50", "'x'", "'y'@EN", "'y'@en")
GRAPHS = ("urn:g", "urn:h")

Said = tuple[str, str, tuple[int | None, int | None]]
"""A triple, its graph, and from which year to which."""


def said() -> st.SearchStrategy[Said]:
    subjects, graphs = st.sampled_from(NODES), st.sampled_from(GRAPHS)
    triples = st.one_of(
        st.builds("{} {} {} .".format, subjects, st.sampled_from(PREDICATES), st.sampled_from(NODES + SPELLED * 2)),
        st.builds("{} a {} .".format, subjects, st.sampled_from(CLASSES)),
    )
    return st.tuples(triples, graphs, validities())


def made(each: Said) -> list[Change]:
    text, graph, validity = each
    return asserts(text, years(*validity), Iri(graph))


def unmade(world: World, number: int, validity: tuple[int | None, int | None]) -> list[Change]:
    """What takes back one of the facts held, for some time."""
    held = [fact for fact in world.view.believed() if fact.statement.graph.value in GRAPHS]
    if not held:
        return []
    fact = held[number % len(held)]
    statement = fact.statement
    text = f"{statement.subject.n3} {statement.predicate.n3} {statement.object.n3} ."
    part = years(*validity)
    facts = world.view.believed_of(statement)
    overlaps = any(each.interval.overlaps(part.interval) for each in facts)
    return retracts(text, part, statement.graph) if overlaps else []


def spellings(view: CountingView, fact: Fact) -> tuple[Literal, ...]:
    """The ways in which the literal of a fact was submitted."""
    stored = fact.statement.object
    if not isinstance(stored, Literal):
        return ()
    known = view.evidence_of([fact.id]).get(fact.id, [])
    of_it = [each for each in known if each.content.spelling.object is not None]
    found = {each.content.spelling.object for each in of_it if each.content.spelling.object is not None}
    own = any(each.certificate == fact.certificate for each in of_it)
    return tuple(found if own else {*found, stored})


def full(known: Shapes, view: CountingView, instant: int) -> set[Key]:
    """What all that holds at an instant is told of."""
    data = Data({}, instant)
    for fact in view.believed():
        statement = fact.statement
        if statement.graph != SHAPES_GRAPH and fact.holds_at(instant):
            data.add((statement.subject, statement.predicate, statement.object), spellings(view, fact))
    found: set[Key] = set()
    for each in Validation(known, data).results():
        path = each.path or ""
        simple = path.startswith("<") and path.count("<") == 1 and path.endswith(">")
        value = "" if each.value is None else each.value.n3
        found.add((each.focus.n3, path if simple else "", value, each.shape.n3, each.component.n3))
    return found


def expected(world: World, plan: Plan) -> dict[int, set[Key]]:
    """full(after) − full(before) at the start of every stretch of time."""
    after = CountingView()
    after.facts, after.evidence = list(world.view.facts), list(world.view.evidence)
    after.apply(plan, NOW)
    contents = [fact.content for view in (world.view, after) for fact in view.believed()]
    known = Shapes(ShapesDocument([each for each in contents if each.statement.graph == SHAPES_GRAPH], {}))
    return {
        part.start: full(known, after, part.start) - full(known, world.view, part.start) for part in cut(contents, [])
    }


@given(
    shapes(),
    st.lists(said(), max_size=7),
    st.lists(said(), max_size=4),
    st.lists(st.tuples(st.integers(0, 9), validities()), max_size=1),
)
@example(
    ":S a sh:NodeShape ; sh:targetNode :a ; sh:not [ sh:path :p ; sh:minLength 2 ] .",
    [(":a :p '01'^^xsd:integer .", "urn:g", (None, None))],
    [(":a :p 1 .", "urn:h", (None, None))],
    [(0, (None, None))],
)
@example(
    ":S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :p ; sh:datatype xsd:integer ] .",
    [],
    [(":a :p '01'^^xsd:int .", "urn:g", (None, None))],
    [],
)
@example(
    ":S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :p ; sh:class :C ; sh:disjoint :q ] .",
    [(":b a :C .", "urn:g", (2000, None)), (":a :q :b .", "urn:h", (None, 2010))],
    [(":a :p :b .", "urn:g", (None, None))],
    [],
)
@example(
    ":S a sh:NodeShape ; sh:targetObjectsOf :q ; sh:minLength 2 .",
    [(":b :q 1 .", "urn:h", (None, None))],
    [(":a :q '01'^^xsd:integer .", "urn:g", (None, None))],
    [],
)
@example(
    ":S a sh:NodeShape ; sh:targetObjectsOf :q ; sh:not [ sh:minLength 2 ] .",
    [(":a :q '01'^^xsd:integer .", "urn:g", (None, None)), (":b :q 1 .", "urn:h", (None, None))],
    [],
    [(1, (None, None))],
)
@example(
    ":S a sh:NodeShape ; sh:targetNode '01'^^xsd:int ; sh:datatype xsd:int ; sh:maxLength 1 ; sh:targetObjectsOf :q .",
    [],
    [(":a :q '1'^^xsd:int .", "urn:g", (None, None))],
    [],
)
def test_findings_are_what_validating_everything_says_anew(
    turtle: str, held: list[Said], asked: list[Said], gone: list[tuple[int, tuple[int | None, int | None]]]
) -> None:
    note(turtle)
    world = World(turtle)
    for each in held:
        world.hold(*made(each))
    changes = [change for each in gone for change in unmade(world, *each)]
    plan = world.plan(*changes, *(change for each in asked for change in made(each)))
    wanted = expected(world, plan)
    assert told(world.checker.findings(plan, world.view), wanted) == wanted
