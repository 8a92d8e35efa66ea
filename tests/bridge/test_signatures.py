"""Edge signatures through the ledger: domains and ranges of `m:ontology` refuse, also in loads, and derive nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from bridge.base import Base
from certificates.certificate import Verdict
from certificates.findings import Finding, FindingCode
from kernel.changes import Assert, End, Retract
from kernel.rules.words import RDF_TYPE
from kernel.terms import Iri, Statement
from kernel.time.instants import parse_instant
from kernel.time.timevalues import valid_to
from kernel.vocabulary import ONTOLOGY_GRAPH, RULES_GRAPH, M
from kernel.writing.submitting import Outcome
from tests.bridge.writing import ADMINISTRATOR, decide, during, load, write

RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
G, OTHER = Iri("urn:g"), Iri("urn:other")
WORKS_FOR, PERSON, FIRM, PLACE = (Iri(f"urn:{name}") for name in ("worksFor", "Person", "Firm", "Place"))
AXIOMS: Final = (
    Statement(WORKS_FOR, Iri(RDFS + "domain"), PERSON, ONTOLOGY_GRAPH),
    Statement(WORKS_FOR, Iri(RDFS + "range"), FIRM, ONTOLOGY_GRAPH),
)


@pytest.fixture
def base() -> Iterator[Base]:
    with Base.open(None) as base:
        assert write(base, *map(Assert, AXIOMS), by=ADMINISTRATOR).verdict is Verdict.CLEAR
        yield base


def works(who: str, where: str) -> Assert:
    return Assert(Statement(Iri(f"urn:{who}"), WORKS_FOR, Iri(f"urn:{where}"), G))


def typed(what: str, kind: Iri, graph: Iri = G) -> Assert:
    return Assert(Statement(Iri(f"urn:{what}"), RDF_TYPE, kind, graph))


def mismatched(outcome: Outcome) -> list[Finding]:
    return [finding for finding in outcome.findings if finding.code is FindingCode.EDGE_SIGNATURE]


def test_an_edge_a_type_and_the_end_of_a_type_are_judged(base: Base) -> None:
    assert write(base, works("ann", "acme"), typed("acme", FIRM)).verdict is Verdict.CLEAR
    refused = write(base, typed("ann", PLACE))
    assert (refused.verdict, len(mismatched(refused))) == (Verdict.REFUSED, 1)
    assert write(base, typed("ann", PLACE), typed("ann", PERSON)).verdict is Verdict.CLEAR
    ends = write(base, End(typed("ann", PERSON).statement, valid_to("2030-01-01")))
    assert ends.verdict is Verdict.REFUSED
    assert [(each.start, each.end) for each in mismatched(ends)] == [("2030-01-01T00:00:00Z", None)]
    assert write(base, Retract(typed("acme", FIRM).statement)).verdict is Verdict.CLEAR
    with base.ledger.reading() as view:
        types = {fact.statement.object for fact in view.believed(subject=Iri("urn:acme"), predicate=RDF_TYPE)}
    assert types == set(), "nothing is derived"


def test_a_load_is_judged_whole(base: Base) -> None:
    clear = load(base, "first", [typed("ann", PLACE)], [works("ann", "acme")], [typed("ann", PERSON)])
    assert (clear.verdict, mismatched(clear)) == (Verdict.CLEAR, [])
    for chunks in ([[works("bob", "acme")], [typed("bob", PLACE)]], [[typed("cid", PLACE)], [works("cid", "acme")]]):
        refused = load(base, f"then {chunks[0][0].statement.subject.n3}", *chunks)
        assert (refused.verdict, len(mismatched(refused))) == (Verdict.REFUSED, 1)


def test_a_load_that_waits_is_judged_again_as_it_was(base: Base) -> None:
    mode = Statement(ONTOLOGY_GRAPH, Iri(M + "mode"), Iri(M + "Review"), RULES_GRAPH)
    assert write(base, Assert(mode), by=ADMINISTRATOR).verdict is Verdict.CLEAR
    waits = load(base, "waits", [works("ann", "acme")], [typed("ann", PLACE)])
    assert waits.verdict is Verdict.REVIEW

    assert decide(base, waits.certificate).head is not None


def test_only_the_time_in_which_it_does_not_fit_is_told(base: Base) -> None:
    for kind, first, last in ((PERSON, 2000, 2010), (PLACE, 2005, 2020)):
        assert write(base, Assert(typed("ann", kind).statement, during(first, last))).verdict is Verdict.CLEAR
    [finding] = mismatched(write(base, works("ann", "acme")))
    assert (finding.start, finding.end) == ("2010-01-01T00:00:00Z", "2020-01-01T00:00:00Z")
    assert parse_instant(finding.start or "") < parse_instant(finding.end or "")
    before = Assert(works("ann", "acme").statement, during(1990, 2010))
    assert write(base, before).verdict is Verdict.CLEAR
