"""What is shown of ours beside another endpoint, from rounds that are given: the other one is not installed here."""

from pathlib import Path

from rich.console import Console

from bench.endpoints import Compared, Endpoint, _ours, _read_both, endpoints_table


def shown(came: Compared) -> str:
    console = Console(width=140, record=True)
    console.print(endpoints_table(came))
    return console.export_text()


def test_ratios_are_medians_of_the_rounds_and_say_what_they_are_to_come_to() -> None:
    came = Compared({"look-up, 1": [(10, 20), (30, 20), (8, 20)], "text/csv": [(2.0, 1.0)], "aggregate, 1": [(1, 0)]})
    came.cpu["look-up, 1"] = [(300, 90), (200, 80), (250, 85)]
    came.left_out.append("something: it is not there")
    rows = {line.split("│")[1].strip(): line for line in shown(came).splitlines() if line.count("│") > 4}
    assert "0.50" in rows["look-up, 1"]
    assert "0.35" in rows["look-up, 1"]
    assert "0.50" in rows["large, text/csv"]
    assert "250 µs" in rows["look-up, 1"]
    assert "85 µs" in rows["look-up, 1"]
    assert "1 /s" in rows["aggregate, 1"]
    assert "it is not there" in shown(came)


def test_ours_gives_large_answers_in_each_format(tmp_path: Path) -> None:
    came = Compared()
    with _ours(tmp_path, 500) as ours:
        assert isinstance(ours, Endpoint)
        _read_both(came, (ours, ours), 500)
    assert len(came.rates) == 4
    assert all(seconds > 0 for rounds in came.rates.values() for each in rounds for seconds in each)
