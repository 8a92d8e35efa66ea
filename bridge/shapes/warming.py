"""What judging by shapes needs is made ready before the first write asks for it.

Rules
-----
* pySHACL takes a second or two to import. A base that has shapes will need it; one that has none is spared it.
* It happens beside everything else and changes nothing: whoever needs it earlier waits for the same import. A base that
  is closed meanwhile ends it.

Example
-------
::

    warm(base.ledger).join()
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

from kernel.errors import MunimentError
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from kernel.ports import Ledger


def warm(ledger: Ledger) -> Thread:
    """Begins to import what the shapes of a base will need; the thread ends when that is there."""
    thread = Thread(target=_import, args=(ledger,), name="warming", daemon=True)
    thread.start()
    return thread


def _import(ledger: Ledger) -> None:
    with suppress(MunimentError), ledger.reading() as view:
        if next(iter(view.believed(graph=SHAPES_GRAPH)), None) is not None:
            import_module("bridge.shapes.engine")
