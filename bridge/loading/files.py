"""The files of a load session, read as one stream of assertions and refusals.

Rules
-----
* The format follows from the suffix: N-Triples, N-Quads, Turtle, TriG, JSON-LD, RDF/XML, and `.ndjson`, which is one
  change in JSON a line, as `POST /changes` takes them, `assert` alone.
* Formats of lines go on after a bad line. In the others nothing after a syntax error can be trusted: it ends the file.
* A file that names graphs cannot be loaded into one.
* A file is looked through for records of facts first. With such in it, it is gathered as a whole, and nothing of it can
  be left out: a line that is missing could be the end of some fact's valid time.
* Memory: a block of lines, some pages of what is gathered (`bridge.loading.gathering`), and what
  `bridge.loading.assertions` says of blank nodes. JSON-LD is read whole.

Example
-------
::

    for item in FileReader(options, principal, seed).read([LoadFile.of(Path("facts.nt"))], progress):
        ...                                         # an Assert, or a Refusal that names file and line
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from hashlib import file_digest
from typing import TYPE_CHECKING, Final, Self, TypeVar

import pyoxigraph as ox

from bridge.documents.records import RECORD_WORDS
from bridge.loading.assertions import Assertions, Nodes
from bridge.loading.counted import Counted
from bridge.loading.documents import read_document, read_json_ld, refused_statement
from bridge.loading.gathering import Gathered
from bridge.loading.lines import changes, read_lines, statements
from bridge.loading.refusals import Refusal
from bridge.terms import OxigraphCanonicaliser
from kernel.errors import CallerError, InvalidDocument, InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from bridge.documents.reader import Conversion
    from bridge.documents.records import Item
    from bridge.loading.options import LoadOptions
    from kernel.access import Principal
    from kernel.changes import Assert

T = TypeVar("T")

LINES: Final = {".nt": ox.RdfFormat.N_TRIPLES, ".nq": ox.RdfFormat.N_QUADS}
DOCUMENTS: Final = {
    ".ttl": ox.RdfFormat.TURTLE,
    ".trig": ox.RdfFormat.TRIG,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".xml": ox.RdfFormat.RDF_XML,
}
JSON_LD: Final = ".jsonld"
CHANGES: Final = ".ndjson"
SUFFIXES: Final = (*LINES, *DOCUMENTS, JSON_LD, CHANGES)

_RECORD_WORDS: Final = frozenset(each.value for each in RECORD_WORDS)


@dataclass(frozen=True, slots=True)
class LoadFile:
    """A file as it was when the session was named.

    Args:
        path: as it was given.
        suffix: in lower case, one of `SUFFIXES`.
        digest: SHA-256 of the content, in hexadecimal.
        size: in bytes.
        changed: when it was last written, in nanoseconds.
    """

    path: Path
    suffix: str
    digest: str
    size: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> Self:
        """The file as it is now.

        Raises:
            InvalidParameter: its suffix is not that of a format that is read.
            OSError: it cannot be read.
        """
        suffix = path.suffix.lower()
        if suffix not in SUFFIXES:
            raise InvalidParameter(
                f"{path} has no suffix of a format that is read",
                remedy=f"name the file with one of {' '.join(SUFFIXES)}",
                where=str(path),
            )
        with path.open("rb") as file:
            status = path.stat()
            return cls(path, suffix, file_digest(file, "sha256").hexdigest(), status.st_size, status.st_mtime_ns)

    def require_unchanged(self) -> None:
        """Raises `InvalidDocument` if the file has been written since."""
        status = self.path.stat()
        if (status.st_size, status.st_mtime_ns) != (self.size, self.changed):
            raise InvalidDocument(
                "the file was written to while it was read", remedy="load it once it is whole", where=str(self.path)
            )


class FileReader:
    """Reads the files of one session.

    Args:
        options: of the session.
        principal: who loads; what it may not write is refused.
        seed: of the session, from which its blank nodes are named.
    """

    def __init__(self, options: LoadOptions, principal: Principal, seed: bytes) -> None:
        self._options = options
        self._principal = principal
        self._seed = seed

    def read(self, files: Sequence[LoadFile], progress: Callable[[int, int], None]) -> Iterator[Assert | Refusal]:
        """Everything in the files, in order.

        Args:
            files: of the session.
            progress: told how many bytes are read, and of how many; each file is read twice.

        Raises:
            OSError: a file cannot be read.
        """
        total, before = 2 * sum(file.size for file in files), 0
        for number, file in enumerate(files):
            nodes = nodes_of(file, number, self._seed)
            assertions = Assertions(self._options, self._principal, nodes)
            yield from read_file(file, assertions, partial(_further, progress, before, total))
            before += 2 * file.size


def nodes_of(file: LoadFile, number: int, seed: bytes) -> Nodes:
    """The names of the blank nodes of a file; arguments as for `Nodes`."""
    return Nodes(seed, number, labelled=file.suffix in LINES or file.suffix == CHANGES)


def read_file(file: LoadFile, assertions: Assertions, tell: Callable[[int], None]) -> Iterator[Assert | Refusal]:
    """Everything in one file.

    Args:
        file: of any of the formats.
        assertions: makes assertions of what it says.
        tell: told how many bytes are read, up to twice the file's size.

    Raises:
        OSError: it cannot be read.
    """
    records = file.suffix not in {CHANGES, JSON_LD} and _has_records(file, assertions.conversion, tell)
    with Counted(file.path, lambda done: tell(file.size + done)) as stream:
        if file.suffix == CHANGES:
            yield from read_lines(stream, str(file.path), changes(assertions))
        elif file.suffix == JSON_LD:
            yield from read_json_ld(stream, str(file.path), assertions)
        elif records:
            yield from _gathered(file, stream, assertions)
        else:
            yield from _quads(file, stream, assertions.conversion, assertions.of_quad)


def _has_records(file: LoadFile, conversion: Conversion, tell: Callable[[int], None]) -> bool:
    """Whether there is a record of a fact in the file, as far as it can be read."""
    with Counted(file.path, tell) as stream:
        return any(each is True for each in _quads(file, stream, conversion, _is_of_record))


def _is_of_record(quad: ox.Quad) -> bool:
    return quad.predicate.value in _RECORD_WORDS


def _quads(
    file: LoadFile, stream: Counted, conversion: Conversion, take: Callable[[ox.Quad], T]
) -> Iterator[T | Refusal]:
    """What is taken of each quad in a file."""
    name = str(file.path)
    if file.suffix in LINES:
        return read_lines(stream, name, statements(conversion, LINES[file.suffix], take))
    return read_document(stream, name, DOCUMENTS[file.suffix], conversion, take)


def _gathered(file: LoadFile, stream: Counted, assertions: Assertions) -> Iterator[Assert | Refusal]:
    """What a file with records says."""
    name, conversion = str(file.path), assertions.conversion
    with closing(Gathered()) as gathered:
        for each in _quads(file, stream, conversion, conversion.of_quad):
            if isinstance(each, Refusal):
                yield replace(each, ends_file=True)
            else:
                gathered.add(each)
        for item in gathered.items(OxigraphCanonicaliser()):
            yield _asserted(item, name, assertions)


def _asserted(item: Item | CallerError, name: str, assertions: Assertions) -> Assert | Refusal:
    if isinstance(item, CallerError):
        return Refusal(name, None, item.code, str(item), ends_file=True)
    try:
        return assertions.of_item(item)
    except CallerError as error:
        return refused_statement(name, error, item.statement.nquad)


def _further(progress: Callable[[int, int], None], before: int, total: int, done: int) -> None:
    progress(before + done, total)
