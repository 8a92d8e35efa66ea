"""Vocabularies of graphs: which predicates and classes may be used in a graph, as that which agents write to.

Rules
-----
* A vocabulary is a subject of `m:rules` with the type `m:Vocabulary`: the graphs that it caps (`m:appliesTo`), the
  predicates (`m:admitsPredicate`) and classes (`m:admitsClass`) that may be used there, and exactly one
  `m:fallbackClass`, which may be used, too: whoever finds no class that fits has one to take, and invents none.
* What else a plan records there is a finding, `not-admitted`: a violation, or with `m:mode m:Review` (instead of
  `m:Refuse`) a warning, so that an editor decides whether a new term comes in.
* `rdf:type` may always be used. A graph has at most one vocabulary. Nothing is derived; what is held is not looked at.

Example
-------
::

    :agents a m:Vocabulary ; m:appliesTo :notes ; m:admitsPredicate :mentions ; m:admitsClass :Person ;
        m:fallbackClass :Thing .
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from certificates.findings import Finding, FindingCode, Severity
from kernel.terms import RDF, Iri
from kernel.vocabulary import M, is_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kernel.facts import FactContent
    from kernel.plan import Plan
    from kernel.terms import Term

RDF_TYPE: Final = Iri(RDF + "type")
VOCABULARY: Final = Iri(M + "Vocabulary")
APPLIES_TO: Final = Iri(M + "appliesTo")
ADMITS_PREDICATE: Final = Iri(M + "admitsPredicate")
ADMITS_CLASS: Final = Iri(M + "admitsClass")
FALLBACK_CLASS: Final = Iri(M + "fallbackClass")
MODE: Final = Iri(M + "mode")
VOCABULARY_WORDS: Final = (APPLIES_TO, ADMITS_PREDICATE, ADMITS_CLASS, FALLBACK_CLASS, MODE)
_MODES: Final[Mapping[Term, Severity]] = {
    Iri(M + "Refuse"): Severity.VIOLATION,
    Iri(M + "Review"): Severity.WARNING,
}
_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What may be used in some graphs; `severity` is that of the finding for what may not."""

    node: Iri
    graphs: frozenset[Iri]
    predicates: frozenset[Iri]
    classes: frozenset[Iri]
    fallback: Iri
    severity: Severity


def vocabulary_of(node: Iri, terms: Mapping[Iri, list[Term]]) -> Vocabulary | str:
    """The vocabulary that a node describes, or what keeps it from being one."""
    if strange := [term.n3 for term in terms if term.value.startswith(M) and term not in VOCABULARY_WORDS]:
        words = ", ".join(f"m:{word.value.removeprefix(M)}" for word in VOCABULARY_WORDS)
        return f"a vocabulary has no {strange[0]}: write {words}"
    named = {
        word: frozenset(each for each in terms.get(word, ()) if isinstance(each, Iri)) for word in VOCABULARY_WORDS
    }
    if any(len(named[word]) != len(terms.get(word, ())) for word in VOCABULARY_WORDS):
        return "a vocabulary names IRIs only: write them as such"
    if not named[APPLIES_TO] or not all(map(is_data, named[APPLIES_TO])):
        return "a vocabulary caps graphs of data: name them with m:appliesTo"
    if len(named[FALLBACK_CLASS]) != 1:
        return "a vocabulary has exactly one m:fallbackClass, for what no other class fits: name it"
    if len(named[MODE]) > 1 or not named[MODE] <= _MODES.keys():
        return "a vocabulary has at most one m:mode: write m:Refuse or m:Review"
    (fallback,) = named[FALLBACK_CLASS]
    severity = next((_MODES[mode] for mode in named[MODE]), Severity.VIOLATION)
    classes = named[ADMITS_CLASS] | named[FALLBACK_CLASS]
    return Vocabulary(node, named[APPLIES_TO], named[ADMITS_PREDICATE], classes, fallback, severity)


def not_admitted(plan: Plan, vocabularies: Mapping[Iri, Vocabulary]) -> Iterator[Finding]:
    """What a plan records in capped graphs that may not be used there.

    Args:
        plan: it.
        vocabularies: by graph.
    """
    for content in plan.record if vocabularies else ():
        vocabulary = vocabularies.get(content.statement.graph)
        if vocabulary is not None:
            yield from _judged(content, vocabulary)


def _judged(content: FactContent, vocabulary: Vocabulary) -> Iterator[Finding]:
    said = content.statement
    if said.predicate != RDF_TYPE:
        admitted, term, instead = vocabulary.predicates, said.predicate, ""
    elif isinstance(said.object, Iri):
        admitted, term, instead = vocabulary.classes, said.object, f", or {vocabulary.fallback.n3} where none fits"
    else:
        return
    if term in admitted:
        return
    shown = sorted(each.n3 for each in admitted if each != vocabulary.fallback)
    listed = ", ".join(shown[:_SHOWN]) or "nothing else"
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    yield Finding(
        code=FindingCode.NOT_ADMITTED,
        severity=vocabulary.severity,
        message=f"{term.n3} is not of the vocabulary of {said.graph.n3}: use {listed}{more}{instead}",
        graphs=(said.graph.value,),
        focus=said.subject.n3,
        path=said.predicate.n3,
        value=said.object.n3,
    )
