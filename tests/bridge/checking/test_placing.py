"""Lines of nodes in files, of every format that is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.checking.placing import Lines, Place, lines_of

if TYPE_CHECKING:
    from pathlib import Path

X = "https://x.org/"

DOCUMENTS = {
    "data.nt": f'<{X}b> <{X}knows> <{X}a> .\n<{X}a> <{X}name> "Ann" .\n',
    "data.nq": f'# <{X}a>\n<{X}a> <{X}name> "Ann" <{X}g> .\n',
    "data.ttl": f"@prefix x: <{X}> . @prefix y: <urn:y:> .\nx:a x:name 'Ann' .\n",
    "data.trig": f"PREFIX : <{X}>\n:a :name 'Ann' .\n:g {{\n  :a :name 'Anne' . }}\n",
    "data.jsonld": f'[{{"{X}knows": [{{"@id": "{X}a"}}],\n  "@id": "{X}a"}}]',
    "data.rdf": f"<rdf:RDF\n><rdf:Description rdf:about='{X}a'/></rdf:RDF>",
    "data.ndjson": f'{{"op": "assert", "object": "{X}a"}}\n{{"op": "assert", "subject": "{X}a"}}\n',
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_node_lies_in_the_line_that_describes_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("\ufeff" + DOCUMENTS[name], encoding="utf-8")
    lines = Lines()
    assert lines.of(path, f"{X}a") == 2
    assert lines.of(path, f"{X}nowhere") is None


def test_the_margin_goes_before_what_is_indented() -> None:
    text = ["<urn:b> <urn:p>\n", "  <urn:a> ;\n", "  <urn:q> 1 .\n", "<urn:a> <urn:p> 2 .\n"]
    assert lines_of(text, ".ttl") == {"urn:b": 1, "urn:a": 4, "urn:q": 3}


def test_a_prefix_means_what_it_was_last_declared_to_mean() -> None:
    text = ["PREFIX a: <urn:1:>\n", "a:x a a:T .\n", "@prefix a: <urn:2:> .\n", "a:x a a:T .\n", "other:x a a:T .\n"]
    assert lines_of(text, ".ttl") == {"urn:1:x": 2, "urn:2:x": 4}


@given(st.lists(st.integers(0, 9), min_size=1))
def test_the_first_line_counts(numbers: list[int]) -> None:
    text = [f"<urn:{number}> <urn:p> <urn:{number + 1}> .\n" for number in numbers]
    assert lines_of(text, ".nt") == {f"urn:{number}": numbers.index(number) + 1 for number in numbers}


@given(st.text(), st.sampled_from([".nt", ".ttl", ".jsonld", ".rdf", ".ndjson"]))
def test_any_text_has_lines_within_it(text: str, suffix: str) -> None:
    lines = text.split("\n")
    assert all(1 <= line <= len(lines) for line in lines_of(lines, suffix).values())


def test_a_place_is_written_as_compilers_do(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    assert [str(Place(path, line)) for line in (7, None)] == [f"{path}:7", str(path)]
