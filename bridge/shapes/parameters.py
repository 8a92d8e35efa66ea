"""What values each property of a shape takes (the syntax rules of SHACL, appendix B).

Rules
-----
* A value is judged by itself; where a list is taken, by its members.
* What depends on more than one property is for `wellformed`.

Example
-------
>>> rule = RULES[sh("minCount")]
>>> rule.fits(Literal("1", XSD + "integer")), rule.fits(Literal("one")), rule.on_properties_only
(True, False, True)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bridge.shapes.lexical import read
from bridge.shapes.vocabulary import NODE_KINDS, is_blank, sh
from kernel.terms import LANG_STRING, XSD, XSD_STRING, Iri, Literal, Term

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Rule:
    """What values a property of a shape takes.

    Args:
        expected: the same in words.
        fits: whether a value does, or, where a list is taken, a member of it.
        single: whether there may be only one.
        on_properties_only: whether the shape must have a path.
        listed: whether the value is a list.
    """

    expected: str
    fits: Callable[[Term], bool]
    single: bool = True
    on_properties_only: bool = False
    listed: bool = False


def _is_iri(term: Term) -> bool:
    return isinstance(term, Iri) and not is_blank(term)


def _is_node(term: Term) -> bool:
    return isinstance(term, Iri)


def _is_literal(term: Term) -> bool:
    return isinstance(term, Literal)


def _is_any(term: Term) -> bool:  # noqa: ARG001 - that is the point of it
    return True


def _is_text(term: Term) -> bool:
    return isinstance(term, Literal) and term.datatype == XSD_STRING


def _is_words(term: Term) -> bool:
    return isinstance(term, Literal) and term.datatype in (XSD_STRING, LANG_STRING)


def _is_boolean(term: Term) -> bool:
    return isinstance(term, Literal) and read(term.lexical, term.datatype).kind == "boolean"


def _is_truth(term: Term) -> bool:
    """Whether it is `true` or `false`: another spelling of true has no effect, and nobody means that."""
    return isinstance(term, Literal) and term.datatype == XSD + "boolean" and term.lexical in {"true", "false"}


def _is_count(term: Term) -> bool:
    return (
        isinstance(term, Literal)
        and term.datatype == XSD + "integer"
        and re.fullmatch(r"\d{1,9}", term.lexical) is not None
    )


def _is_node_kind(term: Term) -> bool:
    return isinstance(term, Iri) and term.value in NODE_KINDS


_IRIS = Rule("an IRI", _is_iri, single=False)
_COUNT = Rule("a whole number from 0 to 999999999, as xsd:integer", _is_count)
_COUNTED = Rule("a whole number from 0 to 999999999, as xsd:integer", _is_count, on_properties_only=True)
_LIMIT = Rule("a literal", _is_literal)
_BOOLEAN = Rule("true or false", _is_boolean)
_TRUTH = Rule("true or false, spelled so", _is_truth)
_COMPARED = Rule("an IRI", _is_iri, single=False, on_properties_only=True)
_SHAPES = Rule("a shape", _is_node, single=False)
_VALIDATORS = Rule("a validator, which is a node", _is_node, single=False)
_LISTED_SHAPES = Rule("a list of at least one shape", _is_node, single=False, listed=True)

RULES: Final = {
    sh(name): rule
    for name, rule in {
        "targetNode": Rule("an IRI or a literal", lambda term: not is_blank(term), single=False),
        "targetClass": _IRIS,
        "targetSubjectsOf": _IRIS,
        "targetObjectsOf": _IRIS,
        "severity": Rule("an IRI", _is_iri),
        "message": Rule("text, with or without a language", _is_words, single=False),
        "deactivated": _TRUTH,
        "class": _IRIS,
        "datatype": Rule("an IRI", _is_iri),
        "nodeKind": Rule("one of sh:IRI, sh:BlankNode, sh:Literal and their pairs", _is_node_kind),
        "minCount": _COUNTED,
        "maxCount": _COUNTED,
        "minExclusive": _LIMIT,
        "minInclusive": _LIMIT,
        "maxExclusive": _LIMIT,
        "maxInclusive": _LIMIT,
        "minLength": _COUNT,
        "maxLength": _COUNT,
        "pattern": Rule("a regular expression, as plain text", _is_text, single=False),
        "flags": Rule("flags, as plain text", _is_text),
        "languageIn": Rule("a list of language ranges, as plain text", _is_text, listed=True),
        "uniqueLang": Rule("true or false", _is_boolean, on_properties_only=True),
        "equals": _IRIS,
        "disjoint": _IRIS,
        "lessThan": _COMPARED,
        "lessThanOrEquals": _COMPARED,
        "not": _SHAPES,
        "and": _LISTED_SHAPES,
        "or": _LISTED_SHAPES,
        "xone": _LISTED_SHAPES,
        "node": _SHAPES,
        "property": _SHAPES,
        "qualifiedValueShape": Rule("a shape", _is_node, on_properties_only=True),
        "qualifiedMinCount": _COUNT,
        "qualifiedMaxCount": _COUNT,
        "qualifiedValueShapesDisjoint": _BOOLEAN,
        "reifierShape": Rule("a shape", _is_node, single=False, on_properties_only=True),
        "reificationRequired": Rule("true or false", _is_truth, on_properties_only=True),
        "sparql": Rule("a constraint, which is a node", _is_node, single=False),
        "select": Rule("a query, as plain text", _is_text),
        "ask": Rule("a query, as plain text", _is_text),
        "prefixes": Rule("a node with prefix declarations", _is_node, single=False),
        "parameter": Rule("a parameter, which is a node", _is_node, single=False),
        "optional": _TRUTH,
        "nodeValidator": _VALIDATORS,
        "propertyValidator": _VALIDATORS,
        "validator": _VALIDATORS,
        "labelTemplate": Rule("text, with or without a language", _is_words, single=False),
        "closed": _TRUTH,
        "ignoredProperties": Rule("a list of IRIs", _is_iri, listed=True),
        "hasValue": Rule("a term", _is_any, single=False),
        "in": Rule("a list", _is_any, listed=True),
    }.items()
}
"""The rule for each property that has one."""
