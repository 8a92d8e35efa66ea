"""Merkle roots against the recursive definition of RFC 9162 section 2.1.1."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.merkle import leaf_hash, node_hash, tree_root


def _defined(data: list[bytes]) -> bytes:
    """MTH(D_n), word by word."""
    if not data:
        return sha256(b"").digest()
    if len(data) == 1:
        return sha256(b"\x00" + data[0]).digest()
    split = 1
    while split * 2 < len(data):
        split *= 2
    return sha256(b"\x01" + _defined(data[:split]) + _defined(data[split:])).digest()


@given(st.lists(st.binary(max_size=4), max_size=70))
def test_root_is_the_one_defined(data: list[bytes]) -> None:
    assert tree_root([leaf_hash(one) for one in data]) == _defined(data)


@pytest.mark.parametrize("size", [*range(20), 31, 32, 33, 1023, 1024, 1025])
def test_root_is_the_one_defined_at_every_shape(size: int) -> None:
    data = [str(number).encode() for number in range(size)]
    assert tree_root([leaf_hash(one) for one in data]) == _defined(data)


def test_seven_leaves_form_the_tree_drawn_in_the_rfc() -> None:
    # RFC 9162 section 2.1.5: hash = [k, l], k = [g, h], l = [i, j], with j the seventh leaf
    a, b, c, d, e, f, j = (leaf_hash(name) for name in (b"d0", b"d1", b"d2", b"d3", b"d4", b"d5", b"d6"))
    k = node_hash(node_hash(a, b), node_hash(c, d))
    assert tree_root([a, b, c, d, e, f, j]) == node_hash(k, node_hash(node_hash(e, f), j))


def test_hashes_of_published_logs() -> None:
    # The empty leaf and the tree of one, as transparency logs publish them in their test data.
    assert leaf_hash(b"").hex() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert tree_root([leaf_hash(b"")]) == leaf_hash(b"")
    assert tree_root([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_a_leaf_cannot_pass_for_a_node() -> None:
    left, right = leaf_hash(b"a"), leaf_hash(b"b")
    assert leaf_hash(left + right) != node_hash(left, right)


def test_the_leaves_given_are_left_alone() -> None:
    leaves = [leaf_hash(b"a"), leaf_hash(b"b"), leaf_hash(b"c")]
    before = list(leaves)
    tree_root(leaves)
    assert leaves == before


@pytest.mark.parametrize("leaves", [[b"data"], [leaf_hash(b"a"), b""], [leaf_hash(b"a"), leaf_hash(b"b") + b"\x00"]])
def test_data_in_place_of_leaf_hashes_is_refused(leaves: list[bytes]) -> None:
    with pytest.raises(ValueError, match="leaf_hash"):
        tree_root(leaves)
