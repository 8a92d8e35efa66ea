"""What was purged is erased from every file of a base, also after failures, and all else is proved as before."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from errno import ENOSPC
from functools import partial
from pathlib import Path
from random import Random
from time import monotonic, sleep
from types import ModuleType
from typing import TypeAlias

import pyoxigraph as ox
import pytest

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.ledger.sqlite import SqliteLedger
from bridge.purging.graves import stones_of
from bridge.signing.log import LoggedEvent, LogReader
from bridge.snapshots.cache import Snapshots
from bridge.stores import checkpoints, pair
from bridge.stores.errors import open_store
from bridge.stores.pair import OxigraphStores, rebuild, same_quads
from bridge.stores.projections import Projection
from bridge.stores.serving import BRIEF
from bridge.stores.successor import Successor
from bridge.upkeep.backup import back_up, restore
from certificates.events import Applied, Issued, decode_event
from certificates.log_proofs import InclusionProof
from certificates.logged import logged
from certificates.proof import verify
from certificates.receipt import Receipt, ReceiptStatus
from certificates.receipt import verify as verify_receipt
from kernel.changes import Assert, Retract
from kernel.errors import BackupRefused, DamagedBase, StoreUnavailable, WasPurged
from kernel.facts import Spelling
from kernel.ports.purges import PurgeRecord, PurgeState
from kernel.ports.stores import StoreDelta
from kernel.purging.targets import Target, TargetKind
from kernel.terms import Iri, Literal, Statement
from kernel.time.instants import Instant
from kernel.vocabulary import DEFAULT_GRAPH
from tests.bridge.impact.asking import AUTO, impacts, register, registered
from tests.bridge.purging import (
    LETTER,
    OTHER,
    SAID,
    SAYS,
    SECRET,
    asked,
    bytes_of,
    everything,
    fact_of,
    purge,
    sound,
    tell,
)
from tests.bridge.writing import (
    ADMINISTRATOR,
    ANN,
    DOUBTED,
    PARIS,
    PATIENCE,
    ROME,
    SetClock,
    during,
    homes,
    living,
    person,
    stage,
    write,
)

HANGS = 600.0
"""Seconds that a purge of thousands of facts takes on no machine, however busy."""

Series: TypeAlias = Callable[[Instant | None, Instant], Iterable[StoreDelta]]


@pytest.fixture
def base() -> Iterator[Base]:
    with Base.open(None, host=SetClock()) as opened:
        yield opened


def complete(base: Base, record: PurgeRecord) -> Receipt:
    """The receipt, once the purge has ended."""
    base.purges.settled()
    ended = base.purges.one(ADMINISTRATOR, record.id)
    assert ended.state is PurgeState.COMPLETE
    assert ended.receipt is not None
    return verify_receipt(ended.receipt, base.key.public)


def test_the_only_fact_that_holds_a_value_is_nowhere_and_does_not_come_back(tmp_path: Path) -> None:
    """Cases 34 and 44."""
    folder, clock = tmp_path / "base", SetClock()
    marks = (b"Xyzzy", b"letter-xyzzy", b"only-here")
    told = Statement(Iri("http://example.org/only-here"), SAYS, SECRET, DEFAULT_GRAPH)
    with Base.open(folder, host=clock) as base:
        random = Random(7)

        def splitting() -> None:  # pages, in which copies of what is deleted stay
            for _ in range(16):
                write(base, *(Assert(living(PARIS, person(random.randrange(400)))) for _ in range(8)))

        splitting()
        asserted = Assert(told, spelling=Spelling(Literal("Xyzzy  as it was spelt")))
        tell(base, asserted, reason="Xyzzy, he said", episode=LETTER, key="once")
        before = base.reader.head()
        splitting()
        write(base, Assert(told, during(2000, 2001)))
        assert b"Xyzzy" in asked(base, "?s ?p ?o", as_of=f"head:{before.position}", valid_at="2015")
        record = purge(base, fact_of(base, told))
        assert record.receipt is not None
        pending = verify_receipt(record.receipt, base.key.public)
        assert pending.status is ReceiptStatus.PENDING
        assert "current store" in pending.not_reached
        receipt = complete(base, record)
        assert {"current store", "complete store", "free pages", "write-ahead log"} <= {*receipt.erased}
        assert {"backups", "delivered exports"} <= {*receipt.not_reached}
    for _ in range(2):
        found = bytes_of(folder)
        assert [mark for mark in marks if mark in found] == []
        audited = audit(folder)
        assert (audited.faults, audited.whole) == ((), True)
        assert audited.counts.by_commitment > 0
        with Base.open(folder, host=clock) as base:
            assert b"Xyzzy" not in asked(base, "?s ?p ?o", as_of=f"head:{before.position}", valid_at="2015")
            for change in (Assert(told), Assert(told, during(1800, 1801))):
                with pytest.raises(WasPurged):
                    write(base, change)
            write(base, Assert(Statement(ANN, SAYS, Literal("another"), DEFAULT_GRAPH)))
            sound(base)
            anew = tmp_path / f"anew-{clock.at}"
            clock.move(1_000_000)
            with base.ledger.reading() as view:
                rebuild(view, anew)
            for projection in Projection:
                assert base.stores.read(projection, partial(same_quads, open_store(anew / projection)))[0]


def test_a_store_that_queries_about_plans_are_asked_of_keeps_nothing_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "FEW", 0)
    told = Statement(ANN, SAYS, SECRET, DEFAULT_GRAPH)
    with Base.open(tmp_path / "base", policy=AUTO, host=SetClock()) as base:
        register(base, registered("said", f"SELECT (str(?said) AS ?text) {{ ?who {SAYS.n3} ?said }}"))
        write(base, Assert(living(PARIS)))
        assert impacts(write(base, Assert(told)).findings)
        assert [*(tmp_path / "base" / "stores").glob("*.checkpoint-*")]
        assert complete(base, purge(base, fact_of(base, told))).status is ReceiptStatus.COMPLETE


def proofs(base: Base) -> list[InclusionProof]:
    """That the log has each certificate as issued, and as applied: what strangers have kept."""
    log = LogReader(base.ledger, base.key)
    with base.ledger.reading() as view:
        records = [*view.certificates(limit=1_000_000)]
    return [log.of_certificate(ADMINISTRATOR, record.id, event) for record in records for event in LoggedEvent]


def prove(base: Base, before: list[InclusionProof]) -> None:
    """What was proved before is proved still, of the log of then and of now; and the one begins with the other."""
    log, key = LogReader(base.ledger, base.key), base.key.public
    old = before[0].verify(log.origin, key)
    assert log.consistency(old.size).verify(old, key).size > old.size
    with base.ledger.reading() as view:
        documents = {record.id: record.document for record in view.certificates(limit=1_000_000)}
    certificates = {identifier: verify(document, key) for identifier, document in documents.items()}
    after = proofs(base)
    assert len(after) == 2 * len(documents)
    for proof in (*before, *after):
        event = decode_event(proof.entry)
        assert isinstance(event, Issued | Applied)
        assert logged(certificates[event.certificate], documents[event.certificate], proof, key).event == event
    for kept in before[::50]:
        assert log.inclusion(ADMINISTRATOR, kept.position, old.size) == kept


@pytest.mark.parametrize(("certificates", "purges"), [(36, 4), pytest.param(10_000, 100, marks=pytest.mark.fuzz)])
def test_many_purges_among_many_certificates_leave_everything_that_can_be_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, certificates: int, purges: int
) -> None:
    folder, random = tmp_path / "base", Random(3)
    with Base.open(folder, host=SetClock()) as base:
        if certificates > 1_000:  # each purge would have the stores made anew that are being made anew
            monkeypatch.setattr(base.purges.eraser, "wake", lambda: None)
        for number in range(certificates):
            subject = person(number)
            tell(
                base,
                Assert(Statement(subject, SAYS, Literal(f"mark-{number}-it"), DEFAULT_GRAPH)),
                Assert(living(PARIS, subject, graph=OTHER if number % 3 else DEFAULT_GRAPH)),
                episode=Iri(f"urn:letter:{number % 7}"),
            )
            if number % 4 == 0:
                write(base, Retract(living(PARIS, subject, graph=OTHER if number % 3 else DEFAULT_GRAPH)))
        before = proofs(base)
        gone = random.sample(range(certificates), purges)
        for number in gone:
            purge(base, Target(TargetKind.NODE, person(number)), patience=HANGS)
            write(base, Assert(living(ROME, person(certificates + number))))
        purge(base, Target(TargetKind.EPISODE, Iri("urn:letter:3")), patience=HANGS)
        monkeypatch.undo()
        purge(base, Target(TargetKind.GRAPH, OTHER), patience=HANGS)
        base.purges.settled()
        assert {complete(base, record).status for record in base.purges.listed(ADMINISTRATOR)} == {
            ReceiptStatus.COMPLETE
        }
        sound(base)
        prove(base, before)
        with base.ledger.reading() as view:
            rebuild(view, tmp_path / "anew")
        for projection in Projection:
            anew = open_store(tmp_path / "anew" / projection)
            assert base.stores.read(projection, partial(same_quads, anew))[0]
    found = bytes_of(folder)
    assert not [number for number in gone if f"mark-{number}-it".encode() in found]
    assert b"other-graph" not in found
    assert b"urn:letter:3" not in found
    audited = audit(folder)
    assert (audited.faults, audited.whole) == ((), True)


def test_what_was_not_erased_before_a_kill_is_erased_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "base"
    with Base.open(folder, host=SetClock()) as base:
        write(base, Assert(SAID), Assert(living(PARIS)))
        monkeypatch.setattr(base.purges.eraser, "wake", lambda: None)
        monkeypatch.setattr(base.stores, "apply", lambda delta: None)
        record = purge(base, fact_of(base, SAID))
        monkeypatch.undo()
    with Base.open(folder, host=SetClock()) as base:
        assert b"Xyzzy" not in everything(base)
        assert homes(base) == {PARIS}
        complete(base, record)
    assert b"Xyzzy" not in bytes_of(folder)
    assert audit(folder).faults == ()


def test_stores_that_fail_in_a_purge_begin_with_nothing(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    write(base, Assert(SAID), Assert(living(PARIS)))

    def failing(delta: object) -> None:
        raise StoreUnavailable("the disk is gone", remedy="none")

    monkeypatch.setattr(base.stores, "apply", failing)
    monkeypatch.setattr(base.purges.eraser, "wake", lambda: None)
    purge(base, fact_of(base, SAID))
    monkeypatch.undo()
    with pytest.raises(StoreUnavailable):
        everything(base)
    while base.behind:
        write(base, Assert(living(ROME)))
    assert b"Xyzzy" not in everything(base)
    assert homes(base) == {PARIS, ROME}


def test_writes_go_on_while_stores_are_made_anew(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base", host=SetClock()) as base:
        write(base, Assert(SAID), *(Assert(living(PARIS, person(number))) for number in range(300)))
        record = purge(base, fact_of(base, SAID))
        more = 0
        while base.purges.one(ADMINISTRATOR, record.id).state is PurgeState.PENDING:
            write(base, Assert(living(ROME, person(10_000 + more))))
            more += 1
        assert homes(base, subject=person(10_000 + more - 1)) == {ROME}
        names = {path.name for path in (tmp_path / "base" / "stores").iterdir()}
        assert names == {"complete-1", "current-1", "snapshots"}
    assert audit(tmp_path / "base").faults == ()


def test_without_its_key_no_base_with_tombstones_is_opened(tmp_path: Path) -> None:
    with Base.open(tmp_path / "base") as base:
        write(base, Assert(SAID))
        record = purge(base, fact_of(base, SAID))
        complete(base, record)
    key = tmp_path / "base" / "keys" / "tombstone.key"
    assert key.stat().st_mode & 0o777 == 0o600
    kept = key.read_bytes()
    for damage in (key.unlink, lambda: key.write_bytes(bytes(32)), lambda: key.write_bytes(b"short")):
        damage()
        with pytest.raises(DamagedBase):
            Base.open(tmp_path / "base")
        key.write_bytes(kept)
        key.chmod(0o600)
    key.chmod(0o644)
    with pytest.raises(DamagedBase):
        Base.open(tmp_path / "base")


@pytest.fixture(scope="module")
def purged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base that is closed, of which something was purged; for copies."""
    folder = tmp_path_factory.mktemp("purged") / "base"
    with Base.open(folder) as base:
        write(base, Assert(living(PARIS)))
        write(base, Assert(SAID))
        complete(base, purge(base, fact_of(base, SAID)))
    return folder


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("DELETE FROM items WHERE ordinal = 1 AND certificate IN (SELECT id FROM certificates LIMIT 1)", "items"),
        ("DELETE FROM erased_items", "purges"),
        ("UPDATE erased_facts SET leaf = zeroblob(32)", "purges"),
        ("DELETE FROM tombstones", "tombstones"),
        ("UPDATE purges SET receipt = x'7b7d'", "purges"),
        ("UPDATE purges SET state = 'pending'", "purges"),
        ("DELETE FROM purges", "purges"),
    ],
)  # fmt: skip
def test_what_was_taken_away_without_a_purge_is_told_from_what_was_purged(
    purged: Path, tmp_path: Path, sql: str, named: str
) -> None:
    folder = tmp_path / "base"
    shutil.copytree(purged, folder)
    connection = sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)
    assert connection.execute(sql).rowcount > 0
    connection.close()
    (folder / "ledger.seal").unlink()
    found = audit(folder)
    assert any(fault.place.startswith(named) for fault in found.faults), found.faults


