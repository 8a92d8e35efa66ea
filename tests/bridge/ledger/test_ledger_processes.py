"""The ledger and other processes: two that make it, one that adds tokens, and those that are killed amid a write."""

from __future__ import annotations

import sys
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from bridge.ledger.sqlite import SqliteLedger
from certificates.items import ItemKind
from kernel.access import Principal, Role
from kernel.ports.records import CertificateState
from kernel.time.instants import FOREVER
from tests.bridge.ledger.contract import LEAF, apply, content, snapshot, write

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
OPENING = """
import sys
from pathlib import Path
from bridge.ledger.sqlite import SqliteLedger
from tests.bridge.ledger.contract import *
say = lambda what: print(what, flush=True)
ledger = SqliteLedger.open(Path(sys.argv[1]))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@contextmanager
def python(script: str, path: Path, *others: Path) -> Iterator[Popen[str]]:
    """Another process that has opened the ledger at the path; killed at the end of the context if it still runs."""
    command = [sys.executable, "-c", OPENING + script, str(path), *map(str, others)]
    with Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(process: Popen[str]) -> Iterator[str]:
    """What a process says, as it says it."""
    assert process.stdout is not None
    return (line.strip() for line in process.stdout)


def tell(process: Popen[str]) -> None:
    """Lets a process that reads a line go on."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_processes_that_open_it_at_once_make_one_base(path: Path) -> None:
    script = "sys.stdin.readline(); say(SqliteLedger.open(Path(sys.argv[2])).base_id())"
    with ExitStack() as stack:
        processes = [stack.enter_context(python(script, path.with_name(str(number)), path)) for number in range(3)]
        for process in processes:
            tell(process)
        bases = {next(lines(process)) for process in processes}
    with closing(SqliteLedger.open(path)) as ledger:
        assert bases == {str(ledger.base_id())}


def test_a_token_added_by_another_process_is_seen_at_once(path: Path) -> None:
    script = (
        "say('adding'); ledger.add_principal(Principal('p1', Role.EDITOR), LEAF); say('added')\n"
        "sys.stdin.readline(); ledger.revoke('p1'); say('revoked')\n"
    )
    with closing(SqliteLedger.open(path)) as ledger, ledger.reading() as view:
        view.head()  # a reader that stays holds nobody up
        with ledger.transaction() as tx, python(script, path) as other:
            said = lines(other)
            apply(tx, 1)
            assert next(said) == "adding"
            assert ledger.principal_of(LEAF) is None
            tx.commit()
            assert next(said) == "added"
            assert ledger.principal_of(LEAF) == Principal("p1", Role.EDITOR)
            tell(other)
            assert next(said) == "revoked"
            assert ledger.principal_of(LEAF) is None


def test_case_32_a_kill_within_a_transaction_leaves_nothing_of_it(path: Path) -> None:
    with closing(SqliteLedger.open(path)) as ledger:
        write(ledger, 1, content(1))
        before = snapshot(ledger)
    # With so small a cache, pages reach the file before the commit.
    script = """
with ledger.transaction() as tx:
    tx._session.execute("PRAGMA cache_size = 10")
    apply(tx, 2, *(content(n, replace(STATEMENT, subject=Iri(f"urn:{n}"))) for n in range(2, 5_000)))
    say("written")
    sys.stdin.readline()
"""
    with python(script, path) as writing:
        assert next(lines(writing)) == "written"
        assert path.with_name("ledger.sqlite-wal").stat().st_size > 1_000_000
        writing.kill()
    with closing(SqliteLedger.open(path)) as ledger:
        assert snapshot(ledger) == before
        assert write(ledger, 2).position == 3


@pytest.mark.parametrize("acknowledged", [1, 7, 30])
def test_cases_32_and_35_what_was_acknowledged_survives_a_kill(path: Path, acknowledged: int) -> None:
    script = "for n in range(1, 10_000):\n    write(ledger, n, content(n)); say(n)\n"
    with python(script, path) as writing:
        said = lines(writing)
        for _ in range(acknowledged):
            last = int(next(said))
        writing.kill()
        last = max([last, *map(int, said)])
    with closing(SqliteLedger.open(path)) as ledger:
        with ledger.reading() as view:
            applied = view.head().instant
            assert applied is not None
            assert last <= applied <= last + 1
            assert view.head().position == 2 * applied - 1
            assert len(list(view.facts_recorded(None, FOREVER))) == applied
            for number in range(1, applied + 1):
                entry, record = view.idempotent("p1", f"key {number}"), view.certificate(UUID(int=number))
                assert entry is not None
                assert record is not None
                assert (entry.certificate, record.state) == (record.id, CertificateState.APPLIED)
                assert len(view.items(record.id, ItemKind.PLAN)) == 2
                assert view.fact(UUID(int=number)) is not None
            assert view.certificate(UUID(int=applied + 1)) is None
            assert view.idempotent("p1", f"key {applied + 1}") is None
        assert write(ledger, applied + 1).position == 2 * applied + 1
