"""The command line, as a user has it: every test runs the console script."""

import json
import os
import re
import signal
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

import httpx2
import pytest

from api.callers.auth import token_hash
from bridge.base import Base
from bridge.host import SystemClock
from bridge.ledger.sqlite import SqliteLedger
from kernel.access import Role
from kernel.changes import Assert
from kernel.terms import Iri
from kernel.time.instants import MINUTE, Instant
from tests.api.console import ENVIRONMENT, PATIENCE, SCRIPT, Ended, run, running, script, serving
from tests.bridge.writing import SetClock, living, write

EX = "https://example.org/"


def a_file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def loaded(folder: Path, text: str = f'<{EX}a> <{EX}p> "x"@en-GB, 7 .') -> Path:
    """A folder with a base into which some Turtle was loaded."""
    data = folder / "data"
    assert run("load", a_file(folder, "facts.ttl", text), "--data", data).status == 0
    return data


def told(ended: Ended, status: int = 1) -> str:
    """The one line by which a command says why it failed."""
    assert ended.status == status
    assert "Traceback" not in ended.errors
    lines = [line for line in ended.errors.splitlines() if line.startswith("muniment: ")]
    assert ended.errors.splitlines()[-1:] == lines
    return lines[0]


# --- the command line itself ------------------------------------------------------------------------------------------


COMMANDS = (
    "demo",
    "serve",
    "submit",
    "decide",
    "load",
    "export",
    "query",
    "diff",
    "verify",
    "key",
    "rebuild",
    "backup",
    "restore",
    "audit",
    "revert",
    "anchor",
    "doctor",
    "config",
    "access",
    "key list",
    "key rotate",
    "key revoke",
    "token create",
    "token list",
    "token revoke",
)


@pytest.mark.parametrize("words", ["", "token", *COMMANDS])
def test_every_command_says_what_it_is_for(words: str) -> None:
    ended = run(*words.split(), "--help")
    assert ended.status == 0
    assert "Usage: muniment" in ended.output
    assert ended.errors == ""


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_has_an_example_of_itself(words: str) -> None:
    helped = " ".join(run(*words.split(), "--help").output.split())
    _, colon, example = helped.partition("Example: ")
    assert colon
    assert f"muniment {words}" in example


def test_the_version_is_that_of_what_is_installed() -> None:
    assert run("--version").output == f"muniment {version('muniment')}\n"


def test_the_help_lists_every_command_under_what_it_is_for() -> None:
    helped = run("--help").output
    assert all(heading in helped for heading in ("Start", "Read and write", "Verify", "Operate", "First steps"))
    assert all(f"│ {words} " in helped for words in COMMANDS if " " not in words)


@pytest.mark.parametrize("package", ["rdflib", "pyshacl", "pyoxigraph", "fastapi", "sqlite3", "cryptography"])
def test_help_loads_nothing_that_takes_time(package: str) -> None:
    assert package not in loaded_by_help()


@cache
def loaded_by_help() -> frozenset[str]:
    """The top-level packages that are loaded when the help is printed."""
    command = [sys.executable, "-X", "importtime", "-m", "api.cli", "--help"]
    ended = subprocess.run(command, capture_output=True, check=True, text=True, env=ENVIRONMENT, timeout=PATIENCE)
    loaded = frozenset(line.rpartition("|")[2].strip().partition(".")[0] for line in ended.stderr.splitlines())
    assert "typer" in loaded
    return loaded


def test_the_module_can_be_run_instead_of_the_script() -> None:
    command = [sys.executable, "-m", "api.cli", "--help"]
    ended = subprocess.run(command, capture_output=True, check=True, text=True, env=ENVIRONMENT, timeout=PATIENCE)
    assert ended.stdout.replace("python -m api.cli", "muniment").split() == run("--help").output.split()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("lod",), "lod"),
        (("query", "ASK {}", "--dat", "x"), "--dat"),
        (("load", "--data", "x"), "FILE"),
        (("load", "missing.nt", "--data", "x"), "missing.nt"),
        (("serve", "--port", "70000"), "--port"),
        (("token", "create", "--data", "x", "--role", "king"), "king"),
        (("query", "ASK {}", "--data", "x", "--format", "yaml"), "yaml"),
    ],
)
def test_a_command_line_that_cannot_be_read_is_told_apart_from_what_failed(words: tuple[str, ...], named: str) -> None:
    ended = run(*words)
    assert named in told(ended, 64)
    assert "--help`" in ended.errors
    assert not re.search("Value error|Input should|[╭│]", ended.errors)


