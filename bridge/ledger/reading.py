"""Reading the ledger: what a view answers.

Rules
-----
* A view is one state throughout: the last one committed when it first read, or that of an open transaction, its own
  writes included.
* Streams are read from the ledger as they are consumed: do not write while one is open, and read within the context.
* Each idea of the port has a room of its own in `bridge.ledger.views`.

Example
-------
::

    with ledger.reading() as view:
        for fact in view.believed(subject=Iri("urn:a")):
            ...
"""

from __future__ import annotations

from bridge.ledger.views.certificates import CertificatesReading
from bridge.ledger.views.facts import FactsReading
from bridge.ledger.views.log import LogReading
from bridge.ledger.views.moments import MomentsReading
from bridge.ledger.views.purges import PurgesReading
from bridge.ledger.views.recorded import RecordedReading


class SqliteView(FactsReading, MomentsReading, RecordedReading, CertificatesReading, PurgesReading, LogReading):
    """A consistent read; a `kernel.ports.ledger.LedgerView`."""
