"""An example of each whole request and answer, as the OpenAPI document shows them.

Rules
-----
* There is one for each of `api.models.documents`, by its name; a test holds each against its type, and sends requests.
* They tell one story: who lives where, by a census, and what became of it.

Example
-------
>>> EXAMPLES["Decision"]
{'decision': 'approve', 'comment': 'as in the gazette'}
"""

from __future__ import annotations

from typing import Any, Final

Json = dict[str, Any]

_CERTIFICATE: Final = "urn:uuid:01970a5d-ac96-774b-bcce-b302099a8057"
_BRANCH: Final = "01970b11-3c58-7a0e-9d7f-5a6b3c2d1e00"
_ADA: Final = {"@id": "https://example.org/ada"}
_LIVES_IN: Final = {"@id": "https://example.org/livesIn"}
_LONDON: Final = {"@id": "https://example.org/london"}
_GRAPH: Final = "https://w3id.org/muniment#default"
_AT: Final = "2026-05-06T07:08:09.25Z"
_CENSUS: Final = "https://example.org/census/2019"
_DIGEST: Final = "5f0c9d3a7b1e4c68" * 4
_KEY: Final = "z6MkvvjJAq4Hj8Gks4Zq8x79mR4E1M3Gf9LzydqFNukhfxw6"
_OLDER_KEY: Final = "z6MkkdgN9ooCCiuURizXr5bDxbKj2zwca4Lqbe4nom86PN4E"

_FACT: Final[Json] = {
    "fact": "urn:uuid:4d1a9f4e-0c3b-8f6e-9b1d-2f5c7a8e0b13",
    "family": "urn:uuid:92c0b7de-51a4-8d2c-8e6f-0a1b2c3d4e5f",
    "statement": {"subject": _ADA, "predicate": _LIVES_IN, "object": _LONDON, "graph": {"@id": _GRAPH}},
    "from": "2019-05-01T00:00:00Z",
    "to": "2024-01-01T00:00:00Z",
    "validFrom": "2019-05",
    "validThrough": "2023",
    "fromPrecision": "month",
    "toPrecision": "year",
    "recordedAt": _AT,
    "certificate": _CERTIFICATE,
    "evidence": [
        {
            "evidence": "urn:uuid:77e2a9b0-6c1d-8a4f-b0e3-5d6c7b8a9f01",
            "certificate": _CERTIFICATE,
            "recordedAt": _AT,
            "episode": _CENSUS,
            "confidence": 0.9,
        }
    ],
}
_FACTS: Final[Json] = {"items": [_FACT], "next": None}
_SUMMARY: Final[Json] = {
    "certificate": _CERTIFICATE,
    "verdict": "clear",
    "state": "applied",
    "head": 42,
    "instant": _AT,
    "issuedAt": _AT,
    "principal": "writer-6f0c1b7a",
    "graphs": [_GRAPH],
}
_NO_ITEMS: Final[Json] = {"items": [], "next": None}
_IMPACT: Final[Json] = {
    "code": "impact",
    "severity": "warning",
    "message": "the answer to londoners, which city-desk relies on, gains 1 row",
    "query": "londoners",
    "owner": "city-desk",
    "weight": 10,
    "gained": 1,
    "lost": 0,
    "sample": [{"change": "gained", "times": 1, "row": {"who": _ADA}}],
}
_CONTRADICTION: Final[Json] = {
    "code": "single-valued-by-subject",
    "severity": "violation",
    "message": "<https://example.org/paris> contradicts <https://example.org/london>, held",
    "focus": "https://example.org/ada",
    "path": "https://example.org/livesIn",
    "value": {"@id": "https://example.org/paris"},
    "kind": "value",
    "from": "2019-05-01T00:00:00Z",
}
_OUTCOME: Final[Json] = {
    "certificate": _CERTIFICATE,
    "verdict": "clear",
    "state": "applied",
    "head": 42,
    "findings": [],
}
_QUERY: Final[Json] = {
    "query": "SELECT ?who { ?who <https://example.org/livesIn> <https://example.org/london> }",
    "owner": "city-desk",
    "contact": "desk@city.example",
    "weight": 10,
    "action": "review",
}
_REGISTERED: Final[Json] = {"name": "londoners", "graphs": [], "moment": "now", **_QUERY}
_HELD: Final[Json] = {
    "branch": _BRANCH,
    "maker": "writer-6f0c1b7a",
    "state": "open",
    "until": "2026-05-06T08:08:09.25Z",
    "plans": 1,
    "changes": 1,
}
_STANDING: Final[Json] = {
    "certificate": _CERTIFICATE,
    "finding": 0,
    "since": _AT,
    "owner": "ada",
    "assigned": True,
    "found": _CONTRADICTION,
    "during": [{"from": "2019-05-01T00:00:00Z", "to": "2024-01-01T00:00:00Z"}],
}
_PURGE: Final[Json] = {
    "purge": _CERTIFICATE,
    "state": "complete",
    "of": "node",
    "askedBy": "administrator-2d7c81ab",
    "askedAt": _AT,
    "head": 42,
    "facts": 12,
    "evidence": 3,
    "items": 15,
    "tombstones": 1,
}

