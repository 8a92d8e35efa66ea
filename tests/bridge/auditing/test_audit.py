"""Tampering with a base by hand: the audit names the place."""

import shutil
from pathlib import Path
from uuid import UUID

import pyoxigraph as ox
import pytest

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.ledger.fact_rows import term_key
from bridge.signing.log import LogReader
from certificates.events import Applied, decode_event
from certificates.key_events import KeyRevoked, KeyRotated
from certificates.keys import SigningKey
from certificates.lthash import LatticeHash
from certificates.merkle import leaf_hash
from kernel.changes import Assert
from kernel.errors import DamagedBase, NotFound
from kernel.purging.targets import Target, TargetKind
from kernel.terms import Literal
from kernel.time.instants import DAY, Instant
from tests.api.console import run
from tests.bridge.audit import audit as oracle
from tests.bridge.auditing.history import (
    OTHER,
    asked,
    audit_ledger,
    copy,
    edit,
    ledger_of,
    make,
    named,
    places,
    tamper,
    today,
    yesterday,
)
from tests.bridge.purging import purge
from tests.bridge.writing import ANN, LIVES_IN, NOON, OSLO, PARIS, ROME, SetClock, living, load, person, write

A_CLEAR = "SELECT id FROM certificates WHERE verdict = 'clear' ORDER BY id LIMIT 1"
BELIEVED = "SELECT id FROM facts WHERE superseded_by IS NULL ORDER BY row LIMIT 1"
SUPERSEDED = "SELECT id FROM facts WHERE superseded_by IS NOT NULL ORDER BY row LIMIT 1"
LATER = Instant(NOON + 2 * DAY)
RUBBISH = ox.Quad(*(ox.NamedNode(f"urn:{name}") for name in "spog"))


def blob(value: object) -> bytes:
    assert isinstance(value, bytes)
    return value


def one(base: Path, sql: str, *parameters: str | int | bytes) -> bytes:
    return blob(asked(base, sql, *parameters)[0])


def uuid_of(base: Path, sql: str) -> UUID:
    return UUID(bytes=one(base, sql))


def flipped(data: bytes, at: int = 0) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


# --- sound bases ------------------------------------------------------------------------------------------------------


def test_an_untouched_base_is_sound_and_everything_in_it_is_counted(base: Path) -> None:
    with Base.open(base, host=SetClock(LATER)) as opened:
        books = oracle(opened)
    found = audit(base)
    assert (found.faults, found.notes) == ((), ())
    counts = found.counts
    assert (counts.events, counts.certificates) == (len(books.events), len(books.certificates))
    assert (counts.facts, counts.evidence) == (len(books.facts), len(books.evidence))
    assert counts.items == sum(map(len, books.items.values()))
    assert counts.signatures == counts.certificates + sum(map(len, books.decisions.values()))
    assert counts.by_commitment == 0
    for name, count in (("complete", counts.complete), ("current", counts.current)):
        assert count == len(ox.Store(base / "stores" / name)) > 0
    assert not list(base.glob("audit-*"))


def test_a_new_base_is_sound(tmp_path: Path) -> None:
    Base.open(tmp_path / "new", host=SetClock()).close()
    assert audit(tmp_path / "new").sound


def test_stores_that_a_kill_left_behind_are_no_fault_and_it_is_said(base: Path, tmp_path: Path) -> None:
    copy(base / "stores", tmp_path / "stores")
    with Base.open(base, host=SetClock(LATER)) as opened:
        write(opened, Assert(living(ROME, person(9))))
    shutil.rmtree(base / "stores" / "current")
    (tmp_path / "stores" / "current").rename(base / "stores" / "current")
    found = audit(base)
    assert found.sound
    assert found.notes == ("the current store is behind the ledger; opening the base brings it up",)


def test_a_base_that_is_served_is_audited_but_for_its_stores(base: Path) -> None:
    with Base.open(base, host=SetClock(LATER)) as opened:
        write(opened, Assert(living(ROME, person(9))))
        found = audit(base)
        assert found.sound
        assert found.counts.complete is found.counts.current is None
        assert found.notes == ("the base is being served: its stores were not looked at",)
        edit(base, "DELETE FROM graphs WHERE graph = ?", OTHER.n3)
        assert places(audit(base)) == {f"graphs {OTHER.n3}"}


