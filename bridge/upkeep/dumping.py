"""Everything that a base holds as RDF: a TriG document of what its complete store has, made from the ledger.

Rules
-----
* What holds at the head and the clock stands in the graphs themselves, all that was ever believed in their history
  graphs, with evidence; rules, shapes and ontology too. It is RDF 1.2: history quotes statements in triple terms.
* It is one state: that of the ledger's last commit when the dump began. A base may be served meanwhile.
* It is read and written in batches: memory does not grow with the base.
* It says first, in comments, of which base and state it is, and at the end that it is whole: what has no such line was
  cut off.

Loaded into an empty store of RDF 1.2, it gives what the complete store holds, quad for quad.

Example
-------
::

    with ledger.reading() as view:
        for piece in dump(view, ledger.base_id()):
            file.write(piece)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bridge.stores.projections import Projection, added_text
from certificates.ids import urn
from kernel.time.instants import BEGINNING, print_instant
from kernel.writing.projection import delta_between

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from kernel.ports.ledger import LedgerView

WHOLE: Final = "# whole"
"""How the last line begins."""


def dump(view: LedgerView, base: UUID) -> Iterator[bytes]:
    """The document, in pieces.

    Args:
        view: the ledger, read while pieces are drawn.
        base: whose it is.

    Raises:
        LedgerUnavailable: it cannot be read.
    """
    head = view.head()
    at = "the beginning" if head.position is None else f"head:{head.position}"
    yield f"# Everything in {urn(base)} as of {at}, valid at {print_instant(head.clock)}\n".encode()
    blocks = 0
    for delta in delta_between(view, None, BEGINNING):
        text = added_text(Projection.COMPLETE, delta)
        blocks += text.count("\nGRAPH ") + text.startswith("GRAPH ")
        yield text.encode()
    yield f"{WHOLE}: {blocks} blocks\n".encode()
