"""The operations of an update (SPARQL 1.1 Update, section 3), as they are read from its text.

Rules
-----
* A graph that an operation names is an IRI, or `None` for the default graph.
* What is quoted of the request, a block of statements or a WHERE, is kept as text that stands alone: with the prologue
  up to it, and in the line in which it stood.
* LOAD is no operation here: nothing is fetched.

Example
-------
>>> Clear(Reach.NAMED).graph is None
True
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from secrets import token_hex
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from kernel.terms import Iri

SCOPE: Final = f"urn:x-muniment:{token_hex(8)}:"
"""What IRIs begin with that stand for something else within a block; nobody can write, or have written, one of them."""

UNQUALIFIED: Final = f"{SCOPE}unqualified"
"""The graph of triples outside of any GRAPH."""

VARIABLE: Final = f"{SCOPE}variable:"
"""With a number: a variable."""

BLANK: Final = f"{SCOPE}blank:"
"""With a number: a blank node that each solution makes anew."""


@dataclass(frozen=True, slots=True)
class Block:
    """Statements with graphs and variables, between braces.

    Args:
        trig: the pieces of the same as a TriG document; triples outside of a GRAPH are in the graph `UNQUALIFIED`, and
            variables are IRIs.
        variables: the IRI of each variable, by its name.
        labels: the labels of blank nodes.
        place: where it begins, in words.
    """

    trig: tuple[str, ...]
    variables: dict[str, str]
    labels: frozenset[str]
    place: str


@dataclass(frozen=True, slots=True)
class Where:
    """A WHERE as a query of all its variables."""

    text: str


@dataclass(frozen=True, slots=True)
class InsertData:
    """INSERT DATA."""

    block: Block


@dataclass(frozen=True, slots=True)
class DeleteData:
    """DELETE DATA."""

    block: Block


@dataclass(frozen=True, slots=True)
class Using:
    """The dataset of a WHERE, where the operation or the request names one."""

    default: tuple[Iri, ...] = ()
    named: tuple[Iri, ...] = ()

    def __bool__(self) -> bool:
        """Whether it names one."""
        return bool(self.default or self.named)


UNNAMED: Final = Using()
"""No dataset is named: the WHERE sees what a query would."""


@dataclass(frozen=True, slots=True)
class Modify:
    """DELETE, INSERT or both for each solution of a WHERE; DELETE WHERE deletes its own pattern."""

    graph: Iri | None
    delete: Block | None
    insert: Block | None
    using: Using
    where: Where


class Reach(Enum):
    """Which graphs CLEAR and DROP are for, where they name none."""

    DEFAULT = "DEFAULT"
    NAMED = "NAMED"
    ALL = "ALL"


@dataclass(frozen=True, slots=True)
class Clear:
    """CLEAR, or DROP, which is the same where no empty graph is kept."""

    target: Iri | Reach

    @property
    def graph(self) -> Iri | None:
        """The graph that is named."""
        return None if isinstance(self.target, Reach) else self.target


@dataclass(frozen=True, slots=True)
class Create:
    """CREATE: nothing is made, since no empty graph is kept."""

    graph: Iri
    silent: bool


@dataclass(frozen=True, slots=True)
class Load:
    """LOAD: a document elsewhere, whose statements are inserted, here into the graph or the default one.

    Args:
        source: where the document is.
        graph: where its statements go.
        silent: whether one that cannot be had is as one that says nothing.
    """

    source: Iri
    graph: Iri | None
    silent: bool


class Transfer(StrEnum):
    """What becomes of the other graph's statements, and of one's own."""

    ADD = "ADD"
    COPY = "COPY"
    MOVE = "MOVE"


@dataclass(frozen=True, slots=True)
class Convey:
    """ADD, COPY or MOVE; a graph that is None is the default graph."""

    how: Transfer
    source: Iri | None
    target: Iri | None
    silent: bool


Operation: TypeAlias = InsertData | DeleteData | Modify | Clear | Create | Convey | Load
