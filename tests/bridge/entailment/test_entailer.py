"""What is asked of the process that has closures: as little as can be, within limits; and no more what was purged."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bridge.base import Base
from bridge.entailment import entailer
from bridge.replicas.direct import DirectWorker
from bridge.replicas.frames import Frame
from bridge.replicas.limits import Limits
from kernel.changes import Retract
from kernel.entailment.table import Regime
from kernel.errors import QueryLimit
from kernel.terms import Statement
from kernel.vocabulary import DEFAULT_GRAPH
from tests.bridge.entailment.test_entailed_queries import (
    ANN,
    BOB,
    KNOWS,
    PEOPLE,
    PERSON,
    POET,
    SUBCLASS,
    A,
    found,
    said,
)
from tests.bridge.purging import fact_of, purge
from tests.bridge.writing import SetClock, write

IS_POET = Statement(ANN, A, POET, DEFAULT_GRAPH)


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Base]:
    with Base.open(tmp_path / "data", host=SetClock()) as base:
        write(base, said(POET, SUBCLASS, PERSON), said(ANN, A, POET))
        yield base


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the process was asked to do."""
    done: list[str] = []
    entail = DirectWorker.entail

    def watched(self: DirectWorker, head: Mapping[str, Any], body: bytes, limits: Limits) -> Frame:
        done.append(head["what"])
        return entail(self, head, body, limits)

    monkeypatch.setattr(DirectWorker, "entail", watched)
    return done


def test_a_closure_is_made_once_and_moved_by_what_differs(base: Base, asked: list[str]) -> None:
    assert found(base, PEOPLE) == {"urn:ann"}
    assert found(base, f"{ANN.n3} a ?x") == {"urn:Poet", "urn:Person"}
    write(base, said(BOB, A, POET))
    assert found(base, PEOPLE) == {"urn:ann", "urn:bob"}
    write(base, Retract(IS_POET))
    assert found(base, PEOPLE) == {"urn:bob"}
    assert asked == ["make", "follow", "follow"]
    assert found(base, PEOPLE, Regime.RDFS) == {"urn:bob"}
    assert asked[3:] == ["make"]


def test_what_takes_too_long_is_told_and_not_tried_again_at_once(
    base: Base, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(entailer, "LIMITS", Limits(seconds=0.000_1))
        for _ in range(2):
            with pytest.raises(QueryLimit, match="more follows here"):
                found(base, PEOPLE)
    assert asked == ["make"]
    monkeypatch.setattr(entailer, "PAUSE", 0.0)
    base.snapshots._entailer._failed.clear()
    assert found(base, PEOPLE) == {"urn:ann"}


def test_what_follows_from_what_is_purged_is_gone_with_it(base: Base, tmp_path: Path) -> None:
    write(base, said(BOB, KNOWS, ANN))
    assert found(base, PEOPLE) == {"urn:ann"}
    purge(base, fact_of(base, IS_POET))
    assert found(base, PEOPLE) == set()
    assert found(base, PEOPLE, as_of="head:1") == set()
    base.close()
    with Base.open(tmp_path / "data", host=SetClock()) as again:
        assert found(again, PEOPLE) == set()
        assert found(again, f"?x {KNOWS.n3} {ANN.n3}") == {"urn:bob"}


def test_an_ended_process_is_replaced(base: Base) -> None:
    assert found(base, PEOPLE) == {"urn:ann"}
    worker = base.snapshots._entailer._worker
    assert worker is not None
    worker.end()
    write(base, said(BOB, A, POET))
    assert found(base, PEOPLE) == {"urn:ann", "urn:bob"}
