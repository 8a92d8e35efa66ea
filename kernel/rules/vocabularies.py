"""Vocabularies of graphs: which predicates and classes may be used in a graph, as that which agents write to.

Rules
-----
* A vocabulary is a subject of `m:rules` with the type `m:Vocabulary`: the graphs that it caps (`m:appliesTo`), what may
  be used there, and exactly one `m:fallbackClass`, which may be used, too: whoever finds no class that fits has one to
  take, and invents none. One `m:fallbackPredicate` may stand beside it.
* Admitted are the predicates and classes that it names (`m:admitsPredicate`, `m:admitsClass`); with `m:admitsDeclared
  true` those that `m:ontology` declares as such; and with `m:admitsNamespace` those whose IRIs begin so, ends in `/` or
  `#`. With both, what is declared has to begin so. `rdf:type` may always be used.
* What else a plan records there is a finding, `not-admitted`: a violation, or with `m:mode m:Review` (instead of
  `m:Refuse`) a warning, so that an editor decides whether a new term comes in. What is held is not looked at.
* `m:mostPredicates` and `m:mostClasses` limit how many it admits, fallbacks included. A plan that has it admit more, by
  what it writes to `m:rules` or `m:ontology`, is told (`vocabulary-full`), as gravely as the mode has it. What a
  namespace admits cannot be counted, so that these two go together only with `m:admitsDeclared`.
* A graph has at most one vocabulary. Nothing is derived.

Example
-------
::

    :agents a m:Vocabulary ; m:appliesTo :notes ; m:admitsPredicate :mentions ; m:admitsClass :Person ;
        m:fallbackClass :Thing ; m:admitsDeclared true ; m:mostClasses 12 .
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from certificates.findings import Finding, FindingCode, Severity
from kernel.facts import SameFacts
from kernel.rules.words import APPLIES_TO, BOOLEANS, MODE, MODES, RDF_TYPE, iris, short, strange
from kernel.terms import RDF, XSD, Iri, Literal
from kernel.vocabulary import RULES_GRAPH, M, is_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kernel.facts import Fact, FactContent
    from kernel.rules.words import Terms
    from kernel.terms import Statement, Term
    from kernel.writing.plan import Plan

VOCABULARY: Final = Iri(M + "Vocabulary")
ADMITS_PREDICATE: Final = Iri(M + "admitsPredicate")
ADMITS_CLASS: Final = Iri(M + "admitsClass")
ADMITS_NAMESPACE: Final = Iri(M + "admitsNamespace")
ADMITS_DECLARED: Final = Iri(M + "admitsDeclared")
FALLBACK_CLASS: Final = Iri(M + "fallbackClass")
FALLBACK_PREDICATE: Final = Iri(M + "fallbackPredicate")
MOST_PREDICATES: Final = Iri(M + "mostPredicates")
MOST_CLASSES: Final = Iri(M + "mostClasses")
_NODES: Final = (
    APPLIES_TO, ADMITS_PREDICATE, ADMITS_CLASS, ADMITS_NAMESPACE, FALLBACK_CLASS, FALLBACK_PREDICATE, MODE,
)  # fmt: skip
VOCABULARY_WORDS: Final = (*_NODES, ADMITS_DECLARED, MOST_PREDICATES, MOST_CLASSES)

_MODES: Final = {mode: severity for mode, severity in MODES.items() if severity is not Severity.INFO}
_KINDS: Final = (
    "Object Datatype Annotation Ontology Functional InverseFunctional"
    " Symmetric Asymmetric Transitive Reflexive Irreflexive"
)
_PROPERTY_CLASSES: Final = frozenset(
    {Iri(RDF + "Property"), *(Iri(f"http://www.w3.org/2002/07/owl#{kind}Property") for kind in _KINDS.split())}
)
_CLASS_CLASSES: Final = frozenset(
    {Iri("http://www.w3.org/2000/01/rdf-schema#Class"), Iri("http://www.w3.org/2002/07/owl#Class")}
)
_SHOWN: Final = 12
_LONGEST: Final = 200
_LIMIT: Final = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class TermsUsed:
    """Predicates and classes."""

    predicates: frozenset[Iri] = frozenset()
    classes: frozenset[Iri] = frozenset()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What may be used in some graphs.

    Args:
        named: what may, fallbacks included.
        namespaces: how the IRIs of others begin that may, or, with `declared`, of those that are declared.
        declared: whether what `m:ontology` declares may be used.
        most_predicates: how many predicates it may admit; None: any number. `most_classes` likewise.
        severity: of the finding for what may not be used.
    """

    node: Iri
    graphs: frozenset[Iri]
    named: TermsUsed
    namespaces: tuple[str, ...]
    declared: bool
    fallback: Iri
    fallback_predicate: Iri | None
    most_predicates: int | None
    most_classes: int | None
    severity: Severity

    def admits(self, term: Iri, named: frozenset[Iri], declared: frozenset[Iri]) -> bool:
        """Whether a term may be used.

        Args:
            term: it.
            named: what the vocabulary names of its kind.
            declared: what `m:ontology` declares of its kind.
        """
        if term in named:
            return True
        begins = term.value.startswith(self.namespaces) if self.namespaces else self.declared
        return begins and (not self.declared or term in declared)

    def admitted(self, declared: TermsUsed) -> TermsUsed:
        """All that may be used and can be counted, when so much is declared."""
        return TermsUsed(
            *(
                named | {term for term in of_kind if self.admits(term, named, of_kind)}
                for named, of_kind in (
                    (self.named.predicates, declared.predicates),
                    (self.named.classes, declared.classes),
                )
            )
        )


