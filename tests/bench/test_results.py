import io

import pytest
from rich.console import Console

from bench.aims import AIMS, LARGE, SMALL
from bench.contestants import ENTRIES, FLUREE, HTTP, OURS, RAW, Measure, chosen
from bench.machine import Machine, sync_seconds
from bench.measuring import Sample
from bench.report import report
from bench.results import Results


def sample(rate: float, cpu_ms: float | None = 1.0) -> Sample:
    return Sample(100, 100 / rate, None if cpu_ms is None else cpu_ms / 10, 1 / rate)


def with_samples(*cells: tuple[int, str, Measure, float, float]) -> Results:
    results = Results()
    for size, name, measure, rate, cpu_ms in cells:
        results.add(size, name, measure, 0, sample(rate, cpu_ms))
    return results


def test_figures_are_medians_over_the_rounds() -> None:
    results = Results()
    for number, rate in enumerate((100.0, 900.0, 200.0)):
        results.add(10, OURS, Measure.SINGLE, number, sample(rate, rate / 100))
    figures = results.figures((10, OURS, Measure.SINGLE))
    assert figures is not None
    assert (figures.rate, figures.cpu, figures.wall) == pytest.approx((200.0, 0.002, 0.005))


def test_a_ratio_pairs_the_rounds() -> None:
    results = Results()
    for number, (ours, theirs) in enumerate(((300.0, 100.0), (40.0, 10.0), (5_000.0, 1_000.0))):
        results.add(10, OURS, Measure.SINGLE, number, sample(ours))
        results.add(10, FLUREE, Measure.SINGLE, number, sample(theirs))
    results.add(10, OURS, Measure.SINGLE, 3, sample(1.0))
    assert results.ratio((10, OURS, Measure.SINGLE), (10, FLUREE, Measure.SINGLE)) == pytest.approx(4.0)


def test_without_samples_there_is_no_figure_and_no_ratio() -> None:
    results = with_samples((10, OURS, Measure.SINGLE, 100.0, 1.0))
    assert results.figures((10, FLUREE, Measure.SINGLE)) is None
    assert results.ratio((10, OURS, Measure.SINGLE), (10, FLUREE, Measure.SINGLE)) is None


def test_each_aim_is_held_against_what_it_names() -> None:
    results = with_samples(
        *((size, OURS, Measure.SINGLE, 1_000.0, cpu) for size, cpu in ((SMALL, 1.4), (LARGE, 1.6))),
        *((size, HTTP, Measure.SINGLE, 500.0, 2.6) for size in (SMALL, LARGE)),
        *((size, FLUREE, Measure.SINGLE, 400.0, 4.0) for size in (SMALL, LARGE)),
        *((size, OURS, Measure.SHAPED, 900.0, 1.9) for size in (SMALL, LARGE)),
        *((size, FLUREE, Measure.SHAPED, 450.0, 4.0) for size in (SMALL, LARGE)),
        *((size, OURS, Measure.MANY, 2_400.0, 1.0) for size in (SMALL, LARGE)),
        *((size, HTTP, Measure.MANY, 1_500.0, 1.0) for size in (SMALL, LARGE)),
        *((size, OURS, Measure.BULK, 6_000.0, 0.1) for size in (SMALL, LARGE)),
        *((size, RAW, Measure.BULK, 20_000.0, 0.1) for size in (SMALL, LARGE)),
        *((size, OURS, Measure.LOOK_UP, 5_000.0, cpu) for size, cpu in ((SMALL, 0.1), (LARGE, 0.2))),
    )
    values = [(aim, aim.value(results, LARGE)) for aim in AIMS]
    assert [value for _, value in values] == pytest.approx([1.6, 2.6, 2.5, 1.9, 2.0, 2.4, 3.0, 0.3, 1.6 / 1.4, 2.0])
    assert [value is not None and aim.met(value) for aim, value in values] == [
        *(False, False, True, True, False, False, True, False, True, False)
    ]
    assert AIMS[0].met(1.4)


def test_growth_is_told_beside_the_larger_size_alone() -> None:
    results = with_samples(*((size, OURS, Measure.SINGLE, 1_000.0, 1.0) for size in (SMALL, LARGE)))
    assert [aim.value(results, SMALL) for aim in AIMS[-2:]] == [None, None]


def test_the_report_has_every_contestant_every_aim_and_who_is_out() -> None:
    results = with_samples((10_000, OURS, Measure.SINGLE, 1_234.0, 1.5), (10_000, FLUREE, Measure.SINGLE, 411.0, 4.0))
    results.fail("rdflib", "cannot be installed: no [such] thing")
    out = io.StringIO()
    machine = Machine(2, "3.11", "3.40", "0.5", "Linux", 1.5, 0.25)
    report(Console(file=out, width=150), machine, ENTRIES, [10_000], results, AIMS)
    text = out.getvalue()
    for wanted in (
        *(entry.title for entry in ENTRIES),
        *(measure.value for measure in frozenset[Measure]().union(*(entry.measures for entry in ENTRIES))),
        "load 1.5, fdatasync 0.25 ms",
    ):
        assert wanted in text
    assert Measure.MOMENT.value not in text, "that is a contest of its own"
    assert "1,234" in text
    assert "3.00" in text
    assert "Others were using this machine" in text
    assert "3.00 x met" in text
    assert "rdflib is out: cannot be installed: no [such] thing" in text


def test_ours_always_takes_part_and_a_strange_name_is_told() -> None:
    assert [entry.name for entry in chosen(["oxigraph", "fluree"])] == [OURS, FLUREE, RAW]
    assert chosen([]) == list(ENTRIES)
    with pytest.raises(ValueError, match="no contestant virtuoso"):
        chosen(["virtuoso"])


def test_the_disk_is_measured(tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("disk")
    assert 0 < sync_seconds(directory, times=3) < 10
    assert not list(directory.iterdir())
