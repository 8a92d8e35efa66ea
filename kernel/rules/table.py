"""The contradiction rules of a base, read from the believed facts of `m:rules`.

Rules
-----
* A rule is a subject with exactly one type of `RuleKind`; what else it has depends on that (`kernel.rules.kinds`):
  `m:predicate` and `m:with`, or two and more of `m:class`, all of them IRIs; and at most one `m:propose`, by default
  `m:Ask`.
* It looks within one graph, unless it has `m:acrossGraphs true`: then it looks at all data graphs together, and may
  propose no change, since who writes to one graph does not change another.
* There is at most one rule of each kind about the same terms.
* What has `m:credibility`, from 0 to 1, is a source: the episode of that IRI, or, where the IRI ends in `/` or `#`,
  every episode whose IRI begins so; the longest IRI that fits counts.
* What has the type `m:Vocabulary` is one (`kernel.rules.vocabularies`), and so with `m:EdgeSignature`
  (`kernel.rules.signatures`) and `m:ArgumentRule` (`kernel.rules.arguments`). What is said of `m:ontology` is how its
  domains and ranges are read.
* What uses the vocabulary `m:` in any other way is an invalid rule, with its place and its reason; nothing is ignored.
  Labels, comments and whatever else is not of that vocabulary are free.
* A table is read once for the same tuple of facts.

Example
-------
::

    :r a m:SingleValuedBySubject ; m:predicate :livesIn ; m:propose m:EndOlder .

    read_rules(facts).of(Iri("…livesIn"))[0].proposal is Proposal.END_OLDER
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from kernel.facts import SameFacts
from kernel.rules.arguments import ARGUMENT_RULE, RELATIONS, Composition, composition_of
from kernel.rules.kinds import Proposal, RuleKind, Shape
from kernel.rules.signatures import AS_DEMANDS, SIGNATURE, Declared, Reading, declared_of, reading_of
from kernel.rules.vocabularies import VOCABULARY, Vocabulary, vocabulary_of
from kernel.rules.words import ACROSS, BOOLEANS, CLASS, PREDICATE, RDF_TYPE, iris, short
from kernel.terms import Iri, Literal
from kernel.vocabulary import ONTOLOGY_GRAPH, M

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kernel.facts import Fact
    from kernel.rules.words import Terms
    from kernel.terms import Statement, Term

WITH: Final = Iri(M + "with")
PROPOSE: Final = Iri(M + "propose")
CREDIBILITY: Final = Iri(M + "credibility")
RULE_WORDS: Final = (PREDICATE, WITH, CLASS, PROPOSE, ACROSS)

_KINDS: Final[Mapping[Term, RuleKind]] = {Iri(M + kind): kind for kind in RuleKind}
_PROPOSALS: Final[Mapping[Term, Proposal]] = {Iri(M + proposal): proposal for proposal in Proposal}
_Described = dict[Iri, dict[Iri, "list[Term]"]]
_Understood: TypeAlias = "Rule | Vocabulary | Declared | Composition | Reading | Decimal"


@dataclass(frozen=True, slots=True)
class Rule:
    """What may not be believed together.

    Args:
        node: the rule's own.
        terms: the predicates that it is about, `m:predicate` first; or the classes, in order of their IRIs.
        proposal: what it proposes.
        across: whether it looks at all data graphs together.
    """

    node: Iri
    kind: RuleKind
    terms: tuple[Iri, ...]
    proposal: Proposal
    across: bool = False

    @property
    def predicates(self) -> tuple[Iri, ...]:
        """The predicates of the facts that it is about."""
        return (RDF_TYPE,) if self.kind is RuleKind.DISJOINT else self.terms


@dataclass(frozen=True, slots=True)
class InvalidRule:
    """A rule that cannot be applied.

    Args:
        node: the rule.
        reason: what is wrong with it, and what to write instead.
        predicates: the predicates that it names, as far as can be told; empty: any write may be meant.
    """

    node: Iri
    reason: str
    predicates: frozenset[Iri]


@dataclass(frozen=True, slots=True)
class RuleTable:
    """What `m:rules` says: rules by predicate, how credible sources are, vocabularies by graph, and signatures."""

    rules: Mapping[Iri, tuple[Rule, ...]] = field(default_factory=dict)
    credibility: Mapping[str, Decimal] = field(default_factory=dict)
    vocabularies: Mapping[Iri, Vocabulary] = field(default_factory=dict)
    signatures: tuple[Declared, ...] = ()
    reading: Reading = AS_DEMANDS
    arguments: tuple[Composition, ...] = ()
    invalid: tuple[InvalidRule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rules or self.vocabularies or self.invalid)

    def of(self, predicate: Iri) -> tuple[Rule, ...]:
        """The rules on a predicate."""
        return self.rules.get(predicate, ())

    def credible(self, episode: Iri) -> Decimal | None:
        """How credible an episode is; None: nobody said."""
        given = self.credibility.get(episode.value)
        if given is not None:
            return given
        above = [iri for iri in self.credibility if iri[-1] in "/#" and episode.value.startswith(iri)]
        return self.credibility[max(above, key=len)] if above else None


NO_RULES: Final = RuleTable()


def read_rules(facts: tuple[Fact, ...]) -> RuleTable:
    """The table of the believed facts of `m:rules`; total, and remembered for the tuple given."""
    return _read(SameFacts(facts)) if facts else NO_RULES


def rules_of(statements: Iterable[Statement]) -> RuleTable:
    """The table of statements, whatever their graph."""
    described: _Described = {}
    for statement in statements:
        terms = described.setdefault(statement.subject, {}).setdefault(statement.predicate, [])
        if statement.object not in terms:
            terms.append(statement.object)
    ours = [(node, terms) for node, terms in described.items() if _is_ours(terms)]
    read = [(node, _understood(node, terms)) for node, terms in sorted(ours, key=lambda item: item[0].value)]
    invalid = [each for _, each in read if isinstance(each, InvalidRule)]
    return RuleTable(
        _by_predicate([each for _, each in read if isinstance(each, Rule)], invalid),
        {node.value: each for node, each in read if isinstance(each, Decimal)},
        _by_graph([each for _, each in read if isinstance(each, Vocabulary)], invalid),
        tuple(each for _, each in read if isinstance(each, Declared)),
        next((each for _, each in read if isinstance(each, Reading)), AS_DEMANDS),
        tuple(dict.fromkeys(each for _, each in read if isinstance(each, Composition))),
        tuple(invalid),
    )


@lru_cache(maxsize=16)
def _read(key: SameFacts) -> RuleTable:
    return rules_of(fact.statement for fact in key.facts)


def _is_ours(terms: Terms) -> bool:
    """Whether a node uses anything of our vocabulary."""
    return bool(_types(terms)) or any(predicate.value.startswith(M) for predicate in terms)


def _types(terms: Terms) -> list[Iri]:
    return [term for term in terms.get(RDF_TYPE, ()) if isinstance(term, Iri) and term.value.startswith(M)]


def _understood(node: Iri, terms: Terms) -> _Understood | InvalidRule:
    """What a node says, by its type; a number is how credible it is."""
    if CREDIBILITY in terms:
        return _credibility(node, terms)
    types, named = _types(terms), frozenset[Iri]()
    if types == [VOCABULARY]:
        read: Vocabulary | Declared | Composition | Reading | str = vocabulary_of(node, terms)
    elif types == [SIGNATURE]:
        read, named = declared_of(node, terms), iris(terms.get(PREDICATE, ()))
    elif types == [ARGUMENT_RULE]:
        read, named = composition_of(terms), frozenset(RELATIONS)
    elif node == ONTOLOGY_GRAPH:
        read = reading_of(terms)
    else:
        return _rule(node, terms)
    return InvalidRule(node, read, named) if isinstance(read, str) else read


def _rule(node: Iri, terms: Terms) -> Rule | InvalidRule:
    """The rule that a node describes."""
    types = _types(terms)
    fault = _no_kind(types, terms) or _fault(_KINDS[types[0]], terms)
    if fault is not None:
        named = frozenset(term for word in (PREDICATE, WITH) for term in terms.get(word, ()) if isinstance(term, Iri))
        return InvalidRule(node, fault, frozenset({RDF_TYPE}) if CLASS in terms and not named else named)
    about = [*terms.get(PREDICATE, ()), *terms.get(WITH, ()), *sorted(terms.get(CLASS, ()), key=lambda each: each.n3)]
    (proposal,) = terms.get(PROPOSE) or (Iri(M + Proposal.ASK),)
    return Rule(
        node,
        _KINDS[types[0]],
        tuple(term for term in about if isinstance(term, Iri)),
        _PROPOSALS[proposal],
        _across(terms),
    )


def _no_kind(types: list[Iri], terms: Terms) -> str | None:
    """What keeps a node from being a rule of some kind."""
    kinds = (
        f"{', '.join(f'm:{kind}' for kind in RuleKind)}, {short((SIGNATURE, VOCABULARY))} or {short((ARGUMENT_RULE,))}"
    )
    if strange := [term.n3 for term in types if term not in _KINDS]:
        return f"there is no kind of rule {strange[0]}: write {kinds}"
    if len(types) != 1:
        return f"a rule has one type, this one has {len(types) or 'none'}: write {kinds}"
    if strange := [term.n3 for term in terms if term.value.startswith(M) and term not in RULE_WORDS]:
        return f"a rule has no {strange[0]}: write {', '.join('m:' + word.value[len(M) :] for word in RULE_WORDS)}"
    return None


def _fault(kind: RuleKind, terms: Terms) -> str | None:
    """What keeps a node from being a rule of its kind."""
    shape = kind.shape
    about = {word: terms.get(word, []) for word in (PREDICATE, WITH, CLASS)}
    counts = {word: len(named) for word, named in about.items()}
    fits = (
        counts[PREDICATE] == shape.predicates
        and shape.others[0] <= counts[WITH] <= shape.others[1]
        and (counts[CLASS] >= shape.classes if shape.classes else not counts[CLASS])
    )
    if not fits or not all(isinstance(term, Iri) for named in about.values() for term in named):
        return f"a rule m:{kind} {_misshapen(shape, counts)}: write {shape.words}, and a rule for each"
    if set(about[PREDICATE]) & set(about[WITH]):
        return "m:with names what m:predicate names: give the other predicate, or leave it out"
    proposals = terms.get(PROPOSE, [])
    if len(proposals) > 1 or any(term not in _PROPOSALS for term in proposals):
        return f"a rule has at most one m:propose: write {', '.join(f'm:{each}' for each in Proposal)}"
    return _no_proposal(kind, terms)


def _misshapen(shape: Shape, counts: Mapping[Iri, int]) -> str:
    """What does not fit the shape of a rule, in words; what else does not is that something is no IRI."""
    if not shape.predicates:
        return "names two classes or more, IRIs, and no predicates"
    if counts[PREDICATE] == 1 and counts[CLASS]:
        return "names no m:class"
    if counts[PREDICATE] == 1 and counts[WITH] > shape.others[1]:
        return "has no m:with" if shape.others[1] == 0 else "has at most one m:with"
    if counts[PREDICATE] == 1 and counts[WITH] < shape.others[0]:
        return "has exactly one m:with, an IRI"
    return "has exactly one m:predicate, an IRI"


def _no_proposal(kind: RuleKind, terms: Terms) -> str | None:
    """What keeps a rule from proposing what it does."""
    across = terms.get(ACROSS, [])
    if len(across) > 1 or any(term not in BOOLEANS for term in across):
        return "a rule has at most one m:acrossGraphs: write true, or leave it out"
    proposal = next((_PROPOSALS[term] for term in terms.get(PROPOSE, ())), Proposal.ASK)
    if _across(terms) and proposal.changes:
        return "a rule across graphs changes none of them: write m:propose m:Ask or m:KeepBoth"
    if kind is RuleKind.ORDER and proposal is Proposal.END_OLDER:
        return "an end leaves values in the order that they have: write another m:propose than m:EndOlder"
    return None


def _across(terms: Terms) -> bool:
    return any(BOOLEANS[term] for term in terms.get(ACROSS, ()))


def _credibility(node: Iri, terms: Terms) -> Decimal | InvalidRule:
    """How credible a source is said to be."""
    given = terms[CREDIBILITY]
    words = {word.value.removeprefix(M) for word in terms if word.value.startswith(M)}
    if len(words) > 1 or _types(terms):
        return InvalidRule(node, "a source has m:credibility alone: give the rule an IRI of its own", frozenset())
    text = given[0].lexical if len(given) == 1 and isinstance(given[0], Literal) else ""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not 0 <= number <= 1:
        return InvalidRule(node, "a source has one m:credibility: write a number from 0 to 1", frozenset())
    return number


def _by_graph(vocabularies: list[Vocabulary], invalid: list[InvalidRule]) -> dict[Iri, Vocabulary]:
    """Vocabularies by the graphs that they cap; a second one for a graph is invalid."""
    found: dict[Iri, Vocabulary] = {}
    for each in vocabularies:
        for graph in each.graphs:
            first = found.setdefault(graph, each)
            if first is not each:
                reason = f"{graph.n3} has a vocabulary already, {first.node.n3}: keep one of them"
                invalid.append(InvalidRule(each.node, reason, frozenset()))
    return found


def _by_predicate(rules: list[Rule], invalid: list[InvalidRule]) -> dict[Iri, tuple[Rule, ...]]:
    """Rules by the predicates that they are about; a second one of a kind about the same is invalid."""
    by_terms: dict[tuple[RuleKind, frozenset[Iri]], Rule] = {}
    by_predicate: dict[Iri, list[Rule]] = {}
    for rule in rules:
        first = by_terms.setdefault((rule.kind, frozenset(rule.terms)), rule)
        if first is not rule:
            about = " and ".join(term.n3 for term in rule.terms)
            reason = f"{about} has this kind of rule already, {first.node.n3}: keep one of them"
            invalid.append(InvalidRule(rule.node, reason, frozenset(rule.predicates)))
            continue
        for predicate in rule.predicates:
            by_predicate.setdefault(predicate, []).append(rule)
    return {each: tuple(found) for each, found in by_predicate.items()}