@pytest.mark.parametrize(
    "words", ["export --format xml", "query ASK{} --format 1", "serve --port abc", "demo --port -1"]
)
def test_what_a_value_may_be_is_told_in_plain_words(words: str) -> None:
    assert re.search(r"'\S+' is (not one of '|no whole number|less than 0)", told(run(*words.split()), 64))


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("PORT=abc", "'abc' is no whole number"),
        ("PORT=70000", "'70000' is more than 65535"),
        ("CONFIDENCE=much", "'much' is no number"),
        ("CONFIDENCE=-1", "'-1' is less than 0"),
        ("POLICY=lenient", "'lenient' is none of 'default' or 'unsafe-auto-approve'"),
        ("HOST=", "it is empty"),
    ],
)
def test_what_a_setting_may_be_is_told_in_plain_words(tmp_path: Path, setting: str, said: str) -> None:
    name, _, value = setting.partition("=")
    line = told(run("serve", "--data", tmp_path / "data", **{f"MUNIMENT_{name}": value}))
    assert f"MUNIMENT_{name}: the setting {name.lower()} cannot be used: {said} (" in line


COMMAND_LINES = {
    "demo": "--port 0",
    "serve": "",
    "submit": "x.json",
    "decide": "x approve",
    "load": "FILE --data x",
    "export": "--data x",
    "query": "ASK{} --data x",
    "diff": "2020 --data x",
    "check": "x.ttl",
    "verify": "FILE --key FILE",
    "key": "--data x",
    "key list": "--data x",
    "key rotate": "--data x",
    "key revoke": "z6Mk --data x --since 2026-05-06T00:00:00Z",
    "rebuild": "--data x --into y",
    "backup": "--data x --into y",
    "restore": "y --data x",
    "audit": "--data x",
    "revert": "x",
    "config": "",
    "access": "--data x",
    "anchor": "x --key FILE",
    "token create": "--data x --role reader",
    "token list": "--data x",
    "token revoke": "a --data x",
}


@pytest.mark.parametrize("name", ["MUNIMENT_FOO", "muniment_port"])
@pytest.mark.parametrize("words", COMMAND_LINES)
def test_no_command_runs_with_a_variable_that_means_nothing(tmp_path: Path, words: str, name: str) -> None:
    file = a_file(tmp_path, "facts.nt", "")
    given = COMMAND_LINES[words].replace("FILE", str(file)).split()
    assert f"{name}: there is no such setting" in told(run(*words.split(), *given, **{name: "1"}), 64)
    assert run(*words.split(), "--help", **{name: "1"}).status == 0
    assert list(tmp_path.iterdir()) == [file]


def test_every_command_but_the_doctor_is_among_those() -> None:
    assert {*COMMAND_LINES} | {"doctor"} == {*COMMANDS} | {"check"}


def test_a_folder_and_a_service_are_not_both_named() -> None:
    for words in (("export",), ("query", "ASK {}")):
        both = run(*words, "--data", "x", "--url", "http://127.0.0.1:1")
        assert "--data DIR or --url URL, not both" in told(both)
        assert "a folder asks for none" in told(run(*words, "--data", "x", "--token-env", "TOKEN", TOKEN="t"))
        assert "cannot be reached" in told(run(*words, "--url", "http://127.0.0.1:1", MUNIMENT_DATA="x"))
        assert "no base in x" in told(run(*words, "--data", "x", MUNIMENT_URL="http://127.0.0.1:1"))
        assert "no base in x" in told(run(*words, MUNIMENT_DATA="x", MUNIMENT_URL="http://127.0.0.1:1"))


