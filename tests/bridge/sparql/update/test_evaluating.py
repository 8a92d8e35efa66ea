"""What a WHERE is asked over, and what becomes of one that cannot be evaluated within the sequencer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bridge.base import Base
from bridge.updating.request import Update
from bridge.updating.terms import Terms
from kernel.errors import MunimentError, QueryLimit, StateMoved, StoreUnavailable
from tests.bridge.sparql.update.updating import Here, contents, update
from tests.bridge.writing import ADMINISTRATOR, PATIENCE, WRITER

if TYPE_CHECKING:
    from bridge.sparql.update.solving import Asked, Solved

COUNT = "DELETE { <urn:c> <urn:p> ?n } INSERT { <urn:c> <urn:p> ?m } WHERE { <urn:c> <urn:p> ?n BIND(?n + 1 AS ?m) }"


def test_what_governs_is_seen_with_the_earlier_operations_too() -> None:
    shapes = "GRAPH <https://w3id.org/muniment#ontology>"
    with Base.open(None) as base:
        text = (
            f"INSERT DATA {{ {shapes} {{ <urn:A> <urn:p> <urn:B> }} <urn:a> <urn:p> 1 }} ;"
            f"INSERT {{ ?o <urn:from> ?n }} WHERE {{ {shapes} {{ ?s <urn:p> ?o }} ?a <urn:p> ?n }} ;"
            "INSERT { <urn:seen> <urn:from> ?n } WHERE { ?a <urn:from> ?n }"
        )
        update(base, text, ADMINISTRATOR)
        subjects = {str(quad.subject) for quad in contents(base) if quad.predicate.value == "urn:from"}
        assert subjects == {"<urn:B>", "<urn:seen>"}


class Failing:
    """A worker that is lost, or ended."""

    def __init__(self, error: MunimentError) -> None:
        self._error = error

    def solve(self, asked: Asked) -> Solved:
        del asked
        raise self._error


@pytest.mark.parametrize(
    ("met", "told"),
    [
        (QueryLimit("it took too long", remedy="ask for less", of="time"), StateMoved),
        (QueryLimit("it took too much", remedy="ask for less", of="memory"), QueryLimit),
        (StoreUnavailable("a worker was lost", remedy="ask again"), StoreUnavailable),
    ],
    ids=["time", "memory", "lost"],
)
def test_what_fails_within_the_sequencer_leaves_nothing_and_the_others_go_on(
    met: MunimentError, told: type[MunimentError]
) -> None:
    with Base.open(None) as base:
        update(base, "INSERT DATA { <urn:c> <urn:p> 0 }")
        before = contents(base)
        read = Update.read("INSERT DATA { <urn:x> <urn:p> 1 } ; " + COUNT, Terms(WRITER))
        with pytest.raises(told):
            base.updates.apply_alone(read, Failing(met)).result(PATIENCE)
        assert contents(base) == before
        assert base.updates.apply_alone(read, Here(base)).result(PATIENCE).certificate is not None
        assert {str(quad.object) for quad in contents(base)} == {'"1"^^<http://www.w3.org/2001/XMLSchema#integer>'}, (
            "both operations, once"
        )
