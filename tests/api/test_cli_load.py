"""`muniment load`: what it answers, what it leaves out, how it goes on after a kill."""

import json
import os
import pty
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from api.commands.options import local_principal
from bridge.base import Base
from bridge.loading.options import LoadOptions
from bridge.loading.refusals import Refusals
from bridge.loading.session import Watch, stage_files
from kernel.terms import Iri
from kernel.vocabulary import RULES_GRAPH, SHAPES_GRAPH, M, history_graph
from tests.api.console import ENVIRONMENT, PATIENCE, SCRIPT, Ended, run, running, script

EX = "https://example.org/"
GRAPH = ("--graph", EX + "g")
SHAPE = f"""
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <{EX}> .
:Shape a sh:NodeShape ; sh:targetSubjectsOf :age ; sh:property [ sh:path :name ; sh:minCount 1 ] .
"""
RULE = f"[] a <{M}SingleValuedBySubject> ; <{M}predicate> <{EX}lives> ; <{M}propose> <{M}KeepBoth> ."


def a_file(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def triples(count: int) -> list[str]:
    return [f'<{EX}s{number}> <{EX}p> "value {number}" .' for number in range(count)]


def count(data: Path) -> int:
    """How many statements are current."""
    ended = run("query", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "--data", data, "--format", "csv")
    return int(ended.lines[1])


def certificates(data: Path) -> list[str]:
    with Base.open(data) as base, base.ledger.reading() as view:
        return [str(record.id) for record in view.certificates()]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_a_load_answers_with_its_certificate_and_counts(tmp_path: Path, data: Path) -> None:
    ended = script("load", a_file(tmp_path, "a.nt", *triples(3)), "--data", data, *GRAPH, "--reason", "to see")
    assert ended.status == 0
    assert ended.value("certificate").startswith("urn:uuid:")
    assert [ended.value(name) for name in ("verdict", "state", "head", "changes")] == ["clear", "applied", "1", "3"]
    assert "applying" in ended.errors
    assert count(data) == 3


def test_the_options_reach_the_facts_and_the_certificate(tmp_path: Path, data: Path) -> None:
    options = ("--valid-from", "1990", "--valid-to", "2000-06-01", "--reason", "to see", "--episode", EX + "book")
    assert run("load", a_file(tmp_path, "a.nt", *triples(1)), "--data", data, *GRAPH, *options).status == 0
    history = history_graph(Iri(EX + "g"))
    asked = f"""SELECT ?from ?to ?episode {{ GRAPH {history.n3} {{ ?f <{M}validFrom> ?from ; <{M}validTo> ?to .
        ?e <{M}supports> ?f ; <http://www.w3.org/ns/prov#wasDerivedFrom> ?episode }} }}"""
    row = run("query", asked, "--data", data, "--format", "csv").lines[1]
    assert row == f"1990-01-01T00:00:00Z,2000-06-01T00:00:00Z,{EX}book"
    with Base.open(data) as base, base.ledger.reading() as view:
        (record,) = view.certificates()
    assert record.principal.startswith("local:")


def test_what_a_shape_does_not_allow_is_refused_with_its_findings(tmp_path: Path, data: Path) -> None:
    assert run("load", a_file(tmp_path, "shape.ttl", SHAPE), "--data", data, "--graph", SHAPES_GRAPH.value).status == 0
    bad = a_file(tmp_path, "a.nt", *(f'<{EX}s{number}> <{EX}age> "{number}" .' for number in range(25)))
    ended = run("load", bad, "--data", data)
    assert ended.status == 3
    assert [ended.value(name) for name in ("verdict", "state", "findings")] == ["refused", "refused", "25"]
    assert len([line for line in ended.lines if line.startswith("  violation")]) == 20
    again = run("load", bad, "--data", data)
    assert again.status == 3
    assert again.value("certificate") != ended.value("certificate"), "what came to nothing is judged anew"
    assert count(data) == 0


def test_a_load_in_review_says_so(tmp_path: Path, data: Path) -> None:
    assert run("load", a_file(tmp_path, "rule.ttl", RULE), "--data", data, "--graph", RULES_GRAPH.value).status == 0
    homes = a_file(tmp_path, "a.ttl", f"<{EX}ann> <{EX}lives> <{EX}rome>, <{EX}oslo> .")
    ended = run("load", homes, "--data", data)
    assert ended.status == 2
    assert [ended.value(name) for name in ("verdict", "state")] == ["review", "pending"]
    assert run("load", homes, "--data", data).value("certificate") == ended.value("certificate")


def test_a_load_is_judged_by_the_policy_of_the_settings(tmp_path: Path, data: Path) -> None:
    assert run("load", a_file(tmp_path, "rule.ttl", RULE), "--data", data, "--graph", RULES_GRAPH.value).status == 0
    homes = a_file(tmp_path, "a.ttl", f"<{EX}ann> <{EX}lives> <{EX}rome>, <{EX}oslo> .")
    ended = run("load", homes, "--data", data, MUNIMENT_POLICY="unsafe-auto-approve")
    assert (ended.status, ended.value("verdict")) == (0, "clear")
    assert "MUNIMENT_POLICY" in run("load", homes, "--data", data, MUNIMENT_POLISY="x").errors


def test_bad_lines_refuse_the_load_and_are_all_listed(tmp_path: Path, data: Path) -> None:
    path = a_file(tmp_path, "a.nt", *triples(2), *("nope" for _ in range(23)))
    ended = run("load", path, "--data", data)
    assert ended.status == 1
    assert ended.output == ""
    listed = [line for line in ended.errors.splitlines() if line.startswith(str(path))]
    assert listed[0].startswith(f"{path}:3: invalid-document: ")
    assert len(listed) == 20
    assert "… and 3 more; --refused FILE" in ended.errors
    assert "muniment: 23 lines cannot be loaded" in ended.errors
    assert count(data) == 0


def test_bad_lines_can_be_left_out_and_are_counted_and_written(tmp_path: Path, data: Path) -> None:
    change = {"op": "assert", "subject": EX + "a", "predicate": EX + "p", "object": {"@id": EX + "b"}}
    changes = [change, change | {"validFrom": "2024-02-30"}, change | {"validTo": "1"}, change | {"until": "2024"}]
    path = a_file(tmp_path, "a.ndjson", *map(json.dumps, changes), "nope")
    refused = tmp_path / "refused.ndjson"
    ended = run("load", path, "--data", data, "--skip-invalid", "--refused", refused)
    assert ended.status == 0
    assert ended.value("changes") == "1"
    assert ended.value("left out") == "4 (invalid-change 1, invalid-document 1, invalid-time 2)"
    written = [json.loads(line) for line in refused.read_text(encoding="utf-8").splitlines()]
    assert [(each["file"], each["line"]) for each in written] == [(str(path), line) for line in (2, 3, 4, 5)]
    assert Counter(each["code"] for each in written) == {"invalid-time": 2, "invalid-change": 1, "invalid-document": 1}
    assert "2024-02 has no day 30" in written[0]["message"]


def test_a_load_that_is_done_answers_again_and_is_only_repeated_when_asked(tmp_path: Path, data: Path) -> None:
    path = a_file(tmp_path, "a.nt", *triples(2))
    first, same, other = (run("load", path, "--data", data, *more) for more in ((), (), ("--again",)))
    assert same.lines[0].startswith("already loaded")
    assert same.value("certificate") == first.value("certificate") != other.value("certificate")
    assert (same.status, other.status) == (0, 0)
    assert count(data) == 2


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--valid-from", "1990-02-30"), "valid-from"),
        (("--valid-to", "1990", "--valid-through", "1991"), "valid-through"),
        (("--valid-from", "1991", "--valid-to", "1990"), "valid-to"),
        (("--graph", "no iri"), "--graph"),
        (("--episode", "no iri"), "--episode"),
        (("--graph", f"{M}default", "--refused", "no/such/folder/x"), "no/such/folder/x"),
    ],
)
def test_an_option_that_cannot_be_used_is_named(tmp_path: Path, data: Path, words: tuple[str, ...], named: str) -> None:
    ended = run("load", a_file(tmp_path, "a.nt", *triples(1)), "--data", data, *words)
    assert ended.status == 1
    assert named in ended.errors.splitlines()[-1]
    assert "Traceback" not in ended.errors


