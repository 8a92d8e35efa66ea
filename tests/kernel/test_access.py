"""Who may do what, against a plain table of roles."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.access import Grant, Principal, Role
from kernel.errors import Forbidden
from kernel.terms import Iri
from kernel.vocabulary import DEFAULT_GRAPH, GOVERNANCE, PUBLIC_GOVERNANCE, M, history_graph

GRAPHS: Final = [Iri("urn:g1"), Iri("urn:g2"), Iri("urn:g3"), DEFAULT_GRAPH]

_grants = st.builds(Grant, st.sampled_from(Role), st.sampled_from(GRAPHS))
principals = st.builds(
    Principal,
    st.just("p"),
    st.sampled_from(Role),
    st.none() | st.frozensets(st.sampled_from(GRAPHS)),
    st.frozensets(_grants, max_size=4),
)
within = st.none() | st.frozensets(st.sampled_from([*GRAPHS, *GOVERNANCE]))


def table(principal: Principal) -> Mapping[Iri, int]:
    """The roles by graph, 0 for none: each said in turn, the highest stays."""
    roles = dict.fromkeys(GRAPHS, 0)
    for graph in GRAPHS if principal.graphs is None else principal.graphs:
        roles[graph] = principal.role
    for grant in principal.grants:
        roles[grant.graph] = max(roles[grant.graph], grant.role)
    return roles


@given(principals)
def test_what_counts_in_a_graph_is_the_highest_role_there(principal: Principal) -> None:
    for graph, role in table(principal).items():
        assert principal.may_read(graph) is (role >= Role.READER)
        assert principal.may_read(history_graph(graph)) is (role >= Role.READER)
        assert principal.may_write(graph) is (role >= Role.WRITER)
        assert principal.may_decide([graph]) is (role >= Role.EDITOR)
        assert not principal.may_write(history_graph(graph))
    elsewhere = Iri("urn:not-mentioned")
    assert principal.may_read(elsewhere) is principal.reads_everything
    assert principal.highest == max([Role.READER, *table(principal).values()])


@given(principals)
def test_governance_is_for_administrators_of_the_base(principal: Principal) -> None:
    governs = principal.role is Role.ADMINISTRATOR and principal.graphs is None
    for graph in GOVERNANCE:
        assert principal.may_read(graph) is (governs or graph in PUBLIC_GOVERNANCE)
        assert principal.may_write(graph) is governs
        assert not governs or principal.may_decide([graph])


def test_a_name_kept_for_ours_is_told_as_such_to_whoever_may_write_everything() -> None:
    administrator = Principal("019", Role.ADMINISTRATOR)
    with pytest.raises(Forbidden, match="is no graph"):
        administrator.require_write(Iri(M + "nonsense"))
    administrator.require_write(DEFAULT_GRAPH)
    for graph in GOVERNANCE:
        administrator.require_write(graph)


@given(principals, within)
def test_nobody_gets_beyond_the_graphs_that_are_served(principal: Principal, graphs: frozenset[Iri] | None) -> None:
    held = replace(principal, within=graphs)
    for graph in (*GRAPHS, *GOVERNANCE, Iri("urn:not-mentioned")):
        there = graphs is None or graph in graphs
        assert held.may_read(graph) is (there and principal.may_read(graph))
        assert held.may_read(history_graph(graph)) is (there and principal.may_read(graph))
        assert held.may_write(graph) is (there and principal.may_write(graph))
        assert held.may_decide([graph]) is (there and principal.may_decide([graph]))
    assert held.reads_everything is (graphs is None and principal.reads_everything)
    assert held.named <= principal.named | (graphs or frozenset())


@given(principals, st.lists(st.sampled_from(GRAPHS)))
def test_who_decides_is_an_editor_of_every_graph(principal: Principal, graphs: list[Iri]) -> None:
    roles = table(principal)
    may = all(roles[graph] >= Role.EDITOR for graph in graphs) and max(roles.values()) >= Role.EDITOR
    assert principal.may_decide(graphs) is may
