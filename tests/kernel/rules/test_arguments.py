"""Arguments: what follows from what is stated, against a naive fixpoint, and which rules there may be."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.changes import Assert
from kernel.rules.amending import amend
from kernel.rules.argued import speaking_for
from kernel.rules.arguments import (
    REIFIES,
    RELATIONS,
    STANDARD,
    Composition,
    Derived,
    Relation,
    Stated,
    Step,
    around,
    claim_of,
    conclusions,
)
from kernel.rules.table import rules_of
from kernel.rules.words import RDF_TYPE
from kernel.terms import Iri, Literal, Statement, Term, TripleTerm
from kernel.time.instants import Instant
from kernel.time.intervals import ALWAYS, Interval
from kernel.vocabulary import RULES_GRAPH, M
from tests.kernel.memory_view import MemoryView
from tests.kernel.rules.test_amending import ANN, LIVES_IN, NOW, G, holding, plan_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernel.facts import FactContent

NODES = [Iri(f"urn:{name}") for name in "abcd"]
Said = tuple[Relation, Iri, Iri]
stated = st.lists(
    st.tuples(st.sampled_from(Relation), st.sampled_from(NODES), st.sampled_from(NODES)), max_size=6, unique=True
)
rules = st.lists(
    st.builds(
        Composition, st.sampled_from(Relation), st.sampled_from(Relation), st.booleans(), st.sampled_from(Relation)
    ),
    max_size=2,
)


def follows(said: list[Said], by: Sequence[Composition]) -> dict[Said, int]:
    """Everything that follows, and on which level it first does: every pair with every pair, until nothing is new."""
    found = dict.fromkeys(said, 0)
    level = 0
    while True:
        level += 1
        new = set()
        for first, one, middle in found:
            for then, start, end in found:
                for rule in by:
                    reached, left = (end, start) if rule.back else (start, end)
                    meets = (first, then, middle) == (rule.first, rule.then, reached)
                    if meets and (one != left or rule.gives is Relation.OPPOSES):
                        new.add((rule.gives, one, left))
        fresh = new - found.keys()
        if not fresh:
            return found
        found |= dict.fromkeys(fresh, level)


def height(step: Step) -> int:
    return 1 + max(map(height, step.premises)) if step.premises else 0


@given(stated, rules)
def test_exactly_what_follows_is_concluded_each_with_a_proof_of_the_fewest_levels(
    said: list[Said], more: list[Composition]
) -> None:
    by = (*STANDARD, *more)
    steps = conclusions([Stated(*each, UUID(int=number)) for number, each in enumerate(said)], by)
    expected = follows(said, by)
    assert {(step.relation, step.one, step.other): height(step) for step in steps} == expected
    assert len(steps) == len(expected)
    for step in steps:
        if isinstance(step, Derived):
            first, second = step.premises
            meets, end = (second.other, second.one) if step.rule.back else (second.one, second.other)
            assert (first.relation, second.relation, first.other) == (step.rule.first, step.rule.then, meets)
            assert (step.relation, step.one, step.other) == (step.rule.gives, first.one, end)


def test_no_more_is_concluded_than_is_asked_for() -> None:
    said = [Stated(Relation.IMPLIES, one, other, UUID(int=0)) for one in NODES for other in NODES if one != other]
    assert len(conclusions(said, STANDARD, most=5)) >= 5
    chain = [Stated(Relation.IMPLIES, Iri(f"urn:{n}"), Iri(f"urn:{n + 1}"), UUID(int=n)) for n in range(60)]
    assert len(conclusions(chain, STANDARD)) == 60 * 61 / 2
    assert 200 <= len(conclusions(chain, STANDARD, most=200)) < 260


# --- what is stated around a claim ------------------------------------------------------------------------------------


class Held:
    """Arguments of a naive view."""

    def __init__(self, view: MemoryView) -> None:
        self._view = view

    def claimed_by(self, node: Iri) -> list[TripleTerm]:
        held = (fact.statement.object for fact in self._view.believed(subject=node, predicate=REIFIES))
        return [term for term in held if isinstance(term, TripleTerm)]

    def names_of(self, claim: TripleTerm) -> list[Iri]:
        return [fact.statement.subject for fact in self._view.believed(predicate=REIFIES, object=claim)]

    def stated_of(self, node: Iri) -> Iterator[FactContent]:
        for fact in self._view.believed():
            said = fact.statement
            if said.predicate in RELATIONS and node in (said.subject, said.object):
                yield fact.content


TRIPLES = [TripleTerm(Iri("urn:s"), Iri("urn:p"), Literal(text)) for text in "xy"]


@given(st.dictionaries(st.sampled_from(NODES), st.sampled_from(TRIPLES)), stated, st.sampled_from(NODES))
def test_exactly_what_is_connected_is_gathered_and_names_of_a_triple_are_one_claim(
    named: dict[Iri, TripleTerm], said: list[Said], seed: Iri
) -> None:
    asked = [Assert(Statement(node, REIFIES, triple, G)) for node, triple in named.items()]
    asked += [Assert(Statement(one, relation.iri, other, G)) for relation, one, other in said]
    if not asked:
        return
    source = Held(holding(*asked))
    found = around(claim_of(seed, source), source, 100)
    edges = {(relation, named.get(one, one), named.get(other, other)) for relation, one, other in said}
    reached = {named.get(seed, seed)}
    while more := {end for _, *ends in edges for end in ends if reached & set(ends)} - reached:
        reached |= more
    assert {(each.relation, each.one, each.other) for each in found.stated} == {
        edge for edge in edges if edge[1] in reached
    }
    assert found.complete
    if len(found.stated) > 1:
        assert len(around(claim_of(seed, source), source, 1).stated) >= 1


def test_a_node_that_names_two_triples_stands_for_itself() -> None:
    source = Held(holding(*(Assert(Statement(NODES[0], REIFIES, triple, G)) for triple in TRIPLES)))
    assert claim_of(NODES[0], source) == NODES[0]


# --- where a rule lets arguments decide -------------------------------------------------------------------------------

HOMES = {name: Statement(ANN, LIVES_IN, Iri(f"urn:{name}"), G) for name in ("paris", "rome")}
WITNESSES = {
    node: Statement(node, Iri("urn:says"), Literal(node.value), G if number < 3 else Iri("urn:other"))
    for number, node in enumerate(NODES)
}
ENDS = WITNESSES | {Iri("urn:in-rome"): HOMES["rome"]}
arguing = st.lists(
    st.tuples(st.sampled_from(Relation), st.sampled_from(list(ENDS)), st.sampled_from(list(ENDS))),
    max_size=5,
    unique=True,
)


def triple(statement: Statement) -> TripleTerm:
    return TripleTerm(statement.subject, statement.predicate, statement.object)


@given(arguing, st.sets(st.sampled_from(NODES)), st.booleans())
def test_what_speaks_for_a_fact_are_believed_claims(said: list[Said], believed: set[Iri], planned: bool) -> None:
    asked = [Assert(Statement(node, REIFIES, triple(named), G)) for node, named in ENDS.items()]
    asked += [Assert(Statement(one, relation.iri, other, G)) for relation, one, other in said]
    asked += [Assert(WITNESSES[node]) for node in believed]
    plan = plan_of(MemoryView(), *asked, Assert(HOMES["rome"]))
    view = MemoryView()
    if not planned:
        view.apply(plan, NOW)
        plan = plan_of(view, Assert(HOMES["paris"]))
    found = follows(said, STANDARD)
    target = Iri("urn:in-rome")
    counted = {node for node in believed if WITNESSES[node].graph == G}  # and not the target: nothing speaks for itself
    against = {one for relation, one, other in found if other == target and relation is Relation.OPPOSES}
    speaking = {one for relation, one, other in found if other == target and relation is not Relation.OPPOSES}
    expected = len(speaking & counted) - len(against & counted)
    assert speaking_for(HOMES["rome"], 0, plan, view, ()) == expected


@pytest.mark.parametrize("names", [["urn:in-rome"], ["urn:in-rome", "urn:a"]])
@pytest.mark.parametrize("relation", Relation)
def test_nothing_speaks_for_or_against_itself_not_by_a_circle_either(names: list[str], relation: Relation) -> None:
    nodes = [Iri(name) for name in names]
    about = {nodes[0]: HOMES["rome"], nodes[-1]: HOMES["rome"] if len(nodes) == 1 else HOMES["paris"]}
    asked = [Assert(Statement(node, REIFIES, triple(said), G)) for node, said in about.items()]
    circle = zip(nodes, [*nodes[1:], nodes[0]], strict=True)
    asked += [Assert(Statement(one, relation.iri, other, G)) for one, other in circle]
    plan = plan_of(MemoryView(), *asked, Assert(HOMES["rome"]))
    assert speaking_for(HOMES["rome"], 0, plan, MemoryView(), ()) == 0


def preferring(view: MemoryView, asked: Assert) -> tuple[list[Interval], str]:
    """When Rome is believed in the end, and what is said."""
    rule = Iri("urn:one-home")
    words = (("predicate", LIVES_IN), ("propose", Iri(M + "PreferArgued")))
    table = rules_of(
        [
            Statement(rule, RDF_TYPE, Iri(M + "SingleValuedBySubject"), RULES_GRAPH),
            *(Statement(rule, Iri(M + word), value, RULES_GRAPH) for word, value in words),
        ]
    )
    assert not table.invalid
    plan, [finding] = amend(plan_of(view, asked), table, view)
    view.apply(plan, Instant(NOW + 1))
    return [fact.interval for fact in view.believed_of(HOMES["rome"])], finding.message


@pytest.mark.parametrize(("relation", "stands"), [(Relation.SUPPORTS, True), (Relation.OPPOSES, False)])
def test_arguments_decide_between_two_facts_where_a_rule_says_so(relation: Relation, stands: bool) -> None:
    view = holding(Assert(HOMES["rome"]), Assert(WITNESSES[NODES[0]]))
    [rome], [witness] = (view.believed_of(said) for said in (HOMES["rome"], WITNESSES[NODES[0]]))
    ends = (Iri(f"urn:uuid:{fact.id}") for fact in (witness, rome))
    view.apply(plan_of(view, Assert(Statement(next(ends), relation.iri, next(ends), G))), NOW)
    left, message = preferring(view, Assert(HOMES["paris"]))
    assert bool(left) is stands
    assert "has more that speaks for it: it is proposed that" in message
    assert ("<urn:rome> has more" in message) is stands


def test_as_much_for_the_one_as_for_the_other_is_asked_about_and_so_is_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left, message = preferring(holding(Assert(HOMES["rome"])), Assert(HOMES["paris"]))
    assert (left, "as much speaks for the one as for the other, so nothing" in message) == ([ALWAYS], True)
    monkeypatch.setattr("kernel.rules.argued.MOST", 0)
    assert "more is argued than was looked at" in preferring(holding(Assert(HOMES["rome"])), Assert(HOMES["paris"]))[1]


# --- rules ------------------------------------------------------------------------------------------------------------


def written(*words: tuple[str, Term]) -> list[Statement]:
    node = Iri("urn:rule")
    typed = Statement(node, RDF_TYPE, Iri(M + "ArgumentRule"), RULES_GRAPH)
    return [typed, *(Statement(node, Iri(M + word), value, RULES_GRAPH) for word, value in words)]


SUPPORTS, OPPOSES = Relation.SUPPORTS.iri, Relation.OPPOSES.iri


@pytest.mark.parametrize("back", [False, True])
def test_rules_are_read_from_the_table(back: bool) -> None:
    said = written(("first", OPPOSES), ("thenBack" if back else "then", OPPOSES), ("gives", SUPPORTS))
    [rule] = rules_of(said).arguments
    assert rule == Composition(Relation.OPPOSES, Relation.OPPOSES, back, Relation.SUPPORTS)


BROKEN = {
    "no second": (written(("first", OPPOSES), ("gives", SUPPORTS)), "one m:then or m:thenBack"),
    "two of them": (
        written(("first", OPPOSES), ("then", OPPOSES), ("thenBack", OPPOSES), ("gives", SUPPORTS)),
        "one m:then or m:thenBack",
    ),
    "no relation": (written(("first", OPPOSES), ("then", Iri("urn:p")), ("gives", SUPPORTS)), "m:opposes"),
    "a literal": (written(("first", OPPOSES), ("then", Literal("x")), ("gives", SUPPORTS)), "m:opposes"),
    "another word": (written(("first", OPPOSES), ("with", OPPOSES)), "m:gives"),
}


@pytest.mark.parametrize(("statements", "reason"), BROKEN.values(), ids=BROKEN)
def test_argument_rules_that_are_wrong_are_told(statements: list[Statement], reason: str) -> None:
    [invalid] = rules_of(statements).invalid
    assert reason in invalid.reason
    assert invalid.predicates == frozenset(RELATIONS)
