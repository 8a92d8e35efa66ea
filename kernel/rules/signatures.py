"""Edge signatures: of which classes the subjects and objects of a predicate are.

Rules
-----
* `rdfs:domain` and `rdfs:range` in `m:ontology` are read as signatures: each one has to be met, as RDF Schema has it
  (sections 3.1 and 3.2), but nothing is derived from them. What `m:rules` says of `m:ontology` is how they are read:
  `m:mode` (`m:Refuse` unless given, `m:Review`, `m:Warn`, or `m:Ignore`) and `m:acrossGraphs`.
* An `m:EdgeSignature` of `m:rules` declares one: `m:predicate`, and classes by `m:subjectClass`, by `m:objectClass` or
  by both. Of several about one predicate a statement has to fit one, with both its ends.
* A predicate has the signatures of those that it is an `rdfs:subPropertyOf`, too. `rdf:type` has none.
* Below a class are its subclasses and equivalents, the members of its union, and whatever it is a part of by
  intersection. `owl:Thing` and `rdfs:Resource` ask for nothing, and neither does a class that is described in another
  way and has no name: what is not understood refuses nothing.
* A datatype takes every literal: which one it is, is for shapes to say.

Example
-------
::

    :worksFor rdfs:domain :Person .                                        # in m:ontology
    :a m:EdgeSignature ; m:predicate :worksFor ; m:subjectClass :Person ; m:objectClass :Firm .     # in m:rules
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from certificates.findings import Severity
from kernel.facts import SameFacts
from kernel.rules.words import ACROSS, BOOLEANS, MODE, MODES, PREDICATE, RDF_TYPE, iris, short, strange
from kernel.terms import RDF, XSD, Iri
from kernel.vocabulary import GENID, M

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kernel.facts import Fact
    from kernel.rules.words import Terms
    from kernel.terms import Statement

SIGNATURE: Final = Iri(M + "EdgeSignature")
SUBJECT_CLASS: Final = Iri(M + "subjectClass")
OBJECT_CLASS: Final = Iri(M + "objectClass")
IGNORE: Final = Iri(M + "Ignore")
SIGNATURE_WORDS: Final = (PREDICATE, SUBJECT_CLASS, OBJECT_CLASS, MODE, ACROSS)
READING_WORDS: Final = (MODE, ACROSS)

_RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
_OWL: Final = "http://www.w3.org/2002/07/owl#"
_DOMAIN, _RANGE = Iri(_RDFS + "domain"), Iri(_RDFS + "range")
_SUBCLASS, _SUBPROPERTY = Iri(_RDFS + "subClassOf"), Iri(_RDFS + "subPropertyOf")
_EQUIVALENT = Iri(_OWL + "equivalentClass")
_UNIONS: Final = frozenset({Iri(_OWL + "unionOf"), Iri(_OWL + "disjointUnionOf")})
_INTERSECTION: Final = Iri(_OWL + "intersectionOf")
_FIRST, _REST = Iri(RDF + "first"), Iri(RDF + "rest")
_DATATYPE: Final = Iri(_RDFS + "Datatype")
_LITERALS: Final = frozenset(
    {
        Iri(_RDFS + "Literal"),
        *(Iri(RDF + name) for name in ("langString", "dirLangString", "HTML", "XMLLiteral", "JSON")),
    }
)
EVERYTHING: Final = frozenset({Iri(_OWL + "Thing"), Iri(_RDFS + "Resource"), Iri(_OWL + "NamedIndividual")})
"""Types that say nothing: a node that has no others is untyped."""


@dataclass(frozen=True, slots=True)
class Ends:
    """What the two ends of a statement may be; an end without classes may be anything."""

    subjects: frozenset[Iri] = frozenset()
    objects: frozenset[Iri] = frozenset()


@dataclass(frozen=True, slots=True)
class Reading:
    """How domains and ranges are read; without a severity they are not."""

    severity: Severity | None = Severity.VIOLATION
    across: bool = False


AS_DEMANDS: Final = Reading()
"""How they are read where nothing is said."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A signature of `m:rules`."""

    node: Iri
    predicate: Iri
    ends: Ends
    severity: Severity
    across: bool


