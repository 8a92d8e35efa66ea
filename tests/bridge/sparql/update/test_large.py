"""What comes to much is a load session, and is certified as what is planned in memory is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.base import Base
from bridge.loading import session
from bridge.updating import request, updates
from bridge.updating.request import Update
from bridge.updating.terms import Terms
from certificates.items import ItemKind
from kernel.access import Grant, Principal, Role
from kernel.changes import Request
from kernel.errors import Forbidden, StateMoved
from kernel.ports.records import CertificateState
from kernel.terms import Iri
from kernel.time.instants import SECOND
from kernel.vocabulary import DEFAULT_GRAPH
from kernel.writing.net_effect import Since
from kernel.writing.plan import Plan
from kernel.writing.planner import Planner
from kernel.writing.submitting import NOTHING, Outcome
from tests.bridge.impact.asking import register, registered
from tests.bridge.sparql.update.updating import Here, contents
from tests.bridge.writing import ADMINISTRATOR, PATIENCE, WRITER, SetClock, decide

P: Final = "http://example.org/"
SHAPES: Final = f"""PREFIX sh: <http://www.w3.org/ns/shacl#> PREFIX : <{P}> PREFIX m: <https://w3id.org/muniment#>
INSERT DATA {{
  GRAPH m:shapes {{
    :S sh:targetClass :C ; sh:property :Sp , :Sq .
    :Sp sh:path :p ; sh:minCount 1 ; sh:maxCount 2 .  :Sq sh:path :q ; sh:class :C .
  }}
  GRAPH m:rules {{ :one a m:SingleValuedBySubject ; m:predicate :r ; m:propose m:KeepBoth }}
}}"""
NODES: Final = ("a", "b", "c")
SUBJECT_OF: Final = {"fact", "family", "evidence"}

NARROW: Final = Principal(
    "narrow", Role.WRITER, frozenset({DEFAULT_GRAPH, Iri(f"{P}h")}), frozenset({Grant(Role.READER, Iri(f"{P}g"))})
)

triples = st.one_of(
    st.builds(lambda s: f":{s} a :C .", st.sampled_from(NODES)),
    st.builds(lambda s, n: f":{s} :p {n} .", st.sampled_from(NODES), st.sampled_from(["1", "01", "2", "3"])),
    st.builds(
        lambda s, p, o: f":{s} :{p} :{o} .", st.sampled_from(NODES), st.sampled_from("qr"), st.sampled_from(NODES)
    ),
)
patterns = st.sampled_from(["{}", "GRAPH :g {{ {} }}", "GRAPH :h {{ {} }}"])
blocks = st.lists(
    st.builds(str.format, patterns, triples),
    min_size=1,
    max_size=8,
    unique_by=lambda each: each.replace("01", "1"),  # said twice in one load, it is evidence
).map(" ".join)
operations = st.one_of(
    st.builds("INSERT DATA {{ {} }}".format, blocks),
    st.builds("DELETE DATA {{ {} }}".format, blocks),
    st.builds("DELETE DATA {{ {} }} ; INSERT DATA {{ {} }}".format, blocks, blocks),
    st.sampled_from(
        [
            "DELETE WHERE { ?s :p ?o }",
            "DELETE { ?s :q ?o } INSERT { ?o :q ?s } WHERE { ?s :q ?o }",
            "DELETE { GRAPH :g { ?s ?p ?o } } INSERT { GRAPH :h { ?s :r ?s } } WHERE { GRAPH :g { ?s ?p ?o } }",
            "INSERT { ?s a :C ; :p 1 } WHERE { { ?s ?p ?o } UNION { ?o ?p ?s } FILTER(isIRI(?s)) }",
            "CLEAR GRAPH :g",
            "MOVE SILENT :g TO :h",
            "ADD SILENT :h TO DEFAULT",
            "CLEAR ALL",
        ]
    ),
)


@contextmanager
def large(limit: int) -> Iterator[None]:
    """Within it, whatever comes to more statements than the limit is a load session of small chunks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(updates, "LARGE", limit)
        patch.setattr(request, "LARGE", -1 if limit < 1 else limit)
        patch.setattr(request, "BULK", limit)
        patch.setattr(session, "CHUNK", 3)
        yield


