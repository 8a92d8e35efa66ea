"""Exporting a graph for one caller, at one moment, in one format.

Rules
-----
* An export is of one state of the ledger throughout, whatever is written while it is read: the view is taken when it is
  opened, and given back when it is closed.
* Of a graph that the caller may not read, and of one that there never was, the same is said: that there is none.
* What is claimed is what is true at the moment. `valid-at=any` tells the records of all other facts as well, and so
  goes with records alone; the moment is then the one that there is without `valid-at`.
* It comes in chunks of bounded size. Any thread may take the next one, one at a time; closing waits for none: what is
  being taken then is the last.

Example
-------
::

    with exporter.open(ExportRequest(principal, graph, Format.TURTLE), moment) as export:
        for chunk in export.chunks():
            ...
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING, Final, Self

from bridge.exporting.chunks import chunks
from bridge.exporting.credential import LIMIT, Heading, sign
from bridge.exporting.facts import Telling, told_facts
from bridge.exporting.jsonld import jsonld
from bridge.exporting.nodes import RESTORED
from bridge.exporting.nquads import nquads
from bridge.exporting.turtle import trig, turtle
from certificates.ids import uuid7
from kernel.errors import InvalidParameter, NotFound
from kernel.vocabulary import DEFAULT_GRAPH, GOVERNANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from bridge.exporting.facts import Told
    from bridge.reading.moments import Moment
    from certificates.keys import SigningKey
    from kernel.access import Principal
    from kernel.ports.ledger import Ledger, LedgerView
    from kernel.ports.outside import HostClock
    from kernel.terms import Iri
    from kernel.time.instants import Instant

_ALWAYS_THERE: Final = GOVERNANCE | {DEFAULT_GRAPH}


class Format(StrEnum):
    """The formats of exports, by media type; the first is the default."""

    JSON_LD = "application/ld+json"
    TURTLE = "text/turtle"
    TRIG = "application/trig"
    NQUADS = "application/n-quads"


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What is to be exported.

    Args:
        principal: for whom.
        graph: which graph.
        format: how it is written.
        records: whether each fact comes with its record.
        every_time: whether facts that are not true at the moment are told too, by their records.

    Raises:
        InvalidParameter: facts of every time are asked for without their records.
    """

    principal: Principal
    graph: Iri
    format: Format = Format.JSON_LD
    records: bool = False
    every_time: bool = False

    def __post_init__(self) -> None:
        if self.every_time and not self.records:
            raise InvalidParameter(
                "without annotations, statements of every time would all claim to be true now",
                remedy="add annotations=true, or give one time",
                where="valid-at",
            )


class Export:
    """A document that is being read.

    Args:
        body: its chunks.
        head: the head that it is of; None for an empty base.
        valid_at: the valid time that it is of.
        resources: given back on closing.
    """

    def __init__(self, body: Iterator[bytes], head: int | None, valid_at: Instant, resources: ExitStack) -> None:
        self.head = head
        self.valid_at = valid_at
        self._body = body
        self._resources = resources
        self._taking = Lock()
        self._closing = False

    def take(self) -> bytes:
        """The next chunk; empty at the end, and once it is closed."""
        try:
            with self._taking:
                return b"" if self._closing else next(self._body, b"")
        finally:
            if self._closing:
                self.close()

    def chunks(self) -> Iterator[bytes]:
        """All chunks that are left."""
        while chunk := self.take():
            yield chunk

    def close(self) -> None:
        """Gives the view back, as soon as no chunk is being taken; may be called again."""
        self._closing = True
        if self._taking.acquire(blocking=False):
            try:
                self._resources.close()
            finally:
                self._taking.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Exporter:
    """Exports graphs of one base; safe from any thread."""

    def __init__(self, ledger: Ledger, key: SigningKey, host: HostClock) -> None:
        self._ledger = ledger
        self._key = key
        self._host = host

    def open(self, request: ExportRequest, moment: Moment) -> Export:
        """Begins an export; whoever opens it closes it.

        Raises:
            NotFound: there is no such graph that the principal may read.
        """
        with ExitStack() as opened:
            view, telling, head = self._begun(opened, request, moment)
            body = opened.enter_context(closing(chunks(_written(request, told_facts(view, telling)))))
            return Export(body, head, telling.valid_at, opened.pop_all())

    def signed(self, request: ExportRequest, moment: Moment, limit: int = LIMIT) -> Export:
        """The export as a Verifiable Credential, which is made whole before the first chunk.

        Args:
            request: in JSON-LD.
            moment: to export at.
            limit: bytes of N-Quads that are signed at most.

        Raises:
            NotFound: there is no such graph that the principal may read.
            CannotSign: it is too large, or verifiers would differ about it.
        """
        with ExitStack() as opened:
            view, telling, head = self._begun(opened, request, moment)
            heading = Heading(
                id=uuid7(),
                issuer=self._key.did,
                issued_at=self._host.now(),
                base=self._ledger.base_id(),
                graph=request.graph,
                head=head,
                valid_at=telling.valid_at,
            )
            document = sign(heading, told_facts(view, telling), self._key, records=request.records, limit=limit)
            return Export(iter([document]), head, telling.valid_at, ExitStack())

    def _begun(
        self, opened: ExitStack, request: ExportRequest, moment: Moment
    ) -> tuple[LedgerView, Telling, int | None]:
        """A view, what is told of it, and the head that this is of."""
        view = opened.enter_context(self._ledger.reading())
        _require_graph(view, request)
        now = view.head()
        head = now.position if moment.as_of is None else view.head_at(moment.as_of)
        valid_at = now.clock if moment.valid_at is None else moment.valid_at
        return view, Telling(request.graph, moment.as_of, valid_at, request.records, request.every_time), head


def _require_graph(view: LedgerView, request: ExportRequest) -> None:
    graph = request.graph
    if not request.principal.may_read(graph) or not (graph in _ALWAYS_THERE or graph in view.graphs()):
        raise NotFound(
            f"there is no graph {graph.value} that you may read",
            remedy="check the IRI; in a URL it is percent-encoded",
            where="graph",
        )


def _written(request: ExportRequest, told: Iterable[Told]) -> Iterator[str]:
    graph, records = request.graph, request.records
    match request.format:
        case Format.JSON_LD:
            return jsonld(told, graph, records=records, nodes=RESTORED)
        case Format.TURTLE:
            return turtle(told, records=records)
        case Format.TRIG:
            return trig(told, graph, records=records)
        case Format.NQUADS:
            return nquads(told, graph, records=records)
