"""Every place in which a base keeps what a caller wrote: what is purged is gone from it, or the receipt says it is not.

Each test plants a text of its own in one place; all are of one base, of which one node is purged, once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from uuid import UUID

import pytest

from bridge.auditing.audit import audit
from bridge.base import Base
from bridge.impact.registering import Asking
from certificates.receipt import Receipt
from certificates.receipt import verify as verify_receipt
from certificates.records import DecisionKind
from kernel.access import Principal, Role
from kernel.changes import Assert
from kernel.errors import InvalidParameter, WasPurged
from kernel.facts import Spelling
from kernel.ports.purges import PurgeState
from kernel.purging.purger import PurgeRequest
from kernel.purging.staying import LITERALS
from kernel.purging.targets import Target, TargetKind
from kernel.queries import Action, RegisteredQuery
from kernel.terms import Iri, Literal, Statement
from kernel.vocabulary import DEFAULT_GRAPH, GOVERNANCE
from tests.bridge.purging import OTHER, SAYS, bytes_of, purge, tell
from tests.bridge.writing import (
    ADMINISTRATOR,
    DOUBTED,
    PARIS,
    PATIENCE,
    ROME,
    SetClock,
    decide,
    living,
    person,
    stage,
    write,
)

NODE: Final = Iri("http://example.org/xyzzy")
NOTE: Final = Iri("http://www.w3.org/2000/01/rdf-schema#comment")
TARGET: Final = Target(TargetKind.NODE, NODE)


def said(mark: str, subject: Iri = NODE, graph: Iri = DEFAULT_GRAPH) -> Statement:
    return Statement(subject, SAYS, Literal(mark), graph)


def quoting(mark: str) -> str:
    return f"{mark}, says {NODE.n3} of itself"


def query(name: str, mark: str) -> RegisteredQuery:
    text = f"ASK {{ {NODE.n3} ?{mark} ?o }}"
    return RegisteredQuery(name, text, "city-desk", "desk@example.org", (), action=Action.NOTE)


def commented(base: Base, mark: str) -> None:
    waiting = write(base, Assert(living(PARIS, person(1)), confidence=DOUBTED))
    decide(base, waiting.certificate, comment=quoting(mark))


def rejected(base: Base, mark: str) -> None:
    waiting = write(base, Assert(said(mark), confidence=DOUBTED))
    decide(base, waiting.certificate, DecisionKind.REJECT)


def registered(base: Base, mark: str) -> None:
    base.queries.put([query("names", mark)], Asking(ADMINISTRATOR)).result(PATIENCE)


def waiting_purge(base: Base, mark: str) -> None:
    digest = base.purges.preview(ADMINISTRATOR, TARGET).digest
    base.purges.ask(PurgeRequest(TARGET, mark, ADMINISTRATOR, digest)).result(PATIENCE)


Planted = Callable[[Base, str], object]

ERASED: Final[dict[str, Planted]] = {
    "fact": lambda base, mark: write(base, Assert(said(mark))),
    "spelling": lambda base, mark: write(base, Assert(said("spelt"), spelling=Spelling(Literal(mark), None, None))),
    "source": lambda base, mark: tell(base, Assert(said("cited")), episode=Iri(f"http://example.org/{mark}")),
    "cites": lambda base, mark: tell(base, Assert(living(ROME, person(2))), episode=NODE, reason=mark),
    "reason": lambda base, mark: tell(base, Assert(living(ROME, person(3))), reason=quoting(mark)),
    "comment": commented,
    "review": lambda base, mark: write(base, Assert(said(mark), confidence=DOUBTED)),
    "refused": rejected,
    "staged": lambda base, mark: stage(base, "a-session", [Assert(said(mark))]),
    "session": lambda base, mark: stage(base, quoting(mark), [Assert(living(ROME, person(4)))]),
    "idempotency": lambda base, mark: tell(base, Assert(living(ROME, person(5))), key=quoting(mark)),
    "query": registered,
    "waits": waiting_purge,
}
"""How a text is planted in a place from which a purge takes it."""

STAYS: Final[dict[str, tuple[Planted, str]]] = {
    "literal": (lambda base, mark: write(base, Assert(said(quoting(mark), PARIS, OTHER))), LITERALS),
    "caller": (
        lambda base, mark: tell(base, Assert(living(ROME, person(6))), by=Principal(quoting(mark), Role.WRITER)),
        "names of callers",
    ),
    "editor": (
        lambda base, mark: base.ledger.register_key(quoting(mark), "z6Mk"),
        "names of callers",
    ),
    "token": (
        lambda base, mark: base.ledger.add_principal(Principal(quoting(mark), Role.READER), bytes(32)),
        "names of callers",
    ),
    "graphs": (
        lambda base, _: base.ledger.add_principal(
            Principal("limited", Role.READER, frozenset({NODE})), bytes(31) + b"1"
        ),
        "lists of graphs",
    ),
    "owner": (
        lambda base, mark: base.ledger.assign_contradiction(UUID(int=7), 0, quoting(mark)),
        "owners of contradictions",
    ),
} | {
    graph.value.rpartition("#")[2]: (
        lambda base, mark, graph=graph: write(
            base, Assert(Statement(PARIS, NOTE, Literal(quoting(mark)), graph)), by=ADMINISTRATOR
        ),
        f"literals in the {graph.value.rpartition('#')[2]} graph",
    )
    for graph in GOVERNANCE
}
"""The same for places that no purge reaches, and what the receipt calls each."""


def marked(place: str) -> str:
    return f"plover{place}"


@pytest.fixture(scope="module")
def purged(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes, Receipt]:
    """What the folder of a base had before and after a purge, and its receipt."""
    folder = tmp_path_factory.mktemp("texts") / "base"
    with Base.open(folder, host=SetClock()) as base:
        for place, (plant, _) in STAYS.items():
            plant(base, marked(place))
        for place, plant_erased in ERASED.items():
            plant_erased(base, marked(place))
    before = bytes_of(folder)
    with Base.open(folder, host=SetClock()) as base:
        survey = base.purges.preview(ADMINISTRATOR, TARGET)
        assert {*survey.stays} == {place for _, place in STAYS.values()}
        with pytest.raises(InvalidParameter, match="reason"):
            purge(base, TARGET, reason=quoting("never"))
        record = purge(base, TARGET)
        base.purges.settled()
        receipt = base.purges.one(ADMINISTRATOR, record.id).receipt
        assert receipt is not None
        states = [each.state for each in base.purges.listed(ADMINISTRATOR)]
        assert sorted(states) == [PurgeState.COMPLETE, PurgeState.REJECTED]
        with pytest.raises(WasPurged):
            base.queries.put([query("again", "p")], Asking(ADMINISTRATOR)).result(PATIENCE)
        told = verify_receipt(receipt, base.key.public)
    assert audit(folder).faults == ()
    return before, bytes_of(folder), told


@pytest.mark.parametrize("place", sorted(ERASED))
def test_what_is_purged_is_gone_from_wherever_it_was_written(purged: tuple[bytes, bytes, Receipt], place: str) -> None:
    before, after, _ = purged
    assert marked(place).encode() in before
    assert marked(place).encode() not in after


@pytest.mark.parametrize("place", sorted(STAYS))
def test_where_it_stays_the_receipt_says_so(purged: tuple[bytes, bytes, Receipt], place: str) -> None:
    _, after, receipt = purged
    assert place == "graphs" or marked(place).encode() in after
    assert f"{STAYS[place][1]} - what quotes it there stays" in receipt.not_reached
