r"""The validation report of SHACL (section 3.6), as Turtle, N-Triples or JSON-LD.

Rules
-----
* One sh:ValidationReport with a sh:ValidationResult for each result, written as they come: `sh:conforms` stands last.
  It is true when there is no result, of whatever severity, and none is left out.
* A literal is written as it was submitted; the path as the shapes graph has it, with the nodes and lists it takes.
* Blank nodes of data and shapes are blank nodes here, with labels that stay the same from run to run. In JSON-LD,
  triple terms are literals (`bridge.documents.triple_terms`).

Example
-------
>>> list(turtle(()))[-1]
'_:report a sh:ValidationReport ;\n    sh:conforms true .\n'
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from bridge.exporting.jsonld import value_object
from bridge.exporting.nodes import RESTORED
from bridge.shapes.paths import Alternative, Repeat, Sequence, Step, read_path, text
from bridge.shapes.vocabulary import RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE, SH, is_blank, sh
from kernel.terms import XSD, Iri, Literal, Term, parse_iri

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bridge.shapes.document import ShapesDocument
    from bridge.shapes.paths import Path
    from bridge.shapes.reports.telling import Telling
    from bridge.shapes.results import Result


@dataclass(frozen=True, slots=True)
class Node:
    """A blank node that is described where it stands."""

    members: Members


@dataclass(frozen=True, slots=True)
class Items:
    """An RDF list."""

    items: tuple[Value, ...]


Value: TypeAlias = "Term | Node | Items"
Members: TypeAlias = "tuple[tuple[Iri, Value], ...]"

_REPORT: Final = "_:report"
_BOOLEAN: Final = XSD + "boolean"
_TRUTHS: Final = ("false", "true")
_INDENT: Final = "\n    "


def result_nodes(results: Iterable[Result], telling: Telling) -> Iterator[Node]:
    """The results of a validation as a report has them."""
    return (result_node(result, telling) for result in results)


def result_node(result: Result, telling: Telling) -> Node:
    """A result as the report has it (SHACL section 3.6.2)."""
    value = None if result.value is None else result.spelled or result.value
    focus = value if value is not None and result.value == result.focus else result.focus
    path = _path(result, telling.document)
    members: list[tuple[Iri, Value]] = [(RDF_TYPE, sh("ValidationResult")), (sh("focusNode"), focus)]
    members += [(sh("resultPath"), path)] if path is not None else []
    members += [(sh("value"), value)] if value is not None else []
    members += [
        (sh("sourceShape"), result.shape),
        (sh("sourceConstraintComponent"), result.component),
        *([] if result.constraint is None else [(sh("sourceConstraint"), result.constraint)]),
        (sh("resultSeverity"), telling.result_severity(result)),
        *((sh("resultMessage"), message) for message in telling.messages(result)),
    ]
    return Node(tuple(members))


def _path(result: Result, document: ShapesDocument) -> Value | None:
    if result.path is None:
        return None
    own = document.objects(result.shape, sh("path"))
    is_predicate = result.path.startswith("<") and result.path.find(">") == len(result.path) - 1
    if is_predicate and not any(is_blank(each) and _says(document, each, result.path) for each in own):
        return parse_iri(result.path)  # the shape's own path, or the predicate at fault
    return next((_part(document, each) for each in own), None)


def _says(document: ShapesDocument, node: Term, written: str) -> bool:
    """Whether a node of the shapes graph describes a path that is written so."""
    path = read_path(document, node)
    return not isinstance(path, str) and text(path) == written


def _part(document: ShapesDocument, node: Term) -> Value:
    """A path of a well-formed shapes graph, or a part of one."""
    if not (isinstance(node, Iri) and is_blank(node)):
        return node
    if document.objects(node, RDF_FIRST):
        return Items(tuple(_part(document, each) for each in document.items(node) or ()))
    return Node(
        tuple(
            (kind, _part(document, each))
            for kind, values in document.described(node).items()
            if kind.value.endswith("Path")
            for each in values
        )
    )


_REPEATS: Final = {
    (False, True): sh("zeroOrMorePath"),
    (True, True): sh("oneOrMorePath"),
    (False, False): sh("zeroOrOnePath"),
}


def path_value(path: Path) -> Value:
    """A path as RDF has it (SHACL section 2.3.1), whatever shapes graph it was read from."""
    match path:
        case Step(predicate, inverse):
            return Node(((sh("inversePath"), predicate),)) if inverse else predicate
        case Sequence(parts):
            return Items(tuple(map(path_value, parts)))
        case Alternative(parts):
            return Node(((sh("alternativePath"), Items(tuple(map(path_value, parts)))),))
        case Repeat(inner, once, unbounded):
            return Node(((_REPEATS[once, unbounded], path_value(inner)),))


# --- Turtle -----------------------------------------------------------------------------------------------------------


def turtle(results: Iterable[Node], *, said: Members = (), whole: bool = True) -> Iterator[str]:
    """The report in Turtle, in pieces.

    Args:
        results: to be told.
        said: of the report besides.
        whole: whether they are all that there are.
    """
    yield f"PREFIX sh: <{SH}>\n\n"
    conforms = whole
    for result in results:
        conforms = False
        yield f"{_REPORT} sh:result [\n    {_turtle_members(result.members, ' ;' + _INDENT)}\n] .\n\n"
    last = (*said, (sh("conforms"), Literal(_truth(conforms), _BOOLEAN)))
    yield f"{_REPORT} a sh:ValidationReport ;{_INDENT}{_turtle_members(last, ' ;' + _INDENT)} .\n"


def _turtle_members(members: Members, between: str) -> str:
    return between.join(f"{_turtle_name(name)} {_turtle(value)}" for name, value in members)


def _turtle(value: Value) -> str:
    match value:
        case Node():
            return f"[ {_turtle_members(value.members, ' ; ')} ]"
        case Items(items):
            return f"( {' '.join(map(_turtle, items))} )"
        case Iri():
            return _turtle_name(value) if value.value.startswith(SH) else RESTORED.n3(value)
        case Literal(lexical, datatype) if datatype == _BOOLEAN and lexical in _TRUTHS:
            return lexical
        case _:
            return RESTORED.n3(value)


def _turtle_name(iri: Iri) -> str:
    if iri == RDF_TYPE:
        return "a"
    short = iri.value.removeprefix(SH)
    return f"sh:{short}" if short.isascii() and short.isalpha() else iri.n3


def _truth(conforms: bool) -> str:
    return _TRUTHS[conforms]


# --- N-Triples --------------------------------------------------------------------------------------------------------


def ntriples(results: Iterable[Node], *, said: Members = (), whole: bool = True) -> Iterator[str]:
    """The report in N-Triples, a line a piece; see `turtle`."""
    conforms = whole
    for number, result in enumerate(results):
        conforms = False
        yield from _statement(_REPORT, sh("result"), result, _Labels(f"_:r{number}"))
    last = ((RDF_TYPE, sh("ValidationReport")), *said, (sh("conforms"), Literal(_truth(conforms), _BOOLEAN)))
    for name, value in last:
        yield from _statement(_REPORT, name, value, _Labels("_:said"))


class _Labels:
    """The labels of the blank nodes of one result."""

    def __init__(self, first: str) -> None:
        self._first = first
        self._made = 0

    def __call__(self) -> str:
        """One that has not been made."""
        self._made += 1
        return self._first if self._made == 1 else f"{self._first}x{self._made}"


def _statement(subject: str, predicate: Iri, value: Value, labels: _Labels) -> Iterator[str]:
    match value:
        case Node(members):
            label = labels()
            yield f"{subject} {predicate.n3} {label} .\n"
            for name, each in members:
                yield from _statement(label, name, each, labels)
        case Items(items):
            yield from _list(subject, predicate, items, labels)
        case _:
            yield f"{subject} {predicate.n3} {RESTORED.n3(value)} .\n"


def _list(subject: str, predicate: Iri, items: Iterable[Value], labels: _Labels) -> Iterator[str]:
    for item in items:
        cell = labels()
        yield f"{subject} {predicate.n3} {cell} .\n"
        yield from _statement(cell, RDF_FIRST, item, labels)
        subject, predicate = cell, RDF_REST
    yield f"{subject} {predicate.n3} {RDF_NIL.n3} .\n"


# --- JSON-LD ----------------------------------------------------------------------------------------------------------

_NAMES: Final = """
    conforms result focusNode resultPath value sourceShape sourceConstraint sourceConstraintComponent resultSeverity
    resultMessage alternativePath inversePath oneOrMorePath zeroOrMorePath zeroOrOnePath
    ValidationReport ValidationResult
