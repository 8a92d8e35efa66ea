"""Tests of the adapters."""

import pytest

pytest.register_assert_rewrite("tests.bridge.ledger.contract")
