"""What some tests need beyond Python: a browser, Node.js, the public test data, strace.

Rules
-----
* `require(name)` gives the thing needed, or skips the test with a reason that says what is missing and how to get it.
  It works in a test, in a fixture, and at the top of a module, where it skips the whole module.
* A test marked `@pytest.mark.<name>` has `require(name)` called before it.
* Where the environment variable `MUNIMENT_REQUIRE` names the requirement (`browser,node,shared`), the same lack is a
  failure: a machine that is meant to run every test cannot leave one out unseen.

Example
-------
::

    @pytest.mark.shared
    def test_reads_every_line_of_yago() -> None:
        lines = (require("shared") / "data" / "yago-temporal" / "train.txt").read_text().splitlines()
"""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, get_args

import pytest

Requirement = Literal["browser", "node", "shared", "strace"]

REQUIREMENTS: Final[tuple[Requirement, ...]] = get_args(Requirement)
INSIST: Final = "MUNIMENT_REQUIRE"
REPOSITORY: Final = Path(__file__).resolve().parent.parent

_SHARED_IS_PUBLIC: Final = (
    "it holds public data: suites/sparql is w3c/rdf-tests at ad541a5f, suites/shacl w3c/data-shapes at ff9edb9c, "
    "suites/rdf-canon w3c/rdf-canon at 15619df2, suites/vc-di-eddsa w3c/vc-di-eddsa at abb673eb, data/dcat-ap "
    "SEMICeu/DCAT-AP at 7c531da7, data/yago-temporal the folder yago of the repository ATISE at 711e2136"
)


class Missing(Exception):
    """What a machine lacks and how to get it, in one sentence."""


def require(name: Requirement) -> Path:
    """What the requirement is met by: a program, or for `node` and `shared` a folder.

    Skips the running test or module where it is missing; fails it where `MUNIMENT_REQUIRE` names the requirement.
    """
    try:
        return _FINDERS[name]()
    except Missing as lack:
        if name in insisted():
            pytest.fail(f"{INSIST} names {name}, but {lack}", pytrace=False)
        pytest.skip(f"needs {name}: {lack}", allow_module_level=True)


def insisted() -> frozenset[str]:
    """The requirements whose lack is a failure here. Raises `pytest.UsageError` for a name that is none."""
    names = frozenset(name.strip() for name in os.environ.get(INSIST, "").split(",") if name.strip())
    if unknown := sorted(names.difference(REQUIREMENTS)):
        raise pytest.UsageError(f"{INSIST} names {', '.join(unknown)}; known are {', '.join(REQUIREMENTS)}")
    return names


def _browser() -> Path:
    _program("chromedriver", "on Debian, apt-get install chromium-driver")
    return _program("chromium", "on Debian, apt-get install chromium")


def _node() -> Path:
    _program("node", "install Node.js 20 or later")
    folder = REPOSITORY / "tests" / "clients" / "node"
    if not (folder / "node_modules").is_dir():
        raise Missing("the packages of tests/clients/node are not installed; run npm ci there")
    return folder


def _shared() -> Path:
    folder = REPOSITORY.parent / "shared"
    if not folder.is_dir():
        raise Missing(f"there is no folder ../shared beside the repository; {_SHARED_IS_PUBLIC}")
    return folder


def _strace() -> Path:
    return _program("strace", "on Debian, apt-get install strace")


def _program(name: str, remedy: str) -> Path:
    found = shutil.which(name)
    if found is None:
        raise Missing(f"{name} is not on PATH; {remedy}")
    return Path(found)


_FINDERS: Final[Mapping[Requirement, Callable[[], Path]]] = MappingProxyType(
    {"browser": _browser, "node": _node, "shared": _shared, "strace": _strace}
)
