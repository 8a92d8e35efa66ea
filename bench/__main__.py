"""The command: `python -m bench`, or `make bench ARGS=…`.

Rules
-----
* Without a mode everyone is compared in writes, look-ups, loads and exports, and validators in validation after that;
  with one that alone is measured.
* The help says about how long each mode takes.

Example
-------
::

    python -m bench --size 10000,100000 --only fluree
    python -m bench --quick
    python -m bench --validation --size 1000000 --only shacl,pyshacl-turbo
    python -m bench --moments --size 10000,100000
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.console import Console

from bench.aims import AIMS, LARGE, SMALL, VALIDATION_AIMS
from bench.both_served import both_served
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
from bench.large_answers import ROWS, asked_large, large_table
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

    from bench.both_served import Endpoint
    from bench.contestants import Effort, Entry

WIDTH: Final = 150
"""Columns, where it is no terminal that is written to."""


@dataclass(frozen=True, slots=True)
class _Run:
    """What is measured in a run, and where to."""

    console: Console
    sizes: list[int]
    effort: Effort
    directory: Path
    entries: list[Entry]

    def show(self, measured: Callable[[Path, int], Table], directory: str = "") -> None:
        """Prints a table a size."""
        for size in self.sizes:
            self.console.print(measured(self.directory / directory / str(size), size))

    def say(self, what: str) -> None:
        """Says what is going on."""
        Console(stderr=True, style="dim").print(what)


def _compare(run: _Run) -> None:
    machine = Machine.of(run.directory)
    with Contest(run.entries, run.sizes, run.effort, run.directory, run.say) as contest:
        contest.run()
    report(run.console, machine, run.entries, run.sizes, contest.results, AIMS)


def _validate(run: _Run) -> None:
    directory = run.directory / "validation"
    directory.mkdir()
    machine = Machine.of(directory)
    results = Results()
    for size in run.sizes:
        effort = effort_at(size, run.effort)
        with Contest(run.entries, [size], effort, directory, run.say, results) as contest:
            contest.run()
    report(run.console, machine, run.entries, run.sizes, results, VALIDATION_AIMS)


def _profile(run: _Run) -> None:
    run.show(lambda directory, size: breakdown_table(size, broken_down(directory, size)))


def _ask_of_moments(run: _Run) -> None:
    machine = Machine.of(run.directory)
    with Contest(run.entries, run.sizes, run.effort, run.directory, run.say) as contest:
        contest.run()
    report(run.console, machine, run.entries, run.sizes, contest.results, MOMENT_AIMS)
    for size in run.sizes:
        served = Exchange(run.directory / f"exchange-{size}").base
        run.console.print(snapshot_table(served, run.directory / f"snapshots-{size}", size))


def _prove(run: _Run) -> None:
    run.show(log_table)
    run.show(proving_table, "proving")


def _serve(run: _Run, *, rates: bool = True) -> None:
    size = run.sizes[-1]
    try:
        with both_served(run.directory / "serving", size) as both:
            if rates:
                _rate(run, both, size)
            run.console.print(large_table(asked_large(both, min(size, ROWS))))
    except Unavailable as reason:
        run.console.print(f"oxigraph serve {reason}")


def _rate(run: _Run, both: tuple[Endpoint, Endpoint], size: int) -> None:
    try:
        run.console.print(endpoints_table(compared(both, run.directory, size)))
    except Unavailable as reason:
        run.console.print(f"wrk {reason}")


def _load(run: _Run) -> None:
    """Prints what came of it, and ends with an error where something failed or was stale."""
    faults: list[str] = []
    for size in run.sizes:
        came = loaded(run.directory / f"load-{size}", size)
        run.console.print(load_table(came))
        faults += [*came.failed, *came.stale, *came.endless]
    if faults:
        raise SystemExit("\n".join(faults[:20]))


def _govern(run: _Run) -> None:
    for size in run.sizes:
        for shape in Shape:
            run.console.print(governing_table(size, governed(run.directory / f"{size}-{shape.name}", size, shape)))


def _impact(run: _Run) -> None:
    run.show(lambda directory, size: impact_table(size, impact(directory, size)))


def _update(run: _Run) -> None:
    run.show(lambda directory, size: updates_table(size, updated(directory, size)))


def _entail(run: _Run) -> None:
    run.show(lambda directory, size: entailment_table(size, entailment(directory, size)))


class _Mode(NamedTuple):
    """A mode: what it does, what the help says, how long it takes, and of whom it is a contest, if it is one."""

    run: Callable[[_Run], None]
    help: str
    takes: str
    entries: tuple[Entry, ...] = ()


_COMPARISON: Final = _Mode(_compare, "", "", ENTRIES)
MODES: Final = {
    "validation": _Mode(_validate, "validation by shapes alone", "a minute; a million triples: ten", VALIDATORS),
    "governing": _Mode(_govern, "what writers wait for while shapes are written", "15 s"),
    "impact": _Mode(_impact, "what registered queries cost a write", "30 s"),
    "entailment": _Mode(_entail, "what follows when a fact comes or goes, beside whole closures", "2 minutes"),
    "log": _Mode(_prove, "what log, state digest and audit take", "10 s"),
    "purge": _Mode(lambda run: run.show(purge_table), "a purge while writers go on", "15 s"),
    "serving": _Mode(_serve, "ours beside `oxigraph serve`; needs wrk", "2 minutes"),
    "answers": _Mode(partial(_serve, rates=False), "large answers beside those of `oxigraph serve`", "a minute"),
    "updates": _Mode(_update, "large updates beside a load of the same", "3 minutes"),
    "load": _Mode(_load, "many clients that read and write beside runaways", "3 minutes, however many facts"),
    "moments": _Mode(
        _ask_of_moments,
        "look-ups at any pair of times, and what snapshots take",
        "a minute, most of it to fill the stores",
        MOMENTS,
    ),
    "profile": _Mode(_profile, "where the CPU of one of our writes goes", "10 s"),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the benchmarks and prints the report."""
    parser = _parser()
    options = parser.parse_args(arguments)
    mode = MODES.get(options.mode, _COMPARISON)
    try:
        entries = _entries(options, mode)
    except ValueError as error:
        parser.error(f"argument --only: {error}")
    console = Console() if Console().is_terminal else Console(width=WIDTH)
    sizes = options.size or ([SMALL] if options.quick else [SMALL, LARGE])
    home().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home(), prefix="run-") as directory:
        run = _Run(console, sizes, QUICK if options.quick else FULL, Path(directory), entries)
        mode.run(run)
        if mode is _COMPARISON and not options.only:
            _validate(replace(run, entries=_entries(options, MODES["validation"])))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measures Muniment and its peers in the same run, and prints ratios: writes, look-ups, loads and "
        "exports, then validation, in some 20 minutes; or what one of the modes below says. How long these take is "
        f"said of {SMALL:,} facts on two cores that do nothing else; {LARGE:,} take about ten times as long.",
    )
    parser.add_argument(
        "--size", type=_sizes, metavar="N,N", help=f"facts in the stores; by default {SMALL},{LARGE}, if quick {SMALL}"
    )
    parser.add_argument("--quick", action="store_true", help="a run of a minute")
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=[],
        metavar="NAME,NAME",
        help=f"these, and ours: {_named()}",
    )
    parser.add_argument(
        "--in-full",
        action="store_true",
        help="all a million facts for pySHACL, too, which takes minutes, and oxilite, which takes 23 GB: else 100,000",
    )
    modes = parser.add_mutually_exclusive_group()
    for name, mode in MODES.items():
        modes.add_argument(
            f"--{name}", dest="mode", action="store_const", const=name, help=f"{mode.help} ({mode.takes})"
        )
    return parser


def _named() -> str:
    """Who takes part in what."""
    contests = {"": _COMPARISON, **{f"--{name}: ": mode for name, mode in MODES.items() if mode.entries}}
    return "; ".join(f"{name}{', '.join(entry.name for entry in mode.entries)}" for name, mode in contests.items())


def _entries(options: argparse.Namespace, mode: _Mode) -> list[Entry]:
    """Who takes part. Raises `ValueError` where that is not for the mode."""
    if options.only and not mode.entries:
        raise ValueError("nobody else takes part in this")
    entries = chosen(options.only, mode.entries)
    return [replace(entry, most=None) for entry in entries] if options.in_full else entries


def _sizes(text: str) -> list[int]:
    sizes = [int(part) for part in text.split(",")]
    if not sizes or min(sizes) < 1:
        raise argparse.ArgumentTypeError("a size is at least 1")
    return sorted(set(sizes))


if __name__ == "__main__":
    main()
