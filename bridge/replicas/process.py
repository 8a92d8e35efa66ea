"""The service's side of a worker: a process that is started, asked, and ended.

Rules
-----
* Started anew, never forked off: a copy of a process that has Oxigraph open hangs. It inherits one end of a socket
  pair, and a file without a name for what it says to standard error.
* Requests go one after another; each is over when its answer is whole, or failed.
* Whatever becomes of the process, whoever waits for it is told: `ended` says why.

Example
-------
::

    worker = await WorkerProcess.start()
    await worker.open("current", seed)
    answering = worker.query({"store": "current", …})
    await answering.begun
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Final, Self, cast

from bridge.replicas.frames import Frame, FrameReader, Kind, frame
from bridge.replicas.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.stores.checkpoints import Seed

_SAID: Final = 2_000
"""Bytes of a worker's last words that are looked at."""

# Each arena of the allocator reserves address space, which counts against the limit, for threads that do little here.
_ENVIRONMENT: Final = {"MALLOC_ARENA_MAX": "2", "RUST_BACKTRACE": "0"}


class WorkerEndedError(Exception):
    """A worker is gone.

    Args:
        status: its exit status, as `subprocess` has it.
        said: the last that it wrote to standard error.
    """

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"a worker ended with status {status}: {said or 'it said nothing'}")
        self.status = status
        self.said = said

    @property
    def out_of_memory(self) -> bool:
        """Whether it ended because it was refused memory."""
        return "memory allocation of" in self.said or "bad_alloc" in self.said


class FailedFrameError(Exception):
    """A worker answered a query with an error; `head` says which."""

    def __init__(self, head: Mapping[str, Any]) -> None:
        super().__init__(head["what"])
        self.head = head


class Answering:
    """The answer to one query, as it comes.

    Attributes:
        begun: done once somebody may have the first of it, which of one that is held is at its end; its result says
            whether that is all.
        body: the whole of it, or else what came first.
        length: how long it is in all, where that is known once it has begun.
        rest: what comes after that.
        spent: whether the worker has grown by it, and is better replaced.
    """

    def __init__(self) -> None:
        self.begun: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.body = b""
        self.length: int | None = None
        self.rest = Spool()
        self.spent = False
        self._held = False

    def take(self, came: Frame) -> None:
        """The next frame of it."""
        match came.kind:
            case Kind.WHOLE:
                self.body = came.body
                self._end(came)
            case Kind.BEGIN:
                self.body = came.body
                self._held = bool(came.head.get("held"))
                if not self._held and not self.begun.done():
                    self.begun.set_result(False)
            case Kind.PART:
                self.rest.put(came.body)
            case Kind.END:
                self.rest.put(came.body)
                self._end(came)
            case _:
                self.fail(FailedFrameError(came.head))

    def fail(self, error: Exception) -> None:
        """Ends it before it is whole."""
        if self.over.done():
            return
        if self.begun.done():
            self.rest.finish(error)
        else:
            self.rest.close()
            self.begun.set_exception(error)
        self.over.set_result(None)

    def _end(self, came: Frame) -> None:
        self.spent = bool(came.head.get("spent"))
        self.rest.finish()
        if self._held:
            self.length = len(self.body) + self.rest.size
        if not self.begun.done():
            self.begun.set_result(not self._held)
        self.over.set_result(None)


