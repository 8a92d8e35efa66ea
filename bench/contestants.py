"""Who takes part, and in what.

Rules
-----
* A measure is the same work for everyone who takes part in it. Ours comes first: others take what it made.
* Naming others than ours leaves out what only ours takes part in: `--only rdflib-jsonld,oxigraph-turtle` is exports.
* Oxigraph alone takes part in single writes without shapes, look-ups and loads: it checks nothing and has no fsync.

Example
-------
>>> [entry.name for entry in chosen(["fluree"])]
['ours', 'fluree']
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.environments import environment, home, same_as_ours
from bench.serving import Ask, Work
from bench.workload import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

OURS: Final = "ours"
HTTP: Final = "ours-http"
RAW: Final = "oxigraph"
FLUREE: Final = "fluree"
FLUREE_BARE: Final = "fluree-bare"
RDFLIB: Final = "rdflib"
RDFLIB_JSONLD: Final = "rdflib-jsonld"
OXIGRAPH_TURTLE: Final = "oxigraph-turtle"

WRITERS: Final = 16


class Measure(Enum):
    """What is measured, in the words of the report."""

    SINGLE = "one durable write of one fact, no shape targets it"
    SHAPED = "one durable write of one fact, a shape targets it"
    MANY = f"{WRITERS} writers, no shape targets their facts"
    MANY_SHAPED = f"{WRITERS} writers, a shape targets their facts"
    LOOK_UP = "current look-up of one value"
    MOMENT = "look-up of one value, each at another pair of times"
    BULK = "bulk load"
    JSONLD = "export of all facts as JSON-LD"
    TURTLE = "export of all facts as Turtle"
    VALIDATION = "validation of a whole graph"
    FACT = "one more fact, judged"
    HUB = "one more pointer at a node that all others point at, judged"
    LEAF = "the same at a node that no other points at, judged"
    ENDED = "one fact that ends, judged"

    @property
    def kind(self) -> Kind:
        """Of the facts written."""
        return Kind.AGED if self in {Measure.SHAPED, Measure.MANY_SHAPED} else Kind.PLAIN

    @property
    def writes(self) -> bool:
        """Whether it takes facts to write."""
        return not self.of_facts and self not in {Measure.LOOK_UP, Measure.MOMENT} and not self.judges

    @property
    def of_facts(self) -> bool:
        """Whether it is one call for all facts, and figures are for one of them."""
        return self in {Measure.BULK, Measure.VALIDATION} or self.exports

    @property
    def judges(self) -> bool:
        """Whether a change is judged, and not made."""
        return self in _JUDGED

    @property
    def validates(self) -> bool:
        """Whether it is for validators (`bench.validators`)."""
        return self is Measure.VALIDATION or self.judges

    @property
    def exports(self) -> bool:
        """Whether it is an export."""
        return self in {Measure.JSONLD, Measure.TURTLE}


_JUDGED: Final = {
    Measure.FACT: Work.FACT, Measure.HUB: Work.HUB, Measure.LEAF: Work.LEAF, Measure.ENDED: Work.ENDED
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done.

    Args:
        rounds: in which everyone is asked for everything, but for loads.
        loads: how often facts are loaded, the load that the store is opened with included; and how often exported.
        single: writes a sample, of one writer.
        many: writes a sample, of 16 writers.
        look_ups: a sample.
        limit: seconds after which a sample, loads apart, is cut.
    """

    rounds: int
    loads: int
    single: int
    many: int
    look_ups: int
    limit: float

    def ask(self, measure: Measure, size: int, first: int, number: int) -> Ask:
        """The request for one sample.

        Args:
            measure: what for.
            size: facts in the store.
            first: number of the first fact to write.
            number: of the round.
        """
        match measure:
            case Measure.SINGLE | Measure.SHAPED:
                return Ask(Work.WRITE, self.single, measure.kind, first, 1, self.limit)
            case Measure.MANY | Measure.MANY_SHAPED:
                return Ask(Work.WRITE, self.many, measure.kind, first, WRITERS, self.limit)
            case Measure.LOOK_UP | Measure.MOMENT:
                return Ask(Work.LOOK_UP, self.look_ups, first=number, limit=self.limit)
            case Measure.BULK:
                return Ask(Work.BULK, size)
            case Measure.JSONLD:
                return Ask(Work.JSONLD, size)
            case Measure.TURTLE:
                return Ask(Work.TURTLE, size)
            case Measure.VALIDATION:
                return Ask(Work.VALIDATE, size)
            case Measure.FACT | Measure.HUB | Measure.LEAF | Measure.ENDED:
                return Ask(_JUDGED[measure], self.single, first=number * self.single, limit=self.limit)


