"""The JSON-LD contexts and the vocabulary that certificates are written in.

Rules
-----
* A certificate names exactly two contexts, in this order: the W3C's for Verifiable Credentials 2.0 and ours.
* Ours is published as `ontology/certificate-v1.jsonld`, byte for byte; `CONTEXT_SHA256` is over those bytes. Its terms
  stand at top level and are protected, so that no other context can change what a signed member means. A change of
  meaning needs a new version and a new address.
"""

from __future__ import annotations

from typing import Final

CREDENTIALS_CONTEXT: Final = "https://www.w3.org/ns/credentials/v2"
CERTIFICATE_CONTEXT: Final = "https://w3id.org/muniment/certificate/v1"
CONTEXTS: Final = (CREDENTIALS_CONTEXT, CERTIFICATE_CONTEXT)

CONTEXT_SHA256: Final = "e61353c53de4db2071e44960467e0846bd52f64d3c4442e5845d28a7b22d4068"
"""SHA-256 of the published bytes of our context."""

VOCABULARY: Final = "https://w3id.org/muniment#"
CREDENTIALS: Final = "https://www.w3.org/2018/credentials#"
SECURITY: Final = "https://w3id.org/security#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