# --- case 33 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", ["clear", "review", "refused"])
def test_case_33_one_byte_of_a_stored_certificate_was_edited(base: Path, verdict: str) -> None:
    identifier, document = asked(base, "SELECT id, document FROM certificates WHERE verdict = ?", verdict)
    place = blob(document).index(b'"issuedAt"') + 13
    edit(base, "UPDATE certificates SET document = ? WHERE id = ?", flipped(blob(document), place), blob(identifier))
    found = audit(base)
    certificate = f"certificate {UUID(bytes=blob(identifier))}"
    assert places(found) == {certificate}
    assert any("SHA-256" in fault.what for fault in found.faults)
    assert any("signed" in fault.what for fault in found.faults)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_case_33_the_last_log_rows_were_deleted(base: Path, count: int) -> None:
    (last,) = asked(base, "SELECT max(position) FROM events")
    assert isinstance(last, int)
    lost = [
        decode_event(blob(asked(base, "SELECT event FROM events WHERE position = ?", position)[0]))
        for position in range(last - count + 1, last + 1)
    ]
    edit(base, "DELETE FROM events WHERE position > ?", last - count)
    found = places(audit(base))
    assert {f"events {last - count + 1}", "state"} <= found
    of = {f"certificate {event.certificate}" for event in lost if not isinstance(event, KeyRotated | KeyRevoked)}
    assert len(of) > 0
    assert of <= found


def test_case_33_the_log_was_truncated_and_the_head_moved_back_with_it(base: Path) -> None:
    at, event = asked(base, "SELECT position, event FROM events WHERE position = 13")
    applied = decode_event(blob(event))
    assert isinstance(applied, Applied)
    instant = asked(base, "SELECT instant FROM certificates WHERE head = 13")[0]
    assert isinstance(instant, int)
    edit(base, "DELETE FROM events WHERE position > 13")
    edit(base, "UPDATE state SET position = 13, instant = ?", instant)
    with ledger_of(base) as connection:
        later = connection.execute("SELECT id FROM certificates WHERE issued_at > ?", (instant,)).fetchall()
    found = places(audit(base))
    assert {f"certificate {UUID(bytes=row[0])}" for row in later} <= found
    assert any(place.startswith("facts ") for place in found)
    assert {"state", "stores/complete", "stores/current"} <= found
    assert at == 13


def test_case_33_the_whole_log_was_deleted(base: Path) -> None:
    edit(base, "DELETE FROM events")
    assert {"events 0", "state"} <= places(audit(base))


def test_case_33_a_middle_event_was_deleted(base: Path) -> None:
    edit(base, "DELETE FROM events WHERE position = 7")
    assert "events 7" in places(audit(base))


def test_case_33_the_ledger_of_yesterday_was_restored_under_the_stores_of_today(tmp_path: Path) -> None:
    clock = SetClock()
    with Base.open(tmp_path / "base", host=clock) as base:
        yesterday(base, clock)
    copy(tmp_path / "base", tmp_path / "backup")
    clock.move(DAY)
    with Base.open(tmp_path / "base", host=clock) as base:
        today(base, clock)
    assert audit(tmp_path / "base").sound
    for name in ("ledger.sqlite", "ledger.seal"):
        (tmp_path / "backup" / name).replace(tmp_path / "base" / name)
    found = audit(tmp_path / "base")
    assert places(found) == {"stores/complete", "stores/current"}
    assert all("ahead of the ledger" in fault.what for fault in found.faults)
    with pytest.raises(DamagedBase, match="ahead"):
        Base.open(tmp_path / "base", host=clock)


def signed(base: Path, size: int | None = None) -> str:
    """A checkpoint of a base, as it is kept elsewhere."""
    with Base.open(base, host=SetClock(LATER)) as opened:
        log = LogReader(opened.ledger, opened.key)
        return log.checkpoint() if size is None else log.consistency(0, size).checkpoint


def test_a_checkpoint_from_elsewhere_is_held_against_the_log(base: Path) -> None:
    for size in (0, 9, None):
        audited = audit(base, checkpoint=signed(base, size))
        assert audited.sound
        assert audited.counts.anchored == (audited.counts.events if size is None else size)


