"""The chunks of a load session as bytes, and back.

Rules
-----
* A chunk is a list of assertions, canonicalised: their terms are what a store will hold. It also has the seed from
  which the session's blank nodes are named, so that reading goes on with the same names after a kill.
* What repeats is written once a chunk: terms, validities and spellings are tables, a change is a row of numbers. So a
  change takes a few microseconds to read, and a chunk is a fraction of the file that it came from.
* Chunks are kept by the ledger until their load is decided. What cannot be read back is damage.

Example
-------
>>> change = Assert(Statement(Iri("urn:a"), Iri("urn:p"), Iri("urn:b"), Iri("urn:g")))
>>> chunk = encode_assertions([change], bytes(16))
>>> decode_assertions(chunk) == [change], decode_seed(chunk) == bytes(16)
(True, True)
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypedDict, TypeVar

from bridge.ledger.damage import sound
from kernel.changes import Assert
from kernel.facts import Spelling, Validity
from kernel.terms import Iri, Statement, Term, parse_iri, parse_literal, parse_term
from kernel.time.intervals import Interval
from kernel.time.precision import Precision

if TYPE_CHECKING:
    from collections.abc import Sequence

CHUNK_FORMAT: Final = 1
"""Part of every session's id: chunks of another format are never continued."""

_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode

T = TypeVar("T")


class _Tables(TypedDict):
    """The JSON of a chunk. A change is the numbers of its subject, predicate, object, graph, validity and spelling."""

    iris: list[str]
    objects: list[str]
    validities: list[tuple[int, int, str, str]]
    spellings: list[tuple[str | None, str | None, str | None]]
    changes: list[tuple[int, int, int, int, int, int, str | None]]
    seed: str


class _Numbers(dict[T, int]):
    """Numbers what it is asked for, in the order in which it was first asked."""

    def __missing__(self, key: T) -> int:
        number = self[key] = len(self)
        return number


def encode_assertions(changes: Sequence[Assert], seed: bytes) -> bytes:
    """The bytes of a chunk of a session with this seed."""
    iri: _Numbers[Iri] = _Numbers()
    value: _Numbers[Term] = _Numbers()
    validity: _Numbers[Validity] = _Numbers()
    spelling: _Numbers[Spelling] = _Numbers()
    rows = []
    for change in changes:
        statement, confidence = change.statement, change.confidence
        rows.append(
            (
                iri[statement.subject],
                iri[statement.predicate],
                value[statement.object],
                iri[statement.graph],
                validity[change.validity],
                spelling[change.spelling],
                None if confidence is None else str(confidence),
            )
        )
    tables = _Tables(
        iris=[each.n3 for each in iri],
        objects=[each.n3 for each in value],
        validities=[
            (each.interval.start, each.interval.end, each.start_precision.value, each.end_precision.value)
            for each in validity
        ],
        spellings=[
            (None if each.object is None else each.object.n3, each.valid_from, each.valid_to) for each in spelling
        ],
        changes=rows,
        seed=seed.hex(),
    )
    return _ENCODE(tables).encode()


@sound("a staged chunk")
def decode_assertions(chunk: bytes) -> list[Assert]:
    """The assertions that `encode_assertions` made bytes of. Raises `DamagedBase`."""
    tables: _Tables = json.loads(chunk)
    iri = [parse_iri(text) for text in tables["iris"]]
    value = [parse_term(text) for text in tables["objects"]]
    validity = [
        Validity(Interval(start, end), Precision(start_precision), Precision(end_precision))
        for start, end, start_precision, end_precision in tables["validities"]
    ]
    spelling = [
        Spelling(None if text is None else parse_literal(text), start, end) for text, start, end in tables["spellings"]
    ]
    return [
        Assert(
            Statement(iri[subject], iri[predicate], value[term], iri[graph]),
            validity[valid],
            spelling[spelt],
            None if confidence is None else Decimal(confidence),
        )
        for subject, predicate, term, graph, valid, spelt, confidence in tables["changes"]
    ]


@sound("a staged chunk")
def decode_seed(chunk: bytes) -> bytes:
    """The seed of the session that the chunk belongs to. Raises `DamagedBase`."""
    tables: _Tables = json.loads(chunk)
    return bytes.fromhex(tables["seed"])
