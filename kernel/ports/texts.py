"""What a ledger holds, as it is stored or counted: for whoever passes it on without reading it.

Rules
-----
* Terms are in their N-Triples form, which is canonical: one term, one text.

Example
-------
>>> counts = HistoryCounts(2, 1, 3, 0, 1, 0, 0)
>>> counts.facts, counts.superseded
(2, 1)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from kernel.time.precision import Precision


StatementTexts: TypeAlias = tuple[str, str, str, str]
"""Subject, predicate, object and graph of a statement in their N-Triples form."""


class FactTexts(NamedTuple):
    """A fact as the ledger has it, without any of it having been read as what it says.

    Args:
        id: of 16 bytes, as those of the family and the certificates are.
        subject: in its N-Triples form, as the other terms are.
        superseded: when; `FOREVER` while it is believed.
    """

    id: bytes
    family: bytes
    subject: str
    predicate: str
    object: str
    graph: str
    valid_from: int
    valid_to: int
    from_precision: Precision
    to_precision: Precision
    certificate: bytes
    recorded: int
    superseded: int
    superseded_by: bytes | None


@dataclass(frozen=True, slots=True)
class HistoryCounts:
    """How much of each kind history has.

    Args:
        facts: recorded.
        of_nodes: of them, those whose object is an IRI.
        bounds: starts and ends that they have.
        precisions: of bounds, those that are coarse or unknown.
        superseded: of the facts.
        evidence: pieces of it.
        details: that these have: episodes, confidences, and the parts of spellings.
    """

    facts: int
    of_nodes: int
    bounds: int
    precisions: int
    superseded: int
    evidence: int
    details: int
