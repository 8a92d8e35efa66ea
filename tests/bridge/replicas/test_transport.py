"""Frames, spools and rows: what goes in comes out, however it is cut."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.replicas import spool
from bridge.replicas.frames import FrameReader, Kind, frame
from bridge.replicas.spool import Spool

_HEADS = st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers(0, 2**50) | st.text(max_size=9))
_FRAMES = st.lists(st.tuples(st.sampled_from(Kind), _HEADS, st.binary(max_size=300)), max_size=5)


@given(_FRAMES, st.lists(st.integers(1, 200), min_size=1, max_size=20))
def test_frames_come_out_as_they_went_in(sent: list[tuple[Kind, dict[str, object], bytes]], cuts: list[int]) -> None:
    data = b"".join(frame(*each) for each in sent)
    reader, at = FrameReader(), 0
    got: list[tuple[Kind, dict[str, object], bytes]] = []
    while at < len(data):
        size = cuts[len(got) % len(cuts)]
        got += [(each.kind, dict(each.head), each.body) for each in reader.feed(data[at : at + size])]
        at += size
    assert got == sent


async def _through(pieces: Sequence[bytes], reads: Sequence[bool]) -> bytes:
    taken, given_ = Spool(), bytearray()
    chunks = aiter(taken)
    left = list(pieces)
    for read in reads:
        if read and sum(map(len, pieces)) - sum(map(len, left)) > len(given_):
            given_ += await anext(chunks)
        elif left:
            taken.put(left.pop(0))
    for piece in left:
        taken.put(piece)
    taken.finish()
    async for chunk in chunks:
        given_ += chunk
    taken.close()
    return bytes(given_)


@settings(max_examples=100)
@given(st.lists(st.binary(min_size=1, max_size=40), max_size=30), st.lists(st.booleans(), max_size=60))
def test_a_spool_gives_what_it_took_in_its_order(pieces: list[bytes], reads: list[bool]) -> None:
    """With room for less than it takes, so that some of it waits in a file, and memory comes back into use."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool, "IN_MEMORY", 50)
        patch.setattr(spool, "_READ", 30)
        assert asyncio.run(_through(pieces, reads)) == b"".join(pieces)


def test_a_spool_that_fails_fails_at_once() -> None:
    async def reading() -> None:
        taken = Spool()
        taken.put(b"some")
        taken.finish(ValueError("cut off"))
        async for _ in taken:
            pytest.fail("what is left of it is for nobody")

    with pytest.raises(ValueError, match="cut off"):
        asyncio.run(reading())


def test_a_spool_that_is_closed_keeps_nothing() -> None:
    async def closed() -> list[bytes]:
        taken = Spool()
        taken.put(b"some")
        taken.close()
        taken.put(b"more")
        taken.finish()
        return [chunk async for chunk in taken]

    assert asyncio.run(closed()) == []
