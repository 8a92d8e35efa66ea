"""Paths as findings have them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.shapes.path_text import parse_path
from bridge.shapes.paths import Alternative, Path, Repeat, Sequence, Step, text
from bridge.shapes.reports.rdf import Items, Node, path_value
from bridge.shapes.vocabulary import sh
from kernel.terms import Iri

STEPS = st.builds(Step, st.sampled_from([Iri("urn:a"), Iri("urn:b(a)/*+")]), st.booleans())


def _deeper(inner: st.SearchStrategy[Path]) -> st.SearchStrategy[Path]:
    parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
    repeats = st.tuples(inner, st.sampled_from([(False, True), (True, True), (False, False)]))
    return st.one_of(
        parts.map(Sequence), parts.map(Alternative), repeats.map(lambda drawn: Repeat(drawn[0], *drawn[1]))
    )


@given(st.recursive(STEPS, _deeper, max_leaves=8))
def test_what_is_written_is_read_as_the_same_path(path: Path) -> None:
    assert parse_path(text(path)) == path


@pytest.mark.parametrize(
    "other", ["", "urn:a", "<urn:a>/", "(<urn:a>", "<urn:a>)", "<urn:a><urn:b>", "^^<urn:a>", "<a>", "()", "<urn:a>*"]
)
def test_anything_else_is_no_path(other: str) -> None:
    assert parse_path(other) is None


def test_a_path_in_rdf() -> None:
    a, b = Iri("urn:a"), Iri("urn:b")
    path = Sequence((Step(a), Alternative((Step(b, inverse=True), Repeat(Step(a), once=True, unbounded=True)))))
    inverse, repeated = Node(((sh("inversePath"), b),)), Node(((sh("oneOrMorePath"), a),))
    assert path_value(path) == Items((a, Node(((sh("alternativePath"), Items((inverse, repeated))),))))
