"""The chunks of a load session as bytes, and back.

Rules
-----
* A chunk is a list of deletions, and then of assertions, canonicalised: their terms are what a store will hold. It also
  has the seed from which the session's blank nodes are named, so that reading goes on with the same names after a kill.
* What repeats is written once a chunk: terms, validities and spellings are tables, a change is a row of numbers. So a
  change takes a few microseconds to read, and a chunk is a fraction of the file that it came from.
* Chunks are kept by the ledger until their load is decided. What cannot be read back is damage.

Example
-------
>>> change = Assert(Statement(Iri("urn:a"), Iri("urn:p"), Iri("urn:b"), Iri("urn:g")))
>>> chunk = encode_changes([change], bytes(16))
>>> decode_changes(chunk) == [change], decode_seed(chunk) == bytes(16)
(True, True)
"""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict, TypeVar

from bridge.ledger.damage import sound
from kernel.changes import Assert
from kernel.facts import Spelling, Validity
from kernel.terms import Iri, Statement, Term, parse_iri, parse_literal, parse_term
from kernel.time.instants import Instant
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.time.timevalues import Bound
from kernel.writing.deferred import Deletion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kernel.writing.deferred import Deferred

CHUNK_FORMAT: Final = 1
"""Part of every session's id: chunks of another format are never continued."""

_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode

T = TypeVar("T")


class _Tables(TypedDict):
    """The JSON of a chunk. A statement is the numbers of its subject, predicate, object and graph.

    After it, an assertion has those of validity and spelling, and its confidence; a deletion has that of its end, and
    whether its graph says nothing.
    """

    iris: list[str]
    objects: list[str]
    validities: list[tuple[int, int, str, str]]
    spellings: list[tuple[str | None, str | None, str | None]]
    changes: list[tuple[int, int, int, int, int, int, str | None]]
    ends: NotRequired[list[tuple[int, str, str | None]]]
    deletions: NotRequired[list[tuple[int, int, int, int, int, bool]]]
    seed: str


class _Numbers(dict[T, int]):
    """Numbers what it is asked for, in the order in which it was first asked."""

    def __missing__(self, key: T) -> int:
        number = self[key] = len(self)
        return number


class _Statements:
    """Numbers the terms of statements."""

    def __init__(self) -> None:
        self.iris: _Numbers[Iri] = _Numbers()
        self.objects: _Numbers[Term] = _Numbers()

    def row(self, statement: Statement) -> tuple[int, int, int, int]:
        """The numbers of its terms."""
        iri = self.iris
        return (
            iri[statement.subject],
            iri[statement.predicate],
            self.objects[statement.object],
            iri[statement.graph],
        )


def encode_changes(changes: Sequence[Deferred], seed: bytes) -> bytes:
    """The bytes of a chunk of a session with this seed; of deletions, and of assertions after them."""
    statements = _Statements()
    validity: _Numbers[Validity] = _Numbers()
    spelling: _Numbers[Spelling] = _Numbers()
    end: _Numbers[Bound] = _Numbers()
    asserted: list[tuple[int, int, int, int, int, int, str | None]] = []
    deleted: list[tuple[int, int, int, int, int, bool]] = []
    for change in changes:
        row = statements.row(change.statement)
        if isinstance(change, Deletion):
            deleted.append((*row, end[change.end], change.anywhere))
        else:
            confidence = None if change.confidence is None else str(change.confidence)
            asserted.append((*row, validity[change.validity], spelling[change.spelling], confidence))
    tables = _Tables(
        iris=[each.n3 for each in statements.iris],
        objects=[each.n3 for each in statements.objects],
        validities=[
            (each.interval.start, each.interval.end, each.start_precision.value, each.end_precision.value)
            for each in validity
        ],
        spellings=[
            (None if each.object is None else each.object.n3, each.valid_from, each.valid_to) for each in spelling
        ],
        changes=asserted,
        ends=[(each.instant, each.precision.value, each.spelling) for each in end],
        deletions=deleted,
        seed=seed.hex(),
    )
    return _ENCODE(tables).encode()


@sound("a staged chunk")
def decode_changes(chunk: bytes) -> list[Deferred]:
    """The changes that `encode_changes` made bytes of. Raises `DamagedBase`."""
    tables: _Tables = json.loads(chunk)
    iri = [parse_iri(text) for text in tables["iris"]]
    value = [parse_term(text) for text in tables["objects"]]
    deletions, assertions = _deletions(tables, iri, value), _assertions(tables, iri, value)
    return list(chain(deletions, assertions))


def _deletions(tables: _Tables, iri: Sequence[Iri], value: Sequence[Term]) -> Iterator[Deletion]:
    end = [Bound(Instant(at), Precision(precision), spelling) for at, precision, spelling in tables.get("ends", ())]
    for subject, predicate, term, graph, ends, anywhere in tables.get("deletions", ()):
        yield Deletion(Statement(iri[subject], iri[predicate], value[term], iri[graph]), end[ends], anywhere)


def _assertions(tables: _Tables, iri: Sequence[Iri], value: Sequence[Term]) -> Iterator[Assert]:
    validity = [
        Validity(Interval(start, end), Precision(start_precision), Precision(end_precision))
        for start, end, start_precision, end_precision in tables["validities"]
    ]
    spelling = [
        Spelling(None if text is None else parse_literal(text), start, end) for text, start, end in tables["spellings"]
    ]
    for subject, predicate, term, graph, valid, spelt, confidence in tables["changes"]:
        yield Assert(
            Statement(iri[subject], iri[predicate], value[term], iri[graph]),
            validity[valid],
            spelling[spelt],
            None if confidence is None else Decimal(confidence),
        )


@sound("a staged chunk")
def decode_seed(chunk: bytes) -> bytes:
    """The seed of the session that the chunk belongs to. Raises `DamagedBase`."""
    tables: _Tables = json.loads(chunk)
    return bytes.fromhex(tables["seed"])
