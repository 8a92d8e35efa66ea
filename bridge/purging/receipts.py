"""The receipt of a purge: each place as erased, as one in which there was nothing, or as not reached.

Rules
-----
* What is derived from the ledger (stores, snapshots, files) is not reached until the second phase has ended, and erased
  from then on; what lies beyond the base never is.
* It is signed by the base's key of the moment. Its text is that of a Verifiable Credential (`certificates.receipt`).

Example
-------
::

    receipt = receipt_of(record, ReceiptStatus.PENDING, at, notary, access_log=False)
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from certificates.ids import uuid7
from certificates.receipt import Receipt, ReceiptStatus, secure
from kernel.time.instants import print_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernel.ports.purges import PurgeRecord
    from kernel.time.instants import Instant
    from kernel.writing.issuing import Notary

_DERIVED: Final = (
    "complete store", "current store", "checkpoints of stores", "snapshots", "replicas", "write-ahead log",
    "free pages",
)  # fmt: skip
_BEYOND: Final = ("backups", "delivered exports", "what callers keep", "other hosts")
GRAPH_STAYS: Final = "the graph of this name - purge it as a graph"
"""Where a node was purged and is a graph's name, too."""

_COUNTED: Final = {
    "facts": "facts",
    "evidence": "evidence",
    "planItems": "plan items",
    "findings": "findings",
    "impactRows": "impact",
    "comments": "comments",
    "rejected": "requests in review",
    "stagedLoads": "staged loads",
}


def receipt_of(record: PurgeRecord, status: ReceiptStatus, at: Instant, notary: Notary, *, access_log: bool) -> bytes:
    """The signed receipt of a purge that was carried out.

    Args:
        record: what was purged.
        status: whether the second phase has ended.
        at: the instant of the receipt.
        notary: signs it.
        access_log: whether one is kept, which no purge reaches.
    """
    report: Mapping[str, Any] = json.loads(record.report or b"{}")
    counts = {name: int(report[name]) for name in _COUNTED}
    erased = {_COUNTED[name] for name, number in counts.items() if number} | {"idempotency keys", "indexes"}
    absent = {_COUNTED[name] for name, number in counts.items() if not number}
    missed = set(_BEYOND)
    (erased if status is ReceiptStatus.COMPLETE else missed).update(_DERIVED)
    (missed if access_log else absent).add("access log")
    if not report["inWords"]:
        missed.add("texts that quote it")
    if report.get("graphStays"):
        missed.add(GRAPH_STAYS)
    missed.update(f"{place} - what quotes it there stays" for place in report.get("stays", ()))
    receipt = Receipt(
        id=uuid7(),
        issuer=notary.key.did,
        issued_at=print_instant(at),
        base=notary.base,
        certificate=record.id,
        status=status,
        facts=counts["facts"],
        items=sum(counts[name] for name in ("planItems", "findings", "impactRows", "comments")),
        digest=str(report["erased"]),
        erased=tuple(sorted(erased)),
        absent=tuple(sorted(absent)),
        not_reached=tuple(sorted(missed)),
    )
    return secure(receipt, notary.key)
