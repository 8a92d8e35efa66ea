"""What is installed is bounded, hashed, and fetched from wherever the installer's own settings say."""

import json
import re
import tomllib
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

from tests.requirements import REPOSITORY

HASHED: Final = ("constraints.txt", "constraints-core.txt")
CONSTRAINTS: Final = (*HASHED, "constraints-embeddings.txt")
LOCK: Final = REPOSITORY / "tests" / "clients" / "node" / "package-lock.json"


def declared() -> list[Requirement]:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    groups = [project["project"]["dependencies"], *extras, *project["dependency-groups"].values()]
    return [Requirement(line) for group in groups for line in group]


def entries(name: str) -> list[str]:
    """The requirements of a constraints file, each with its hashes on one line."""
    return (REPOSITORY / name).read_text().replace("\\\n", " ").splitlines()


def pins(name: str) -> set[tuple[NormalizedName, str]]:
    pinned = (Requirement(entry.split(" --hash")[0]) for entry in entries(name))
    return {(canonicalize_name(each.name), str(each.specifier)) for each in pinned}


@pytest.mark.parametrize("dependency", declared(), ids=str)
def test_a_dependency_is_bounded_below_and_above(dependency: Requirement) -> None:
    operators = {bound.operator for bound in dependency.specifier}
    assert operators in ({"=="}, {">=", "<"})


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_pin_one_version_and_name_no_host(name: str) -> None:
    assert "://" not in (REPOSITORY / name).read_text()
    assert all(re.match(r"[A-Za-z0-9._-]+==[^\s*]+( |$)", entry) for entry in entries(name))


@pytest.mark.parametrize("name", HASHED)
def test_constraints_hash_every_file(name: str) -> None:
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries(name))


def test_the_core_is_a_part_of_the_whole() -> None:
    assert pins("constraints-core.txt") < pins("constraints.txt")


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_follow_the_declared_bounds(name: str) -> None:
    bounds = {canonicalize_name(each.name): each.specifier for each in declared()}
    for package, pin in pins(name):
        assert pin.removeprefix("==") in bounds.get(package, SpecifierSet()), package


def test_the_lock_of_the_node_libraries_names_no_registry() -> None:
    packages = json.loads(LOCK.read_text())["packages"]
    assert not [name for name, package in packages.items() if "resolved" in package]
    assert all("integrity" in package for name, package in packages.items() if name)


def test_ci_runs_what_a_contributor_runs() -> None:
    script = (REPOSITORY / ".ci" / "run").read_text()
    assert re.search(r"^make lint$", script, re.MULTILINE)
    assert re.search(r"^make test$", script, re.MULTILINE)