# --- reading ----------------------------------------------------------------------------------------------------------


def vocabulary_of(node: Iri, terms: Terms) -> Vocabulary | str:
    """The vocabulary that a node describes, or what keeps it from being one."""
    if other := strange(terms, VOCABULARY_WORDS):
        return f"a vocabulary has no {other}: write {short(VOCABULARY_WORDS)}"
    named = {word: iris(terms.get(word, ())) for word in _NODES}
    if any(len(named[word]) != len(terms.get(word, ())) for word in _NODES):
        return "a vocabulary names IRIs only: write them as such"
    if not named[APPLIES_TO] or not all(map(is_data, named[APPLIES_TO])):
        return "a vocabulary caps graphs of data: name them with m:appliesTo"
    if len(named[FALLBACK_CLASS]) != 1:
        return "a vocabulary has exactly one m:fallbackClass, for what no other class fits: name it"
    if len(named[FALLBACK_PREDICATE]) > 1:
        return "a vocabulary has at most one m:fallbackPredicate: keep one"
    if len(named[MODE]) > 1 or not named[MODE] <= _MODES.keys():
        return "a vocabulary has at most one m:mode: write m:Refuse or m:Review"
    if not all(each.value.endswith(("/", "#")) for each in named[ADMITS_NAMESPACE]):
        return "a namespace ends in / or #: write m:admitsNamespace so, or name the terms one by one"
    return _with_limits(node, named, terms)


def _with_limits(node: Iri, named: Mapping[Iri, frozenset[Iri]], terms: Terms) -> Vocabulary | str:
    flags = terms.get(ADMITS_DECLARED, [])
    if len(flags) > 1 or any(flag not in BOOLEANS for flag in flags):
        return "a vocabulary has at most one m:admitsDeclared: write true, or leave it out"
    declared = any(BOOLEANS[flag] for flag in flags)
    most_predicates, most_classes = (_limit(terms.get(word, [])) for word in (MOST_PREDICATES, MOST_CLASSES))
    if 0 in (most_predicates, most_classes):
        return "m:mostPredicates and m:mostClasses are each at most one whole number from 1 on: write that"
    limited = most_predicates is not None or most_classes is not None
    if limited and named[ADMITS_NAMESPACE] and not declared:
        return "what a namespace admits cannot be counted: add m:admitsDeclared true, or leave the limit out"
    (fallback,) = named[FALLBACK_CLASS]
    return Vocabulary(
        node,
        named[APPLIES_TO],
        TermsUsed(named[ADMITS_PREDICATE] | named[FALLBACK_PREDICATE], named[ADMITS_CLASS] | named[FALLBACK_CLASS]),
        tuple(sorted(each.value for each in named[ADMITS_NAMESPACE])),
        declared,
        fallback,
        next(iter(named[FALLBACK_PREDICATE]), None),
        most_predicates,
        most_classes,
        next((_MODES[mode] for mode in named[MODE]), Severity.VIOLATION),
    )


def _limit(given: list[Term]) -> int | None:
    """A limit; None: there is none; 0: it cannot be read."""
    if not given:
        return None
    text = given[0]
    if len(given) > 1 or not isinstance(text, Literal) or text.datatype != XSD + "integer":
        return 0
    return int(text.lexical) if _LIMIT.fullmatch(text.lexical) else 0


def declared_terms(ontology: tuple[Fact, ...]) -> TermsUsed:
    """What the believed facts of `m:ontology` declare; read once for the same tuple."""
    return _declared(SameFacts(ontology)) if ontology else TermsUsed()