def test_a_terminal_gets_bars(tmp_path: Path, data: Path) -> None:
    command = [SCRIPT, "load", str(a_file(tmp_path, "a.nt", *triples(2))), "--data", str(data)]
    terminal, end = pty.openpty()
    ended = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=end, check=True, env=ENVIRONMENT | {"TERM": "xterm"}, timeout=PATIENCE
    )
    os.close(end)
    shown = b""
    while chunk := _read(terminal):
        shown += chunk
    os.close(terminal)
    assert b"planning" in shown
    assert b"\x1b[" in shown
    assert b"\x1b" not in ended.stdout


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how a terminal ends whose other side is closed
        return b""


def test_a_load_that_goes_on_says_so(tmp_path: Path, data: Path) -> None:
    path = a_file(tmp_path, "a.nt", *triples(5_000))
    with Base.open(data) as base:
        stage_files(base.ledger, [path], LoadOptions(), local_principal(), Watch(Refusals(), lambda _, __: None))
    ended = run("load", path, "--data", data)
    assert "going on with a load that was interrupted: 2 parts" in ended.errors
    assert (ended.status, ended.value("changes")) == (0, "5000")
    assert "going on" not in run("load", path, "--data", data).errors


# --- killed -----------------------------------------------------------------------------------------------------------


def killed_at(word: str, path: Path, data: Path) -> None:
    """Loads until a word about progress is said, then kills the process; nobody had the time to say goodbye."""
    with running("load", path, "--data", data) as process:
        assert process.stderr is not None
        assert any(line.startswith(word) for line in process.stderr), f"{word} was never said"
        process.kill()
        process.wait(PATIENCE)


@pytest.mark.parametrize("moments", [("reading", "planning 4", "applying"), ("planning 8", "planning 100", "planning")])
def test_a_load_that_is_killed_again_and_again_ends_as_one_certificate_with_each_fact_once(
    tmp_path: Path, data: Path, moments: tuple[str, ...]
) -> None:
    path = a_file(tmp_path, "a.ttl", "_:x <urn:first> 1 .", *triples(9_000), "_:x <urn:last> 1 .")
    for moment in moments:
        killed_at(moment, path, data)
    ended: Ended = run("load", path, "--data", data)
    assert ended.status == 0
    assert certificates(data) == [ended.value("certificate").removeprefix("urn:uuid:")]
    assert count(data) == 9_002
    joined = run("query", "SELECT * { ?x <urn:first> 1 ; <urn:last> 1 }", "--data", data, "--format", "csv")
    assert len(joined.lines) == 2
    assert run("rebuild", "--data", data, "--into", tmp_path / "new", "--check").status == 0
    assert run("load", path, "--data", data).value("certificate") == ended.value("certificate")
