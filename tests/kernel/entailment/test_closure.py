from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.entailment.closure import Closure, TooMuchFollowsError
from kernel.entailment.index import Index, Triple
from kernel.entailment.joins import Matcher, Step, Ways
from kernel.entailment.table import AUXILIARY, OWL_RL, TYPE, Of, Regime
from kernel.terms import XSD
from tests.kernel.entailment.ontologies import (
    FIRST,
    NIL,
    REST,
    bases,
    by_owlrl,
    is_told,
    owl,
    rdfs,
)

SUBCLASS, SAME = rdfs("subClassOf"), owl("sameAs")


def closed(triples: Iterable[Triple], regime: Regime = Regime.OWL_RL) -> Closure:
    closure = Closure(regime)
    closure.change(add=triples)
    return closure


def follows(*triples: Triple, regime: Regime = Regime.OWL_RL) -> set[Triple]:
    return {each for each in closed(triples, regime).inferred if is_told(each)}


def wrong(*triples: Triple) -> set[str]:
    return {step.rule.name for step in closed(triples).inconsistencies}


def told(closure: Closure) -> tuple[set[Triple], set[frozenset[Triple]]]:
    return set(closure.inferred), {frozenset(step.premises) for step in closure.inconsistencies}


def agrees_with_owlrl(base: list[Triple]) -> None:
    closure = closed(base)
    expected, inconsistent = by_owlrl(base)
    assert {each for each in closure.inferred if is_told(each)} == expected
    assert bool(closure.inconsistencies) == inconsistent


@given(bases())
@settings(max_examples=6)
def test_what_follows_is_what_owlrl_infers(base: list[Triple]) -> None:
    agrees_with_owlrl(base)


@pytest.mark.fuzz
@given(bases())
@settings(max_examples=300)
def test_what_follows_is_what_owlrl_infers_at_length(base: list[Triple]) -> None:
    agrees_with_owlrl(base)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Triple], list[list[Triple]]]:
    """A base, and which of its statements are there after each of some steps."""
    base = draw(bases())
    return base, draw(st.lists(st.lists(st.sampled_from(base), unique=True), min_size=1, max_size=5))


def comes_and_goes(base: list[Triple], steps: list[list[Triple]]) -> None:
    closure, there = closed(base), set(base)
    for step in steps:
        before, wrong_before = told(closure)
        changed = closure.change(add=[each for each in step if each not in there], remove=there - set(step))
        there = set(step)
        now, wrong_now = told(closure)
        assert (now, wrong_now) == told(closed(there))
        assert (set(changed.added), set(changed.removed)) == (now - before, before - now)
        assert {frozenset(each.premises) for each in changed.arisen} == wrong_now - wrong_before
        assert {frozenset(each.premises) for each in changed.settled} == wrong_before - wrong_now
        assert all(is_proved(closure, each, there) for each in now)


@given(histories())
@settings(max_examples=20)
def test_however_statements_come_and_go_the_closure_is_that_of_what_is_there(
    history: tuple[list[Triple], list[list[Triple]]],
) -> None:
    comes_and_goes(*history)


@pytest.mark.fuzz
@given(histories())
@settings(max_examples=3_000)
def test_the_same_at_length(history: tuple[list[Triple], list[list[Triple]]]) -> None:
    comes_and_goes(*history)


TRANSITIVE = ("<urn:p>", TYPE, owl("TransitiveProperty"))
INVERSE = ("<urn:p>", owl("inverseOf"), "<urn:q>")


@st.composite
def webs(draw: st.DrawFn) -> tuple[list[Triple], list[list[Triple]]]:
    """Statements of transitive predicates among few nodes, where many ways lead anywhere, and steps of them."""
    nodes = st.sampled_from([f"<urn:{each}>" for each in "abcdef"])
    predicates = st.sampled_from([SUBCLASS, "<urn:p>", "<urn:q>", owl("equivalentClass")])
    edges = st.lists(st.tuples(nodes, predicates, nodes), min_size=4, max_size=12, unique=True)
    base = [TRANSITIVE, INVERSE, *draw(edges)]
    return base, draw(st.lists(st.lists(st.sampled_from(base), unique=True), min_size=1, max_size=6))


@given(webs())
@settings(max_examples=60)
def test_so_it_is_where_many_ways_lead_anywhere(history: tuple[list[Triple], list[list[Triple]]]) -> None:
    comes_and_goes(*history)


@pytest.mark.fuzz
@given(webs())
@settings(max_examples=5_000)
def test_so_it_is_where_many_ways_lead_anywhere_at_length(history: tuple[list[Triple], list[list[Triple]]]) -> None:
    comes_and_goes(*history)


