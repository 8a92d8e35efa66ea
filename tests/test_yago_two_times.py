"""Real facts in forty certificates and corrections after them, read at random pairs of times.

Rules
-----
* What SPARQL answers, whichever engine that takes, is what a naive replay of the changes up to the head comes to.
* The suite takes a part of the data; `make fuzz` all of it, with 2,000 corrections and 2,000 pairs of times.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final

import pytest

from bridge.base import Base
from bridge.documents.changes_json import read_changes
from bridge.reading.reader import QueryRequest
from bridge.terms import OxigraphCanonicaliser
from kernel.ports.records import CertificateState
from kernel.writing.submitting import Submission
from tests.bridge.writing import ADMINISTRATOR, PATIENCE, SetClock
from tests.requirements import require
from tests.test_yago import CORRECTIONS, GRAPH, Beliefs, Days, Line, Statement, a_day, corrections, written_day

pytestmark = pytest.mark.shared

CERTIFICATES: Final = 40


@dataclass
class Listed(Beliefs):
    """Beliefs that keep the list of what was done to them."""

    changes: list[tuple[str, Statement, Days | int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def add(self, statement: Statement, wanted: Days) -> None:
        self.changes.append(("add", statement, wanted))
        super().add(statement, wanted)

    def remove(self, statement: Statement, cut: Days) -> None:
        self.changes.append(("remove", statement, cut))
        super().remove(statement, cut)

    def end(self, statement: Statement, at: int) -> None:
        self.changes.append(("end", statement, at))
        super().end(statement, at)


class Chronicle:
    """A base, and the changes that made each of its heads."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.beliefs = Listed()
        self.heads: list[tuple[int, int]] = []
        self.read: dict[bool, int] = {True: 0, False: 0}

    def write(self, changes: list[dict[str, object]]) -> None:
        """Makes changes that the beliefs have already, under one certificate."""
        body = json.dumps({"graph": GRAPH, "changes": changes}).encode()
        request = read_changes(body, principal=ADMINISTRATOR.id, canonicaliser=OxigraphCanonicaliser())
        outcome = self.base.submit(Submission(request, ADMINISTRATOR, None, b"", dry_run=False)).result(PATIENCE)
        assert outcome.state is CertificateState.APPLIED
        assert outcome.head is not None
        self.heads.append((outcome.head, len(self.beliefs.changes)))

    def fill(self, lines: list[Line], corrected: int) -> None:
        """Records the lines in forty certificates, and then so many corrections."""
        valid = [(line, days) for line in lines if not isinstance(days := line.days(), str)]
        each = -(-len(valid) // CERTIFICATES)
        for first in range(0, len(valid), each):
            part = valid[first : first + each]
            for line, days in part:
                self.beliefs.add(line.statement, days)
            self.write([json.loads(line.change()) for line, _ in part])
        random = Random(2_000)
        while corrected > 0:
            changes = [*islice(corrections(self.beliefs, random), min(corrected, CORRECTIONS))]
            corrected -= len(changes)
            self.write(changes)

    def require_agreement(self, reads: int) -> None:
        """Reads at random pairs of times, head by head, each of a statement's node or of everything."""
        random = Random(4_711)
        then, done = Beliefs(), 0
        for head, upto in sorted(random.choices(self.heads, k=reads)):
            for name, statement, at in self.beliefs.changes[done:upto]:
                getattr(then, name)(statement, at)
            done = max(done, upto)
            moment = a_day(then, random)
            true = then.at(moment)
            subject = None if random.random() < 0.05 else random.choice(sorted(then.held))[0]
            expected = {each for each in true if subject in (None, each[0])}
            assert self.answered(subject, head, moment) == expected

    def answered(self, subject: str | None, head: int, moment: int) -> set[Statement]:
        values = "" if subject is None else f"VALUES ?s {{ <{subject}> }}"
        text = f"SELECT * {{ GRAPH <{GRAPH}> {{ {values} ?s ?p ?o }} }}"
        reader = self.base.reader
        asked = QueryRequest(ADMINISTRATOR, text, "application/sparql-results+json")
        at = reader.moment(f"head:{head}", written_day(moment))
        self.read[reader.question(asked, at).sliced is not None] += 1
        rows = json.loads(reader.query(asked, at).body)["results"]["bindings"]
        found = [(row["s"]["value"], row["p"]["value"], row["o"]["value"]) for row in rows]
        assert len(set(found)) == len(found)
        return set(found)


def lines(most: int | None) -> list[Line]:
    """Lines of the data, drawn from all of it."""
    folder = require("shared") / "data" / "yago-temporal"
    texts = [
        text
        for name in ("train", "valid", "test")
        for text in (folder / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    ]
    return [Line.of(text) for text in (texts if most is None else Random(40).sample(texts, most))]


def agree(folder: Path, most: int | None, corrected: int, reads: int) -> None:
    with Base.open(folder, host=SetClock()) as base:
        chronicle = Chronicle(base)
        chronicle.fill(lines(most), corrected)
        assert len(chronicle.heads) >= CERTIFICATES
        chronicle.require_agreement(reads)
        assert all(chronicle.read.values()), "each engine had its part"


def test_two_hundred_reads_at_random_pairs_of_times_equal_a_replay_of_the_changes(tmp_path: Path) -> None:
    agree(tmp_path / "data", 1_200, 120, 200)


@pytest.mark.fuzz
def test_two_thousand_reads_at_random_pairs_of_times_equal_a_replay_of_the_changes(tmp_path: Path) -> None:
    agree(tmp_path / "data", None, 2_000, 2_000)
