"""Documents of any length, read as a stream: Turtle, TriG, RDF/XML; and JSON-LD, which has to be read whole.

Rules
-----
* Nothing after a syntax error can be trusted: it ends the file. A statement that cannot be loaded does not.
* The text is prepared as `documents.reader` has it (language tags, nesting), but through a file mapped into memory.
  Where tags have to be marked, the marked text goes to a temporary file.
* A document has no lines: a refusal of a statement shows the statement.

Example
-------
::

    with Counted(path, tell) as stream:
        for item in read_document(stream, "facts.ttl", RdfFormat.TURTLE, assertions):
            ...                                             # an Assert or a Refusal
"""

from __future__ import annotations

from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.documents import turtle_text, xml_text
from bridge.documents.jsonld import read_jsonld
from bridge.documents.reader import unreadable
from bridge.loading.assertions import HasRecords
from bridge.loading.refusals import Refusal
from kernel.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from bridge.loading.assertions import Assertions
    from bridge.loading.counted import Counted
    from kernel.changes import Assert

_SHOWN: Final = 200


def read_document(
    stream: Counted, name: str, written: ox.RdfFormat, assertions: Assertions
) -> Iterator[Assert | Refusal]:
    """What is in a document of Turtle, TriG or RDF/XML.

    Args:
        stream: at the beginning of the file.
        name: of the file, for refusals.
        written: its format.
        assertions: makes assertions of quads.
    """
    if not stream.size:
        return  # an empty file cannot be mapped
    with mmap(stream.fileno(), 0, access=ACCESS_READ) as mapped:
        try:
            with _prepared(stream, mapped, written, assertions) as text:
                yield from _statements(ox.parse(text, written), name, assertions)
        except CallerError as error:
            yield Refusal(name, None, error.code, str(error), ends_file=True)
        except SyntaxError as error:
            refused = unreadable(error, mapped, written)
            yield Refusal(name, error.lineno, refused.code, str(refused), ends_file=True)


def read_json_ld(stream: BinaryIO, name: str, assertions: Assertions) -> Iterator[Assert | Refusal]:
    """What is in a document of JSON-LD; arguments as for `read_document`."""
    try:
        conversion = assertions.conversion
        asserted = conversion.of_triples(read_jsonld(stream.read(), conversion.skolem))
    except CallerError as error:
        yield Refusal(name, None, error.code, str(error), ends_file=True)
        return
    for each in asserted:
        try:
            yield assertions.of_statement(each)
        except CallerError as error:
            yield _refused(name, error, each[0].nquad)


@contextmanager
def _prepared(stream: Counted, mapped: mmap, written: ox.RdfFormat, assertions: Assertions) -> Iterator[BinaryIO]:
    """The text as the parser is to have it. Raises `InvalidDocument` where it is nested too deep."""
    text = xml_text if written == ox.RdfFormat.RDF_XML else turtle_text
    pieces = text.marked_pieces(mapped)
    if pieces is None:
        yield stream
        return
    with TemporaryFile() as marked:
        marked.writelines(pieces)
        marked.seek(stream.tell())  # past a byte order mark
        assertions.conversion.marked = True
        yield marked


def _statements(quads: ox.QuadParser, name: str, assertions: Assertions) -> Iterator[Assert | Refusal]:
    for quad in quads:
        try:
            yield assertions.of_quad(quad)
        except CallerError as error:
            yield _refused(name, error, str(quad))


def _refused(name: str, error: CallerError, statement: str) -> Refusal:
    message = f"{error}: {statement:.{_SHOWN}}"
    return Refusal(name, None, error.code, message, ends_file=isinstance(error, HasRecords))
