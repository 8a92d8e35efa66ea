"""Queries in shapes that nobody should have written, through the real server: who else writes never notices."""

import os
import resource
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import httpx2
import pytest

from bridge.base import Base
from bridge.shapes import checker, preparing
from bridge.shapes.sparql import evaluation
from kernel.access import Role
from tests.api.bodies import EX, change, request
from tests.api.processes import workers
from tests.api.serving import Served, served

SHAPES_GRAPH: Final = "https://w3id.org/muniment#shapes"
DOUBLED: Final = " ".join(f"BIND (CONCAT(?x{each}, ?x{each}) AS ?x{each + 1})" for each in range(40))
BOMB: Final = f"""
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <{EX}> .
ex:BombShape a sh:NodeShape ; sh:targetClass ex:Thing ; sh:sparql [ sh:select \"\"\"
    SELECT $this {{ $this <{EX}name> ?n BIND (str(?n) AS ?x0) {DOUBLED} FILTER (strlen(?x40) > 1) }}\"\"\" ] .
"""
NAMED: Final = {"@value": "a"}
TYPE: Final = {"@id": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"}


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """Time enough, however busy the machine is: it is memory that there is too little of."""
    monkeypatch.setattr(evaluation, "LIMITS", replace(evaluation.LIMITS, seconds=600))
    monkeypatch.setattr(checker, "IN_TURN", 600)
    monkeypatch.setattr(preparing, "IN_TURN", 600)
    with Base.open(None) as base, served(base) as running:
        yield running


def written(administrator: httpx2.Client, **parameters: str) -> httpx2.Response:
    return administrator.post(
        "/changes", params={"graph": SHAPES_GRAPH, **parameters}, content=BOMB, headers={"content-type": "text/turtle"}
    )


def most_resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_a_query_that_takes_all_memory_is_told_of_and_nothing_else_changes(running: Served) -> None:
    administrator, writer = running.client(Role.ADMINISTRATOR), running.writer
    thing = [change("a", "name", NAMED), {**change("a", "", "Thing"), "predicate": TYPE}]
    assert writer.post("/changes", json=request(*thing)).json()["verdict"] == "clear"
    before, there = most_resident(), workers(os.getpid())

    tried = written(administrator, **{"dry-run": "true"})
    assert tried.status_code == 200, tried.text
    [told] = tried.json()["findings"]
    assert told["message"].startswith("the query of the shape gave no answer: it takes more than it may have")

    waiting = written(administrator)
    assert waiting.status_code == 202, waiting.text
    approved = administrator.post(f"{waiting.headers['location']}/decision", json={"decision": "approve"})
    assert approved.status_code in {200, 201}, approved.text

    refused = writer.post("/changes", json=request(change("a", "name", {"@value": "b"})))
    assert refused.json()["verdict"] == "refused"
    assert [each["code"] for each in refused.json()["findings"]] == ["shape-violation"]
    assert writer.post("/changes", json=request(change("b", "name", NAMED))).json()["verdict"] == "clear"
    assert most_resident() - before < 150 * 2**20
    assert len(workers(os.getpid()) - there) <= 2
