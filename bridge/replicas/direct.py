"""Workers for threads that wait: each is asked by one thread at a time, of statements that come with the query.

Rules
-----
* Such a worker has no replica: it is sent what it is asked of. So queries that may not run in the service, because
  they could take all of its memory or never end, run within limits.
* Whoever asks waits. A worker that takes too long is killed, one that takes too much memory ends itself; another takes
  its place when somebody asks next.
* As many are started as threads ask at the same time, and `KEPT` wait for the next. They end with the process.
* A worker can keep statements for further queries (`keeps`), and is then found again by what it keeps.
* One that somebody has for himself can have stores, as a replica has; `compare` asks queries at two states of one.

Example
-------
>>> asked = Asked("ASK { ?s ?p '1' }", ["", '<urn:s> <urn:p> "1" .'], Limits(5))
>>> with WORKERS.one() as worker:
...     worker.answers(asked, b"")
[b'{"head":{},"boolean":false}', b'{"head":{},"boolean":true}']
"""

from __future__ import annotations

import atexit
import socket
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from weakref import ReferenceType

from bridge.replicas.comparing import compared
from bridge.replicas.frames import Frame, FrameReader, Kind, frame
from bridge.replicas.limits import Limits
from bridge.replicas.process import FailedFrameError, WorkerEndedError, last_words, started

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bridge.replicas.comparing import Compared, Comparison, NotCompared
    from bridge.stores.checkpoints import Seed

KEPT: Final = 2
"""Workers that stay when nothing is asked."""

STARTING: Final = 60.0
"""Seconds that a worker may take to come up."""