@dataclass(frozen=True, slots=True)
class Demand:
    """What a statement has to meet: one of some signatures.

    Args:
        severity: of the finding where it meets none.
        across: whether the types of its ends are looked for in all graphs of data, or in its own alone.
        public: whether it was read from `m:ontology`.
    """

    either: tuple[Ends, ...]
    severity: Severity
    across: bool
    public: bool


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of an ontology: what is directly below each, and which are datatypes."""

    below: Mapping[Iri, frozenset[Iri]] = field(default_factory=dict)
    datatypes: frozenset[Iri] = frozenset()
    _known: dict[frozenset[Iri], frozenset[Iri] | None] = field(default_factory=dict, compare=False, repr=False)

    def within(self, classes: frozenset[Iri]) -> frozenset[Iri] | None:
        """Some classes and all below them; None: they leave nothing out."""
        if classes not in self._known:
            self._known[classes] = self._within(classes)
        return self._known[classes]

    def fits(self, types: frozenset[Iri], classes: frozenset[Iri]) -> bool:
        """Whether what has these types may stand where one of the classes is asked for; without types, it may."""
        if not types or not classes:
            return True
        within = self.within(classes)
        return within is None or not types.isdisjoint(within)

    def takes_literals(self, classes: frozenset[Iri]) -> bool:
        """Whether one of the classes is a datatype."""
        return any(each in self.datatypes or each in _LITERALS or each.value.startswith(XSD) for each in classes)

    def _within(self, classes: frozenset[Iri]) -> frozenset[Iri] | None:
        found, waiting = set(classes), list(classes)
        while waiting:
            fresh = self.below.get(waiting.pop(), frozenset()) - found
            found |= fresh
            waiting += fresh
        nameless = [each for each in classes if each.value.startswith(GENID) and each not in self.below]
        return None if nameless or found & EVERYTHING else frozenset(found)


@dataclass(frozen=True, slots=True)
class Signatures:
    """What is asked of statements, by predicate."""

    demands: Mapping[Iri, tuple[Demand, ...]] = field(default_factory=dict)
    classes: Classes = field(default_factory=Classes)

    def __bool__(self) -> bool:
        return bool(self.demands)

    @property
    def across(self) -> bool:
        """Whether any of them looks at all graphs of data together."""
        return any(demand.across for demands in self.demands.values() for demand in demands)

    def of(self, predicate: Iri) -> tuple[Demand, ...]:
        """What is asked of the statements of a predicate."""
        return self.demands.get(predicate, ())


NO_SIGNATURES: Final = Signatures()


def declared_of(node: Iri, terms: Terms) -> Declared | str:
    """The signature that a node of `m:rules` describes, or what keeps it from being one."""
    if other := strange(terms, SIGNATURE_WORDS):
        return f"a signature has no {other}: write {short(SIGNATURE_WORDS)}"
    named = {word: iris(terms.get(word, ())) for word in (PREDICATE, SUBJECT_CLASS, OBJECT_CLASS)}
    if any(len(each) != len(terms.get(word, ())) for word, each in named.items()):
        return "a signature names IRIs only: write them as such"
    if len(named[PREDICATE]) != 1 or RDF_TYPE in named[PREDICATE]:
        return "a signature has exactly one m:predicate, other than rdf:type: write a signature for each"
    if not named[SUBJECT_CLASS] and not named[OBJECT_CLASS]:
        return "a signature says of which classes the ends are: write m:subjectClass, m:objectClass or both"
    reading = reading_of({word: terms[word] for word in READING_WORDS if word in terms})
    if isinstance(reading, str) or reading.severity is None:
        return "a signature has at most one m:mode, m:Refuse, m:Review or m:Warn, and one m:acrossGraphs, a boolean"
    (predicate,) = named[PREDICATE]
    ends = Ends(named[SUBJECT_CLASS], named[OBJECT_CLASS])
    return Declared(node, predicate, ends, reading.severity, reading.across)


def reading_of(terms: Terms) -> Reading | str:
    """How the modes that a node of `m:rules` has are read, or what keeps them from being modes."""
    modes, across = terms.get(MODE, []), terms.get(ACROSS, [])
    if other := strange(terms, READING_WORDS):
        return f"of m:ontology only {short(READING_WORDS)} are said here, not {other}"
    if len(modes) > 1 or any(mode not in MODES and mode != IGNORE for mode in modes):
        return "domains and ranges have at most one m:mode: write m:Refuse, m:Review, m:Warn or m:Ignore"
    if len(across) > 1 or any(term not in BOOLEANS for term in across):
        return "domains and ranges have at most one m:acrossGraphs: write true, or leave it out"
    severity = next((MODES.get(mode) for mode in modes), Severity.VIOLATION)
    return Reading(severity, any(BOOLEANS[term] for term in across))


def signatures(declared: tuple[Declared, ...], reading: Reading, ontology: tuple[Fact, ...]) -> Signatures:
    """The signatures in force; read once for the same tuples.

    Args:
        declared: by `m:rules`.
        reading: how domains and ranges are read.
        ontology: the believed facts of `m:ontology`.
    """
    return _read(declared, reading, SameFacts(ontology)) if declared or ontology else NO_SIGNATURES


@lru_cache(maxsize=16)
def _read(declared: tuple[Declared, ...], reading: Reading, ontology: SameFacts) -> Signatures:
    return signatures_of(declared, reading, (fact.statement for fact in ontology.facts))


def signatures_of(declared: Iterable[Declared], reading: Reading, ontology: Iterable[Statement]) -> Signatures:
    """The signatures of statements, whatever their graph."""
    by_predicate: dict[Iri, dict[Iri, set[Iri]]] = {}
    datatypes = set()
    for said in ontology:
        if isinstance(said.object, Iri):
            by_predicate.setdefault(said.predicate, {}).setdefault(said.subject, set()).add(said.object)
            if said.predicate == RDF_TYPE and said.object == _DATATYPE:
                datatypes.add(said.subject)
    own = _declared_demands(declared)
    if reading.severity is not None:
        for word, is_domain in ((_DOMAIN, True), (_RANGE, False)):
            for predicate, classes in by_predicate.get(word, {}).items():
                for each in sorted(classes - EVERYTHING, key=lambda named: named.value):
                    ends = Ends(subjects=frozenset({each})) if is_domain else Ends(objects=frozenset({each}))
                    own.setdefault(predicate, []).append(Demand((ends,), reading.severity, reading.across, public=True))
    own.pop(RDF_TYPE, None)
    if not own:
        return NO_SIGNATURES
    inherited = _inherited(own, by_predicate.get(_SUBPROPERTY, {}))
    return Signatures(inherited, Classes(_below(by_predicate), frozenset(datatypes)))


def _declared_demands(declared: Iterable[Declared]) -> dict[Iri, list[Demand]]:
    """One demand a predicate: as strict, and looking as far, as the strictest of its signatures."""
    by_predicate: dict[Iri, list[Declared]] = {}
    for each in declared:
        by_predicate.setdefault(each.predicate, []).append(each)
    rank = list(Severity)
    return {
        predicate: [
            Demand(
                tuple(each.ends for each in those),
                min((each.severity for each in those), key=rank.index),
                any(each.across for each in those),
                public=False,
            )
        ]
        for predicate, those in by_predicate.items()
    }


def _inherited(own: Mapping[Iri, list[Demand]], above: Mapping[Iri, set[Iri]]) -> dict[Iri, tuple[Demand, ...]]:
    """The demands of each predicate and of those that it is a sub-property of."""
    found = {}
    for predicate in {*own, *above} - {RDF_TYPE}:
        seen, waiting = {predicate}, [predicate]
        while waiting:
            fresh = above.get(waiting.pop(), set()) - seen
            seen |= fresh
            waiting += fresh
        demands = [demand for each in sorted(seen, key=lambda named: named.value) for demand in own.get(each, ())]
        if demands:
            found[predicate] = tuple(dict.fromkeys(demands))
    return found


def _below(by_predicate: Mapping[Iri, Mapping[Iri, set[Iri]]]) -> dict[Iri, frozenset[Iri]]:
    """What is directly below each class."""
    below: dict[Iri, set[Iri]] = {}
    for word in (_SUBCLASS, _EQUIVALENT):
        for one, others in by_predicate.get(word, {}).items():
            for other in others:
                below.setdefault(other, set()).add(one)
                if word == _EQUIVALENT:
                    below.setdefault(one, set()).add(other)
    first, rest = by_predicate.get(_FIRST, {}), by_predicate.get(_REST, {})
    for word in (*_UNIONS, _INTERSECTION):
        for one, lists in by_predicate.get(word, {}).items():
            for member in (member for head in lists for member in _members(head, first, rest)):
                over, under = (member, one) if word == _INTERSECTION else (one, member)
                below.setdefault(over, set()).add(under)
    return {over: frozenset(under) for over, under in below.items()}


def _members(head: Iri, first: Mapping[Iri, set[Iri]], rest: Mapping[Iri, set[Iri]]) -> set[Iri]:
    found: set[Iri] = set()
    seen: set[Iri] = set()
    waiting = {head}
    while waiting:
        seen |= waiting
        found = found.union(*(first.get(node, set()) for node in waiting))
        waiting = set().union(*(rest.get(node, set()) for node in waiting)) - seen
    return found
