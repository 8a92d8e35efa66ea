"""Findings and their JSON members."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates.canonical import canonical_json
from certificates.errors import InvalidValue, MalformedDocument
from certificates.findings import Finding, FindingCode, Severity
from certificates.impacts import Impact, SampleRow

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
_MAYBE = st.none() | _TEXT
_ROWS = st.builds(
    SampleRow,
    gained=st.booleans(),
    times=st.integers(1, 3),
    row=st.dictionaries(_TEXT, _TEXT, max_size=2).map(lambda row: tuple(row.items())),
)
_CHANGES = st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(any)
_IMPACTS = st.builds(Impact, _TEXT, _TEXT, st.integers(0, 100)) | st.builds(
    lambda query, changes, sample: Impact(query, "desk", 1, changes[0], changes[1], tuple(sample)),
    _TEXT,
    _CHANGES,
    st.lists(_ROWS, max_size=2),
)
_FINDINGS = st.builds(
    Finding,
    code=st.sampled_from(FindingCode),
    severity=st.sampled_from(Severity),
    message=_TEXT.filter(bool),
    graphs=st.lists(_TEXT, min_size=1, max_size=3).map(tuple),
    focus=_MAYBE,
    path=_MAYBE,
    value=_MAYBE,
    shape=_MAYBE,
    component=_MAYBE,
    start=_MAYBE,
    end=_MAYBE,
    impact=st.none() | _IMPACTS,
)
_EXAMPLE = Finding(
    FindingCode.SHAPE_VIOLATION,
    Severity.VIOLATION,
    "has two names",
    ("urn:h", "urn:g", "urn:h"),
    focus="<urn:a>",
    start="2026-01-01T00:00:00Z",
    end="2027-01-01T00:00:00Z",
)


@given(_FINDINGS)
def test_a_finding_is_read_back_from_its_json(finding: Finding) -> None:
    assert Finding.from_body(json.loads(canonical_json(finding.body()))) == finding


def test_members_are_named_as_the_interface_has_them_and_absent_ones_left_out() -> None:
    assert _EXAMPLE.body() == {
        "code": "shape-violation",
        "severity": "violation",
        "message": "has two names",
        "graphs": ["urn:g", "urn:h"],
        "focus": "<urn:a>",
        "from": "2026-01-01T00:00:00Z",
        "to": "2027-01-01T00:00:00Z",
    }


@given(_FINDINGS, _FINDINGS)
def test_the_key_is_what_was_found_where(one: Finding, other: Finding) -> None:
    same = all(
        getattr(one, name) == getattr(other, name) for name in ("code", "focus", "path", "value", "component", "shape")
    )
    queries = {None if each.impact is None else each.impact.query for each in (one, other)}
    assert (one.key == other.key) == (same and len(queries) == 1)


def test_the_key_leaves_out_wording_and_interval() -> None:
    reworded = Finding(_EXAMPLE.code, Severity.INFO, "other words", ("urn:z",), focus="<urn:a>")
    assert reworded.key == _EXAMPLE.key


def test_a_finding_needs_a_message_and_a_graph() -> None:
    with pytest.raises(InvalidValue, match="graph"):
        Finding(FindingCode.LOW_CONFIDENCE, Severity.WARNING, "doubtful", ())
    with pytest.raises(InvalidValue, match="message"):
        Finding(FindingCode.LOW_CONFIDENCE, Severity.WARNING, "", ("urn:g",))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"code": "no-such-code"}, "code"),
        ({"severity": "fatal"}, "severity"),
        ({"message": 5}, "message"),
        ({"graphs": "urn:g"}, "graphs"),
        ({"graphs": [1]}, "graphs"),
        ({"focus": None}, "focus"),
        ({"start": "2026-01-01T00:00:00Z"}, "start"),
    ],
)
def test_members_that_are_wrong_are_named(change: dict[str, object], where: str) -> None:
    with pytest.raises(MalformedDocument) as caught:
        Finding.from_body(_EXAMPLE.body() | change)
    assert caught.value.where == where


@pytest.mark.parametrize("name", ["code", "severity", "message", "graphs"])
def test_members_that_are_missing_are_named(name: str) -> None:
    body = _EXAMPLE.body()
    del body[name]
    with pytest.raises(MalformedDocument) as caught:
        Finding.from_body(body)
    assert caught.value.where == name


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(MalformedDocument, match="not an object"):
        Finding.from_body(["code"])
