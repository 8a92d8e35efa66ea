"""Large updates beside a load, in small."""

from pathlib import Path

from rich.console import Console

from bench.updates import updated, updates_table


def test_updates_are_measured_beside_a_load(tmp_path: Path) -> None:
    came = updated(tmp_path / "made", 50, rounds=1)
    assert len(came.loaded) == len(came.inserted) == len(came.deleted) == 1
    console = Console(width=140, record=True)
    console.print(updates_table(50, came))
    assert "INSERT DATA over HTTP" in console.export_text()