@lru_cache(maxsize=16)
def _declared(key: SameFacts) -> TermsUsed:
    return declared_by(fact.statement for fact in key.facts)


def declared_by(ontology: Iterable[Statement]) -> TermsUsed:
    """The predicates and classes that statements declare."""
    typed = [(said.subject, said.object) for said in ontology if said.predicate == RDF_TYPE]
    return TermsUsed(
        frozenset(node for node, kind in typed if kind in _PROPERTY_CLASSES),
        frozenset(node for node, kind in typed if kind in _CLASS_CLASSES),
    )


# --- judging ----------------------------------------------------------------------------------------------------------


def not_admitted(plan: Plan, vocabularies: Mapping[Iri, Vocabulary], ontology: tuple[Fact, ...]) -> Iterator[Finding]:
    """What a plan records in capped graphs that may not be used there.

    Args:
        plan: it.
        vocabularies: by graph.
        ontology: the believed facts of `m:ontology`.
    """
    for content in plan.record if vocabularies else ():
        vocabulary = vocabularies.get(content.statement.graph)
        if vocabulary is not None:
            yield from _judged(content, vocabulary, declared_terms(ontology))


def grown(
    before: Mapping[Iri, Vocabulary], declared: TermsUsed, after: Mapping[Iri, Vocabulary], then: TermsUsed
) -> Iterator[Finding]:
    """Which vocabularies come to admit more than they may, or more still.

    Args:
        before: vocabularies by graph, before a plan.
        declared: what is declared before it.
        after: vocabularies by graph, after it.
        then: what is declared after it.
    """
    known = {each.node: each for each in before.values()}
    for vocabulary in dict.fromkeys(after.values()):
        was = known.get(vocabulary.node)
        old = TermsUsed() if was is None else was.admitted(declared)
        new = vocabulary.admitted(then)
        for name, most, count, earlier, limit in (
            ("predicates", vocabulary.most_predicates, new.predicates, old.predicates, was and was.most_predicates),
            ("classes", vocabulary.most_classes, new.classes, old.classes, was and was.most_classes),
        ):
            if most is not None and len(count) > most and (len(count) > len(earlier) or limit != most):
                yield _full(vocabulary, name, len(count), most, sorted(each.n3 for each in count - earlier))


def _full(vocabulary: Vocabulary, name: str, count: int, most: int, fresh: list[str]) -> Finding:
    added = f", {_listed(fresh)} among them" if fresh else ""
    return Finding(
        code=FindingCode.VOCABULARY_FULL,
        severity=vocabulary.severity,
        message=f"{vocabulary.node.n3} would admit {count} {name}{added}, and may admit {most}: take others out, or do "
        "with those that are there",
        graphs=(RULES_GRAPH.value,),
        focus=vocabulary.node.n3,
    )


def _judged(content: FactContent, vocabulary: Vocabulary, declared: TermsUsed) -> Iterator[Finding]:
    said, instead = content.statement, None
    term: Term
    if said.predicate != RDF_TYPE:
        term, named, others, instead = (
            said.predicate,
            vocabulary.named.predicates,
            declared.predicates,
            vocabulary.fallback_predicate,
        )
    else:
        term, named, others, instead = said.object, vocabulary.named.classes, declared.classes, vocabulary.fallback
    if isinstance(term, Iri) and vocabulary.admits(term, named, others):
        return
    usable = _usable(vocabulary, named, instead)
    yield Finding(
        code=FindingCode.NOT_ADMITTED,
        severity=vocabulary.severity,
        message=f"{_cut(term.n3)} is not of the vocabulary of {said.graph.n3}: use {usable}",
        graphs=(said.graph.value,),
        focus=said.subject.n3,
        path=said.predicate.n3,
        value=said.object.n3,
    )


def _usable(vocabulary: Vocabulary, named: frozenset[Iri], instead: Iri | None) -> str:
    """What may be used, in words."""
    listed = _listed(sorted(each.n3 for each in named if each != instead))
    begin = f" beginning with {' or '.join(vocabulary.namespaces)}" if vocabulary.namespaces else ""
    if vocabulary.declared:
        listed += f"{', ' if listed else ''}what the ontology declares{begin}"
    elif begin:
        listed += f"{', ' if listed else ''}what has an IRI{begin}"
    fallback = "" if instead is None else f", or {instead.n3} where none fits"
    return f"{listed or 'nothing else'}{fallback}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _listed(named: list[str]) -> str:
    return ", ".join(named[:_SHOWN]) + (f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else "")
