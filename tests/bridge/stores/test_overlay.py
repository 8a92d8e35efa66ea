"""What is laid over a store is there for a while; afterwards the store is as it was."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.stores.overlay import laid_over

NODES = [ox.NamedNode(f"urn:{name}") for name in "abc"]
GRAPHS = [ox.NamedNode(f"urn:g{number}") for number in range(4)]
VALUES = [*NODES, ox.Literal(1), ox.Literal("x", language="en"), ox.Triple(NODES[0], NODES[1], ox.Literal("y"))]

quads = st.builds(
    ox.Quad, st.sampled_from(NODES), st.sampled_from(NODES), st.sampled_from(VALUES), st.sampled_from(GRAPHS)
)
some = st.lists(quads, max_size=8)


def lines(of: list[ox.Quad]) -> bytes:
    return ox.serialize(of, format=ox.RdfFormat.N_QUADS) or b""


def held(store: ox.Store) -> tuple[set[ox.Quad], set[object]]:
    return set(store), set(store.named_graphs())


@given(some, st.lists(st.sampled_from(GRAPHS), max_size=2), some, some)
def test_a_store_is_as_it_was(
    before: list[ox.Quad], empty: list[ox.NamedNode], removed: list[ox.Quad], added: list[ox.Quad]
) -> None:
    store = ox.Store()
    store.extend(before)
    for graph in empty:
        store.add_graph(graph)
    was = held(store)
    with laid_over(store, lines(removed), lines(added)):
        assert set(store) == (set(before) - set(removed)) | set(added)
    assert held(store) == was
    with pytest.raises(KeyError), laid_over(store, lines(removed), lines(added)):
        raise KeyError
    assert held(store) == was