@pytest.mark.parametrize(
    "words",
    [
        ("export",),
        ("query", "SELECT * { ?s ?p ?o }"),
        ("query", "SELECT * { ?s ?p ?o }", "--format", "table"),
        ("key",),
        ("audit",),
        ("doctor",),
        ("token", "list"),
        ("check",),
        ("check", "--format", "sarif"),
    ],
)
def test_output_that_nobody_reads_any_more_ends_a_command_quietly(tmp_path: Path, words: tuple[str, ...]) -> None:
    data = loaded(tmp_path)
    shapes = "<urn:S> a <http://www.w3.org/ns/shacl#NodeShape> ; <http://www.w3.org/ns/shacl#targetNode> <urn:x> ."
    given = (
        (tmp_path / "facts.ttl", "--shapes", a_file(tmp_path, "s.ttl", shapes))
        if "check" in words
        else ("--data", data)
    )
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [SCRIPT, *words, *map(str, given)], stdout=writing, stderr=subprocess.PIPE, check=False, text=True,
        env=ENVIRONMENT, timeout=PATIENCE,
    )  # fmt: skip
    os.close(writing)
    assert ended.returncode == 141, "as a shell has it for what SIGPIPE ended"
    assert not [
        line for line in ended.stderr.splitlines() if not line.startswith(("muniment: note:", "head ", "auditing: "))
    ]


def test_a_folder_without_a_base_is_not_made_one_by_those_who_only_read(tmp_path: Path) -> None:
    data = tmp_path / "misspelt"
    for words in (
        ("query", "ASK {}"),
        ("key",),
        ("key", "list"),
        ("key", "rotate"),
        ("rebuild", "--into", tmp_path / "new"),
        ("token", "list"),
        ("token", "revoke", "x"),
    ):
        assert "no base" in told(run(*words, "--data", data))
    assert not data.exists()


# --- serving ----------------------------------------------------------------------------------------------------------


def test_from_an_empty_folder_to_a_verified_certificate(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as (server, url):
        token = script("token", "create", "--data", data, "--role", "writer").output.strip()
        body = {"changes": [{"op": "assert", "subject": EX + "a", "predicate": EX + "p", "object": {"@value": "said"}}]}
        headers = {"Authorization": f"Bearer {token}"}
        posted = httpx2.post(f"{url}/changes", json=body, headers=headers, trust_env=False)
        assert posted.status_code == 201
        place = url + posted.headers["location"]
        signed = httpx2.get(place, headers=headers | {"Accept": "application/vc"}, trust_env=False)
        (tmp_path / "signed.json").write_bytes(signed.content)
        (tmp_path / "shown.json").write_bytes(httpx2.get(place, headers=headers, trust_env=False).content)
        asked = script("query", "SELECT ?o { ?s ?p ?o }", "--url", url, "--token-env", "TOKEN", TOKEN=token)
        assert asked.output == '?o\n"said"\n'
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0
    key = a_file(tmp_path, "key.json", script("key", "--data", data).output)
    for name in ("signed.json", "shown.json"):
        verified = script("verify", tmp_path / name, "--key", key)
        assert verified.status == 0
        assert posted.json()["certificate"] in verified.lines[0]
        assert verified.value("verdict").startswith("clear")
        assert verified.value("plan").startswith("2 items")
    assert script("query", "SELECT ?o { ?s ?p ?o }", "--data", data).output == asked.output


def test_a_query_without_end_does_not_keep_the_server_from_stopping(tmp_path: Path) -> None:
    data = tmp_path / "data"
    token = run("token", "create", "--data", data, "--role", "writer").output.strip()
    triples = "".join(f"<urn:s{number}> <urn:p> {number} .\n" for number in range(300))
    endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p . ?q ?r ?s }"
    with serving(data) as (server, url):
        with httpx2.Client(trust_env=False, headers={"Authorization": f"Bearer {token}"}) as client:
            assert client.post(f"{url}/changes", content=triples, headers={"Content-Type": "text/turtle"}).is_success
            with pytest.raises(httpx2.ReadTimeout):
                client.get(f"{url}/sparql", params={"query": endless}, timeout=1)
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0
    assert run("query", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "--data", data, "--format", "csv").lines == ["n", "300"]


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_what_was_answered_before_the_end_is_there_after_it(tmp_path: Path, end: signal.Signals) -> None:
    data = tmp_path / "data"
    token = run("token", "create", "--data", data, "--role", "writer").output.strip()
    with serving(data) as (server, url):
        with httpx2.Client(trust_env=False, headers={"Authorization": f"Bearer {token}"}) as client:
            for number in range(5):
                body = {"op": "assert", "subject": EX + "a", "predicate": EX + "p", "object": {"@value": number}}
                assert client.post(f"{url}/changes", json={"changes": [body]}).status_code == 201
        server.send_signal(end)
        assert server.wait(PATIENCE) == 0
    assert run("query", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "--data", data, "--format", "csv").lines == ["n", "5"]


