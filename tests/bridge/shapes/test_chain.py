"""What is written at once, and leads back by one way, is led back once: not once for each statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.shapes.neighbourhood import Walk
from tests.bridge.shapes.world import World, asserts, retracts

if TYPE_CHECKING:
    import pytest

    from kernel.changes import Change
    from kernel.terms import Iri, Term

LINKS: Final = 60
SHAPES: Final = """:S a sh:NodeShape ; sh:targetClass :Whole ;
    sh:property [ sh:path [ sh:oneOrMorePath :part ] ; sh:class :Part ] ."""


def a_chain(of: int) -> list[Change]:
    """A whole, and its parts one within the other."""
    links = " ".join(f":m{number} :part :m{number + 1} . :m{number + 1} a :Part ." for number in range(of))
    return asserts(f":m0 a :Whole . {links}")


def test_a_chain_is_walked_back_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world, steps, taken = World(SHAPES), 0, Walk._step

    def counted(self: Walk, predicate: Iri, node: Term, *, inverse: bool) -> list[Term]:
        nonlocal steps
        steps += 1
        return taken(self, predicate, node, inverse=inverse)

    monkeypatch.setattr(Walk, "_step", counted)
    assert world.judge(*a_chain(LINKS)) == []
    assert LINKS < steps < 12 * LINKS


def test_the_far_end_of_a_chain_is_judged_by_its_beginning() -> None:
    world = World(SHAPES, f":m{LINKS} :part :other .")
    (found,) = world.judge(*a_chain(LINKS))
    assert (found.focus, found.value) == ("<urn:x:m0>", "<urn:x:other>")
    world.hold(*a_chain(LINKS), *asserts(":other a :Part ."))
    (found,) = world.judge(*retracts(f":m{LINKS // 2} a :Part ."))
    assert found.value == f"<urn:x:m{LINKS // 2}>"
