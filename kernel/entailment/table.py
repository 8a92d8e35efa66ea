"""The rules of entailment, as a table: OWL 2 RL/RDF (OWL 2 Profiles, section 4.3, tables 4 to 9), and RDFS within it.

Rules
-----
* A row has the name that the specification gives the rule, what has to hold, and what then holds, or `false` where the
  rule says that it cannot. Variables have a question mark, `a` is `rdf:type`, `?x != ?y` are two different terms, and
  `?x unlike ?y` two literals of one datatype with different values.
* The specification's rules over lists take any number of premises. Here they go along the list, cell by cell, by means
  of *auxiliary* statements. Their predicates begin with `!`, as no term does: nobody can state one, nor see one. Such a
  predicate can name a cell, as in `!chain(?l)`. A variable never stands for one.
* Left out is what tells nobody anything: that each thing is the same as itself (eq-ref), axioms that hold of every
  graph (prp-ap, dt-type1), and what has a literal for its subject, which RDF cannot say (dt-type2, dt-eq, dt-diff).
  Where these serve as premises, they are still reckoned with: by `eq-diff1`, `eq-diff2` and `eq-diff3` of a term and
  itself, by the datatypes of literals, and where there may be one value and are two. Whether a literal is well formed
  (dt-not-type) is the business of shapes.
* Two rows hold without premises. They, and what follows from them alone, are reckoned with and not told.
* Each other rule needs a statement of the *vocabulary* of OWL and RDFS: one whose predicate it names, other than
  `rdf:type`, or `rdf:type` of a class that it names. So where nothing of that vocabulary is stated, nothing follows.
* A rule whose name has a stroke has more than one row.

Example
-------
>>> rule = next(each for each in OWL_RL if each.name == "prp-dom")
>>> len(rule.body), rule.head == (1, TYPE, 2)
(2, False)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final, TypeAlias

from kernel.terms import RDF, XSD

RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
TYPE: Final = f"<{RDF}type>"
AUXILIARY: Final = "!"


@dataclass(frozen=True, slots=True)
class Of:
    """A predicate that names a cell of a list.

    Args:
        name: of the auxiliary.
        cell: the variable of the cell.
    """

    name: str
    cell: int

    def of(self, cell: str) -> str:
        """The predicate for a cell."""
        return f"{self.name} {cell}"


Atom: TypeAlias = "str | int"
"""A term in its N-Triples form, or the number of a variable."""

Pattern: TypeAlias = "tuple[Atom, Atom | Of, Atom]"


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of the table.

    Args:
        name: as the specification has it.
        body: what has to hold.
        head: what then holds; None: that cannot be.
        variables: how many there are.
        different: pairs of variables that stand for different terms.
        unlike: pairs of variables that stand for literals of one datatype and different values.
        stride: of a rule that says that a predicate is transitive, the last premise; None: it says something else.
    """

    name: str
    body: tuple[Pattern, ...]
    head: Pattern | None
    variables: int
    different: tuple[tuple[int, int], ...]
    unlike: tuple[tuple[int, int], ...] = ()
    stride: Pattern | None = None


class Regime(StrEnum):
    """Which rules are followed."""

    RDFS = "rdfs"
    OWL_RL = "owl-rl"

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules."""
        return OWL_RL if self is Regime.OWL_RL else RDFS_RULES


_TABLE: Final = """
# Table 4: equality
eq-sym      ?x owl:sameAs ?y => ?y owl:sameAs ?x
eq-trans    ?x owl:sameAs ?y . ?y owl:sameAs ?z => ?x owl:sameAs ?z
eq-rep-s    ?s owl:sameAs ?t . ?s ?p ?o => ?t ?p ?o
eq-rep-p    ?p owl:sameAs ?q . ?s ?p ?o => ?s ?q ?o
eq-rep-o    ?o owl:sameAs ?v . ?s ?p ?o => ?s ?p ?v
eq-diff1    ?x owl:sameAs ?y . ?x owl:differentFrom ?y => false
eq-diff1    ?x owl:differentFrom ?x => false
eq-diff2    ?x a owl:AllDifferent . ?x owl:members ?l . ?k !cell ?l . ?m !cell ?l . ?k rdf:first ?y . ?m rdf:first ?z . ?y owl:sameAs ?z . ?k != ?m => false
eq-diff2    ?x a owl:AllDifferent . ?x owl:members ?l . ?k !cell ?l . ?m !cell ?l . ?k rdf:first ?y . ?m rdf:first ?y . ?k != ?m => false
eq-diff3    ?x a owl:AllDifferent . ?x owl:distinctMembers ?l . ?k !cell ?l . ?m !cell ?l . ?k rdf:first ?y . ?m rdf:first ?z . ?y owl:sameAs ?z . ?k != ?m => false
eq-diff3    ?x a owl:AllDifferent . ?x owl:distinctMembers ?l . ?k !cell ?l . ?m !cell ?l . ?k rdf:first ?y . ?m rdf:first ?y . ?k != ?m => false

