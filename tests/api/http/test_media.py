"""Content-Type and Accept, as clients write them."""

from typing import Final

import pytest

from api.errors import UnsupportedMediaType
from api.http.media import body_type, preferred
from kernel.errors import NotAcceptable

OFFERED: Final = ("application/json", "application/vc", "application/ld+json")


@pytest.mark.parametrize(
    ("header", "media_type"),
    [
        ("application/json", "application/json"),
        ("Application/JSON; charset=utf-8", "application/json"),
        ('text/turtle;charset="UTF-8"', "text/turtle"),
        ("text/turtle; version=1.2", "text/turtle"),
        ("text/csv; charset=us-ascii", "text/csv"),
    ],
)
def test_a_content_type_is_read(header: str, media_type: str) -> None:
    assert body_type(header) == media_type


@pytest.mark.parametrize("header", [None, "", "json", "text/turtle; charset=iso-8859-1", "text/turtle;charset=utf-16"])
def test_no_type_and_other_charsets_are_refused(header: str | None) -> None:
    with pytest.raises(UnsupportedMediaType) as caught:
        body_type(header)
    assert caught.value.where == "Content-Type"


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "application/json"),
        ("", "application/json"),
        ("*/*", "application/json"),
        ("application/*", "application/json"),
        ("application/vc", "application/vc"),
        ("APPLICATION/VC", "application/vc"),
        ("text/html, */*;q=0.1", "application/json"),
        ("application/json;q=0.2, application/ld+json;q=0.7", "application/ld+json"),
        ("application/vc, */*", "application/json"),
        ("application/json;q=0, */*", "application/vc"),
        ("*/*;q=0.5, application/ld+json", "application/ld+json"),
        (" application/vc ; q=1.0 ", "application/vc"),
    ],
)
def test_the_best_accepted_is_given(accept: str | None, media_type: str) -> None:
    assert preferred(accept, OFFERED) == media_type


@pytest.mark.parametrize("accept", ["text/*", "text/html", "application/json;q=0", "application/vc;q=nonsense", ";;,"])
def test_nothing_accepted_is_an_error_that_names_what_there_is(accept: str) -> None:
    with pytest.raises(NotAcceptable) as caught:
        preferred(accept, OFFERED)
    assert "application/vc" in caught.value.remedy
