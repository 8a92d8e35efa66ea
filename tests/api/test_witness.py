"""Witnesses: a checkpoint is cosigned by those that are named, or it is not kept."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from bridge.base import Base
from certificates.checkpoints import Checkpoint, read_checkpoint
from certificates.keys import SigningKey, VerifyingKey
from certificates.log_proofs import ConsistencyProof
from certificates.merkle import EMPTY_ROOT
from certificates.notes import NoteKey, NoteKeyType, cosign
from kernel.access import Role
from tests.api.console import Ended, run
from tests.api.routes.test_log import a_file, write
from tests.api.serving import Served, served

NAME = "witness.example/w1"


class Watching:
    """A witness of one log, as C2SP has it; `harm` has it do otherwise."""

    def __init__(self, log: VerifyingKey) -> None:
        self.key, self.log, self.harm = SigningKey.generate(), log, ""
        self.last: Checkpoint | None = None
        self.asked: list[int] = []
        watching = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                status, answer = watching.answer(self.path, body)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(answer.encode())

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def named(self) -> str:
        vkey = NoteKey(NAME, self.key.public, NoteKeyType.COSIGNATURE).vkey
        return f"{vkey} http://127.0.0.1:{self.server.server_port}/w"

    def answer(self, path: str, body: str) -> tuple[int, str]:
        proof = ConsistencyProof.parse(body)
        self.asked.append(proof.old)
        seen = read_checkpoint(proof.checkpoint)
        last = self.last or Checkpoint(seen.origin, 0, EMPTY_ROOT)
        if path != "/w/add-checkpoint" or self.harm == "refuses":
            return 403, ""
        if proof.old != last.size:
            return 409, f"{last.size}\n"
        proof.verify(last, self.log)
        self.last = seen
        note = proof.checkpoint if self.harm != "another" else Checkpoint(seen.origin, 0, EMPTY_ROOT).text + "\n"
        signed = cosign(note, NAME, self.key if self.harm != "stranger" else SigningKey.generate(), 1_700_000_000)
        return 200, "" if self.harm == "says nothing" else signed.rpartition("\n\n")[2]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Served]:
    with Base.open(tmp_path / "data") as base, served(base) as running:
        write(running.writer, "ada")
        yield running


@pytest.fixture
def witness(running: Served) -> Iterator[Watching]:
    watching = Watching(running.base.key.public)
    yield watching
    watching.server.shutdown()
    watching.server.server_close()


def anchored(running: Served, folder: Path, *witnesses: str) -> Ended:
    key = a_file(folder, "key.txt", running.base.key.public.multibase)
    token = a_file(folder, "token", running.token(Role.READER))
    token.chmod(0o600)
    named = [word for each in witnesses for word in ("--witness", each)]
    return run("anchor", folder / "anchor.txt", "--key", key, "--url", running.url, "--token-file", token, *named)


def test_a_checkpoint_is_kept_with_its_cosignature(running: Served, witness: Watching, tmp_path: Path) -> None:
    for number in range(3):
        ended = anchored(running, tmp_path, witness.named)
        assert (ended.status, f"cosigned by {NAME}" in ended.output) == (0, True), ended
        write(running.writer, f"bob{number}")
    kept = tmp_path / "anchor.txt"
    vkey = witness.named.split()[0]
    verified = run("verify", kept, "--key", tmp_path / "key.txt", "--witness", vkey)
    assert verified.status == 0, verified
    witness.last = None
    assert anchored(running, tmp_path, witness.named).status == 0
    assert witness.asked[-1] == 0


@pytest.mark.parametrize("harm", ["refuses", "another", "stranger", "says nothing"])
def test_what_a_witness_does_not_sign_is_not_kept(
    running: Served, witness: Watching, tmp_path: Path, harm: str
) -> None:
    assert anchored(running, tmp_path).status == 0
    before = (tmp_path / "anchor.txt").read_bytes()
    write(running.writer, "bob")
    witness.harm = harm
    ended = anchored(running, tmp_path, witness.named)
    assert (ended.status, NAME in ended.errors) == (1, True), ended
    assert (tmp_path / "anchor.txt").read_bytes() == before


@pytest.mark.parametrize("url", ["http://witness.example/", "ftp://127.0.0.1/", "", "https://"])
def test_only_what_may_be_a_witness_is_asked(running: Served, witness: Watching, tmp_path: Path, url: str) -> None:
    vkey = witness.named.split()[0]
    for named in (f"{vkey} {url}", f"nonsense {url}", f"{NoteKey(NAME, witness.key.public).vkey} https://w.example"):
        ended = anchored(running, tmp_path, named)
        assert (ended.status, "--witness" in ended.errors) == (1, True), ended
    assert witness.asked == []
