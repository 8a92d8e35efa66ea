"""Facts at any pair of times, as a ledger is asked for them.

Rules
-----
* A fact holds at a moment if it was believed at the transaction time `as_of` and true at the valid time `valid_at`.
* Each read says what it looks at: some look at every fact of every time at a node, and stop at a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from uuid import UUID

    from kernel.facts import Fact
    from kernel.ports.texts import StatementTexts
    from kernel.terms import Iri, Statement, Term
    from kernel.time.instants import Instant


class MomentsView(Protocol):
    """What was believed, and true, at any pair of times."""

    def facts_of_graph(
        self,
        graph: Iri,
        *,
        predicate: Iri | None = None,
        as_of: Instant | None = None,
        valid_at: Instant | None = None,
        after: UUID | None = None,
    ) -> Iterator[Fact]:
        """Facts of a graph believed now, or at `as_of`, in the order in which they were recorded.

        Only those true at `valid_at`, if it is given. From beyond the fact `after` on, whether or not that is one of
        them; nothing follows a fact that is not there.
        """
        ...

    def believed_at(
        self,
        as_of: Instant,
        *,
        subject: Iri | None = None,
        predicate: Iri | None = None,
        object: Term | None = None,  # noqa: A002 - the word of RDF
        graph: Iri | None = None,
    ) -> Iterator[Fact]:
        """Facts believed at `as_of` of a subject or of an object, one of which is to be given, as recorded.

        Nothing of other nodes is looked at; with a graph, nothing of other graphs.
        """
        ...

    def facts_at(self, as_of: Instant, valid_at: Instant) -> Iterator[Fact]:
        """Every fact believed at `as_of` and true at `valid_at`."""
        ...

    def statements_of(
        self,
        node: Term,
        *,
        as_object: bool = False,
        predicate: Iri | None = None,
        graphs: Sequence[Iri] | None = None,
        as_of: Instant,
        valid_at: Instant,
        most: int,
        largest: int,
    ) -> tuple[int, list[Statement]]:
        """What was believed at `as_of` and true at `valid_at` of a node, and at how many facts was looked for it.

        Facts of every time are looked at, but no more than `most` + 1 of them, so that more than `most` say that there
        are more; and none of graphs that are not asked for, so that it takes no longer for those.

        Args:
            node: which subject the facts have; or which object.
            as_object: whether it is their object.
            predicate: which they have; None: any.
            graphs: which they are in; None: any.
            as_of: as believed when.
            valid_at: as true when.
            most: how many may be looked at.
            largest: how many characters their terms may have; beyond that it counts as more than `most`.
        """
        ...

    def count_of(
        self,
        node: Term,
        *,
        as_object: bool = False,
        predicate: Iri | None = None,
        graphs: Sequence[Iri] | None = None,
        most: int,
    ) -> int:
        """How many facts `statements_of` would look at; a few more may be counted, whose terms only look the same."""
        ...

    def facts_differing(
        self,
        first: tuple[Instant, Instant],
        second: tuple[Instant, Instant],
        *,
        graph: Iri | None = None,
        node: Iri | None = None,
        graphs: Sequence[Iri] | None = None,
    ) -> Iterator[Fact]:
        """Every fact that holds at one of two moments and not at the other, each moment an as-of and a valid-at.

        Args:
            first: the one moment; its as-of no later than that of the other.
            second: the other.
            graph: the facts of a graph, by row; or
            node: the facts of a node, as subject or object.
            graphs: which graphs the facts of a node may be in; None: any.
        """
        ...

    def statements_at(self, as_of: Instant, valid_at: Instant) -> Iterator[StatementTexts]:
        """The statement of every fact believed at `as_of` and true at `valid_at`."""
        ...

    def count_at(
        self, as_of: Instant, valid_at: Instant, *, graphs: Sequence[Iri] | None = None, most: int | None = None
    ) -> int:
        """How many facts are believed at `as_of` and true at `valid_at`, of some graphs; no more than `most` + 1."""
        ...

    def statements_since(
        self, as_of: Instant, valid_at: Instant, clock: Instant
    ) -> Iterator[tuple[StatementTexts, bool]]:
        """What may tell a moment from stores that stand at this view's head and clock, or came there later.

        Each statement of it comes with whether it held at the moment, and more than once if it has several facts. What
        is not among them held then if it is in those stores, whatever they stood at since `as_of` and `clock`.

        Args:
            as_of: of the moment; at most the head's.
            valid_at: of the moment.
            clock: a clock that the stores had reached when they were looked at.
        """
        ...

    def count_since(self, as_of: Instant, valid_at: Instant, clock: Instant, *, most: int) -> int:
        """About how many statements that would give; no more than `most` + 1."""
        ...
