"""Waiting in the event loop for what another thread answers.

Rules
-----
* The thread wakes the loop once, and does nothing else for whoever waits: `asyncio.wrap_future` has each answer copied
  from one future to another.
* Whoever gives up waiting takes back what was asked, if it was not begun.

Example
-------
::

    outcome = await answer_of(base.submit(submission))
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


async def answer_of(future: Future[T]) -> T:
    """The answer, once it is there. Raises the error that is the answer."""
    loop = asyncio.get_running_loop()
    answered = loop.create_future()

    def wake() -> None:
        if not answered.done():
            answered.set_result(None)

    def is_there(_: Future[T]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(wake)

    future.add_done_callback(is_there)
    try:
        await answered
    except asyncio.CancelledError:
        future.cancel()
        raise
    return future.result()
