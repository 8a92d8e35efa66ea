"""What the tests of bases share."""

import pytest

from tests.bridge.writing import WatchedLedger, WatchedStores


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bases are opened with ports that can be watched and made to fail; a pause after a failure is short."""
    monkeypatch.setattr("bridge.base.SqliteLedger", WatchedLedger)
    monkeypatch.setattr("bridge.base.OxigraphStores", WatchedStores)
    monkeypatch.setattr("kernel.writing.sequencer.LONGEST_WAIT", 0.01)
