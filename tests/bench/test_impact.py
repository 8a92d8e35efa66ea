"""What is shown of writes that are held against registered queries."""

from pathlib import Path

import pytest
from rich.console import Console

from bench import impact


def test_the_table_has_what_queries_add_that_are_touched_and_that_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(impact, "WARM", 1)
    monkeypatch.setattr(impact, "TURNS", 2)
    monkeypatch.setattr(impact, "UNTOUCHED", 20)
    measured = impact.impact(tmp_path / "base", 500)
    assert sorted(measured.cpu) == [0, 10, 20]
    assert measured.twice > 0
    assert measured.passed > 0
    console = Console(width=120, record=True)
    console.print(impact.impact_table(500, measured))
    text = console.export_text()
    assert "A write of one fact over 500" in text
    assert "writes of others pass" in text
