"""Large updates beside a load, in small."""

from pathlib import Path

from rich.console import Console

from bench.updates import updated, updates_table


def test_updates_are_measured_beside_a_load(tmp_path: Path) -> None:
    came = updated(tmp_path / "made", 50, rounds=1)
    assert [*came.spent] == ["INSERT DATA", "DELETE DATA", "DELETE WHERE"]
    assert len(came.loaded) == 1
    assert all(len(each) == 1 for each in (*came.spent.values(), *came.held.values()))
    console = Console(width=140, record=True)
    console.print(updates_table(50, came))
    assert "INSERT DATA over HTTP" in console.export_text()
