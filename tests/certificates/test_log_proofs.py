"""Checkpoints and proof files: what a stranger with the log's key can and cannot be told."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.checkpoints import Checkpoint, origin_of, read_checkpoint, sign_checkpoint, verify_checkpoint
from certificates.errors import BadSignature, MalformedDocument, WrongKey
from certificates.keys import SigningKey
from certificates.log_proofs import ConsistencyProof, InclusionProof
from certificates.merkle import EMPTY_ROOT, leaf_hash
from certificates.merkle_proofs import Perfect, consistency, inclusion, root
from certificates.notes import NoteKey, NoteKeyType, cosign

KEY = SigningKey.from_bytes(bytes(range(32)))
ORIGIN = origin_of(UUID(int=7))
ENTRIES = [b"entry %d" % number for number in range(20)]
NODE = Perfect([leaf_hash(entry) for entry in ENTRIES])


def _checkpoint(size: int) -> Checkpoint:
    return Checkpoint(ORIGIN, size, root(size, NODE))


def _note(size: int) -> str:
    return sign_checkpoint(_checkpoint(size), KEY)


def _inclusion(position: int, size: int) -> InclusionProof:
    return InclusionProof(ENTRIES[position], position, tuple(inclusion(position, size, NODE)), _note(size))


def _consistency(old: int, size: int) -> ConsistencyProof:
    return ConsistencyProof(old, tuple(consistency(old, size, NODE)), _note(size))


@pytest.mark.parametrize("size", [0, 1, 20])
def test_a_checkpoint_is_read_as_it_was_signed(size: int) -> None:
    assert verify_checkpoint(_note(size), ORIGIN, KEY.public) == _checkpoint(size) == read_checkpoint(_note(size))


def test_a_checkpoint_is_of_one_log_and_one_key() -> None:
    with pytest.raises((WrongKey, BadSignature)):
        verify_checkpoint(_note(3), origin_of(UUID(int=8)), KEY.public)
    with pytest.raises(BadSignature):
        verify_checkpoint(_note(3), ORIGIN, SigningKey.from_bytes(bytes(32)).public)


def test_a_witness_that_is_asked_for_must_have_signed() -> None:
    key = SigningKey.from_bytes(bytes(32))
    witness = NoteKey("witness.example/w1", key.public, NoteKeyType.COSIGNATURE)
    with pytest.raises(BadSignature, match=r"witness\.example"):
        verify_checkpoint(_note(3), ORIGIN, KEY.public, [witness])
    seen = cosign(_note(3), witness.name, key, 1_700_000_000)
    assert verify_checkpoint(seen, ORIGIN, KEY.public, [witness]).size == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "origin\n",
        "origin\n1\n",
        "origin\n01\nAAAA\n",
        "origin\n1\nAAAA\n",
        "\n1\n" + "A" * 43 + "=\n",
        f"{_checkpoint(1).text}extension\n",
        _checkpoint(1).text.replace("\n1\n", "\n-1\n"),
        _checkpoint(1).text[:-1],
        Checkpoint(ORIGIN, 0, leaf_hash(b"x")).text,
    ],
)
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(MalformedDocument):
        Checkpoint.parse(text)


@given(st.data())
def test_proof_files_are_read_back_and_verify(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(ENTRIES)))
    position, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))
    held, grown = _inclusion(position, size), _consistency(old, size)
    assert InclusionProof.parse(held.text) == held
    assert held.verify(ORIGIN, KEY.public) == _checkpoint(size)
    assert ConsistencyProof.parse(grown.text) == grown
    assert grown.verify(_checkpoint(old), KEY.public) == _checkpoint(size)


def test_a_proof_without_its_entry_is_refused() -> None:
    lines = _inclusion(3, 7).text.split("\n")
    for spoilt in ([lines[0], *lines[2:]], [lines[0], "extra !", *lines[2:]]):
        with pytest.raises(MalformedDocument, match="entry"):
            InclusionProof.parse("\n".join(spoilt))


def test_another_entry_or_place_is_not_proved() -> None:
    proof = _inclusion(3, 7)
    with pytest.raises(BadSignature, match="position 3"):
        replace(proof, entry=ENTRIES[4]).verify(ORIGIN, KEY.public)
    with pytest.raises(BadSignature, match="position 4"):
        replace(proof, position=4).verify(ORIGIN, KEY.public)


def test_a_log_that_was_rewritten_is_found_out() -> None:
    rewritten = Perfect([leaf_hash(entry) for entry in [*ENTRIES[:2], b"another", *ENTRIES[3:]]])
    note = sign_checkpoint(Checkpoint(ORIGIN, 9, root(9, rewritten)), KEY)
    proof = ConsistencyProof(5, tuple(consistency(5, 9, rewritten)), note)
    with pytest.raises(BadSignature, match="does not begin"):
        proof.verify(_checkpoint(5), KEY.public)


def test_a_log_that_was_rolled_back_is_found_out() -> None:
    with pytest.raises(BadSignature, match="does not begin"):
        ConsistencyProof(9, (), _note(5)).verify(_checkpoint(9), KEY.public)


def test_a_proof_from_another_size_is_told_apart() -> None:
    with pytest.raises(WrongKey, match="from 4 entries"):
        _consistency(4, 9).verify(_checkpoint(5), KEY.public)


def test_whatever_comes_later_extends_the_empty_log() -> None:
    empty = Checkpoint(ORIGIN, 0, EMPTY_ROOT)
    assert ConsistencyProof(0, (), _note(5)).verify(empty, KEY.public).size == 5


@pytest.mark.parametrize(
    ("text", "parse"),
    [
        (text, parse)
        for parse in (InclusionProof.parse, ConsistencyProof.parse)
        for text in ("", "x\n\n", "old x\n\n", "c2sp.org/tlog-proof@v1\n", "c2sp.org/tlog-proof@v1\nindex 01\n\n")
    ]
    + [
        ("c2sp.org/tlog-proof@v1\nextra AAAA\nindex 1\nAAAA\n\n", InclusionProof.parse),
        ("old 1\n" + "A\n" * 200, ConsistencyProof.parse),
    ],
)
def test_what_is_no_proof_is_refused(text: str, parse: Callable[[str], object]) -> None:
    with pytest.raises(MalformedDocument):
        parse(text)
