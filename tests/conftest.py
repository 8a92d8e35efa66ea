"""What every test runs under: the hypothesis profiles, and the check of what a marked test needs."""

import os
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from tests.requirements import REQUIREMENTS, insisted, require

# Time is no measure of a property where other work shares the machine: no deadline, and no complaint of slow drawing.
_UNHURRIED: Final = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

# In CI the same examples each time: a submission is not judged by another's luck. `make fuzz` goes looking.
settings.register_profile("default", _UNHURRIED, max_examples=50, derandomize="CI" in os.environ)
settings.register_profile("fuzz", _UNHURRIED, max_examples=3000, derandomize=False, print_blob=True)
settings.load_profile("default")


def pytest_configure() -> None:
    """Refuse a misspelt requirement at once: it must not pass for one that is met."""
    insisted()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip or fail a marked test whose requirement is missing, before its fixtures are made."""
    for name in REQUIREMENTS:
        if item.get_closest_marker(name) is not None:
            require(name)
