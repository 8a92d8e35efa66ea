"""Who may do what: principals, roles and graphs.

Rules
-----
* Roles are ordered: a reader reads, a writer also proposes changes, an editor also decides, an administrator of the
  base also writes the governance graphs and reads all of them.
* A principal has a role in every graph of the base, or in some; and may be granted others in single graphs. What counts
  in a graph is the highest that it has there. Whoever has none there does not know of the graph.
* Where a service has some graphs alone, a principal is held within these (`api.callers.manifest`), whatever its roles
  are.
* Fail closed: what is not granted here is refused. This module is the one place that decides what a caller may read.
* A reader of g sees g, H(g), and the base's shapes and ontology (through `GRAPH`, never in the union).

Example
-------
>>> from kernel.terms import Iri
>>> reader = Principal("p1", Role.READER, frozenset({Iri("urn:g")}))
>>> reader.may_read(Iri("urn:g")), reader.may_read(Iri("urn:other")), reader.may_write(Iri("urn:g"))
(True, False, False)
>>> granted = Principal("p2", Role.READER, grants=frozenset({Grant(Role.WRITER, Iri("urn:g"))}))
>>> granted.may_read(Iri("urn:other")), granted.may_write(Iri("urn:g")), granted.may_write(Iri("urn:other"))
(True, True, False)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from kernel.errors import Forbidden
from kernel.vocabulary import DEFAULT_GRAPH, GOVERNANCE, PUBLIC_GOVERNANCE, graph_of_history, is_history, is_ours

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kernel.terms import Iri

ANONYMOUS: Final = "anonymous"
"""The id of whoever has not said who they are; no token is made under it."""


class Role(IntEnum):
    """What a principal may do, each including the ones before."""

    READER = 1
    WRITER = 2
    EDITOR = 3
    ADMINISTRATOR = 4


@dataclass(frozen=True, slots=True)
class Grant:
    """A role in one graph, beside what a principal may do anyway."""

    role: Role
    graph: Iri


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller.

    Args:
        id: the name under which the ledger knows it; not a secret.
        role: what it may do in `graphs`.
        graphs: the graphs it is held to; None for every graph of the base.
        grants: roles in single graphs besides.
        within: the graphs that are there at all; None for every graph.
        cites: whether it has to cite what it read with whatever it writes.
    """

    id: str
    role: Role
    graphs: frozenset[Iri] | None = None
    grants: frozenset[Grant] = frozenset()
    cites: bool = False
    within: frozenset[Iri] | None = None

    def role_in(self, graph: Iri) -> Role | None:
        """The highest role that it has in a graph of data; None: it is as if the graph were not there."""
        if not self._is_there(graph):
            return None
        roles = [grant.role for grant in self.grants if grant.graph == graph]
        if self.graphs is None or graph in self.graphs:
            roles.append(self.role)
        return max(roles, default=None)

    def may_read(self, graph: Iri) -> bool:
        """Whether anything drawn from the graph may be shown to the caller."""
        if is_history(graph):
            source = graph_of_history(graph)
            return source is not None and self.may_read(source)
        if graph in PUBLIC_GOVERNANCE:
            return self._is_there(graph)
        if graph in GOVERNANCE:
            return self.governs and self._is_there(graph)
        return self.role_in(graph) is not None

    def may_write(self, graph: Iri) -> bool:
        """Whether the caller may propose changes to the graph."""
        return self._has(Role.WRITER, graph)

    def may_decide(self, graphs: Iterable[Iri]) -> bool:
        """Whether the caller may decide on a certificate that touches the graphs."""
        return self.highest >= Role.EDITOR and all(self._has(Role.EDITOR, graph) for graph in graphs)

    def _has(self, role: Role, graph: Iri) -> bool:
        """Whether the role, or a higher one, is the caller's in a graph that callers change."""
        if graph in GOVERNANCE:
            return self.governs and self._is_there(graph)
        if is_ours(graph) and graph != DEFAULT_GRAPH:
            return False
        return (self.role_in(graph) or 0) >= role

    @property
    def named(self) -> frozenset[Iri]:
        """The graphs that its roles name: all that it reads, unless it reads everything."""
        everywhere = frozenset() if self.within is None else self.within
        named = (everywhere if self.graphs is None else self.graphs) | {grant.graph for grant in self.grants}
        return frozenset(filter(self._is_there, named))

    @property
    def is_anonymous(self) -> bool:
        """Whether nobody knows who it is."""
        return self.id == ANONYMOUS

    def _is_there(self, graph: Iri) -> bool:
        return self.within is None or graph in self.within

    @property
    def highest(self) -> Role:
        """The highest role that it has anywhere."""
        held = self.role if self.graphs is None or self.graphs else Role.READER
        return max([held, *(grant.role for grant in self.grants)])

    @property
    def governs(self) -> bool:
        """Whether it is an administrator of the base, and not of some graphs alone."""
        return self.role is Role.ADMINISTRATOR and self.graphs is None

    @property
    def reads_everything(self) -> bool:
        """Whether every graph outside governance is readable, so that a store's own union may answer."""
        return self.graphs is None and self.within is None

    def require_write(self, graph: Iri) -> None:
        """Raises `Forbidden` unless the caller may propose changes to the graph."""
        if self.may_write(graph):
            return
        if is_history(graph):
            raise Forbidden("history is written by applying certificates only", remedy="change the graph itself")
        if is_ours(graph) and graph != DEFAULT_GRAPH and graph not in GOVERNANCE:
            raise Forbidden(
                f"{graph.value} is no graph: names that begin like this are kept for Muniment's own",
                remedy="name the graph otherwise",
            )
        raise Forbidden(
            f"your token does not allow changes to {graph.value}",
            remedy="ask an administrator for a token with the role and graph you need",
        )
