"""A worker: a process with replicas of the stores, which answers one query at a time.

Rules
-----
* It starts with nothing but a socket, and does what the frames on it say, in their order. It opens no ledger and
  decides nothing: which graphs a query reads was settled before.
* A store of its own, in a directory that no other process has open, or in memory. What a store is brought up by is
  applied before the next query is answered, because it comes before it.
* A query may take so much more memory than the process has: beyond, the allocator ends the process (`RLIMIT_AS`).
  Without `/proc` nobody knows what it has, and memory is not limited.
* The WHERE of an update may be asked with statements laid over a store. They are off again before the answer ends; a
  store that could not be put back ends the process.
* A query can bring along the statements that it is asked of, and then others again and again that are there for one
  answer: that is how queries of shapes are asked. Its answers come together.
* Queries may be asked at two states of a store, each laid over it, and their answers compared. Each answer, as soon as
  it is there, is said to be; of some it is remembered, as much as goes into `REMEMBERED`.
* What the allocator keeps of a query is counted too. Once that is `SPENT`, the worker says so with its answer.
* An answer goes out in pieces while it is made. Of formats of which a part would pass for the whole, and of those that
  may turn out not to be able to carry it, it is said that nobody may have any of it before all is there.
* It ends when the other end of the socket is closed, whatever it is doing: no worker outlives its service.

Example
-------
::

    python -P -m bridge.replicas.worker 5        # a socket is inherited as file descriptor 5
"""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import sys
from collections import OrderedDict, defaultdict
from contextlib import contextmanager, nullcontext
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from threading import Thread
from time import process_time
from typing import IO, TYPE_CHECKING, Any, Final, cast

import pyoxigraph as ox

from bridge.entailment.asking import done
from bridge.entailment.closures import Closures
from bridge.replicas.comparing import answer_lines, dataset_told, difference
from bridge.replicas.frames import CHUNK_SIZE, Frame, FrameReader, Kind, frame
from bridge.replicas.rows import encode_sample
from bridge.slices.stores import sliced_store
from bridge.sparql.dataset import Dataset
from bridge.sparql.query import start
from bridge.sparql.results import FORMATS, serialise_to
from bridge.sparql.sample import sample
from bridge.stores.overlay import laid_over
from bridge.stores.transactions import Backlog
from kernel.entailment.closure import TooMuchFollowsError
from kernel.errors import CallerError
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from bridge.sparql.results import Format

SPENT: Final = 128 * 2**20
"""Bytes by which a worker grows at most before it is better replaced."""

REMEMBERED: Final = 64 * 2**20
"""Bytes of answers that a worker remembers."""

_RECEIVED: Final = 2**20
_CACHED: Final = 256
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_STATM: Final = Path("/proc/self/statm")


