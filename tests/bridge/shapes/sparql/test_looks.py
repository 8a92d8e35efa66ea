"""What a query looks at is enough: its answer there is its answer on everything, and nothing else concerns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, assume, example, given, note, settings
from hypothesis import strategies as st

from bridge.shapes.data import Data
from bridge.shapes.document import ShapesDocument
from bridge.shapes.registry import Shapes
from bridge.shapes.sparql.evaluation import Asking
from bridge.shapes.validation import Validation
from kernel.terms import Iri, Literal
from kernel.vocabulary import ONTOLOGY_GRAPH, SHAPES_GRAPH
from tests.bridge.shapes.oracle import Key, cut, held_at, told
from tests.bridge.shapes.sparql.queries import asks, selects
from tests.bridge.shapes.test_incremental import Assertion, assertions, made, retracted, validities
from tests.bridge.shapes.test_validation import held
from tests.bridge.shapes.world import World, asserts, read, retracts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bridge.shapes.results import Result
    from kernel.facts import FactContent
    from kernel.terms import Term
    from kernel.writing.plan import Plan

TARGETS: Final = "sh:targetNode :a, :b, 1 ; sh:targetClass :C ; sh:targetSubjectsOf :q"
PREFIX: Final = "PREFIX : <urn:x:> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "


def shape(query: str) -> str:
    return f':S a sh:NodeShape ; {TARGETS} ; sh:sparql [ sh:select """{PREFIX}{query}""" ] .'


def component(query: str) -> str:
    return f"""
        :K a sh:ConstraintComponent ; sh:parameter [ sh:path :z ] ; sh:validator :V .
        :V sh:ask \"\"\"{PREFIX}{query}\"\"\" .
        :S a sh:NodeShape ; {TARGETS} ; sh:property [ sh:path ( :p [ sh:zeroOrMorePath :q ] ) ; :z :b ] ;
            sh:node [ a sh:NodeShape ; :z :a ] ."""


def usable(turtle: str) -> Shapes:
    known = Shapes(ShapesDocument.of_triples(held(read(turtle)).items()))
    assume(not known.problems)
    return known


class Everything(Asking):
    """Asks of all data, whatever the query looks at."""

    def _sent(self, data: Data, focus: Term) -> str:
        return self._lines(triple for triple, _ in data.items())


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.shapes.constraints.sparql.Asking", Everything)


def answers(asking: Asking, data: Data, focus: Term) -> object:
    found = asking.answers(data, focus, [{}])
    return [sorted(map(repr, each)) if isinstance(each, list) else each for each in found]


DATA = st.lists(
    st.one_of(
        st.builds(
            "{} {} {} .".format,
            st.sampled_from([":a", ":b", ":c"]),
            st.sampled_from([":p", ":q"]),
            st.sampled_from([":a", ":b", ":c", "1", "'x'"]),
        ),
        st.builds("{} a {} .".format, st.sampled_from([":a", ":b", ":c"]), st.sampled_from([":C", ":D"])),
        st.just(":D rdfs:subClassOf :C ."),
    ),
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(selects(), DATA)
@example("SELECT $this ?y WHERE { OPTIONAL { $this :p ?x } ?x :q ?y }", [":b :q 1 ."])
@example("SELECT $this ?x WHERE { $this :p ?x { OPTIONAL { ?x :q ?y } } }", [":a :p :b .", ":c :q 1 ."])
@example("SELECT $this ?x WHERE { $this :p* ?x }", [])
def test_an_answer_on_what_is_looked_at_is_that_on_everything(query: str, data: list[str]) -> None:
    note(query)
    known = usable(shape(query))
    [constraint] = known.model.shapes[Iri("urn:x:S")].queries
    whole = Data(held(read("\n".join(data))))
    some, all_ = (kind(constraint, known.document) for kind in (Asking, Everything))
    for focus in (Iri("urn:x:a"), Iri("urn:x:b"), Literal("x")):
        assert answers(some, whole, focus) == answers(all_, whole, focus)


# --- along the incremental path ---------------------------------------------------------------------------------------


def full(shapes: Shapes, contents: Iterable[FactContent]) -> set[Key]:
    """The results of everything, each query asked of everything."""
    triples = {(each.statement.subject, each.statement.predicate, each.statement.object): () for each in contents}
    return {_key(result) for result in Validation(shapes, Data(triples)).results()}


def _key(result: Result) -> Key:
    path = result.path or ""
    simple = path.startswith("<") and path.count("<") == 1 and path.endswith(">")
    value = "" if result.value is None else result.value.n3
    return result.focus.n3, path if simple else "", value, result.shape.n3, result.component.n3


def expected(world: World, plan: Plan) -> dict[int, set[Key]]:
    """full(after) − full(before) at the start of every stretch of time."""
    facts = [fact.content for fact in world.view.believed()]
    of_shapes = [content for content in facts if content.statement.graph == SHAPES_GRAPH]
    before = [content for content in facts if content.statement.graph != SHAPES_GRAPH]
    gone = {fact.id for fact in plan.supersede}
    after = [content for content in before if content.id not in gone] + list(plan.record)
    known = Shapes(ShapesDocument(of_shapes, {}))
    found = {}
    for part in cut([*before, *after], of_shapes):
        old, new = (full(known, held_at(side, part.start)) for side in (before, after))
        found[part.start] = new - old
    return found


CHANGES = (
    st.booleans(),
    st.lists(assertions(), max_size=5),
    st.lists(assertions(), max_size=2),
    st.lists(st.tuples(st.integers(0, 9), validities()), max_size=1),
    st.booleans(),
)
ONTOLOGY = ":D rdfs:subClassOf :C ."


def judged(
    turtle: str,
    subclass: bool,
    data: list[Assertion],
    asked: list[Assertion],
    gone: list[tuple[int, tuple[int | None, int | None]]],
    turned: bool,
) -> None:
    note(turtle)
    usable(turtle)
    world = World(turtle, ontology=ONTOLOGY if subclass else "")
    for assertion in data:
        world.hold(*made(assertion))
    changes = [change for each in gone for change in retracted(world, *each)]
    changes += [change for assertion in asked for change in made(assertion)]
    if turned:
        changes += (retracts if subclass else asserts)(ONTOLOGY, graph=ONTOLOGY_GRAPH)
    plan = world.plan(*changes)
    wanted = expected(world, plan)
    findings = world.checker.findings(plan, world.view)
    assert told(findings, wanted) == wanted


SETTINGS = settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture])


@SETTINGS
@given(selects(), *CHANGES)
def test_findings_of_a_select_are_what_it_newly_says_of_everything(
    everything: None,
    query: str,
    subclass: bool,
    data: list[Assertion],
    asked: list[Assertion],
    gone: list[tuple[int, tuple[int | None, int | None]]],
    turned: bool,
) -> None:
    judged(shape(query), subclass, data, asked, gone, turned)


@SETTINGS
@given(asks(), *CHANGES)
def test_findings_of_an_ask_are_what_it_newly_says_of_everything(
    everything: None,
    query: str,
    subclass: bool,
    data: list[Assertion],
    asked: list[Assertion],
    gone: list[tuple[int, tuple[int | None, int | None]]],
    turned: bool,
) -> None:
    judged(component(query), subclass, data, asked, gone, turned)
