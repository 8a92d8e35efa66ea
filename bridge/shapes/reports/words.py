r"""Results in words, grouped by cause: a page that one can read, however many there are.

Rules
-----
* Of one cause are the results of one shape, path and constraint component: what mends one probably mends all. A cause
  is told once, with how many results it has and the first few of them; those that one waiver covers are a cause of
  their own.
* The gravest come first, and of those the most frequent. Of very many causes the first `CAUSES` are told, the rest is
  counted.
* A node without a name is told by something that is said of it.
* Memory holds the causes and their samples, not the results.

Example
-------
::

    groups = Groups(telling, data)
    for result in validation.results():
        groups.add(result)
    print("\n".join(groups.lines(place)))
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from bridge.shapes.reports.telling import component_name
from bridge.shapes.vocabulary import is_blank
from certificates.findings import Severity
from kernel.terms import Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bridge.checking.placing import Place
    from bridge.shapes.data import Data
    from bridge.shapes.reports.telling import Telling
    from bridge.shapes.results import Result
    from kernel.terms import Iri, Term

SAMPLES: Final = 3
"""Results of a cause that are told."""

CAUSES: Final = 40
"""Causes that are told."""

_LONGEST: Final = 120
_GRAVITY: Final = {Severity.VIOLATION: 0, Severity.WARNING: 1, Severity.INFO: 2}

_Cause: TypeAlias = "tuple[Iri, str | None, Iri, Iri | None, Iri | None]"


@dataclass(slots=True)
class _Group:
    severity: Severity
    count: int = 0
    samples: list[Result] = field(default_factory=list)


class Groups:
    """Results by cause.

    Args:
        telling: of the shapes that they are of.
        data: that was judged.
    """

    def __init__(self, telling: Telling, data: Data) -> None:
        self._telling = telling
        self._data = data
        self._groups: dict[_Cause, _Group] = {}

    def add(self, result: Result) -> None:
        """Counts one more."""
        waiver = self._telling.waiver(result)
        by = None if waiver is None else waiver.node
        cause = (result.shape, result.path, result.component, result.constraint, by)
        group = self._groups.get(cause)
        if group is None:
            group = self._groups[cause] = _Group(self._telling.severity(result))
        group.count += 1
        if len(group.samples) < SAMPLES:
            group.samples.append(result)

    @property
    def waived(self) -> int:
        """How many of them waivers cover."""
        return sum(group.count for (*_, waiver), group in self._groups.items() if waiver is not None)

    def lines(self, place: Callable[[Term], Place | None]) -> Iterator[str]:
        """What was found, the gravest first.

        Args:
            place: where a node is described.
        """
        groups = sorted(self._groups.values(), key=lambda group: (_GRAVITY[group.severity], -group.count))
        for group in groups[:CAUSES]:
            yield from self._told(group, place)
            yield ""
        rest = groups[CAUSES:]
        if rest:
            yield f"… and {sum(group.count for group in rest):,} more, of {len(rest):,} other causes"
            yield ""

    def _told(self, group: _Group, place: Callable[[Term], Place | None]) -> Iterator[str]:
        first = group.samples[0]
        told = f"{group.severity.value} × {group.count:,}" if group.count > 1 else group.severity.value
        subject = "" if first.path is None else f"{_cut(first.path)} "
        yield f"{told}: {subject}{self._telling.cause(first)}"
        yield f"  {component_name(first.component)}, by {self._telling.name(first.shape)}"
        waiver = self._telling.waiver(first)
        if waiver is not None:
            yield f"  {waiver.told}"
        for result in group.samples:
            yield f"    {self._sample(result, place(result.focus))}"
        if group.count > len(group.samples):
            yield f"    … and {group.count - len(group.samples):,} more"

    def _sample(self, result: Result, place: Place | None) -> str:
        value = result.spelled or result.value
        if value is not None and result.value == result.focus:
            shown = self._shown(value)
        else:
            shown = "  ".join(self._shown(each) for each in (result.focus, value) if each is not None)
        return shown if place is None else f"{place}: {shown}"

    def _shown(self, term: Term) -> str:
        if not is_blank(term):
            return _cut(term.n3)
        said = [(name, value) for name, values in self._data.outgoing(term).items() for value in values]
        telling = next((each for each in said if isinstance(each[1], Literal)), next(iter(said), None))
        if telling is None or is_blank(telling[1]):
            return "a node without a name"
        return f"a node without a name, with {_cut(f'{telling[0].n3} {telling[1].n3}')}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
