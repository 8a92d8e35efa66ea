"""A signed export: a graph as a Verifiable Credential 2.0, secured with `eddsa-rdfc-2022`, and its verification.

Rules
-----
* The statements are within the credential, as the named graph that its subject has for `content`: the signature covers
  them, and none of them can pass for a statement about the credential itself.
* The context is in the document, after the W3C's own: nothing else is to be fetched. What records mean is said for the
  content alone, where it may stand beside the W3C's protected terms.
* There is no blank node in it (`nodes.KEPT`), so its canonical form (RDFC-1.0) is its N-Quads, sorted
  (`signed_lines`): no graph is slow to sign or to verify, whatever its shape (decision 0012). What comes to more than
  `LIMIT` bytes of N-Quads is not signed.
* `verify` takes documents of exactly this shape. It works the statements out of the content as a processor of JSON-LD
  does, and checks the signature over those.

Example
-------
::

    document = sign(heading, told, key, records=False)
    verify(document, key.public).heading.graph
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn

from bridge.documents.json_text import Json, parse_json
from bridge.documents.jsonld import triples_of
from bridge.exporting.jsonld import RECORD_CONTEXT, node_objects
from bridge.exporting.nodes import KEPT
from bridge.exporting.record import DATE_TIME
from bridge.exporting.signed_lines import Lines, fact_lines, object_text
from certificates import closed, integrity
from certificates.context import CREDENTIALS, CREDENTIALS_CONTEXT
from certificates.dids import require_issuer
from certificates.errors import MalformedDocument
from certificates.fields import instant
from certificates.ids import derived_id, urn
from certificates.integrity import Cryptosuite
from kernel.errors import InvalidDocument, MunimentError
from kernel.terms import RDF, XSD, Iri
from kernel.time.instants import Instant, parse_instant, print_instant
from kernel.vocabulary import M

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from bridge.exporting.facts import Told
    from certificates.keys import SigningKey, VerifyingKey

LIMIT: Final = 32 * 2**20
"""Bytes of canonical N-Quads that are signed at most, unless the caller says otherwise."""

_RECORD_CONTEXT: Final[Json] = json.loads(json.dumps(RECORD_CONTEXT))
_INTEGER: Final = XSD + "integer"
_TYPES: Final = ("VerifiableCredential", "MunimentExport")
CONTEXT: Final[list[Json]] = [
    CREDENTIALS_CONTEXT,
    {
        "@protected": True,
        "MunimentExport": {"@id": f"{M}Export"},
        "issuedAt": {"@id": f"{M}issuedAt", "@type": DATE_TIME},
        "base": {"@id": f"{M}base", "@type": "@id"},
        "head": {"@id": f"{M}head", "@type": _INTEGER},
        "validAt": {"@id": f"{M}validAt", "@type": DATE_TIME},
        "content": {"@id": f"{M}content", "@type": "@id", "@context": _RECORD_CONTEXT},
    },
]
"""What the credential's words mean."""

_MEMBERS: Final = frozenset({"@context", "id", "type", "issuer", "issuedAt", "credentialSubject"})
_SUBJECT: Final = "credentialSubject"
_CONTENT: Final = f"{_SUBJECT}.content"
_TYPE: Final = RDF + "type"


@dataclass(frozen=True, slots=True)
class Heading:
    """What a signed export says beside the statements.

    Args:
        id: of the credential.
        issuer: the DID of the base.
        issued_at: when it was made.
        base: the base's id.
        graph: of which graph it is.
        head: as known at which head; None for an empty base.
        valid_at: at which valid time the statements that it claims were true.
    """

    id: UUID
    issuer: str
    issued_at: Instant
    base: UUID
    graph: Iri
    head: int | None
    valid_at: Instant

    @property
    def subject(self) -> UUID:
        """The id of the credential's subject: what was exported."""
        return derived_id(self.id, "export", 0)

    def lines(self) -> Iterator[str]:
        """The N-Quads of the heading."""
        own, subject = f"<{urn(self.id)}>", f"<{urn(self.subject)}>"
        yield f"{own} <{_TYPE}> <{M}Export> ."
        yield f"{own} <{_TYPE}> <{CREDENTIALS}VerifiableCredential> ."
        yield f'{own} <{M}issuedAt> "{print_instant(self.issued_at)}"^^<{DATE_TIME}> .'
        yield f"{own} <{CREDENTIALS}credentialSubject> {subject} ."
        yield f"{own} <{CREDENTIALS}issuer> <{self.issuer}> ."
        yield f"{subject} <{M}base> <{urn(self.base)}> ."
        yield f"{subject} <{M}content> {self.graph.n3} ."
        if self.head is not None:
            yield f'{subject} <{M}head> "{self.head}"^^<{_INTEGER}> .'
        yield f'{subject} <{M}validAt> "{print_instant(self.valid_at)}"^^<{DATE_TIME}> .'


@dataclass(frozen=True, slots=True)
class Verified:
    """An export that is as it was signed.

    Args:
        heading: what it says beside the statements.
        statements: how many different ones it holds, those of records among them.
    """

    heading: Heading
    statements: int


