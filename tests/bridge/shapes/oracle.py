"""What plain pySHACL says of a whole data graph, by the same keys as findings have."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pyshacl
import rdflib
from rdflib.namespace import SH

from bridge.shapes.application import APPLIES_FROM
from kernel.terms import XSD_STRING, Iri, Literal, Term
from kernel.time.instants import BEGINNING, FOREVER, Instant, parse_instant
from kernel.time.intervals import Interval, elementary
from kernel.time.timevalues import parse_point
from kernel.vocabulary import GENID, ONTOLOGY_GRAPH, SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from certificates.findings import Finding
    from kernel.facts import FactContent
    from kernel.writing.plan import Plan
    from tests.bridge.shapes.world import World

Key: TypeAlias = tuple[str, str, str, str, str]
"""Focus, path (empty unless it is a predicate), value, shape and component, in N-Triples."""


def plain(term: Term) -> rdflib.URIRef | rdflib.BNode | rdflib.Literal:
    """The term as rdflib has it by itself."""
    if isinstance(term, Literal):
        if term.language is not None:
            return rdflib.Literal(term.lexical, lang=term.language)
        return rdflib.Literal(term.lexical, datatype=rdflib.URIRef(term.datatype), normalize=False)
    if not isinstance(term, Iri):
        raise TypeError(term)
    if term.value.startswith(GENID):
        return rdflib.BNode(term.value.removeprefix(GENID))
    return rdflib.URIRef(term.value)


def graph_of(contents: Iterable[FactContent]) -> rdflib.Graph:
    """The statements of facts."""
    graph = rdflib.Graph()
    for content in contents:
        statement = content.statement
        graph.add((plain(statement.subject), plain(statement.predicate), plain(statement.object)))
    return graph


def text(node: rdflib.term.Node | None) -> str:
    """The node in N-Triples, blank nodes as Skolem IRIs."""
    if node is None:
        return ""
    if isinstance(node, rdflib.BNode):
        return f"<{GENID}{node}>"
    if isinstance(node, rdflib.Literal):
        return Literal(str(node), str(node.datatype or XSD_STRING), node.language).n3
    return f"<{node}>"


def full(shapes: rdflib.Graph, data: rdflib.Graph) -> set[Key]:
    """The results of a whole graph."""
    _, report, words = pyshacl.validate(data, shacl_graph=shapes, inplace=False)
    assert isinstance(report, rdflib.Graph), words
    found: set[Key] = set()
    for result in report.objects(None, SH.result):
        path = report.value(result, SH.resultPath)
        found.add(
            (
                text(report.value(result, SH.focusNode)),
                text(path) if isinstance(path, rdflib.URIRef) else "",
                text(report.value(result, SH.value)),
                text(report.value(result, SH.sourceShape)),
                text(report.value(result, SH.sourceConstraintComponent)),
            )
        )
    return found


def key_of(finding: Finding) -> Key:
    """The same key of a finding."""
    path = finding.path or ""
    simple = path.startswith("<") and path.count("<") == 1 and path.endswith(">")
    return (
        finding.focus or "",
        path if simple else "",
        finding.value or "",
        finding.shape or "",
        finding.component or "",
    )


def held_at(contents: Iterable[FactContent], instant: int) -> list[FactContent]:
    """Those facts that hold at an instant."""
    return [content for content in contents if content.interval.contains(Instant(instant))]


def starts(shapes: Iterable[FactContent]) -> dict[Iri, int]:
    """The shapes that apply from some instant on, each with it."""
    said = (content.statement for content in shapes if content.statement.predicate == APPLIES_FROM)
    return {each.subject: parse_point(each.object.lexical) for each in said if isinstance(each.object, Literal)}


def applying(shapes: Iterable[FactContent], instant: int) -> rdflib.Graph:
    """The shapes as they apply at an instant: those that do not yet are deactivated."""
    contents = list(shapes)
    graph = graph_of(contents)
    for shape, start in starts(contents).items():
        if instant < start:
            graph.add((plain(shape), SH.deactivated, rdflib.Literal(True)))
    return graph


def cut(contents: Iterable[FactContent], shapes: Iterable[FactContent]) -> list[Interval]:
    """All of time, cut wherever a fact begins or ends or a shape begins to apply."""
    applied = [Interval(start, FOREVER) for start in starts(shapes).values()]
    return elementary([Interval(BEGINNING, FOREVER), *applied, *(content.interval for content in contents)])


def expected(world: World, plan: Plan, graphs: frozenset[Iri] | None = None) -> dict[int, set[Key]]:
    """full(after) − full(before) at the start of every stretch of time, by pySHACL on everything, or on some graphs."""
    held = [fact.content for fact in world.view.believed() if _is_seen(fact.content, graphs)]
    shapes = [content for content in held if content.statement.graph == SHAPES_GRAPH]
    before = [content for content in held if content.statement.graph != SHAPES_GRAPH]
    gone = {fact.id for fact in plan.supersede}
    coming = [content for content in plan.record if _is_seen(content, graphs)]
    after = [content for content in before if content.id not in gone] + coming
    found: dict[int, set[Key]] = {}
    for part in cut([*before, *after], shapes):
        sides = [graph_of(held_at(side, part.start)) for side in (before, after)]
        old, new = (full(applying(shapes, part.start), side) for side in sides)
        found[part.start] = new - old
    return found


def _is_seen(content: FactContent, graphs: frozenset[Iri] | None) -> bool:
    return graphs is None or content.statement.graph in {*graphs, SHAPES_GRAPH, ONTOLOGY_GRAPH}


def told(findings: Sequence[Finding], instants: Iterable[int]) -> dict[int, set[Key]]:
    """The keys of findings at each of the instants."""
    return {instant: {key_of(finding) for finding in findings if holds(finding, instant)} for instant in instants}


def holds(finding: Finding, instant: int) -> bool:
    """Whether the finding is about the instant."""
    start = BEGINNING if finding.start is None else parse_instant(finding.start)
    end = FOREVER if finding.end is None else parse_instant(finding.end)
    return start <= instant < end
