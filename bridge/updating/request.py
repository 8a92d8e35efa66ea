"""An update as it was asked for: its operations, read and checked, and what they are to be fed with.

Rules
-----
* Everything of a request is checked before anything of it is kept.
* What LOAD names is fetched by whoever reads the update, before anything of it is evaluated (`with_loaded`).
* Much INSERT DATA, or DELETE DATA, is not read here: it is a load session, which reads it piece by piece
  (`bridge.sparql.update.bulk`).

Example
-------
::

    update = Update.read("DELETE WHERE { ?s ?p ?o }", Terms(principal))
    update.has_where, update.is_bulk      # (True, False)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from bridge.documents.reader import read_document
from bridge.sparql.update.bulk import BULK
from bridge.sparql.update.operations import UNNAMED, Convey, DeleteData, InsertData, Load, Modify
from bridge.sparql.update.parsing import parse_update
from bridge.sparql.update.templates import BlockReader, Quad, Told
from bridge.terms import OxigraphCanonicaliser
from kernel.access import Role
from kernel.errors import Forbidden, InvalidDocument, InvalidTerm, QueryRefused
from kernel.vocabulary import DEFAULT_GRAPH, SHAPES_GRAPH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.sparql.update.operations import Operation, Using
    from bridge.updating.terms import Terms


LARGE: Final = 10_000
"""Changes above which a write has a group of its own, and is brought into the stores in chunks."""


class Document(NamedTuple):
    """What was fetched for a LOAD: its bytes, in a format that is read here, and its URL, which is its base."""

    body: bytes
    media_type: str
    url: str


@dataclass(frozen=True, slots=True)
class Update:
    """An update that was read.

    Args:
        operations: in their order; their data is read, unless there is very much of it.
        terms: what is said beside.
        strict: whether the default graph is `m:default` alone.
        using: the dataset of every WHERE, where the request has one.
    """

    operations: tuple[Operation | Told, ...]
    terms: Terms
    strict: bool = False
    using: Using = UNNAMED

    @classmethod
    def read(
        cls,
        text: str,
        terms: Terms,
        *,
        strict: bool = False,
        using: Using = UNNAMED,
        base: str | None = None,
        loads: bool = False,
    ) -> Update:
        """Reads the text of an update.

        Args:
            text: the update.
            terms: what is said beside.
            strict: whether the default graph is `m:default` alone.
            using: the dataset of every WHERE, where the request has one.
            base: what relative IRIs are relative to, unless the text says so itself.
            loads: whether it may LOAD, for somebody who then gives it what its `sources` say.

        Raises:
            Forbidden: the caller writes nothing at all.
            QueryRefused: it cannot be read, asks for what is not served, or names a dataset as the request does.
        """
        if terms.principal.highest < Role.WRITER:
            raise Forbidden("your token does not allow changes", remedy="ask an administrator for a writer's token")
        operations = parse_update(text, base, loads=loads)
        named = any(isinstance(each, Modify) and (each.using or each.graph) for each in operations)
        if using and named:
            raise QueryRefused(
                "the request names a dataset, and the update as well: WITH or USING",
                remedy="give one of them (SPARQL 1.1 Protocol, section 2.2.3)",
                where="using-graph-uri",
            )
        update = cls(operations, terms, strict, using)
        return update if update.is_bulk else update.told()

    def told(self) -> Update:
        """The same with its data read. Raises `QueryRefused` where it cannot be."""
        reader = BlockReader(OxigraphCanonicaliser())
        return replace(self, operations=tuple(map(reader.told, self.operations)))

    @property
    def sources(self) -> tuple[Load, ...]:
        """What is to be loaded from elsewhere, in its order."""
        return tuple(each for each in self.operations if isinstance(each, Load))

    def with_loaded(self, documents: Sequence[Document | None]) -> Update:
        """The same once its sources are there.

        Args:
            documents: one for each of `sources`; None for one that says nothing.

        Raises:
            InvalidDocument, InvalidTerm: one cannot be read, and was not asked for silently.
        """
        remaining = iter(documents)
        operations = tuple(
            _loaded(each, next(remaining)) if isinstance(each, Load) else each for each in self.operations
        )
        return replace(self, operations=operations)

    @property
    def has_where(self) -> bool:
        """Whether something has to be evaluated."""
        return any(isinstance(operation, Modify) for operation in self.operations)

    @property
    def is_bulk(self) -> bool:
        """Whether it is INSERT DATA, or DELETE DATA, and nothing else, and much of it.

        What is judged alone is planned in memory.
        """
        data = self.data
        size = sum(len(piece) for each in data for piece in each.block.trig)
        alike = len({type(each) for each in self.operations}) == 1 and len(data) == len(self.operations)
        return size >= BULK and alike and not self.terms.dry_run

    @property
    def may_be_large(self) -> bool:
        """Whether more may come of it than its own text says, or that says much."""
        data = [each for each in self.operations if isinstance(each, Told)]
        return len(data) < len(self.operations) or sum(len(each.quads) for each in data) > LARGE

    @property
    def says_shapes(self) -> bool:
        """Whether it writes the graph of shapes, as far as its text says so: what a WHERE comes to is not known yet."""
        data = [each for each in self.operations if isinstance(each, Told)]
        conveyed = any(isinstance(each, Convey) and each.target == SHAPES_GRAPH for each in self.operations)
        return conveyed or any(quad.graph == SHAPES_GRAPH for each in data for quad in each.quads)

    @property
    def data(self) -> list[InsertData | DeleteData]:
        """The operations that insert or delete data which is not read yet."""
        return [each for each in self.operations if isinstance(each, InsertData | DeleteData)]


def _loaded(load: Load, document: Document | None) -> Told:
    """What a LOAD inserts; its statements go to its graph, so one with graphs of its own is refused."""
    if document is None:
        return Told(True, [])
    try:
        asserted = read_document(
            document.body,
            document.media_type,
            graph=load.graph or DEFAULT_GRAPH,
            canonicaliser=OxigraphCanonicaliser(),
            limit=len(document.body),
            base=document.url,
        )
    except (InvalidDocument, InvalidTerm) as error:
        if load.silent:
            return Told(True, [])
        error.where = load.source.value if error.where is None else f"{load.source.value}, {error.where}"
        raise
    return Told(True, [Quad(statement, spelling, load.graph) for statement, spelling in asserted])
