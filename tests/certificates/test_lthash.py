"""The state digest against a model that keeps its lanes in a list."""

from hashlib import sha256, shake_128
from itertools import chain
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates import lthash
from certificates.lthash import LatticeHash, Member

_MEMBERS = st.tuples(st.binary(min_size=16, max_size=16), st.binary(min_size=32, max_size=32))
_SETS = st.lists(_MEMBERS, max_size=12, unique=True)


def _model(added: list[Member], removed: list[Member]) -> bytes:
    lanes = [0] * 1024
    for sign, (fact_id, leaf) in chain(((1, one) for one in added), ((-1, one) for one in removed)):
        element = shake_128(fact_id + leaf).digest(2048)
        for lane in range(1024):
            value = element[2 * lane] + 256 * element[2 * lane + 1]
            lanes[lane] = (lanes[lane] + sign * value) % 65536
    return b"".join(lane.to_bytes(2, "little") for lane in lanes)


def _one_by_one(members: list[Member]) -> LatticeHash:
    state = LatticeHash()
    for member in members:
        state = state.add(*member)
    return state


@given(_SETS, _SETS)
def test_agrees_with_the_model(added: list[Member], removed: list[Member]) -> None:
    state = LatticeHash().add_many(added).remove_many(removed)
    assert state.to_bytes() == _model(added, removed)
    assert state.digest() == sha256(_model(added, removed)).digest()
    assert state.hexdigest() == state.digest().hex()


@given(_SETS, st.randoms())
def test_order_does_not_matter(members: list[Member], random: Random) -> None:
    shuffled = list(members)
    random.shuffle(shuffled)
    assert _one_by_one(members) == LatticeHash().add_many(shuffled)


@given(_SETS, _SETS)
def test_a_removal_undoes_its_addition(kept: list[Member], passing: list[Member]) -> None:
    before = _one_by_one(kept)
    state = before.add_many(passing)
    for member in passing:
        state = state.remove(*member)
    assert state == before


@given(_SETS)
def test_a_state_can_be_kept_and_continued(members: list[Member]) -> None:
    state = LatticeHash().add_many(members)
    assert LatticeHash.from_bytes(state.to_bytes()) == state


@given(_MEMBERS, _MEMBERS)
def test_sets_that_differ_have_other_digests(one: Member, other: Member) -> None:
    assert (LatticeHash().add(*one).digest() == LatticeHash().add(*other).digest()) == (one == other)
    assert LatticeHash().add(*one).digest() != LatticeHash().digest()


def test_sums_beyond_one_batch_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    members = [(number.to_bytes(16), bytes(32)) for number in range(300)]
    expected = _one_by_one(members)
    monkeypatch.setattr(lthash, "_BATCH", 7)
    assert LatticeHash().add_many(members) == expected


def test_a_full_batch_does_not_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    largest = (1 << 16384) - 1  # every lane at its largest
    monkeypatch.setattr(lthash, "_element", lambda *_: largest)
    full = LatticeHash().add_many([(b"", b"")] * (1 << 16))
    assert full == LatticeHash()  # 2^16 times anything is 0 in a lane of 16 bits


@pytest.mark.parametrize(("fact_id", "leaf"), [(b"", bytes(48)), (bytes(15), bytes(33)), (bytes(16), bytes(31))])
def test_ids_and_leaves_of_other_lengths_are_refused(fact_id: bytes, leaf: bytes) -> None:
    for change in (LatticeHash().add, LatticeHash().remove):
        with pytest.raises(ValueError, match="16 bytes"):
            change(fact_id, leaf)
    with pytest.raises(ValueError, match="16 bytes"):
        LatticeHash().add_many([(fact_id, leaf)])


def test_a_state_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2048 bytes, not 5"):
        LatticeHash.from_bytes(b"12345")


def test_a_state_can_be_printed() -> None:
    assert "LatticeHash" in repr(LatticeHash().add(bytes(16), bytes(32)))
