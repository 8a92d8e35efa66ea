"""Chunks of a load session as bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.loading.staging import decode_changes, decode_seed, encode_changes
from kernel.changes import Assert
from kernel.errors import DamagedBase
from kernel.facts import Validity
from kernel.terms import Iri, Statement
from tests.bridge.ledger.test_request_codec import confidences, spellings, statements, validities

assertions = st.builds(Assert, statements, validities | st.just(Validity.always()), spellings, confidences)
CHUNK = encode_changes([Assert(Statement(Iri("urn:s"), Iri("urn:p"), Iri("urn:o"), Iri("urn:g")))], b"seed")


@given(st.lists(assertions, max_size=6), st.binary(max_size=32))
def test_a_chunk_comes_back_as_it_was(changes: list[Assert], seed: bytes) -> None:
    chunk = encode_changes(changes, seed)
    back = decode_changes(chunk)
    assert back == changes
    # Decimals that are equal may have other digits: 0.5 and 0.50.
    assert [str(change.confidence) for change in back] == [str(change.confidence) for change in changes]
    assert decode_seed(chunk) == seed


@pytest.mark.parametrize(
    "broken",
    [
        {"iris": ["<urn:s>"]},
        {"iris": ["<urn:s>", "nonsense", "<urn:g>"]},
        {"objects": ["<urn:o"]},
        {"validities": []},
        {"validities": [[2, 1, "instant", "instant"]]},
        {"validities": [[1, 2, "perhaps", "instant"]]},
        {"spellings": [["<urn:o>", None, None]]},
        {"changes": [[0, 1, 0]]},
        {"changes": [[0, 1, 0, 2, 0, 0, "much"]]},
        {"changes": None},
    ],
)
def test_a_chunk_that_cannot_be_read_is_damage(broken: dict[str, object]) -> None:
    with pytest.raises(DamagedBase):
        decode_changes(json.dumps(json.loads(CHUNK) | broken).encode())


@pytest.mark.parametrize("chunk", [b"", b"\xff", CHUNK[:-1], b"{}"])
def test_bytes_that_are_no_chunk_are_damage(chunk: bytes) -> None:
    for decode in (decode_changes, decode_seed):
        with pytest.raises(DamagedBase):
            decode(chunk)
