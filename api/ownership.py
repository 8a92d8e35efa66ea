"""Whether the packages that Python finds under our names are ours: others on PyPI are called `kernel` or `api` too.

Rules
-----
* Each of our packages lies beside this one. Nothing of them is imported to see that.
* This module imports nothing of ours: it runs before anything else does.

Example
-------
>>> foreign_packages()
[]
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

OUR_PACKAGES: Final = ("api", "bridge", "certificates", "kernel", "ontology", "shapes")


HOME: Final = Path(__file__).resolve().parent.parent


def foreign_packages(home: Path = HOME) -> list[str]:
    """What Python finds elsewhere than in `home`, one sentence each; empty when all is as it should be."""
    return [complaint for name in OUR_PACKAGES if (complaint := _complaint(name, home)) is not None]


def _complaint(name: str, home: Path) -> str | None:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return f"the package {name} is missing"
    found = Path(spec.origin).resolve().parent
    return None if found.parent == home else f"the package {name} is another distribution's, in {found}"
