"""Edits of a secured certificate, each of which changes a statement or the proof, one for every member and more.

An edit changes the parsed document to what a forger would send instead. Each must be refused by our verifier and by any
other.
"""

import json
from collections.abc import Callable
from typing import Any, Final

from tests.certificates.strategies import STRANGER

Document = dict[str, Any]
Edit = Callable[[Document], None]

_UUID: Final = "urn:uuid:00000000-0000-4000-8000-000000000000"
_OTHER_DIGEST: Final = "ff" * 32


def _put(name: str, value: object) -> Edit:
    return lambda document: document.update({name: value})


def _drop(name: str) -> Edit:
    def edit(document: Document) -> None:
        del document[name]

    return edit


def _within(name: str, edit: Edit) -> Edit:
    return lambda document: edit(document[name])


def _subject(edit: Edit) -> Edit:
    return _within("credentialSubject", edit)


def _proof(edit: Edit) -> Edit:
    return _within("proof", edit)


def _other_signature(proof: Document) -> None:
    value = proof["proofValue"]
    proof["proofValue"] = value[:-1] + ("2" if value[-1] != "2" else "3")


def _remark(document: Document) -> None:
    document["@context"].append({"remark": "https://example.org/remark"})
    document["remark"] = "x"


EDITS: Final[dict[str, Edit]] = {
    # the certificate
    "another certificate": _put("id", _UUID),
    "no certificate id": _drop("id"),
    "another issuer": _put("issuer", STRANGER.public.did),
    "issuer as an object": lambda document: document.update(issuer={"id": document["issuer"], "name": "A Bank"}),
    "issued at another instant": _put("issuedAt", "2026-05-06T07:08:09.26Z"),
    "never issued": _drop("issuedAt"),
    "another predecessor": _put("predecessor", _UUID),
    "no predecessor": _drop("predecessor"),
    "two predecessors": lambda document: document.update(predecessor=[document["predecessor"], _UUID]),
    "another type": _put("type", ["VerifiableCredential"]),
    "a further type": lambda document: document["type"].append("JsonSchemaCredential"),
    "a period of validity": _put("validUntil", "2999-01-01T00:00:00Z"),
    "a description": _put("description", "approved by the board"),
    "a member that no context defines": _put("unheardOf", "x"),
    "another context": _put("@context", ["https://www.w3.org/ns/credentials/v2", "https://example.org/forged"]),
    "a context that redefines the verdict": lambda document: document["@context"].append(
        {"verdict": "https://example.org/verdict"}
    ),
    "a remark with a context of its own": _remark,
    # the plan
    "another plan": _subject(_put("id", _UUID)),
    "a plan without id": _subject(_drop("id")),
    "a plan without type": _subject(_drop("type")),
    "another base": _subject(_put("base", _UUID)),
    "no base": _subject(_drop("base")),
    "another head": _subject(_put("baseHead", 42)),
    "no head": _subject(_drop("baseHead")),
    "verdict clear": _subject(_put("verdict", "clear")),
    "verdict refused": _subject(_put("verdict", "refused")),
    "a verdict that is none": _subject(_put("verdict", "fine")),
    "two verdicts": _subject(_put("verdict", ["review", "clear"])),
    "no verdict": _subject(_drop("verdict")),
    "more plan items": _subject(_put("planItems", 4)),
    "other plan items": _subject(_put("planRoot", _OTHER_DIGEST)),
    "no plan root": _subject(_drop("planRoot")),
    "no findings counted": _subject(_put("findingItems", 0)),
    "other findings": _subject(_put("findingRoot", _OTHER_DIGEST)),
    "less impact": _subject(_put("impactItems", 0)),
    "other impact": _subject(_put("impactRoot", _OTHER_DIGEST)),
    "other shapes": _subject(_put("shapesDigest", _OTHER_DIGEST)),
    "other ontology": _subject(_put("ontologyDigest", _OTHER_DIGEST)),
    "other rules": _subject(_put("rulesDigest", _OTHER_DIGEST)),
    "other policy": _subject(_put("policyDigest", _OTHER_DIGEST)),
    "other queries": _subject(_put("queriesDigest", _OTHER_DIGEST)),
    "a digest in upper case": _subject(lambda subject: subject.update(shapesDigest=subject["shapesDigest"].upper())),
    "a name for the plan": _subject(_put("name", "harmless")),
    "a second plan": lambda document: document.update(
        credentialSubject=[document["credentialSubject"], {"id": _UUID, "verdict": "clear"}]
    ),
    "no plan": _drop("credentialSubject"),
    # the proof
    "proof made at another instant": _proof(_put("created", "2026-05-06T07:08:10Z")),
    "proof made at no instant": _proof(_drop("created")),
    "proof by another key": _proof(_put("verificationMethod", STRANGER.public.verification_method)),
    "proof for another purpose": _proof(_put("proofPurpose", "authentication")),
    "proof of another suite": _proof(_put("cryptosuite", "eddsa-jcs-2022")),
    "proof of another type": _proof(_put("type", "Ed25519Signature2020")),
    "proof that expires": _proof(_put("expires", "2999-01-01T00:00:00Z")),
    "proof with a nonce": _proof(_put("nonce", "x")),
    "another signature": _proof(_other_signature),
    "an empty signature": _proof(_put("proofValue", "z")),
    "no signature": _proof(_drop("proofValue")),
    "no proof": _drop("proof"),
    "no proofs": _put("proof", []),
}


def edited(document: bytes, name: str) -> bytes:
    """The document after the edit of that name."""
    parsed = json.loads(document)
    EDITS[name](parsed)
    changed = json.dumps(parsed).encode()
    assert parsed != json.loads(document), "an edit must change something"
    return changed
