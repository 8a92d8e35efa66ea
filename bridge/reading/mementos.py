"""The states that a base has been in, one after the other, as those count them who ask by calendar and clock.

Rules
-----
* A state begins when a certificate is applied: with its head. Between two heads facts begin and end by themselves, so
  that any instant may be asked for; heads are what can be listed.
* A date has whole seconds, and means what stood at the end of that second. So of several heads within one second the
  last one is found by it, and every head that is listed by its second is found by that second.
* A date before the first state finds the first, one beyond the last the last (RFC 7089, section 4.5.2). The last began
  with the last head, or with the last boundary that the clock passed since.

Example
-------
::

    with ledger.reading() as view:
        found = state_at(view, Instant(second))     # None while there is no state
        around(view, found).previous                # the head before it
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernel.time.instants import SECOND, Instant

if TYPE_CHECKING:
    from kernel.ports.heads import AppliedHead
    from kernel.ports.ledger import LedgerView


@dataclass(frozen=True, slots=True)
class Around:
    """The heads around one: the first and the last of all, the one before it, and the one after it."""

    first: AppliedHead
    previous: AppliedHead | None
    following: AppliedHead | None
    last: AppliedHead


def state_at(view: LedgerView, second: Instant) -> Instant | None:
    """The instant at which a date finds the base; None where it has no state yet.

    Args:
        view: of the ledger.
        second: the first microsecond of the second that the date names.
    """
    head, first = view.head(), view.heads(limit=1)
    if head.instant is None or not first:
        return None
    last = max(head.instant, head.clock)
    return Instant(min(max(second + SECOND - 1, first[0].instant), last))


def around(view: LedgerView, instant: Instant) -> Around | None:
    """The heads around the one that stood at an instant; None where none did."""
    standing = view.head_at(instant)
    recorded = None if standing is None else view.recorded_in(standing)
    if recorded is None:
        return None
    before = view.head_at(Instant(recorded - 1))
    previous = [] if before is None else view.heads(limit=1, after=before - 1)
    following = view.heads(limit=1, after=standing)
    first, last = view.heads(limit=1)[0], view.heads(limit=1, newest_first=True)[0]
    return Around(first, next(iter(previous), None), next(iter(following), None), last)
