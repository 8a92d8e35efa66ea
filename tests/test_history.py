"""docs/history.md says what is so: its questions are asked of the demo base, and answered as it stands there.

A block marked `sparql` is asked at the moment that its first line names; the block marked `csv` that comes next is its
answer, and `…` in it stands for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from uuid import UUID

import pytest

from bridge.base import Base
from bridge.documents.changes_json import read_changes
from bridge.reading.reader import QueryRequest
from bridge.sparql.hints import hint
from bridge.upkeep import demo
from kernel.access import Principal, Role
from kernel.changes import Retract
from kernel.ports.records import CertificateState
from kernel.terms import Iri
from kernel.time.instants import parse_instant
from kernel.writing.submitting import Submission
from tests.bridge.writing import PATIENCE, SetClock, decide, write
from tests.requirements import REPOSITORY

PAGE: Final = (REPOSITORY / "docs" / "history.md").read_text(encoding="utf-8")
EDITOR: Final = Principal("editor", Role.EDITOR)
READER: Final = Principal("reader", Role.READER)

_BLOCK: Final = re.compile(r"^```(sparql|csv)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MOMENT: Final = re.compile(r"(as-of|valid-at)=(\S+)")
PREFIXES: Final = "".join(f"{line}\n" for line in PAGE.splitlines() if line.startswith("PREFIX "))


def questions() -> list[tuple[str, str]]:
    """The questions, each with its answer."""
    blocks = _BLOCK.findall(PAGE)
    assert [kind for kind, _ in blocks] == ["sparql", "csv"] * (len(blocks) // 2)
    return [(asked, answer) for (_, asked), (_, answer) in zip(blocks[::2], blocks[1::2], strict=True)]


@pytest.fixture(scope="module")
def base() -> Iterator[Base]:
    """The demo base as the page says that it is."""
    clock = SetClock(parse_instant("2026-03-02T09:00:00Z"))
    with Base.open(None, host=clock) as opened:
        demo.fill(opened, lambda done, total: None)
        clock.at = parse_instant("2026-06-03T10:00:00Z")
        doubtful, contradiction = waiting(opened)
        decide(opened, contradiction, by=EDITOR)
        clock.at = parse_instant("2026-06-04T10:00:00Z")
        assert decide(opened, doubtful, by=EDITOR).state is CertificateState.APPLIED
        clock.at = parse_instant("2026-06-05T11:00:00Z")
        body = demo.incoming()["correction"].read_bytes()
        request = read_changes(body, principal=EDITOR.id, canonicaliser=opened.canonicaliser)
        outcome = opened.submit(Submission(request, EDITOR, None, bytes(32), False)).result(PATIENCE)
        assert outcome.state is CertificateState.APPLIED
        clock.at = parse_instant("2026-06-06T12:00:00Z")
        with opened.ledger.reading() as view:
            dictators = [*view.believed(object=Iri("https://demo.example/cincinnatus"))]
        write(opened, Retract(max(dictators, key=lambda fact: fact.interval.start).id), by=EDITOR)
        clock.at = parse_instant("2026-06-08T00:00:00Z")
        yield opened


def waiting(base: Base) -> list[UUID]:
    """The certificates that wait for an editor: that of a doubtful fact, and that of a contradiction."""
    with base.ledger.reading() as view:
        found = view.certificates(state=CertificateState.PENDING, oldest_first=True)
    return [record.id for record in found]


@pytest.mark.parametrize(("asked", "answer"), questions(), ids=lambda text: text.splitlines()[1][:60])
def test_every_question_has_the_answer_that_stands_there(base: Base, asked: str, answer: str) -> None:
    moment = dict(_MOMENT.findall(asked.splitlines()[0]))
    wanted = QueryRequest(READER, PREFIXES + asked, "text/csv")
    told = base.reader.query(wanted, base.reader.moment(moment.get("as-of"), moment.get("valid-at")))
    found = told.body.decode().replace("\r\n", "\n")
    pattern = ".*".join(re.escape(part) for part in answer.split("…"))
    assert re.fullmatch(pattern, found), f"answered:\n{found}"


def test_no_question_looks_at_every_fact() -> None:
    assert len(questions()) >= 10
    for asked, _ in questions():
        assert hint(PREFIXES + asked) is None, asked
