"""Small ontologies and bases, drawn; and what owlrl, which knows nothing of this project, infers from one."""

import warnings
from collections.abc import Iterable
from itertools import combinations
from typing import Final

import owlrl
import rdflib
from hypothesis import strategies as st

from kernel.entailment.index import Triple
from kernel.entailment.table import OWL, RDFS, TYPE
from kernel.terms import RDF, XSD

CLASSES: Final = tuple(f"<urn:C{number}>" for number in range(4))
RESTRICTIONS: Final = tuple(f"<urn:R{number}>" for number in range(2))
PROPERTIES: Final = tuple(f"<urn:p{number}>" for number in range(4))
THINGS: Final = tuple(f"<urn:i{number}>" for number in range(4))
VALUES: Final = ('"x"', '"y"', f'"1"^^<{XSD}integer>')
ZERO, ONE = (f'"{number}"^^<{XSD}integer>' for number in (0, 1))
NIL: Final = f"<{RDF}nil>"
FIRST, REST = f"<{RDF}first>", f"<{RDF}rest>"


def owl(name: str) -> str:
    return f"<{OWL}{name}>"


def rdfs(name: str) -> str:
    return f"<{RDFS}{name}>"


_class: Final = st.sampled_from((*CLASSES, *RESTRICTIONS))
_any_class: Final = st.one_of(_class, st.sampled_from((owl("Thing"), owl("Nothing"), f"<{XSD}integer>")))
_property: Final = st.sampled_from(PROPERTIES)
_thing: Final = st.sampled_from(THINGS)
_KINDS: Final = tuple(
    owl(name)
    for name in (
        "FunctionalProperty",
        "InverseFunctionalProperty",
        "IrreflexiveProperty",
        "SymmetricProperty",
        "AsymmetricProperty",
        "TransitiveProperty",
        "ObjectProperty",
        "DatatypeProperty",
    )
)


@st.composite
def _listed(draw: st.DrawFn, subject: str, predicate: str, members: st.SearchStrategy[str]) -> list[Triple]:
    """A statement about a list, with its cells."""
    number = draw(st.integers(0, 10**6))
    chosen = draw(st.lists(members, min_size=1, max_size=3, unique=True))
    named = f"{subject[5:-1]}-{predicate.rpartition('#')[2][:-1]}-{number}"  # two lists share no cells
    cells = [f"<urn:l-{named}-{place}>" for place in range(len(chosen))]
    found = [(subject, predicate, cells[0])]
    for cell, member, after in zip(cells, chosen, [*cells[1:], NIL], strict=True):
        found += [(cell, FIRST, member), (cell, REST, after)]
    return found


@st.composite
def _axiom(draw: st.DrawFn) -> list[Triple]:
    """What an ontology says in one go."""
    one, other, third = draw(_class), draw(_any_class), draw(_class)
    p, q = draw(_property), draw(_property)
    restriction = draw(st.sampled_from(RESTRICTIONS))
    about = (restriction, owl("onProperty"), p)
    number = draw(st.integers(0, 10**6))
    group = f"<urn:g{number}>"
    ways: list[list[Triple]] = [
        [(p, rdfs("domain"), other)],
        [(p, rdfs("range"), other)],
        [(p, rdfs("subPropertyOf"), q)],
        [(one, rdfs("subClassOf"), other)],
        [(p, TYPE, draw(st.sampled_from(_KINDS)))],
        [(p, owl("equivalentProperty"), q)],
        [(p, owl("inverseOf"), q)],
        [(p, owl("propertyDisjointWith"), q)],
        [(one, owl("equivalentClass"), other)],
        [(one, owl("disjointWith"), third)],
        [(one, owl("complementOf"), third)],
        [(one, TYPE, owl("Class"))],
        [about, (restriction, owl("someValuesFrom"), other)],
        [about, (restriction, owl("allValuesFrom"), other)],
        [about, (restriction, owl("hasValue"), draw(_thing))],
        [about, (restriction, owl("maxCardinality"), draw(st.sampled_from((ZERO, ONE))))],
        [
            about,
            (restriction, owl("maxQualifiedCardinality"), draw(st.sampled_from((ZERO, ONE)))),
            (restriction, owl("onClass"), draw(st.sampled_from((one, owl("Thing"))))),
        ],
        draw(_listed(one, owl("intersectionOf"), _class)),
        draw(_listed(one, owl("unionOf"), _class)),
        draw(_listed(one, owl("oneOf"), _thing)),
        draw(_listed(p, owl("propertyChainAxiom"), _property)),
        [(group, TYPE, owl("AllDisjointClasses")), *draw(_listed(group, owl("members"), _class))],
        [(group, TYPE, owl("AllDisjointProperties")), *draw(_listed(group, owl("members"), _property))],
        [(group, TYPE, owl("AllDifferent")), *draw(_listed(group, owl("distinctMembers"), _thing))],
        [
            (group, owl("sourceIndividual"), draw(_thing)),
            (group, owl("assertionProperty"), p),
            (group, owl("targetIndividual"), draw(_thing)),
        ],
    ]
    return draw(st.sampled_from(ways))


