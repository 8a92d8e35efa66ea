"""Receipts of purges before JavaScript's Verifiable Credentials library, and before its JSON-LD library."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from bridge.base import Base
from certificates.errors import CertificateError
from certificates.keys import SigningKey
from certificates.receipt import Receipt, secure, verify
from kernel.changes import Assert
from kernel.purging.targets import Target, TargetKind
from tests.bridge.purging import SAID, purge
from tests.bridge.writing import ADMINISTRATOR, ANN, write
from tests.certificates.edits import edited
from tests.certificates.receipts import EDITS, EXAMPLE, receipts
from tests.certificates.strategies import KEY, STRANGER
from tests.clients.javascript import Ask, answering

pytestmark = pytest.mark.node


@pytest.fixture(scope="module")
def verifier() -> Iterator[Ask]:
    yield from answering("verify_credential.mjs")


@pytest.fixture(scope="module")
def canonizer() -> Iterator[Ask]:
    yield from answering("canonize.mjs")


def judged(verifier: Ask, document: bytes, key: SigningKey = KEY) -> dict[str, Any]:
    return verifier({"document": document.decode(), "multikey": key.public.multikey()})


def test_the_receipt_of_a_purge_is_accepted_there_and_here(verifier: Ask) -> None:
    with Base.open(None) as base:
        write(base, Assert(SAID))
        pending = purge(base, Target(TargetKind.NODE, ANN)).receipt
        base.purges.settled()
        [complete] = [record.receipt for record in base.purges.listed(ADMINISTRATOR)]
        for receipt in (pending, complete):
            if receipt is not None:
                assert judged(verifier, receipt, base.key) == {"verified": True}
                assert verify(receipt, base.key.public).facts == 1
        assert complete is not None


@settings(max_examples=10)
@given(receipts)
def test_every_receipt_is_accepted(verifier: Ask, receipt: Receipt) -> None:
    assert judged(verifier, secure(receipt, KEY)) == {"verified": True}


@pytest.mark.parametrize("name", EDITS)
def test_any_edit_is_refused_there_and_here(verifier: Ask, name: str) -> None:
    document = edited(secure(EXAMPLE, KEY), name, EDITS)
    assert judged(verifier, document)["verified"] is False
    with pytest.raises(CertificateError):
        verify(document, KEY.public)


def test_a_key_of_somebody_else_is_refused(verifier: Ask) -> None:
    assert (
        judged(verifier, secure(EXAMPLE, KEY).replace(KEY.public.did.encode(), STRANGER.public.did.encode()))[
            "verified"
        ]
        is False
    )


@given(receipts)
def test_javascript_reads_the_lines_that_we_sign(canonizer: Ask, receipt: Receipt) -> None:
    assert canonizer({"document": receipt.document()}) == {"nquads": receipt.canonical().decode()}
