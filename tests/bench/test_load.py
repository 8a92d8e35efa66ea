"""Clients that read and write beside runaways: a short form of the load, in which nothing is about time."""

from pathlib import Path

from rich.console import Console

from bench.load import load_table, loaded


def test_nothing_fails_and_nothing_is_stale_beside_runaways(tmp_path: Path) -> None:
    came = loaded(tmp_path / "load", 1_000, clients=8, seconds=4, every=2, least=20, patience=120)
    assert came.failed == []
    assert came.stale == []
    assert came.endless == []
    assert came.ended >= 1
    assert len(came.reads) + len(came.writes) >= 8 * 20
    assert len(came.writes) > 1
    console = Console(width=120, record=True)
    console.print(load_table(came))
    told = console.export_text()
    assert "p99" in told
    assert "stale reads" in told