class Worker:
    """Does what comes over a socket, until nothing comes any more."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._memory = _Memory()
        self._stores: dict[str, ox.Store] = {}
        self._backlogs: defaultdict[str, Backlog] = defaultdict(Backlog)
        self._answers = _Answers(REMEMBERED)
        self._closures = Closures()

    def run(self) -> None:
        """Serves the socket to its end."""
        frames = FrameReader()
        self._send(frame(Kind.TAKEN, {}))
        while data := self._connection.recv(_RECEIVED):
            for each in frames.feed(data):
                self._do(each)

    def _do(self, asked: Frame) -> None:
        head = asked.head
        match asked.kind:
            case Kind.OPEN:
                self._open(head["store"], head["path"], asked.body)
            case Kind.DELTA:
                store, backlog = self._stores[head["store"]], self._backlogs[head["store"]]
                for removed, added in head["steps"]:
                    backlog.write(store, removed, added)
                backlog.write_out(store)
            case Kind.FORGET:
                self._stores.pop(head["store"], None)
                self._closures.forget(head["store"])
                self._send(frame(Kind.TAKEN, {}))
            case Kind.QUERY:
                self._within_limits(partial(self._answer, head, asked.body), head["memory"])
            case Kind.ASK:
                self._within_limits(partial(self._ask, head, asked.body), head["memory"])
            case Kind.COMPARE:
                self._within_limits(partial(self._compare, head), head["memory"])
            case Kind.ENTAIL:
                self._within_limits(partial(self._entail, head, asked.body), head["memory"])
            case _:
                raise ValueError(f"nobody sends {asked.kind.name} to a worker")

    def _open(self, name: str, path: str | None, quads: bytes) -> None:
        self._stores.pop(name, None)
        store = self._stores[name] = ox.Store() if path is None else ox.Store(path)
        if quads:
            store.bulk_load(quads, ox.RdfFormat.N_QUADS)
        self._send(frame(Kind.TAKEN, {}))

    def _within_limits(self, work: Callable[[], None], memory: int) -> None:
        try:
            with self._memory.limited(memory):
                work()
        except MemoryError:
            self._fail("memory")
        except _TooLarge:
            self._fail("size")
        except SyntaxError as error:
            self._fail("syntax", str(error))
        except CallerError as error:
            self._fail("refused", error.message, code=error.code, remedy=error.remedy, where=error.where)
        except (RuntimeError, ValueError) as error:
            self._fail("evaluation", str(error))
        except OSError as error:
            self._fail("store", str(error))

    def _answer(self, asked: Mapping[str, Any], quads: bytes) -> None:
        default, named = (_graphs(tuple(asked[each])) for each in ("default", "named"))
        dataset = Dataset(complete=False, union=asked["union"], default_graphs=default, named_graphs=named)
        store = sliced_store(quads) if asked["store"] is None else self._stores[asked["store"]]
        if asked["rows"] is not None:
            whole = encode_sample(sample(start(store, asked["text"], dataset, asked["base"]), asked["rows"]))
            if len(whole) > asked["result"]:
                raise _TooLarge
            self._send(frame(Kind.WHOLE, {}, whole))
            return
        form, laid = FORMATS[asked["format"]], asked["laid"]
        answer = _Streamed(self._connection, asked["result"], held=_made_whole(form))
        with nullcontext() if laid is None else laid_over(store, *map(str.encode, laid)):
            results = start(store, asked["text"], dataset, asked["base"])
            serialise_to(results, form, answer, restore=asked["restore"])
            del results  # what it holds of the store goes before the next delta comes
        answer.finish({"spent": True} if self._memory.spent() else {})

    def _ask(self, asked: Mapping[str, Any], quads: bytes) -> None:
        began, name, left = process_time(), asked["store"], asked["result"]
        store = ox.Store() if name is None or asked["anew"] else self._stores[name]
        if name is not None:
            self._stores[name] = store
        store.extend(_quads(quads))
        answers: list[bytes] = []
        for each in asked["beside"]:
            answers.append(_with_beside(store, asked["text"], _quads(each.encode()), left))
            left -= len(answers[-1])
        del store
        last = {"spent": True} if self._memory.spent() else {}
        head = {"lengths": [*map(len, answers)], "took": process_time() - began, **last}
        self._send(frame(Kind.WHOLE, head, b"".join(answers)))

    def _compare(self, asked: Mapping[str, Any]) -> None:
        """Answers each query at the first state, and then each at the second."""
        began, store = process_time(), ox.Store() if asked["store"] is None else self._stores[asked["store"]]
        first, second = ([text.encode() for text in asked[each]] for each in ("before", "after"))
        queries, limit, answers = asked["queries"], asked["result"], list[bytes | _Failed]()
        with laid_over(store, *first):
            for query in queries:
                known = self._answers.get(query["known"])
                answers.append(_answered(store, query["text"], query["before"], limit) if known is None else known)
                self._send(frame(Kind.PART, {}))
            with laid_over(store, *second):
                for query, before in zip(queries, answers, strict=True):
                    failed = isinstance(before, _Failed)
                    after = before if failed else _answered(store, query["text"], query["after"], limit)
                    self._send(frame(Kind.PART, self._compared(query, before, after, asked["rows"])))
        last = {"spent": True} if self._memory.spent() else {}
        self._send(frame(Kind.WHOLE, {"took": process_time() - began, **last}))

    def _entail(self, asked: Mapping[str, Any], body: bytes) -> None:
        began = process_time()
        try:
            told, found = done(self._closures, asked, body, self._stores)
        except TooMuchFollowsError:
            self._fail("follows")
            return
        self._send(frame(Kind.WHOLE, {**told, "took": process_time() - began}, found))

    def _compared(
        self, query: Mapping[str, Any], before: bytes | _Failed, after: bytes | _Failed, rows: int
    ) -> Mapping[str, object]:
        """What to say of two answers, which are remembered."""
        if isinstance(before, _Failed):
            return before.told
        if isinstance(after, _Failed):
            return after.told
        self._answers.keep(query["known"], before)
        self._answers.keep(query["keep"], after)
        return difference(before, after, rows)

    def _fail(self, what: str, message: str = "", **more: str | None) -> None:
        self._send(frame(Kind.ERROR, {"what": what, "message": message, **more}))

    def _send(self, data: bytes) -> None:
        self._connection.sendall(data)


class _Failed:
    """There is no answer, and what is told of it."""

    def __init__(self, what: str, message: str = "") -> None:
        self.told = {"what": what, "message": message}


def _answered(store: ox.Store, text: str, told: Mapping[str, Any], limit: int) -> bytes | _Failed:
    """The answer of a query that is compared, or why there is none."""
    union, default, named = dataset_told(told)
    dataset = Dataset(complete=False, union=union, default_graphs=_graphs(default), named_graphs=_graphs(named))
    spool = _Spooled(limit)
    try:
        answer_lines(store, text, dataset, cast("IO[bytes]", spool))
        return spool.bytes()
    except MemoryError:
        return _Failed("memory")
    except _TooLarge:
        return _Failed("size")
    except SyntaxError as error:
        return _Failed("syntax", str(error))
    except (RuntimeError, ValueError) as error:
        return _Failed("evaluation", str(error))


class _Answers:
    """Answers by name, the last used ones, up to so many bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def get(self, name: str | None) -> bytes | None:
        """What is kept under a name."""
        if name is None or name not in self._kept:
            return None
        self._kept.move_to_end(name)
        return self._kept[name]

    def keep(self, name: str | None, answer: bytes) -> None:
        """Keeps an answer, in the place of those that were used least recently."""
        if name is None or name in self._kept:
            return
        self._kept[name] = answer
        self._size += len(answer)
        while self._size > self._most:
            self._size -= len(self._kept.popitem(last=False)[1])