FULL: Final = Effort(rounds=5, loads=3, single=200, many=400, look_ups=500, limit=3.0)
QUICK: Final = Effort(rounds=2, loads=1, single=100, many=200, look_ups=200, limit=1.5)
WARM_UP: Final = Effort(rounds=1, loads=0, single=20, many=32, look_ups=20, limit=1.0)


@dataclass(frozen=True, slots=True)
class Entry:
    """A contestant.

    Args:
        name: by which it is chosen.
        title: in the report.
        module: run in its environment.
        measures: in which it takes part.
        requirements: of its own environment; none for what runs in ours.
        arguments: for the module, after directory and size.
        env: set in its environment.
        exchanges: whether it gives or takes what ours made.
        most: facts that it is opened with at most, where more take too long, or too much memory; None: all.
    """

    name: str
    title: str
    module: str
    measures: frozenset[Measure]
    requirements: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    exchanges: bool = False
    most: int | None = None

    def held(self, size: int) -> int:
        """With how many facts it is opened where so many are asked for."""
        return size if self.most is None else min(size, self.most)

    def command(self) -> list[str]:
        """The Python of its environment, and the module. Raises `Unavailable`."""
        python = environment(home(), self.name, list(self.requirements)) if self.requirements else Path(sys.executable)
        return [str(python), "-m", self.module]


_ALL: Final = frozenset(measure for measure in Measure if not measure.validates) - {Measure.MOMENT}
_WITHOUT_EXPORTS: Final = frozenset(measure for measure in _ALL if not measure.exports)
_SYNCED: Final = (("FLUREE_STORAGE_FSYNC", "1"),)
_FLUREE: Final = ("fluree==4.2.4",)

ENTRIES: Final = (
    Entry(OURS, "ours, in process", "bench.ours", _ALL, exchanges=True),
    Entry(HTTP, "ours, over HTTP", "bench.ours_http", _WITHOUT_EXPORTS - {Measure.BULK}, exchanges=True),
    Entry(FLUREE, "fluree, SHACL on", "bench.peers.fluree", _WITHOUT_EXPORTS, _FLUREE, env=_SYNCED),
    Entry(
        FLUREE_BARE,
        "fluree, SHACL on, no valid time",
        "bench.peers.fluree",
        frozenset({Measure.SINGLE, Measure.MANY, Measure.BULK}),
        _FLUREE,
        ("bare",),
        _SYNCED,
    ),
    Entry(
        RDFLIB,
        "rdflib + pySHACL + fsynced log",
        "bench.peers.rdflib_pyshacl",
        frozenset({Measure.SINGLE, Measure.SHAPED, Measure.LOOK_UP}),
        tuple(same_as_ours("rdflib", "pyshacl")),
    ),
    Entry(
        RAW,
        "oxigraph, same quads, unchecked, no fsync",
        "bench.peers.raw_pyoxigraph",
        frozenset({Measure.SINGLE, Measure.LOOK_UP, Measure.BULK}),
        tuple(same_as_ours("pyoxigraph")),
        exchanges=True,
    ),
    Entry(
        RDFLIB_JSONLD,
        "rdflib, its JSON-LD serialiser",
        "bench.peers.rdflib_jsonld",
        frozenset({Measure.JSONLD}),
        tuple(same_as_ours("rdflib")),
    ),
    Entry(
        OXIGRAPH_TURTLE,
        "oxigraph, its Turtle serialiser",
        "bench.peers.oxigraph_turtle",
        frozenset({Measure.TURTLE}),
        tuple(same_as_ours("pyoxigraph")),
        exchanges=True,
    ),
)


def chosen(names: Sequence[str], entries: Sequence[Entry] = ENTRIES) -> list[Entry]:
    """The contestants named, and ours, which the others are compared with; all of them where none is named.

    Raises:
        ValueError: there is none of that name.
    """
    known = [entry.name for entry in entries]
    strange = set(names) - set(known)
    if strange:
        raise ValueError(f"there is no contestant {', '.join(sorted(strange))}; there are {', '.join(known)}")
    if not names or OURS in names:
        return [entry for entry in entries if not names or entry.name in names]
    others = [entry for entry in entries if entry.name in names]
    ours = next(entry for entry in entries if entry.name == OURS)
    return [replace(ours, measures=frozenset().union(*(entry.measures for entry in others))), *others]
