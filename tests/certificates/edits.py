"""Edits of a secured certificate, each of which changes a statement or the proof, one for every member and more.

An edit changes the parsed document to what a forger would send instead. Each must be refused by our verifier and by any
other.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.certificates.strategies import STRANGER

Document = dict[str, Any]
Edit = Callable[[Document], None]

OTHER_ID: Final = "urn:uuid:00000000-0000-4000-8000-000000000000"
OTHER_DIGEST: Final = "ff" * 32


def put(name: str, value: object) -> Edit:
    return lambda document: document.update({name: value})


def drop(name: str) -> Edit:
    def edit(document: Document) -> None:
        del document[name]

    return edit


def _within(name: str, edit: Edit) -> Edit:
    return lambda document: edit(document[name])


def subject(edit: Edit) -> Edit:
    return _within("credentialSubject", edit)


def proof(edit: Edit) -> Edit:
    return _within("proof", edit)


def _other_signature(proof: Document) -> None:
    value = proof["proofValue"]
    proof["proofValue"] = value[:-1] + ("2" if value[-1] != "2" else "3")


def _remark(document: Document) -> None:
    document["@context"].append({"remark": "https://example.org/remark"})
    document["remark"] = "x"


_OF_A_CERTIFICATE: Final[dict[str, Edit]] = {
    # the certificate
    "another certificate": put("id", OTHER_ID),
    "no certificate id": drop("id"),
    "another issuer": put("issuer", STRANGER.public.did),
    "issuer as an object": lambda document: document.update(issuer={"id": document["issuer"], "name": "A Bank"}),
    "issued at another instant": put("issuedAt", "2026-05-06T07:08:09.26Z"),
    "never issued": drop("issuedAt"),
    "another predecessor": put("predecessor", OTHER_ID),
    "no predecessor": drop("predecessor"),
    "two predecessors": lambda document: document.update(predecessor=[document["predecessor"], OTHER_ID]),
    "another type": put("type", ["VerifiableCredential"]),
    "a further type": lambda document: document["type"].append("JsonSchemaCredential"),
    "a period of validity": put("validUntil", "2999-01-01T00:00:00Z"),
    "a description": put("description", "approved by the board"),
    "a member that no context defines": put("unheardOf", "x"),
    "another context": put("@context", ["https://www.w3.org/ns/credentials/v2", "https://example.org/forged"]),
    "a context that redefines the verdict": lambda document: document["@context"].append(
        {"verdict": "https://example.org/verdict"}
    ),
    "a remark with a context of its own": _remark,
    # the plan
    "another plan": subject(put("id", OTHER_ID)),
    "a plan without id": subject(drop("id")),
    "a plan without type": subject(drop("type")),
    "another base": subject(put("base", OTHER_ID)),
    "no base": subject(drop("base")),
    "another head": subject(put("baseHead", 42)),
    "no head": subject(drop("baseHead")),
    "verdict clear": subject(put("verdict", "clear")),
    "verdict refused": subject(put("verdict", "refused")),
    "a verdict that is none": subject(put("verdict", "fine")),
    "two verdicts": subject(put("verdict", ["review", "clear"])),
    "no verdict": subject(drop("verdict")),
    "more plan items": subject(put("planItems", 4)),
    "other plan items": subject(put("planRoot", OTHER_DIGEST)),
    "no plan root": subject(drop("planRoot")),
    "no findings counted": subject(put("findingItems", 0)),
    "other findings": subject(put("findingRoot", OTHER_DIGEST)),
    "less impact": subject(put("impactItems", 0)),
    "other impact": subject(put("impactRoot", OTHER_DIGEST)),
    "other shapes": subject(put("shapesDigest", OTHER_DIGEST)),
    "other ontology": subject(put("ontologyDigest", OTHER_DIGEST)),
    "other rules": subject(put("rulesDigest", OTHER_DIGEST)),
    "other policy": subject(put("policyDigest", OTHER_DIGEST)),
    "other queries": subject(put("queriesDigest", OTHER_DIGEST)),
    "a digest in upper case": subject(lambda subject: subject.update(shapesDigest=subject["shapesDigest"].upper())),
    "a name for the plan": subject(put("name", "harmless")),
    "a second plan": lambda document: document.update(
        credentialSubject=[document["credentialSubject"], {"id": OTHER_ID, "verdict": "clear"}]
    ),
    "no plan": drop("credentialSubject"),
}

OF_THE_PROOF: Final[dict[str, Edit]] = {
    "proof made at another instant": proof(put("created", "2026-05-06T07:08:10Z")),
    "proof made at no instant": proof(drop("created")),
    "proof by another key": proof(put("verificationMethod", STRANGER.public.verification_method)),
    "proof for another purpose": proof(put("proofPurpose", "authentication")),
    "proof of another suite": proof(put("cryptosuite", "eddsa-jcs-2022")),
    "proof of another type": proof(put("type", "Ed25519Signature2020")),
    "proof that expires": proof(put("expires", "2999-01-01T00:00:00Z")),
    "proof with a nonce": proof(put("nonce", "x")),
    "another signature": proof(_other_signature),
    "an empty signature": proof(put("proofValue", "z")),
    "no signature": proof(drop("proofValue")),
    "no proof": drop("proof"),
    "no proofs": put("proof", []),
}


EDITS: Final[dict[str, Edit]] = {**_OF_A_CERTIFICATE, **OF_THE_PROOF}


def edited(document: bytes, name: str, edits: Mapping[str, Edit] = EDITS) -> bytes:
    """The document after the edit of that name."""
    parsed = json.loads(document)
    edits[name](parsed)
    changed = json.dumps(parsed).encode()
    assert parsed != json.loads(document), "an edit must change something"
    return changed
