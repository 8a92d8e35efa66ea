"""How a service was started: `standard`, `bounded` by a manifest, or `unrestricted`.

Rules
-----
* A *bounded* service has the operations and the graphs that its manifest lists, and nothing else: other paths are not
  there, neither in the OpenAPI document nor in the description of the endpoint; other graphs are to every caller,
  administrators too, as if they were not there. What a caller may do among what is left, roles say as ever.
* The manifest is a file that somebody has reviewed, and says who and when. It is read once, at the start, which tells
  its SHA-256, as `muniment config` does, to be held against that of what was reviewed. Unknown names are errors.
* Operations are named as the OpenAPI document names them. `update` is what POST on `/sparql` takes beside queries;
  `pages` are the pages for editors, all of them.
* *Unrestricted* lifts limits of use: of time, memory and answers of queries, and of rates. It lifts nothing of who may
  do what, nothing that is checked, and no limit on requests themselves. It is for work on a host of one's own.

Example
-------
::

    reviewed-by = "Ada Lovelace"
    reviewed-on = 2026-11-30
    operations = ["query", "listFacts", "health"]
    graphs = ["https://example.org/g"]
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from api.errors import InvalidSetting
from api.suggestions import did_you_mean
from api.wording import in_words
from kernel.errors import InvalidTerm
from kernel.terms import Iri

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

UPDATE: Final = "update"
PAGES: Final = "pages"
BEYOND_ROUTES: Final = frozenset({UPDATE, PAGES})
"""Names that a manifest may list beside those of operations."""


class Mode(StrEnum):
    """How a service was started."""

    STANDARD = "standard"
    BOUNDED = "bounded"
    UNRESTRICTED = "unrestricted"


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=lambda name: name.replace("_", "-"))

    reviewed_by: str = Field(min_length=1, max_length=200)
    reviewed_on: date
    operations: tuple[str, ...] = Field(min_length=1)
    graphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a bounded service has.

    Args:
        operations: by their names.
        graphs: that are served.
        reviewed: by whom and when.
        digest: SHA-256 of the file, in hexadecimal.
    """

    operations: frozenset[str]
    graphs: frozenset[Iri]
    reviewed: str
    digest: str

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """The manifest in a file. Raises `InvalidSetting`, naming the place."""
        try:
            text = path.read_bytes()
            found = _Document.model_validate(tomllib.loads(text.decode()))
            graphs = frozenset(map(Iri, found.graphs))
        except OSError as error:
            raise _wrong(path, f"it cannot be read: {error.strerror}") from error
        except ValidationError as error:
            place = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
            raise _wrong(path, f"{place}: {in_words(error)}") from error
        except (ValueError, InvalidTerm) as error:
            raise _wrong(path, str(error)) from error
        reviewed = f"{found.reviewed_by}, {found.reviewed_on}"
        return cls(frozenset(found.operations), graphs, reviewed, sha256(text).hexdigest())

    def require_known(self, operations: Iterable[str]) -> None:
        """Raises `InvalidSetting` for the name of an operation that there is not."""
        known = BEYOND_ROUTES.union(operations)
        for each in sorted(self.operations - known):
            raise InvalidSetting(
                f"there is no operation {each[:80]!r}", remedy=did_you_mean(each, known), where="manifest"
            )


def _wrong(path: Path, problem: str) -> InvalidSetting:
    return InvalidSetting(problem, remedy="correct the manifest, and have it reviewed", where=str(path))