# Table 5: properties
prp-dom     ?p rdfs:domain ?c . ?x ?p ?y => ?x a ?c
prp-rng     ?p rdfs:range ?c . ?x ?p ?y => ?y a ?c
prp-fp      ?p a owl:FunctionalProperty . ?x ?p ?y . ?x ?p ?z . ?y != ?z => ?y owl:sameAs ?z
prp-fp      ?p a owl:FunctionalProperty . ?x ?p ?y . ?x ?p ?z . ?y unlike ?z => false
prp-ifp     ?p a owl:InverseFunctionalProperty . ?x ?p ?z . ?y ?p ?z . ?x != ?y => ?x owl:sameAs ?y
prp-irp     ?p a owl:IrreflexiveProperty . ?x ?p ?x => false
prp-symp    ?p a owl:SymmetricProperty . ?x ?p ?y => ?y ?p ?x
prp-asyp    ?p a owl:AsymmetricProperty . ?x ?p ?y . ?y ?p ?x => false
prp-trp     ?p a owl:TransitiveProperty . ?x ?p ?y . ?y ?p ?z => ?x ?p ?z
prp-spo1    ?p rdfs:subPropertyOf ?q . ?x ?p ?y => ?x ?q ?y
prp-spo2/1  ?q owl:propertyChainAxiom ?l => ?l !linked ?l
prp-spo2/2  ?l !linked ?h . ?l rdf:rest ?m => ?m !linked ?h
prp-spo2/3  ?l !linked ?h . ?l rdf:first ?p . ?l rdf:rest rdf:nil . ?x ?p ?y => ?x !chain(?l) ?y
prp-spo2/4  ?l !linked ?h . ?l rdf:first ?p . ?l rdf:rest ?m . ?x ?p ?y . ?y !chain(?m) ?z => ?x !chain(?l) ?z
prp-spo2    ?q owl:propertyChainAxiom ?l . ?x !chain(?l) ?y => ?x ?q ?y
prp-eqp1    ?p owl:equivalentProperty ?q . ?x ?p ?y => ?x ?q ?y
prp-eqp2    ?p owl:equivalentProperty ?q . ?x ?q ?y => ?x ?p ?y
prp-pdw     ?p owl:propertyDisjointWith ?q . ?x ?p ?y . ?x ?q ?y => false
prp-adp     ?a a owl:AllDisjointProperties . ?a owl:members ?l . ?k !cell ?l . ?m !cell ?l . ?k rdf:first ?p . ?m rdf:first ?q . ?x ?p ?y . ?x ?q ?y . ?k != ?m => false
prp-inv1    ?p owl:inverseOf ?q . ?x ?p ?y => ?y ?q ?x
prp-inv2    ?p owl:inverseOf ?q . ?x ?q ?y => ?y ?p ?x
prp-key/1   ?c owl:hasKey ?l => ?l !keyed ?c
prp-key/2   ?l !keyed ?c . ?l rdf:rest ?m => ?m !keyed ?c
prp-key/3   ?l !keyed ?c . ?l rdf:first ?p . ?l rdf:rest rdf:nil . ?x ?p ?z . ?y ?p ?z . ?x a ?c . ?y a ?c . ?x != ?y => ?x !agree(?l) ?y
prp-key/4   ?l !keyed ?c . ?l rdf:first ?p . ?l rdf:rest ?m . ?x !agree(?m) ?y . ?x ?p ?z . ?y ?p ?z => ?x !agree(?l) ?y
prp-key     ?c owl:hasKey ?l . ?x !agree(?l) ?y . ?x a ?c . ?y a ?c => ?x owl:sameAs ?y
prp-npa1    ?n owl:sourceIndividual ?x . ?n owl:assertionProperty ?p . ?n owl:targetIndividual ?y . ?x ?p ?y => false
prp-npa2    ?n owl:sourceIndividual ?x . ?n owl:assertionProperty ?p . ?n owl:targetValue ?y . ?x ?p ?y => false