def test_one_server_holds_a_folder_and_others_are_told_what_to_do(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    with serving(data) as (_, url):
        for words in (
            ("serve", "--port", "0"),
            ("load", tmp_path / "facts.ttl"),
            ("rebuild", "--into", tmp_path / "r", "--check"),
        ):
            assert "in use by another process" in told(run(*words, "--data", data))
        assert "--url" in told(run("query", "ASK {}", "--data", data))
        assert "port" in told(run("serve", "--data", tmp_path / "other", "--port", url.rsplit(":", 1)[1]))
        assert not (tmp_path / "other").exists()


def test_a_clock_that_is_ahead_is_an_error_until_it_is_accepted(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Base.open(data, host=SetClock(Instant(SystemClock().now() + 30 * MINUTE))) as base:
        write(base, Assert(living(Iri(EX + "rome"))))
    path = a_file(tmp_path, "a.nt", f"<{EX}a> <{EX}p> <{EX}b> .")
    assert "--accept-clock" in told(run("serve", "--data", data, "--port", "0"))
    assert "--accept-clock" in told(run("load", path, "--data", data))
    assert run("load", path, "--data", data, "--accept-clock").status == 0
    assert len(run("query", "SELECT * { ?s ?p ?o }", "--data", data).lines) == 3
    assert run("rebuild", "--data", data, "--into", tmp_path / "new", "--check").status == 0
    with serving(data, "--accept-clock") as (_, url):
        assert httpx2.get(f"{url}/health", trust_env=False).status_code == 200


def test_settings_come_from_the_environment_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running("serve", MUNIMENT_DATA=str(data), MUNIMENT_PORT="0") as process:
        assert process.stdout is not None
        assert str(data) in process.stdout.readline()
        process.terminate()
        process.wait(PATIENCE)
    assert run("query", "ASK {}", MUNIMENT_DATA=str(data)).output.strip() == "true"
    assert "MUNIMENT_PORT" in told(run("serve", "--data", data, MUNIMENT_PROT="0"), 64)
    assert "policy" in told(run("serve", "--data", data, "--policy", "lenient"))


# --- tokens -----------------------------------------------------------------------------------------------------------


def table(ended: Ended) -> list[dict[str, str]]:
    head, *rows = (line.split("\t") for line in ended.lines)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_a_base_that_is_made_for_its_first_token_is_told_of(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert f"made a new base in {data}" in run("token", "create", "--data", data, "--role", "reader").errors
    assert "new base" not in run("token", "create", "--data", data, "--role", "reader").errors


def test_a_token_is_printed_alone_and_only_its_hash_is_kept(tmp_path: Path) -> None:
    data = tmp_path / "data"
    made = run(
        "token",
        "create",
        "--data",
        data,
        "--role",
        "editor",
        "--graph",
        EX + "g",
        "--graph",
        EX + "h",
        "--name",
        "ada@home",
    )
    (token,) = made.lines
    assert token.startswith("mnt_")
    assert len(token) == 47
    assert token not in made.errors
    assert not any(token.encode() in path.read_bytes() for path in data.rglob("*") if path.is_file())
    ledger = SqliteLedger.open(data / "ledger.sqlite", SystemClock())
    principal = ledger.principal_of(token_hash(token))
    ledger.close()
    assert principal is not None
    assert (principal.id, principal.role) == ("ada@home", Role.EDITOR)
    assert principal.graphs == frozenset({Iri(EX + "g"), Iri(EX + "h")})


def test_tokens_are_listed_expire_and_are_revoked(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for name, options in {"short": ("--expires", "1"), "long": (), "gone": ()}.items():
        run("token", "create", "--data", data, "--role", "reader", "--name", name, *options)
    assert run("token", "revoke", "gone", "--data", data).status == 0
    listed = {row["id"]: row for row in table(run("token", "list", "--data", data))}
    assert {name: row["state"] for name, row in listed.items()} == {
        "short": "valid",
        "long": "valid",
        "gone": "revoked",
    }
    assert listed["long"]["expires"] == "never"
    assert listed["short"]["created"][:10] < listed["short"]["expires"][:10]
    assert {(row["role"], row["graphs"]) for row in listed.values()} == {("reader", "all")}
    assert "no such principal" in told(run("token", "revoke", "nobody", "--data", data))


def test_a_token_may_have_roles_in_single_graphs(tmp_path: Path) -> None:
    data = tmp_path / "data"
    g, h = EX + "g", EX + "h"
    run("token", "create", "--data", data, "--name", "two", "--grant", f"reader={g}", "--grant", f"writer={h}")
    run("token", "create", "--data", data, "--name", "more", "--role", "reader", "--grant", f"editor={h}")
    run("token", "create", "--data", data, "--name", "held", "--role", "writer", "--graph", g, "--grant", f"reader={h}")
    ledger = SqliteLedger.open(data / "ledger.sqlite", SystemClock())
    made = {record.principal.id: record.principal for record in ledger.principals()}
    ledger.close()
    roles = {name: tuple(made[name].role_in(Iri(each)) for each in (g, h, EX + "i")) for name in made}
    assert roles == {
        "two": (Role.READER, Role.WRITER, None),
        "more": (Role.READER, Role.EDITOR, Role.READER),
        "held": (Role.WRITER, Role.READER, None),
    }
    listed = {row["id"]: (row["role"], row["graphs"]) for row in table(run("token", "list", "--data", data))}
    assert listed == {
        "two": ("none", f"reader={g} writer={h}"),
        "more": ("reader", f"all editor={h}"),
        "held": ("writer", f"{g} reader={h}"),
    }


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ((), "--role"),
        (("--graph", EX + "g"), "give a --role"),
        (("--grant", "king=urn:g"), "administrator"),
        (("--grant", "writer"), "ROLE=IRI"),
        (("--grant", "writer=no iri"), "--grant"),
        (("--grant", "writer=https://w3id.org/muniment#shapes"), "whole base"),
        (("--role", "reader", "--graph", "https://w3id.org/muniment/history/urn%3Ag"), "history"),
    ],
)
def test_a_token_for_nothing_is_not_made(tmp_path: Path, options: tuple[str, ...], named: str) -> None:
    ended = run("token", "create", "--data", tmp_path, *options)
    assert (ended.status, ended.output) == (1, "")
    assert named in ended.errors
    assert not [*tmp_path.iterdir()]


def test_a_revoked_token_opens_nothing_from_the_next_request_on(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as (_, url):
        token = run("token", "create", "--data", data, "--role", "reader", "--name", "r").output.strip()
        words = ("query", "ASK {}", "--url", url, "--token-env", "TOKEN", "--format", "csv")
        assert run(*words, TOKEN=token).status == 0
        run("token", "revoke", "r", "--data", data)
        assert "revoked" in told(run(*words, TOKEN=token))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--name", "a b"), "--name"),
        (("--name", ""), "--name"),
        (("--graph", "no iri"), "--graph"),
        (("--name", "taken"), "id"),
    ],
)
def test_a_token_that_cannot_be_made_is_explained(tmp_path: Path, options: tuple[str, ...], named: str) -> None:
    data = tmp_path / "data"
    run("token", "create", "--data", data, "--role", "reader", "--name", "taken")
    ended = run("token", "create", "--data", data, "--role", "reader", *options)
    assert named in told(ended)
    assert ended.output == ""


# --- queries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("csv", "o\n"),
        ("tsv", "?o\n"),
        ("json", '{"head"'),
        ("xml", "<?xml"),
        ("table", "┏"),
    ],
)
def test_solutions_are_printed_as_asked(tmp_path: Path, name: str, begins: str) -> None:
    ended = run("query", "SELECT ?o { ?s ?p ?o }", "--data", loaded(tmp_path), "--format", name)
    assert ended.output.replace("\r", "").startswith(begins)


