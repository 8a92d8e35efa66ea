"""A single bit is flipped anywhere in the folder of a closed base: nothing is served that was not so, or it is refused.

And whatever is refused, the audit names before anybody opens the base.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import settings

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.certificate_reading import CertificateReader, Window
from bridge.fact_reading import FactFilter
from bridge.log_reading import LogReader
from bridge.reading import QueryRequest
from certificates.errors import CertificateError
from kernel.access import Principal, Role
from kernel.errors import MunimentError
from tests.bridge.auditing.history import copy, make
from tests.bridge.writing import ADMINISTRATOR, ANN, SetClock

if TYPE_CHECKING:
    from kernel.ports import HostClock

FLIPS: Final = 200 if settings.default is settings.get_profile("fuzz") else 8
SEED: Final = 7

EVERYTHING: Final = "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } } ORDER BY STR(?g) STR(?s) STR(?p) STR(?o)"
CALLER: Final = bytes(32)
"""The hash of a token."""

MOST: Final = Window(0, 1_000)


def answers(base: Base) -> dict[str, Callable[[], object]]:
    """What a base is asked, over all that it keeps."""
    reader, certificates = base.reader, CertificateReader(base.ledger)

    def asked(as_of: str | None = None, valid_at: str | None = None) -> bytes:
        return reader.query(QueryRequest(ADMINISTRATOR, EVERYTHING, "text/csv"), reader.moment(as_of, valid_at)).body

    def recorded() -> list[object]:
        with base.ledger.reading() as view:
            return [
                [
                    certificates.detail(ADMINISTRATOR, record.id, planned=MOST, found=MOST)
                    for record in view.certificates(state=None, verdict=None, after=None, limit=500)
                ],
                [view.idempotent("writer", "first"), view.head(), view.events(0, 1_000)],
            ]

    return {
        "now": asked,
        "then": lambda: asked(valid_at="2006-01-01T00:00:00Z"),
        "as of": lambda: asked("head:3"),
        "facts": lambda: reader.facts(ADMINISTRATOR, FactFilter(subject=ANN, every_time=True), limit=1_000),
        "certificates": recorded,
        "log": LogReader(base.ledger, base.key).checkpoint,
        "callers": lambda: base.ledger.principal_of(CALLER),
    }


def told(path: Path, host: HostClock) -> dict[str, object]:
    """The answers, None for those that are refused; opening may refuse them all."""
    said: dict[str, object] = {}
    try:
        with Base.open(path, host=host) as base:
            for name, ask in answers(base).items():
                try:
                    said[name] = ask()
                except (MunimentError, CertificateError):
                    said[name] = None
    except (MunimentError, CertificateError):
        said.setdefault("opened", None)
    return said


def flip(file: Path, chosen: random.Random) -> None:
    data = bytearray(file.read_bytes())
    data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
    file.write_bytes(data)


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SetClock, dict[str, object]]:
    """A base that was closed, its clock, and what it says."""
    path, clock = tmp_path_factory.mktemp("flips") / "base", SetClock()
    make(path, clock=clock)
    with Base.open(path, host=clock) as base:
        base.ledger.add_principal(Principal("reader", Role.READER), CALLER)
    truth = told(copy(path, path.with_name("asked")), clock)
    assert None not in truth.values()
    return path, clock, truth


def test_no_byte_that_was_flipped_is_served_as_true(
    closed: tuple[Path, SetClock, dict[str, object]], tmp_path: Path
) -> None:
    path, clock, truth = closed
    chosen, refused = random.Random(SEED), 0
    files = sorted(each for each in path.rglob("*") if each.is_file() and each.stat().st_size)
    for number in range(FLIPS):
        # By turns of any file alike, and of any byte alike: else small files would never be met, or large ones seldom.
        sizes = None if number % 2 else [each.stat().st_size for each in files]
        [file] = chosen.choices(files, sizes)
        victim = copy(path, tmp_path / f"victim-{number}")
        name = file.relative_to(path)
        flip(victim / name, chosen)
        found = audit(victim)
        said = told(victim, clock)
        for question, answer in said.items():
            assert answer is None or answer == truth[question], (number, name, question)
        if None in said.values():
            refused += 1
            assert not found.sound, (number, name)
        shutil.rmtree(victim, ignore_errors=True)  # a store that failed may still be busy closing
    assert refused
