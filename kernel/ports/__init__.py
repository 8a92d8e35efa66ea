"""The ports: everything outside that the kernel needs, as small Protocols, and the records that pass through them.

Rules
-----
* Adapters live in `bridge`; each port has one abstract test case that every adapter passes.
* An adapter raises only errors of `kernel.errors`.
* Every read says what it guarantees.
* Whoever uses a port imports it from here; which room it is in is nobody's concern.
"""

from kernel.ports.checks import (
    Check,
    EntailmentChecker,
    Governance,
    ImpactChecker,
    Loaded,
    LoadImpactChecker,
    ShapeChecker,
)
from kernel.ports.facts import FactsView
from kernel.ports.heads import AppliedHead, Head
from kernel.ports.ledger import Ledger, LedgerView
from kernel.ports.log import LogView
from kernel.ports.moments import MomentsView
from kernel.ports.outside import HostClock, TermCanonicaliser
from kernel.ports.purges import Erasure, PurgeRecord, PurgeState, PurgesView
from kernel.ports.recorded import RecordedView
from kernel.ports.records import CertificateRecord, CertificateState, CertificatesView, DecisionRecord, IdempotencyEntry
from kernel.ports.stores import StoreDelta, Stores
from kernel.ports.texts import FactTexts, HistoryCounts, StatementTexts
from kernel.ports.writing import LedgerTransaction

__all__ = [
    "AppliedHead",
    "CertificateRecord",
    "CertificateState",
    "CertificatesView",
    "Check",
    "DecisionRecord",
    "EntailmentChecker",
    "Erasure",
    "FactTexts",
    "FactsView",
    "Governance",
    "Head",
    "HistoryCounts",
    "HostClock",
    "IdempotencyEntry",
    "ImpactChecker",
    "Ledger",
    "LedgerTransaction",
    "LedgerView",
    "LoadImpactChecker",
    "Loaded",
    "LogView",
    "MomentsView",
    "PurgeRecord",
    "PurgeState",
    "PurgesView",
    "RecordedView",
    "ShapeChecker",
    "StatementTexts",
    "StoreDelta",
    "Stores",
    "TermCanonicaliser",
]
