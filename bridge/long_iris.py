"""What long IRIs may come to in one text.

Rules
-----
* A prefix, a base or a namespace is written once and used as often as one likes: a document of some kilobytes can stand
  for gigabytes of IRIs. So those of more than `LONG` characters may come to `MAX_LONG` in all, each time that one is
  used. Shorter ones are not counted: they cannot come to more than a few hundred times what was sent.

Example
-------
>>> counted = LongIris()
>>> counted.use("urn:a")
>>> for _ in range(20):
...     counted.use("urn:" + "x" * 2**20)
Traceback (most recent call last):
kernel.errors.InvalidDocument: IRIs of more than 1000 characters come to more than 16 MB (use shorter prefixes, and \
fewer long IRIs)
"""

from __future__ import annotations

from typing import Final

from kernel.errors import InvalidDocument

LONG: Final = 1_000
"""Characters of an IRI that is not counted yet."""

MAX_LONG: Final = 16 * 2**20
"""Characters that the longer ones may come to."""


class LongIris:
    """A count for one document or request."""

    def __init__(self) -> None:
        self._left = MAX_LONG

    def use(self, iri: str) -> None:
        """Counts an IRI, or the text of one. Raises `InvalidDocument` beyond the limit."""
        if len(iri) > LONG:
            self._left -= len(iri)
            if self._left < 0:
                raise InvalidDocument(
                    f"IRIs of more than {LONG} characters come to more than {MAX_LONG // 2**20} MB",
                    remedy="use shorter prefixes, and fewer long IRIs",
                )