def done(base: Base, text: str, terms: Terms) -> Outcome:
    """What the service does with an update."""
    read = Update.read(f"PREFIX : <{P}> {text}", terms)
    if read.is_bulk:
        return base.updates.load(read).result(PATIENCE)
    solver = Here(base) if read.has_where else None
    evaluated = base.updates.evaluate(read, solver) if read.has_where or read.may_be_large else None
    return base.updates.apply(read, evaluated).result(PATIENCE)


def told(base: Base, outcome: Outcome) -> tuple[object, ...]:
    """What is said of a write, apart from ids and the order of what it did."""
    if outcome.certificate is None:
        return (outcome,)
    with base.ledger.reading() as view:
        record = view.certificate(outcome.certificate)
        assert record is not None
        items = [json.loads(item.body) for item in view.items(outcome.certificate, ItemKind.PLAN)]
    findings = sorted(str(finding.canonical()) for finding in outcome.findings)
    bodies = sorted(json.dumps({k: v for k, v in body.items() if k not in SUBJECT_OF}) for body in items)
    return record.state, record.verdict, record.graphs, findings, bodies


def history(base: Base) -> list[tuple[object, ...]]:
    """Every fact that was ever recorded, and what supports it, apart from ids."""
    with base.ledger.reading() as view:
        head = view.head().instant
        facts = [] if head is None else list(view.facts_recorded(None, head))
        evidence = view.evidence_of([fact.id for fact in facts])
        return sorted(
            (
                fact.statement.nquad,
                str(fact.content.validity),
                fact.recorded_at,
                -1 if fact.superseded is None else fact.superseded.at,
                *sorted(str((item.content.episode, item.content.spelling)) for item in evidence.get(fact.id, ())),
            )
            for fact in facts
        )


@settings(max_examples=15)
@given(st.lists(operations, min_size=1, max_size=4), st.booleans(), st.booleans())
def test_what_is_staged_comes_to_what_is_planned_in_memory(texts: list[str], governed: bool, dated: bool) -> None:
    clock = SetClock()
    terms = Terms(WRITER, Since.parse("2026-05-06T12:00:01Z", field="valid-from") if dated else None)
    with Base.open(None, host=clock) as small, Base.open(None, host=clock) as staged:
        for text in ([SHAPES] if governed else []) + texts:
            clock.move(SECOND)
            by = Terms(ADMINISTRATOR) if text == SHAPES else terms
            outcomes = []
            for base, limit in ((small, 10**9), (staged, 10**9 if text == SHAPES else 0)):
                with large(limit):
                    outcomes.append(done(base, text, by))
            assert told(staged, outcomes[1]) == told(small, outcomes[0])
            assert contents(staged) == contents(small)
            assert history(staged) == history(small)
            assert staged.ledger.staged_sessions() == [] or outcomes[1].state is CertificateState.PENDING
            for base, outcome in zip((small, staged), outcomes, strict=True):
                if outcome.state is CertificateState.PENDING:
                    decide(base, outcome.certificate)
            assert history(staged) == history(small)
        with small.ledger.reading() as view, staged.ledger.reading() as other:
            assert view.head().position == other.head().position


@pytest.fixture
def base() -> Iterator[Base]:
    with Base.open(None) as opened:
        done(opened, "INSERT DATA { :a :p 1, 2, 3, 4, 5 . GRAPH :g { :a :p 1 } }", Terms(WRITER))
        yield opened


def position(base: Base) -> int:
    with base.ledger.reading() as view:
        return view.log_size()


