"""Much data at once: inserted, it is a load session, and comes to what a load of the same statements comes to."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from bridge.base import Base
from bridge.ledger.sqlite import SqliteLedger
from bridge.loading import session
from bridge.loading.options import LoadOptions
from bridge.loading.refusals import Refusals
from bridge.loading.session import Watch, stage_files
from bridge.updating import request
from bridge.updating.request import Update
from bridge.updating.terms import Terms
from certificates.items import ItemKind
from kernel.access import Principal
from kernel.writing.loading import LoadRequest
from kernel.writing.net_effect import Since
from kernel.writing.submitting import Outcome
from tests.bridge.sparql.update.updating import update
from tests.bridge.writing import PATIENCE, WRITER

XSD: Final = "http://www.w3.org/2001/XMLSchema#"
SINCE: Final = "2026-01-01"
ISSUED: Final = frozenset({"fact", "family", "evidence"})
"""What every certificate has of its own."""


@pytest.fixture
def base() -> Iterator[Base]:
    with Base.open(None) as opened:
        yield opened


def inserted(base: Base, text: str, by: Principal = WRITER) -> Outcome:
    """What the service does with an update that is large."""
    read = Update.read(text, Terms(by, Since.parse(SINCE, field="valid-from")))
    assert read.is_bulk
    return base.updates.load(read).result(PATIENCE)


def loaded(base: Base, path: Path, by: Principal = WRITER) -> Outcome:
    staged = stage_files(base.ledger, [path], LoadOptions(valid_from=SINCE), by, Watch(Refusals(), lambda *_: None))
    return base.load(LoadRequest(staged.request, by, lambda _: None)).result(PATIENCE)


def certified(base: Base, outcome: Outcome) -> tuple[object, ...]:
    """What a certificate says, apart from ids and instants."""
    assert outcome.certificate is not None
    with base.ledger.reading() as view:
        record = view.certificate(outcome.certificate)
        assert record is not None
        items = [json.loads(item.body) for item in view.items(outcome.certificate, ItemKind.PLAN)]
    bodies: list[dict[str, Any]] = [{k: v for k, v in body.items() if k not in ISSUED} for body in items]
    return record.state, record.verdict, record.graphs, record.principal, bodies


def test_a_large_insert_is_certified_as_the_load_of_the_same_is(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks: list[int] = []
    stage = SqliteLedger.stage

    def counted(self: SqliteLedger, name: str, number: int, chunk: bytes) -> None:
        chunks.append(number)
        stage(self, name, number, chunk)

    monkeypatch.setattr(SqliteLedger, "stage", counted)
    monkeypatch.setattr(request, "BULK", 1_000)
    monkeypatch.setattr(session, "CHUNK", 10)
    numbers = range(25)
    data = "".join(f"<urn:s{n}> <urn:p> 0{n} , 'x\\u00e9{n}'@EN . " for n in numbers)
    text = f"INSERT DATA {{ {data} GRAPH <urn:g> {{ <urn:s> <urn:p> true }} }} ; INSERT DATA {{ <urn:s1> <urn:q> 1 }}"
    lines = [f'<urn:s{n}> <urn:p> "0{n}"^^<{XSD}integer> .\n<urn:s{n}> <urn:p> "xé{n}"@EN .\n' for n in numbers]
    lines += [f'<urn:s> <urn:p> "true"^^<{XSD}boolean> <urn:g> .\n', f'<urn:s1> <urn:q> "1"^^<{XSD}integer> .\n']
    file = tmp_path / "same.nq"
    file.write_text("".join(lines), encoding="utf-8")
    with Base.open(None) as other:
        by_load = certified(other, loaded(other, file))
        cut = chunks[:]
        assert cut == [*range(6)]
        chunks.clear()
        by_update = certified(base, inserted(base, text))
    assert chunks == cut, "piece by piece, and never more than a piece at a time"
    assert by_update == by_load
    assert base.ledger.staged_sessions() == []


def calls(work: Any) -> int:  # noqa: ANN401 - anything that is called
    """How much is done, in whichever thread that begins within: the calls of functions, which are no matter of time."""
    made = Counter[int]()

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            made[threading.get_ident()] += 1

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return made.total()


@pytest.mark.parametrize("operation", ["INSERT", "DELETE"])
def test_twice_the_data_is_twice_the_work(operation: str) -> None:
    """Held in memory or not: what is looked at for a statement does not grow with the others of its request."""

    def done(many: int) -> None:
        data = "".join(f"<urn:s{n % 7}> <urn:p{n % 3}> {n} . " for n in range(many))
        with Base.open(None) as base:
            update(base, f"INSERT DATA {{ {data} }}")
            if operation == "DELETE":
                update(base, f"DELETE DATA {{ {data} }}")

    nothing = calls(lambda: done(1))
    few, many = calls(lambda: done(100)) - nothing, calls(lambda: done(400)) - nothing
    assert few > 1_000
    assert many < 5 * few
