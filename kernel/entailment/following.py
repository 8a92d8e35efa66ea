"""Whether a base has it told what follows from a plan: by a statement of its ontology.

Rules
-----
* `m:ontology m:entailment R` in `m:ontology` says so, where R is the regime of RDFS (`http://www.w3.org/ns/entailment/RDFS`)
  or the profile OWL 2 RL (`http://www.w3.org/ns/owl-profile/RL`). With both, it is OWL 2 RL.
* Any other R is a fault of the plan that writes it, and so is a second one.

Example
-------
>>> regime_of(())
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from certificates.findings import Finding, FindingCode, Severity
from kernel.entailment.table import Regime
from kernel.facts import SameFacts
from kernel.terms import Iri
from kernel.vocabulary import ONTOLOGY_GRAPH, M

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kernel.facts import Fact, FactContent
    from kernel.terms import Statement, Term

ENTAILMENT: Final = Iri(M + "entailment")
REGIMES: Final[Mapping[Term, Regime]] = {
    Iri("http://www.w3.org/ns/entailment/RDFS"): Regime.RDFS,
    Iri("http://www.w3.org/ns/owl-profile/RL"): Regime.OWL_RL,
}


def regime_of(facts: tuple[Fact, ...]) -> Regime | None:
    """By which rules a base has it told, by the believed facts of its ontology; None: by none."""
    return _regime(SameFacts(facts)) if facts else None


@lru_cache(maxsize=16)
def _regime(key: SameFacts) -> Regime | None:
    found = {REGIMES.get(fact.statement.object) for fact in key.facts if _says(fact.statement)}
    return next((each for each in (Regime.OWL_RL, Regime.RDFS) if each in found), None)


def faults(record: Iterable[FactContent], supersede: Iterable[Fact], facts: Iterable[Fact]) -> list[Finding]:
    """What a plan says of it that nobody understands.

    Args:
        record: what it records.
        supersede: what it supersedes.
        facts: of the ontology, believed before.
    """
    written = [content.statement for content in record if _says(content.statement)]
    if not written:
        return []
    gone = {fact.id for fact in supersede}
    held = [fact.statement for fact in facts if _says(fact.statement) and fact.id not in gone]
    every = {statement.object for statement in (*written, *held)}
    known = " or ".join(each.n3 for each in REGIMES)
    found = [
        _fault(each, f"{each.object.n3} is not followed: write {known}")
        for each in written
        if each.object not in REGIMES
    ]
    if len(every) > 1:
        others = " and ".join(sorted(each.n3 for each in every))
        found.append(_fault(written[0], f"m:entailment has one value, and would have {others}: retract all but one"))
    return found


def _fault(statement: Statement, message: str) -> Finding:
    return Finding(
        code=FindingCode.INVALID_RULE,
        severity=Severity.VIOLATION,
        message=message,
        graphs=(statement.graph.value,),
        focus=statement.subject.n3,
        path=statement.predicate.n3,
        value=statement.object.n3,
    )


def _says(statement: Statement) -> bool:
    return (
        statement.predicate == ENTAILMENT and statement.subject == ONTOLOGY_GRAPH and statement.graph == ONTOLOGY_GRAPH
    )