@pytest.mark.parametrize("name", ["turtle", "ntriples", "nquads", "trig", "jsonld", "rdfxml", "table", None])
def test_graphs_are_printed_as_asked(tmp_path: Path, name: str | None) -> None:
    options = () if name is None else ("--format", name)
    ended = run("query", "CONSTRUCT WHERE { ?s ?p ?o }", "--data", loaded(tmp_path), *options)
    assert ended.status == 0
    assert EX in ended.output


def test_a_format_that_does_not_fit_the_query_is_explained(tmp_path: Path) -> None:
    assert "text/turtle" in told(
        run("query", "CONSTRUCT WHERE { ?s ?p ?o }", "--data", loaded(tmp_path), "--format", "csv")
    )


def test_the_query_may_be_in_a_file_or_on_standard_input(tmp_path: Path) -> None:
    data, query = loaded(tmp_path), "ASK { ?s ?p 7 }"
    path = a_file(tmp_path, "query.rq", query)
    answers = [
        run("query", query, "--data", data),
        run("query", f"@{path}", "--data", data),
        run("query", "-", "--data", data, text=query),
        run("query", "--data", data, text=query),
    ]
    assert [answer.output for answer in answers] == [answers[0].output] * 4
    assert "true" in answers[0].output
    assert "missing.rq" in told(run("query", "@missing.rq", "--data", data))


