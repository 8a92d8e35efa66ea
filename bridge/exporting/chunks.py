r"""Pieces of text as chunks to send.

Rules
-----
* A chunk is `SIZE` bytes or a little more, so that neither memory nor the number of writes grows with small pieces.
* The last two characters are held back until more follows, or the text is complete. So a document that breaks off
  after any chunk lacks the end of a statement or of a bracket, and no parser of its format takes it for a whole one,
  even where the connection does not tell (HTTP/1.0).

Example
-------
>>> [*chunks(["<urn:a> <urn:b> ", "<urn:c> .\n"], size=4)]
[b'<urn:a> <urn:b', b'> <urn:c> ', b'.\n']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

SIZE: Final = 64 * 1024
_HELD_BACK: Final = 2


def chunks(pieces: Iterable[str], size: int = SIZE) -> Generator[bytes, None, None]:
    """The text of the pieces in UTF-8, in chunks of about `size` bytes."""
    gathered: list[str] = []
    length = 0
    for piece in pieces:
        gathered.append(piece)
        length += len(piece)
        if length >= size + _HELD_BACK:
            text = "".join(gathered)
            yield text[:-_HELD_BACK].encode()
            gathered, length = [text[-_HELD_BACK:]], _HELD_BACK
    if gathered:
        yield "".join(gathered).encode()
