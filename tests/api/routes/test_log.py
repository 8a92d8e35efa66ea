"""`/log`: a stranger with the key follows the log, and checks what certificates and checkpoints say."""

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.signing.log import LogReader
from certificates.checkpoints import origin_of, verify_checkpoint
from certificates.errors import CertificateError
from certificates.events import Applied, Decided, Issued, decode_event
from certificates.keys import SigningKey
from certificates.log_proofs import ConsistencyProof, InclusionProof
from certificates.merkle import leaf_hash, tree_root
from certificates.merkle_proofs import root
from certificates.notes import NoteKey, NoteKeyType, cosign
from certificates.proof import as_signed
from certificates.tiles import TiledTree, tiles_of, unbundle
from certificates.told import hold_told
from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.console import run
from tests.api.serving import Served, served
from tests.bridge.writing import SetClock


def a_file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def write(client: httpx2.Client, name: str, **more: object) -> dict[str, Any]:
    answer = client.post("/changes", json=request(change(name, "knows", "bob") | more))
    assert answer.is_success, answer.text
    outcome: dict[str, Any] = answer.json()
    return outcome


def text(client: httpx2.Client, path: str, **parameters: str | int) -> str:
    answer = client.get(path, params={name.rstrip("_"): value for name, value in parameters.items()})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    return answer.text


def leaves_of(client: httpx2.Client, size: int) -> list[bytes]:
    """The leaves of the log, as a monitor works them out from its entries."""
    entries: list[bytes] = []
    for tile in tiles_of(size):
        if tile.level == 0:
            answer = client.get(f"/log/tile/entries/{tile.path.removeprefix('0/')}")
            assert answer.status_code == 200
            entries += unbundle(answer.content)
    return [leaf_hash(entry) for entry in entries]


def test_an_empty_log_has_a_checkpoint_and_no_tile(server: Served) -> None:
    reader = server.client(Role.READER)
    origin, key = origin_of(server.base.ledger.base_id()), server.base.key.public
    assert verify_checkpoint(text(reader, "/log/checkpoint"), origin, key).root == sha256(b"").digest()
    assert reader.get("/log/tile/0/000.p/1").status_code == 404
    assert reader.get("/log/proof/inclusion", params={"position": 0}).status_code == 400


def test_a_monitor_works_the_checkpoint_out_from_entries_and_from_tiles(server: Served) -> None:
    writer = server.writer
    for number in range(140):
        write(writer, f"p{number}")
    origin, key = origin_of(server.base.ledger.base_id()), server.base.key.public
    checkpoint = verify_checkpoint(text(writer, "/log/checkpoint"), origin, key)
    assert checkpoint.size == 280
    assert tree_root(leaves_of(writer, 280)) == checkpoint.root
    read = [tile.path for tile in tiles_of(280)]
    assert read == ["0/000", "0/001.p/24", "1/000.p/1"]
    tree = TiledTree(280, lambda tile: writer.get(f"/log/tile/{tile.path}").content)
    assert root(280, tree.node) == checkpoint.root
    assert "immutable" in writer.get("/log/tile/0/000").headers["cache-control"]
    assert writer.get("/log/checkpoint").headers["cache-control"] == "no-cache"


def test_a_log_that_grew_is_proved_to_begin_with_what_it_was(server: Served) -> None:
    writer = server.writer
    origin, key = origin_of(server.base.ledger.base_id()), server.base.key.public
    before = [verify_checkpoint(text(writer, "/log/checkpoint"), origin, key)]
    for number in range(5):
        write(writer, f"p{number}")
        before.append(verify_checkpoint(text(writer, "/log/checkpoint"), origin, key))
    for older in before:
        for newer in before:
            if older.size <= newer.size:
                proof = text(writer, "/log/proof/consistency", from_=older.size, to=newer.size)
                assert ConsistencyProof.parse(proof).verify(older, key) == newer
    refused = writer.get("/log/proof/consistency", params={"from": 7, "to": 3})
    assert refused.status_code == 400
    assert "rolled back" in refused.json()["remedy"]


