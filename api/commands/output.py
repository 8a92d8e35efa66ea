"""Where a command that makes a document writes it.

Example
-------
::

    with written_to(Path("report.ttl")) as file:
        file.write(b"...")
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def written_to(output: Path | None) -> Iterator[IO[bytes]]:
    """Standard output, or a file that takes its name once it is complete."""
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with NamedTemporaryFile(dir=output.parent, prefix=f".{output.name}-", delete=False) as file:
        try:
            yield file.file
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(output)
        except BaseException:
            Path(file.name).unlink()
            raise
