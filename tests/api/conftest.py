"""Served bases for the tests of this folder: in memory, and on disk."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.base import Base
from tests.api.serving import Served, served


@pytest.fixture
def server() -> Iterator[Served]:
    """An empty base in memory, served."""
    with Base.open(None) as base, served(base) as running:
        yield running


@pytest.fixture(scope="session")
def shared() -> Iterator[Served]:
    """One base for all tests that do not mind what else is in it: what is refused, and how."""
    with Base.open(None) as base, served(base) as running:
        yield running


@pytest.fixture(params=["memory", "disk"])
def any_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    """An empty base, once in memory and once on disk, served."""
    directory = tmp_path / "data" if request.param == "disk" else None
    with Base.open(directory) as base, served(base) as running:
        yield running
