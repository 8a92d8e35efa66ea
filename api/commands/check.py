"""`muniment check`: files judged by shapes, offline, for a job of continuous integration; or a base as it stands.

Rules
-----
* Of files nothing else is looked at: no base, no network. What is read, and where the shapes may stand, is as
  `bridge.checking.files` has it. A base is read from its folder (`bridge.checking.whole_base`), by a process of its
  own: whoever serves it meanwhile gives neither time nor memory for it.
* What cannot be checked never passes for checked: files that cannot be read, shapes that are not well formed, no
  shapes, and shapes without targets, all leave with their own status.
* The report goes to standard output or to a file, what is said about the check itself to standard error.

Example
-------
::

    muniment check people.ttl --shapes shapes.ttl
    muniment check *.ttl --shapes shapes.ttl --format sarif --output results.sarif --fail-on warning
    muniment check --data data
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.commands.careful import USAGE
from api.commands.options import LEDGER, folder, require_base
from api.commands.output import written_to
from api.commands.progress import PACE, step_progress, waiting
from certificates.findings import Severity
from kernel.counting import counted
from kernel.errors import MunimentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bridge.checking.files import Material
    from bridge.loading.refusals import Refusals
    from bridge.shapes.registry import Shapes
    from bridge.shapes.reports.telling import Telling
    from bridge.shapes.results import Result
    from bridge.shapes.validation import Validations
    from bridge.shapes.wellformed import Problem
    from kernel.time.instants import Instant

CONFORMS: Final = 0
FAILS: Final = 1
NO_CHECK: Final = 2

LISTED: Final = 20
"""Problems of shapes, and notes on them, that are told."""

_GRAVER: Final = {
    Severity.VIOLATION: (Severity.VIOLATION,),
    Severity.WARNING: (Severity.VIOLATION, Severity.WARNING),
    Severity.INFO: (Severity.VIOLATION, Severity.WARNING, Severity.INFO),
}
"""What is at least as grave."""


class ReportFormat(StrEnum):
    """The formats of `--format`."""

    TEXT = "text"
    TURTLE = "turtle"
    NTRIPLES = "n-triples"
    JSON_LD = "json-ld"
    SARIF = "sarif"


@dataclass(frozen=True, slots=True)
class _Check:
    """What was read, and the moment for which it is judged; whole, or as far as shapes can notice it."""

    material: Material
    instant: Instant
    counts: Counter[Severity]
    whole: bool


def check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE...]",
            help="Files to check: .nt .nq .ttl .trig .jsonld .rdf .xml, or .ndjson with one change a line.",
        ),
    ] = None,
    *,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", parser=folder, help="A base's folder to check, instead of files."),
    ] = None,
    shapes: Annotated[
        list[Path] | None,
        typer.Option(
            "--shapes",
            metavar="FILE",
            help="A file with shapes; may be repeated. [default: they are in the files, or in force in the base]",
        ),
    ] = None,
    output_format: Annotated[ReportFormat, typer.Option("--format", help="How to report.")] = ReportFormat.TEXT,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FILE", dir_okay=False, help="Where to write the report. [default: standard output]"
        ),
    ] = None,
    fail_on: Annotated[
        Severity, typer.Option("--fail-on", help="The least severity that makes the check fail.")
    ] = Severity.VIOLATION,
    valid_at: Annotated[
        str | None, typer.Option("--valid-at", metavar="TIME", help="Check what is true then. [default: now]")
    ] = None,
) -> int:
    """Check files by SHACL shapes, offline, or a base as it stands.

    Without --shapes, the shapes are what the files say in the graph https://w3id.org/muniment#shapes; if that is
    nothing, the files are their own shapes graph. Of a base they are those in force. A base may be served meanwhile.

    Exit status: 0 nothing as grave as --fail-on, 1 something, 2 not checked: unreadable files or unusable shapes.

    Example: muniment check people.ttl --shapes shapes.ttl --fail-on warning
    """
    if bool(files) == (data is not None):
        wrong = "files and a base are both named" if files else "nothing is named that could be checked"
        _complain(f"{wrong} (give FILE..., or --data DIR)")
        return USAGE
    try:
        checked = _read(files or [], data, shapes or [], valid_at)
        if checked is None:
            return NO_CHECK
        _report(checked, output_format, output)
    except MunimentError as error:
        typer.echo(f"muniment: {error}", err=True)
        return NO_CHECK
    except BrokenPipeError:  # whatever read the report has ended: no error to speak of
        raise
    except OSError as error:
        typer.echo(f"muniment: {error.filename or 'input or output'}: {error.strerror}", err=True)
        return NO_CHECK
    return FAILS if any(checked.counts[severity] for severity in _GRAVER[fail_on]) else CONFORMS


# --- reading ----------------------------------------------------------------------------------------------------------


def _read(files: list[Path], base: Path | None, shapes: list[Path], valid_at: str | None) -> _Check | None:
    """What is to be checked; None, and why on standard error, if it cannot be."""
    from bridge.checking.files import Reading
    from bridge.host import SystemClock
    from bridge.loading.refusals import Refusals
    from kernel.time.timevalues import parse_point

    instant = SystemClock().now() if valid_at is None else parse_point(valid_at, field="valid-at")
    refusals = Refusals()
    material: Material | None = None
    if files or shapes:
        with step_progress("reading") as progress:
            material = Reading(instant, refusals, _patient(progress)).read(files, shapes)
    complaints = list(_unread(refusals))
    if base is not None and not complaints:
        material = _of_base(base, material, instant)
    if material is None:
        return None
    complaints = complaints or list(_unusable(material))
    for line in complaints:
        _complain(line)
    if complaints:
        return None
    for line in _notes(material):
        _complain(f"note: {line}")
    return _Check(material, instant, Counter(), whole=base is None)


def _of_base(base: Path, given: Material | None, instant: Instant) -> Material:
    from bridge.checking.whole_base import base_material
    from bridge.host import SystemClock
    from bridge.ledger.sqlite import SqliteLedger

    ledger = SqliteLedger.open(require_base(base) / LEDGER, SystemClock())
    with closing(ledger), waiting("reading the base"):
        return base_material(ledger, given, instant)


def _unread(refusals: Refusals) -> Iterator[str]:
    yield from map(str, refusals.listed)
    if refusals.total > len(refusals.listed):
        yield f"… and {refusals.total - len(refusals.listed)} more that cannot be read"


def _unusable(material: Material) -> Iterator[str]:
    """Why nothing can be judged by the shapes."""
    problems = material.shapes.problems
    for problem in problems[:LISTED]:
        yield _in_words(problem, material, "the shapes cannot be used, ")
    if len(problems) > LISTED:
        yield f"… and {len(problems) - LISTED} more problems of the shapes"
    if not problems and not material.shapes_found:
        yield "there are no shapes (give a file that has some: --shapes FILE)"
    elif not problems and material.shapes.model.shapes and not material.shapes.model.roots:
        yield "no shape has a target, so nothing would be checked (write sh:targetClass, or another target)"


def _in_words(problem: Problem, material: Material, what: str) -> str:
    from bridge.shapes.reports.telling import Telling
    from bridge.shapes.vocabulary import is_blank

    telling = Telling(material.shapes.document)
    place = f"at {telling.place(problem.place)}"
    where = material.place(problem.place)
    value = "" if problem.value is None or is_blank(problem.value) else f", in {problem.value.n3}"
    return f"{where or 'shapes'}: {what}{place}{value}: {telling.reason(problem)}"


def _notes(material: Material) -> Iterator[str]:
    for imported in material.imports:
        yield f"the shapes import {imported}, which is not fetched: give it with --shapes"
    if not material.shapes.problems:
        yield from _in_vain(material)
    if material.unused:
        unused = counted(material.unused, "statement")
        are = "is" if material.unused == 1 else "are"
        yield f"{unused} in the graph m:shapes of the files {are} not used, as --shapes is given"


def _in_vain(material: Material) -> Iterator[str]:
    """What the shapes say, and nothing is judged by."""
    undescribed, idle = material.shapes.undescribed, material.shapes.idle
    for problem in undescribed[:LISTED]:
        yield _in_words(problem, material, "")
    if len(undescribed) > LISTED:
        more = counted(len(undescribed) - LISTED, "more reference to a shape", "more references to shapes")
        yield f"… and {more} not there"
    for problem in idle[:LISTED]:
        yield _in_words(problem, material, "what the shapes say has no effect, ")
    if len(idle) > LISTED:
        yield f"… and {len(idle) - LISTED:,} more without effect"


# --- reporting --------------------------------------------------------------------------------------------------------


def _report(checked: _Check, wanted: ReportFormat, output: Path | None) -> None:
    from bridge.shapes.reports.telling import Telling
    from bridge.shapes.validation import Validations

    material = checked.material
    telling = Telling(material.shapes.document) if checked.whole else _of_a_base(material.shapes)
    validation = Validations(material.judged)
    if not validation.foci:
        where = "files" if checked.whole else "base"
        _complain(f"note: nothing in the {where} is a target of any shape, so there was nothing to judge")
    with written_to(output) as file, step_progress("judging") as progress:
        results = telling.counted(validation.results(_patient(progress)), checked.counts)
        for piece in _pieces(checked, wanted, results, validation, telling):
            file.write(piece.encode("utf-8", "backslashreplace"))


def _of_a_base(shapes: Shapes) -> Telling:
    """Tells of results with what is waived: of the data that is there, by the waivers that have not ended."""
    from bridge.host import SystemClock
    from bridge.shapes.reports.telling import Telling

    now = SystemClock().now()
    return Telling(shapes.document, lambda result: shapes.waivers.of(result, now, is_there=True))


def _pieces(
    checked: _Check, wanted: ReportFormat, results: Iterable[Result], validation: Validations, telling: Telling
) -> Iterator[str]:
    from bridge.shapes.reports import rdf
    from bridge.shapes.reports.sarif import alerts_of, sarif

    match wanted:
        case ReportFormat.TURTLE:
            return rdf.turtle(rdf.result_nodes(results, telling))
        case ReportFormat.NTRIPLES:
            return rdf.ntriples(rdf.result_nodes(results, telling))
        case ReportFormat.JSON_LD:
            return rdf.jsonld(rdf.result_nodes(results, telling))
        case ReportFormat.SARIF:
            return sarif(alerts_of(results, telling, checked.material.place))
        case ReportFormat.TEXT:
            return _text(checked, results, validation, telling)


def _text(checked: _Check, results: Iterable[Result], validation: Validations, telling: Telling) -> Iterator[str]:
    from api.commands.tables import printable
    from bridge.shapes.reports.words import Groups
    from kernel.time.instants import print_instant

    groups = Groups(telling, checked.material.data)
    for result in results:
        groups.add(result)
    for line in groups.lines(checked.material.place):
        yield f"{printable(line)}\n"
    roots = len(checked.material.shapes.model.roots)
    looked_at = "" if checked.whole else " that the shapes look at"
    count = counted(len(checked.material.data) - checked.material.beside, "statement")
    yield f"checked   {count}{looked_at}, valid at {print_instant(checked.instant)}\n"
    yield f"judged    {counted(validation.foci, 'node')} by {counted(roots, 'shape')} with targets\n"
    found = [counted(checked.counts[each], each.value) for each in Severity if checked.counts[each]]
    conforms = f"nothing: the {'files conform' if checked.whole else 'base conforms'}"
    waived = f", {groups.waived:,} of them waived" if groups.waived else ""
    yield f"found     {', '.join(found) or conforms}{waived}\n"


def _complain(line: str) -> None:
    from api.commands.tables import printable

    typer.echo(f"muniment: {printable(line)}", err=True)


def _patient(tell: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Tells of what takes over a second, and says nothing of what takes less."""
    began = monotonic()

    def further(done: int, total: int) -> None:
        if monotonic() - began >= PACE:
            tell(done, total)

    return further
