"""A filled base for the tests of the pages: one for each test that decides something, one for those that only look."""

from collections.abc import Iterator

import pytest

from tests.api.pages.world import World, a_world


@pytest.fixture
def world() -> Iterator[World]:
    """A filled base of its own."""
    with a_world() as filled:
        yield filled


@pytest.fixture(scope="session")
def still() -> Iterator[World]:
    """One filled base for all tests that leave it as it is."""
    with a_world() as filled:
        yield filled
