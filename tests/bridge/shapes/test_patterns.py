"""sh:pattern: matched as Oxigraph's REGEX has it, and never for longer than the text is long."""

from __future__ import annotations

from time import process_time

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.shapes.patterns import Pattern, fault
from kernel.vocabulary import SHAPES_GRAPH
from tests.bridge.shapes.world import World, asserts

ATOMS = ("a", "b", "[ab]", "[^a]", ".", "\\d", "\\w", "^", "$", "(a)", "(?:ab|b)", "(a|a)", "é", "\\p{Lu}", "[^\\PLb]")
REPEATED = ("", "", "*", "+", "?", "{2}", "{1,3}", "*?")
EVIL = ("^(a+)+$", "(a|a)*c", "^(a|aa)+$", "a*a*a*a*a*a*c", "(.*)*c", "(a?){40}a{40}", "^(([a-z])+.)+[A-Z]([a-z])+$")


@st.composite
def patterns(draw: st.DrawFn, depth: int = 2) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        atom = f"({draw(patterns(depth - 1))})" if depth and draw(st.booleans()) else draw(st.sampled_from(ATOMS))
        parts.append(atom + ("" if atom in "^$" else draw(st.sampled_from(REPEATED))))
    return "".join(parts)


def by_oxigraph(pattern: str, flags: str, text: str) -> bool:
    said = ", ".join(str(ox.Literal(each)) for each in (text, pattern, flags))
    return bool(ox.Store().query(f"ASK {{ FILTER (REGEX({said})) }}"))


@given(patterns(), st.sampled_from(["", "i", "m", "im", "s", "q", "iq"]), st.text("aAbB1é\n \r", max_size=12))
def test_a_pattern_means_what_it_means_to_sparql(pattern: str, flags: str, text: str) -> None:
    if fault(pattern, flags) is None:
        assert Pattern(pattern, flags).matches(text) == by_oxigraph(pattern, flags, text)


@pytest.mark.parametrize(
    ("pattern", "flags", "matching", "other"),
    [
        (r"^\p{L}+$", "", "Ωé", "a1"),
        (r"^[\P{L}-]$", "", "1", "a"),
        (r"^\\p{1}$", "", "\\p", "a"),
        ("^a.b$", "s", "a\nb", "a\n\nb"),
        ("a.b", "q", "xa.b", "axb"),
        ("A(", "iq", "a(", "a"),
    ],
)
def test_categories_of_characters_and_all_but_one_flag_are_those_of_sparql(
    pattern: str, flags: str, matching: str, other: str
) -> None:
    assert fault(pattern, flags) is None
    assert [Pattern(pattern, flags).matches(text) for text in (matching, other)] == [True, False]


@pytest.mark.parametrize("pattern", EVIL)
def test_no_pattern_takes_longer_than_its_text_is_long(pattern: str) -> None:
    started = process_time()
    for length in (30, 1_000, 20_000):
        Pattern(pattern, "").matches("a" * length + "!")
    assert process_time() - started < 5


@pytest.mark.parametrize("pattern", [r"(?=a)b", r"(?<!a)b", r"(a)\1", "(a{1,1000}){1,1000}"])
def test_what_needs_backtracking_is_refused_with_a_reason(pattern: str) -> None:
    written = f":S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :p ; sh:pattern '''{pattern!s}''' ] ."
    findings = World().judge(*asserts(written.replace("\\", "\\\\"), graph=SHAPES_GRAPH))
    assert ["lookaround and back-references" in finding.message for finding in findings] == [True]


def test_groups_that_are_nested_too_deep_are_refused_in_words() -> None:
    assert fault(f"{'(' * 5_000}a{')' * 5_000}", "") == "its groups are nested too deep"
    assert fault(f"{'(' * 50}a{')' * 50}", "") is None
