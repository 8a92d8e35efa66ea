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
        for item in read_document(stream, "facts.ttl", RdfFormat.TURTLE, conversion, conversion.of_quad):
            ...                                             # a statement or a Refusal
"""

from __future__ import annotations

from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final, TypeVar

import pyoxigraph as ox

from bridge.documents import turtle_text, xml_text
from bridge.documents.jsonld import read_jsonld
from bridge.documents.reader import too_long, unreadable
from bridge.documents.records import read_records
from bridge.loading.refusals import Refusal
from bridge.terms import OxigraphCanonicaliser
from kernel.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from bridge.documents.reader import Conversion
    from bridge.loading.assertions import Assertions
    from bridge.loading.counted import Counted
    from kernel.changes import Assert

T = TypeVar("T")

_SHOWN: Final = 200


def read_document(
    stream: Counted, name: str, written: ox.RdfFormat, conversion: Conversion, take: Callable[[ox.Quad], T]
) -> Iterator[T | Refusal]:
    """What is in a document of Turtle, TriG or RDF/XML.

    Args:
        stream: at the beginning of the file.
        name: of the file, for refusals.
        written: its format.
        conversion: by which the quads are to be read.
        take: is given each quad, and may raise `CallerError`.
    """
    if not stream.size:
        return  # an empty file cannot be mapped
    with mmap(stream.fileno(), 0, access=ACCESS_READ) as mapped:
        try:
            with _prepared(stream, mapped, written, conversion) as text:
                yield from _statements(ox.parse(text, written), name, take)
        except CallerError as error:
            yield Refusal(name, None, error.code, str(error), ends_file=True)
        except MemoryError:
            refused = too_long()
            yield Refusal(name, None, refused.code, str(refused), ends_file=True)
        except SyntaxError as error:
            refused = unreadable(error, mapped, written, marked=conversion.marked)
            refused.where = refused.where and refused.where.removeprefix(f"line {error.lineno}, ")
            yield Refusal(name, error.lineno, refused.code, str(refused), ends_file=True)


def read_json_ld(stream: BinaryIO, name: str, assertions: Assertions) -> Iterator[Assert | Refusal]:
    """What is in a document of JSON-LD, the records of facts in it read too; arguments as for `read_document`."""
    try:
        conversion = assertions.conversion
        asserted = conversion.of_triples(read_jsonld(stream.read(), conversion.skolem))
        items = read_records(asserted, OxigraphCanonicaliser())
    except CallerError as error:
        yield Refusal(name, None, error.code, str(error), ends_file=True)
        return
    for item in items:
        try:
            yield assertions.of_item(item)
        except CallerError as error:
            yield refused_statement(name, error, item.statement.nquad)


def refused_statement(name: str, error: CallerError, statement: str) -> Refusal:
    """The refusal of one statement of a file where statements have no lines of their own."""
    return Refusal(name, None, error.code, f"{error}: {statement:.{_SHOWN}}")


@contextmanager
def _prepared(stream: Counted, mapped: mmap, written: ox.RdfFormat, conversion: Conversion) -> Iterator[BinaryIO]:
    """The text as the parser is to have it. Raises `InvalidDocument` where it is nested too deep."""
    text = xml_text if written == ox.RdfFormat.RDF_XML else turtle_text
    pieces = text.marked_pieces(mapped)
    if pieces is None:
        yield stream
        return
    with TemporaryFile() as marked:
        marked.writelines(pieces)
        marked.seek(stream.tell())  # past a byte order mark
        conversion.marked = True
        yield marked


def _statements(quads: ox.QuadParser, name: str, take: Callable[[ox.Quad], T]) -> Iterator[T | Refusal]:
    for quad in quads:
        try:
            yield take(quad)
        except CallerError as error:
            yield refused_statement(name, error, str(quad))
