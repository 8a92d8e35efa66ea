"""Ids by RFC 9562."""

import pickle
import time
from hashlib import sha256
from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.errors import InvalidValue
from certificates.ids import derived_id, parse_urn, read_uuid, urn, uuid7

_KINDS = st.text(st.characters(max_codepoint=127), max_size=10)
_ORDINALS = st.integers(0, 2**64 - 1)


def test_certificate_ids_are_version_7_and_carry_the_millisecond() -> None:
    before = time.time_ns() // 1_000_000
    made = [uuid7() for _ in range(1000)]
    after = time.time_ns() // 1_000_000
    assert {(one.version, one.variant) for one in made} == {(7, RFC_4122)}
    assert all(before <= one.int >> 80 <= after for one in made)
    assert len(set(made)) == 1000


def test_every_free_bit_of_a_certificate_id_is_random() -> None:
    made = [uuid7().int for _ in range(200)]
    free = ((1 << 80) - 1) & ~(0xF << 76) & ~(0b11 << 62)
    ever_set = ever_clear = 0
    for one in made:
        ever_set |= one
        ever_clear |= ~one
    assert ever_set & free == free
    assert ever_clear & free == free


@given(st.uuids(), _KINDS, _ORDINALS)
def test_derived_ids_are_version_8_and_repeatable(certificate: UUID, kind: str, ordinal: int) -> None:
    made = derived_id(certificate, kind, ordinal)
    assert (made.version, made.variant) == (8, RFC_4122)
    assert made == derived_id(certificate, kind, ordinal)


@given(st.uuids(), _KINDS, _ORDINALS)
def test_derived_ids_are_the_hash_with_version_and_variant_written_over(
    certificate: UUID, kind: str, ordinal: int
) -> None:
    expected = bytearray(sha256(certificate.bytes + ordinal.to_bytes(8, "big") + kind.encode()).digest()[:16])
    expected[6] = expected[6] & 0x0F | 0x80
    expected[8] = expected[8] & 0x3F | 0x80
    assert derived_id(certificate, kind, ordinal).bytes == bytes(expected)


@given(st.sets(st.tuples(st.uuids(), _KINDS, _ORDINALS), min_size=2))
def test_derived_ids_differ_when_anything_differs(origins: set[tuple[UUID, str, int]]) -> None:
    assert len({derived_id(*origin) for origin in origins}) == len(origins)


@pytest.mark.parametrize("ordinal", [-1, 2**64])
def test_an_ordinal_out_of_range_is_refused(ordinal: int) -> None:
    with pytest.raises(OverflowError):
        derived_id(UUID(int=0), "fact", ordinal)


@given(st.uuids())
def test_urns_are_read_back(identifier: UUID) -> None:
    assert urn(identifier) == identifier.urn
    assert parse_urn(urn(identifier)) == identifier


@pytest.mark.parametrize(
    "text",
    [
        "",
        "urn:uuid:",
        "01890a5d-ac96-774b-bcce-b302099a8057",
        "urn:uuid:01890A5D-AC96-774B-BCCE-B302099A8057",
        "URN:UUID:01890a5d-ac96-774b-bcce-b302099a8057",
        "urn:uuid:01890a5dac96774bbcceb302099a8057",
        "urn:uuid:{01890a5d-ac96-774b-bcce-b302099a8057}",
        "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057\n",
    ],
)
def test_no_other_spelling_of_a_urn_is_read(text: str) -> None:
    with pytest.raises(InvalidValue, match="urn:uuid:"):
        parse_urn(text)


@given(st.uuids())
def test_an_id_is_read_as_the_library_reads_it(expected: UUID) -> None:
    found = read_uuid(expected.bytes)
    assert (found, hash(found), str(found), found.bytes, found.is_safe) == (
        expected, hash(expected), str(expected), expected.bytes, expected.is_safe
    )  # fmt: skip
    assert pickle.loads(pickle.dumps(found)) == expected
    with pytest.raises(TypeError):
        found.int = 7  # type: ignore[misc]


@pytest.mark.parametrize("size", [0, 15, 17])
def test_an_id_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        read_uuid(bytes(size))