def test_a_query_is_answered_for_the_moment_that_it_asks_for(tmp_path: Path) -> None:
    data = tmp_path / "data"
    first, second = (a_file(tmp_path, f"{name}.ttl", f"<{EX}a> <{EX}p> <{EX}{name}> .") for name in ("first", "second"))
    assert run("load", first, "--data", data, "--valid-from", "1990", "--valid-through", "1999").status == 0
    assert run("load", second, "--data", data, "--valid-from", "1995").status == 0

    def names(*options: str) -> set[str]:
        lines = run("query", "SELECT ?o { ?s ?p ?o }", "--data", data, "--format", "csv", *options).lines
        return {line.removeprefix(EX) for line in lines[1:]}

    assert names() == {"second"}
    assert names("--valid-at", "1996") == {"first", "second"}
    assert names("--valid-at", "1996", "--as-of", "head:1") == {"first"}
    assert "head:1996" in told(run("query", "ASK {}", "--data", data, "--as-of", "1996"))


def test_a_table_shows_terms_as_people_read_them_and_data_cannot_steer_the_terminal(tmp_path: Path) -> None:
    data = loaded(tmp_path, f'<{EX}a> <{EX}p> "x"@en-GB, 7, "clear\\u001B[2Jscreen", "a\\nb" .')
    ended = run("query", "SELECT ?o { ?s ?p ?o }", "--data", data, "--format", "table")
    cells = {line.strip("│ ") for line in ended.lines if line.startswith("│")}
    assert cells == {"x @en-gb", "7", r"clear\x1b[2Jscreen", r"a\nb"}
    assert run("query", "ASK {}", "--data", data, "--format", "table").output == "yes\n"


