"""`muniment dump`: everything that a base holds, with its history, as one TriG document.

Rules
-----
* Read from the ledger, as of its last commit; it works while a server runs on the same folder.
* For stores of RDF 1.2, and for whoever wants to leave: nothing of it is Muniment's alone. To bring a base back, take a
  backup: it has the log, the certificates and the key, which a dump has not.

Example
-------
::

    muniment dump --data data --output everything.trig
"""

from __future__ import annotations

from contextlib import closing

from api.commands.options import LEDGER, Data, Output, require_base
from api.commands.output import written_to
from api.commands.progress import waiting


def dump(data: Data, output: Output = None) -> int:
    """Write everything that a base holds as TriG: what is true now, and all that was ever believed, with evidence.

    Works while a server runs on the same folder.

    Example: muniment dump --data data --output everything.trig
    """
    from bridge.host import SystemClock
    from bridge.ledger.sqlite import SqliteLedger
    from bridge.upkeep.dumping import dump as pieces

    with closing(SqliteLedger.open(require_base(data) / LEDGER, SystemClock())) as ledger:
        ledger.require_sound()
        with ledger.reading() as view, written_to(output) as file, waiting("dumping"):
            for piece in pieces(view, ledger.base_id()):
                file.write(piece)
    return 0
