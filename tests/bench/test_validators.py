import re
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pyoxigraph as ox
import pytest
from rich.console import Console

from bench.__main__ import main
from bench.aims import LARGE, VALIDATION_AIMS
from bench.contest import Contest
from bench.contestants import OURS, Effort, Measure
from bench.machine import Machine
from bench.measuring import Sample
from bench.report import report
from bench.results import Results
from bench.validation import workload
from bench.validation.workload import Judged
from bench.validators import PYSHACL, VALIDATORS

TINY = Effort(rounds=1, loads=1, single=4, many=0, look_ups=0, limit=60.0)
SIZE = 400


def parsed(lines: Iterator[str]) -> set[ox.Triple]:
    return {quad.triple for quad in ox.parse("".join(lines), ox.RdfFormat.N_TRIPLES)}


def test_ours_and_pyshacl_find_the_same_and_are_measured_in_everything(tmp_path: Path) -> None:
    entries = [replace(entry, requirements=()) for entry in VALIDATORS if entry.name in {OURS, PYSHACL}]
    with Contest(entries, [SIZE], TINY, tmp_path, lambda _: None) as contest:
        contest.run()
    assert contest.results.failures == {}
    for entry in entries:
        assert all(contest.results.figures((SIZE, entry.name, measure)) for measure in entry.measures)
    figures = contest.results.figures((SIZE, OURS, Measure.VALIDATION))
    assert figures is not None
    assert figures.peak is not None
    assert 10 < figures.peak < 1_000


def test_another_number_of_results_is_an_error() -> None:
    with pytest.raises(ValueError, match="8 results, where there are 9"):
        workload.require(8, SIZE)


@pytest.mark.parametrize("count", [100, 5_000, 20_000])
def test_there_are_about_as_many_triples_as_asked_for(count: int) -> None:
    assert abs(len(parsed(workload.triples(count))) - count) <= workload.A_BLOCK


def test_what_comes_is_new_and_what_ends_is_there() -> None:
    graph, hub = parsed(workload.triples(SIZE)), parsed(workload.hub(SIZE))
    for number in range(30):
        changes = {kind: parsed(iter([workload.changed(kind, number, SIZE)])) for kind in Judged}
        assert changes[Judged.ENDED] <= graph
        assert not changes[Judged.FACT] & graph
        assert not (changes[Judged.HUB] | changes[Judged.LEAF]) & hub
        assert not changes[Judged.ENDED] & parsed(workload.around(Judged.ENDED, number, SIZE))


def test_aims_are_held_against_the_sizes_that_they_are_for() -> None:
    results = Results()
    for size in (10_000, 1_000_000):
        results.add(size, OURS, Measure.VALIDATION, 0, Sample(size, size * 1e-5, None, 1.0, 500.0))
        results.add(size, OURS, Measure.FACT, 0, Sample(10, 1.0, None, 9e-5 * (1 if size == 10_000 else 1.2)))
        results.add(size, OURS, Measure.HUB, 0, Sample(10, 1.0, None, 2e-4))
        results.add(size, OURS, Measure.LEAF, 0, Sample(10, 1.0, None, 4e-4))
        results.add(size, PYSHACL, Measure.VALIDATION, 0, Sample(size, size * 1e-4, None, 1.0))
    values = [[aim.value(results, size) for aim in VALIDATION_AIMS] for size in (10_000, 1_000_000)]
    assert values[0] == [pytest.approx(90.0), None, None, None, pytest.approx(0.5), None, pytest.approx(10.0), None]
    assert values[1] == [
        pytest.approx(108.0), pytest.approx(1.2), None, pytest.approx(1.0), pytest.approx(0.5), pytest.approx(10.0),
        pytest.approx(10.0), 500.0,
    ]  # fmt: skip


def test_the_command_measures_validation_alone_by_those_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MUNIMENT_BENCH_HOME", str(tmp_path / "home"))
    main(["--quick", "--validation", "--only", "ours", "--size", "200"])
    printed = capsys.readouterr().out
    assert "validation of a whole graph" in printed
    assert "one fact judged: at most 100 µs" in printed
    assert not [title for title in ("durable write", "pySHACL, a change", "pyshacl-turbo") if title in printed]


def test_who_takes_long_holds_less_and_that_is_said(tmp_path: Path) -> None:
    entries = [
        replace(entry, requirements=(), most=200 if entry.name == PYSHACL else None, measures=frozenset({Measure.FACT}))
        for entry in VALIDATORS
        if entry.name in {OURS, PYSHACL}
    ]
    said: list[str] = []
    with Contest(entries, [SIZE], TINY, tmp_path, said.append) as contest:
        contest.run()
    assert "pySHACL, a change with what is around it: 200 facts" in said
    console = Console(file=StringIO(), width=150)
    report(console, Machine.of(tmp_path), entries, [SIZE], contest.results, VALIDATION_AIMS)
    assert isinstance(console.file, StringIO)
    printed = console.file.getvalue()
    assert re.search(r"pySHACL.*\d\*", printed)
    assert "* pySHACL, a change with what is around it: of 200 where there are more" in printed
    assert next(entry for entry in VALIDATORS if entry.name == PYSHACL).most == LARGE