def test_a_query_that_nobody_can_answer_is_explained(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    assert "--data" in told(run("query", "ASK {}"))
    assert "never closed" in told(run("query", "ASK {", "--data", data))
    assert "SERVICE" in told(run("query", f"ASK {{ SERVICE <{EX}> {{}} }}", "--data", data))
    assert "--token-env" in told(run("query", "ASK {}", "--url", "http://127.0.0.1:1", "--token-env", "NO_SUCH"))
    assert "cannot be reached" in told(run("query", "ASK {}", "--url", "http://127.0.0.1:1"))
    assert "--url" in told(run("query", "ASK {}", "--url", "nonsense"))


def test_a_service_says_itself_why_it_refuses(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as (_, url):
        assert "muniment token create" in told(run("query", "ASK {}", "--url", url))


@pytest.mark.parametrize(
    "words",
    [
        ("serve", "--port", "0"), ("demo", "--port", "0"), ("token", "create", "--role", "reader"),
        ("load", "facts.nt"), ("doctor",), ("query", "ASK {}"), ("check",), ("audit",), ("key",), ("dump",),
        ("restore", "backup"),
    ],
)  # fmt: skip
def test_a_folder_without_a_name_is_not_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    a_file(tmp_path, "facts.nt", f"<{EX}a> <{EX}p> 7 .")
    for given in (("--data", ""), ("--data=",)):
        ended = run(*words, *given)
        assert (ended.status, ended.output) == (64, "")
        assert "'--data'" in ended.errors
        assert "it is empty: name a folder" in ended.errors
    assert [each.name for each in tmp_path.iterdir()] == ["facts.nt"]


def test_nor_is_one_that_a_variable_leaves_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "MUNIMENT_DATA: the setting data cannot be used: it is empty" in told(
        run("serve", "--port", "0", MUNIMENT_DATA="")
    )
    assert "it is empty" in run("backup", "--data", tmp_path, "--into", "").errors
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("host", ["no-such-host.invalid", "256.1.1.1", "192.0.2.1"])
def test_a_host_that_is_no_address_of_this_machine_is_told_as_such(tmp_path: Path, host: str) -> None:
    line = told(run("serve", "--host", host, "--port", "0", "--data", tmp_path / "data"))
    assert f"host: {host} is no address of this machine, nor a name of one (give another --host: " in line
    assert not (tmp_path / "data").exists()


# --- certificates -----------------------------------------------------------------------------------------------------


def a_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate, and the key of its base."""
    data = loaded(folder)
    with Base.open(data) as base, base.ledger.reading() as view:
        (record,) = view.certificates()
    (folder / "certificate.json").write_bytes(record.document)
    return folder / "certificate.json", a_file(folder, "key.txt", run("key", "--data", data, "--multibase").output)


def test_a_certificate_that_was_altered_is_not_verified(tmp_path: Path) -> None:
    path, key = a_certificate(tmp_path)
    assert run("verify", path, "--key", key).status == 0
    document = json.loads(path.read_bytes())
    document["credentialSubject"]["verdict"] = "refused"
    ended = run("verify", a_file(tmp_path, "altered.json", json.dumps(document)), "--key", key)
    assert "signature" in told(ended)
    assert ended.output == ""


def test_a_file_without_an_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    path, key = a_certificate(tmp_path)
    endless = Path("/dev/zero")
    for words in (("verify", path, "--key", endless), ("verify", path, "--key", key, "--proof", endless)):
        assert "/dev/zero: more than 1,048,576 bytes" in told(run(*words))
    large = a_file(tmp_path, "large", "")
    os.truncate(large, 2**28 + 1)
    assert f"{large}: more than 268,435,456 bytes" in told(run("verify", large, "--key", key))


def test_a_certificate_is_verified_by_the_key_of_its_base_alone(tmp_path: Path) -> None:
    path, _ = a_certificate(tmp_path)
    (tmp_path / "other").mkdir()
    _, other = a_certificate(tmp_path / "other")
    assert "issue" in told(run("verify", path, "--key", other))
    assert "Multikey" in told(run("verify", path, "--key", path))
    assert "JSON" in told(run("verify", other, "--key", other))


def test_what_cannot_be_verified_names_the_file_at_fault_and_calls_things_by_their_names(tmp_path: Path) -> None:
    path, key = a_certificate(tmp_path)
    picture, notes = tmp_path / "picture.png", a_file(tmp_path, "notes.md", "# Notes\n")
    picture.write_bytes(b"\x89PNG\r\n" + b"[{" * 100_000)
    for file in (picture, notes):
        line = told(run("verify", file, "--key", key))
        assert f"{file}: not JSON in UTF-8: it begins with" in line
        assert "64" not in line
        line = told(run("verify", path, "--key", file))
        assert f"{file}: no Multikey document: not JSON" in line
        assert "muniment key" in line
        audited = run("audit", "--data", tmp_path / "data", "--key", file)
        assert (audited.status, f"{file}: no Multikey document" in audited.errors) == (2, True)
    deep = a_file(tmp_path, "deep.json", "[" * 100_000)
    assert f"{deep}: more than 65536 bytes" in told(run("verify", deep, "--key", key))
    unsigned = a_file(tmp_path, "unsigned.json", json.dumps({"@graph": ["x" * 100_000]}))
    assert f"{unsigned}: it is not signed" in told(run("verify", unsigned, "--key", key))
    altered = a_file(tmp_path, "altered.json", path.read_text().replace('"clear"', '"fine"'))
    assert f"{altered}: credentialSubject.verdict: " in told(run("verify", altered, "--key", key))


def test_what_is_no_request_is_not_sent(tmp_path: Path) -> None:
    turtle = a_file(tmp_path, "facts.ttl", f"<{EX}a> <{EX}p> 7 .")
    line = told(run("submit", turtle, "--url", "http://127.0.0.1:1"))
    assert f"{turtle}: this is not JSON" in line
    assert "muniment load" in line
    assert "standard input: this is not JSON" in told(script("submit", "-", "--url", "http://127.0.0.1:1", text="{"))
    picture = tmp_path / "picture.rq"
    picture.write_bytes(b"\xff\xfe")
    assert f"{picture}: this is not UTF-8" in told(run("query", f"@{picture}", "--data", tmp_path))


# --- rebuilding -------------------------------------------------------------------------------------------------------


def test_stores_made_anew_are_the_same_and_can_take_the_place_of_those_in_use(tmp_path: Path) -> None:
    data, new = loaded(tmp_path), tmp_path / "new"
    ended = run("rebuild", "--data", data, "--into", new, "--check")
    assert ended.status == 0
    before = run("query", "SELECT * { ?s ?p ?o }", "--data", data).output
    (data / "stores").rename(tmp_path / "old")
    new.rename(data / "stores")
    assert run("query", "SELECT * { ?s ?p ?o }", "--data", data).output == before


def test_stores_are_made_anew_while_a_server_runs(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    with serving(data):
        assert run("rebuild", "--data", data, "--into", tmp_path / "new").status == 0


def test_a_store_that_differs_from_the_ledger_is_found(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    tamper = (
        "import sys, pyoxigraph as ox\n"
        "ox.Store(sys.argv[1]).update('INSERT DATA { GRAPH <urn:g> { <urn:s> <urn:p> <urn:forged> } }')"
    )
    subprocess.run([sys.executable, "-c", tamper, data / "stores" / "current"], check=True, timeout=PATIENCE)
    line = told(run("rebuild", "--data", data, "--into", tmp_path / "new", "--check"))
    assert "the current store" in line
    assert "complete" not in line


def test_nothing_is_made_in_a_folder_that_holds_something(tmp_path: Path) -> None:
    data = loaded(tmp_path)
    assert "not empty" in told(run("rebuild", "--data", data, "--into", data))
