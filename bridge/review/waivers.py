"""Waivers that have ended, for those who look after a base.

Rules
-----
* Read are the waivers that `m:shapes` holds, and no other shapes: there may be thousands.
* A waiver whose end has come is a finding until it is removed or given another end. Nothing is refused for it.

Example
-------
::

    with base.ledger.reading() as view:
        for finding in ended_waivers(view, base.host.now()):
            finding.message
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.shapes.registry import document_of
from bridge.shapes.vocabulary import RDF_TYPE
from bridge.shapes.waivers import WAIVER, ended, waivers_of
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from certificates.findings import Finding
    from kernel.ports.facts import FactsView
    from kernel.time.instants import Instant


def ended_waivers(view: FactsView, at: Instant) -> list[Finding]:
    """A finding for each shape of each waiver that has ended by an instant, the one that ended last first."""
    nodes = [
        fact.statement.subject
        for fact in view.believed(predicate=RDF_TYPE, object=WAIVER)
        if fact.statement.graph == SHAPES_GRAPH
    ]
    facts = [fact for node in nodes for fact in view.believed(subject=node) if fact.statement.graph == SHAPES_GRAPH]
    return ended(waivers_of(document_of(facts, (), (), view)), at)