def test_case_33_a_base_that_was_put_back_whole_is_known_by_its_checkpoint(tmp_path: Path) -> None:
    clock, live = SetClock(), tmp_path / "live"
    with Base.open(live, host=clock) as opened:
        yesterday(opened, clock)
    copy(live, tmp_path / "yesterday")
    with Base.open(live, host=clock) as opened:
        write(opened, Assert(living(OSLO, person(9))))
        anchor = LogReader(opened.ledger, opened.key).checkpoint()
    assert audit(live, checkpoint=anchor).sound
    assert audit(tmp_path / "yesterday").sound
    found = audit(tmp_path / "yesterday", checkpoint=anchor)
    assert ["was replaced by an older one" in fault.what for fault in found.faults] == [True]


def test_case_33_another_history_of_the_same_base_is_known_by_its_checkpoint(tmp_path: Path) -> None:
    clock, live = SetClock(), tmp_path / "live"
    with Base.open(live, host=clock) as opened:
        yesterday(opened, clock)
    copy(live, tmp_path / "fork")
    anchors = []
    for fork, home in ((live, OSLO), (tmp_path / "fork", PARIS)):
        with Base.open(fork, host=SetClock(clock.at)) as opened:
            write(opened, Assert(living(home, person(9))))
            anchors.append(LogReader(opened.ledger, opened.key).checkpoint())
    assert audit(live, checkpoint=anchors[0]).sound
    found = audit(live, checkpoint=anchors[1])
    assert ["was rewritten" in fault.what for fault in found.faults] == [True]


def test_a_checkpoint_of_another_base_or_key_is_named(base: Path, tmp_path: Path) -> None:
    make(tmp_path / "other", days=1)
    for checkpoint in (signed(tmp_path / "other"), "nonsense"):
        assert places(audit(base, checkpoint=checkpoint)) == {"checkpoint"}


def test_kept_roots_of_subtrees_that_were_edited_are_named(tmp_path: Path) -> None:
    clock, live = SetClock(), tmp_path / "live"
    with Base.open(live, host=clock) as opened:
        for number in range(130):
            write(opened, Assert(living(OSLO, person(number))))
    assert audit(live).sound
    edit(live, "UPDATE subtrees SET root = zeroblob(32)")
    assert places(audit(live)) == {"subtrees 1 0"}
    edit(live, "DELETE FROM subtrees")
    assert places(audit(live)) == {"subtrees 1 0"}
    edit(live, "INSERT INTO subtrees SELECT 1, 7, leaf FROM events WHERE position = 0")
    assert "subtrees 1 0" in places(audit(live))


def test_case_33_the_command_fails_and_says_which(base: Path) -> None:
    assert run("audit", "--data", base).status == 0
    identifier, document = asked(base, "SELECT id, document FROM certificates ORDER BY id LIMIT 1")
    edit(base, "UPDATE certificates SET document = ? WHERE id = ?", flipped(blob(document), 40), blob(identifier))
    ended = run("audit", "--data", base)
    assert ended.status == 1
    assert f"certificate {UUID(bytes=blob(identifier))}" in ended.output


# --- the log ----------------------------------------------------------------------------------------------------------


def test_an_edited_event_is_named(base: Path) -> None:
    event = one(base, "SELECT event FROM events WHERE position = 9")
    edit(
        base, "UPDATE events SET event = ? WHERE position = 9", event.replace(b"12:00:01.000001Z", b"12:00:01.000009Z")
    )
    assert "events 9" in named(base)


def test_an_edited_event_that_got_a_leaf_hash_of_its_own_is_named(base: Path) -> None:
    event = one(base, "SELECT event FROM events WHERE position = 9").replace(b'"previous":7', b'"previous":5')
    edit(base, "UPDATE events SET event = ?, leaf = ? WHERE position = 9", event, leaf_hash(event))
    assert named(base) == {"events 9"}


def test_an_event_that_cannot_be_read_is_named(base: Path) -> None:
    edit(base, "UPDATE events SET event = x'ff00' WHERE position = 4")
    assert "events 4" in named(base)


@pytest.mark.parametrize(("one_position", "other"), [(0, 1), (1, 3), (5, 15), (18, 22), (15, 16)])
def test_swapped_events_are_named(base: Path, one_position: int, other: int) -> None:
    with ledger_of(base) as connection:
        for source, target in ((one_position, -1), (other, one_position), (-1, other)):
            connection.execute("UPDATE events SET position = ? WHERE position = ?", (target, source))
    assert named(base) & {f"events {one_position}", f"events {other}"}


