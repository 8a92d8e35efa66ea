"""The keys of a base, as the service and the console tell of them, and what is verified with them."""

from pathlib import Path
from uuid import UUID

import pytest

from bridge.base import Base
from bridge.signing.keys import revoke, rotate
from bridge.signing.log import LoggedEvent, LogReader
from certificates.key_set import read_key_set
from certificates.keys import VerifyingKey
from certificates.revocation import RevocationReason
from kernel.access import Role
from kernel.time.instants import DAY, Instant, print_instant
from tests.api.console import run
from tests.api.routes.test_log import a_file, anchored, text, write
from tests.api.serving import Served, served
from tests.bridge.writing import ADMINISTRATOR, NOON, SetClock


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a stranger takes home from a base whose key changed twice; the first key is revoked since the second day.

    There are certificates of the first day and the second, by the first key, and one of the third, by the second key.
    """
    folder, clock = tmp_path_factory.mktemp("keys"), SetClock()
    data, written = folder / "data", {}
    with Base.open(data, host=clock) as base, served(base) as running:
        first = keep_key(folder, "first", running)
        written["one"] = write(running.writer, "ada")["certificate"]
        a_file(folder, "anchor.txt", text(running.writer, "/log/checkpoint"))
        clock.move(DAY)
        written["two"] = write(running.writer, "bob")["certificate"]
        clock.move(DAY)
    rotate(data, clock)
    with Base.open(data, host=clock) as base, served(base) as running:
        keep_key(folder, "second", running)
        written["three"] = write(running.writer, "cyd")["certificate"]
        stolen = base.key
    rotate(data, clock)
    revoke(data, first, Instant(NOON + DAY), RevocationReason.COMPROMISED, clock)
    with Base.open(data, host=clock) as base, served(base) as running:
        keep_key(folder, "third", running)
        answer = running.client(Role.READER).get("/keys")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/jwk-set+json")
        a_file(folder, "keys.json", answer.text)
        assert running.client(None).get("/keys").status_code == 401
        for name, certificate in written.items():
            a_file(folder, f"{name}.json", running.writer.get(f"/certificates/{certificate}").text)
            for event in ("issued", "applied"):
                proof = text(running.writer, "/log/proof/inclusion", certificate=certificate, event=event)
                a_file(folder, f"{name}-{event}.txt", proof)
        identifier = UUID(written["three"].removeprefix("urn:uuid:"))
        forged = LogReader(base.ledger, stolen).of_certificate(ADMINISTRATOR, identifier, LoggedEvent.ISSUED)
        a_file(folder, "three-forged.txt", forged.text)
        a_file(folder, "checkpoint.txt", text(running.writer, "/log/checkpoint"))
    return folder


def keep_key(folder: Path, name: str, running: Served) -> VerifyingKey:
    key = running.base.key.public
    a_file(folder, f"{name}.txt", key.multibase)
    return key


def verify(files: Path, name: str, key: str, *proofs: str, keys: str | None = "keys.json") -> tuple[int, str]:
    given = [word for proof in proofs for word in ("--proof", files / proof)]
    if keys is not None:
        given += ["--keys", files / keys]
    ended = run("verify", str(files / name), "--key", str(files / f"{key}.txt"), *map(str, given))
    return ended.status, ended.output + ended.errors


@pytest.mark.parametrize("known", ["first", "second", "third"])
def test_whoever_knows_one_key_verifies_what_another_signed(files: Path, known: str) -> None:
    status, said = verify(files, "three.json", known, "three-issued.txt", "three-applied.txt")
    assert (status, "the base signed with before" in said, "applied" in said) == (0, True, True), said
    status, said = verify(files, "checkpoint.txt", known)
    assert status == 0, said
    if known != "second":
        assert verify(files, "three.json", known, keys=None)[0] == 1
    if known != "third":
        assert verify(files, "checkpoint.txt", known, keys=None)[0] == 1


def test_what_a_revoked_key_signed_is_good_if_the_log_had_it_before(files: Path) -> None:
    status, said = verify(files, "one.json", "third", "one-issued.txt")
    since = print_instant(Instant(NOON + DAY))
    assert (status, f"revoked since {since}; the log had this before" in said) == (0, True), said


def test_what_a_revoked_key_signed_is_refused_without_that_proof(files: Path) -> None:
    for proofs in ((), ("one-applied.txt",)):  # of the applied event, which does not say what document it was
        status, said = verify(files, "one.json", "third", *proofs)
        assert (status, "nothing proves that it was logged before" in said) == (1, True), said
    status, said = verify(files, "two.json", "third", "two-issued.txt")
    assert (status, "was logged at" in said) == (1, True), said


def test_a_proof_by_the_key_before_is_not_enough(files: Path) -> None:
    """Whoever has an older key could sign any log with it."""
    status, said = verify(files, "three.json", "second", "three-forged.txt")
    assert (status, "no known key has signed it" in said) == (1, True), said
    assert verify(files, "three.json", "second", "three-forged.txt", keys=None)[0] == 0, "to whoever knows no better"


def test_keys_of_a_stranger_are_refused(files: Path, tmp_path: Path) -> None:
    with Base.open(tmp_path / "other") as base:
        key = a_file(tmp_path, "stranger.txt", base.key.public.multibase)
    ended = run("verify", str(files / "one.json"), "--key", str(key), "--keys", str(files / "keys.json"))
    assert (ended.status, "none of these" in ended.errors) == (1, True)


def test_the_published_keys_are_those_that_are_good(files: Path) -> None:
    public = [VerifyingKey.from_multikey((files / f"{name}.txt").read_text()) for name in ("first", "second", "third")]
    history = read_key_set((files / "keys.json").read_bytes(), public[0])
    assert [held.key for held in history.keys] == public
    assert [held.revoked is not None for held in history.keys] == [True, False, False]
    assert public[0].multibase not in (files / "keys.json").read_text().partition("events")[0]
    listed = run("key", "list", "--data", str(files / "data")).lines
    assert [line.split()[0] for line in listed] == [key.multibase for key in public]
    assert [word in line for word, line in zip(("compromised", "before position", "signs now"), listed, strict=True)]


def test_an_anchor_follows_from_key_to_key(files: Path, tmp_path: Path) -> None:
    a_file(tmp_path, "key.txt", (files / "first.txt").read_text())
    kept = a_file(tmp_path, "anchor.txt", (files / "anchor.txt").read_text())
    clock = SetClock(Instant(NOON + 3 * DAY))
    with Base.open(files / "data", host=clock) as base, served(base) as running:
        token = a_file(tmp_path, "token", running.token(Role.READER))
        token.chmod(0o600)
        status, said = anchored(tmp_path, running, token)
    assert (status, "begins with the 2" in said) == (0, True), said
    assert kept.read_text() != (files / "anchor.txt").read_text()


def test_the_console_rotates_and_revokes(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    with Base.open(tmp_path / "data") as base:
        old = base.key.public
    rotated = run("key", "rotate", "--data", data)
    assert (rotated.status, rotated.output) == (0, run("key", "--data", data).output)
    assert old.multibase not in rotated.output
    current, since = run("key", "--data", data, "--multibase").output.strip(), "2020-01-01T00:00:00Z"
    refused = run("key", "revoke", current, "--data", data, "--since", since)
    assert (refused.status, "key rotate" in refused.errors) == (1, True)
    revoked = run("key", "revoke", old.multibase, "--data", data, "--since", since, "--reason", "superseded")
    assert (revoked.status, "superseded" in revoked.errors) == (0, True)
    assert run("audit", "--data", data).status == 0
