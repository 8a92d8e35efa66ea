"""Signed notes: published ones, ours, and every edit of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.errors import BadSignature, InvalidValue, MalformedDocument
from certificates.keys import SigningKey
from certificates.notes import NoteKey, NoteKeyType, cosign, sign, text_of, verify

LOG = SigningKey.from_bytes(bytes(range(32)))
WITNESS = SigningKey.from_bytes(bytes(range(1, 33)))
NAME = "example.com/log"
KEY = NoteKey(NAME, LOG.public)

# A key and a note that the documentation of Go's package golang.org/x/mod/sumdb/note publishes.
PUBLISHED_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PUBLISHED_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)


def test_a_published_note_verifies() -> None:
    key = NoteKey.parse(PUBLISHED_KEY)
    assert key.vkey == PUBLISHED_KEY
    assert verify(PUBLISHED_NOTE, [key]).signers == ((key, None),)


@pytest.mark.parametrize("place", range(0, len(PUBLISHED_NOTE.encode()), 7))
def test_a_published_note_that_was_edited_does_not(place: int) -> None:
    data = bytearray(PUBLISHED_NOTE.encode())
    data[place] ^= 1
    with pytest.raises((BadSignature, MalformedDocument, UnicodeDecodeError)):
        verify(data.decode(), [NoteKey.parse(PUBLISHED_KEY)])


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])).map(lambda line: line + "\n"))
def test_what_was_signed_comes_back(text: str) -> None:
    note = sign(text, NAME, LOG)
    assert verify(note, [KEY]).text == text == text_of(note)


def test_text_with_empty_lines_ends_at_the_last_of_them() -> None:
    text = "one\n\ntwo\n"
    assert verify(sign(text, NAME, LOG), [KEY]).text == text


@pytest.mark.parametrize("text", ["no end", "a\ttab\n", "nul\0\n"])
def test_text_that_no_note_can_have_is_not_signed(text: str) -> None:
    with pytest.raises(InvalidValue):
        sign(text, NAME, LOG)


def test_unknown_keys_are_passed_over_and_one_known_is_needed() -> None:
    note = sign("text\n", NAME, LOG)
    stranger = sign("text\n", "example.com/stranger", WITNESS).rpartition("\n\n")[2]
    assert verify(note + stranger, [KEY]).signers == ((KEY, None),)
    with pytest.raises(BadSignature, match="no known key"):
        verify(note, [NoteKey(NAME, WITNESS.public)])
    with pytest.raises(BadSignature, match="no known key"):
        verify(note, [NoteKey("example.com/other", LOG.public)])
    with pytest.raises(BadSignature, match="no known key"):
        verify(note, [])


def test_a_known_key_whose_signature_does_not_fit_spoils_the_note() -> None:
    note = sign("text\n", NAME, LOG)
    other = sign("other\n", "example.com/second", WITNESS).rpartition("\n\n")[2]
    with pytest.raises(BadSignature, match="does not fit"):
        verify(note + other, [KEY, NoteKey("example.com/second", WITNESS.public)])


def test_a_witness_says_when_and_cannot_be_quoted_for_another_time() -> None:
    witness = NoteKey("witness.example/w1", WITNESS.public, NoteKeyType.COSIGNATURE)
    note = cosign(sign("text\n", NAME, LOG), witness.name, WITNESS, 1_679_315_147)
    assert verify(note, [KEY, witness]).signers == ((KEY, None), (witness, 1_679_315_147))
    plain = NoteKey(witness.name, WITNESS.public)
    with pytest.raises(BadSignature, match="no known key"):
        verify(note, [plain])


@pytest.mark.parametrize(
    "note",
    [
        "",
        "\n",
        "text\n",
        "text\n\n",
        "text\n\n\n",
        "text\n\n- name AAAAAAA=\n",
        "text\n\n— na+me AAAAAAAA\n",
        "text\n\n— name AAAA\n",
        "text\n\n— name !!!!\n",
        "text\n\n— name AAAAAAAA",
        "text\n\n— name AAAAAAAA\nmore\n",
        "te\txt\n\n— name AAAAAAAA\n",
        "text\n\n" + "— name AAAAAAAA\n" * 101,
    ],
)
def test_what_is_no_note_is_refused(note: str) -> None:
    with pytest.raises(MalformedDocument):
        verify(note, [KEY])


@pytest.mark.parametrize(
    "vkey", ["", "name", "name+00000000+", PUBLISHED_KEY[:-4] + "AAAA", "a b+c74f20a3+AR", "n+x+y+z"]
)
def test_what_is_no_key_is_refused(vkey: str) -> None:
    with pytest.raises(InvalidValue):
        NoteKey.parse(vkey)
