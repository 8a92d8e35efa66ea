"""Evidence as shapes see it: what reifies a statement (RDF 1.2 Concepts, section 1.5; SHACL 1.2 Core, sh:reifierShape).

Rules
-----
* A piece of evidence is a node that reifies the statement of the fact that it supports. What is said of it is what a
  history graph says (docs/reading.md): `prov:wasDerivedFrom`, `m:confidence`, `m:recordedAt`, `m:certificate`,
  `m:supports`, and how the statement was spelled. Nothing beyond it is seen: not the episode, not the fact.
* Literals are held in their stored form, with what the evidence says beside it, as those of data are.
* Evidence of a plan is seen as recorded when the plan was issued: the instant at which it will be applied is not known.

Example
-------
::

    described(evidence, triple)[node, CONFIDENCE, Literal("0.9", DECIMAL)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.exporting.record import (
    CERTIFICATE,
    CONFIDENCE,
    DERIVED_FROM,
    FROM_SPELLING,
    RECORDED_AT,
    SPELLING,
    SPELLING_DATATYPE,
    SPELLING_LANGUAGE,
    SUPPORTS,
    TO_SPELLING,
    evidence_record,
    fact_node,
)
from bridge.shapes.vocabulary import RDF_REIFIES
from bridge.terms import OxigraphCanonicaliser
from kernel.facts import Evidence
from kernel.terms import Iri, Literal, TripleTerm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.shapes.data import Spellings
    from bridge.shapes.document import Triple
    from kernel.terms import Term
    from kernel.writing.plan import Plan

EVIDENCE_WORDS: Final = frozenset(
    {
        CERTIFICATE,
        CONFIDENCE,
        DERIVED_FROM,
        FROM_SPELLING,
        RECORDED_AT,
        SPELLING,
        SPELLING_DATATYPE,
        SPELLING_LANGUAGE,
        SUPPORTS,
        TO_SPELLING,
    }
)
"""What may be said of a piece of evidence."""

_CANONICALISER: Final = OxigraphCanonicaliser()


def described(evidence: Evidence, triple: Triple) -> Iterator[tuple[Triple, Spellings]]:
    """What is said of a piece of evidence for a statement, each with the spelling of its literal."""
    content = evidence.content
    node = fact_node(content.id)
    said: tuple[tuple[Iri, Term], ...] = (
        (RDF_REIFIES, TripleTerm(*triple)),
        (SUPPORTS, fact_node(content.fact)),
        *evidence_record(evidence),
    )
    for predicate, value in said:
        if isinstance(value, Literal):
            yield (node, predicate, _CANONICALISER.canonical(value)), (value,)
        else:
            yield (node, predicate, value), ()


def brought_by(plan: Plan) -> Iterator[Evidence]:
    """The evidence that a plan brings, as if it were applied when it was issued."""
    return (Evidence(content, plan.certificate, plan.issued_at) for content in plan.evidence)
