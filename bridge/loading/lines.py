r"""Formats of lines: whatever is wrong with one line, the next is read.

Rules
-----
* Lines are read in blocks, because many lines take a parser less time than as many single ones. Only a block with
  something wrong in it is read line by line, to tell which it is.
* A line ends with a line feed; a carriage return before it belongs to the end.

Example
-------
>>> from io import BytesIO
>>> from kernel.errors import InvalidDocument
>>> def parse(lines):
...     if b"x" in lines:
...         raise InvalidDocument("an x", remedy="remove it")
...     return []
>>> [str(refusal) for refusal in read_lines(BytesIO(b"a\nx\nb\n"), "abc.nt", parse)]
['abc.nt:2: invalid-document: an x (remove it)']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import pyoxigraph as ox

from bridge.documents import turtle_text
from bridge.documents.json_text import parse_json
from bridge.documents.reader import too_long, unreadable
from bridge.loading.refusals import Refusal
from kernel.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    from bridge.documents.reader import Conversion
    from bridge.loading.assertions import Assertions
    from kernel.changes import Assert

T = TypeVar("T")

BLOCK: Final = 2**19
"""Bytes of lines that are read at once."""


def read_lines(stream: BinaryIO, name: str, parse: Callable[[bytes], Iterable[T]]) -> Iterator[T | Refusal]:
    """What is in the lines of a file.

    Args:
        stream: at the beginning of the file.
        name: of the file, for refusals.
        parse: reads any number of lines, and raises `CallerError` for the first that cannot be loaded.
    """
    first = 1
    while lines := stream.readlines(BLOCK):
        try:
            yield from list(parse(b"".join(lines)))
        except CallerError:
            yield from _one_by_one(lines, first, name, parse)
        first += len(lines)


def _one_by_one(
    lines: list[bytes], first: int, name: str, parse: Callable[[bytes], Iterable[T]]
) -> Iterator[T | Refusal]:
    for number, line in enumerate(lines, first):
        try:
            yield from parse(line)
        except CallerError as error:
            error.where = None if error.where is None else error.where.removeprefix("line 1, ")
            yield Refusal(name, number, error.code, str(error))


def statements(
    conversion: Conversion, written: ox.RdfFormat, take: Callable[[ox.Quad], T]
) -> Callable[[bytes], Iterator[T]]:
    """What parses lines of N-Triples or N-Quads; `take` is given each quad, and may raise `CallerError`."""

    def parse(lines: bytes) -> Iterator[T]:
        prepared, conversion.marked = turtle_text.prepared(lines)
        try:
            yield from map(take, ox.parse(prepared, written))
        except SyntaxError as error:
            raise unreadable(error, lines, written, marked=conversion.marked) from error
        except MemoryError as error:
            raise too_long() from error

    return parse


def changes(assertions: Assertions) -> Callable[[bytes], Iterator[Assert]]:
    """What parses lines of changes in JSON; empty lines are passed over."""

    def parse(lines: bytes) -> Iterator[Assert]:
        for line in lines.split(b"\n"):
            if line and not line.isspace():
                yield assertions.of_change(parse_json(line))

    return parse
