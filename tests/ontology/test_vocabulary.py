"""The vocabulary: one valid document that declares every term of ours that anything uses."""

import json
import re
from importlib.resources import files

import pytest
import rdflib
from rdflib.namespace import RDF, RDFS

from bridge.shapes.application import APPLIES_FROM, APPLIES_TO, MODE, Mode
from bridge.shapes.reports.of_findings import component_of
from bridge.shapes.waivers import WAIVER, WAIVER_WORDS
from certificates.findings import Finding, FindingCode, Severity
from kernel.entailment.following import ENTAILMENT
from kernel.rules.arguments import ARGUMENT_RULE, ARGUMENT_WORDS, RELATIONS
from kernel.rules.kinds import Proposal, RuleKind
from kernel.rules.signatures import IGNORE, SIGNATURE, SIGNATURE_WORDS
from kernel.rules.table import CREDIBILITY, RULE_WORDS
from kernel.rules.vocabularies import VOCABULARY as VOCABULARY_TYPE
from kernel.rules.vocabularies import VOCABULARY_WORDS
from kernel.vocabulary import DEFAULT_GRAPH, GOVERNANCE, M

TURTLE = files("ontology").joinpath("muniment.ttl").read_text(encoding="utf-8")
VOCABULARY = rdflib.Graph().parse(data=TURTLE, format="turtle")
DECLARED = sorted({term for term in VOCABULARY.subjects() if isinstance(term, rdflib.URIRef) and term.startswith(M)})


@pytest.mark.parametrize("term", DECLARED, ids=lambda term: term.removeprefix(M))
def test_every_term_has_one_type_a_label_and_a_comment(term: rdflib.URIRef) -> None:
    assert len(list(VOCABULARY.objects(term, RDF.type))) == 1
    for predicate in (RDFS.label, RDFS.comment):
        (text,) = VOCABULARY.objects(term, predicate)
        assert isinstance(text, rdflib.Literal)
        assert (text.language, str(text).strip() == str(text) != "") == ("en", True)


def test_every_term_that_the_vocabulary_uses_it_declares() -> None:
    used = {term for triple in VOCABULARY for term in triple if isinstance(term, rdflib.URIRef) and term.startswith(M)}
    assert used == set(DECLARED)


def test_the_reserved_graphs_are_declared() -> None:
    reserved = {str(term) for term in VOCABULARY.subjects(RDF.type, rdflib.URIRef(M + "ReservedGraph"))}
    assert reserved == {graph.value for graph in {DEFAULT_GRAPH, *GOVERNANCE}}


def test_the_terms_of_rules_are_declared() -> None:
    terms = {M + name for name in (*RuleKind, *Proposal)} | {
        word.value
        for words in (
            RULE_WORDS,
            VOCABULARY_WORDS,
            SIGNATURE_WORDS,
            ARGUMENT_WORDS,
            RELATIONS,
            (ARGUMENT_RULE, VOCABULARY_TYPE, CREDIBILITY, SIGNATURE, IGNORE, ENTAILMENT),
        )
        for word in words
    }
    assert terms <= set(map(str, DECLARED))


def test_the_terms_of_shapes_are_declared() -> None:
    terms = {MODE, APPLIES_FROM, APPLIES_TO, WAIVER, *WAIVER_WORDS, *(mode.iri for mode in Mode)}
    assert {term.value for term in terms} <= set(map(str, DECLARED))


def test_the_checks_that_reports_name_are_declared() -> None:
    findings = [Finding(code, Severity.INFO, "found", ("urn:g",)) for code in FindingCode]
    by_shapes = {"shape-violation", "reviewable-violation", "existing-violation", "waived-violation"}
    named = {component_of(finding).value for finding in findings if finding.code not in by_shapes}
    assert named <= set(map(str, DECLARED))


def test_the_terms_of_certificates_are_declared() -> None:
    context = files("ontology").joinpath("certificate-v1.jsonld").read_text(encoding="utf-8")
    terms = set(re.findall(re.escape(M) + r"\w+", json.dumps(json.loads(context))))
    assert terms
    assert terms <= set(map(str, DECLARED))
