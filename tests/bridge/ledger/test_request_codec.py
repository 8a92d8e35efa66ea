"""Requests as bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bridge.ledger.request_codec import decode_request, encode_request
from certificates.canonical import canonical_json
from kernel.changes import Assert, Change, End, Reinstate, Request, Retract, Revise
from kernel.errors import DamagedBase, InvalidTime
from kernel.facts import Spelling, Validity
from kernel.terms import Iri, Statement
from kernel.time.instants import BEGINNING, EARLIEST, FOREVER, LATEST
from kernel.time.intervals import Interval
from kernel.time.precision import Precision
from kernel.time.timevalues import Bound, valid_from, valid_through, valid_to
from tests.bridge.test_terms import literals, terms
from tests.kernel.time_strategies import Written, times

STATEMENT: Final = Statement(Iri("urn:s"), Iri("urn:p"), Iri("urn:o"), Iri("urn:g"))

texts: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
iris: Final = st.text("abé/:?&%0", max_size=9).map(lambda text: Iri(f"urn:{text}"))
decimals: Final = st.decimals(0, 1, allow_nan=False) | st.sampled_from([Decimal("0.50"), Decimal("1E-3")])
confidences: Final = st.none() | decimals


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    points = st.integers(EARLIEST, LATEST) | st.sampled_from([BEGINNING, FOREVER])
    start, end = sorted(draw(st.sets(points, min_size=2, max_size=2)))
    return Interval(start, end)


def _bound(read: Callable[..., Bound], written: Written) -> Bound:
    try:
        return read(written.text, zone=0)
    except InvalidTime:
        assume(False)
        raise


bounds: Final = st.builds(_bound, st.sampled_from([valid_from, valid_to, valid_through]), times())
statements: Final = st.builds(Statement, iris, iris, terms, iris)
spellings: Final = st.builds(Spelling, st.none() | literals, st.none() | texts, st.none() | texts)
validities: Final = st.builds(Validity, intervals(), st.sampled_from(Precision), st.sampled_from(Precision))
targets: Final = statements | st.uuids()
changes: Final[st.SearchStrategy[Change]] = st.one_of(
    st.builds(Assert, statements, validities | st.just(Validity.always()), spellings, confidences),
    st.builds(End, targets, st.none() | bounds),
    st.builds(Retract, targets, st.none() | intervals()),
    st.builds(Reinstate, st.uuids()),
    st.builds(Revise, st.uuids(), st.none() | terms, st.none() | bounds, st.none() | bounds, spellings, confidences),
)
requests: Final = st.builds(
    Request, st.lists(changes, max_size=4).map(tuple), st.none() | texts, st.none() | iris, texts, st.none() | texts
)


@given(requests)
def test_a_request_comes_back_as_it_was(request: Request) -> None:
    data = encode_request(request)
    back = decode_request(data)
    assert back == request
    # Decimals that are equal may have other digits: 0.5 and 0.50.
    assert repr(back) == repr(request)
    assert encode_request(back) == data == canonical_json(json.loads(data))


def _with(**members: object) -> bytes:
    change = {"op": "assert", "statement": [STATEMENT.subject.n3, *["<urn:o>"] * 3], **members}
    kept = {name: value for name, value in change.items() if value is not None}
    return json.dumps({"changes": [kept], "principal": "p1"}).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[",
        b"[]",
        b"{}",
        b"\xff",
        b'{"changes":[]}',
        b'{"changes":{},"principal":"p1"}',
        b'{"changes":[1],"principal":"p1"}',
        b'{"changes":[{}],"principal":"p1"}',
        b'{"changes":[],"principal":"p1","later":"member"}',
        _with(op="purge"),
        _with(op=None),
        _with(later="member"),
        _with(statement=None),
        _with(statement=["<urn:o>"] * 3),
        _with(statement=["<urn:o>", '"literal"', "<urn:o>", "<urn:o>"]),
        _with(statement=["<urn:o>", "nonsense", "<urn:o>", "<urn:o>"]),
        _with(statement=["<urn:o>", 7, "<urn:o>", "<urn:o>"]),
        _with(valid=["20", "10", "instant", "instant"]),
        _with(valid=["10", "20", "instant", "perhaps"]),
        _with(valid=["soon", "20", "instant", "instant"]),
        _with(confidence="high"),
        _with(confidence=0.5),
        _with(spelling=["<urn:o>", None, None]),
        _with(op="end", fact="no uuid"),
        _with(op="end", at=["7", "unknown", None]),
    ],
)
def test_what_cannot_be_read_is_damage(data: bytes) -> None:
    with pytest.raises(DamagedBase, match="request that cannot be read"):
        decode_request(data)
