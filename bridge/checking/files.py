"""Files as a data graph and a shapes graph, to be checked offline.

Rules
-----
* Read is whatever `muniment load` reads, each literal in the spelling that it has in the file. Documents with
  annotations (`bridge.documents.records`) and lines of changes bring times of their own; all else holds always. What
  does not hold at the instant asked for is left out.
* The data graph is what all files say, whatever graph they say it in, axioms such as rdfs:subClassOf included; but not
  the reserved graphs of a base, its ontology aside. As on a write.
* The shapes are in files of their own. If none is given, they are what the files say in the graph m:shapes; and if
  that is nothing, the files are their own shapes graph.
* The confidence that a record or a change has is evidence for what it says, as on a write, where a shape asks for some;
  so is whatever reifies a statement of the files (SHACL 1.2 Core). An episode is given with a load, and in no file.
* Blank nodes have the same names each time the same files are read: nothing of it is kept, so nobody need not guess
  them.

Example
-------
::

    material = Reading(instant, refusals, progress).read([Path("people.ttl")], [Path("shapes.ttl")])
    Validations(material.judged).results()
"""

from __future__ import annotations

from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Final
from uuid import UUID

from bridge.checking.placing import Lines, Place
from bridge.loading.assertions import Assertions
from bridge.loading.files import LoadFile, nodes_of, read_file
from bridge.loading.options import LoadOptions
from bridge.loading.refusals import Refusal
from bridge.shapes.data import Data
from bridge.shapes.document import ShapesDocument
from bridge.shapes.evidence import described
from bridge.shapes.model import shapes_of
from bridge.shapes.overlay import is_data
from bridge.shapes.registry import Shapes
from bridge.shapes.vocabulary import OWL
from certificates.ids import derived_id
from kernel.access import Principal, Role
from kernel.facts import Evidence, EvidenceContent, Spelling
from kernel.terms import Iri, Literal
from kernel.vocabulary import SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from decimal import Decimal
    from pathlib import Path

    from bridge.loading.refusals import Refusals
    from bridge.shapes.document import Triple
    from kernel.changes import Assert
    from kernel.terms import Statement, Term
    from kernel.time.instants import Instant

_SEED: Final = bytes(16)
_LOAD: Final = UUID(bytes=_SEED)
_OPTIONS: Final = LoadOptions()
_READER: Final = Principal("check", Role.ADMINISTRATOR)
_IMPORTS: Final = Iri(OWL + "imports")


class Material:
    """What is to be checked.

    Args:
        judged: what holds, with the shapes to check it by; several times where sets of shapes are bound to graphs.
        shapes: all of them.
        sources: the first file that describes a node; none of what is no file's.

    Attributes:
        unused: how many statements the files have in m:shapes although shapes were given besides.
        beside: how many statements of the data no file has: they describe evidence.
    """

    def __init__(
        self,
        judged: Sequence[tuple[Shapes, Data]],
        shapes: Shapes,
        sources: Mapping[Iri, Path],
        unused: int,
        beside: int = 0,
    ) -> None:
        self.judged = judged
        self.shapes = shapes
        self.unused = unused
        self.beside = beside
        self._sources = sources
        self._lines = Lines()

    @cached_property
    def data(self) -> Data:
        """All of what holds."""
        if len(self.judged) == 1:
            return self.judged[0][1]
        found = Data({})
        for _, data in self.judged:
            for triple, spellings in data.items():
                found.add(triple, spellings)
        return found

    @property
    def shapes_found(self) -> bool:
        """Whether there is any shape, be it deactivated."""
        return bool(shapes_of(self.shapes.document))

    @property
    def imports(self) -> list[str]:
        """What the shapes import by owl:imports; nobody fetches it."""
        named = (value for _, name, value in self.shapes.document if name == _IMPORTS)
        return sorted({value.value for value in named if isinstance(value, Iri)})

    def place(self, node: Term) -> Place | None:
        """Where a node is first described, or else the first file that has it as a value.

        Raises:
            OSError: the file cannot be read again.
        """
        path = self._sources.get(node) if isinstance(node, Iri) else None
        if path is None or not isinstance(node, Iri):
            path = self._mentioned.get(node)
            return None if path is None else Place(path, None)
        return Place(path, self._lines.of(path, node.value))

    @cached_property
    def _mentioned(self) -> Mapping[Term, Path]:
        """The files of nodes that are values and are not described."""
        found: dict[Term, Path] = {}
        of_data = (triple for triple, _ in self.data.items())
        for subject, _, value in chain(of_data, self.shapes.document) if self._sources else ():
            if value not in self._sources and subject in self._sources:
                found.setdefault(value, self._sources[subject])
        return found


