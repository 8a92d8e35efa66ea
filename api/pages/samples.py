"""Queries to begin with, on the query page.

Example
-------
>>> SAMPLES[0].name
'What there is'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SampleQuery:
    """A query and what it is for."""

    name: str
    text: str


_KINDS: Final = """\
SELECT ?kind (COUNT(?thing) AS ?things)
WHERE { ?thing a ?kind }
GROUP BY ?kind
ORDER BY DESC(?things)"""

_NAMES: Final = """\
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>

SELECT ?thing ?name
WHERE { ?thing rdfs:label ?name }
ORDER BY ?name
LIMIT 100"""

_LATEST: Final = """\
PREFIX m: <https://w3id.org/muniment#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>

SELECT ?recorded ?statement ?from ?to ?superseded
WHERE {
  GRAPH ?history {
    ?fact rdf:reifies ?statement ; m:recordedAt ?recorded .
    OPTIONAL { ?fact m:validFrom ?from }
    OPTIONAL { ?fact m:validTo ?to }
    OPTIONAL { ?fact m:supersededAt ?superseded }
  }
  FILTER(STRSTARTS(STR(?history), "https://w3id.org/muniment/history/"))
}
ORDER BY DESC(?recorded)
LIMIT 50"""

SAMPLES: Final = (
    SampleQuery("What there is", _KINDS),
    SampleQuery("What has a name", _NAMES),
    SampleQuery("What was recorded last", _LATEST),
    SampleQuery("Whether anything is known", "ASK { ?subject ?predicate ?object }"),
)
