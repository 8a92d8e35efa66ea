"""Salted items: what they commit to, and what stays when one is purged."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.errors import InvalidValue
from certificates.items import ItemKind, ItemTree, SaltedItem, salt_items
from certificates.merkle import leaf_hash, tree_root

_BODIES = st.lists(st.binary(max_size=40), max_size=20)


@given(_BODIES, st.integers(0, 1000))
def test_each_body_gets_its_number_and_a_salt_of_its_own(bodies: list[bytes], first: int) -> None:
    items = salt_items(ItemKind.FINDING, iter(bodies), first)
    assert [item.body for item in items] == bodies
    assert [item.ordinal for item in items] == list(range(first, first + len(bodies)))
    assert {item.kind for item in items} <= {ItemKind.FINDING}
    assert len({item.salt for item in items}) == len(bodies)
    assert {len(item.salt) for item in items} <= {16}


def test_leaf_is_the_hash_of_salt_and_body() -> None:
    item = SaltedItem(ItemKind.PLAN, 0, b"s" * 16, b"body")
    assert item.leaf == sha256(b"\x00" + b"s" * 16 + b"body").digest()


def test_the_same_body_twice_cannot_be_told_by_its_leaves() -> None:
    one, other = salt_items(ItemKind.PLAN, [b"same", b"same"])
    assert one.leaf != other.leaf


@given(_BODIES)
def test_a_purged_item_leaves_the_root(bodies: list[bytes]) -> None:
    items = salt_items(ItemKind.PLAN, bodies)
    tree = ItemTree.of([item.leaf for item in items])
    assert tree.count == len(bodies)
    assert tree.root == tree_root([leaf_hash(item.salt + item.body) for item in items]).hex()
    kept = [item.leaf for item in items]  # all that a purge leaves
    items.clear()
    assert ItemTree.of(kept) == tree


def test_what_may_be_purged_is_not_printed() -> None:
    item = SaltedItem(ItemKind.COMMENT, 0, b"secret-salt-1234", b"Ada lives in Paris")
    assert "Paris" not in repr(item)
    assert "secret" not in repr(item)


@pytest.mark.parametrize("salt", [b"", b"x" * 15, b"x" * 17])
def test_salts_of_another_length_are_refused(salt: bytes) -> None:
    with pytest.raises(InvalidValue, match="16 bytes"):
        SaltedItem(ItemKind.PLAN, 0, salt, b"body")


def test_negative_ordinals_are_refused() -> None:
    with pytest.raises(InvalidValue, match="ordinal -1"):
        SaltedItem(ItemKind.PLAN, -1, bytes(16), b"body")


@pytest.mark.parametrize(
    ("count", "root"),
    [
        (-1, "0f" * 32),
        (2**53, "0f" * 32),
        (True, "0f" * 32),
        (1, "0F" * 32),
        (1, "0f" * 31),
        (1, "0f" * 32 + "\n"),
        (0, "0f" * 32),
        (1, tree_root([]).hex()),
    ],
)
def test_trees_that_cannot_be_are_refused(count: int, root: str) -> None:
    with pytest.raises(InvalidValue):
        ItemTree(count, root)