def test_an_older_backup_that_is_put_back_loses_what_was_purged_since(tmp_path: Path) -> None:
    folder, backup, later, back = (tmp_path / name for name in ("base", "backup", "later", "back"))
    with Base.open(folder) as base:
        tell(base, Assert(SAID), Assert(living(PARIS)), episode=LETTER)
        write(
            base, Assert(living(PARIS, graph=OTHER)), Assert(living(ROME, person(1))), Assert(living(ROME, person(2)))
        )
        write(base, Assert(living(ROME, person(3)), confidence=DOUBTED))
        stage(base, "left", [Assert(living(ROME, person(4)))])
        back_up(folder, backup)
        for number in (1, 3, 4):
            purge(base, Target(TargetKind.NODE, person(number)))
        purge(base, Target(TargetKind.GRAPH, OTHER))
        purge(base, fact_of(base, SAID))
        complete(base, purge(base, Target(TargetKind.EPISODE, LETTER)))
        with base.ledger.reading() as view:
            left = sorted(fact.statement.nquad for fact in view.facts_recorded(None, view.head().instant or Instant(0)))
    back_up(folder, later)
    for known in (folder, later):
        restore(backup, back, purged=known)
        found = bytes_of(back)
        gone = (b"Xyzzy", b"letter-xyzzy", b"other-graph", b"person/1>", b"person/3>", b"person/4>")
        assert [each for each in gone if each in found] == []
        assert audit(back).faults == ()
        with Base.open(back) as base:
            with base.ledger.reading() as view:
                facts = view.facts_recorded(None, view.head().instant or Instant(0))
                assert sorted(fact.statement.nquad for fact in facts) == left
            with pytest.raises(WasPurged):
                write(base, Assert(SAID))
        shutil.rmtree(back)
    restore(backup, back)
    assert b"Xyzzy" in bytes_of(back)
    with Base.open(tmp_path / "another") as base, pytest.raises(BackupRefused):
        stones_of(folder, base.ledger.base_id())


