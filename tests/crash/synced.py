"""Writers that say when they ask and when they are told: what `test_fsync` traces.

Example
-------
::

    python -m tests.crash.synced DATA WRITERS WRITES
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from threading import Thread

from bridge.base import Base
from kernel.changes import Assert
from tests.bridge.writing import PARIS, living, person, write


def main(data: str, writers: int, writes: int) -> None:
    """Writes in so many threads at once, each so many times."""
    with Base.open(Path(data)) as base:

        def run(writer: int) -> None:
            for number in range(writes):
                os.write(1, f"asked {writer}/{number}\n".encode())
                write(base, Assert(living(PARIS, person(writer * writes + number))))
                os.write(1, f"told {writer}/{number}\n".encode())

        threads = [Thread(target=run, args=(writer,)) for writer in range(writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