def sign(heading: Heading, told: Iterable[Told], key: SigningKey, *, records: bool, limit: int = LIMIT) -> bytes:
    """The signed document.

    Args:
        heading: of the export; its issuer is the key's.
        told: the facts to tell.
        key: of the base.
        records: whether each fact comes with its record.
        limit: bytes of canonical N-Quads at most.

    Raises:
        CannotSign: it is larger, or has a text in it that verifiers differ about.
    """
    lines = Lines(limit)
    lines.add(heading.lines())
    graph = heading.graph.n3

    def observed() -> Iterator[Told]:
        for each in told:
            lines.add(fact_lines(each, graph, records=records))
            yield each

    content = "".join(node_objects(observed(), records=records, nodes=KEPT))
    issued_at = print_instant(heading.issued_at)
    proof = integrity.sign(lines.canonical(), Cryptosuite.RDFC, key, issued_at)
    head = {} if heading.head is None else {"head": str(heading.head)}
    members = {
        "@context": CONTEXT,
        "id": urn(heading.id),
        "type": list(_TYPES),
        "issuer": heading.issuer,
        "issuedAt": issued_at,
        "proof": proof,
        _SUBJECT: {
            "id": urn(heading.subject),
            "base": urn(heading.base),
            **head,
            "validAt": print_instant(heading.valid_at),
            "content": {"id": heading.graph.value, "@graph": []},
        },
    }
    around = json.dumps(members, ensure_ascii=False, separators=(",", ":"))
    return f"{around.removesuffix('[]}}}')}{content}}}}}}}\n".encode()


def verify(document: bytes, key: VerifyingKey) -> Verified:
    """What a signed export says, if `key` signed it and no statement was changed since.

    Raises:
        MalformedDocument: it is not an export of ours; the error names the member.
        WrongKey: it was issued by, or names, another key.
        BadSignature: it was altered.
    """
    try:
        members = closed.closed(parse_json(document), "", _MEMBERS | {"proof"})
        proof = members.pop("proof")
        heading, content = _read(members)
        require_issuer(heading.issuer, key)
        lines = Lines(None)
        lines.add(heading.lines())
        around = len(lines)
        lines.add(_content_lines(heading.graph, content))
        integrity.verify(lines.canonical(), proof, Cryptosuite.RDFC, key, heading.issuer)
    except MunimentError as error:
        raise MalformedDocument(error.message, remedy=error.remedy, where=error.where) from None
    return Verified(heading, len(lines) - around)


def is_signed_export(document: bytes) -> bool:
    """Whether a document says of itself that it is a signed export."""
    try:
        members = parse_json(document)
    except InvalidDocument:
        return False
    return isinstance(members, dict) and members.get("type") == list(_TYPES)


# --- reading ----------------------------------------------------------------------------------------------------------


def _content_lines(graph: Iri, content: Json) -> Iterator[str]:
    document: Json = {"@context": _RECORD_CONTEXT, "@id": graph.value, "@graph": content}
    for subject, predicate, value, within in triples_of(document, _no_blank_node):
        name = "" if within is None else f"{within.n3} "
        yield f"{subject.n3} {predicate.n3} {object_text(value)} {name}."


def _no_blank_node(label: str) -> NoReturn:
    raise InvalidDocument(
        f"there is a blank node{label and f', _:{label.strip()},'} which no signed export has",
        remedy="fetch the document again; it has to arrive as it was issued",
    )


def _read(members: dict[str, object]) -> tuple[Heading, Json]:
    closed.exactly(members, "@context", "", CONTEXT)
    closed.exactly(members, "type", "", list(_TYPES))
    subject = closed.closed(
        members[_SUBJECT], _SUBJECT, frozenset({"id", "base", "validAt", "content"}), frozenset({"head"})
    )
    content = closed.closed(subject["content"], _CONTENT, frozenset({"id", "@graph"}))
    heading = Heading(
        id=closed.identifier(members, "id", ""),
        issuer=closed.text(members, "issuer", ""),
        issued_at=parse_instant(instant(closed.text(members, "issuedAt", ""), "issuedAt")),
        base=closed.identifier(subject, "base", _SUBJECT),
        graph=Iri(closed.text(content, "id", _CONTENT)),
        head=_head(closed.optional_text(subject, "head", _SUBJECT)),
        valid_at=_canonical_instant(closed.text(subject, "validAt", _SUBJECT)),
    )
    closed.exactly(subject, "id", _SUBJECT, urn(heading.subject))
    nodes = content["@graph"]
    if not isinstance(nodes, list):
        raise closed.malformed("not an array", f"{_CONTENT}.@graph")
    return heading, nodes


def _head(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or str(int(text)) != text:
        raise closed.malformed("not a log position", f"{_SUBJECT}.head")
    return int(text)


def _canonical_instant(text: str) -> Instant:
    read = parse_instant(text, field=f"{_SUBJECT}.validAt")
    if print_instant(read) != text:
        raise closed.malformed("not an instant in canonical form", f"{_SUBJECT}.validAt")
    return read
