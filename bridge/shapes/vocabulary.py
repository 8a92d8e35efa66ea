"""The names of SHACL, and which of them may be used here.

Rules
-----
* Every name that the SHACL vocabulary has, and of SHACL 1.2 those of its reifier shapes, is in exactly one of three
  sets: `USABLE` (SHACL Core with its non-validating properties, and SHACL-SPARQL), `UNSUPPORTED` (advanced features and
  SHACL-JS) and `REPORTED` (what reports are made of; it has no place in a shapes graph).
* A name in the SHACL namespace that is in none of them is a misspelling.

Example
-------
>>> SH + "minCount" in USABLE, SH + "minCuont" in USABLE | UNSUPPORTED | REPORTED
(True, False)
"""

from __future__ import annotations

from typing import Final

from kernel.terms import RDF, Iri, Term
from kernel.vocabulary import GENID

SH: Final = "http://www.w3.org/ns/shacl#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"

RDF_TYPE: Final = Iri(RDF + "type")
RDF_FIRST: Final = Iri(RDF + "first")
RDF_REST: Final = Iri(RDF + "rest")
RDF_NIL: Final = Iri(RDF + "nil")
RDF_REIFIES: Final = Iri(RDF + "reifies")
SUBCLASS_OF: Final = Iri(RDFS + "subClassOf")
RDFS_CLASS: Final = Iri(RDFS + "Class")
OWL_CLASS: Final = Iri(OWL + "Class")


def sh(name: str) -> Iri:
    """The SHACL term of that name."""
    return Iri(SH + name)


def is_blank(term: Term) -> bool:
    """Whether the term stands for a blank node."""
    return isinstance(term, Iri) and term.value.startswith(GENID)


def _names(text: str) -> frozenset[str]:
    return frozenset(SH + name for name in text.split())


TARGETS: Final = _names("targetClass targetNode targetObjectsOf targetSubjectsOf")

PARAMETERS: Final = _names(
    """and class closed datatype disjoint equals flags hasValue ignoredProperties in languageIn lessThan
    lessThanOrEquals maxCount maxExclusive maxInclusive maxLength minCount minExclusive minInclusive minLength
    node nodeKind not or pattern property qualifiedMaxCount qualifiedMinCount qualifiedValueShape
    qualifiedValueShapesDisjoint reificationRequired reifierShape sparql uniqueLang xone"""
)
"""Parameters of the constraint components that there are beforehand (SHACL sections 4 and 5; SHACL 1.2 Core,
`ReifierShape`)."""

PATH_KINDS: Final = _names("alternativePath inversePath oneOrMorePath zeroOrMorePath zeroOrOnePath")

COMPONENTS: Final = _names(
    """AndConstraintComponent ClassConstraintComponent ClosedConstraintComponent DatatypeConstraintComponent
    DisjointConstraintComponent EqualsConstraintComponent HasValueConstraintComponent InConstraintComponent
    LanguageInConstraintComponent LessThanConstraintComponent LessThanOrEqualsConstraintComponent
    MaxCountConstraintComponent MaxExclusiveConstraintComponent MaxInclusiveConstraintComponent
    MaxLengthConstraintComponent MinCountConstraintComponent MinExclusiveConstraintComponent
    MinInclusiveConstraintComponent MinLengthConstraintComponent NodeConstraintComponent NodeKindConstraintComponent
    NotConstraintComponent OrConstraintComponent PatternConstraintComponent PropertyConstraintComponent
    QualifiedMaxCountConstraintComponent QualifiedMinCountConstraintComponent ReifierShapeConstraintComponent
    SPARQLConstraintComponent UniqueLangConstraintComponent XoneConstraintComponent"""
)

NODE_KINDS: Final = _names("BlankNode BlankNodeOrIRI BlankNodeOrLiteral IRI IRIOrLiteral Literal")

_DESCRIBING = _names(
    """deactivated declare defaultValue description group message name namespace order path prefix prefixes severity
    shapesGraph suggestedShapesGraph
    Info NodeKind NodeShape PrefixDeclaration PropertyGroup PropertyShape Severity Shape Violation Warning"""
)

_QUERIES: Final = _names(
    """ask labelTemplate nodeValidator optional parameter propertyValidator select validator
    ConstraintComponent Parameter Parameterizable SPARQLAskExecutable SPARQLAskValidator SPARQLConstraint
    SPARQLExecutable SPARQLSelectExecutable SPARQLSelectValidator Validator"""
)
"""What constraints and constraint components that are queries are declared with (SHACL sections 5 and 6)."""

USABLE: Final = TARGETS | PARAMETERS | PATH_KINDS | NODE_KINDS | _DESCRIBING | _QUERIES

UNSUPPORTED: Final = _names(
    """annotationProperty annotationValue annotationVarName condition construct entailment expression filterShape
    intersection js jsFunctionName jsLibrary jsLibraryURL nodes object predicate resultAnnotation returnType rule
    subject target this union update ExpressionConstraintComponent Function JSConstraint JSConstraintComponent
    JSExecutable JSFunction JSLibrary JSRule JSTarget JSTargetType JSValidator ResultAnnotation Rule
    SPARQLConstructExecutable SPARQLFunction SPARQLRule SPARQLTarget SPARQLTargetType SPARQLUpdateExecutable Target
    TargetType TripleRule"""
)

REPORTED: Final = COMPONENTS | _names(
    """conforms detail focusNode result resultMessage resultPath resultSeverity shapesGraphWellFormed sourceConstraint
    sourceConstraintComponent sourceShape value AbstractResult ValidationReport ValidationResult"""
)
