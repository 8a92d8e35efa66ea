"""Receipts: what they say comes back as it was signed, and nothing else does."""

import json
from dataclasses import replace

import pytest
from hypothesis import given

from certificates.errors import BadSignature, CertificateError, InvalidValue, WrongKey
from certificates.receipt import Receipt, secure, verify
from tests.certificates.edits import edited
from tests.certificates.receipts import EDITS, EXAMPLE, receipts
from tests.certificates.strategies import KEY, STRANGER


@given(receipts)
def test_what_was_signed_is_read_back(receipt: Receipt) -> None:
    secured = secure(receipt, KEY)
    assert verify(secured, KEY.public) == receipt
    laid_out_anew = json.dumps(dict(reversed(json.loads(secured).items())), indent=2).encode()
    assert verify(laid_out_anew, KEY.public) == receipt


@pytest.mark.parametrize("name", EDITS)
def test_any_edit_is_refused(name: str) -> None:
    with pytest.raises(CertificateError):
        verify(edited(secure(EXAMPLE, KEY), name, EDITS), KEY.public)


def test_nobody_signs_in_anothers_name() -> None:
    with pytest.raises(WrongKey):
        secure(EXAMPLE, STRANGER)
    with pytest.raises(WrongKey):
        verify(secure(EXAMPLE, KEY), STRANGER.public)
    forged = json.loads(secure(EXAMPLE, KEY))
    forged["proof"]["proofValue"] = json.loads(secure(replace(EXAMPLE, facts=1), KEY))["proof"]["proofValue"]
    with pytest.raises(BadSignature):
        verify(json.dumps(forged).encode(), KEY.public)


@pytest.mark.parametrize(
    ("name", "places"), [("erased", ("b place", "a place")), ("absent", ("one", "one")), ("not_reached", ('quo"te',))]
)
def test_places_are_names_in_their_order(name: str, places: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValue):
        replace(EXAMPLE, **{name: places})  # type: ignore[arg-type]
