"""What goes with a purged statement: findings of contradictions name two, and go with either."""

from __future__ import annotations

from dataclasses import replace

import pytest

from certificates.contradictions import Contradiction, ContradictionKind
from certificates.findings import Finding, FindingCode, Severity
from certificates.items import ItemKind, salt_items
from kernel.purging.quoting import Quotes
from kernel.terms import Iri, Literal, Statement

ONE, OTHER, THIRD = (Statement(Iri("urn:a"), Iri("urn:p"), Literal(text), Iri("urn:g")) for text in "xyz")
FOUND = Finding(
    FindingCode.SINGLE_VALUED_BY_SUBJECT,
    Severity.VIOLATION,
    "one at a time",
    ("urn:g",),
    contradiction=Contradiction(ContradictionKind.VALUE, ONE.nquad, OTHER.nquad),
)


@pytest.mark.parametrize(("purged", "goes"), [(ONE, True), (OTHER, True), (THIRD, False)])
def test_a_contradiction_goes_with_either_of_its_statements(purged: Statement, goes: bool) -> None:
    quotes = Quotes([], frozenset({purged}))
    [item] = salt_items(ItemKind.FINDING, [FOUND.canonical()])
    assert quotes.of(item) is goes
    [other] = salt_items(ItemKind.FINDING, [replace(FOUND, contradiction=None).canonical()])
    assert not quotes.of(other)


TYPED = Statement(Iri("urn:dora"), Iri("urn:type"), Iri("urn:Place"), Iri("urn:g"))


@pytest.mark.parametrize(
    ("code", "message", "goes"),
    [
        (FindingCode.EDGE_SIGNATURE, "<urn:dora> is of <urn:Place>, and not of <urn:Firm>", True),
        (FindingCode.EDGE_SIGNATURE, "<urn:dora> is of <urn:Shop>, and not of <urn:Firm>", False),
        (FindingCode.EDGE_SIGNATURE, "<urn:eli> is of <urn:Place>, and not of <urn:Firm>", False),
        (FindingCode.FOLLOWS, "it follows that <urn:dora> is of <urn:Spot>", True),
        (FindingCode.INCONSISTENT, "<urn:dora> cannot be", True),
        (FindingCode.FOLLOWS, "it follows that <urn:eli> is of <urn:Spot>", False),
    ],
)
def test_a_finding_goes_with_what_it_rests_on(code: FindingCode, message: str, goes: bool) -> None:
    quotes = Quotes([], frozenset({TYPED}))
    [item] = salt_items(ItemKind.FINDING, [Finding(code, Severity.VIOLATION, message, ("urn:g",)).canonical()])
    assert quotes.of(item) is goes
