"""Proofs in every small tree: the right ones verify, and nothing else does."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.merkle import EMPTY_ROOT, leaf_hash, node_hash, tree_root
from certificates.merkle_proofs import Perfect, consistency, extends, includes, inclusion, root

MOST = 34
LEAVES = [leaf_hash(bytes([number])) for number in range(MOST)]
NODE = Perfect(LEAVES)
ROOTS = [tree_root(LEAVES[:size]) for size in range(MOST + 1)]


def _altered(proof: list[bytes]) -> Iterator[list[bytes]]:
    """A proof with a hash more, less, changed, or two exchanged."""
    yield [*proof, leaf_hash(b"more")]
    yield [leaf_hash(b"more"), *proof]
    for place in range(len(proof)):
        yield proof[:place] + proof[place + 1 :]
        yield [*proof[:place], leaf_hash(proof[place]), *proof[place + 1 :]]
        yield [*proof[:place], *proof[place : place + 2][::-1], *proof[place + 2 :]] if place + 1 < len(proof) else []


@pytest.mark.parametrize("size", range(MOST + 1))
def test_the_root_from_perfect_subtrees_is_that_of_the_leaves(size: int) -> None:
    assert root(size, NODE) == ROOTS[size]


@pytest.mark.parametrize("size", range(1, MOST + 1))
def test_every_leaf_is_proved_where_it_is_and_nowhere_else(size: int) -> None:
    for position in range(size):
        proof = inclusion(position, size, NODE)
        assert includes(LEAVES[position], position, size, proof, ROOTS[size])
        assert len(proof) <= (size - 1).bit_length()
        others = [other for other in range(-1, size + 2) if other != position]
        assert not any(includes(LEAVES[position], other, size, proof, ROOTS[size]) for other in others)
        assert not includes(leaf_hash(b"another"), position, size, proof, ROOTS[size])


@pytest.mark.parametrize("size", [2, 3, 7, 8, 13])
def test_an_altered_inclusion_proof_proves_nothing(size: int) -> None:
    for position in range(size):
        proof = inclusion(position, size, NODE)
        for altered in _altered(proof):
            assert altered == proof or not includes(LEAVES[position], position, size, altered, ROOTS[size])


@pytest.mark.parametrize("second", range(1, MOST + 1))
def test_a_tree_extends_each_of_its_beginnings_and_no_other(second: int) -> None:
    for first in range(1, second + 1):
        proof = consistency(first, second, NODE)
        assert extends(first, second, ROOTS[first], ROOTS[second], proof)
        if first < second:
            assert not extends(first, second, ROOTS[second], ROOTS[first], proof)
            assert not extends(second, first, ROOTS[second], ROOTS[first], proof)
            others = [other for other in range(second) if other != first]
            assert not any(extends(other, second, ROOTS[first], ROOTS[second], proof) for other in others)


@pytest.mark.parametrize("second", [2, 3, 7, 8, 13])
def test_an_altered_consistency_proof_proves_nothing(second: int) -> None:
    for first in range(1, second):
        proof = consistency(first, second, NODE)
        for altered in _altered(proof):
            assert altered == proof or not extends(first, second, ROOTS[first], ROOTS[second], altered)


def test_a_log_that_was_rewritten_extends_nothing() -> None:
    rewritten = [*LEAVES[:5], leaf_hash(b"rewritten"), *LEAVES[6:]]
    proof = consistency(9, 20, Perfect(rewritten))
    assert not extends(9, 20, ROOTS[9], tree_root(rewritten[:20]), proof)


def test_every_tree_extends_the_empty_one_and_itself() -> None:
    assert extends(0, 7, EMPTY_ROOT, ROOTS[7], [])
    assert extends(0, 0, EMPTY_ROOT, EMPTY_ROOT, [])
    assert extends(7, 7, ROOTS[7], ROOTS[7], [])
    assert not extends(0, 7, ROOTS[3], ROOTS[7], [])
    assert not extends(0, 7, EMPTY_ROOT, ROOTS[7], [ROOTS[7]])
    assert not extends(7, 7, ROOTS[7], ROOTS[6], [])
    assert not extends(7, 7, ROOTS[7], ROOTS[7], [ROOTS[7]])
    assert not extends(-1, 7, EMPTY_ROOT, ROOTS[7], [])


def test_the_proofs_drawn_in_the_rfc() -> None:
    # RFC 9162, section 2.1.5, by the letters of its drawing: seven leaves d0 to d6
    a, b, c, d, e, f, j = LEAVES[:7]
    g, h, i = node_hash(a, b), node_hash(c, d), node_hash(e, f)
    k, l = node_hash(g, h), node_hash(i, j)  # noqa: E741 - its letter
    assert inclusion(0, 7, NODE) == [b, h, l]
    assert inclusion(3, 7, NODE) == [c, g, l]
    assert inclusion(4, 7, NODE) == [f, j, k]
    assert inclusion(6, 7, NODE) == [i, k]
    assert consistency(3, 7, NODE) == [c, d, g, l]
    assert consistency(4, 7, NODE) == [l]
    assert consistency(6, 7, NODE) == [i, j, k]


@given(st.integers(1, 5_000), st.data())
def test_proofs_in_larger_trees(size: int, data: st.DataObject) -> None:
    leaves = [leaf_hash(number.to_bytes(4)) for number in range(size)]
    node, whole = Perfect(leaves), tree_root(leaves)
    position = data.draw(st.integers(0, size - 1))
    first = data.draw(st.integers(1, size))
    assert includes(leaves[position], position, size, inclusion(position, size, node), whole)
    assert extends(first, size, tree_root(leaves[:first]), whole, consistency(first, size, node))


@pytest.mark.parametrize(("position", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_there_is_no_proof_of_a_leaf_that_is_not_there(position: int, size: int) -> None:
    with pytest.raises(ValueError, match="no leaf"):
        inclusion(position, size, NODE)


@pytest.mark.parametrize(("first", "second"), [(0, 3), (4, 3), (-1, 3)])
def test_there_is_no_proof_from_nothing_or_from_more(first: int, second: int) -> None:
    with pytest.raises(ValueError, match="no proof"):
        consistency(first, second, NODE)
