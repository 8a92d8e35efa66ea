"""The transaction clock: when each apply happened, as a base counts it.

Rules
-----
* Transaction instants of a base strictly increase (ClockMonotonic): each is the host's time, or one microsecond after
  the last when the host has stepped back or two applies fall into one microsecond.
* A last instant more than `TOLERANCE` ahead of the host means that one of the two clocks is wrong. Writes do not start
  then unless the operator accepts it, for every instant given until the host catches up would be ahead as well.

Example
-------
>>> next_instant(Instant(1_000), Instant(400))
1001
"""

from __future__ import annotations

from typing import Final

from kernel.errors import ClockAhead
from kernel.instants import SECOND, Instant, print_instant

TOLERANCE: Final = 5 * SECOND


def next_instant(last: Instant | None, host_now: Instant) -> Instant:
    """The instant of the next apply: the host's time, but always after the last one; None: nothing was applied yet."""
    if last is None:
        return host_now
    return Instant(max(last + 1, host_now))


def refuse_if_ahead(last: Instant | None, host_now: Instant, *, accept: bool) -> None:
    """Let writes start; raise `ClockAhead` when the last instant is over 5 s ahead of the host, and not accepted."""
    if accept or last is None or last - host_now <= TOLERANCE:
        return
    raise ClockAhead(
        f"the last write is recorded at {print_instant(last)}, {(last - host_now) / SECOND:.0f} s ahead of this host's "
        f"clock, {print_instant(host_now)}",
        remedy="set the host's clock right, or start with --accept-clock to count on from the recorded instant",
        last=str(last),
        host=str(host_now),
    )
