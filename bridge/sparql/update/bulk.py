"""A large update as a load session: staged piece by piece, judged and certified as a whole, in bounded memory.

Rules
-----
* What is inserted is believed, and what is deleted ends, from the instant on at which staging begins, unless the
  request says since when; in a reserved graph, as such.
* What much data says is staged as it is read. Which of what it deletes is there is looked up where it is planned, so
  whatever else is written meanwhile does not matter.
* What an evaluation came to is good for one state (`bridge.updating.evaluating`), and planned at no other.
* What governs is not deleted by a session: that is judged with the request as a whole.
* A session of a request with an idempotency key is named by caller, key and body, so that the request sent again, also
  after a crash, gets the certificate that it got before. One without has a name of its own.
* What nobody waits for is dropped before anything is staged, so only one is staged at a time.

Example
-------
::

    request = stage_update(base.ledger, session, said(update.operations, terms, now, strict=False), terms)
    outcome = base.load(LoadRequest(request, principal, lambda planned: None)).result()
"""

from __future__ import annotations

from hashlib import sha256
from secrets import token_bytes, token_hex
from typing import TYPE_CHECKING, Final

from bridge.documents.skolem import Skolem
from bridge.loading.session import drop_abandoned, stage
from bridge.sparql.update.operations import InsertData
from bridge.sparql.update.templates import BlockReader
from bridge.terms import OxigraphCanonicaliser
from kernel.changes import Request
from kernel.vocabulary import DEFAULT_GRAPH, GOVERNANCE
from kernel.writing.deferred import Deletion, insertion
from kernel.writing.net_effect import Since

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bridge.sparql.update.operations import DeleteData
    from bridge.updating.terms import Terms
    from kernel.access import Principal
    from kernel.ports.ledger import Ledger
    from kernel.terms import Iri, Statement
    from kernel.time.instants import Instant
    from kernel.writing.deferred import Deferred

BULK: Final = 2**20
"""Characters of data from which a session costs less than a plan in memory."""

_SEED_BYTES: Final = 32


def session_of(terms: Terms) -> str:
    """The name of the session of a request."""
    if terms.key is None:
        return f"update:{token_hex(16)}"
    parts = (terms.principal.id.encode(), terms.key.encode(), terms.body_digest)
    return f"update:{sha256(b''.join(len(part).to_bytes(8) + part for part in parts)).hexdigest()}"


class Governs(Exception):
    """Something of a reserved graph is to be deleted."""


def stage_update(ledger: Ledger, session: str, changes: Iterator[Deferred], terms: Terms) -> Request:
    """Stages what an update comes to; answers what to load.

    Args:
        ledger: of the base; the chunks are durable when this returns.
        session: its name.
        changes: drawn one by one; what they raise leaves nothing staged.
        terms: what is said beside.
    """
    drop_abandoned(ledger, session)
    ledger.unstage(session)  # of an attempt that was killed: its blank nodes have other names
    try:
        stage(ledger, session, token_bytes(_SEED_BYTES), changes)
    except BaseException:
        ledger.unstage(session)
        raise
    return Request((), terms.reason, terms.episode, terms.principal.id, session)


def said(
    operations: Sequence[InsertData | DeleteData], terms: Terms, now: Instant, *, strict: bool
) -> Iterator[Deferred]:
    """What operations insert, or delete, all of which do the same.

    Args:
        operations: in their order.
        terms: what is said beside.
        now: since when it holds, unless that is said.
        strict: whether what names no graph is in `m:default` alone.

    Raises:
        Forbidden: a graph that the caller may not write.
        Governs: something of a reserved graph is deleted.
        InvalidParameter: something is to end at a time that is not known.
        QueryRefused: data that cannot be read.
        ReservedGraph: a time was given for what has transaction time only.
    """
    reader, writable = BlockReader(OxigraphCanonicaliser()), _Writable(terms.principal)
    holds, given = terms.since or Since.issued(now), terms.since is not None
    for operation in operations:
        if isinstance(operation, InsertData):
            for quad in reader.each(operation.block, Skolem()):
                statement = writable.require(quad.in_graph(DEFAULT_GRAPH))
                yield insertion(statement, quad.spelling, holds.start, given=given)
            continue
        holds.require_known()
        for quad in reader.each_deleted(operation.block):
            anywhere, statement = quad.graph is None and not strict, quad.in_graph(DEFAULT_GRAPH)
            if statement.graph in GOVERNANCE:
                raise Governs
            yield Deletion(statement if anywhere else writable.require(statement), holds.end, anywhere)


class _Writable:
    """The graphs that a principal is known to be allowed to write."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal
        self._known: set[Iri] = set()

    def require(self, statement: Statement) -> Statement:
        """The statement. Raises `Forbidden`."""
        if statement.graph not in self._known:
            self._principal.require_write(statement.graph)
            self._known.add(statement.graph)
        return statement
