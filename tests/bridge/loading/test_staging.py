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
from kernel.time.instants import Instant
from kernel.time.timevalues import exact, valid_to
from kernel.writing.deferred import Deferred, Deletion
from tests.bridge.ledger.test_request_codec import confidences, spellings, statements, validities

assertions = st.builds(Assert, statements, validities | st.just(Validity.always()), spellings, confidences)
CHUNK = encode_changes([Assert(Statement(Iri("urn:s"), Iri("urn:p"), Iri("urn:o"), Iri("urn:g")))], b"seed")


ends = st.sampled_from([exact(Instant(5)), valid_to("2026", field="to"), valid_to("2026-05", field="to")])
deletions = st.builds(Deletion, statements, ends, st.booleans())


@given(st.lists(deletions, max_size=6), st.lists(assertions, max_size=6), st.binary(max_size=32))
def test_a_chunk_comes_back_as_it_was(deleted: list[Deletion], asserted: list[Assert], seed: bytes) -> None:
    changes: list[Deferred] = [*deleted, *asserted]
    chunk = encode_changes(changes, seed)
    back = decode_changes(chunk)
    assert back == changes
    # Decimals that are equal may have other digits: 0.5 and 0.50.
    assert [*map(str, back)] == [*map(str, changes)]
    assert decode_seed(chunk) == seed


def test_a_chunk_of_before_there_were_deletions_is_read() -> None:
    tables = json.loads(CHUNK)
    del tables["ends"], tables["deletions"]
    assert decode_changes(json.dumps(tables).encode()) == decode_changes(CHUNK)


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
        {"deletions": [[0, 1, 0, 2, 0, False]]},
        {"ends": [[1, "perhaps", None]]},
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
