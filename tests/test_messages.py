"""What errors say reads like one voice: a clause without a full stop, and what to do, in no words of the code.

Every place is looked at that gives a remedy, in all layers, without being run: many of them are hard to come by.
"""

import ast
import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests.requirements import REPOSITORY

LAYERS: Final = ("certificates", "kernel", "bridge", "api")

SLIPS: Final = {
    "ends like a sentence, and the place that shows it ends it again": re.compile(r"[.!]$"),
    "begins like a sentence, and stands amid one": re.compile(r"^[A-Z][a-z]"),
    "leaves the number of a noun open": re.compile(r"\w\(s\)"),
    "is spaced or dotted twice": re.compile(r"\S  \S|\.\.(?!\.)"),
    "is in words of the code": re.compile(r"\b(?:None|True|False|dict|tuple|traceback|exception|instance|callback)\b"),
    "begs": re.compile(r"\b(?:please|sorry|oops)\b", re.IGNORECASE),
    "says nothing": re.compile(r"^\s*$"),
}


def wording(node: ast.expr) -> str | None:
    """A text of the code, with `…` for what is put in; None where it is made elsewhere."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr():
            return "".join(wording(part) or "…" for part in node.values)
        case _:
            return None


def told() -> Iterator[tuple[str, str]]:
    """The messages and remedies of errors, each with its place."""
    for layer in LAYERS:
        for path in sorted((REPOSITORY / layer).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and any(each.arg == "remedy" for each in node.keywords):
                    place = f"{path.relative_to(REPOSITORY)}:{node.lineno}"
                    texts = [*node.args[:1], *(each.value for each in node.keywords if each.arg == "remedy")]
                    yield from ((place, text) for text in map(wording, texts) if text is not None)


TOLD: Final = [*told()]


def test_they_are_found() -> None:
    assert len(TOLD) > 1_000


@pytest.mark.parametrize("slip", SLIPS)
def test_no_message_and_no_remedy(slip: str) -> None:
    assert [(place, text) for place, text in TOLD if SLIPS[slip].search(text)] == []


@pytest.mark.parametrize(
    "text", ["give a date.", "Give a date", "needs 1 value(s)", "a  b", "it is None", "please wait", ""]
)
def test_a_slip_is_found(text: str) -> None:
    assert any(pattern.search(text) for pattern in SLIPS.values())
