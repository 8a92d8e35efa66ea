"""Signed exports before JavaScript's Verifiable Credentials library, and before two JSON-LD libraries."""

import json
import math
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.base import Base
from bridge.documents.reader import read_document
from bridge.exporting.credential import verify
from bridge.exporting.exporter import Exporter, ExportRequest
from bridge.exporting.signed_lines import DOUBLE, object_text
from bridge.reading.moments import NOW
from certificates.errors import CertificateError
from certificates.keys import SigningKey
from kernel.changes import Assert
from kernel.errors import CannotSign
from kernel.terms import Iri, Literal, Statement
from tests.bridge.exporting.drawing import BLANK, WRITER, G, bases, canonicaliser, filled
from tests.bridge.writing import write
from tests.clients.javascript import Ask, answering

pytestmark = pytest.mark.node

EX: Final = "https://example.org/"
HANGS: Final = 30
"""Seconds: what is not bounded takes hours, however quick the machine."""
TURTLE: Final = b"""
@prefix ex: <https://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:ann a ex:Person, "a literal" ; ex:age "007"^^xsd:int ; ex:size 1.50 ; ex:colour "grey"@en-GB, "rmad"@ar--rtl ;
    ex:knows [ ex:name "Bob" ] ; ex:said <<( ex:ann ex:knows ex:eve )>> .
"""


@pytest.fixture(scope="module")
def verifier() -> Iterator[Ask]:
    yield from answering("verify_credential.mjs")


@pytest.fixture(scope="module")
def base() -> Iterator[Base]:
    with Base.open(None) as base:
        asserted = read_document(TURTLE, "text/turtle", graph=G, canonicaliser=canonicaliser)
        assert write(base, *(Assert(statement, spelling=spelling) for statement, spelling in asserted), by=WRITER).head
        yield base


def signed(base: Base, *, records: bool = False, limit: int = 2**20) -> bytes:
    request = ExportRequest(WRITER, G, records=records, every_time=records)
    with Exporter(base.ledger, base.key, base.host).signed(request, NOW, limit) as export:
        return b"".join(export.chunks())


def judged(verifier: Ask, document: bytes, key: SigningKey) -> bool:
    verdict: bool = verifier({"document": document.decode(), "multikey": key.public.multikey()})["verified"]
    return verdict


def accepted(document: bytes, key: SigningKey) -> bool:
    try:
        verify(document, key.public)
    except CertificateError:
        return False
    return True


@pytest.mark.parametrize("records", [False, True])
def test_it_is_accepted_there_and_here(verifier: Ask, base: Base, records: bool) -> None:
    document = signed(base, records=records)
    assert judged(verifier, document, base.key)
    verified = verify(document, base.key.public)
    assert (verified.heading.graph, verified.heading.head) == (G, base.reader.head().position)
    assert verified.statements == (9 if not records else verified.statements)


@pytest.mark.parametrize("records", [False, True])
@settings(max_examples=20)
@given(changes=bases)
def test_whatever_is_in_a_base_is_accepted_or_not_signed_at_all(
    verifier: Ask, records: bool, changes: list[Assert]
) -> None:
    with Base.open(None) as base:
        filled(base, changes)
        try:
            document = signed(base, records=records)
        except CannotSign:
            return
        assert judged(verifier, document, base.key)
        assert accepted(document, base.key)


def _replaced(old: str, new: str) -> Callable[[str], str]:
    def edit(document: str) -> str:
        assert old in document
        return document.replace(old, new)

    return edit


EDITS: Final[dict[str, Callable[[str], str]]] = {
    "another value": _replaced('"007"', '"008"'),
    "another spelling of the same value": _replaced('"007"', '"7"'),
    "another datatype": _replaced("XMLSchema#int", "XMLSchema#long"),
    "another language": _replaced('"en-GB"', '"en-US"'),
    "another direction": _replaced("i18n#ar_rtl", "i18n#ar_ltr"),
    "another quoted triple": _replaced("<https://example.org/eve>", "<https://example.org/ann>"),
    "another property": _replaced(f"{EX}colour", f"{EX}hair"),
    "another subject": _replaced(f'"@id":"{EX}ann"', f'"@id":"{EX}eve"'),
    "a literal made an IRI": _replaced('{"@value":"a literal"}', '{"@id":"urn:literal"}'),
    "another graph": _replaced(G.value, "https://example.org/other"),
    "another moment": _replaced('"head":"1"', '"head":"0"'),
    "a blank node": _replaced('"@id":"https://w3id.org/muniment/.well-known/genid/', '"@id":"_:'),
    "an IRI made a blank node": _replaced(f'"@id":"{EX}ann"', f'"@id":"_:{EX}ann"'),
    "a number": _replaced('{"@value":"007","@type":"http://www.w3.org/2001/XMLSchema#int"}', "7.5"),
    "a graph within the graph": lambda text: _within(text, lambda nodes: [{"@id": "urn:h", "@graph": nodes}]),
    "a statement less": lambda text: _within(text, lambda nodes: nodes[:-1]),
    "a statement more": lambda text: _within(text, lambda nodes: [*nodes, {"@id": "urn:a", "urn:p": "x"}]),
    "no statement": lambda text: _within(text, lambda nodes: []),
}