# Table 6: classes
cls-thing   true => owl:Thing a owl:Class
cls-nothing1 true => owl:Nothing a owl:Class
cls-nothing2 ?x a owl:Nothing => false
cls-int1/1  ?c owl:intersectionOf ?l => ?l !conjunct ?l
cls-int1/2  ?l !conjunct ?h . ?l rdf:rest ?m => ?m !conjunct ?h
cls-int1/3  ?l !conjunct ?h . ?l rdf:first ?c . ?l rdf:rest rdf:nil . ?x a ?c => ?x !within(?l) ?h
cls-int1/4  ?l !conjunct ?h . ?l rdf:first ?c . ?l rdf:rest ?m . ?x !within(?m) ?h . ?x a ?c => ?x !within(?l) ?h
cls-int1    ?c owl:intersectionOf ?l . ?x !within(?l) ?l => ?x a ?c
cls-int2    ?c owl:intersectionOf ?l . ?l !member ?d . ?x a ?c => ?x a ?d
cls-uni     ?c owl:unionOf ?l . ?l !member ?d . ?x a ?d => ?x a ?c
cls-com     ?c owl:complementOf ?d . ?x a ?c . ?x a ?d => false
cls-svf1    ?c owl:someValuesFrom ?d . ?c owl:onProperty ?p . ?x ?p ?y . ?y a ?d => ?x a ?c
cls-svf2    ?c owl:someValuesFrom owl:Thing . ?c owl:onProperty ?p . ?x ?p ?y => ?x a ?c
cls-avf     ?c owl:allValuesFrom ?d . ?c owl:onProperty ?p . ?x a ?c . ?x ?p ?y => ?y a ?d
cls-hv1     ?c owl:hasValue ?y . ?c owl:onProperty ?p . ?x a ?c => ?x ?p ?y
cls-hv2     ?c owl:hasValue ?y . ?c owl:onProperty ?p . ?x ?p ?y => ?x a ?c
cls-maxc1   ?c owl:maxCardinality 0 . ?c owl:onProperty ?p . ?x a ?c . ?x ?p ?y => false
cls-maxc2   ?c owl:maxCardinality 1 . ?c owl:onProperty ?p . ?x a ?c . ?x ?p ?y . ?x ?p ?z . ?y != ?z => ?y owl:sameAs ?z
cls-maxc2   ?c owl:maxCardinality 1 . ?c owl:onProperty ?p . ?x a ?c . ?x ?p ?y . ?x ?p ?z . ?y unlike ?z => false
cls-maxqc1  ?c owl:maxQualifiedCardinality 0 . ?c owl:onProperty ?p . ?c owl:onClass ?d . ?x a ?c . ?x ?p ?y . ?y a ?d => false
cls-maxqc2  ?c owl:maxQualifiedCardinality 0 . ?c owl:onProperty ?p . ?c owl:onClass owl:Thing . ?x a ?c . ?x ?p ?y => false
cls-maxqc3  ?c owl:maxQualifiedCardinality 1 . ?c owl:onProperty ?p . ?c owl:onClass ?d . ?x a ?c . ?x ?p ?y . ?y a ?d . ?x ?p ?z . ?z a ?d . ?y != ?z => ?y owl:sameAs ?z
cls-maxqc4  ?c owl:maxQualifiedCardinality 1 . ?c owl:onProperty ?p . ?c owl:onClass owl:Thing . ?x a ?c . ?x ?p ?y . ?x ?p ?z . ?y != ?z => ?y owl:sameAs ?z
cls-maxqc4  ?c owl:maxQualifiedCardinality 1 . ?c owl:onProperty ?p . ?c owl:onClass owl:Thing . ?x a ?c . ?x ?p ?y . ?x ?p ?z . ?y unlike ?z => false
cls-oo      ?c owl:oneOf ?l . ?l !member ?x => ?x a ?c

