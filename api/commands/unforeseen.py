"""What a user sees of an error that nobody foresaw: one line, and where the details are.

Rules
-----
* The details, a traceback and the versions of what took part, go to a new file that its owner alone can read. The
  command's arguments are left out of it, but a traceback may quote data: whoever reports it is told to look.
* What is logged while a command runs is one line as well; a service that runs has a log of its own, with tracebacks.
* It is the interpreter's hook for what nothing has caught, so that nothing else need catch everything.

Example
-------
::

    install()
"""

from __future__ import annotations

import logging
import os
import platform
import re
import sys
import tempfile
import traceback
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import TracebackType

_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")


class Briefly(logging.Formatter):
    """One line a record, without the traceback."""

    def formatException(self, ei: object) -> str:  # noqa: ARG002, N802 - as the library has it
        """Nothing."""
        return ""


def libraries() -> dict[str, str | None]:
    """Muniment and what it cannot do without, in which versions; None for what is not installed."""
    needed = [each for each in requires("muniment") or () if "extra ==" not in each and "platform" not in each]
    names = (match.group() for match in map(_NAME.match, needed) if match is not None)
    return {name: _version(name) for name in ("muniment", *sorted(names, key=str.lower))}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def install() -> None:
    """Has errors that nobody foresaw, and what is logged, told briefly."""
    sys.excepthook = tell
    briefly = logging.StreamHandler()
    briefly.setFormatter(Briefly("muniment: %(message)s"))
    logging.basicConfig(handlers=[briefly], level=logging.WARNING)


def tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Writes the details to a file, and the one line to standard error."""
    if not issubclass(kind, Exception):  # whoever pressed Ctrl-C knows
        sys.stderr.write("muniment: interrupted\n")
        return
    details = "".join(traceback.format_exception(kind, error, trace))
    try:
        where = f"details are in {_written(details)}"
    except OSError as full:
        where = f"details could not be written: {full.strerror}"
    sys.stderr.write(
        f"muniment: this should not have happened: {kind.__name__} ({where}; report it to the maintainers with that "
        "file, after looking whether it quotes anything confidential)\n"
    )


def _written(details: str) -> Path:
    descriptor, name = tempfile.mkstemp(prefix="muniment-error-", suffix=".txt")  # made with mode 0600
    versions = ", ".join(f"{name} {found or 'missing'}" for name, found in libraries().items())
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"Python {platform.python_version()} on {platform.system()}; {versions}\n\n{details}")
    return Path(name)