def _within(text: str, change: Callable[[list[Any]], list[Any]]) -> str:
    document = json.loads(text)
    content = document["credentialSubject"]["content"]
    content["@graph"] = change(content["@graph"])
    return json.dumps(document)


@pytest.mark.parametrize("name", EDITS)
def test_any_edit_that_changes_a_statement_is_refused_there_and_here(verifier: Ask, base: Base, name: str) -> None:
    document = EDITS[name](signed(base).decode()).encode()
    assert not judged(verifier, document, base.key)
    assert not accepted(document, base.key)


def test_one_that_was_laid_out_anew_is_accepted(verifier: Ask, base: Base) -> None:
    document = json.loads(signed(base))
    document["credentialSubject"]["content"]["@graph"].reverse()
    text = json.dumps(dict(reversed(document.items())), indent=4).encode()
    assert judged(verifier, text, base.key)
    assert accepted(text, base.key)


def test_a_stranger_cannot_sign_in_the_bases_name(verifier: Ask, base: Base) -> None:
    stranger = SigningKey.generate()
    document = signed(base)
    assert not accepted(document, stranger)
    forged = json.loads(document)
    with Base.open(None) as other:
        filled(other, [])
        forged["proof"] = json.loads(signed(other))["proof"]
        text = json.dumps(forged).encode()
        assert not judged(verifier, text, other.key)
        assert not accepted(text, other.key)


def test_nodes_that_are_all_linked_to_each_other_take_no_time(verifier: Ask) -> None:
    links = [
        Assert(Statement(one, Iri("urn:p"), other, G))
        for one in BLANK + [Iri(node.value[:-2] + "ff") for node in BLANK] + [Iri(n.value[:-2] + "ee") for n in BLANK]
        for other in BLANK
    ]
    with Base.open(None) as base:
        assert write(base, *links, by=WRITER).head is not None
        began = perf_counter()
        document = signed(base)
        assert accepted(document, base.key)
        assert perf_counter() - began < HANGS
        assert judged(verifier, document, base.key)


def test_what_is_too_large_or_read_in_two_ways_is_not_signed() -> None:
    with Base.open(None) as base:
        assert write(base, Assert(Statement(Iri("urn:a"), Iri("urn:p"), Literal("x" * 500), G)), by=WRITER).head
        with pytest.raises(CannotSign, match="too large"):
            signed(base, limit=1_000)
        assert accepted(signed(base, limit=2_000), base.key)
    for texts in (["\uffff"], ["\ue000", "\U00010000"]):
        with Base.open(None) as base:
            changes = [Assert(Statement(Iri("urn:a"), Iri("urn:p"), Literal(text), G)) for text in texts]
            assert write(base, *changes, by=WRITER).head is not None
            with pytest.raises(CannotSign, match="different ways"):
                signed(base)


@pytest.fixture(scope="module")
def canonizer() -> Iterator[Ask]:
    yield from answering("canonize.mjs")


_forms = st.sampled_from([repr, "{:.3g}".format, "{:.17e}".format, "+{:f}".format, "{:E}".format])


@given(st.floats(allow_nan=False), _forms)
def test_a_double_is_signed_as_it_is_read(canonizer: Ask, number: float, form: Callable[[float], str]) -> None:
    literal = Literal(form(number).replace("+-", "-"), DOUBLE)
    try:
        written = object_text(literal)
    except CannotSign:
        held = float(literal.lexical)
        assert held != float(f"{held:.15e}") or held in {0, math.inf, -math.inf}
        return
    document = {"@id": "urn:a", "urn:p": {"@value": literal.lexical, "@type": DOUBLE}}
    assert canonizer({"document": document}) == {"nquads": f"<urn:a> <urn:p> {written} .\n"}
    assert float(literal.lexical) == float(written.partition("^")[0].strip('"'))