def test_a_state_digest_that_was_changed_is_named(base: Path) -> None:
    edit(base, "UPDATE state SET digest = ?", LatticeHash().to_bytes())
    assert named(base) == {"state"}


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE state SET position = position - 1",
        "UPDATE state SET instant = instant + 1",
        "UPDATE state SET digest = x'00'",
        "DELETE FROM state",
    ],
)
def test_a_head_that_was_moved_is_named(base: Path, sql: str) -> None:
    edit(base, sql)
    assert "state" in named(base)


# --- certificates -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "change"),
    [
        ("verdict = 'clear'", "verdict = 'review'"),
        ("state = 'refused'", "state = 'pending'"),
        ("state = 'pending'", "state = 'rejected'"),
        ("state = 'rejected'", "state = 'stale'"),
        ("state = 'stale'", "successor = NULL"),
        ("state = 'applied'", "principal = 'somebody'"),
        ("state = 'pending'", "graphs = '[]'"),
        ("state = 'applied'", "graphs = '[\"http://example.org/seen\"]'"),
        ("state = 'applied'", "graphs = 'nonsense'"),
        ("state = 'applied'", "issued_at = issued_at - 1"),
        ("state = 'refused'", "issued_at = 9223372036854775807"),
        ("state = 'applied'", "base_head = 10000"),
        ("state = 'applied'", "instant = instant + 1"),
        ("state = 'applied'", "head = 10000"),
        ("state = 'applied'", "document = x''"),
    ],
)
def test_a_certificates_row_that_was_edited_is_named(base: Path, condition: str, change: str) -> None:
    identifier = one(base, f"SELECT max(id) FROM certificates WHERE {condition}")
    edit(base, f"UPDATE certificates SET {change} WHERE id = ?", identifier)
    assert f"certificate {UUID(bytes=identifier)}" in named(base)


def test_a_certificate_that_is_gone_is_named(base: Path) -> None:
    identifier = one(base, A_CLEAR)
    edit(base, "DELETE FROM certificates WHERE id = ?", identifier)
    assert f"certificate {UUID(bytes=identifier)}" in named(base)


def test_a_certificate_of_another_base_is_named(base: Path, tmp_path: Path) -> None:
    make(tmp_path / "other", days=1)
    identifier = one(base, A_CLEAR)
    theirs = one(tmp_path / "other", "SELECT document FROM certificates ORDER BY id LIMIT 1")
    edit(base, "UPDATE certificates SET document = ? WHERE id = ?", theirs, identifier)
    assert f"certificate {UUID(bytes=identifier)}" in named(base)


def test_a_key_that_is_not_the_bases_is_named(base: Path, tmp_path: Path) -> None:
    key = SigningKey.generate()
    (base / "keys" / "signing.key").unlink()
    key.save(base / "keys" / "signing.key")
    found = audit_ledger(base)
    assert "keys/signing.key" in places(found)
    assert found.counts.signatures == 0
    assert sum("not as the base signed it" in fault.what for fault in found.faults) == found.counts.certificates + 4


def test_a_key_from_elsewhere_finds_what_was_signed_anew(base: Path) -> None:
    assert audit(base, SigningKey.load(base / "keys" / "signing.key").public).sound
    found = audit(base, SigningKey.generate().public)
    assert "keys" in places(found)
    assert found.counts.signatures == 0


def test_a_key_that_is_gone_is_named_and_all_else_is_audited(base: Path) -> None:
    (base / "keys" / "signing.key").unlink()
    found = audit_ledger(base)
    assert places(found) == {"keys/signing.key"}
    assert found.counts.facts > 0


@pytest.mark.parametrize("kind", ["decision", "recheck"])
def test_a_decision_that_is_dropped_or_edited_is_named(base: Path, kind: str) -> None:
    place, certificate, record = asked(base, "SELECT place, certificate, record FROM decisions WHERE kind = ?", kind)
    assert isinstance(place, int)
    forged = blob(record).replace(b"2026-05-07", b"2026-05-08", 1)
    edit(base, "UPDATE decisions SET record = ? WHERE place = ?", forged, place)
    named_first = named(base)
    assert {f"certificate {UUID(bytes=blob(certificate))}", f"decisions {place}"} <= named_first
    edit(base, "DELETE FROM decisions WHERE place = ?", place)
    assert f"certificate {UUID(bytes=blob(certificate))}" in named(base)


