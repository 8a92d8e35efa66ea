"""The command: `python -m bench`, or `make bench ARGS=…`.

Example
-------
::

    python -m bench --size 10000,100000 --only fluree
    python -m bench --quick
    python -m bench --profile
    python -m bench --governing --size 100000
    python -m bench --validation --size 1000000
    python -m bench --log --size 1000000
    python -m bench --load --size 10000
    python -m bench --serving --size 100000
    python -m bench --updates --size 200000
    python -m bench --moments --size 10000,100000
    python -m bench --impact --size 100000
    python -m bench --entailment --size 10000
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console

from bench.aims import AIMS, LARGE, SMALL, VALIDATION_AIMS
from bench.breakdown import breakdown_table, broken_down
from bench.contest import Contest
from bench.contestants import ENTRIES, FULL, QUICK, chosen
from bench.endpoints import compared, endpoints_table
from bench.entailment import entailment, entailment_table
from bench.environments import Unavailable, home
from bench.erasing import purge_table
from bench.exchange import Exchange
from bench.governing import Shape, governed, governing_table
from bench.impact import impact, impact_table
from bench.load import load_table, loaded
from bench.machine import Machine
from bench.moments import MOMENT_AIMS, MOMENTS, snapshot_table
from bench.proving import proving_table
from bench.report import report
from bench.results import Results
from bench.transparency import log_table
from bench.updates import updated, updates_table
from bench.validators import VALIDATORS, effort_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.table import Table

    from bench.contestants import Effort, Entry

WIDTH: Final = 150
"""Columns, where it is no terminal that is written to."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the benchmarks and prints the report."""
    options = _parser().parse_args(arguments)
    sizes = options.size or ([SMALL] if options.quick else [SMALL, LARGE])
    console = Console() if Console().is_terminal else Console(width=WIDTH)
    home().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home(), prefix="run-") as directory:
        effort = QUICK if options.quick else FULL
        if options.profile:
            _profile(console, sizes, Path(directory))
        elif options.governing:
            _govern(console, sizes, Path(directory))
        elif (table := _single(options)) is not None:
            _show(console, sizes, Path(directory), table)
        elif options.log:
            _show(console, sizes, Path(directory), log_table)
            _show(console, sizes, Path(directory) / "proving", proving_table)
        elif options.serving:
            _serve(console, sizes[-1], Path(directory))
        elif options.load:
            _load(console, sizes, Path(directory))
        elif options.moments:
            _ask_of_moments(console, sizes, effort, Path(directory))
        elif not options.validation:
            _compare(console, chosen(options.only), sizes, effort, Path(directory))
        alone = (
            *(options.profile, options.governing, options.impact, options.entailment, options.log, options.purge),
            *(options.load, options.serving, options.updates, options.moments),
        )
        if options.validation or not (options.only or any(alone)):
            _validate(console, sizes, effort, Path(directory) / "validation")


def _single(options: argparse.Namespace) -> Callable[[Path, int], Table] | None:
    """The table that is asked for alone, if one is."""
    tables = {
        "impact": _impact_table,
        "purge": purge_table,
        "updates": _updates_table,
        "entailment": _entailment_table,
    }
    return next((table for name, table in tables.items() if getattr(options, name)), None)


def _entailment_table(directory: Path, size: int) -> Table:
    return entailment_table(size, entailment(directory / str(size), size))


def _impact_table(directory: Path, size: int) -> Table:
    return impact_table(size, impact(directory, size))


def _updates_table(directory: Path, size: int) -> Table:
    return updates_table(size, updated(directory, size))


def _show(console: Console, sizes: list[int], directory: Path, measured: Callable[[Path, int], Table]) -> None:
    for size in sizes:
        console.print(measured(directory / str(size), size))


def _compare(console: Console, entries: list[Entry], sizes: list[int], effort: Effort, directory: Path) -> None:
    machine = Machine.of(directory)
    progress = Console(stderr=True, style="dim")
    with Contest(entries, sizes, effort, directory, progress.print) as contest:
        contest.run()
    report(console, machine, entries, sizes, contest.results, AIMS)


