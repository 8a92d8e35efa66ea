"""What is shown of ours beside another endpoint, from rounds that are given: the other one is not installed here."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.both_served import Endpoint, _ours
from bench.endpoints import Compared, endpoints_table
from bench.large_answers import FORMATS, Taken, Turn, asked_large, large_table


def rows(table: Table) -> dict[str, str]:
    """The rows as they are shown, by their names."""
    console = Console(width=140, record=True)
    console.print(table)
    lines = console.export_text().splitlines()
    return {line.split("│")[1].strip(): line for line in lines if line.count("│") > 4}


def test_ratios_are_medians_of_the_rounds_and_say_what_they_are_to_come_to() -> None:
    came = Compared({"look-up, 1": [(10, 20), (30, 20), (8, 20)], "aggregate, 1": [(1, 0)]})
    came.cpu = {"look-up, 1": [(300, 90), (200, 80), (250, 85)], "aggregate, 1": [(1, 0)]}
    shown = rows(endpoints_table(came))
    assert "0.50" in shown["look-up, 1"]
    assert "0.35" in shown["look-up, 1"]
    assert "250 µs" in shown["look-up, 1"]
    assert "85 µs" in shown["look-up, 1"]
    assert "1 /s" in shown["aggregate, 1"]


def test_large_answers_are_compared_turn_by_turn_with_the_cpu_of_each_part() -> None:
    taken = [(2.0, 1.0), (4.0, 3.0), (1.0, 3.0)]
    turns = [Turn(form, Taken(ours, 0.02, 0.5), Taken(theirs, 0.4, 0.0)) for form in FORMATS for ours, theirs in taken]
    shown = rows(large_table(turns))
    assert {each.partition(";")[0] for each in shown} == {*FORMATS}
    for each in ("2,000 ms", "3,000 ms", "0.75", "0.9", "20 ms", "500 ms", "400 ms"):
        assert each in shown["text/csv"]


def test_ours_gives_large_answers_in_each_format(tmp_path: Path) -> None:
    with _ours(tmp_path, 500) as ours:
        assert isinstance(ours, Endpoint)
        turns = asked_large((ours, ours), 500, rounds=1)
    assert [turn.form for turn in turns] == [*FORMATS]
    assert all(turn.ours.wall > 0 for turn in turns)