class Reading:
    """Reads files to check.

    Args:
        instant: what holds then is checked.
        refusals: gets what cannot be read.
        progress: told how many bytes are read, and of how many.
    """

    def __init__(self, instant: Instant, refusals: Refusals, progress: Callable[[int, int], None]) -> None:
        self._instant = instant
        self._refusals = refusals
        self._progress = progress
        self._sources: dict[Iri, Path] = {}

    def read(self, files: Sequence[Path], shapes: Sequence[Path]) -> Material:
        """What is in the files.

        Args:
            files: with data.
            shapes: files with shapes; none: they are in the others.

        Raises:
            InvalidParameter: a file of no format that is read.
            OSError: a file cannot be read.
        """
        every = [LoadFile.of(path) for path in (*files, *shapes)]
        total, before = 2 * sum(file.size for file in every), 0
        data, own, given = Data({}, self._instant), Data({}), Data({})
        sure: list[tuple[Triple, Decimal]] = []
        for number, file in enumerate(every):
            tell = partial(_further, self._progress, before, total)
            for item in self._held(file, number, tell):
                statement, spelling = item.statement, item.spelling
                if number >= len(files):
                    _add(given, statement, spelling)
                elif statement.graph == SHAPES_GRAPH:
                    _add(own, statement, spelling)
                elif is_data(statement.graph):
                    _add(data, statement, spelling)
                    if item.confidence is not None:
                        sure.append(((statement.subject, statement.predicate, statement.object), item.confidence))
            before += 2 * file.size
        document = ShapesDocument.of_triples((given if shapes else own or data).items())
        found, count = Shapes(document), len(data)
        if sure and not found.problems:
            self._support(data, [each for each in sure if each[0][1] in found.model.reified])
        return Material([(found, data)], found, self._sources, len(own) if shapes else 0, len(data) - count)

    def _support(self, data: Data, sure: Iterable[tuple[Triple, Decimal]]) -> None:
        """Adds what evidence for statements says: their confidences."""
        for number, (triple, confidence) in enumerate(sure):
            evidence, fact = (derived_id(_LOAD, kind, number) for kind in ("evidence", "fact"))
            content = EvidenceContent(evidence, fact, None, confidence, Spelling())
            for said, spellings in described(Evidence(content, _LOAD, self._instant), triple):
                data.add(said, spellings)

    def _held(self, file: LoadFile, number: int, tell: Callable[[int], None]) -> Iterator[Assert]:
        """What holds at the instant of what a file says."""
        assertions = Assertions(_OPTIONS, _READER, nodes_of(file, number, _SEED))
        for item in read_file(file, assertions, tell):
            if isinstance(item, Refusal):
                self._refusals.add(item)
            elif item.validity.interval.contains(self._instant):
                self._sources.setdefault(item.statement.subject, file.path)
                yield item


def _add(data: Data, statement: Statement, spelling: Spelling) -> None:
    value = statement.object
    spellings = (spelling.object or value,) if isinstance(value, Literal) else ()
    data.add((statement.subject, statement.predicate, value), spellings)


def _further(progress: Callable[[int, int], None], before: int, total: int, done: int) -> None:
    progress(before + done, total)