class WorkerProcess(asyncio.Protocol):
    """One worker; made by `start`, for one event loop."""

    def __init__(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors
        self._frames = FrameReader()
        self._answering: Answering | None = None
        self._taken: asyncio.Future[None] | None = None
        self._transport: asyncio.Transport | None = None
        self.ended: asyncio.Future[WorkerEndedError] = asyncio.get_running_loop().create_future()

    @classmethod
    async def start(cls) -> Self:
        """Starts a worker, and answers once it takes requests. Raises `WorkerEndedError`, or `OSError`."""
        ours, theirs = socket.socketpair()
        loop = asyncio.get_running_loop()
        errors = TemporaryFile()  # noqa: SIM115 - it is the worker's as long as that lives
        try:
            # In this thread, which stays: nothing is forked, and the call takes a millisecond.
            process = started(theirs, errors)
        except OSError:
            ours.close()
            errors.close()
            raise
        finally:
            theirs.close()
        worker = cls(process, errors)
        worker._taken = loop.create_future()
        ours.setblocking(False)
        try:
            await loop.create_connection(lambda: worker, sock=ours)
            await worker._taken
        except BaseException:
            worker.kill()
            if worker._transport is not None:
                await worker.buried()
            raise
        return worker

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def gone(self) -> bool:
        """Whether its end of the socket is closed."""
        return self._transport is None or self._transport.is_closing()

    async def open(self, store: str, seed: Seed) -> None:
        """Has it make a store from a seed, in the place of the one it had of that name."""
        path = None if seed.path is None else str(seed.path)
        await self._acknowledged(frame(Kind.OPEN, {"store": store, "path": path}, seed.text))

    def bring_up(self, store: str, steps: Sequence[tuple[str, str]]) -> None:
        """Has a store lose and gain text, before whatever is asked of it later."""
        self._send(frame(Kind.DELTA, {"store": store, "steps": steps}))

    async def forget(self, store: str) -> None:
        """Has it let go of a store."""
        await self._acknowledged(frame(Kind.FORGET, {"store": store}))

    def query(self, asked: Mapping[str, Any], quads: bytes = b"") -> Answering:
        """Asks a query, while none is being answered; of quads that come with it, where it names no store."""
        answering = self._answering = Answering()
        if self.ended.done():
            answering.fail(self.ended.result())
        else:
            self._send(frame(Kind.QUERY, asked, quads))
        return answering

    async def buried(self) -> None:
        """Returns once it has ended, and nothing of it is left."""
        await asyncio.wait((self.ended,))

    def kill(self) -> None:
        """Ends it at once. It may be called again."""
        if self._process.poll() is None:
            self._process.kill()

    # --- what the event loop calls ------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is connected."""
        self._transport = cast("asyncio.Transport", transport)  # a socket's is one for both ways, in any loop

    def data_received(self, data: bytes) -> None:
        """Something came from the worker."""
        for came in self._frames.feed(data):
            self._take(came)

    def connection_lost(self, exc: Exception | None) -> None:
        """The worker is gone, or about to be."""
        del exc
        self.kill()
        asyncio.get_running_loop().run_in_executor(None, self._process.wait).add_done_callback(self._bury)

    def _take(self, came: Frame) -> None:
        if came.kind is Kind.TAKEN:
            if self._taken is not None and not self._taken.done():
                self._taken.set_result(None)
        elif self._answering is not None:
            self._answering.take(came)

    def _bury(self, waited: asyncio.Future[int]) -> None:
        error = last_words(waited.result(), self._errors)
        self.ended.set_result(error)
        if self._taken is not None and not self._taken.done():
            self._taken.set_exception(error)
        if self._answering is not None:
            self._answering.fail(error)

    async def _acknowledged(self, data: bytes) -> None:
        if self.ended.done():
            raise self.ended.result()
        self._taken = asyncio.get_running_loop().create_future()
        self._send(data)
        await self._taken

    def _send(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


def last_words(status: int, errors: IO[bytes]) -> WorkerEndedError:
    """How a worker ended, by its exit status and the file that it had for standard error, which is closed."""
    with errors:
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - _SAID))
        return WorkerEndedError(status, errors.read().decode(errors="replace").strip())


def started(theirs: socket.socket, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Starts a process that serves one end of a socket pair. Raises `OSError`."""
    number = theirs.fileno()
    return subprocess.Popen(  # noqa: S603 - our own interpreter, our own module
        [sys.executable, "-P", "-m", "bridge.replicas.worker", str(number)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        pass_fds=(number,),
        env=os.environ | _ENVIRONMENT,
    )
