"""Tiles: names as C2SP tlog-tiles has them, and the same tree from tiles as from leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.errors import InvalidValue
from certificates.merkle import leaf_hash, tree_root
from certificates.merkle_proofs import Perfect, consistency, inclusion, root
from certificates.tiles import Tile, TiledTree, bundle, parse_bundle, parse_tile, tiles_of, unbundle


def _tiles(leaves: list[bytes]) -> dict[Tile, bytes]:
    """Every tile by the definition: the n-th hash of a level is the root over 256^level leaves."""
    tiles = {}
    for tile in tiles_of(len(leaves)):
        span = 256**tile.level
        first = tile.index * 256
        runs = [leaves[at * span : (at + 1) * span] for at in range(first, first + tile.width)]
        tiles[tile] = b"".join(map(tree_root, runs))
    return tiles


@pytest.mark.parametrize(
    ("tile", "path"),
    [
        (Tile(0, 0), "0/000"),
        (Tile(0, 999, 1), "0/999.p/1"),
        (Tile(2, 1_000), "2/x001/000"),
        (Tile(0, 1_234_067, 255), "0/x001/x234/067.p/255"),
    ],
)
def test_a_tile_has_one_path(tile: Tile, path: str) -> None:
    assert tile.path == path
    assert parse_tile(path) == tile


@given(st.builds(Tile, st.integers(0, 7), st.integers(0, 10**9), st.integers(1, 256)))
def test_paths_are_read_back(tile: Tile) -> None:
    assert parse_tile(tile.path) == tile
    entries = Tile(0, tile.index, tile.width)
    assert parse_bundle(entries.path.removeprefix("0/")) == entries


@pytest.mark.parametrize(
    "path",
    [
        "",
        "0",
        "0/0",
        "0/0000",
        "00/000",
        "0/x000/000",
        "0/001/000",
        "0/000.p/0",
        "0/000.p/256",
        "0/000.p/01",
        "0/000.p/",
        "-1/000",
        "8/000",
        "0/x001/x000",
        "0/٠٠٠",
        "0/000/",
        "../000",
        "0/" + "x001/" * 30 + "000",
    ],
)
def test_no_other_path_is_one(path: str) -> None:
    with pytest.raises(InvalidValue):
        parse_tile(path)


def test_the_tiles_of_the_size_that_the_specification_works_out() -> None:
    # C2SP tlog-tiles, section "Partial Tiles": a tree of size 70,000, and one of 256
    tiles = list(tiles_of(70_000))
    assert [len([tile for tile in tiles if tile.level == level and tile.width == 256]) for level in range(3)] == [
        273,
        1,
        0,
    ]
    assert [tile.width for tile in tiles if tile.width < 256] == [112, 17, 1]
    assert list(tiles_of(256)) == [Tile(0, 0), Tile(1, 0, 1)]
    assert not list(tiles_of(0))


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 511, 512, 700, 66_000])
def test_tiles_give_the_same_roots_and_proofs_as_leaves(size: int) -> None:
    leaves = [leaf_hash(number.to_bytes(4)) for number in range(size)]
    tiles = _tiles(leaves)
    tree, node = TiledTree(size, tiles.__getitem__), Perfect(leaves)
    assert root(size, tree.node) == tree_root(leaves)
    for position in {0, size // 3, size - 1}:
        assert inclusion(position, size, tree.node) == inclusion(position, size, node)
    for first in {1, size // 2 or 1, size}:
        assert consistency(first, size, tree.node) == consistency(first, size, node)


def test_what_lies_beside_a_subtree_in_its_tile_is_what_each_is() -> None:
    leaves = [leaf_hash(number.to_bytes(4)) for number in range(66_000)]
    tree, node = TiledTree(len(leaves), _tiles(leaves).__getitem__), Perfect(leaves)
    for level, index, others in ((0, 300, 511), (3, 8_225, 413), (10, 5, 511), (8, 256, 1)):
        beside = dict(tree.beside(level, index))
        assert len(beside) == others
        assert beside[level, index] == node(level, index)
        assert all(each == node(*place) for place, each in beside.items())


def test_a_subtree_that_is_not_in_the_tree_is_refused() -> None:
    leaves = [leaf_hash(number.to_bytes(4)) for number in range(700)]
    tree = TiledTree(700, _tiles(leaves).__getitem__)
    for level, index in ((8, 2), (7, 5), (2, 175), (9, 1)):
        with pytest.raises((ValueError, KeyError)):
            tree.node(level, index)


def test_a_tile_of_another_width_is_refused() -> None:
    tree = TiledTree(3, lambda _: bytes(64))
    with pytest.raises(InvalidValue, match="width"):
        root(3, tree.node)


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_bundles_are_read_back(entries: list[bytes]) -> None:
    assert unbundle(bundle(entries)) == entries


@pytest.mark.parametrize("data", [b"\x00", b"\x00\x05abcd", b"\x00\x01ab"])
def test_a_bundle_that_is_cut_off_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidValue, match="cut off"):
        unbundle(data)


def test_no_entry_of_64_kib_goes_into_a_bundle() -> None:
    assert len(bundle([bytes(65_535)])) == 65_537
    with pytest.raises(OverflowError):
        bundle([bytes(65_536)])