def test_what_is_purged_while_stores_are_made_anew_is_served_by_none_and_erased_by_the_next_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many purges come, each round ends those before it: none waits for more than the one going on and a next.

    The files that a round makes have what was purged amid it, so its receipt is not complete before that is so.
    """
    folder, flow = tmp_path / "base", [person(number) for number in range(1, 4)]
    marks = ["Quetzalcoatl", "wombat-keeper", "Kumquatting"]
    named = [mark.encode() for mark in marks]
    ended: list[list[bool]] = []
    swapped: list[tuple[list[bool], list[bool]]] = []
    with Base.open(folder, host=SetClock()) as base:
        said = zip(flow, marks, strict=True)
        write(base, *(Assert(Statement(node, SAYS, Literal(mark), OTHER)) for node, mark in said))
        write(base, Assert(living(PARIS)))
        optimize, swap = OxigraphStores.optimize, base.stores.swap

        def overtaken(fresh: OxigraphStores) -> None:
            records = base.purges.listed(ADMINISTRATOR)[::-1]
            ended.append([record.state is PurgeState.COMPLETE for record in records])
            optimize(fresh)
            if len(records) < len(flow):
                purge(base, Target(TargetKind.NODE, flow[len(records)]))

        def looked_at(successor: Successor | None, series: Series) -> None:
            swap(successor, series)
            quads = everything(base)
            files = b"".join(path.read_bytes() for path in folder.glob("stores/c*-*/*") if path.is_file())
            swapped.append(([mark in quads for mark in named], [mark in files for mark in named]))

        monkeypatch.setattr(OxigraphStores, "optimize", overtaken)
        monkeypatch.setattr(base.stores, "swap", looked_at)
        purge(base, Target(TargetKind.NODE, flow[0]))
        base.purges.settled()
        for _ in flow:  # a round has the next one begun
            base.purges.settled()
        assert homes(base) == {PARIS}
        for record in base.purges.listed(ADMINISTRATOR):
            complete(base, record)
    # Before each round all have ended but the last; of what was purged amid it the stores have nothing, the files do.
    assert ended == [[False], [True, False], [True, True, False]]
    assert [served for served, _ in swapped] == [[False, False, True], [False] * 3, [False] * 3]
    assert [there[number + 1] for number, (_, there) in enumerate(swapped[:-1])] == [True] * 2
    found = bytes_of(folder)
    assert not [mark for mark in named if mark in found]
    assert audit(folder).faults == ()


def test_more_than_can_be_kept_of_what_is_purged_meanwhile_has_the_stores_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.stores.successor.MOST", 0)
    optimize, again = OxigraphStores.optimize, list[PurgeRecord]()
    with Base.open(tmp_path / "base", host=SetClock()) as base:
        write(base, Assert(SAID), Assert(living(ROME, person(1))), Assert(living(PARIS)))

        def overtaken(fresh: OxigraphStores) -> None:
            optimize(fresh)
            if not again:
                again.append(purge(base, fact_of(base, SAID)))

        monkeypatch.setattr(OxigraphStores, "optimize", overtaken)
        first = purge(base, Target(TargetKind.NODE, person(1)))
        base.purges.settled()
        assert homes(base) == {PARIS}
        assert [complete(base, each).status for each in (first, *again)] == [ReceiptStatus.COMPLETE] * 2
        assert {path.name for path in (tmp_path / "base" / "stores").iterdir()} == {
            "complete-1",
            "current-1",
            "snapshots",
        }
    assert b"Xyzzy" not in bytes_of(tmp_path / "base")


def test_a_query_that_is_read_holds_back_the_receipt_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may read a checkpoint that was made for it, of a store that has a successor by then."""
    monkeypatch.setattr(checkpoints, "FEW", 0)
    monkeypatch.setattr("bridge.purging.eraser.PAUSE", 0.01)
    with Base.open(tmp_path / "base", host=SetClock()) as base:
        write(base, Assert(SAID), *(Assert(living(PARIS, person(number))) for number in range(9)))
        with ThreadPoolExecutor(1) as another:

            def slow(store: ox.Store) -> ox.QuerySolutions:
                if not begun:  # changed meanwhile, and slow to start: it is given a checkpoint
                    begun.append(True)
                    another.submit(write, base, Assert(living(ROME))).result(PATIENCE)
                    base.stores.settle()
                    sleep(2 * BRIEF)
                found = store.query("SELECT * { GRAPH ?g { ?s ?p ?o } }")
                assert isinstance(found, ox.QuerySolutions)
                return found

            begun: list[bool] = []
            reading, _ = base.stores.read(Projection.CURRENT, slow)
        assert [*(tmp_path / "base" / "stores").glob("current.checkpoint-*")]
        record = purge(base, fact_of(base, SAID))
        until = monotonic() + PATIENCE
        while not [*(tmp_path / "base" / "stores").glob("complete-1")] and monotonic() < until:
            sleep(0.01)
        assert base.purges.one(ADMINISTRATOR, record.id).state is PurgeState.PENDING
        assert len([*reading]) >= 9
        del reading
        complete(base, record)
        assert not [*(tmp_path / "base" / "stores").glob("current*.checkpoint-*")]


