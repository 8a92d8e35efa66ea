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
