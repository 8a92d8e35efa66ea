"""A rule across graphs is no way to ask of one that may not be read: nothing that a writer sees depends on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from bridge.base import Base
from certificates.certificate import Verdict
from certificates.findings import FindingCode, Severity
from kernel.access import Principal, Role
from kernel.changes import Assert
from kernel.rules.kinds import RuleKind
from kernel.rules.signatures import OBJECT_CLASS, SIGNATURE
from kernel.rules.words import ACROSS, PREDICATE, RDF_TYPE
from kernel.terms import Iri, Literal, Statement
from kernel.vocabulary import RULES_GRAPH
from kernel.writing.submitting import Outcome
from tests.bridge.writing import ADMINISTRATOR, decide, load, write
from tests.kernel.rules.test_kinds import TRUE, P, Q, written

OPEN, SECRET = Iri("urn:open"), Iri("urn:secret")
HELD = Principal("held", Role.WRITER, frozenset({OPEN}))
FIRM, PLACE = Iri("urn:Firm"), Iri("urn:Place")

Asked = Callable[[Base, Assert], Outcome]


@pytest.fixture(scope="module")
def base() -> Iterator[Base]:
    signature = ((RDF_TYPE, SIGNATURE), (PREDICATE, Q), (OBJECT_CLASS, FIRM), (ACROSS, Literal("true", TRUE.datatype)))
    with Base.open(None) as base:
        rule = written(RuleKind.BY_SUBJECT, ("predicate", P), ("acrossGraphs", TRUE), node=Iri("urn:rule"))
        declared = (Statement(Iri("urn:signature"), word, value, RULES_GRAPH) for word, value in signature)
        assert write(base, *map(Assert, (*rule, *declared)), by=ADMINISTRATOR).verdict is Verdict.CLEAR
        held = [
            Statement(Iri("urn:known"), P, Iri("urn:one"), SECRET),
            Statement(Iri("urn:place"), RDF_TYPE, PLACE, SECRET),
        ]
        write(base, *map(Assert, held), by=ADMINISTRATOR)
        yield base


def submitted(base: Base, change: Assert) -> Outcome:
    return write(base, change, by=HELD)


def dry(base: Base, change: Assert) -> Outcome:
    return write(base, change, by=HELD, dry_run=True)


_names = count()


def loaded(base: Base, change: Assert) -> Outcome:
    return load(base, f"load {next(_names)}", [change], by=HELD)


def seen(outcome: Outcome) -> object:
    """What the writer sees."""
    mine = [each for each in outcome.findings if all(HELD.may_read(Iri(graph)) for graph in each.graphs)]
    return outcome.verdict, outcome.state, len(outcome.findings), mine


@pytest.mark.parametrize("ask", [submitted, dry, loaded])
@pytest.mark.parametrize(
    ("code", "told", "untold"),
    [
        (FindingCode.SINGLE_VALUED_BY_SUBJECT, ("urn:known", P, "urn:{}"), ("urn:unknown-{}", P, "urn:two")),
        (FindingCode.EDGE_SIGNATURE, ("urn:{}", Q, "urn:place"), ("urn:{}", Q, "urn:untyped")),
    ],
)
def test_what_a_writer_sees_is_the_same_whatever_other_graphs_hold(
    base: Base, ask: Asked, code: FindingCode, told: tuple[str, Iri, str], untold: tuple[str, Iri, str]
) -> None:
    outcomes = [
        ask(base, Assert(Statement(Iri(one.format(ask.__name__)), predicate, Iri(other.format(ask.__name__)), OPEN)))
        for one, predicate, other in (told, untold)
    ]
    assert seen(outcomes[0]) == seen(outcomes[1])
    assert outcomes[0].verdict is Verdict.REVIEW
    hidden = [[each for each in outcome.findings if SECRET.value in each.graphs] for outcome in outcomes]
    assert [(each.code, each.severity) for (each,) in hidden] == [(code, Severity.INFO)] * 2
    assert hidden[0][0].message != hidden[1][0].message == "nothing was found in all graphs of data"
    if outcomes[1].certificate is not None:
        assert decide(base, outcomes[1].certificate, by=ADMINISTRATOR).head is not None, "judged again, it is the same"


def test_whoever_reads_everything_is_told_as_ever(base: Base) -> None:
    outcome = write(
        base, Assert(Statement(Iri("urn:known"), P, Iri("urn:three"), OPEN)), by=ADMINISTRATOR, dry_run=True
    )
    assert {each.severity for each in outcome.findings} == {Severity.VIOLATION}
    outcome = write(base, Assert(Statement(Iri("urn:free"), P, Iri("urn:three"), OPEN)), by=ADMINISTRATOR, dry_run=True)
    assert (outcome.verdict, outcome.findings) == (Verdict.CLEAR, ())
