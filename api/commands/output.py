"""Where a command that makes a document writes it.

Rules
-----
* A file takes its name once it is complete, so that nobody finds half of it; what was there stays until then.
  It keeps its mode; a new one gets what the umask leaves.
* A symbolic link stays one: what it points to is written. What is no regular file, such as a named pipe or a device, is
  written to as it is, and never replaced.
* An error names the file that was asked for.

Example
-------
::

    with written_to(Path("report.ttl")) as file:
        file.write(b"...")
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def written_to(output: Path | None) -> Iterator[IO[bytes]]:
    """Standard output, or a file that takes its name once it is complete.

    Raises:
        OSError: it cannot be written.
    """
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        with _in_place(output) if _is_special(output) else _beside(Path(os.path.realpath(output)), output) as file:
            yield file
    except OSError as error:
        if error.filename is None:
            error.filename = str(output)
        raise


def _is_special(output: Path) -> bool:
    """Whether something is there that is no regular file."""
    return output.exists() and not output.is_file()


@contextmanager
def _in_place(output: Path) -> Iterator[IO[bytes]]:
    with output.open("wb") as file:
        yield file


@contextmanager
def _beside(target: Path, output: Path) -> Iterator[IO[bytes]]:
    """A new file beside the target, which then takes its name."""
    scratch = target.with_name(f".{target.name[:200]}-{secrets.token_hex(4)}")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    try:
        # Closed until it is complete where a mode is kept: what was its owner's alone is never open to others.
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    except OSError as error:
        error.filename = str(output)
        raise
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if mode is not None:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        scratch.replace(target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename == os.fspath(scratch):
            error.filename, error.filename2 = str(output), None
        scratch.unlink()
        raise