# Table 7: class axioms
cax-sco     ?c rdfs:subClassOf ?d . ?x a ?c => ?x a ?d
cax-eqc1    ?c owl:equivalentClass ?d . ?x a ?c => ?x a ?d
cax-eqc2    ?c owl:equivalentClass ?d . ?x a ?d => ?x a ?c
cax-dw      ?c owl:disjointWith ?d . ?x a ?c . ?x a ?d => false
cax-adc     ?a a owl:AllDisjointClasses . ?a owl:members ?l . ?k !cell ?l . ?m !cell ?l . ?k rdf:first ?c . ?m rdf:first ?d . ?x a ?c . ?x a ?d . ?k != ?m => false

# Table 9: schema vocabulary
scm-cls     ?c a owl:Class => ?c rdfs:subClassOf ?c
scm-cls     ?c a owl:Class => ?c owl:equivalentClass ?c
scm-cls     ?c a owl:Class => ?c rdfs:subClassOf owl:Thing
scm-cls     ?c a owl:Class => owl:Nothing rdfs:subClassOf ?c
scm-sco     ?c rdfs:subClassOf ?d . ?d rdfs:subClassOf ?e => ?c rdfs:subClassOf ?e
scm-eqc1    ?c owl:equivalentClass ?d => ?c rdfs:subClassOf ?d
scm-eqc1    ?c owl:equivalentClass ?d => ?d rdfs:subClassOf ?c
scm-eqc2    ?c rdfs:subClassOf ?d . ?d rdfs:subClassOf ?c => ?c owl:equivalentClass ?d
scm-op      ?p a owl:ObjectProperty => ?p rdfs:subPropertyOf ?p
scm-op      ?p a owl:ObjectProperty => ?p owl:equivalentProperty ?p
scm-dp      ?p a owl:DatatypeProperty => ?p rdfs:subPropertyOf ?p
scm-dp      ?p a owl:DatatypeProperty => ?p owl:equivalentProperty ?p
scm-spo     ?p rdfs:subPropertyOf ?q . ?q rdfs:subPropertyOf ?r => ?p rdfs:subPropertyOf ?r
scm-eqp1    ?p owl:equivalentProperty ?q => ?p rdfs:subPropertyOf ?q
scm-eqp1    ?p owl:equivalentProperty ?q => ?q rdfs:subPropertyOf ?p
scm-eqp2    ?p rdfs:subPropertyOf ?q . ?q rdfs:subPropertyOf ?p => ?p owl:equivalentProperty ?q
scm-dom1    ?p rdfs:domain ?c . ?c rdfs:subClassOf ?d => ?p rdfs:domain ?d
scm-dom2    ?q rdfs:domain ?c . ?p rdfs:subPropertyOf ?q => ?p rdfs:domain ?c
scm-rng1    ?p rdfs:range ?c . ?c rdfs:subClassOf ?d => ?p rdfs:range ?d
scm-rng2    ?q rdfs:range ?c . ?p rdfs:subPropertyOf ?q => ?p rdfs:range ?c
scm-hv      ?c owl:hasValue ?i . ?c owl:onProperty ?p . ?d owl:hasValue ?i . ?d owl:onProperty ?q . ?p rdfs:subPropertyOf ?q => ?c rdfs:subClassOf ?d
scm-svf1    ?c owl:someValuesFrom ?y . ?c owl:onProperty ?p . ?d owl:someValuesFrom ?z . ?d owl:onProperty ?p . ?y rdfs:subClassOf ?z => ?c rdfs:subClassOf ?d
scm-svf2    ?c owl:someValuesFrom ?y . ?c owl:onProperty ?p . ?d owl:someValuesFrom ?y . ?d owl:onProperty ?q . ?p rdfs:subPropertyOf ?q => ?c rdfs:subClassOf ?d
scm-avf1    ?c owl:allValuesFrom ?y . ?c owl:onProperty ?p . ?d owl:allValuesFrom ?z . ?d owl:onProperty ?p . ?y rdfs:subClassOf ?z => ?c rdfs:subClassOf ?d
scm-avf2    ?c owl:allValuesFrom ?y . ?c owl:onProperty ?p . ?d owl:allValuesFrom ?y . ?d owl:onProperty ?q . ?p rdfs:subPropertyOf ?q => ?d rdfs:subClassOf ?c
scm-int     ?c owl:intersectionOf ?l . ?l !member ?d => ?c rdfs:subClassOf ?d
scm-uni     ?c owl:unionOf ?l . ?l !member ?d => ?d rdfs:subClassOf ?c

