r"""Formats of lines: whatever is wrong with one line, the next is read.

Rules
-----
* Lines are read in blocks, because many lines take a parser less time than as many single ones. Only a block with
  something wrong in it is read line by line, to tell which it is.
* A line ends with a line feed; a carriage return before it belongs to the end.

Example
-------
>>> from io import BytesIO
>>> def parse(lines):
...     if b"x" in lines:
...         raise InvalidDocument("an x", remedy="remove it")
...     return []
>>> [str(refusal) for refusal in read_lines(BytesIO(b"a\nx\nb\n"), "abc.nt", parse)]
['abc.nt:2: invalid-document: an x (remove it)']
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pyoxigraph as ox

from bridge.documents import turtle_text
from bridge.documents.json_text import parse_json
from bridge.loading.assertions import HasRecords
from bridge.loading.refusals import Refusal
from kernel.errors import CallerError, InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    from bridge.documents.json_text import Json
    from bridge.loading.assertions import Assertions
    from kernel.changes import Assert

BLOCK: Final = 2**19
"""Bytes of lines that are read at once."""

_PLACE: Final = re.compile(r"Parser error at line \d+ (?:between columns (\d+) and \d+|column (\d+)): ")


def read_lines(stream: BinaryIO, name: str, parse: Callable[[bytes], Iterable[Assert]]) -> Iterator[Assert | Refusal]:
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
    lines: list[bytes], first: int, name: str, parse: Callable[[bytes], Iterable[Assert]]
) -> Iterator[Assert | Refusal]:
    for number, line in enumerate(lines, first):
        try:
            yield from parse(line)
        except CallerError as error:
            yield Refusal(name, number, error.code, str(error), ends_file=isinstance(error, HasRecords))


def statements(assertions: Assertions, written: ox.RdfFormat) -> Callable[[bytes], Iterator[Assert]]:
    """What parses lines of N-Triples or N-Quads."""
    conversion = assertions.conversion

    def parse(lines: bytes) -> Iterator[Assert]:
        prepared, conversion.marked = turtle_text.prepared(lines)
        try:
            yield from map(assertions.of_quad, ox.parse(prepared, written))
        except SyntaxError as error:
            raise _unreadable(error) from error

    return parse


def changes(assertions: Assertions) -> Callable[[bytes], Iterator[Assert]]:
    """What parses lines of changes in JSON; empty lines are passed over."""

    def parse(lines: bytes) -> Iterator[Assert]:
        for line in lines.split(b"\n"):
            if line and not line.isspace():
                yield assertions.of_change(_json(line))

    return parse


def _json(line: bytes) -> Json:
    try:
        return parse_json(line)
    except InvalidDocument as error:
        error.where = None if error.where is None else error.where.removeprefix("line 1, ")
        raise


def _unreadable(error: SyntaxError) -> InvalidDocument:
    """What a parser complains of, without the line, which the caller knows better."""
    place = _PLACE.match(error.msg)
    if place is None:
        return InvalidDocument(error.msg, remedy="correct the syntax")
    column = place[1] or place[2]
    return InvalidDocument(f"{error.msg[place.end() :]}, at column {column}", remedy="correct the syntax")
