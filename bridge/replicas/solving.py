"""The WHERE of an update, evaluated by a worker within its caller's limits.

Rules
-----
* A worker is leased for the whole of an update, and its time limit is for all of its operations together, the filling
  in of their templates included. Memory and size are limited each time.
* The worker lays over its replica what the operations before came to, and takes it off again before it does anything
  else. One that is killed meanwhile took its replica with it.
* Whoever asks is a thread beside the event loop that the worker belongs to. It always gets an answer, or an error.
* Solutions wait in a file without a name, beyond a megabyte, and are read one by one. Who reads them takes no value of
  more than some 8 MB as JSON, which a query can make where a base holds none: that is too large an answer.

Example
-------
::

    async with pool.lease(principal.id, limits) as lease:
        solver = LeasedSolver(lease)
        evaluated = await in_a_thread(lambda: updates.evaluate(update, solver))
"""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError
from io import BytesIO
from math import inf
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Final, cast

import pyoxigraph as ox

from bridge.reading.reader import Question
from bridge.sparql.results import RESULT_SETS
from bridge.sparql.scan import runnable
from bridge.sparql.update.solving import Solved
from kernel.errors import QueryLimit, ShuttingDown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bridge.replicas.answers import Answer
    from bridge.replicas.lease import Lease
    from bridge.sparql.update.solving import Asked

_FORM: Final = RESULT_SETS[0]
_IN_MEMORY: Final = 2**20
_LOOKED: Final = 1_024
"""Rows after which it is looked whether there is time left."""

_MARGIN: Final = 10.0
"""Seconds beyond the limit after which the event loop, which should have ended the worker, is given up."""


class LeasedSolver:
    """Implements `Solver`. Made on the event loop; `solve` is for any other thread, one call at a time.

    Args:
        lease: of the worker that is asked.
    """

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._loop = asyncio.get_running_loop()

    def solve(self, asked: Asked) -> Solved:
        """As `Solver.solve`. Raises `ShuttingDown` where the service closes."""
        left = self._lease.left
        coming = self._answered(asked, runnable(asked.text, asked.now))  # which may be long, and so is settled here
        try:
            answer = asyncio.run_coroutine_threadsafe(coming, self._loop)
        except RuntimeError as error:  # the loop is closed
            coming.close()
            raise _closing() from error
        try:
            data = answer.result(None if left == inf else left + _MARGIN)
        except (CancelledError, TimeoutError) as error:
            answer.cancel()
            raise _closing() from error
        found = ox.parse_query_results(data, ox.QueryResultsFormat.JSON)
        solutions = cast("ox.QuerySolutions", found)  # of a SELECT, as any WHERE is
        return Solved(tuple(each.value for each in solutions.variables), self._rows(solutions, data))

    def _rows(self, solutions: ox.QuerySolutions, data: IO[bytes]) -> Iterator[ox.QuerySolution]:
        with data:
            try:
                for number, row in enumerate(solutions):
                    if number % _LOOKED == 0:
                        self._lease.left  # noqa: B018 - it raises at none
                    yield row
            except MemoryError as error:  # so the reader says that its buffer is full
                raise _too_large() from error

    async def _answered(self, asked: Asked, text: str) -> IO[bytes]:
        """The solutions as JSON, whole, in memory or in a file."""
        answer = await self._lease.answer(Question(asked.text, text, asked.dataset, _FORM, None, laid=asked.laid))
        try:
            asked.require_at(answer.head, answer.valid_at)
            if answer.whole:
                return BytesIO(answer.first)
            return await _filed(answer)
        finally:
            answer.close()


async def _filed(answer: Answer) -> IO[bytes]:
    """An answer that comes piece by piece, in a file that whoever reads it closes."""
    file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed here only where it does not come to its end
    try:
        async for chunk in answer.chunks():
            file.write(chunk)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return cast("IO[bytes]", file)


def _too_large() -> QueryLimit:
    return QueryLimit(
        "a WHERE finds a value that is larger than can be taken into an update",
        remedy="join shorter ones: a literal that is written has 1,048,576 characters at most",
        of="size",
    )


def _closing() -> ShuttingDown:
    return ShuttingDown("the service is closing", remedy="send the update again once it is served")
