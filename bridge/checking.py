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
* Blank nodes have the same names each time the same files are read: nothing of it is kept, so nobody need not guess
  them.

Example
-------
::

    material = Reading(instant, refusals, progress).read([Path("people.ttl")], [Path("shapes.ttl")])
    Validation(material.shapes, material.data).results()
"""

from __future__ import annotations

from functools import cached_property, partial
from itertools import chain
from mmap import ACCESS_READ, mmap
from typing import TYPE_CHECKING, Final, TypeAlias

from bridge.documents.records import read_records
from bridge.loading.assertions import Assertions
from bridge.loading.counted import Counted
from bridge.loading.files import CHANGES, LoadFile, nodes_of, read_file
from bridge.loading.options import LoadOptions
from bridge.loading.refusals import Refusal
from bridge.placing import Lines, Place
from bridge.shapes.data import Data
from bridge.shapes.document import ShapesDocument
from bridge.shapes.model import shapes_of
from bridge.shapes.overlay import is_data
from bridge.shapes.registry import Shapes
from bridge.shapes.vocabulary import OWL
from bridge.terms import OxigraphCanonicaliser
from kernel.access import Principal, Role
from kernel.changes import Assert
from kernel.errors import CallerError
from kernel.facts import Validity
from kernel.terms import Iri, Literal
from kernel.vocabulary import SHAPES_GRAPH, M

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from bridge.documents.reader import Asserted
    from bridge.loading.assertions import Nodes
    from bridge.loading.refusals import Refusals
    from kernel.facts import Spelling
    from kernel.instants import Instant
    from kernel.terms import Statement, Term

_SEED: Final = bytes(16)
_OPTIONS: Final = LoadOptions()
_READER: Final = Principal("check", Role.ADMINISTRATOR)
_RECORDS: Final = M.encode()
"""Without it in its bytes, a document has no annotations."""

_IMPORTS: Final = Iri(OWL + "imports")

_Said: TypeAlias = "tuple[Statement, Spelling, Validity]"


class Material:
    """What is to be checked.

    Args:
        data: what holds.
        shapes: to check it by.
        sources: the first file that describes a node.

    Attributes:
        unused: how many statements the files have in m:shapes although shapes were given besides.
    """

    def __init__(self, data: Data, shapes: Shapes, sources: Mapping[Iri, Path], unused: int) -> None:
        self.data = data
        self.shapes = shapes
        self.unused = unused
        self._sources = sources
        self._lines = Lines()

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
        for subject, _, value in chain(of_data, self.shapes.document):
            if value not in self._sources:
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
        total, before = sum(file.size for file in every), 0
        data, own, given = Data({}, self._instant), Data({}), Data({})
        for number, file in enumerate(every):
            tell = partial(_further, self._progress, before, total)
            for statement, spelling in self._held(file, number, tell):
                if number >= len(files):
                    _add(given, statement, spelling)
                elif statement.graph == SHAPES_GRAPH:
                    _add(own, statement, spelling)
                elif is_data(statement.graph):
                    _add(data, statement, spelling)
            before += file.size
        document = ShapesDocument.of_triples((given if shapes else own or data).items())
        return Material(data, Shapes(document), self._sources, len(own) if shapes else 0)

    def _held(self, file: LoadFile, number: int, tell: Callable[[int], None]) -> Iterator[tuple[Statement, Spelling]]:
        """What holds at the instant of what a file says."""
        with Counted(file.path, tell) as stream:
            for statement, spelling, validity in self._said(file, number, stream):
                if validity.interval.contains(self._instant):
                    self._sources.setdefault(statement.subject, file.path)
                    yield statement, spelling

    def _said(self, file: LoadFile, number: int, stream: Counted) -> Iterator[_Said]:
        nodes = nodes_of(file, number, _SEED)
        if file.suffix != CHANGES and _may_have_records(stream):
            yield from self._annotated(file, stream, nodes)
            return
        for item in read_file(file, stream, Assertions(_OPTIONS, _READER, nodes)):
            if isinstance(item, Refusal):
                self._refusals.add(item)
            else:
                yield item.statement, item.spelling, item.validity

    def _annotated(self, file: LoadFile, stream: Counted, nodes: Nodes) -> Iterator[_Said]:
        """What a document with annotations says; it is read whole."""
        asserted: list[Asserted] = []
        for item in read_file(file, stream, _WithRecords(_OPTIONS, _READER, nodes)):
            if isinstance(item, Refusal):
                self._refusals.add(item)
            else:
                asserted.append((item.statement, item.spelling))
        try:
            for each in read_records(asserted, OxigraphCanonicaliser()):
                yield each.statement, each.spelling, each.validity or Validity.always()
        except CallerError as error:
            self._refusals.add(Refusal(str(file.path), None, error.code, str(error), ends_file=True))


class _WithRecords(Assertions):
    """Assertions of a document whose annotations are read later."""

    def of_statement(self, asserted: Asserted) -> Assert:
        """What a statement asserts, also one that belongs to a record."""
        statement, spelling = asserted
        return Assert(statement, Validity.always(), spelling)


def _add(data: Data, statement: Statement, spelling: Spelling) -> None:
    value = statement.object
    spellings = (spelling.object or value,) if isinstance(value, Literal) else ()
    data.add((statement.subject, statement.predicate, value), spellings)


def _may_have_records(stream: Counted) -> bool:
    if not stream.size:
        return False  # an empty file cannot be mapped
    with mmap(stream.fileno(), 0, access=ACCESS_READ) as mapped:
        return mapped.find(_RECORDS) >= 0


def _further(progress: Callable[[int, int], None], before: int, total: int, done: int) -> None:
    progress(before + done, total)