"""
_WORDS: Final = {sh(name): name for name in _NAMES.split()}
CONTEXT: Final = {short: {"@id": iri.value} for iri, short in _WORDS.items()}
"""What the words in a report mean. None of them is a prefix, so that every IRI is what it says."""


def jsonld(results: Iterable[Node], *, said: Members = (), whole: bool = True) -> Iterator[str]:
    """The report in JSON-LD, in pieces; the document refers to no context elsewhere. See `turtle`."""
    context = json.dumps(CONTEXT, separators=(",", ":"))
    yield f'{{"@context":{context},\n"@id":"{_REPORT}","@type":"ValidationReport",\n"result":['
    between = "\n"
    for result in results:
        yield between + _json(result)
        between = ",\n"
    conforms = whole and between == "\n"
    last = "".join(f"{_json_member(name, values)},\n" for name, values in _grouped(said).items())
    yield f'],\n{last}"conforms":{_truth(conforms)}}}\n'


def _json(value: Value) -> str:
    match value:
        case Node(members):
            return f"{{{','.join(_json_member(name, values) for name, values in _grouped(members).items())}}}"
        case Items(items):
            return f'{{"@list":[{",".join(map(_json, items))}]}}'
        case _:
            return value_object(value, RESTORED)


def _grouped(members: Iterable[tuple[Iri, Value]]) -> dict[Iri, list[Value]]:
    found: dict[Iri, list[Value]] = {}
    for name, value in members:
        found.setdefault(name, []).append(value)
    return found


def _json_member(name: Iri, values: list[Value]) -> str:
    if name == RDF_TYPE:
        return f'"@type":"{_WORDS[sh("ValidationResult")]}"'
    written = ",".join(map(_json, values))
    return f'"{_WORDS.get(name, name.value)}":{written if len(values) == 1 else f"[{written}]"}'
