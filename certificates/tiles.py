"""Tiles: a Merkle tree cut into static pieces (C2SP tlog-tiles).

Rules
-----
* A tile of level L and index N has up to 256 hashes: of leaves at level 0, of full tiles of the level below above it.
  A full tile never changes. The last of a level is partial, and its width is part of its name.
* Entries come in bundles of the same widths: each entry after its length in two bytes, big-endian.
* In a path, the index is written in groups of three digits, all but the last with an `x` before them.
* From tiles, every hash of a perfect subtree follows, and so every proof (`merkle_proofs`).

Example
-------
>>> Tile(1, 1_234_067, 5).path
'1/x001/x234/067.p/5'
>>> parse_tile("1/x001/x234/067.p/5")
Tile(level=1, index=1234067, width=5)
>>> [tile.path for tile in tiles_of(70_000)][-3:]
['1/000', '1/001.p/17', '2/000.p/1']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from certificates.errors import InvalidValue
from certificates.merkle import HASH_SIZE, nodes_over

WIDTH: Final = 256
"""Hashes of a full tile."""

HEIGHT: Final = 8
"""Levels of the tree that a tile spans: 2^8 = 256."""

MAX_LEVEL: Final = 7
"""The highest level of a tile of at most 2^63 leaves."""

_PATH: Final = re.compile(r"(0|[1-9][0-9]?)/((?:x[0-9]{3}/)*[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?", re.ASCII)
_BUNDLE: Final = re.compile(r"((?:x[0-9]{3}/)*[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?", re.ASCII)
_LONGEST: Final = 80
"""Characters of a path: far more than any index has."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile's name.

    Attributes:
        level: 0 for hashes of leaves.
        index: among the tiles of the level.
        width: how many hashes; below 256 for a partial tile.
    """

    level: int
    index: int
    width: int = WIDTH

    def __post_init__(self) -> None:
        """Refuse what is no tile of any tree."""
        if not (0 <= self.level <= MAX_LEVEL and 0 <= self.index < 1 << 55 and 1 <= self.width <= WIDTH):
            raise InvalidValue(
                "there is no such tile", remedy="work its name out from a checkpoint's size", where="tile"
            )

    @property
    def path(self) -> str:
        """Its path under `tile/`."""
        return f"{self.level}/{index_path(self.index, self.width)}"

    @property
    def leaves(self) -> int:
        """How many leaves a tree must have for the tile to be there."""
        return (self.index * WIDTH + self.width) << HEIGHT * self.level


def index_path(index: int, width: int) -> str:
    """Index and width as they stand in a path."""
    groups = [index % 1_000]
    while index := index // 1_000:
        groups.append(index % 1_000)
    last, *others = (f"{group:03}" for group in groups)
    partial = "" if width == WIDTH else f".p/{width}"
    return "".join(f"x{group}/" for group in reversed(others)) + last + partial


def parse_tile(path: str) -> Tile:
    """The tile of a path under `tile/`. Raises `InvalidValue`."""
    match = _PATH.fullmatch(path) if len(path) <= _LONGEST else None
    if match is None:
        raise _unreadable(path)
    return _canonical(Tile(int(match[1]), _index(match[2]), _width(match[3])), path)


def parse_bundle(path: str) -> Tile:
    """The tile of level 0 beside which a bundle of entries lies, by its path under `tile/entries/`; raises alike."""
    match = _BUNDLE.fullmatch(path) if len(path) <= _LONGEST else None
    if match is None:
        raise _unreadable(path)
    return _canonical(Tile(0, _index(match[1]), _width(match[2])), f"0/{path}")


def tiles_of(size: int) -> Iterator[Tile]:
    """Every tile of a tree of so many leaves, from level 0 on."""
    level = 0
    while size:
        full, rest = divmod(size, WIDTH)
        yield from (Tile(level, index) for index in range(full))
        if rest:
            yield Tile(level, full, rest)
        size, level = full, level + 1


def bundle(entries: Iterable[bytes]) -> bytes:
    """Entries as they are served together. Raises `OverflowError` for one of 64 KiB or more."""
    return b"".join(len(entry).to_bytes(2) + entry for entry in entries)


def unbundle(data: bytes) -> list[bytes]:
    """The entries of a bundle. Raises `InvalidValue` for one that is cut off."""
    entries: list[bytes] = []
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 2])
        entries.append(data[at + 2 : at + 2 + length])
        at += 2 + length
    if at != len(data):
        raise InvalidValue("the bundle is cut off", remedy="fetch it again", where="entries")
    return entries


class TiledTree:
    """A tree of which tiles can be read; gives the hashes that proofs are made of.

    Args:
        size: how many leaves it has.
        read: gives the hashes of a tile, one after another.
    """

    def __init__(self, size: int, read: Callable[[Tile], bytes]) -> None:
        self.size = size
        self._read = read
        self._levels = lru_cache(maxsize=64)(self._levels_of)

    def node(self, level: int, index: int) -> bytes:
        """The hash of a perfect subtree (`merkle_proofs.Node`) that lies wholly in the tree."""
        tile_level, height = divmod(level, HEIGHT)
        tile, place = divmod(index, WIDTH >> height)
        hashes = self._hashes(tile_level, tile, height)
        if place >= len(hashes):
            raise ValueError(f"no perfect subtree {index} at level {level} in a tree of {self.size}")
        return hashes[place]

    def beside(self, level: int, index: int) -> Iterator[tuple[tuple[int, int], bytes]]:
        """Every perfect subtree that is known with that one, from the same tile, each by its level and index."""
        tile_level, height = divmod(level, HEIGHT)
        tile = index // (WIDTH >> height)
        for above in range(HEIGHT + 1):
            for number, each in enumerate(self._hashes(tile_level, tile, above), tile * (WIDTH >> above)):
                yield (tile_level * HEIGHT + above, number), each

    def _hashes(self, level: int, index: int, height: int) -> list[bytes]:
        """The hashes of a tile, or so high above them those of each two, four, and so on that are full."""
        levels = self._levels(level, index)
        while len(levels) <= height:
            levels.append(nodes_over(levels[-1]))
        return levels[height]

    def _levels_of(self, level: int, index: int) -> list[list[bytes]]:
        """The hashes of a tile; those above them are added as they are asked for."""
        width = min(WIDTH, (self.size >> HEIGHT * level) - index * WIDTH)
        data = self._read(Tile(level, index, width))
        if len(data) != width * HASH_SIZE:
            raise InvalidValue("the tile has not the width of its name", remedy="fetch it again", where="tile")
        return [[data[start : start + HASH_SIZE] for start in range(0, len(data), HASH_SIZE)]]


def _index(groups: str) -> int:
    return int(groups.replace("x", "").replace("/", ""))


def _width(text: str | None) -> int:
    """Full where none is given; a full one is never written out."""
    if text is None:
        return WIDTH
    return int(text) if int(text) < WIDTH else 0


def _canonical(tile: Tile, path: str) -> Tile:
    """A tile has one path."""
    if tile.path != path:
        raise _unreadable(path)
    return tile


def _unreadable(path: str) -> InvalidValue:
    return InvalidValue(
        f"{path[:_LONGEST]!r} is no path of a tile",
        remedy="write it as C2SP tlog-tiles has it, such as 0/x001/234 or 1/000.p/17",
        where="tile",
    )
