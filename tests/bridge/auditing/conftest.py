"""Bases that are made once; whoever tampers takes a copy."""

from pathlib import Path

import pytest

from tests.bridge.auditing.history import copy, make


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base with a history of every kind; not to be changed."""
    path = tmp_path_factory.mktemp("auditing") / "base"
    make(path)
    return path


@pytest.fixture
def base(pristine: Path, tmp_path: Path) -> Path:
    """A copy of it to tamper with."""
    return copy(pristine, tmp_path / "base")
