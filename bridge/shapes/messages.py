"""What a result says, in words that a person understands.

Rules
-----
* What a constraint says of a result comes first, then the shape's own sh:message, as it is. Otherwise the message names
  focus, path, value and what is asked for.
* Literals are shown as they were submitted; whatever is long is cut. A shape without a name is shown by what it asks
  for, as far as that is short.

Example
-------
::

    <urn:name> of <urn:ann> needs at least 1 value
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from bridge.shapes.model import REIFIER, REQUIRED
from bridge.shapes.vocabulary import RDF_TYPE, SH, is_blank, sh
from kernel.terms import RDF, XSD, Iri, Literal, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bridge.shapes.document import ShapesDocument
    from bridge.shapes.results import Result

_LONGEST: Final = 100
_INLINE: Final = 300
_MOST: Final = 10
_FEW: Final = 4
_DEEPEST: Final = 4
_SHORT: Final = {XSD: "xsd", SH: "sh", RDF: "rdf"}
_NAMESPACES: Final = re.compile(rf"<({'|'.join(map(re.escape, _SHORT))})(\w+)>")

_COUNTED: Final = re.compile(r"\b(\d+ (?:value|character))\(s\)")
"""A number that is to be told with its noun."""

_OF_EVIDENCE: Final = sh("ReifierShapeConstraintComponent")
_OF_CONSTRAINTS: Final = sh("SPARQLConstraintComponent")

_REQUIREMENTS: Final = {
    sh(f"{name}ConstraintComponent"): (requirement, tuple(map(sh, parameters.split())))
    for name, requirement, parameters in (
        ("MinCount", "needs at least {} value(s)", "minCount"),
        ("MaxCount", "may have at most {} value(s)", "maxCount"),
        ("Class", "must be an instance of {}", "class"),
        ("Datatype", "must be a well-formed {}", "datatype"),
        ("NodeKind", "must be of kind {}", "nodeKind"),
        ("MinExclusive", "must be greater than {}", "minExclusive"),
        ("MinInclusive", "must be at least {}", "minInclusive"),
        ("MaxExclusive", "must be less than {}", "maxExclusive"),
        ("MaxInclusive", "must be at most {}", "maxInclusive"),
        ("MinLength", "must have at least {} character(s)", "minLength"),
        ("MaxLength", "may have at most {} character(s)", "maxLength"),
        ("Pattern", "must match the regular expression {}", "pattern"),
        ("LanguageIn", "must be in one of the languages {}", "languageIn"),
        ("UniqueLang", "may have one value in each language only", ""),
        ("Equals", "must be among the values of both it and {}", "equals"),
        ("Disjoint", "must not be a value of {} as well", "disjoint"),
        ("LessThan", "must be less than every value of {}", "lessThan"),
        ("LessThanOrEquals", "must be at most every value of {}", "lessThanOrEquals"),
        ("Not", "must not conform to {}", "not"),
        ("And", "must conform to all of {}", "and"),
        ("Or", "must conform to at least one of {}", "or"),
        ("Xone", "must conform to exactly one of {}", "xone"),
        ("Node", "must conform to {}", "node"),
        ("QualifiedMinCount", "needs at least {} value(s) that conform to {}", "qualifiedMinCount qualifiedValueShape"),
        (
            "QualifiedMaxCount",
            "may have at most {} value(s) that conform to {}",
            "qualifiedMaxCount qualifiedValueShape",
        ),
        ("Closed", "is not allowed: the shape is closed", ""),
        ("HasValue", "must have the value {}", "hasValue"),
        ("In", "must be one of {}", "in"),
    )
}


def message_of(document: ShapesDocument, result: Result) -> str:
    """The message for a result of a shape in the document."""
    own = sorted(each.lexical for each in own_messages(document, result))
    return " / ".join(own) if own else f"{_about(result)} {requirement_of(document, result)}"


def own_messages(document: ShapesDocument, result: Result) -> list[Literal]:
    """The constraint's or the shape's own messages, each with its language, as they were submitted."""
    message = sh("message")
    return list(result.messages) or [
        document.spelling((result.shape, message, each)) or each
        for each in document.objects(result.shape, message)
        if isinstance(each, Literal)
    ]


def cause_of(document: ShapesDocument, result: Result) -> str:
    """What is asked for, whatever it is asked of: in words of the shapes, their variables left as they are, or ours."""
    message = sh("message")
    said = [(result.shape, message)]
    if result.constraint is not None:
        said = [(result.constraint, message), *said]
    elif result.component not in _REQUIREMENTS:
        said = [(result.component, message), (result.component, sh("labelTemplate")), *said]
    texts = next(filter(None, (document.texts(node, predicate) for node, predicate in said)), [])
    return " / ".join(sorted(texts)) or requirement_of(document, result)


def requirement_of(document: ShapesDocument, result: Result) -> str:
    """What is asked for, without saying of what."""
    if result.component == _OF_EVIDENCE:
        return _evidence(document, result.shape)
    if result.component not in _REQUIREMENTS:
        return _of_query(result)
    requirement, parameters = _REQUIREMENTS[result.component]
    told = requirement.format(*(_values(document, result.shape, each) for each in parameters))
    return _COUNTED.sub(lambda match: f"{match[1]}{'' if match[1].startswith('1 ') else 's'}", told)


def _of_query(result: Result) -> str:
    if result.component == _OF_CONSTRAINTS:
        name = "a query of the shape" if result.constraint is None else _show(result.constraint, "a query of the shape")
        return f"must not be found by {name}"
    return f"must fulfil the constraint component {_show(result.component)}"


def _evidence(document: ShapesDocument, shape: Iri) -> str:
    shapes = _values(document, shape, REIFIER)
    if not shapes:
        return "needs evidence"
    if document.is_true(shape, REQUIRED):
        return f"needs evidence, all of which conforms to {shapes}"
    return f"may only have evidence that conforms to {shapes}"


def _about(result: Result) -> str:
    """What the requirement is of."""
    focus = _show(result.focus)
    if result.path is None:
        return focus
    of_focus = f"{_cut(result.path)} of {focus}"
    return of_focus if result.value is None else f"the value {_show(result.spelled or result.value)} of {of_focus}"


def _values(document: ShapesDocument, shape: Iri, parameter: Iri) -> str:
    shown: list[Callable[[], str]] = []
    for value in document.objects(shape, parameter):
        items = document.items(value)
        if items:
            shown += (partial(_written, document, item) for item in items)
        elif is_blank(value):
            shown.append(partial(_written, document, value))
        else:
            shown.append(partial(_limit, document.spelling((shape, parameter, value)) or value))
    return ", ".join([show() for show in shown[:_MOST]] + ["…"] * (len(shown) > _MOST))


def _written(document: ShapesDocument, term: Term, deep: int = 0) -> str:
    """A term of the shapes graph; one without a name as Turtle describes it, as far as that is short.

    The ids of such nodes, which nobody has seen, make no difference to it.
    """
    if not (isinstance(term, Iri) and is_blank(term)):
        return _show(term)
    described = document.described(term)
    if not described or deep == _DEEPEST:
        return "[…]"
    items = document.items(term)
    if items is not None:
        return _cut(f"({' '.join(_written(document, item, deep + 1) for item in items[:_MOST])})", _INLINE)
    said = sorted(
        f"{_show(name)} {_counted(document, (term, name, values), deep + 1)}"
        for name, values in described.items()
        if name != RDF_TYPE
    )
    return _cut(f"[{' ; '.join(said)}]", _INLINE)


def _counted(document: ShapesDocument, said: tuple[Iri, Iri, Sequence[Term]], deep: int) -> str:
    """The values of a node's predicate; how many they are, where they are many."""
    node, name, values = said
    if len(values) > _FEW:
        return f"({len(values)} values)"
    spelled = (document.spelling((node, name, value)) or value for value in values)
    return ", ".join(sorted(_written(document, value, deep) for value in spelled))


def _show(term: Term, blank: str = "a node without a name") -> str:
    if is_blank(term):
        return blank
    return _cut(_NAMESPACES.sub(lambda match: f"{_SHORT[match[1]]}:{match[2]}", term.n3))


def _limit(term: Term) -> str:
    """A number that a shape gives is shown as such."""
    return term.lexical if isinstance(term, Literal) and term.datatype.startswith(XSD) else _show(term)


def _cut(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
