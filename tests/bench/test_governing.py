"""What is shown of shapes that are written beside writers."""

from pathlib import Path

import pytest
from rich.console import Console

from bench import governing
from bench.governing import Shape


@pytest.mark.parametrize(("shape", "findings"), [(Shape.KEPT, 0), (Shape.BROKEN, 400)])
def test_the_table_has_the_writes_before_meanwhile_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: Shape, findings: int
) -> None:
    monkeypatch.setattr(governing, "BEFORE", 0.2)
    monkeypatch.setattr(governing, "NEAR", 0.2)
    measured = governing.governed(tmp_path / "base", 2_000, shape)
    assert measured.findings == findings
    assert measured.seconds > 0
    assert len(measured.writes["before"]) > 0
    assert len(measured.writes["as they were written"]) > 0
    console = Console(width=120, record=True)
    console.print(governing.governing_table(2_000, measured))
    assert "Shapes written over 2,000 facts" in console.export_text()
