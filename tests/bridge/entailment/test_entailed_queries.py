"""What is asked with entailment is answered from what follows at the moment, for the caller, and from nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.base import Base
from bridge.reading.reader import QueryRequest
from kernel.access import Principal, Role
from kernel.changes import Assert, Retract
from kernel.entailment.table import OWL, RDFS, Regime
from kernel.facts import Validity
from kernel.terms import RDF, Iri, Statement
from kernel.vocabulary import DEFAULT_GRAPH, ONTOLOGY_GRAPH
from tests.bridge.writing import ADMINISTRATOR, HOUR, NOON, SetClock, during, settled, write

A = Iri(RDF + "type")
SUBCLASS, SYMMETRIC = Iri(RDFS + "subClassOf"), Iri(OWL + "SymmetricProperty")
KNOWS, ANN, BOB = (Iri(f"urn:{name}") for name in ("knows", "ann", "bob"))
POET, WRITER, PERSON = (Iri(f"urn:{name}") for name in ("Poet", "Writer", "Person"))
OPEN, SECRET = Iri("urn:open"), Iri("urn:secret")
READER = Principal("reader", Role.READER, frozenset({OPEN}))


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Base]:
    with Base.open(tmp_path / "data", host=SetClock(NOON)) as base:
        yield base


@pytest.fixture
def in_memory() -> Iterator[Base]:
    with Base.open(None, host=SetClock(NOON)) as base:
        yield base


def said(subject: Iri, predicate: Iri, value: Iri, graph: Iri = DEFAULT_GRAPH, valid: Validity | None = None) -> Assert:
    statement = Statement(subject, predicate, value, graph)
    return Assert(statement) if valid is None else Assert(statement, valid)


def found(
    base: Base,
    pattern: str,
    regime: Regime | None = Regime.OWL_RL,
    by: Principal = ADMINISTRATOR,
    as_of: str | None = None,
    valid_at: str | None = None,
    before: str = "",
) -> set[str]:
    request = QueryRequest(by, f"SELECT ?x {before} {{ {pattern} }}", "text/csv", entailment=regime)
    return set(base.reader.query(request, base.reader.moment(as_of, valid_at)).body.decode().splitlines()[1:])


PEOPLE = f"?x a {PERSON.n3}"


def test_what_follows_is_there_for_those_who_ask_for_it(base: Base) -> None:
    ontology = [said(POET, SUBCLASS, WRITER, ONTOLOGY_GRAPH), said(WRITER, SUBCLASS, PERSON, ONTOLOGY_GRAPH)]
    write(base, *ontology, by=ADMINISTRATOR)
    write(base, said(ANN, A, POET), said(KNOWS, A, SYMMETRIC), said(ANN, KNOWS, BOB))
    assert found(base, PEOPLE, None) == set()
    assert found(base, PEOPLE, Regime.RDFS) == found(base, PEOPLE) == {"urn:ann"}
    assert found(base, f"{BOB.n3} {KNOWS.n3} ?x", Regime.RDFS) == set()
    assert found(base, f"{BOB.n3} {KNOWS.n3} ?x") == {"urn:ann"}
    assert found(base, f"{POET.n3} {SUBCLASS.n3} ?x", Regime.RDFS) == {"urn:Writer", "urn:Person"}
    assert found(base, "GRAPH ?x { ?s ?p ?o }") == {DEFAULT_GRAPH.value, ONTOLOGY_GRAPH.value}


def test_what_follows_goes_with_each_write(base: Base) -> None:
    write(base, said(POET, SUBCLASS, WRITER), said(WRITER, SUBCLASS, PERSON))
    seen = []
    for change in (
        said(ANN, A, POET),
        said(BOB, A, WRITER),
        Retract(Statement(ANN, A, POET, DEFAULT_GRAPH)),
        said(ANN, A, POET, OPEN),
        Retract(Statement(POET, SUBCLASS, WRITER, DEFAULT_GRAPH)),
        said(POET, SUBCLASS, PERSON, SECRET),
    ):
        write(base, change)
        seen.append(found(base, PEOPLE))
    ann, bob = "urn:ann", "urn:bob"
    assert seen == [{ann}, {ann, bob}, {bob}, {ann, bob}, {bob}, {ann, bob}]


def test_it_holds_while_all_its_premises_do(in_memory: Base) -> None:
    write(
        in_memory, said(POET, SUBCLASS, PERSON, valid=during(1950, 2000)), said(ANN, A, POET, valid=during(1980, 2020))
    )
    asked = {year: found(in_memory, PEOPLE, valid_at=str(year)) for year in (1949, 1960, 1980, 1999, 2000, 2010)}
    assert asked == {year: {"urn:ann"} if year in (1980, 1999) else set() for year in asked}
    assert found(in_memory, PEOPLE, valid_at="1990") == {"urn:ann"}, "also when one goes back"


def test_it_is_as_it_was_known(base: Base) -> None:
    first = write(base, said(POET, SUBCLASS, PERSON), said(ANN, A, POET))
    write(base, Retract(Statement(POET, SUBCLASS, PERSON, DEFAULT_GRAPH)))
    assert found(base, PEOPLE) == set()
    assert found(base, PEOPLE, as_of=f"head:{first.head}") == {"urn:ann"}


def test_it_goes_when_a_premise_ends_by_itself(tmp_path: Path) -> None:
    clock = SetClock(NOON)
    with Base.open(tmp_path / "data", host=clock) as base:
        soon = during(None, NOON + HOUR)
        write(base, said(POET, SUBCLASS, PERSON), said(ANN, A, POET, valid=soon), said(BOB, A, POET))
        assert found(base, PEOPLE) == {"urn:ann", "urn:bob"}
        clock.move(2 * HOUR)
        settled(base)
        assert found(base, PEOPLE) == {"urn:bob"}


def test_nobody_is_shown_what_follows_from_what_they_may_not_read(base: Base) -> None:
    write(base, said(POET, SUBCLASS, PERSON, SECRET), said(ANN, A, POET, OPEN), said(BOB, A, PERSON, OPEN))
    assert found(base, PEOPLE) == {"urn:ann", "urn:bob"}
    assert found(base, PEOPLE, by=READER) == {"urn:bob"}
    assert found(base, PEOPLE, by=READER, before="FROM <urn:open> FROM <urn:secret>") == {"urn:bob"}
    assert found(base, PEOPLE, before="FROM <urn:open>") == {"urn:bob"}
    assert found(base, "GRAPH <https://w3id.org/muniment#inferred> { ?x ?p ?o }") == set()
    assert found(base, "?x ?p ?o", by=READER, before="FROM <https://w3id.org/muniment#inferred>") == set()
    assert found(base, "?x ?p ?o", None) == found(base, "?x ?p ?o", None, as_of=f"head:{base.reader.head().position}")


def test_history_and_what_governs_are_asked_beside_it(base: Base) -> None:
    write(base, said(POET, SUBCLASS, PERSON, ONTOLOGY_GRAPH), by=ADMINISTRATOR)
    write(base, said(ANN, A, POET))
    both = f"{PEOPLE} . GRAPH {ONTOLOGY_GRAPH.n3} {{ ?c {SUBCLASS.n3} {PERSON.n3} }}"
    assert found(base, both) == {"urn:ann"}
    history = "https://w3id.org/muniment/history/https%3A%2F%2Fw3id.org%2Fmuniment%23default"
    assert found(base, f"{PEOPLE} . GRAPH <{history}> {{ ?fact ?p ?x }}") == {"urn:ann"}
