"""A large INSERT DATA as a load session: staged piece by piece, judged and certified as a whole, in bounded memory.

Rules
-----
* A statement is believed from the instant at which staging begins, unless the request says since when; in a reserved
  graph, as such.
* A session of a request with an idempotency key is named by caller, key and body, so that the request sent again, also
  after a crash, gets the certificate that it got before. One without has a name of its own.
* What nobody waits for is dropped before anything is staged, so only one is staged at a time.

Example
-------
::

    request = stage_update(base.ledger, update, now)
    outcome = base.load(LoadRequest(request, principal, lambda planned: None)).result()
"""

from __future__ import annotations

from hashlib import sha256
from secrets import token_bytes, token_hex
from typing import TYPE_CHECKING, Final

from bridge.documents.skolem import Skolem
from bridge.loading.session import drop_abandoned, stage
from bridge.sparql.update.templates import BlockReader
from bridge.terms import OxigraphCanonicaliser
from kernel.changes import Assert, Request
from kernel.time.timevalues import exact
from kernel.vocabulary import DEFAULT_GRAPH
from kernel.writing.net_effect import insertion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bridge.sparql.update.operations import InsertData
    from bridge.updating.terms import Terms
    from kernel.ports.ledger import Ledger
    from kernel.terms import Iri
    from kernel.time.instants import Instant

BULK: Final = 2**20
"""Characters of data from which a session costs less than a plan in memory."""

_SEED_BYTES: Final = 32


def session_of(terms: Terms) -> str:
    """The name of the session of a request."""
    if terms.key is None:
        return f"update:{token_hex(16)}"
    parts = (terms.principal.id.encode(), terms.key.encode(), terms.body_digest)
    return f"update:{sha256(b''.join(len(part).to_bytes(8) + part for part in parts)).hexdigest()}"


def stage_update(ledger: Ledger, session: str, operations: Sequence[InsertData], terms: Terms, now: Instant) -> Request:
    """Stages what operations insert; answers what to load.

    Args:
        ledger: of the base; the chunks are durable when this returns.
        session: its name.
        operations: in their order.
        terms: what is said beside.
        now: since when it holds, unless that is said.

    Raises:
        Forbidden: a graph that the caller may not write.
        QueryRefused: data that cannot be read.
        ReservedGraph: a time was given for what has transaction time only.
    """
    drop_abandoned(ledger, session)
    ledger.unstage(session)  # of an attempt that was killed: its blank nodes have other names
    try:
        stage(ledger, session, token_bytes(_SEED_BYTES), _assertions(operations, terms, now))
    except BaseException:
        ledger.unstage(session)
        raise
    return Request((), terms.reason, terms.episode, terms.principal.id, session)


def _assertions(operations: Sequence[InsertData], terms: Terms, now: Instant) -> Iterator[Assert]:
    reader = BlockReader(OxigraphCanonicaliser())
    start = exact(now) if terms.since is None else terms.since.start
    writable: set[Iri] = set()
    for operation in operations:
        for quad in reader.each(operation.block, Skolem()):
            statement = quad.in_graph(DEFAULT_GRAPH)
            if statement.graph not in writable:
                terms.principal.require_write(statement.graph)
                writable.add(statement.graph)
            yield insertion(statement, quad.spelling, start, given=terms.since is not None)