@pytest.mark.parametrize("change", ["kind = 'other'", "comment = NULL", "comment = 7", "certificate = zeroblob(16)"])
def test_a_decisions_row_that_was_edited_is_named(base: Path, change: str) -> None:
    edit(base, f"UPDATE decisions SET {change} WHERE place = 1")
    assert "decisions 1" in named(base)


# --- items ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["salt", "body"])
@pytest.mark.parametrize("kind", ["plan", "finding", "comment"])
def test_an_item_that_was_edited_is_named(base: Path, column: str, kind: str) -> None:
    certificate, ordinal, value = asked(
        base, f"SELECT certificate, ordinal, {column} FROM items WHERE kind = ? ORDER BY ordinal DESC", kind
    )
    edit(
        base,
        f"UPDATE items SET {column} = ? WHERE certificate = ? AND kind = ? AND ordinal = ?",
        flipped(blob(value), 5), blob(certificate), kind, int(ordinal),
    )  # fmt: skip
    suffix = "" if kind == "comment" else f" {int(ordinal)}"
    assert f"items {UUID(bytes=blob(certificate))} {kind}{suffix}" in named(base)


@pytest.mark.parametrize("kind", ["plan", "finding", "comment"])
def test_a_leaf_hash_that_was_edited_is_named(base: Path, kind: str) -> None:
    certificate, hashes = asked(base, "SELECT certificate, hashes FROM leaves WHERE kind = ?", kind)
    edit(
        base,
        "UPDATE leaves SET hashes = ? WHERE certificate = ? AND kind = ?",
        flipped(blob(hashes)),
        blob(certificate),
        kind,
    )
    owner = UUID(bytes=blob(certificate))
    found = named(base)
    assert found & {f"leaves {owner} {kind}", f"items {owner} {kind}"}


def test_leaf_hashes_that_are_gone_or_moved_are_named(base: Path) -> None:
    certificate = one(base, "SELECT certificate FROM leaves WHERE kind = 'plan' LIMIT 1")
    edit(base, "UPDATE leaves SET first = 1 WHERE certificate = ? AND kind = 'plan'", certificate)
    assert f"leaves {UUID(bytes=certificate)} plan" in named(base)
    edit(base, "DELETE FROM leaves WHERE certificate = ? AND kind = 'plan'", certificate)
    assert {f"leaves {UUID(bytes=certificate)} plan", f"items {UUID(bytes=certificate)} plan 0"} <= named(base)


@pytest.mark.parametrize("ordinal", [-1, 500])
def test_an_item_that_was_added_is_named(base: Path, ordinal: int) -> None:
    certificate = one(base, A_CLEAR)
    edit(base, "INSERT INTO items VALUES (?, 'plan', ?, zeroblob(16), x'7b7d')", certificate, ordinal)
    assert named(base) == {f"items {UUID(bytes=certificate)} plan {ordinal}"}


def test_items_of_unknown_kinds_and_owners_are_named(base: Path) -> None:
    certificate = one(base, A_CLEAR)
    edit(base, "INSERT INTO items VALUES (?, 'other', 0, zeroblob(16), x'7b7d')", certificate)
    edit(base, "INSERT INTO items VALUES (?, 'comment', 0, zeroblob(16), x'7b7d')", certificate)
    edit(base, "INSERT INTO items VALUES (zeroblob(16), 'plan', 0, zeroblob(16), x'7b7d')")
    owner = UUID(bytes=certificate)
    assert named(base) == {f"items {owner} other", f"items {owner} comment", f"items {bytes(16).hex()}"}


def test_items_that_are_gone_are_verified_by_commitment_counted_and_named_as_no_purge_took_them(base: Path) -> None:
    with ledger_of(base) as connection:
        gone = connection.execute("DELETE FROM items WHERE kind <> 'plan' OR ordinal > 0").rowcount
    found = audit_ledger(base)
    assert {fault.what for fault in found.faults} == {"is gone, and no purge took it"}
    assert found.counts.by_commitment == len(found.faults) == gone
    edit(base, "UPDATE facts SET leaf = zeroblob(32) WHERE id = ?", one(base, SUPERSEDED))
    assert audit_ledger(base).total > gone


def test_a_fact_that_no_gone_item_explains_is_named(base: Path) -> None:
    with ledger_of(base) as connection:
        connection.execute("DELETE FROM items WHERE kind = 'plan' AND ordinal > 0")
    add_fact(base, leaf=bytes(32))
    assert f"facts {UUID(int=7)}" in named(base)