def _validate(console: Console, sizes: list[int], effort: Effort, directory: Path) -> None:
    directory.mkdir()
    machine = Machine.of(directory)
    progress = Console(stderr=True, style="dim")
    results = Results()
    for size in sizes:
        with Contest(VALIDATORS, [size], effort_at(size, effort), directory, progress.print, results) as contest:
            contest.run()
    report(console, machine, VALIDATORS, sizes, results, VALIDATION_AIMS)


def _profile(console: Console, sizes: list[int], directory: Path) -> None:
    for size in sizes:
        console.print(breakdown_table(size, broken_down(directory / str(size), size)))


def _ask_of_moments(console: Console, sizes: list[int], effort: Effort, directory: Path) -> None:
    machine = Machine.of(directory)
    progress = Console(stderr=True, style="dim")
    with Contest(MOMENTS, sizes, effort, directory, progress.print) as contest:
        contest.run()
    report(console, machine, MOMENTS, sizes, contest.results, MOMENT_AIMS)
    for size in sizes:
        served = Exchange(directory / f"exchange-{size}").base
        console.print(snapshot_table(served, directory / f"snapshots-{size}", size))


def _serve(console: Console, size: int, directory: Path) -> None:
    try:
        console.print(endpoints_table(compared(directory / "serving", size)))
    except Unavailable as reason:
        console.print(f"oxigraph serve {reason}")


def _load(console: Console, sizes: list[int], directory: Path) -> None:
    """Prints what came of it, and ends with an error where something failed or was stale."""
    faults: list[str] = []
    for size in sizes:
        came = loaded(directory / f"load-{size}", size)
        console.print(load_table(came))
        faults += [*came.failed, *came.stale, *came.endless]
    if faults:
        raise SystemExit("\n".join(faults[:20]))


def _govern(console: Console, sizes: list[int], directory: Path) -> None:
    for size in sizes:
        for shape in Shape:
            console.print(governing_table(size, governed(directory / f"{size}-{shape.name}", size, shape)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measures Muniment and its peers in the same run, and prints ratios."
    )
    parser.add_argument(
        "--size", type=_sizes, metavar="N,N", help=f"facts in the stores; by default {SMALL},{LARGE}, if quick {SMALL}"
    )
    parser.add_argument("--quick", action="store_true", help="a run of a minute")
    parser.add_argument(
        "--only",
        type=_names,
        default=[],
        metavar="NAME,NAME",
        help=f"these contestants, and ours: {', '.join(entry.name for entry in ENTRIES)}",
    )
    parser.add_argument(
        "--validation", action="store_true", help="validation by shapes alone; of a million triples it takes minutes"
    )
    parser.add_argument(
        "--governing", action="store_true", help="instead, what writers wait for while shapes are written"
    )
    parser.add_argument("--impact", action="store_true", help="instead, what registered queries cost a write")
    parser.add_argument(
        "--entailment",
        action="store_true",
        help="instead, what follows when a fact comes or goes, beside whole closures",
    )
    parser.add_argument("--log", action="store_true", help="instead, what log, state digest and audit take")
    parser.add_argument("--purge", action="store_true", help="instead, a purge while writers go on")
    parser.add_argument("--serving", action="store_true", help="instead, ours beside `oxigraph serve`; needs wrk")
    parser.add_argument("--updates", action="store_true", help="instead, large updates beside a load of the same")
    parser.add_argument(
        "--load", action="store_true", help="instead, many clients that read and write for two minutes beside runaways"
    )
    parser.add_argument(
        "--moments", action="store_true", help="instead, look-ups at any pair of times, and what snapshots take"
    )
    parser.add_argument("--profile", action="store_true", help="instead, where the CPU of one of our writes goes")
    return parser


def _sizes(text: str) -> list[int]:
    sizes = [int(part) for part in text.split(",")]
    if not sizes or min(sizes) < 1:
        raise argparse.ArgumentTypeError("a size is at least 1")
    return sorted(set(sizes))


def _names(text: str) -> list[str]:
    names = text.split(",")
    try:
        chosen(names)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return names


if __name__ == "__main__":
    main()
