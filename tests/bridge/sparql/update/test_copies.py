"""What a WHERE sees once something is changed: a copy of a store, of which nothing is left behind."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest

from bridge.base import Base
from bridge.stores.checkpoints import FEW
from kernel.errors import QueryRefused
from tests.bridge.sparql.update.updating import contents, update
from tests.bridge.writing import ADMINISTRATOR

MANY = " ".join(f"<urn:s{number}> <urn:p> {number} ." for number in range(FEW + 1))
TWO_STEPS = "INSERT DATA { <urn:x> <urn:p> 1 } ; INSERT { <urn:y> <urn:p> ?n } WHERE { <urn:x> <urn:p> ?n }"


def left(directory: Path) -> list[Path]:
    return list((directory / "stores").glob("*.checkpoint-*"))


def test_a_copy_on_disk_goes_when_the_update_is_done(tmp_path: Path) -> None:
    with Base.open(tmp_path) as base:
        update(base, f"INSERT DATA {{ {MANY} }}")
        update(base, TWO_STEPS)
        assert ox.Quad(ox.NamedNode("urn:y"), ox.NamedNode("urn:p"), ox.Literal(1)) in contents(base)
        assert left(tmp_path) == []
        with pytest.raises(QueryRefused):
            update(base, TWO_STEPS + " ; INSERT { <urn:z> <urn:p> ?n } WHERE { ?s <urn:p> ?n FILTER(<urn:f>(?n)) }")
        update(base, TWO_STEPS)
        assert left(tmp_path) == []


def test_a_copy_with_what_governs_has_the_earlier_operations_too() -> None:
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