# --- facts ------------------------------------------------------------------------------------------------------------


def add_fact(base: Path, leaf: bytes | None = None) -> None:
    """A fact like the first one, but with an id of its own."""
    edit(
        base,
        """INSERT INTO facts SELECT (SELECT max(row) + 1 FROM facts), ?, family, subject, predicate, object, graph,
            subject_key, predicate_key, object_key, graph_key, valid_from, valid_to, from_precision, to_precision,
            recorded, superseded, certificate, superseded_by, coalesce(?, leaf) FROM facts WHERE row = 1""",
        UUID(int=7).bytes,
        leaf,
    )  # fmt: skip


@pytest.mark.parametrize("which", [BELIEVED, SUPERSEDED])
@pytest.mark.parametrize(
    "change",
    [
        f"subject = '{OSLO.n3}'",
        f"predicate = '{OSLO.n3}'",
        "object = '\"forged\"'",
        "object = '<urn:forged>'",
        "object = 'nonsense'",
        "graph = '<urn:forged>'",
        "family = zeroblob(16)",
        "valid_from = 7, valid_to = 8",
        "valid_from = -9223372036854775808",
        "from_precision = 5",
        "to_precision = 99",
        "recorded = recorded - 1",
        "subject_key = subject_key + 1",
        "predicate_key = 0",
        "object_key = object_key - 1",
        "graph_key = 1",
        "certificate = zeroblob(16)",
        "leaf = zeroblob(32)",
        "superseded = recorded + 1, superseded_by = zeroblob(16)",
        "superseded = recorded + 1",
    ],
)
def test_a_fact_that_was_edited_is_named(base: Path, which: str, change: str) -> None:
    edited = one(base, which)
    before = asked(base, "SELECT * FROM facts WHERE id = ?", edited)
    edit(base, f"UPDATE facts SET {change} WHERE id = ?", edited)
    assert (f"facts {UUID(bytes=edited)}" in named(base)) == (
        asked(base, "SELECT * FROM facts WHERE id = ?", edited) != before
    )