_fact: Final = st.one_of(
    st.tuples(_thing, _property, st.one_of(_thing, _thing, st.sampled_from(VALUES))),
    st.tuples(_thing, st.just(TYPE), _class),
    st.tuples(_thing, st.just(owl("sameAs")), _thing),
    st.tuples(_thing, st.just(owl("differentFrom")), _thing),
)


@st.composite
def bases(draw: st.DrawFn) -> list[Triple]:
    """Some axioms, and facts to which they may apply."""
    axioms = draw(st.lists(_axiom(), min_size=1, max_size=7))
    facts = draw(st.lists(_fact, min_size=1, max_size=8))
    return list(dict.fromkeys([*(each for axiom in axioms for each in axiom), *facts]))


def by_owlrl(triples: Iterable[Triple]) -> tuple[set[Triple], bool]:
    """What owlrl infers, and whether it finds that something cannot be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = rdflib.Graph()
        graph.parse(data="".join(f"{' '.join(each)} .\n" for each in triples), format="nt")
        before = set(graph)
        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, axiomatic_triples=False, datatype_axioms=False).expand(graph)
        error = rdflib.URIRef("http://www.daml.org/2002/03/agents/agent-ont#ErrorMessage")
        wrong = any(True for _ in graph.subjects(rdflib.RDF.type, error))
        found = {tuple(term.n3() for term in each) for each in graph if each not in before}
        wrong = wrong or _has_clashing_members(graph, [*before])
    return {(one, two, three) for one, two, three in found if is_told((one, two, three))}, wrong


def _has_clashing_members(closed: rdflib.Graph, base: Iterable[tuple[rdflib.term.Node, ...]]) -> bool:
    """Whether members of a list cannot be together: owlrl 7.6 looks at no last member, and takes one name of each."""
    said = rdflib.Graph()
    for triple in base:
        said.add(triple)  # type: ignore[arg-type] # as rdflib gave it
    for group, _, kind in said.triples((None, rdflib.RDF.type, None)):
        for head in (*said.objects(group, rdflib.OWL.members), *said.objects(group, rdflib.OWL.distinctMembers)):
            for one, other in combinations(said.items(head), 2):
                if kind == rdflib.OWL.AllDifferent and (one, rdflib.OWL.sameAs, other) in closed:
                    return True
                if kind == rdflib.OWL.AllDisjointProperties and any(
                    (subject, other, value) in closed for subject, value in closed.subject_objects(one)
                ):
                    return True
    return False


_OURS: Final = tuple(f"<{each}" for each in (OWL, RDFS, RDF, XSD))

_REFLEXIVE: Final = (
    *(owl(name) for name in ("sameAs", "equivalentClass", "equivalentProperty")),
    *(rdfs(name) for name in ("subClassOf", "subPropertyOf")),
)


def is_told(triple: Triple) -> bool:
    """Whether a statement is none of the trivial ones: of a literal, of the vocabulary, of a thing and itself."""
    subject, predicate, value = triple
    if not subject.startswith("<") or not predicate.startswith("<"):
        return False
    if subject.startswith(_OURS) or (subject == value and predicate in _REFLEXIVE):
        return False
    return "agent-ont#" not in predicate and "agent-ont#" not in value