def test_a_certificate_is_proved_to_be_issued_and_applied(server: Served) -> None:
    writer = server.writer
    write(writer, "before")
    outcome = write(writer, "ada")
    write(writer, "after")
    certificate = outcome["certificate"]
    origin, key = origin_of(server.base.ledger.base_id()), server.base.key.public
    document = writer.get(f"/certificates/{certificate}", headers={"Accept": "application/vc"}).content
    issued = InclusionProof.parse(text(writer, "/log/proof/inclusion", certificate=certificate))
    assert issued.verify(origin, key).size == 6
    event = decode_event(issued.entry)
    assert isinstance(event, Issued)
    assert event.digest == sha256(document).hexdigest()
    applied = InclusionProof.parse(text(writer, "/log/proof/inclusion", certificate=certificate, event="applied"))
    applied.verify(origin, key)
    assert applied.position == outcome["head"]
    assert isinstance(decode_event(applied.entry), Applied)
    at_the_time = InclusionProof.parse(
        text(writer, "/log/proof/inclusion", certificate=certificate, event="applied", size=4)
    )
    assert at_the_time.verify(origin, key).size == 4


def test_every_position_is_proved_and_says_what_happened(server: Served) -> None:
    editor = server.client(Role.EDITOR)
    doubtful = write(editor, "ada", confidence=0.1)
    assert doubtful["state"] == "pending"
    assert editor.post(f"/certificates/{doubtful['certificate']}/decision", json={"decision": "approve"}).is_success
    origin, key = origin_of(server.base.ledger.base_id()), server.base.key.public
    proofs = [InclusionProof.parse(text(editor, "/log/proof/inclusion", position=each)) for each in range(3)]
    for proof in proofs:
        assert proof.verify(origin, key).size == 3
    assert [type(decode_event(proof.entry)) for proof in proofs] == [Issued, Decided, Applied]


def test_which_entry_is_meant_is_said_once(server: Served) -> None:
    written = write(server.writer, "ada")["certificate"]
    both = server.writer.get("/log/proof/inclusion", params={"position": 0, "certificate": written})
    assert (both.status_code, both.json()["detail"]) == (400, "a position stands alone")
    neither = server.writer.get("/log/proof/inclusion", params={"event": "applied"})
    assert (neither.status_code, neither.json()["detail"]) == (400, "it does not say which entry")


def test_a_reader_of_some_graphs_sees_hashes_but_no_entries_of_others(server: Served) -> None:
    hidden = write(server.writer, "ada", graph={"@id": f"{EX}hidden"})
    reader = server.client(Role.READER, f"{EX}open")
    assert reader.get("/log/checkpoint").status_code == 200
    assert reader.get("/log/tile/0/000.p/2").status_code == 200
    assert reader.get("/log/tile/entries/000.p/2").status_code == 403
    assert reader.get("/log/proof/inclusion", params={"position": 0}).status_code == 403
    absent = reader.get("/log/proof/inclusion", params={"certificate": f"urn:uuid:{UUID(int=7)}"})
    withheld = reader.get("/log/proof/inclusion", params={"certificate": hidden["certificate"]})
    assert withheld.status_code == absent.status_code == 404
    assert withheld.json()["detail"] == absent.json()["detail"]


