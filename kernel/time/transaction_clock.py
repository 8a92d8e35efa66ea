"""The transaction clock: when each apply happened, as a base counts it.

Rules
-----
* Transaction instants of a base strictly increase (ClockMonotonic): each is the host's time, or one microsecond after
  the last when the host has stepped back or two applies fall into one microsecond.
* A base that stands more than `TOLERANCE` ahead of the host means that one of the two clocks is wrong. Writes do not
  start then unless the operator accepts it, for every instant given until the host catches up would be ahead as well.

Example
-------
>>> next_instant(Instant(1_000), Instant(400))
1001
"""

from __future__ import annotations

from typing import Final

from kernel.errors import ClockAhead
from kernel.time.instants import SECOND, Instant, print_instant

TOLERANCE: Final = 5 * SECOND


def next_instant(last: Instant | None, host_now: Instant) -> Instant:
    """The instant of the next apply: the host's time, but always after the last one; None: nothing was applied yet."""
    if last is None:
        return host_now
    return Instant(max(last + 1, host_now))


def refuse_if_ahead(last: Instant | None, host_now: Instant, *, accept: bool) -> None:
    """Let writes start; raise `ClockAhead` when the base stands over 5 s ahead of the host, and that is not accepted.

    `last` is the latest instant that the base has come to, by a write or by its clock; None: it is new.
    """
    if accept or last is None or last - host_now <= TOLERANCE:
        return
    raise ClockAhead(
        f"the base stands at {print_instant(last)}, {(last - host_now) / SECOND:.0f} s ahead of this host's clock, "
        f"{print_instant(host_now)}",
        remedy="set the host's clock right, or give `muniment serve` (or demo, or load) --accept-clock, "
        "to count on from the base's instant",
        last=str(last),
        host=str(host_now),
    )
