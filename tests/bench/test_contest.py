import re
from dataclasses import replace
from pathlib import Path

import pytest

from bench.__main__ import MODES, main
from bench.contest import Contest
from bench.contestants import (
    ENTRIES,
    FLUREE,
    HTTP,
    OURS,
    OXIGRAPH_TURTLE,
    RAW,
    RDFLIB,
    RDFLIB_JSONLD,
    Effort,
    Entry,
    Measure,
    chosen,
)
from bench.environments import Unavailable, environment
from bench.results import Results

TINY = Effort(rounds=2, loads=2, single=3, many=17, look_ups=4, limit=60.0)
SIZE = 30


def entry(name: str) -> Entry:
    """The contestant, run in the environment of the tests: nothing is installed."""
    return replace(next(each for each in ENTRIES if each.name == name), requirements=())


def run(entries: list[Entry], directory: Path) -> tuple[Results, list[str]]:
    said: list[str] = []
    with Contest(entries, [SIZE], TINY, directory, said.append) as contest:
        contest.run()
    return contest.results, said


def test_everyone_is_measured_in_everything_they_take_part_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_BENCH_HOME", str(tmp_path))  # which is no setting of the service
    entries = [entry(name) for name in (OURS, HTTP, RDFLIB, RAW, RDFLIB_JSONLD, OXIGRAPH_TURTLE)]
    results, said = run(entries, tmp_path)
    assert results.failures == {}
    for each in entries:
        measured = {measure for measure in Measure if results.figures((SIZE, each.name, measure)) is not None}
        assert measured == each.measures
    assert "round 2 of 2: 30 facts, bulk load" in said


def test_naming_others_leaves_out_what_they_take_no_part_in(tmp_path: Path) -> None:
    ours, *others = chosen([OXIGRAPH_TURTLE, RDFLIB_JSONLD])
    assert ours.measures == {Measure.JSONLD, Measure.TURTLE}
    entries = [ours, *(replace(each, requirements=()) for each in others)]
    results, said = run(entries, tmp_path)
    assert results.failures == {}
    assert not any("write" in line for line in said)
    sizes = [(tmp_path / f"{name}-{SIZE}" / f"export{suffix}").stat().st_size
             for name, suffix in ((OURS, ""), (RDFLIB_JSONLD, ".jsonld"), (OXIGRAPH_TURTLE, ".ttl"))]  # fmt: skip
    assert min(sizes) > SIZE * 10


def test_who_does_not_come_up_is_out_and_the_others_go_on(tmp_path: Path) -> None:
    results, _ = run([entry(FLUREE), entry(RDFLIB)], tmp_path)
    assert results.failures == {FLUREE: "ended (1): ModuleNotFoundError: No module named 'fluree'"}
    assert results.figures((SIZE, RDFLIB, Measure.SINGLE)) is not None


def test_who_ends_on_the_way_is_out_and_what_it_did_stays(tmp_path: Path) -> None:
    results, _ = run([replace(entry(RDFLIB), measures=frozenset({Measure.SINGLE, Measure.BULK}))], tmp_path)
    assert list(results.failures) == [RDFLIB]
    assert results.failures[RDFLIB].endswith("NotImplementedError: no bulk load of 30 facts")
    assert results.figures((SIZE, RDFLIB, Measure.SINGLE)) is not None


def test_what_cannot_be_installed_is_told_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"cannot be installed: .*nowhere"):
        environment(tmp_path, "nothing", [str(tmp_path / "nowhere")])


def test_the_command_prints_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MUNIMENT_BENCH_HOME", str(tmp_path / "home"))
    main(["--quick", "--size", "20", "--only", "ours"])
    printed = capsys.readouterr().out
    assert "ours, in process" in printed
    assert "16 writers, in process: at least 2.5 times one" in printed
    assert not list((tmp_path / "home").iterdir())


def test_a_strange_contestant_or_size_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, reason in (
        (["--only", "virtuoso"], "no contestant virtuoso"),
        (["--moments", "--only", "fluree"], "there are ours, ours-http, tiramemsu, oxilite"),
        (["--validation", "--only", "fluree"], "there are ours, pyshacl, shacl, pyshacl-turbo"),
        (["--load", "--only", "fluree"], "nobody else takes part"),
        (["--load", "--moments"], "not allowed with"),
        (["--size", "0"], "at least 1"),
    ):
        with pytest.raises(SystemExit):
            main(arguments)
        assert reason in capsys.readouterr().err


def test_the_help_says_how_long_each_mode_takes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert len(re.findall(r"\((?:\d+ s|a minute|\d+ minutes)[^)]*\)", printed)) == len(MODES)
