"""DCAT-AP 3.0.1 as it is published: its shapes are taken, and catalogues get what pySHACL says of them."""

from __future__ import annotations

from typing import Final

import pyoxigraph as ox
import pytest

from bridge.shapes.model import PROPERTY
from certificates.findings import FindingCode
from kernel.changes import Assert
from kernel.terms import Statement
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.oracle import expected, told
from tests.bridge.shapes.world import World, asserts, iri_of, term_of
from tests.requirements import require

pytestmark = pytest.mark.shared

PREFIXES: Final = """@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""
WHOLE: Final = """
:catalogue a dcat:Catalog ; dct:title "Data"@en ; dct:description "All of it"@en ; dct:publisher :office ;
    dcat:dataset :roads .
:office a foaf:Agent ; foaf:name "Office"@en .
:roads a dcat:Dataset ; dct:title "Roads"@en ; dct:description "Where they are"@en ; dct:publisher :office ;
    dcat:keyword "roads"@en ; dcat:distribution :file .
:file a dcat:Distribution ; dcat:accessURL <https://example.org/roads.csv> .
"""
BROKEN: Final = {
    "no title": WHOLE.replace('dct:title "Roads"@en ;', ""),
    "no description": WHOLE.replace('dct:description "Where they are"@en ;', ""),
    "a title that is an IRI": WHOLE.replace('dct:title "Roads"@en', "dct:title :title"),
    "two publishers": WHOLE.replace("dcat:keyword", "dct:publisher :other ; dcat:keyword"),
    "a publisher that is text": WHOLE.replace("publisher :office ;\n    dcat:keyword", 'publisher "x" ; dcat:keyword'),
    "a distribution without access": WHOLE.replace("; dcat:accessURL <https://example.org/roads.csv>", ""),
    "an access URL that is text": WHOLE.replace("<https://example.org/roads.csv>", '"https://example.org/roads.csv"'),
    "a dataset that is no dataset": WHOLE.replace("dcat:dataset :roads", "dcat:dataset :office"),
    "an agent without a name": WHOLE.replace('; foaf:name "Office"@en', ""),
    "a size that is text": WHOLE.replace("dcat:accessURL", 'dcat:byteSize "large" ; dcat:accessURL'),
}  # fmt: skip


def shapes() -> list[Assert]:
    folder = require("shared") / "data" / "dcat-ap" / "shacl"
    quads = [
        quad
        for name in ("dcat-ap-SHACL.ttl", "ranges.ttl")
        for quad in ox.parse((folder / name).read_bytes(), format=ox.RdfFormat.TURTLE, base_iri=f"urn:{name}")
    ]
    return [
        Assert(Statement(iri_of(quad.subject), iri_of(quad.predicate), term_of(quad.object), SHAPES_GRAPH))
        for quad in quads
    ]


@pytest.fixture(scope="module")
def published() -> World:
    """The shapes in force."""
    world = World()
    found = world.judge(*shapes())
    assert {finding.code for finding in found} == {FindingCode.UNDESCRIBED_SHAPE}
    assert len(found) == 5
    world.hold(*shapes())
    return world


@pytest.fixture(scope="module")
def mended() -> World:
    """The same without what refers to shapes that are not there, at which pySHACL stops."""
    written = shapes()
    described = {change.statement.subject for change in written}
    world = World()
    world.hold(
        *(
            change
            for change in written
            if change.statement.predicate != PROPERTY or change.statement.object in described
        )
    )
    return world


def test_a_whole_catalogue_conforms(published: World) -> None:
    assert published.judge(*asserts(PREFIXES + WHOLE)) == []


@pytest.mark.parametrize("turtle", BROKEN.values(), ids=BROKEN)
def test_a_broken_catalogue_gets_what_pyshacl_says(published: World, mended: World, turtle: str) -> None:
    assert turtle != WHOLE
    changes = asserts(PREFIXES + turtle)
    findings = published.judge(*changes)
    wanted = expected(mended, mended.plan(*changes))
    assert told(findings, wanted) == wanted
    assert findings
