"""Our certificates before JavaScript's Verifiable Credentials libraries, and before two JSON-LD libraries."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from pyld import jsonld

from certificates.certificate import Certificate
from certificates.context import CERTIFICATE_CONTEXT, CREDENTIALS_CONTEXT
from certificates.errors import CertificateError
from certificates.keys import SigningKey
from certificates.proof import secure, verify
from tests.certificates.edits import EDITS, edited
from tests.certificates.strategies import EXAMPLE, KEY, NOW, STRANGER, certificates
from tests.clients.javascript import Ask, answering
from tests.requirements import require

pytestmark = pytest.mark.node

_SECURED: Final = secure(EXAMPLE, KEY, NOW)


@pytest.fixture(scope="module")
def verifier() -> Iterator[Ask]:
    yield from answering("verify_credential.mjs")


@pytest.fixture(scope="module")
def canonizer() -> Iterator[Ask]:
    yield from answering("canonize.mjs")


def _judge(verifier: Ask, document: bytes, key: SigningKey = KEY) -> dict[str, Any]:
    return verifier({"document": document.decode(), "multikey": key.public.multikey()})


def test_a_certificate_is_accepted(verifier: Ask) -> None:
    assert _judge(verifier, _SECURED) == {"verified": True}


def test_a_certificate_that_was_laid_out_anew_is_accepted(verifier: Ask) -> None:
    reordered = json.dumps(dict(reversed(json.loads(_SECURED).items())), indent=4).encode()
    assert _judge(verifier, reordered) == {"verified": True}


@settings(max_examples=20)
@given(certificates)
def test_every_certificate_is_accepted(verifier: Ask, certificate: Certificate) -> None:
    assert _judge(verifier, secure(certificate, KEY, NOW)) == {"verified": True}


@pytest.mark.parametrize("name", EDITS)
def test_any_edit_is_refused_there_and_here(verifier: Ask, name: str) -> None:
    document = edited(_SECURED, name)
    assert _judge(verifier, document)["verified"] is False
    with pytest.raises(CertificateError):
        verify(document, KEY.public)


def test_a_stranger_cannot_sign_in_the_issuers_name(verifier: Ask) -> None:
    by_stranger = secure(replace(EXAMPLE, issuer=STRANGER.public.did), STRANGER, NOW)
    assert _judge(verifier, by_stranger, STRANGER) == {"verified": True}
    forged = json.loads(_SECURED)
    forged["proof"] = json.loads(by_stranger)["proof"]
    document = json.dumps(forged).encode()
    assert _judge(verifier, document, STRANGER)["verified"] is False
    with pytest.raises(CertificateError):
        verify(document, KEY.public)


@given(certificates)
def test_javascript_reads_the_lines_that_we_sign(canonizer: Ask, certificate: Certificate) -> None:
    assert canonizer({"document": certificate.document()}) == {"nquads": _lines(certificate)}


@given(certificates)
def test_pyld_reads_the_lines_that_we_sign(python_loader: "Loader", certificate: Certificate) -> None:
    options = {"algorithm": "URDNA2015", "format": "application/n-quads", "documentLoader": python_loader}
    assert jsonld.normalize(certificate.document(), options) == _lines(certificate)


def _lines(certificate: Certificate) -> str:
    return "".join(f"{line}\n" for line in certificate.nquads())


Loader = Callable[[str, dict[str, object]], dict[str, object]]


@pytest.fixture(scope="module")
def python_loader() -> Loader:
    packages = require("node") / "node_modules"
    w3c = packages / "@digitalbazaar" / "credentials-context" / "contexts" / "v2.jsonld"
    ours = Path(str(files("ontology"))) / "certificate-v1.jsonld"
    contexts = {
        CREDENTIALS_CONTEXT: json.loads(w3c.read_text()),
        CERTIFICATE_CONTEXT: json.loads(ours.read_text()),
    }

    def load(url: str, options: dict[str, object]) -> dict[str, object]:
        return {"contextUrl": None, "documentUrl": url, "document": contexts[url]}

    return load