class _TooLarge(Exception):
    """An answer beyond its limit."""


class _Streamed:
    """An answer that is sent as it is made, perhaps to be held until its end; one that is small is sent whole."""

    def __init__(self, connection: socket.socket, limit: int, *, held: bool) -> None:
        self._connection = connection
        self._head = {"held": True} if held else {}
        self._left = limit
        self._pending = bytearray()
        self._begun = False

    def write(self, data: bytes) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise _TooLarge
        self._pending += data
        if len(self._pending) >= CHUNK_SIZE:
            kind, head = (Kind.PART, {}) if self._begun else (Kind.BEGIN, self._head)
            self._connection.sendall(frame(kind, head, bytes(self._pending)))
            self._begun = True
            self._pending.clear()
        return len(data)

    def flush(self) -> None:
        """Nothing: what is small is sent in one piece."""

    def finish(self, last: Mapping[str, bool]) -> None:
        """Sends the rest, with what the last frame is to say."""
        self._connection.sendall(frame(Kind.END if self._begun else Kind.WHOLE, last, bytes(self._pending)))


class _Spooled:
    """An answer that is whole before any of it is sent."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._whole = BytesIO()

    def write(self, data: bytes) -> int:
        if self._whole.tell() + len(data) > self._limit:
            raise _TooLarge
        return self._whole.write(data)

    def flush(self) -> None:
        """Nothing: it is sent at the end."""

    def bytes(self) -> bytes:
        """All of it so far."""
        return self._whole.getvalue()


def _with_beside(store: ox.Store, text: str, beside: Sequence[ox.Quad], limit: int) -> bytes:
    """What a query answers while further statements are in a store, which has none of them before."""
    store.extend(beside)
    try:
        answer = _Spooled(limit)
        results = cast("ox.QuerySolutions | ox.QueryBoolean", store.query(text))
        results.serialize(cast("IO[bytes]", answer), format=ox.QueryResultsFormat.JSON)
        del results
        return answer.bytes()
    finally:
        for quad in beside:
            store.remove(quad)


def _quads(text: bytes) -> list[ox.Quad]:
    """Statements one a line; blank nodes keep their labels, as they would not if the store read them."""
    return list(ox.parse(text, ox.RdfFormat.N_QUADS, lenient=True))


def _made_whole(form: Format) -> bool:
    return form.parses_in_part or form.may_not_carry


@lru_cache(maxsize=_CACHED)
def _graphs(names: tuple[str, ...]) -> tuple[Iri, ...]:
    return tuple(map(Iri, names))


class _Memory:
    """The address space of this process."""

    def __init__(self) -> None:
        self._statm = os.open(_STATM, os.O_RDONLY) if _STATM.exists() else None
        self._at_first: int | None = None

    @contextmanager
    def limited(self, allowed: int) -> Iterator[None]:
        """Within it the process may grow by so many bytes."""
        has = self._size()
        if has is None:
            yield
            return
        if self._at_first is None:
            self._at_first = has
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = has + allowed if most == resource.RLIM_INFINITY else min(has + allowed, most)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (most, most))

    def spent(self) -> bool:
        """Whether it has grown much since the first query."""
        has = self._size()
        return has is not None and self._at_first is not None and has - self._at_first > SPENT

    def _size(self) -> int | None:
        """Bytes that are mapped; None where the system does not tell."""
        return None if self._statm is None else int(os.pread(self._statm, 100, 0).split()[0]) * _PAGE


def _end_with(connection: socket.socket) -> None:
    """Ends the process once the other end is closed, also amid a query: the engine lets other threads run."""
    watched = select.poll()
    watched.register(connection, 0)
    while not any(event & (select.POLLHUP | select.POLLERR) for _, event in watched.poll()):
        pass
    os._exit(0)


def main() -> None:
    """Serves the socket that the command line names."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's: the service ends us
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # running out of memory is no defect to look into
    connection = socket.socket(fileno=int(sys.argv[1]))
    Thread(target=_end_with, args=(connection,), daemon=True).start()
    try:
        Worker(connection).run()
    except OSError:  # the service has hung up
        os._exit(0)


if __name__ == "__main__":
    main()