def test_a_fact_whose_terms_were_cut_elsewhere_is_named(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base", host=SetClock()) as base:
        write(base, Assert(living(Literal("two words"))))
    predicate, value = f'{LIVES_IN.n3} "two', 'words"'
    change = "predicate = ?, object = ?, predicate_key = ?, object_key = ?"
    edit(tmp_path / "base", f"UPDATE facts SET {change}", predicate, value, term_key(predicate), term_key(value))
    fact = uuid_of(tmp_path / "base", "SELECT id FROM facts")
    assert f"facts {fact}" in named(tmp_path / "base")


def test_more_facts_than_are_asked_for_at_once_are_each_looked_at(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base", host=SetClock()) as base:
        load(base, "many", [Assert(living(PARIS, person(number))) for number in range(1_100)])
    assert audit_ledger(tmp_path / "base").counts.facts == 1_100
    edited = uuid_of(tmp_path / "base", "SELECT id FROM facts ORDER BY row LIMIT 1 OFFSET 777")
    edit(tmp_path / "base", "UPDATE facts SET valid_from = 7 WHERE id = ?", edited.bytes)
    found = audit_ledger(tmp_path / "base")
    assert (places(found), found.counts.facts) == ({f"facts {edited}"}, 1_099)


def test_a_supersession_that_was_undone_is_named(base: Path) -> None:
    edited = one(base, SUPERSEDED)
    edit(base, "UPDATE facts SET superseded = 9223372036854775807, superseded_by = NULL WHERE id = ?", edited)
    assert f"facts {UUID(bytes=edited)}" in named(base)


@pytest.mark.parametrize("which", [BELIEVED, SUPERSEDED])
def test_a_fact_that_was_deleted_is_named(base: Path, which: str) -> None:
    deleted = one(base, which)
    edit(base, "DELETE FROM facts WHERE id = ?", deleted)
    assert f"facts {UUID(bytes=deleted)}" in named(base)


def test_a_fact_that_was_added_is_named(base: Path) -> None:
    add_fact(base)
    found = named(base)
    assert {place for place in found if place.startswith("facts ")} == {f"facts {UUID(int=7)}"}


def test_a_fact_that_took_the_place_of_another_is_named_and_so_is_that(base: Path) -> None:
    victim = one(base, BELIEVED)
    edit(base, "UPDATE facts SET id = ? WHERE id = ?", UUID(int=7).bytes, victim)
    assert {f"facts {UUID(bytes=victim)}", f"facts {UUID(int=7)}"} <= named(base)


@pytest.mark.parametrize(
    "change",
    [
        "episode = '<urn:forged>'",
        "confidence = '0.99'",
        "confidence = '+0.9'",
        "object = '\"forged\"'",
        "valid_from = '1999'",
        "certificate = zeroblob(16)",
        "recorded = recorded + 1",
        "fact = zeroblob(16)",
    ],
)
def test_evidence_that_was_edited_is_named(base: Path, change: str) -> None:
    edited = one(base, "SELECT id FROM evidence WHERE confidence = '0.9' LIMIT 1")
    edit(base, f"UPDATE evidence SET {change} WHERE id = ?", edited)
    assert f"evidence {UUID(bytes=edited)}" in named(base)


def test_evidence_that_was_deleted_or_doubled_is_named(base: Path) -> None:
    edited = one(base, "SELECT id FROM evidence ORDER BY row LIMIT 1")
    columns = "id, fact, episode, confidence, object, valid_from, valid_to, certificate, recorded"
    copied = f"INSERT INTO evidence SELECT 1000, {columns} FROM evidence WHERE id = ?"
    edit(base, copied, edited)
    assert f"evidence {UUID(bytes=edited)}" in named(base)
    edit(base, "DELETE FROM evidence WHERE id = ?", edited)
    assert f"evidence {UUID(bytes=edited)}" in named(base)


def test_believed_facts_of_one_statement_that_overlap_are_named(base: Path) -> None:
    first, second = (
        one(base, f"SELECT id FROM facts WHERE superseded_by IS NULL AND object = '{PARIS.n3}' AND subject = '{ANN.n3}'"
            f" ORDER BY valid_from LIMIT 1 OFFSET {number}")
        for number in (0, 1)
    )  # fmt: skip
    edit(base, "UPDATE facts SET valid_to = 9223372036854775807 WHERE id = ?", first)
    overlapping = [fault.place for fault in audit_ledger(base).faults if "overlaps" in fault.what]
    assert f"facts {UUID(bytes=second)}" in overlapping


# --- other tables -----------------------------------------------------------------------------------------------------


def test_what_the_other_tables_say_without_ground_is_named(base: Path) -> None:
    waiting = uuid_of(base, "SELECT id FROM certificates WHERE state = 'pending'")
    clear = uuid_of(base, A_CLEAR)
    edit(base, "INSERT INTO graphs VALUES ('<urn:never>')")
    edit(base, "DELETE FROM graphs WHERE graph = ?", OTHER.n3)
    edit(base, "UPDATE idempotency SET certificate = zeroblob(16) WHERE key = 'first'")
    edit(base, "DELETE FROM requests WHERE certificate = ?", waiting.bytes)
    edit(base, "INSERT INTO requests VALUES (?, x'7b7d')", clear.bytes)
    assert {
        "graphs <urn:never>",
        f"graphs {OTHER.n3}",
        f"idempotency {bytes(16).hex()}",
        f"requests {waiting}",
        f"requests {clear}",
    } == named(base)


def test_a_base_of_another_id_is_named_at_every_certificate(base: Path) -> None:
    edit(base, "UPDATE meta SET value = zeroblob(16)")
    found = audit_ledger(base)
    assert found.total == found.counts.certificates + 1
    assert "keys/tombstone.key" in {fault.place for fault in found.faults}


@pytest.mark.parametrize("index", ["facts_by_id", "facts_by_time"])
def test_an_index_that_is_not_what_its_table_says_is_named(base: Path, index: str) -> None:
    with ledger_of(base) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (index,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute("PRAGMA journal_mode = DELETE")
    with (base / "ledger.sqlite").open("r+b") as file:
        file.seek(page * size - 12)
        byte = file.read(1)
        file.seek(page * size - 12)
        file.write(bytes([byte[0] ^ 0x40]))
    assert "ledger.sqlite" in named(base)


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        ("CREATE TRIGGER tr AFTER INSERT ON principals BEGIN UPDATE principals SET role = 4; END", "trigger tr"),
        ("CREATE VIEW v AS SELECT * FROM facts", "view v"),
        ("CREATE TABLE t (x)", "table t"),
        ("CREATE UNIQUE INDEX i ON facts (id, subject)", "index i"),
        ("DROP INDEX heads", "heads"),
        ("ALTER TABLE idempotency RENAME COLUMN key TO k", "table idempotency"),
    ],
)
def test_what_is_no_part_of_a_ledger_or_made_otherwise_is_named(base: Path, sql: str, place: str) -> None:
    with ledger_of(base) as connection:
        connection.execute(sql)
    assert f"ledger.sqlite {place}" in named(base)


def test_what_the_row_of_a_purge_says_is_held_against_its_certificate(base: Path) -> None:
    with Base.open(base, host=SetClock(LATER)) as opened:
        record = purge(opened, Target(TargetKind.NODE, ANN))
    assert audit_ledger(base).sound
    for column, value in (("asked_by", "mallory"), ("kind", "graph"), ("decided_by", "mallory"), ("head", 0)):
        (before,) = asked(base, f"SELECT {column} FROM purges")
        edit(base, f"UPDATE purges SET {column} = ?", value)
        assert f"purges {record.id}" in named(base), column
        edit(base, f"UPDATE purges SET {column} = ?", before)
    assert audit_ledger(base).sound


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"nonsense" * 2_000, b"SQLite format 3\x00" + bytes(4_080)])
def test_a_file_that_is_no_ledger_is_a_fault(base: Path, content: bytes) -> None:
    (base / "ledger.sqlite").write_bytes(content)
    assert named(base) == {"ledger.sqlite"}