EXAMPLES: Final[dict[str, Json]] = {
    # --- what is sent
    "ChangeRequest": {
        "reason": "census of 2019",
        "episode": _CENSUS,
        "changes": [
            {
                "op": "assert",
                "subject": _ADA,
                "predicate": _LIVES_IN,
                "object": _LONDON,
                "validFrom": "2019-05",
                "validThrough": "2023",
                "confidence": 0.9,
            }
        ],
    },
    "Decision": {"decision": "approve", "comment": "as in the gazette"},
    "ContradictionOwner": {"owner": "ada"},
    "QueryDefinition": _QUERY,
    "QueryDefinitions": {"queries": {"londoners": _QUERY}},
    "PurgeRequest": {"node": "https://example.org/ada", "preview": True},
    "RestoreRequest": {"reason": "it was the wrong Ada"},
    "Revocation": {"since": "2026-05-06T07:08:09Z", "reason": "compromised"},
    # --- what is answered
    "Outcome": _OUTCOME,
    "CertificatePage": {"items": [_SUMMARY], "next": None},
    "Certificate": {
        **_SUMMARY,
        "predecessor": None,
        "findings": [],
        "plan": {
            "items": [
                {
                    "ordinal": 0,
                    "leaf": _DIGEST,
                    "salt": _DIGEST,
                    "body": {"type": "request", "reason": "census of 2019", "episode": _CENSUS},
                }
            ],
            "next": None,
        },
        "findingItems": _NO_ITEMS,
        "decisions": [],
        "credential": {"@context": ["https://www.w3.org/ns/credentials/v2"], "id": _CERTIFICATE},
    },
    "FactPage": _FACTS,
    "Holdings": {**_FACTS, "quotedBy": 1},
    "Arguments": {
        "claims": [
            {
                "claim": {"@triple": {"subject": _ADA, "predicate": _LIVES_IN, "object": _LONDON}},
                "names": ["https://example.org/claim"],
                "claimed": [],
                "believed": [_FACT],
            }
        ],
        "steps": [],
        **{name: [] for name in ("supportedBy", "opposedBy", "impliedBy", "supports", "opposes", "implies")},
        "complete": True,
    },
    "DiffPage": {
        "axis": "as-of",
        "from": {"asOf": "2026-05-01T00:00:00Z", "head": 41, "validAt": _AT},
        "to": {"asOf": _AT, "head": 42, "validAt": _AT},
        "gained": 1,
        "lost": 0,
        "corrected": 0,
        "items": [{"change": "gained", "certificates": [_CERTIFICATE], "after": _FACT}],
        "next": None,
    },
    "Explanation": {
        "entailment": "rdfs",
        "head": 42,
        "validAt": _AT,
        "proof": [
            {
                "subject": _ADA,
                "predicate": _LIVES_IN,
                "object": _LONDON,
                "rule": None,
                "premises": [],
                "facts": [_FACT],
                "cut": False,
                "from": "2019-05-01T00:00:00Z",
            }
        ],
    },
    "TimeMap": {
        "original": "https://muniment.example/facts?subject=https://example.org/ada",
        "timegate": "https://muniment.example/facts?subject=https://example.org/ada",
        "timemap": "https://muniment.example/timemap?of=https://muniment.example/facts",
        "mementos": [
            {
                "head": 42,
                "instant": _AT,
                "datetime": "Wed, 06 May 2026 07:08:09 GMT",
                "uri": "https://muniment.example/facts?subject=https://example.org/ada&as-of=head:42",
            }
        ],
        "next": None,
    },
    "QueryList": {"items": [_REGISTERED]},
    "FoundQuery": {
        **_REGISTERED,
        "certificates": [{"certificate": _CERTIFICATE, "recordedAt": _AT}],
        "standing": {"freshness": "fresh", "head": 42, "validAt": _AT, "certificates": [], "clock": False},
    },
    "WhatIfSummary": _HELD,
    "WhatIfList": {"items": [_HELD]},
    "WhatIf": {**_HELD, "head": 42, "verdict": "review", "findings": [_IMPACT]},
    "SubmittedWhatIf": {**_OUTCOME, "since": {"head": 41, "verdict": "review", "found": [], "gone": [_IMPACT]}},
    "StandingContradiction": _STANDING,
    "ContradictionPage": {"items": [_STANDING], "next": None},
    "PurgePreview": {
        "digest": _DIGEST,
        "facts": 12,
        "evidence": 3,
        "planItems": 15,
        **dict.fromkeys(("findings", "impactRows", "comments", "rejected", "stagedLoads"), 0),
        "allTextsSearched": True,
        "graphStays": False,
        "stays": [],
    },
    "Purge": _PURGE,
    "PurgePage": {"items": [_PURGE], "next": None},
    "KeyRotation": {"key": _KEY, "previous": _OLDER_KEY, "at": _AT},
    "KeyRevocation": {"key": _OLDER_KEY, "since": "2026-05-06T07:08:09Z", "reason": "compromised", "at": _AT},
    "Health": {"status": "ok", "reason": None, "head": 42, "clock": _AT, "behind": False},
    "Problem": {
        "type": "https://w3id.org/muniment/problem/nothing-to-end",
        "title": "Nothing to end",
        "status": 422,
        "detail": "no believed fact holds then",
        "code": "nothing-to-end",
        "where": "/changes/0",
        "remedy": "check the time given as `at`",
        "requestId": "5f0c9d3a7b1e4c68",
    },
}
"""By the name of the type."""
