"""Full validation is that of `shacl`, an engine in Rust and a second oracle beside pySHACL: the same results.

It is installed for the benchmarks, in an environment of its own; where that cannot be made, there is nothing to hold
ours against. What of it does not agree with the specification is left out of what is drawn, and is said there.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from bench.environments import Unavailable, environment, home
from bench.validators import SHACL, VALIDATORS
from kernel.terms import parse_term
from tests.bridge.shapes.test_incremental import ONTOLOGY, shapes, triples
from tests.bridge.shapes.test_validation import validated
from tests.bridge.shapes.world import PREFIXES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.fuzz

Found = set[tuple[str, str, str]]
"""Focus, value and component of each result."""


PROGRAM: Final = """
import json, sys, shacl
for line in sys.stdin:
    asked = json.loads(line)
    report = shacl.Shapes.from_turtle(asked["shapes"]).validate_turtle(asked["data"])
    print(json.dumps([[each.focus_node, each.value or "", each.component_iri] for each in report.results]), flush=True)
"""


class Other:
    """The other engine, in a process of its own."""

    def __init__(self, python: Path) -> None:
        self.process = subprocess.Popen(
            [str(python), "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def found(self, turtle: str, data: str) -> Found:
        """What it finds."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"shapes": PREFIXES + turtle, "data": PREFIXES + data}) + "\n")
        self.process.stdin.flush()
        found = json.loads(self.process.stdout.readline())
        return {(focus, _value(value), component) for focus, value, component in found}


def _value(text: str) -> str:
    return parse_term(text).n3 if text else ""


@pytest.fixture(scope="module")
def other() -> Iterator[Other]:
    [entry] = [each for each in VALIDATORS if each.name == SHACL]
    try:
        engine = Other(environment(home(), SHACL, list(entry.requirements)))
    except Unavailable as error:
        pytest.skip(f"shacl {error}")
    yield engine
    engine.process.kill()
    engine.process.communicate()


@given(shapes(), st.lists(triples(), max_size=8), st.booleans())
def test_results_are_those_of_another_engine(other: Other, turtle: str, data: list[str], subclass: bool) -> None:
    assume("sh:closed" not in turtle)  # of a property shape it asks what the focus has, and not what its values have
    note(turtle)
    text = "\n".join([*data, *([ONTOLOGY] if subclass else [])])
    _, results = validated(turtle, text)
    ours = {(each.focus.n3, "" if each.value is None else each.value.n3, each.component.value) for each in results}
    assert ours == other.found(turtle, text)
