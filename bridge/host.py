"""The host's wall clock, as the port `HostClock` wants it.

Example
-------
>>> SystemClock().now() > 0
True
"""

from __future__ import annotations

import time

from kernel.time.instants import Instant


class SystemClock:
    """The system's clock, to the microsecond; it may step back."""

    def now(self) -> Instant:
        """The present instant."""
        return Instant(time.time_ns() // 1_000)
