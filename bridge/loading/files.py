"""The files of a load session, read as one stream of assertions and refusals.

Rules
-----
* The format follows from the suffix: N-Triples, N-Quads, Turtle, TriG, JSON-LD, RDF/XML, and `.ndjson`, which is one
  change in JSON a line, as `POST /changes` takes them, `assert` alone.
* Formats of lines go on after a bad line. In the others nothing after a syntax error can be trusted: it ends the file.
* A file that names graphs cannot be loaded into one.
* Memory: a block of lines, and what `bridge.loading.assertions` says of blank nodes. JSON-LD is read whole.

Example
-------
::

    for item in FileReader(options, principal, seed).read([LoadFile.of(Path("facts.nt"))], progress):
        ...                                         # an Assert, or a Refusal that names file and line
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import file_digest
from typing import TYPE_CHECKING, Final, Self

import pyoxigraph as ox

from bridge.loading.assertions import Assertions, Nodes
from bridge.loading.counted import Counted
from bridge.loading.documents import read_document, read_json_ld
from bridge.loading.lines import changes, read_lines, statements
from kernel.errors import InvalidDocument, InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from bridge.loading.options import LoadOptions
    from bridge.loading.refusals import Refusal
    from kernel.access import Principal
    from kernel.changes import Assert

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
            progress: told how many bytes are read, and of how many.

        Raises:
            OSError: a file cannot be read.
        """
        total = sum(file.size for file in files)
        before = 0
        for number, file in enumerate(files):
            with Counted(file.path, partial(_further, progress, before, total)) as stream:
                yield from self._items(file, number, stream)
            before += file.size

    def _items(self, file: LoadFile, number: int, stream: Counted) -> Iterator[Assert | Refusal]:
        nodes = nodes_of(file, number, self._seed)
        return read_file(file, stream, Assertions(self._options, self._principal, nodes))


def nodes_of(file: LoadFile, number: int, seed: bytes) -> Nodes:
    """The names of the blank nodes of a file; arguments as for `Nodes`."""
    return Nodes(seed, number, labelled=file.suffix in LINES or file.suffix == CHANGES)


def read_file(file: LoadFile, stream: Counted, assertions: Assertions) -> Iterator[Assert | Refusal]:
    """Everything in one file.

    Args:
        file: of any of the formats.
        stream: at its beginning.
        assertions: makes assertions of what it says.
    """
    name, suffix = str(file.path), file.suffix
    if suffix in LINES:
        return read_lines(stream, name, statements(assertions, LINES[suffix]))
    if suffix == CHANGES:
        return read_lines(stream, name, changes(assertions))
    if suffix == JSON_LD:
        return read_json_ld(stream, name, assertions)
    return read_document(stream, name, DOCUMENTS[suffix], assertions)


def _further(progress: Callable[[int, int], None], before: int, total: int, done: int) -> None:
    progress(before + done, total)