_RECEIVED: Final = 2**18
_STORE: Final = "kept"


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, and what it may take.

    Args:
        text: of a SELECT or ASK.
        beside: for each answer the further statements that are there for it, in N-Quads, a line each.
        limits: of all answers together.
    """

    text: str
    beside: Sequence[str]
    limits: Limits


class DirectWorker:
    """A worker; made and given out by `DirectWorkers`.

    Attributes:
        keeps: what its statements are those of, as long as that lives; None: it keeps none.
        spent: whether it has grown, and is better replaced.
        took: seconds that it was on a processor for what it was asked last.
        at: which of the queries that are compared it is at.
    """

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._errors = TemporaryFile()  # noqa: SIM115 - it is the worker's as long as that lives
        self._frames = FrameReader()
        self.keeps: ReferenceType[Any] | None = None
        self.spent = False
        self.took = 0.0
        self.at = 0
        self._ended: WorkerEndedError | None = None
        try:
            self._process = started(theirs, self._errors)
        except OSError:
            self._socket.close()
            self._errors.close()
            raise
        finally:
            theirs.close()
        self._received(monotonic() + STARTING)

    @property
    def ended(self) -> bool:
        """Whether it is gone, be it that somebody else ended it."""
        if self._ended is None and self._process.poll() is not None:
            self.end()
        return self._ended is not None

    @property
    def keeping(self) -> bool:
        """Whether it keeps what may yet be asked for."""
        return self.keeps is not None and self.keeps() is not None

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def keep(self, what: ReferenceType[Any], pieces: Iterator[bytes], limits: Limits) -> None:
        """Has it keep statements, piece by piece in N-Quads, for queries to come; each piece within limits.

        Raises as `answers` does.
        """
        self.keeps = None
        anew = True
        for piece in pieces:
            self._ask({"store": _STORE, "anew": anew, "text": "", "beside": []}, piece, limits)
            anew = False
        self.keeps = what

    def answers(self, asked: Asked, quads: bytes | None) -> list[bytes]:
        """What a query answers, in the JSON format of SPARQL.

        Args:
            asked: the query.
            quads: the statements that it is asked of, in N-Quads, a line each; None: those that are kept.

        Raises:
            TimeoutError: it takes too long; the worker is gone.
            FailedFrameError: it cannot be evaluated, or answers too much.
            WorkerEndedError: the worker is gone, perhaps for want of memory.
        """
        head = {"store": _STORE if quads is None else None, "anew": False, "text": asked.text, "beside": asked.beside}
        came = self._ask(head, quads or b"", asked.limits)
        at, found = 0, list[bytes]()
        for length in came.head["lengths"]:
            found.append(came.body[at : at + length])
            at += length
        return found

    def open(self, store: str, seed: Seed) -> None:
        """Has it make a store from a seed, in the place of the one it had of that name. Raises as `answers` does."""
        path = None if seed.path is None else str(seed.path)
        self._send(frame(Kind.OPEN, {"store": store, "path": path}, seed.text), STARTING)
        self._received(monotonic() + STARTING)

    def bring_up(self, store: str, removed: str, added: str) -> None:
        """Has a store lose and gain text, before whatever is asked of it later. Raises as `answers` does."""
        self._send(frame(Kind.DELTA, {"store": store, "steps": [[removed, added]]}), STARTING)

    def forget(self, store: str) -> None:
        """Has it let go of a store. Raises as `answers` does."""
        self._send(frame(Kind.FORGET, {"store": store}), STARTING)
        self._received(monotonic() + STARTING)

    def compare(
        self,
        store: str | None,
        before: tuple[str, str],
        after: tuple[str, str],
        asked: Sequence[Comparison],
        limits: Limits,
        *,
        rows: int = 0,
        answered: list[Compared | NotCompared] | None = None,
    ) -> list[Compared | NotCompared]:
        """How the answers of queries differ between two states of a store.

        Args:
            store: which; None: one that has nothing.
            before: what the store is to be without at the first state, and what it is to have besides, in N-Quads.
            after: the same for the second, beyond that.
            asked: the queries.
            limits: of each answer.
            rows: how many rows of each kind a sample has at most.
            answered: gets what is answered, so that as much of it is there where what follows is raised.

        Raises:
            TimeoutError: the query after those that are answered takes too long at one of the states; the worker is
                gone.
            WorkerEndedError: the worker is gone, perhaps for want of memory for that query.
            FailedFrameError: the store cannot be used.
        """
        found: list[Compared | NotCompared] = [] if answered is None else answered
        queries = [each.told() for each in asked]
        head = {"store": store, "before": before, "after": after, "queries": queries, "rows": rows}
        self._send(frame(Kind.COMPARE, {**head, "memory": limits.memory, "result": limits.result}), STARTING)
        self.at = 0
        for number in range(2 * len(asked)):
            self.at = number % len(asked)
            came = self._received(monotonic() + limits.seconds)
            if came.kind is Kind.ERROR:
                raise FailedFrameError(came.head)
            if number >= len(asked):
                found.append(compared(came.head))
        last = self._received(monotonic() + STARTING)
        if last.kind is Kind.ERROR:
            raise FailedFrameError(last.head)
        self.spent, self.took = self.spent or bool(last.head.get("spent")), last.head["took"]
        return found

    def entail(self, head: Mapping[str, Any], body: bytes, limits: Limits) -> Frame:
        """Has it do something with a closure (`bridge.entailment.asking`). Raises as `answers` does."""
        return self._ask(head, body, limits, Kind.ENTAIL)

    def end(self) -> WorkerEndedError:
        """Kills it, leaves nothing of it, and answers how it ended. It may be called again."""
        if self._ended is None:
            self._socket.close()
            self._process.kill()
            self._ended = last_words(self._process.wait(), self._errors)
        return self._ended

    def _ask(self, head: Mapping[str, Any], body: bytes, limits: Limits, kind: Kind = Kind.ASK) -> Frame:
        until = monotonic() + limits.seconds
        asked = frame(kind, {**head, "memory": limits.memory, "result": limits.result}, body)
        self._send(asked, limits.seconds)
        came = self._received(until)
        if came.kind is Kind.ERROR:
            raise FailedFrameError(came.head)
        self.spent, self.took = self.spent or bool(came.head.get("spent")), came.head["took"]
        return came

    def _send(self, data: bytes, seconds: float) -> None:
        try:
            self._socket.settimeout(seconds)
            self._socket.sendall(data)
        except OSError as error:
            raise self._lost(error) from error

    def _received(self, until: float) -> Frame:
        """The next frame; without one the worker is ended."""
        data = b""
        try:
            while True:
                for came in self._frames.feed(data):
                    return came  # what came with it is kept for the next call
                self._socket.settimeout(max(0.001, until - monotonic()))
                data = self._socket.recv(_RECEIVED)
                if not data:
                    raise ConnectionResetError  # it is gone
        except OSError as error:
            raise self._lost(error) from error
        except BaseException:
            self.end()  # whatever it says next would be taken for something else
            raise

    def _lost(self, error: OSError) -> Exception:
        """It did not answer: it is ended, and this is why."""
        how = self.end()
        return error if isinstance(error, TimeoutError) else how


class DirectWorkers:
    """Workers, started as they are needed; safe from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._idle: list[DirectWorker] = []

    @contextmanager
    def one(self, keeping: ReferenceType[Any] | None = None) -> Iterator[DirectWorker]:
        """A worker that nobody else has meanwhile.

        Args:
            keeping: one that keeps these statements is preferred; else one that keeps none.

        Raises:
            WorkerEndedError: it does not come up.
            OSError: it cannot be started.
        """
        with self._lock:
            self._idle = [each for each in self._idle if not each.ended]
            fitting = sorted(self._idle, key=lambda each: (each.keeps is not keeping, each.keeps is not None))
            if fitting:
                self._idle.remove(fitting[0])
        worker = fitting[0] if fitting else DirectWorker()
        try:
            yield worker
        finally:
            self._take_back(worker)

    def _take_back(self, worker: DirectWorker) -> None:
        with self._lock:
            self._idle.append(worker)
            going = [each for each in self._idle if each.ended or (each.spent and not each.keeping)]
            going += [each for each in self._idle if each not in going][:-KEPT]
            self._idle = [each for each in self._idle if each not in going]
        for each in going:
            each.end()

    def close(self) -> None:
        """Ends those that have nothing to do."""
        with self._lock:
            idle, self._idle = self._idle, []
        for each in idle:
            each.end()


WORKERS: Final = DirectWorkers()
"""Those of this process."""

atexit.register(WORKERS.close)