def test_a_file_that_lost_its_second_half_is_a_fault(base: Path) -> None:
    with ledger_of(base) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    whole = (base / "ledger.sqlite").read_bytes()
    (base / "ledger.sqlite").write_bytes(whole[: len(whole) // 2])
    assert "ledger.sqlite" in named(base)


@pytest.mark.parametrize(
    "table", ["events", "facts", "items", "certificates", "state", "evidence", "graphs", "meta", "keys"]
)
def test_a_table_that_is_gone_is_a_fault(base: Path, table: str) -> None:
    with ledger_of(base) as connection:
        connection.execute(f"DROP TABLE {table}")
    assert not audit_ledger(base).sound


def test_a_folder_without_base_and_a_ledger_of_another_format_cannot_be_audited(base: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        audit(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    with ledger_of(base) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(DamagedBase, match="format 99"):
        audit_ledger(base)


# --- stores -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("projection", ["complete", "current"])
def test_a_quad_that_was_added_to_a_store_is_named(base: Path, projection: str) -> None:
    tamper(base, projection, add=RUBBISH)
    assert places(audit(base)) == {f"stores/{projection} {RUBBISH}"}


@pytest.mark.parametrize("projection", ["complete", "current"])
def test_a_quad_that_was_taken_from_a_store_is_named(base: Path, projection: str) -> None:
    quad = min(ox.Store(base / "stores" / projection), key=str)
    tamper(base, projection, remove=quad)
    assert places(audit(base)) == {f"stores/{projection} {quad}"}


def test_a_quad_that_took_the_place_of_another_is_named_and_so_is_that(base: Path) -> None:
    quad = max(ox.Store(base / "stores" / "complete"), key=str)
    tamper(base, "complete", add=RUBBISH, remove=quad)
    assert places(audit(base)) == {f"stores/complete {quad}", f"stores/complete {RUBBISH}"}


@pytest.mark.parametrize("projection", ["complete", "current"])
def test_a_store_that_is_gone_or_damaged_is_named(base: Path, projection: str) -> None:
    for file in (base / "stores" / projection).glob("MANIFEST*"):
        file.write_bytes(b"nonsense")
    assert places(audit(base)) == {f"stores/{projection}"}
    shutil.rmtree(base / "stores" / projection)
    assert places(audit(base)) == {f"stores/{projection}"}
    assert not (base / "stores" / projection).exists()


def test_a_key_of_tombstones_that_is_gone_or_damaged_is_named(base: Path) -> None:
    key = base / "keys" / "tombstone.key"
    key.write_bytes(bytes(len(key.read_bytes())))
    assert named(base) == {"keys/tombstone.key"}
    key.unlink()
    assert named(base) == {"keys/tombstone.key"}
