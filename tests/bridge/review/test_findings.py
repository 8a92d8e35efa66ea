"""Findings by cause, held against all of them read at once."""

from collections import defaultdict
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from bridge.ledger.sqlite import SqliteLedger
from bridge.review.findings import Cause, FindingReader, findings_in_turn
from certificates.canonical import canonical_json
from certificates.findings import Finding, FindingCode, Severity
from certificates.ids import uuid7
from certificates.items import ItemKind, salt_items
from kernel.access import Principal, Role
from kernel.terms import Iri

GRAPHS = ("urn:g1", "urn:g2", "urn:g3")
READERS = (
    Principal("all", Role.READER),
    Principal("one", Role.READER, frozenset({Iri("urn:g1")})),
    Principal("two", Role.READER, frozenset({Iri("urn:g1"), Iri("urn:g2")})),
)
FINDINGS = st.builds(
    Finding,
    code=st.sampled_from([FindingCode.SHAPE_VIOLATION, FindingCode.LOW_CONFIDENCE]),
    severity=st.sampled_from(Severity),
    message=st.sampled_from(["wrong", "worse"]),
    graphs=st.lists(st.sampled_from(GRAPHS), min_size=1, max_size=2).map(tuple),
    focus=st.sampled_from(["<urn:a>", "<urn:b>", None]),
    path=st.sampled_from(["<urn:p>", "<urn:q>", None]),
    shape=st.sampled_from(["<urn:S>", None]),
)


def ledger_with(certificate: UUID, findings: list[Finding]) -> SqliteLedger:
    ledger = SqliteLedger.open(None)
    with ledger.transaction() as tx:
        tx.add_items(certificate, salt_items(ItemKind.FINDING, [canonical_json(each.body()) for each in findings]))
        tx.commit()
    return ledger


def cause_of(finding: Finding) -> Cause:
    return Cause(finding.code, finding.severity, finding.path, finding.shape, finding.component)


@given(st.lists(FINDINGS, max_size=30), st.integers(0, 3), st.sampled_from(READERS))
def test_causes_are_those_of_what_the_caller_may_read(findings: list[Finding], samples: int, caller: Principal) -> None:
    certificate, reader = uuid7(), FindingReader()
    readable = [each for each in findings if all(caller.may_read(Iri(graph)) for graph in each.graphs)]
    expected: dict[Cause, list[Finding]] = defaultdict(list)
    for finding in readable:
        expected[cause_of(finding)].append(finding)
    ledger = ledger_with(certificate, findings)
    try:
        with ledger.reading() as view:
            found = reader.causes(view, caller, certificate, samples=samples)
            assert {each.cause: (each.total, list(each.findings)) for each in found.listed} == {
                cause: (len(of_it), of_it[:samples]) for cause, of_it in expected.items()
            }
            hidden = [each for each in findings if each not in readable]
            assert found.withheld == any(each.severity is not Severity.INFO for each in hidden)
            assert sum(found.severities.values()) == len(readable)
            order = [(list(Severity).index(each.cause.severity), -each.total) for each in found.listed]
            assert order == sorted(order)
            for each in found.listed:
                pages = [
                    reader.of_cause(view, caller, certificate, each.cause, first=first, limit=2)
                    for first in range(0, each.total, 2)
                ]
                assert [finding for page in pages for finding in page] == expected[each.cause]
        assert list(findings_in_turn(ledger, caller, certificate)) == readable
    finally:
        ledger.close()


def test_another_caller_does_not_get_what_was_counted_for_the_first() -> None:
    certificate, reader = uuid7(), FindingReader()
    seen = Finding(FindingCode.SHAPE_VIOLATION, Severity.VIOLATION, "wrong", ("urn:g1",))
    hidden = Finding(FindingCode.SHAPE_VIOLATION, Severity.VIOLATION, "wrong", ("urn:g1", "urn:g3"))
    ledger = ledger_with(certificate, [seen, hidden, seen])
    with ledger.reading() as view:
        totals = [
            [found.total for found in reader.causes(view, caller, certificate, samples=0).listed] for caller in READERS
        ]
    ledger.close()
    assert totals == [[3], [2], [2]]
