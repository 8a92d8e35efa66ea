"""The console script `muniment`.

Rules
-----
* Before anything of ours is imported, it is made sure that it is ours: other distributions have packages of the same
  names.

Example
-------
::

    python -m api.cli --help
"""

from __future__ import annotations

import sys

from api.ownership import foreign_packages


def main() -> None:
    """Runs a command and leaves with its exit status."""
    complaints = foreign_packages()
    if complaints:
        remedy = "install Muniment into an environment of its own"
        sys.exit(f"muniment: {'; '.join(complaints)} ({remedy})")

    from api.commands.application import run
    from api.commands.unforeseen import install

    install()
    sys.exit(run())


if __name__ == "__main__":
    main()
