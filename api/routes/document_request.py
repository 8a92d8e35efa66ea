"""A request made of an RDF document and query parameters: every statement asserted, with what they say of all of them.

Rules
-----
* `valid-from`, and `valid-to` or `valid-through`, hold for every statement; without them it was always true.
* A document with records (`bridge.documents.records`), such as an export with annotations, brings times of its own; the
  parameters are then for the statements that have no record.
* `zone` is for times without one; `graph` for statements that are in no graph of their own.
* Errors about one statement name it by its number in the document, from 1.

Example
-------
>>> from api.http.parameters import read_parameters
>>> from bridge.terms import OxigraphCanonicaliser
>>> parameters = read_parameters(DOCUMENT_PARAMETERS, b"graph=urn:g&valid-from=2019&reason=census")
>>> body = b"<urn:a> <urn:p> <urn:b> ."
>>> request = read_document_request(body, "text/turtle", parameters, "p", OxigraphCanonicaliser(), limit=100)
>>> request.changes[0].statement.nquad, request.reason
('<urn:a> <urn:p> <urn:b> <urn:g> .', 'census')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from api.http.parameters import Parameter, Parameters
from bridge.documents.reader import FORMATS, JSON_LD, read_document
from bridge.documents.records import read_records
from kernel.changes import NO_SPELLING, Assert, Request
from kernel.confidence import CONFIDENCE_SAID, read_confidence
from kernel.errors import InvalidDocument, InvalidParameter, InvalidTime, MunimentError
from kernel.facts import Spelling, Validity
from kernel.time.instants import name_zone, parse_zone
from kernel.time.timevalues import NO_END, NO_START, interval_between, valid_from, valid_through, valid_to

if TYPE_CHECKING:
    from decimal import Decimal

    from kernel.ports.outside import TermCanonicaliser
    from kernel.time.timevalues import Bound


_TEXT: Final[dict[str, object]] = {"type": "string"}
_IRI: Final[dict[str, object]] = {"type": "string", "format": "iri"}

GRAPH: Final = Parameter(
    "graph", "where statements of the default graph go; else m:default", _IRI, "https://example.org/g"
)
VALID_FROM: Final = Parameter("valid-from", "since when all of it is true; without it, always was", _TEXT, "2019")
VALID_TO: Final = Parameter("valid-to", "until when all of it is true, exclusive", _TEXT, "2024-05-06T15:00:00Z")
VALID_THROUGH: Final = Parameter("valid-through", "until when all of it is true, inclusive", _TEXT, "2023-12-31")
REASON: Final = Parameter("reason", "why, for the people who will read the certificate", _TEXT, "census of 2019")
EPISODE: Final = Parameter(
    "episode", "the source that all of it cites, an IRI", _IRI, "https://example.org/census/2019"
)
CONFIDENCE: Final = Parameter("confidence", "how sure all of it is, a decimal from 0 to 1", _TEXT, "0.85")
ZONE: Final = Parameter("zone", "the zone of times that have none, `Z` or an offset", _TEXT, "+02:00")

DOCUMENT_PARAMETERS: Final = (
    GRAPH, VALID_FROM, VALID_TO, VALID_THROUGH, REASON, EPISODE, CONFIDENCE, ZONE,
)  # fmt: skip

_TRIPLE: Final = "<https://example.org/ada> <https://example.org/livesIn> <https://example.org/london> .\n"
_XML: Final = """\
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="https://example.org/">
  <rdf:Description rdf:about="https://example.org/ada">
    <ex:livesIn rdf:resource="https://example.org/london"/>
  </rdf:Description>
</rdf:RDF>
"""
_JSON_LD: Final[dict[str, object]] = {
    "@id": "https://example.org/ada",
    "https://example.org/livesIn": {"@id": "https://example.org/london"},
}
DOCUMENT_BODIES: Final[dict[str, dict[str, object]]] = {
    **{each: {"schema": {"type": "string"}, "example": _XML if "xml" in each else _TRIPLE} for each in FORMATS},
    JSON_LD: {"schema": {}, "example": _JSON_LD},
}
"""The formats that a document may come in, as OpenAPI has them: one document in each."""


def read_document_request(
    body: bytes,
    media_type: str,
    parameters: Parameters,
    principal: str,
    canonicaliser: TermCanonicaliser,
    *,
    limit: int,
) -> Request:
    """The request that asserts a document.

    Args:
        body: the document.
        media_type: its format.
        parameters: those of `DOCUMENT_PARAMETERS`.
        principal: who asks, by id.
        canonicaliser: knows what a store will hold.
        limit: bytes that the document may have.

    Raises:
        InvalidDocument: it cannot be read, says nothing, or has graphs where one is given as well.
        InvalidTerm: a term that RDF, or a store, does not allow.
        InvalidTime: a time that cannot be read.
        InvalidInterval: an interval that is empty or inverted.
        InvalidParameter: a parameter that cannot be used.
        ReservedGraph: a valid time on a graph that has none.
    """
    try:
        validity, spelled = _validity(parameters)
    except InvalidTime as error:
        name_zone(error, f"add the parameter {ZONE.name}")
        raise
    confidence = _confidence(parameters)
    graph = parameters.iri(GRAPH, canonicaliser)
    asserted = read_document(body, media_type, graph=graph, canonicaliser=canonicaliser, limit=limit)
    if not asserted:
        raise InvalidDocument("the document says nothing", remedy="send one with at least one statement")
    changes = []
    for number, item in enumerate(read_records(asserted, canonicaliser), 1):
        spelling, sure = item.spelling, confidence if item.confidence is None else item.confidence
        if spelled and item.validity is None:
            spelling = Spelling(spelling.object, spelled.valid_from, spelled.valid_to)
        try:
            changes.append(Assert(item.statement, item.validity or validity, spelling, sure))
        except MunimentError as error:
            error.where = f"statement {number}"
            raise
    episode = parameters.iri(EPISODE, canonicaliser)
    return Request(tuple(changes), parameters.text(REASON), episode, principal)


def _validity(parameters: Parameters) -> tuple[Validity, Spelling]:
    """The valid time of all statements, and how it was spelled where that is not the canonical way."""
    zone = parameters.time(ZONE)
    if zone is not None:
        parse_zone(zone, field=ZONE.name)
    start = valid_from(parameters.time(VALID_FROM), field=VALID_FROM.name, zone=zone)
    end, name = _end(parameters, zone)
    if start == NO_START and end == NO_END:
        return Validity.always(), NO_SPELLING
    interval = interval_between(start, end, field=name)
    return Validity(interval, start.precision, end.precision), Spelling(None, start.spelling, end.spelling)


def _end(parameters: Parameters, zone: str | None) -> tuple[Bound, str]:
    exclusive, inclusive = parameters.time(VALID_TO), parameters.time(VALID_THROUGH)
    if inclusive is None:
        return valid_to(exclusive, field=VALID_TO.name, zone=zone), VALID_TO.name
    if exclusive is not None:
        raise InvalidParameter(
            "valid-to and valid-through are two ends",
            remedy="give one: up to valid-to and without it, or through all of valid-through",
            where=VALID_THROUGH.name,
        )
    return valid_through(inclusive, field=VALID_THROUGH.name, zone=zone), VALID_THROUGH.name


def _confidence(parameters: Parameters) -> Decimal | None:
    text = parameters.text(CONFIDENCE)
    if text is None:
        return None
    confidence = read_confidence(text)
    if confidence is None:
        raise InvalidParameter(
            f"{text[:40]!r} is no confidence, {CONFIDENCE_SAID}", remedy="give one, such as 0.85", where=CONFIDENCE.name
        )
    return confidence