def test_who_has_no_token_sees_no_log(server: Served) -> None:
    nobody = server.client(None)
    for path in (
        "checkpoint",
        "tile/0/000",
        "tile/entries/000",
        "proof/inclusion?position=0",
        "proof/consistency?from=0",
    ):
        assert nobody.get(f"/log/{path}").status_code == 401


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("tile/0/0", 404),
        ("tile/9/000", 404),
        ("tile/entries/00", 404),
        ("tile/0/x001/000", 404),
        ("tile/entries/000.p/256", 404),
        ("proof/inclusion", 400),
        ("proof/inclusion?position=-1", 400),
        ("proof/inclusion?position=0&certificate=x", 400),
        ("proof/inclusion?position=0&event=issued", 400),
        ("proof/inclusion?certificate=x", 404),
        ("proof/inclusion?position=0&size=999999999", 404),
        ("proof/consistency", 400),
        ("proof/consistency?from=x", 400),
        ("proof/consistency?from=0&to=999999999", 404),
        ("checkpoint?size=1", 400),
    ],
)
def test_what_cannot_be_asked_for_is_said(shared: Served, path: str, status: int) -> None:
    answer = shared.writer.get(f"/log/{path}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_end_of_the_log_is_where_proofs_end(server: Served) -> None:
    writer = server.writer
    write(writer, "ada")
    assert writer.get("/log/proof/inclusion", params={"position": 2}).status_code == 400
    assert writer.get("/log/tile/0/000.p/3").status_code == 404
    assert writer.get("/log/tile/0/000").status_code == 404
    assert len(writer.get("/log/tile/0/000.p/1").content) == 32


# --- offline ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(server: Served, tmp_path: Path) -> Path:
    """What a stranger takes home: key, certificates, proofs and checkpoints."""
    writer = server.writer
    first, second = write(writer, "ada"), write(writer, "bob")
    a_file(tmp_path, "key.txt", server.base.key.public.multibase)
    a_file(tmp_path, "old.txt", text(writer, "/log/checkpoint"))
    write(writer, "cyd")
    a_file(tmp_path, "new.txt", text(writer, "/log/checkpoint"))
    a_file(tmp_path, "grown.txt", text(writer, "/log/proof/consistency", from_=4))
    for name, outcome in (("first", first), ("second", second)):
        certificate = outcome["certificate"]
        a_file(tmp_path, f"{name}.json", writer.get(f"/certificates/{certificate}").text)
        for event in ("issued", "applied"):
            proof = text(writer, "/log/proof/inclusion", certificate=certificate, event=event)
            a_file(tmp_path, f"{name}-{event}.txt", proof)
    return tmp_path


def verify(files: Path, name: str, *options: str) -> tuple[int, str]:
    ended = run("verify", str(files / name), "--key", str(files / "key.txt"), *options)
    return ended.status, ended.output + ended.errors


def test_a_certificate_is_verified_with_what_the_log_says_of_it(files: Path) -> None:
    proofs = [option for event in ("issued", "applied") for option in ("--proof", str(files / f"first-{event}.txt"))]
    status, said = verify(files, "first.json", *proofs)
    assert status == 0
    assert "as issued" in said
    assert "as head:1" in said
    assert "see --proof" not in said
    status, said = verify(files, "first.json", "--proof", str(files / "first-issued.txt"))
    assert status == 0
    assert "see --proof" in said


def told_in_review(server: Served) -> tuple[dict[str, Any], str]:
    """What is told of a certificate with a finding, a decision and a comment, and the proof that it was applied."""
    waits = write(server.writer, "eve", confidence=0.1)["certificate"].removeprefix("urn:uuid:")
    said = {"decision": "approve", "comment": "as in the gazette"}
    assert server.client(Role.EDITOR).post(f"/certificates/{waits}/decision", json=said).status_code == 200
    told: dict[str, Any] = server.writer.get(f"/certificates/{waits}").json()
    return told, text(server.writer, "/log/proof/inclusion", certificate=waits, event="applied")


def altered_anywhere(value: object) -> Iterator[object]:
    """The value with one text, number or null in it changed, for each of these; and with one element less."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from ({**value, name: each} for each in altered_anywhere(inner))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from ([*value[:number], each, *value[number + 1 :]] for each in altered_anywhere(inner))
            yield [*value[:number], *value[number + 1 :]]
    elif isinstance(value, int):
        yield value + 1
    else:
        yield "0" * 32 if value is None else f"{value}0"


def comment_ordinals(decisions: object) -> list[int]:
    """Where among the comments those of decisions are: nobody signs that."""
    assert isinstance(decisions, list)
    return [each["comment"]["ordinal"] for each in decisions if "comment" in each]


def test_nothing_that_is_told_beside_a_certificate_passes_for_what_was_signed(server: Served) -> None:
    told, _ = told_in_review(server)
    key = server.base.key.public
    certificate, signed = as_signed(json.dumps(told["credential"]).encode(), key)
    refused = 0
    for name in sorted(told.keys() - {"credential", "findings", "graphs", "head", "instant", "state"}):
        value = told[name]["items"] if name in {"plan", "findingItems"} else told[name]
        for each in altered_anywhere(value):
            try:
                held = hold_told(
                    told | {name: {"items": each, "next": None} if name in {"plan", "findingItems"} else each},
                    certificate, signed, lambda _: key,
                )  # fmt: skip
            except CertificateError:
                refused += 1
                continue
            # What is left out cannot be missed in decisions; of items it is a part, and not said to be verified.
            assert isinstance(each, list)
            assert len(each) < len(value) or comment_ordinals(each) != comment_ordinals(value)
            assert name == "decisions" or name not in held.names
    assert refused > 40


def test_what_is_told_of_a_certificate_is_verified_and_what_nobody_signed_is_named(
    server: Served, tmp_path: Path
) -> None:
    told, applied = told_in_review(server)
    a_file(tmp_path, "key.txt", server.base.key.public.multibase)
    proof = ("--proof", str(a_file(tmp_path, "applied.txt", applied)))
    a_file(tmp_path, "told.json", json.dumps(told))
    for options, unsigned in (((), "graphs, head, instant, state"), (proof, "graphs")):
        status, said = verify(tmp_path, "told.json", *options)
        assert (status, f"not signed  {unsigned}: " in said, "2 of 2 as signed\n" in said) == (0, True, True)
    finding, plan = told["findings"][0], told["plan"]["items"]
    forged = json.loads(json.dumps(told["plan"]).replace("bob", "mallory"))
    for name, value in (("plan", forged), ("findings", [finding | {"focus": f"{EX}bob"}]), ("head", 7)):
        a_file(tmp_path, "altered.json", json.dumps(told | {name: value}))
        status, said = verify(tmp_path, "altered.json", *(proof if name == "head" else ()))
        assert (status, "not what was signed" in said) == (1, True), said
    a_file(tmp_path, "part.json", json.dumps(told | {"plan": {"items": plan[:1], "next": 1}}))
    status, said = verify(tmp_path, "part.json")
    assert (status, f"1 of {len(plan)} are in the file: a part is not verified" in said) == (0, True)


def test_a_decision_by_a_key_that_is_not_known_is_not_said_to_be_verified(server: Served, tmp_path: Path) -> None:
    told, _ = told_in_review(server)
    a_file(tmp_path, "key.txt", server.base.key.public.multibase)
    told["decisions"][0]["record"]["proof"]["verificationMethod"] = SigningKey.generate().public.did
    a_file(tmp_path, "told.json", json.dumps(told))
    status, said = verify(tmp_path, "told.json")
    assert (status, "1 of 2 as signed: the others" in said) == (0, True)
    assert "not signed  decisions, graphs" in said


def test_what_is_left_out_of_a_whole_does_not_make_it_a_part(server: Served, tmp_path: Path) -> None:
    told, _ = told_in_review(server)
    a_file(tmp_path, "key.txt", server.base.key.public.multibase)
    plan = told["plan"]["items"]
    assert len(plan) > 2
    for items, following, place in ((plan[:-1], None, "plan.next: "), ([plan[0], *plan[2:]], 1, "plan.items: ")):
        a_file(tmp_path, "short.json", json.dumps(told | {"plan": {"items": items, "next": following}}))
        status, said = verify(tmp_path, "short.json")
        assert (status, place in said) == (1, True), said


def test_a_member_that_is_told_twice_is_refused(files: Path) -> None:
    told = (files / "first.json").read_text()
    a_file(files, "twice.json", told.replace('{"certificate"', '{"plan": null, "certificate"', 1))
    status, said = verify(files, "twice.json")
    assert (status, "plan: the member is given twice" in said) == (1, True)


def test_a_proof_of_another_certificate_or_log_is_refused(files: Path, tmp_path: Path) -> None:
    status, said = verify(files, "first.json", "--proof", str(files / "second-issued.txt"))
    assert (status, "another certificate" in said) == (1, True)
    altered = (files / "first-issued.txt").read_text().replace("index 0", "index 1")
    status, said = verify(files, "first.json", "--proof", str(a_file(tmp_path, "altered.txt", altered)))
    assert (status, "position 1" in said) == (1, True)


def test_a_checkpoint_and_its_growth_are_verified(files: Path) -> None:
    status, said = verify(files, "new.txt")
    assert (status, "6 entries" in said) == (0, True)
    status, said = verify(files, "grown.txt", "--since", str(files / "old.txt"))
    assert (status, "begins with the log of 4 entries" in said) == (0, True)
    status, said = verify(files, "grown.txt", "--since", str(files / "new.txt"))
    assert (status, "from 4 entries" in said) == (1, True)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("new.txt", ("--proof", "first-issued.txt")),
        ("new.txt", ("--since", "old.txt")),
        ("first-issued.txt", ()),
        ("grown.txt", ()),
        ("first.json", ("--since", "old.txt")),
    ],
)
def test_an_option_that_would_check_nothing_is_refused(files: Path, name: str, options: tuple[str, ...]) -> None:
    status, _ = verify(files, name, *(str(files / each) if each.endswith(".txt") else each for each in options))
    assert status not in {0, 1}


def test_an_edited_checkpoint_is_refused(files: Path) -> None:
    edited = (files / "new.txt").read_text().replace("\n6\n", "\n5\n")
    a_file(files, "edited.txt", edited)
    assert verify(files, "edited.txt")[0] == 1


def test_a_witness_that_did_not_sign_is_missed(files: Path, server: Served) -> None:
    witness = SigningKey.from_bytes(bytes(32))
    known = NoteKey("witness.example/w1", witness.public, NoteKeyType.COSIGNATURE)
    status, said = verify(files, "new.txt", "--witness", known.vkey)
    assert (status, "witness.example" in said) == (1, True)
    a_file(files, "seen.txt", cosign((files / "new.txt").read_text(), known.name, witness, 1_700_000_000))
    assert verify(files, "seen.txt", "--witness", known.vkey)[0] == 0
    assert verify(files, "seen.txt")[0] == 0


# --- an anchor --------------------------------------------------------------------------------------------------------


def anchored(folder: Path, server: Served, token: Path) -> tuple[int, str]:
    ended = run(
        "anchor", str(folder / "anchor.txt"), "--key", str(folder / "key.txt"), "--url", server.url,
        "--token-file", str(token),
    )  # fmt: skip
    return ended.status, ended.output + ended.errors


def test_an_anchor_follows_the_log_and_misses_what_was_put_back(tmp_path: Path) -> None:
    clock = SetClock()
    with Base.open(tmp_path / "live", host=clock) as base, served(base) as running:
        a_file(tmp_path, "key.txt", base.key.public.multibase)
        token = a_file(tmp_path, "token", running.token(Role.WRITER))
        token.chmod(0o600)
        write(running.writer, "ada")
        assert anchored(tmp_path, running, token) == (
            0,
            f"2 entries in {origin_of(base.ledger.base_id())}: kept for the first time\n",
        )
    shutil.copytree(tmp_path / "live", tmp_path / "earlier")
    with Base.open(tmp_path / "live", host=clock) as base, served(base) as running:
        write(running.writer, "bob")
        status, said = anchored(tmp_path, running, token)
        assert (status, "4 entries" in said, "begins with the 2" in said) == (0, True, True)
    kept = (tmp_path / "anchor.txt").read_text()
    with Base.open(tmp_path / "earlier", host=clock) as base, served(base) as running:
        status, said = anchored(tmp_path, running, token)
        assert (status, "rolled back" in said) == (1, True)
        write(running.writer, "cyd")
        write(running.writer, "dan")
        status, said = anchored(tmp_path, running, token)
        assert (status, "does not begin" in said) == (1, True)
    assert (tmp_path / "anchor.txt").read_text() == kept
    assert audit(tmp_path / "live", checkpoint=kept).sound
    assert not audit(tmp_path / "earlier", checkpoint=kept).sound


def test_the_key_of_the_log_is_printed_as_witnesses_take_it(tmp_path: Path) -> None:
    with Base.open(tmp_path / "data") as base:
        key = LogReader(base.ledger, base.key).key
    assert run("key", "--data", str(tmp_path / "data"), "--log").lines == [key.vkey]
    assert NoteKey.parse(key.vkey) == key
