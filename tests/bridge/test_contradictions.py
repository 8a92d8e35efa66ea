"""Contradictions through the ledger: that loads find all kinds, chunk by chunk, and propose nothing."""

from __future__ import annotations

from bridge.base import Base
from certificates.certificate import Verdict
from certificates.findings import FindingCode
from kernel.changes import Assert
from kernel.rules.kinds import RuleKind
from kernel.rules.words import RDF_TYPE
from kernel.terms import Iri, Literal, Statement
from tests.bridge.writing import ADMINISTRATOR, stage, write
from tests.kernel.rules.test_amending import ANN, BOB
from tests.kernel.rules.test_kinds import NUMBER, PERSON, PLACE, WORDS, P, Q, always, written

KINDS = {
    RuleKind.DISJOINT: (always(ANN, RDF_TYPE, PERSON), always(ANN, RDF_TYPE, PLACE)),
    RuleKind.BY_ENDS: (always(ANN, P, BOB), always(ANN, Q, BOB)),
    RuleKind.EXCLUSIVE: (always(ANN, P, BOB), always(ANN, Q, Iri("urn:c"))),
    RuleKind.ORDER: (always(ANN, P, Literal("2", NUMBER)), always(ANN, Q, Literal("1", NUMBER))),
    RuleKind.OVERLAP: (always(ANN, P, BOB), always(ANN, Q, Iri("urn:c"))),
    RuleKind.ASYMMETRIC: (always(ANN, P, BOB), always(BOB, Q, ANN)),
}


def renamed(change: Assert, kind: RuleKind) -> Assert:
    """The change in a graph of the kind's own."""
    said = change.statement
    return Assert(Statement(said.subject, said.predicate, said.object, Iri(f"urn:{kind}")))


def test_loads_find_contradictions_of_every_kind_within_and_across_their_chunks() -> None:
    with Base.open(None) as base:
        for kind in KINDS:
            rule = written(kind, *WORDS[kind], node=Iri(f"urn:rule:{kind}"))
            assert write(base, *map(Assert, rule), by=ADMINISTRATOR).verdict is Verdict.CLEAR
        for kind, (held, asked) in KINDS.items():
            first, second = renamed(held, kind), renamed(asked, kind)
            outcome = base.load(stage(base, f"chunks {kind}", [first], [second])).result(60)
            assert outcome.verdict is Verdict.REVIEW
            assert kind.code in {finding.code for finding in outcome.findings}
            assert write(base, first).verdict is Verdict.CLEAR
            outcome = base.load(stage(base, f"held {kind}", [second])).result(60)
            found = [finding for finding in outcome.findings if finding.code is kind.code]
            assert [each.contradiction and each.contradiction.against for each in found] == [first.statement.nquad]
            assert FindingCode.INVALID_RULE not in {finding.code for finding in outcome.findings}
