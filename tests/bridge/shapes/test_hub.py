"""Case 10 on a ledger: at a node that very many point at, one pointer more or less reads a few rows."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Final

import pytest

from bridge.ledger.fact_rows import fact_of
from bridge.ledger.sqlite import SqliteLedger
from bridge.ledger.views import facts, moments, recorded
from bridge.shapes.checker import CoreChecker
from certificates.findings import FindingCode
from certificates.ids import derived_id, uuid7
from kernel.changes import Request
from kernel.facts import FactContent, Validity
from kernel.governance import Governance
from kernel.terms import Iri, Statement
from kernel.time.instants import Instant
from kernel.vocabulary import SHAPES_GRAPH
from kernel.writing.planner import Planner
from tests.bridge.shapes.world import ADMIN, NOW, G, asserts, read, retracts, years

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from uuid import UUID

    from bridge.ledger.fact_rows import FactRow
    from certificates.findings import Finding
    from kernel.changes import Change
    from kernel.facts import Fact

HUB: Final = 20_000
"""Twice as many as may be read for one change."""

SHAPES: Final = """:S a sh:NodeShape ; sh:targetClass :Person ;
        sh:property [ sh:path :worksFor ; sh:class :Org ; sh:minCount 1 ; sh:node :O ] .
    :O a sh:NodeShape ; sh:targetObjectsOf :worksFor ; sh:property [ sh:path :name ; sh:minCount 1 ] .
    :H a sh:NodeShape ; sh:targetObjectsOf :worksFor ; sh:property [ sh:path :size ; sh:datatype xsd:integer ] ."""
ORG: Final = Iri("urn:x:org")
WORKS_FOR: Final = Iri("urn:x:worksFor")


class Hub:
    """A ledger with an organisation that very many work for, and what judges by it; `rows` counts what is read."""

    def __init__(self, path: Path) -> None:
        self.rows = 0
        self.ledger = SqliteLedger.open(path)
        certificate = uuid7()
        said = chain(
            (Statement(*triple, SHAPES_GRAPH) for triple in read(SHAPES)),
            (Statement(*triple, G) for triple in read(":org a :Org ; :name 'x' . :p5 a :Person .")),
            (Statement(Iri(f"urn:x:p{number}"), WORKS_FOR, ORG, G) for number in range(HUB)),
        )
        with self.ledger.transaction() as tx:
            tx.record(
                certificate, NOW, ((self._fact(derived_id(certificate, "fact", n), n, s)) for n, s in enumerate(said))
            )
            tx.commit()
        self.governance, self.checker = Governance(""), CoreChecker()

    @staticmethod
    def _fact(identifier: UUID, number: int, statement: Statement) -> tuple[FactContent, bytes]:
        validity = years(1990 + number % 30) if statement.predicate == WORKS_FOR else Validity.always()
        return FactContent(identifier, identifier, statement, validity), bytes(32)

    def judge(self, *changes: Change) -> list[Finding]:
        """What is found; `rows` is what it read, planning and shapes apart."""
        with self.ledger.reading() as beneath:
            view = self.governance.over(beneath)
            view.governing(SHAPES_GRAPH)
            plan = Planner(uuid7(), Instant(NOW + 1), view, ADMIN).plan(Request(changes, None, None, ADMIN.id))
            self.rows = 0
            return list(self.checker.findings(plan, view))


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    decode = fact_of
    with pytest.MonkeyPatch.context() as patch:
        made = Hub(tmp_path_factory.mktemp("hub") / "ledger.sqlite")

        def counted(row: FactRow) -> Fact:
            made.rows += 1
            return decode(row)

        for room in (facts, moments, recorded):
            patch.setattr(room, "fact_of", counted)
        yield made
    made.ledger.close()


@pytest.mark.parametrize("validity", [years(), years(2026), years(1950, 2050)])
def test_one_more_pointer_reads_a_few_rows(hub: Hub, validity: Validity) -> None:
    assert hub.judge(*asserts(":new a :Person ; :worksFor :org .", validity)) == []
    assert 0 < hub.rows < 20


def test_one_pointer_less_reads_a_few_rows(hub: Hub) -> None:
    [finding] = hub.judge(*retracts(":p5 :worksFor :org .", years(2026)))
    assert finding.component == "<http://www.w3.org/ns/shacl#MinCountConstraintComponent>"
    assert 0 < hub.rows < 20


def test_what_the_hub_itself_loses_is_told_or_too_much_and_reading_has_an_end(hub: Hub) -> None:
    [finding] = hub.judge(*retracts(":org a :Org ."))
    assert finding.code is FindingCode.NEIGHBOURHOOD_EXCEEDED
    assert hub.rows <= 10_100


def test_a_value_that_is_at_no_fault_by_itself_reads_nothing(hub: Hub) -> None:
    assert hub.judge(*asserts(":org :size 5 .")) == []
    assert hub.rows == 0
    [finding] = hub.judge(*asserts(":org :size 'large' .", years(2026)))
    assert finding.focus == "<urn:x:org>"
    assert 0 < hub.rows < 20


def test_the_first_of_very_many_are_read_without_the_others(hub: Hub) -> None:
    hub.rows = 0
    with hub.ledger.reading() as view:
        assert len(list(islice(view.believed(predicate=WORKS_FOR, object=ORG), 10))) == 10
    assert hub.rows == 10
