"""What must not exist: gone at once from every answer, and never written again."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID

import pytest

from bridge.base import Base
from bridge.impact.reading import QueryReader
from bridge.impact.registering import Asking
from bridge.purging.receipts import GRAPH_STAYS
from certificates.events import decode_event
from certificates.items import ItemKind
from certificates.purge_events import Purged, Restored
from certificates.receipt import verify
from certificates.records import DecisionKind
from kernel.access import Principal, Role
from kernel.changes import Assert, Retract, Revise
from kernel.errors import (
    Conflict,
    Forbidden,
    NotFound,
    NothingToPurge,
    NothingToRevert,
    PreviewOutdated,
    ReservedGraph,
    ReservedTerm,
    WasPurged,
)
from kernel.ports.purges import PurgeState
from kernel.ports.records import CertificateState
from kernel.purging.purger import PurgeRequest
from kernel.purging.targets import Target, TargetKind
from kernel.queries import Action, RegisteredQuery
from kernel.terms import Iri, Literal, Statement, Term, TripleTerm
from kernel.vocabulary import DEFAULT_GRAPH, SHAPES_GRAPH
from kernel.writing.reverting import inverse
from tests.bridge.purging import LETTER, OTHER, SAID, SAYS, SECRET, asked, everything, fact_of, purge, sound, tell
from tests.bridge.writing import (
    ADMINISTRATOR,
    ANN,
    DOUBTED,
    EDITOR,
    OSLO,
    PARIS,
    PATIENCE,
    ROME,
    WRITER,
    SetClock,
    a_shape,
    decide,
    during,
    homes,
    living,
    load,
    person,
    stage,
    write,
)

SECOND = Principal("second", Role.ADMINISTRATOR)


@pytest.fixture
def base() -> Iterator[Base]:
    with Base.open(None, host=SetClock()) as opened:
        yield opened


# --- at once ----------------------------------------------------------------------------------------------------------


def test_a_statement_is_gone_from_every_answer_whatever_its_times(base: Base) -> None:
    write(base, Assert(SAID, during(2010, 2020)))
    before = base.reader.head()
    write(base, Assert(SAID, during(2022, 2024)), Assert(living(PARIS)))
    write(base, Retract(SAID, during(2022, 2023).interval))
    assert SECRET.lexical.encode() in everything(base)
    record = purge(base, fact_of(base, SAID))
    assert record.head == base.reader.head().position
    assert b"Xyzzy" not in everything(base)
    for times in ({}, {"as_of": f"head:{before.position}"}, {"valid_at": "2015"}):
        assert b"Xyzzy" not in asked(base, "?s ?p ?o", **times)
    assert homes(base) == {PARIS}


def test_what_was_purged_is_not_written_again_with_another_date_either(base: Base) -> None:
    write(base, Assert(SAID))
    purge(base, fact_of(base, SAID))
    for change in (Assert(SAID), Assert(SAID, during(1990, 1991))):
        with pytest.raises(WasPurged) as refused:
            write(base, Assert(living(PARIS)), change)
        assert refused.value.where == "/changes/1"
        assert "Xyzzy" not in str(refused.value)
    with pytest.raises(WasPurged):
        write(base, Assert(SAID), dry_run=True)
    write(base, Assert(Statement(person(1), SAYS, SECRET, DEFAULT_GRAPH)))
    write(base, Assert(Statement(ANN, SAYS, SECRET, OTHER)))


@pytest.mark.parametrize("way", ["load", "revert", "approval"])
def test_no_way_of_writing_leads_past_a_tombstone(base: Base, way: str) -> None:
    waiting = write(base, Assert(living(ROME, person(3)), confidence=DOUBTED)).certificate
    brought = write(base, Assert(living(PARIS, person(2)))).certificate
    gone = write(base, Retract(living(PARIS, person(2)))).certificate
    assert brought is not None
    assert gone is not None
    assert waiting is not None
    if way == "load":
        write(base, Assert(SAID))
        purge(base, fact_of(base, SAID))
        with pytest.raises(WasPurged):
            load(base, "a", [Assert(living(OSLO))], [Assert(SAID)])
        assert homes(base) == set()
    elif way == "revert":
        purge(base, Target(TargetKind.NODE, person(2)))
        with base.ledger.reading() as view:
            record = view.certificate(gone)
            assert record is not None
            with pytest.raises(NothingToRevert):
                inverse(view, record, WRITER.id, reason=None)
    else:
        write(base, Assert(Statement(person(3), SAYS, Literal("hello"), DEFAULT_GRAPH)))
        purge(base, Target(TargetKind.NODE, person(3)))
        with pytest.raises(Conflict):
            decide(base, waiting)
        with base.ledger.reading() as view:
            assert view.certificate(waiting).state is CertificateState.REJECTED  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "statement",
    [
        Statement(ANN, SAYS, PARIS, DEFAULT_GRAPH),
        Statement(PARIS, SAYS, ANN, DEFAULT_GRAPH),
        Statement(PARIS, ANN, ROME, OTHER),
        Statement(PARIS, SAYS, Literal("x", datatype=ANN.value), OTHER),
        Statement(PARIS, SAYS, TripleTerm(ROME, SAYS, TripleTerm(OSLO, SAYS, ANN)), OTHER),
    ],
)
def test_a_node_goes_wherever_a_statement_names_it(base: Base, statement: Statement) -> None:
    kept = Statement(PARIS, SAYS, Literal(f"not {ANN.value}x"), OTHER)
    write(base, Assert(statement), Assert(kept), Assert(living(ROME)))
    purge(base, Target(TargetKind.NODE, ANN))
    assert f"{ANN.value}>".encode() not in everything(base)
    assert b"annx" in everything(base)
    with pytest.raises(WasPurged):
        write(base, Assert(statement))


def test_of_an_episode_what_else_speaks_for_stays(base: Base) -> None:
    only, both = living(PARIS, person(1)), living(ROME, person(2))
    tell(base, Assert(only), Assert(both), episode=LETTER, reason=f"from <{LETTER.value}>")
    tell(base, Assert(both), episode=Iri("http://example.org/another"))
    purge(base, Target(TargetKind.EPISODE, LETTER))
    assert (homes(base, subject=person(1)), homes(base, subject=person(2))) == (set(), {ROME})
    assert b"letter-xyzzy" not in everything(base)
    with pytest.raises(WasPurged):
        tell(base, Assert(living(OSLO)), episode=LETTER)
    write(base, Assert(only))


def test_a_graph_goes_with_its_history_and_from_every_list(base: Base) -> None:
    held = Principal("held", Role.WRITER, frozenset({OTHER}))
    base.ledger.add_principal(held, bytes(32))
    write(base, Assert(living(PARIS, graph=OTHER)), Assert(living(ROME)))
    write(base, Retract(living(PARIS, graph=OTHER)))
    purge(base, Target(TargetKind.GRAPH, OTHER))
    assert b"other-graph" not in everything(base)
    with base.ledger.reading() as view:
        assert OTHER not in view.graphs()
        assert all(OTHER not in record.graphs for record in view.certificates())
    assert base.ledger.principal_of(bytes(32)).graphs != held.graphs  # type: ignore[union-attr]
    assert homes(base) == {ROME}
    with pytest.raises(WasPurged):
        write(base, Assert(living(OSLO, graph=OTHER)))
    with pytest.raises(ReservedGraph):
        Target(TargetKind.GRAPH, DEFAULT_GRAPH)


def test_a_family_goes_with_every_statement_that_it_had(base: Base) -> None:
    write(base, Assert(living(PARIS)))
    with base.ledger.reading() as view:
        first = next(view.facts_ever(statement=living(PARIS)))
    write(base, Revise(first.id, object=ROME))
    purge(base, Target(TargetKind.FAMILY, first.content.family))
    assert b"paris" not in everything(base)
    assert b"rome" not in everything(base)
    for value in (PARIS, ROME):
        with pytest.raises(WasPurged):
            write(base, Assert(living(value)))


def test_what_quotes_it_goes_and_nothing_else(base: Base) -> None:
    certificates = [
        tell(base, Assert(SAID, confidence=Decimal("0.9")), Assert(living(PARIS)), reason="a mixed one"),
        tell(base, Assert(living(ROME, person(1))), reason="he is said to be\nXyzzy the secret"),
        tell(base, Assert(living(ROME, person(2))), reason="Xyzzy the secretary"),
        write(base, Assert(SAID, confidence=DOUBTED), Assert(living(OSLO, person(3)), confidence=DOUBTED)).certificate,
        write(base, Assert(living(OSLO, person(4)), confidence=DOUBTED)).certificate,
    ]
    decide(base, certificates[4], DecisionKind.REJECT, comment="as “Xyzzy the secret” says")
    purge(base, fact_of(base, SAID))
    with base.ledger.reading() as view:
        items = [item.body for each in certificates for kind in ItemKind for item in view.items(each, kind)]  # type: ignore[arg-type]
        states = [view.certificate(each).state for each in certificates]  # type: ignore[union-attr, arg-type]
    text = b"\n".join(items)
    assert text.count(b"Xyzzy") == 1
    assert b"secretary" in text
    assert b"a mixed one" in text
    assert states[3] is CertificateState.REJECTED
    sound(base)


def test_of_a_certificate_all_of_which_goes_the_reason_goes_too(base: Base) -> None:
    whole = tell(base, Assert(SAID), reason="for a reason of its own", key="k")
    purge(base, fact_of(base, SAID))
    with base.ledger.reading() as view:
        assert view.items(whole, ItemKind.PLAN) == []
        assert view.idempotent(WRITER.id, "k") is None
    sound(base)


def test_what_is_staged_and_waits_is_dropped(base: Base) -> None:
    write(base, Assert(SAID))
    stage(base, "left", [Assert(living(PARIS))], [Assert(SAID)])
    stage(base, "unrelated", [Assert(living(PARIS))])
    purge(base, fact_of(base, SAID))
    assert base.ledger.staged_sessions() == ["unrelated"]


def test_shapes_that_are_purged_do_not_judge_any_more(base: Base) -> None:
    write(base, *a_shape(), by=ADMINISTRATOR)
    text = Assert(living(Literal("a place")))
    assert write(base, text).state is CertificateState.REFUSED
    shape = a_shape()[1].statement
    assert shape.graph == SHAPES_GRAPH
    purge(base, fact_of(base, shape))
    assert write(base, text).state is CertificateState.APPLIED


# --- who and how ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", [WRITER, EDITOR, Principal("some", Role.ADMINISTRATOR, frozenset({DEFAULT_GRAPH}))])
def test_only_administrators_of_the_base_purge_and_others_learn_nothing(base: Base, who: Principal) -> None:
    write(base, Assert(SAID))
    held, none = fact_of(base, SAID), Target(TargetKind.NODE, Iri("urn:nobody"))
    said = []
    for target in (held, none):
        for ask in (
            lambda target=target: base.purges.preview(who, target),
            lambda target=target: base.purges.purge(PurgeRequest(target, "x", who, "0" * 64)).result(PATIENCE),
            lambda: base.purges.listed(who),
        ):
            with pytest.raises(Forbidden) as refused:
                ask()
            said.append(str(refused.value))
    assert len(set(said)) == 1


def test_a_purge_is_bound_to_its_preview(base: Base) -> None:
    write(base, Assert(living(PARIS)))
    target = Target(TargetKind.NODE, ANN)
    digest = base.purges.preview(ADMINISTRATOR, target).digest
    assert base.purges.preview(ADMINISTRATOR, target).digest == digest
    write(base, Assert(living(ROME)))
    head = base.reader.head()
    with pytest.raises(PreviewOutdated):
        base.purges.purge(PurgeRequest(target, "x", ADMINISTRATOR, digest)).result(PATIENCE)
    assert base.reader.head() == head
    assert homes(base) == {PARIS, ROME}


def test_what_is_not_held_is_told(base: Base) -> None:
    with pytest.raises(NothingToPurge):
        base.purges.preview(ADMINISTRATOR, Target(TargetKind.NODE, ANN))
    with pytest.raises(NotFound):
        base.purges.preview(ADMINISTRATOR, Target(TargetKind.FACT, UUID(int=1)))


def test_a_second_person_approves_or_rejects(base: Base) -> None:
    write(base, Assert(living(PARIS)), Assert(living(ROME, person(1))))
    asked_for = []
    for node in (ANN, person(1)):
        target = Target(TargetKind.NODE, node)
        digest = base.purges.preview(ADMINISTRATOR, target).digest
        asked_for.append(base.purges.ask(PurgeRequest(target, "why", ADMINISTRATOR, digest)).result(PATIENCE))
    assert homes(base) == {PARIS}
    with pytest.raises(Forbidden):
        base.purges.decide(asked_for[0].id, DecisionKind.APPROVE, ADMINISTRATOR).result(PATIENCE)
    done = base.purges.decide(asked_for[0].id, DecisionKind.APPROVE, SECOND).result(PATIENCE)
    assert (done.asked_by, done.decided_by, done.target) == (ADMINISTRATOR.id, SECOND.id, None)
    assert done.asked_at == asked_for[0].asked_at
    assert homes(base) == set()
    rejected = base.purges.decide(asked_for[1].id, DecisionKind.REJECT, ADMINISTRATOR).result(PATIENCE)
    assert (rejected.state, rejected.target, rejected.reason) == (PurgeState.REJECTED, None, None)
    assert homes(base, subject=person(1)) == {ROME}
    with pytest.raises(Conflict):
        base.purges.decide(asked_for[1].id, DecisionKind.APPROVE, SECOND).result(PATIENCE)


def test_a_tombstone_is_lifted_once_and_what_was_gone_stays_gone(base: Base) -> None:
    write(base, Assert(SAID))
    record = purge(base, fact_of(base, SAID))
    restored = base.purges.restore(record.id, "it was a mistake", ADMINISTRATOR).result(PATIENCE)
    assert restored.restored_by is not None
    assert b"Xyzzy" not in everything(base)
    with pytest.raises(Conflict):
        base.purges.restore(record.id, "again", ADMINISTRATOR).result(PATIENCE)
    with pytest.raises(Forbidden):
        base.purges.restore(record.id, "again", EDITOR).result(PATIENCE)
    write(base, Assert(SAID))
    assert b"Xyzzy" in everything(base)
    with base.ledger.reading() as view:
        last = [decode_event(event) for event in view.events(0, view.log_size())]
    assert [type(event) for event in last if isinstance(event, Purged | Restored)] == [Purged, Restored]


# --- what was never held ----------------------------------------------------------------------------------------------


def _left(base: Base, *certificates: UUID | None) -> bytes:
    """Every item that is left of some certificates."""
    with base.ledger.reading() as view:
        return b"\n".join(
            item.body for each in certificates if each for kind in ItemKind for item in view.items(each, kind)
        )


def _state(base: Base, certificate: UUID | None) -> CertificateState:
    with base.ledger.reading() as view:
        record = view.certificate(certificate) if certificate else None
    assert record is not None
    return record.state


NEVER_HELD = [
    (CertificateState.REFUSED, CertificateState.REFUSED),
    (CertificateState.PENDING, CertificateState.REJECTED),
    (CertificateState.REJECTED, CertificateState.REJECTED),
]


@pytest.mark.parametrize(("before", "after"), NEVER_HELD)
@pytest.mark.parametrize("kind", [TargetKind.NODE, TargetKind.GRAPH, TargetKind.EPISODE])
def test_what_was_never_applied_is_purged(
    base: Base, kind: TargetKind, before: CertificateState, after: CertificateState
) -> None:
    write(base, *a_shape(), by=ADMINISTRATOR)
    value: Term = SECRET if before is CertificateState.REFUSED else ROME
    confidence = None if before is CertificateState.REFUSED else DOUBTED
    change = Assert(living(value, graph=OTHER), confidence=confidence)
    other = write(base, Assert(living(Literal("a place"), person(1)))).certificate
    certificate = tell(base, change, episode=LETTER, reason="a reason of its own")
    if before is CertificateState.REJECTED:
        decide(base, certificate, DecisionKind.REJECT, comment="not so")
    assert _state(base, certificate) is before
    head, kept = base.reader.head(), _left(base, other)
    target = Target(kind, {TargetKind.NODE: ANN, TargetKind.GRAPH: OTHER, TargetKind.EPISODE: LETTER}[kind])
    survey = base.purges.preview(ADMINISTRATOR, target)
    assert (survey.counts["facts"], survey.counts["rejected"]) == (0, before is CertificateState.PENDING)
    assert survey.counts["planItems"] >= 2
    record = purge(base, target)
    assert (record.state, record.head) == (PurgeState.PENDING, base.reader.head().position)
    assert base.reader.head() != head
    assert record.receipt is not None
    assert _state(base, certificate) is after
    assert b"record" not in _left(base, certificate)
    assert b"a reason of its own" not in _left(base, certificate)
    assert _left(base, other) == kept
    with pytest.raises(WasPurged):
        tell(base, change, episode=LETTER)
    with pytest.raises(NothingToPurge):
        base.purges.preview(ADMINISTRATOR, target)
    sound(base)


def test_of_a_plan_that_was_never_applied_the_rest_stays(base: Base) -> None:
    pending = tell(base, Assert(SAID, confidence=DOUBTED), Assert(living(OSLO, person(1))), reason="a mixed one")
    assert _state(base, pending) is CertificateState.PENDING
    purge(base, Target(TargetKind.NODE, ANN))
    left = _left(base, pending)
    assert b"Xyzzy" not in left
    assert OSLO.value.encode() in left
    assert b"a mixed one" in left
    sound(base)


def test_what_is_staged_alone_is_dropped(base: Base) -> None:
    stage(base, "left", [Assert(living(PARIS))], [Assert(SAID)])
    stage(base, "unrelated", [Assert(living(PARIS, person(1)))])
    assert base.purges.preview(ADMINISTRATOR, Target(TargetKind.NODE, ANN)).counts["stagedLoads"] == 1
    purge(base, Target(TargetKind.NODE, ANN))
    assert base.ledger.staged_sessions() == ["unrelated"]
    with pytest.raises(WasPurged):
        write(base, Assert(SAID))


# --- graphs and vocabularies ------------------------------------------------------------------------------------------


def test_a_graph_of_the_name_of_a_node_stays_and_the_receipt_says_so(base: Base) -> None:
    write(base, Assert(Statement(OTHER, SAYS, SECRET, DEFAULT_GRAPH)), Assert(living(ROME, graph=OTHER)), Assert(SAID))
    pending = write(base, Assert(living(OSLO, person(1), OTHER), confidence=DOUBTED)).certificate
    node = Target(TargetKind.NODE, OTHER)
    assert base.purges.preview(ADMINISTRATOR, node).graph_stays
    assert not base.purges.preview(ADMINISTRATOR, Target(TargetKind.NODE, ANN)).graph_stays
    record = purge(base, node)
    assert record.receipt is not None
    assert GRAPH_STAYS in verify(record.receipt, base.key.public).not_reached
    assert b"rome" in asked(base, "?s ?p ?o")
    assert _state(base, pending) is CertificateState.PENDING
    other = purge(base, Target(TargetKind.GRAPH, OTHER))
    assert other.receipt is not None
    assert GRAPH_STAYS not in verify(other.receipt, base.key.public).not_reached
    assert _state(base, pending) is CertificateState.REJECTED


def test_no_graph_is_said_to_stay_that_goes_with_the_node(base: Base) -> None:
    write(base, Assert(Statement(OTHER, SAYS, SECRET, OTHER)))
    assert not base.purges.preview(ADMINISTRATOR, Target(TargetKind.NODE, OTHER)).graph_stays


@pytest.mark.parametrize(
    "iri",
    [
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "http://www.w3.org/2000/01/rdf-schema#label",
        "http://www.w3.org/2002/07/owl#Class",
        "http://www.w3.org/2001/XMLSchema#string",
        "http://www.w3.org/ns/shacl#path",
        "https://w3id.org/muniment#default",
    ],
)
def test_a_node_of_a_vocabulary_is_not_purged(base: Base, iri: str) -> None:
    write(base, Assert(SAID), Assert(Statement(ANN, Iri(iri), Iri(iri), DEFAULT_GRAPH)))
    target = Target(TargetKind.NODE, Iri(iri))
    for ask in (
        lambda: base.purges.preview(ADMINISTRATOR, target),
        lambda: base.purges.purge(PurgeRequest(target, "x", ADMINISTRATOR, "0" * 64)).result(PATIENCE),
        lambda: base.purges.ask(PurgeRequest(target, "x", ADMINISTRATOR, "0" * 64)).result(PATIENCE),
    ):
        with pytest.raises(ReservedTerm) as refused:
            ask()
        assert refused.value.remedy.startswith("purge the statements")
    assert b"Xyzzy" in everything(base)


# --- registered queries -----------------------------------------------------------------------------------------------


def a_query(name: str, text: str, *graphs: Iri) -> RegisteredQuery:
    return RegisteredQuery(name, text, "city-desk", "desk@example.org", graphs, action=Action.NOTE)


def register(base: Base, *queries: RegisteredQuery) -> None:
    asking = Asking(ADMINISTRATOR)
    assert base.queries.put(queries, asking).result(PATIENCE)[0].state is CertificateState.APPLIED


def registered(base: Base) -> list[str]:
    return [each.name for each in QueryReader(base.ledger).listed(ADMINISTRATOR)]


def test_a_registered_query_that_names_what_is_purged_goes_and_the_others_stay(base: Base) -> None:
    xyzzy = Iri("http://example.org/xyzzy")
    write(base, Assert(Statement(xyzzy, SAYS, PARIS, DEFAULT_GRAPH)), Assert(living(ROME)))
    register(base, a_query("was", f"ASK {{ {xyzzy.n3} ?p 1 }}"))
    register(base, a_query("was", "ASK { ?s ?p 2 }"))  # the name had another text before
    register(
        base,
        a_query("names", f"SELECT * {{ {xyzzy.n3} ?p ?o }}"),
        a_query("longer", "SELECT * { <http://example.org/xyzzy-2> ?p ?o }"),
        a_query("other", "SELECT * { ?s ?p ?o }"),
    )
    purge(base, Target(TargetKind.NODE, xyzzy))
    assert registered(base) == ["longer", "other", "was"]
    assert b"example.org/xyzzy>" not in everything(base)
    with base.ledger.reading() as view:
        items = (item for record in view.certificates(limit=99) for item in view.items(record.id, ItemKind.PLAN))
        assert not [item for item in items if b"example.org/xyzzy>" in item.body]
    sound(base)
    assert write(base, Assert(living(OSLO))).state is CertificateState.APPLIED
    register(base, a_query("names", "SELECT * { ?s ?p ?o }"))


def test_a_query_that_was_asked_of_a_graph_alone_is_not_asked_of_all_once_that_is_purged(base: Base) -> None:
    write(base, Assert(living(PARIS, graph=OTHER)), Assert(living(ROME)))
    register(base, a_query("there", "SELECT * { ?s ?p ?o }", OTHER), a_query("other", "ASK { ?s ?p ?o }"))
    purge(base, Target(TargetKind.GRAPH, OTHER))
    assert registered(base) == ["other"]


def test_a_query_alone_that_names_a_node_is_something_to_purge_and_one_that_waits_is_rejected(base: Base) -> None:
    nobody = Iri("http://example.org/nobody-xyzzy")
    register(base, a_query("one", f"ASK {{ {nobody.n3} ?p ?o }}"))
    two = a_query("two", f"ASK {{ ?s ?p {nobody.n3} }}")
    waits = [Assert(each, confidence=DOUBTED) for each in two.statements()]
    waiting = write(base, *waits, by=ADMINISTRATOR)
    assert waiting.state is CertificateState.PENDING
    purge(base, Target(TargetKind.NODE, nobody))
    assert registered(base) == []
    with base.ledger.reading() as view:
        record = view.certificate(waiting.certificate) if waiting.certificate else None
        assert record is not None
        assert record.state is CertificateState.REJECTED
        assert not [item for item in view.items(record.id, ItemKind.PLAN) if b"nobody-xyzzy" in item.body]
    sound(base)