@pytest.mark.parametrize("regime", Regime)
def test_a_chain_takes_steps_by_the_square_of_its_length(monkeypatch: pytest.MonkeyPatch, regime: Regime) -> None:
    steps = 0
    original = Matcher.from_premise

    def counted(self: Matcher, triple: Triple, index: Index, leaps: Index, ways: Ways) -> Iterator[Step]:
        nonlocal steps
        for each in original(self, triple, index, leaps, ways):
            steps += 1
            yield each

    monkeypatch.setattr(Matcher, "from_premise", counted)
    length = 40
    chain = [(f"<urn:{number}>", SUBCLASS, f"<urn:{number + 1}>") for number in range(length)]
    closure = closed(chain, regime)
    assert (len(closure.inferred), steps < 2 * length**2) == (length * (length - 1) // 2, True)
    closure.change(remove=[chain[length // 2]])
    left = sum(edges * (edges - 1) // 2 for edges in (length // 2, length // 2 - 1))
    assert (len(closure.inferred), steps < 4 * length**2) == (left, True)


def is_proved(closure: Closure, triple: Triple, asserted: set[Triple], above: frozenset[Triple] = frozenset()) -> bool:
    """Whether a proof ends at what is asserted, and in no ring."""
    if triple in asserted:
        return True
    step = closure.step(triple)
    return (
        step is not None
        and triple not in above
        and all(is_proved(closure, each, asserted, above | {triple}) for each in step.premises)
    )


@pytest.mark.parametrize(
    ("kind", "word", "said"),
    [
        (owl("AllDifferent"), owl("distinctMembers"), []),
        (owl("AllDisjointClasses"), owl("members"), [("<urn:x>", TYPE, "<urn:one>"), ("<urn:x>", TYPE, "<urn:other>")]),
        (owl("AllDisjointProperties"), owl("members"), [("<urn:x>", "<urn:one>", "<urn:y>")]),
    ],
)
def test_two_names_of_one_member_of_a_list_are_not_two_members(kind: str, word: str, said: list[Triple]) -> None:
    same = ("<urn:one>", SAME, "<urn:other>")
    listed = [("<urn:all>", TYPE, kind), ("<urn:all>", word, "<urn:l>"), ("<urn:l>", FIRST, "<urn:one>")]
    assert wrong(*listed, ("<urn:l>", REST, NIL), same, *said) == set()
    longer = [("<urn:l>", REST, "<urn:m>"), ("<urn:m>", FIRST, "<urn:other>"), ("<urn:m>", REST, NIL)]
    assert wrong(*listed, *longer, same, *said)


def test_what_has_another_proof_stays() -> None:
    a_c, c_e, d_e = ("<urn:a>", TYPE, "<urn:C>"), ("<urn:C>", SUBCLASS, "<urn:E>"), ("<urn:D>", SUBCLASS, "<urn:E>")
    closure = closed([a_c, c_e, d_e, ("<urn:a>", TYPE, "<urn:D>")])
    assert not closure.change(remove=[a_c]).removed
    assert ("<urn:a>", TYPE, "<urn:E>") in closure
    assert ("<urn:a>", TYPE, "<urn:E>") in closure.change(remove=[d_e]).removed


def test_a_ring_does_not_hold_itself_up() -> None:
    ring = [("<urn:C>", SUBCLASS, "<urn:D>"), ("<urn:D>", SUBCLASS, "<urn:C>")]
    closure = closed([*ring, ("<urn:a>", TYPE, "<urn:C>")])
    closure.change(remove=[("<urn:a>", TYPE, "<urn:C>")])
    assert not [each for each in closure.inferred if each[0] == "<urn:a>"]


def test_what_is_asserted_and_follows_too_is_inferred_once_it_is_retracted() -> None:
    said = ("<urn:a>", TYPE, "<urn:D>")
    closure = closed([said, ("<urn:a>", TYPE, "<urn:C>"), ("<urn:C>", SUBCLASS, "<urn:D>")])
    assert said not in set(closure.inferred)
    assert closure.change(remove=[said]).added == [said]
    assert closure.change(add=[said]).removed == [said]


def test_things_with_the_same_key_are_the_same() -> None:
    person, first, last = "<urn:P>", "<urn:first>", "<urn:last>"
    key = [
        (person, owl("hasKey"), "<urn:k0>"),
        ("<urn:k0>", FIRST, first),
        ("<urn:k0>", REST, "<urn:k1>"),
        ("<urn:k1>", FIRST, last),
        ("<urn:k1>", REST, NIL),
    ]
    people = [
        *(("<urn:a>", TYPE, person), ("<urn:a>", first, '"A"'), ("<urn:a>", last, '"B"')),
        *(("<urn:b>", TYPE, person), ("<urn:b>", first, '"A"'), ("<urn:b>", last, '"B"'), ("<urn:b>", last, '"C"')),
        *(("<urn:c>", TYPE, person), ("<urn:c>", first, '"A"'), ("<urn:c>", last, '"D"')),
        *(("<urn:d>", TYPE, person), ("<urn:d>", first, '"E"'), ("<urn:d>", last, '"B"')),
        *(("<urn:e>", first, '"A"'), ("<urn:e>", last, '"B"')),
    ]
    same = {(one, other) for one, predicate, other in follows(*key, *people) if predicate == SAME}
    assert same == {("<urn:a>", "<urn:b>"), ("<urn:b>", "<urn:a>")}


@pytest.mark.parametrize(
    ("triples", "rule"),
    [
        (
            [
                ("<urn:p>", TYPE, owl("FunctionalProperty")),
                ("<urn:a>", "<urn:p>", '"1"'),
                ("<urn:a>", "<urn:p>", '"2"'),
            ],
            "prp-fp",
        ),
        ([("<urn:a>", owl("differentFrom"), "<urn:a>")], "eq-diff1"),
        ([("<urn:a>", TYPE, owl("Nothing"))], "cls-nothing2"),
        (
            [
                ("<urn:x>", TYPE, owl("AllDifferent")),
                ("<urn:x>", owl("members"), "<urn:l>"),
                *(("<urn:l>", FIRST, "<urn:a>"), ("<urn:l>", REST, "<urn:m>")),
                *(("<urn:m>", REST, NIL), ("<urn:m>", FIRST, "<urn:a>")),
            ],
            "eq-diff2",
        ),
    ],
)
def test_what_cannot_be_is_found(triples: list[Triple], rule: str) -> None:
    assert rule in wrong(*triples)
    assert not wrong(*triples[:-1])


def test_a_literal_is_of_its_datatype() -> None:
    restriction = [("<urn:R>", owl("onProperty"), "<urn:p>"), ("<urn:a>", "<urn:p>", f'"1"^^<{XSD}integer>')]
    for datatype, expected in (("decimal", True), ("integer", True), ("string", False)):
        found = follows(*restriction, ("<urn:R>", owl("someValuesFrom"), f"<{XSD}{datatype}>"))
        assert (("<urn:a>", TYPE, "<urn:R>") in found) == expected


def test_rdfs_follows_its_own_rules_alone() -> None:
    base = [
        ("<urn:p>", rdfs("domain"), "<urn:C>"),
        ("<urn:p>", rdfs("range"), "<urn:D>"),
        ("<urn:p>", rdfs("subPropertyOf"), "<urn:q>"),
        ("<urn:q>", rdfs("subPropertyOf"), "<urn:r>"),
        ("<urn:C>", SUBCLASS, "<urn:D>"),
        ("<urn:D>", SUBCLASS, "<urn:E>"),
        ("<urn:r>", TYPE, owl("SymmetricProperty")),
        ("<urn:a>", "<urn:p>", "<urn:b>"),
    ]
    assert follows(*base, regime=Regime.RDFS) == {
        ("<urn:p>", rdfs("subPropertyOf"), "<urn:r>"),
        ("<urn:C>", SUBCLASS, "<urn:E>"),
        *(("<urn:a>", f"<urn:{each}>", "<urn:b>") for each in "qr"),
        *(("<urn:a>", TYPE, f"<urn:{each}>") for each in "CDE"),
        *(("<urn:b>", TYPE, f"<urn:{each}>") for each in "DE"),
    }
    assert ("<urn:b>", "<urn:r>", "<urn:a>") in follows(*base)


def test_where_nothing_of_the_vocabulary_is_stated_nothing_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Triple] = []
    original = Matcher.from_premise

    def counted(self: Matcher, triple: Triple, index: object) -> object:
        looked.append(triple)
        return original(self, triple, index)  # type: ignore[arg-type]

    closure = Closure(Regime.OWL_RL)
    monkeypatch.setattr(Matcher, "from_premise", counted)
    closure.change(add=[(f"<urn:{number}>", "<urn:p>", f"<urn:{number + 1}>") for number in range(1_000)])
    assert (looked, list(closure.inferred)) == ([], [])


def test_each_rule_takes_a_statement_of_the_vocabulary() -> None:
    for rule in OWL_RL:
        named = [
            predicate
            for _, predicate, value in rule.body
            if isinstance(predicate, Of)
            or (isinstance(predicate, str) and (predicate != TYPE or isinstance(value, str)))
        ]
        assert named or not rule.body, rule.name


def test_auxiliaries_are_not_shown() -> None:
    closure = closed([("<urn:C>", owl("unionOf"), "<urn:l>"), ("<urn:l>", FIRST, "<urn:D>"), ("<urn:l>", REST, NIL)])
    assert not [each for each in closure.inferred if each[1].startswith(AUXILIARY)]
    assert ("<urn:D>", SUBCLASS, "<urn:C>") in set(closure.inferred)


def test_more_than_may_follow_is_given_up() -> None:
    chain = [(f"<urn:{number}>", SUBCLASS, f"<urn:{number + 1}>") for number in range(20)]
    with pytest.raises(TooMuchFollowsError):
        Closure(Regime.OWL_RL, most=50).change(add=chain)