def test_it_is_staged_and_planned_piece_by_piece(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[int] = []
    plan = Planner.plan

    def counted(self: Planner, asked: Request) -> Plan:
        planned.append(len(asked.changes))
        return plan(self, asked)

    monkeypatch.setattr(Planner, "plan", counted)
    for text, pieces in (
        ("DELETE DATA { :a :p 1, 2, 3, 4 }", [4, 1]),  # what names no graph goes from both
        ("DELETE { ?s ?p ?o } INSERT { ?o :of ?s } WHERE { ?s ?p ?o FILTER(?o = 5) }", [1]),
        ("INSERT { ?s :q 1, 2, 3, 4 } WHERE { VALUES ?s { :b } } ; CLEAR ALL", []),
    ):
        with large(0):
            done(base, text, Terms(WRITER))
        assert planned == pieces
        planned.clear()


def test_what_is_not_there_is_not_deleted_and_leaves_no_trace(base: Base) -> None:
    before = position(base)
    with large(0):
        assert done(base, "DELETE DATA { :nobody :p 1 . GRAPH :g { :a :q 1 } }", Terms(WRITER)) == NOTHING
    assert position(base) == before
    assert base.ledger.staged_sessions() == []


def test_the_same_key_gets_the_same_certificate_and_deletes_once(base: Base) -> None:
    keyed = Terms(WRITER, key="once", body_digest=b"digest")
    with large(0):
        first = done(base, "DELETE DATA { :a :p 1 }", keyed)
        done(base, "INSERT DATA { :a :p 1 }", Terms(WRITER))
        again = done(base, "DELETE DATA { :a :p 1 }", keyed)
    assert first.certificate == again.certificate
    assert len(contents(base)) == 5


def test_where_the_base_moved_on_nothing_stays_staged(base: Base) -> None:
    read = Update.read("DELETE WHERE { ?s ?p ?o }", Terms(WRITER))
    with large(0):
        evaluated = base.updates.evaluate(read, Here(base))
        done(base, f"INSERT DATA {{ <{P}late> <{P}p> 1 }}", Terms(WRITER))
        with pytest.raises(StateMoved):
            base.updates.apply(read, evaluated).result(PATIENCE)
        assert base.ledger.staged_sessions() == []
        assert len(contents(base)) == 7


@pytest.mark.parametrize(
    "text",
    [
        "DELETE DATA { :a :p 1 . GRAPH :g { :a :p 1 } }",
        "INSERT DATA { GRAPH :h { :a :p 1 } GRAPH :g { :a :p 1 } }",
        "DELETE { GRAPH :g { ?s ?p ?o } } WHERE { GRAPH :g { ?s ?p ?o } }",
    ],
)
def test_a_graph_that_is_not_the_callers_refuses_all_of_it(base: Base, text: str) -> None:
    before = position(base)
    with large(0), pytest.raises(Forbidden):
        done(base, text, Terms(NARROW))
    assert position(base) == before
    assert base.ledger.staged_sessions() == []


def test_what_names_no_graph_goes_where_its_caller_may_write(base: Base) -> None:
    with large(0):
        done(base, "DELETE DATA { :a :p 1, 2, 3, 4, 5 }", Terms(NARROW))
    assert {str(quad.graph_name) for quad in contents(base)} == {f"<{P}g>"}


def test_what_governs_is_deleted_in_one_piece(base: Base) -> None:
    by = Terms(ADMINISTRATOR)
    done(base, SHAPES, by)
    with large(0):
        refused = done(base, "DELETE DATA { GRAPH <https://w3id.org/muniment#shapes> { :Sp :none 1 } :a :p 1 }", by)
    assert refused.state is CertificateState.APPLIED
    assert base.ledger.staged_sessions() == []


def test_what_changes_an_answer_is_told() -> None:
    found: list[list[tuple[object, ...]]] = []
    for limit in (10**9, 0):
        with Base.open(None) as base, large(10**9):
            done(base, "INSERT DATA { :a :p 1, 2, 3, 4 }", Terms(WRITER))
            register(base, registered("count", f"SELECT (COUNT(*) AS ?n) {{ ?s <{P}p> ?o }}"))
            with large(limit):
                outcome = done(base, "DELETE DATA { :a :p 1, 2, 3 }", Terms(WRITER))
            found.append([(each.code, each.severity, each.impact and each.impact.query) for each in outcome.findings])
    assert found[0] == found[1] != []
