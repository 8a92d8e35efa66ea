"""Reading a base: SPARQL and facts at any pair of times, for one caller.

Rules
-----
* A read is at a moment: `as-of` says as known when (an instant T, recordedAt ≤ T < supersededAt, or `head:N`),
  `valid-at` says as true when. Neither: the head, and the current store answers.
* `valid-at` is the as-of instant if one is given (what would this have answered then), else the clock.
* A bare integer is no `as-of`: it could mean a year or a head. A future `as-of` is an error; before the first
  certificate there is an empty base.
* Everything that is read goes through a `Dataset` made for the caller: the one choke point for what may be seen.
* An answer carries the state it was given for: head and valid-at.

Example
-------
::

    answer = reader.query(QueryRequest(principal, "SELECT * {?s ?p ?o}"), reader.moment("head:3", "2024-01-01"))
    answer.body, answer.media_type, answer.head, answer.valid_at
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridge.sparql.dataset import dataset_for
from bridge.sparql.query import answer
from bridge.sparql.results import negotiate
from bridge.sparql.scan import scan
from kernel.errors import InvalidParameter, UnknownParameter
from kernel.instants import Instant, print_instant
from kernel.timevalues import parse_point

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.snapshots import Snapshots
    from bridge.stores import OxigraphStores
    from kernel.access import Principal
    from kernel.facts import Evidence, Fact
    from kernel.ports import HostClock, Ledger, LedgerView
    from kernel.terms import Iri, Term

_HEAD = re.compile(r"head:(\d{1,18})")


@dataclass(frozen=True, slots=True)
class Moment:
    """A pair of times; None is "now": the head, or the clock."""

    as_of: Instant | None = None
    valid_at: Instant | None = None


NOW = Moment()


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A SPARQL query.

    Args:
        principal: for whom.
        text: the query.
        accept: the Accept header, or None.
        default_graphs: `default-graph-uri` parameters of the SPARQL protocol.
        named_graphs: `named-graph-uri` parameters.
    """

    principal: Principal
    text: str
    accept: str | None = None
    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A serialised answer and the state it was given for."""

    body: bytes
    media_type: str
    head: int | None
    valid_at: Instant


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts; at least a subject, an object or a graph is needed."""

    subject: Iri | None = None
    predicate: Iri | None = None
    object: Term | None = None
    graph: Iri | None = None


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact with its evidence, as known at the moment asked for."""

    fact: Fact
    evidence: tuple[Evidence, ...]