def test_an_erasure_is_tried_again_wherever_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full, or fails, at each step once, be it one that only follows on the purge."""
    folder, failed = tmp_path / "base", list[str]()
    monkeypatch.setattr("bridge.purging.eraser.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("bridge.purging.eraser.LONGEST_PAUSE", 0.01)
    monkeypatch.setattr("bridge.purging.eraser.PAUSE", 0.01)

    def fail_once(owner: type | ModuleType, name: str) -> None:
        method = getattr(owner, name)

        def failing(*arguments: object, **named: object) -> object:
            if name not in failed:
                failed.append(name)
                raise OSError(ENOSPC, "no space left")
            return method(*arguments, **named)

        monkeypatch.setattr(owner, name, failing)

    with Base.open(folder, host=SetClock()) as base:
        write(base, Assert(SAID), Assert(living(PARIS)))
        target = fact_of(base, SAID)
        steps: list[tuple[type | ModuleType, str]] = [
            (Snapshots, "invalidate"), (OxigraphStores, "optimize"), (OxigraphStores, "load"),
            (OxigraphStores, "swap"), (Path, "rename"), (Snapshots, "stores_made_anew"), (SqliteLedger, "compact"),
            (pair, "unlinked"), (Snapshots, "is_gone"), (SqliteLedger, "forget_log"),
        ]  # fmt: skip
        for owner, name in steps:
            fail_once(owner, name)
        receipt = complete(base, purge(base, target))
        assert receipt.status is ReceiptStatus.COMPLETE
        assert sorted(failed) == sorted(name for _, name in steps)
        sound(base)
    assert b"Xyzzy" not in bytes_of(folder)
    assert audit(folder).faults == ()
