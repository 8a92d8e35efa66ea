"""What is told of a text that is no IRI: which character is in the way, or that it has no scheme."""

import pytest

from kernel.errors import InvalidTerm
from kernel.terms import Iri


@pytest.mark.parametrize(
    ("text", "what", "remedy"),
    [
        ("ann", "it has no scheme", "https://example.org/ann"),
        ("", "it has no scheme", "https://example.org/ann"),
        ("urn:a b", "' ' (U+0020)", "%20"),
        ("urn:a<b", "'<' (U+003C)", "%3C"),
        ("urn:a\u202eb", "U+202E", "take it out"),
        ("urn:a\x07b", "U+0007", "take it out"),
        ("urn:a\ud800b", "U+D800", "take it out"),
    ],
)
def test_what_keeps_a_text_from_being_an_iri(text: str, what: str, remedy: str) -> None:
    with pytest.raises(InvalidTerm) as refused:
        Iri(text)
    assert what in refused.value.message
    assert remedy in refused.value.remedy
    assert refused.value.message.isprintable()
