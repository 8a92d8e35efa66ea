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
from kernel.ports.records import CertificateState
from kernel.time.instants import SECOND
from kernel.writing.net_effect import Since
from kernel.writing.submitting import Outcome
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
