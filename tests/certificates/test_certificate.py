"""The certificate as a value, and the lines that are signed."""

import json
from dataclasses import FrozenInstanceError, replace
from hashlib import sha256
from importlib.resources import files

import pyoxigraph as ox
import pytest
from hypothesis import given

from certificates.certificate import Certificate, Digests
from certificates.context import CONTEXT_SHA256, CONTEXTS
from certificates.errors import InvalidValue
from certificates.ids import derived_id
from tests.certificates.strategies import DIGEST, EXAMPLE, certificates

_CONTEXT = files("ontology").joinpath("certificate-v1.jsonld").read_bytes()


def test_the_published_context_is_the_one_that_is_pinned() -> None:
    assert sha256(_CONTEXT).hexdigest() == CONTEXT_SHA256


def test_the_context_defines_every_member_and_nothing_else() -> None:
    terms = set(json.loads(_CONTEXT)["@context"]) - {"@protected"}
    document = EXAMPLE.document()
    subject = document["credentialSubject"]
    assert isinstance(subject, dict)
    of_credentials = {"@context", "id", "type", "issuer", "credentialSubject"}
    assert terms == {*document, *subject, "MunimentCertificate", "MunimentPlan"} - of_credentials


def test_the_context_can_be_redefined_by_no_other() -> None:
    context = json.loads(_CONTEXT)["@context"]
    assert context["@protected"] is True
    assert context["verdict"]["@context"]["@protected"] is True


def test_the_document_reads_as_a_person_expects() -> None:
    assert EXAMPLE.document() == {
        "@context": list(CONTEXTS),
        "id": "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057",
        "type": ["VerifiableCredential", "MunimentCertificate"],
        "issuer": EXAMPLE.issuer,
        "issuedAt": "2026-05-06T07:08:09.25Z",
        "predecessor": "urn:uuid:01890a5d-ac96-774b-bcce-000000000000",
        "credentialSubject": {
            "id": f"urn:uuid:{derived_id(EXAMPLE.id, 'plan', 0)}",
            "type": "MunimentPlan",
            "base": "urn:uuid:01890a5d-0000-7000-8000-000000000001",
            "baseHead": 41,
            "verdict": "review",
            "planItems": 3,
            "planRoot": "1a" * 32,
            "findingItems": 2,
            "findingRoot": "1b" * 32,
            "impactItems": 1,
            "impactRoot": "1c" * 32,
            "shapesDigest": "2a" * 32,
            "ontologyDigest": "2b" * 32,
            "rulesDigest": "2c" * 32,
            "policyDigest": "2d" * 32,
            "queriesDigest": "2e" * 32,
        },
    }


@given(certificates)
def test_a_certificate_is_read_back_from_its_document(certificate: Certificate) -> None:
    assert Certificate.from_document(json.loads(json.dumps(certificate.document()))) == certificate


@given(certificates)
def test_lines_are_in_canonical_order(certificate: Certificate) -> None:
    lines = certificate.nquads()
    assert lines == sorted(lines)
    assert len(set(lines)) == len(lines)


@given(certificates)
def test_lines_come_back_as_they_were_from_an_rdf_store(certificate: Certificate) -> None:
    store = ox.Store()
    store.load("\n".join(certificate.nquads()).encode(), format=ox.RdfFormat.N_QUADS)
    dumped = store.dump(format=ox.RdfFormat.N_QUADS)
    assert dumped is not None
    assert sorted(dumped.decode().splitlines()) == certificate.nquads()


def test_a_certificate_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        EXAMPLE.issuer = "did:key:other"  # type: ignore[misc]  # this is the point


@pytest.mark.parametrize(
    "issuer",
    [
        "",
        "https://example.org/issuer",
        "did:web:example.org/path",
        "did:web:",
        EXAMPLE.issuer + "\n",
        EXAMPLE.issuer[:-1],
        EXAMPLE.issuer[:-1] + "0",
        EXAMPLE.issuer[:-9] + "> <urn:x>",
    ],
)
def test_an_issuer_that_is_no_key_is_refused(issuer: str) -> None:
    with pytest.raises(InvalidValue, match="issuer"):
        replace(EXAMPLE, issuer=issuer)


@pytest.mark.parametrize(
    "instant",
    [
        "",
        "2026-05-06",
        "2026-05-06T07:08:09",
        "2026-05-06T07:08:09+00:00",
        "2026-05-06t07:08:09z",
        "2026-05-06 07:08:09Z",
        "2026-05-06T07:08:09.Z",
        "2026-05-06T07:08:09.10Z",
        "2026-05-06T07:08:09.1234567Z",
        "2026-02-30T07:08:09Z",
        "2026-05-06T24:00:00Z",
        "2026-05-06T23:59:60Z",
        "0000-01-01T00:00:00Z",
        "٢٠٢٦-05-06T07:08:09Z",
        "2026-05-06T07:08:09Z\n",
    ],
)
def test_an_instant_that_a_store_would_rewrite_or_that_never_was_is_refused(instant: str) -> None:
    with pytest.raises(InvalidValue, match="issuedAt"):
        replace(EXAMPLE, issued_at=instant)


@pytest.mark.parametrize("head", [-1, 2**53, True])
def test_a_head_that_is_no_position_is_refused(head: int) -> None:
    with pytest.raises(InvalidValue, match="baseHead"):
        replace(EXAMPLE, base_head=head)


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("value", ["", "2A" * 32, "2a" * 33, '2a" .\n' + "2a" * 29])
def test_what_is_no_digest_is_refused(place: int, value: str) -> None:
    values = [DIGEST] * 5
    values[place] = value
    with pytest.raises(InvalidValue, match="Digest: "):
        Digests(*values)
