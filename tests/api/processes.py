"""The workers of a service, as the system knows them."""

import time
from collections.abc import Callable
from pathlib import Path

from tests.api.console import PATIENCE


def workers(service: int) -> set[int]:
    """The process ids of a service's workers that are alive."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and parent(int(entry.name)) == service and is_worker(int(entry.name)):
            found.add(int(entry.name))
    return found


def is_worker(process: int) -> bool:
    """Whether it is a worker, and alive."""
    try:
        return b"bridge.replicas.worker" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def parent(process: int) -> int | None:
    """Its parent; None for one that is gone."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except OSError:
        return None


def seconds(process: int) -> float:
    """How long it was on a processor."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def until(holds: Callable[[], bool]) -> None:
    """Waits for something to hold."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