# Members of lists
list/1      ?c owl:intersectionOf ?l => ?l !cell ?l
list/1      ?c owl:unionOf ?l => ?l !cell ?l
list/1      ?c owl:oneOf ?l => ?l !cell ?l
list/1      ?c owl:members ?l => ?l !cell ?l
list/1      ?c owl:distinctMembers ?l => ?l !cell ?l
list/2      ?l !cell ?h . ?l rdf:rest ?m => ?m !cell ?h
list/3      ?l !cell ?h . ?l rdf:first ?x => ?h !member ?x
"""  # noqa: E501 - a rule is a line
_COMPARED: Final = ("!=", "unlike")
_PREFIXES: Final = {"rdf": RDF, "rdfs": RDFS, "owl": OWL}
_CALL: Final = re.compile(r"(![a-z]+)\((\?[a-z])\)")


def _rule(line: str) -> Rule:
    """The rule of a line."""
    name, text = line.split(maxsplit=1)
    before, after = text.split(" => ")
    numbers: dict[str, int] = {}
    clauses = [clause.split() for clause in before.split(" . ")]
    premises = [clause for clause in clauses if clause != ["true"] and clause[1] not in _COMPARED]
    body = tuple(_pattern(clause, numbers) for clause in premises)
    head = None if after == "false" else _pattern(after.split(), numbers)
    different, unlike = (
        tuple((numbers[each[0]], numbers[each[2]]) for each in clauses if compared in each) for compared in _COMPARED
    )
    return Rule(name, body, head, len(numbers), different, unlike, _stride(body, head))


def _stride(body: tuple[Pattern, ...], head: Pattern | None) -> Pattern | None:
    """The last premise, where the last two are `?x p ?y . ?y p ?z` and the head is `?x p ?z`."""
    for (one, predicate, middle), last in pairwise(body[-2:]):
        if last == (middle, predicate, last[2]) and head == (one, predicate, last[2]):
            return last
    return None


def _pattern(words: list[str], numbers: dict[str, int]) -> Pattern:
    subject, predicate, value = words
    call = _CALL.fullmatch(predicate)
    named = _atom(predicate, numbers) if call is None else Of(call[1], numbers.setdefault(call[2], len(numbers)))
    return _atom(subject, numbers), named, _atom(value, numbers)


def _atom(word: str, numbers: dict[str, int]) -> Atom:
    if word[0] == "?":
        return numbers.setdefault(word, len(numbers))
    if word[0] == AUXILIARY:
        return word
    if word.isdigit():
        return f'"{word}"^^<{XSD}integer>'
    if word == "a":
        return TYPE
    prefix, local = word.split(":")
    return f"<{_PREFIXES[prefix]}{local}>"


OWL_RL: Final = tuple(_rule(line) for line in _TABLE.splitlines() if line and line[0] != "#")
"""All of them."""

RDFS_RULES: Final = tuple(
    rule for rule in OWL_RL if rule.name in {"prp-dom", "prp-rng", "scm-spo", "prp-spo1", "cax-sco", "scm-sco"}
)
"""Those of RDFS (RDF 1.1 Semantics, section 9.2.1): rdfs2, 3, 5, 7, 9 and 11, in this order."""
