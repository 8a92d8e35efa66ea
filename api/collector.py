"""The cyclic garbage collector, in a process that serves or loads.

Rules
-----
* What is there before the work begins stays as long as the process, and is not looked through again (`gc.freeze`): a
  full collection lets nobody else run, and modules and routes are most of what it would look through.
* Young objects are looked through when there are `YOUNG` of them, not 700: facts and findings come by the ten thousand,
  in no cycles, and a large load had its whole base looked through again and again.

Example
-------
::

    relieve()            # before `server.run`, or before a load session
"""

from __future__ import annotations

import gc
from typing import Final

YOUNG: Final = 20_000
"""Objects that are allocated, less those that are freed, before the youngest are looked through."""


def relieve() -> None:
    """Has the collector leave alone what is there, and look through what comes less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
