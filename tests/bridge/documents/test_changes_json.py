"""Changes in JSON: each op, each error with its pointer, and nothing unknown let through."""

from __future__ import annotations

import json
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.documents.changes_json import Setting, read_change, read_changes
from bridge.documents.json_terms import JsonTerms
from bridge.documents.skolem import Skolem
from bridge.terms import OxigraphCanonicaliser
from kernel.changes import Assert, Change, End, Request, Retract, Revise
from kernel.errors import (
    CallerError,
    InvalidChange,
    InvalidDocument,
    InvalidInterval,
    InvalidTerm,
    InvalidTime,
    ReservedGraph,
)
from kernel.facts import Spelling, Validity
from kernel.terms import XSD, Iri, Literal, Statement, Term
from kernel.time.instants import parse_instant, print_instant
from kernel.time.intervals import Interval
from kernel.time.timevalues import NO_END, NO_START, Precision, valid_from, valid_through, valid_to
from kernel.vocabulary import DEFAULT_GRAPH, GENID, SHAPES_GRAPH
from tests.bridge.test_terms import literals

CANONICALISER = OxigraphCanonicaliser()
S, P, THING, G = (Iri(f"urn:{name}") for name in "spog")
STATEMENT = Statement(S, P, THING, DEFAULT_GRAPH)
ABOUT = {"subject": "urn:s", "predicate": "urn:p", "object": {"@id": "urn:o"}}
FACT = "01890f5c-7f3c-8cc2-98c8-3b5f0d1e2a3b"

Members = dict[str, object]


def request(*changes: object, **members: object) -> Request:
    return read(json.dumps({"changes": changes, **members}))


def read(text: str) -> Request:
    return read_changes(text.encode(), principal="p", canonicaliser=CANONICALISER)


def change(op: str, **members: object) -> Change:
    return request({"op": op, **members}).changes[0]


def asserted(**members: object) -> Assert:
    found = change("assert", **ABOUT | members)
    assert isinstance(found, Assert)
    return found


def refused(kind: type[CallerError], op: str, **members: object) -> CallerError:
    with pytest.raises(kind) as caught:
        change(op, **members)
    assert type(caught.value) is kind
    assert caught.value.remedy
    return caught.value


# --- what is read ----------------------------------------------------------------------------------------------------


def test_a_whole_request() -> None:
    found = request(
        {"op": "assert", **ABOUT},
        {"op": "end", **ABOUT, "at": "2024", "graph": "urn:h"},
        reason="as published",
        episode={"@id": "urn:doc"},
        graph="urn:g",
    )
    assert found == Request(
        (
            Assert(Statement(S, P, THING, G)),
            End(Statement(S, P, THING, Iri("urn:h")), valid_to("2024")),
        ),
        "as published",
        Iri("urn:doc"),
        "p",
    )


def test_no_graph_is_the_default_graph() -> None:
    assert request({"op": "assert", **ABOUT}) == Request((Assert(STATEMENT),), None, None, "p")


def test_an_assertion_with_everything() -> None:
    found = asserted(
        subject={"@id": "urn:s"},
        predicate={"@id": "urn:p"},
        object={"@value": "colour", "@language": "en-GB"},
        graph={"@id": "urn:g"},
        validFrom="2024-05",
        validThrough="2024-06-30",
        confidence=0.75,
    )
    start, end = valid_from("2024-05"), valid_through("2024-06-30")
    assert found == Assert(
        Statement(S, P, Literal("colour", language="en-gb"), G),
        Validity(Interval(start.instant, end.instant), Precision.MONTH, Precision.DAY),
        Spelling(Literal("colour", language="en-GB")),
        Decimal("0.75"),
    )


@pytest.mark.parametrize("fact", [FACT, f"urn:uuid:{FACT}", FACT.upper()])
def test_facts_are_named_by_their_ids(fact: str) -> None:
    assert change("end", fact=fact) == End(UUID(FACT), None)
    assert change("retract", fact=fact) == Retract(UUID(FACT), None)
    assert change("revise", fact=fact, object={"@id": "urn:o"}) == Revise(UUID(FACT), THING)


def test_retractions_may_be_of_a_part() -> None:
    assert change("retract", **ABOUT) == Retract(STATEMENT, None)
    part = change("retract", **ABOUT, validFrom="2024", validTo="2025-01-01")
    assert part == Retract(STATEMENT, Interval(valid_from("2024").instant, valid_to("2025").instant))


def test_a_revision_can_take_a_bound_away() -> None:
    found = change("revise", fact=FACT, validFrom="unbounded", validTo="unbounded")
    assert isinstance(found, Revise)
    assert (found.start, found.end) == (NO_START, NO_END)


@pytest.mark.parametrize("at", ["unknown", "####", "unbounded"])
def test_something_ends_at_a_point_in_time(at: str) -> None:
    with pytest.raises(InvalidTime, match="says nothing of when") as caught:
        change("end", **ABOUT, at=at)
    assert caught.value.where == "/changes/0/at"


def test_revisions_leave_alone_what_they_do_not_name() -> None:
    ended = Revise(UUID(FACT), None, None, valid_to("2024"), Spelling(valid_to="2024"))
    assert change("revise", fact=FACT, validTo="2024") == ended
    found = change("revise", fact=FACT, object={"@value": "1.50", "@type": XSD + "decimal"}, confidence=1)
    assert found == Revise(
        UUID(FACT),
        Literal("1.5", XSD + "decimal"),
        spelling=Spelling(Literal("1.50", XSD + "decimal")),
        confidence=Decimal(1),
    )


@pytest.mark.parametrize("text", ["0.10", "1", "0", "1.000", "1e-2", "0.1234567890123456789012345678901234567890"])
def test_a_confidence_keeps_its_digits(text: str) -> None:
    (found,) = read(
        json.dumps({"changes": [{"op": "assert", **ABOUT, "confidence": 0.5}]}).replace("0.5", text)
    ).changes
    assert isinstance(found, Assert)
    assert str(found.confidence) == str(Decimal(text))


def test_blank_nodes_are_the_same_throughout_a_request() -> None:
    both = {"op": "assert", "subject": "_:b", "predicate": "urn:p", "object": {"@id": "_:b"}}
    first, second = (request(both, both).changes for _ in range(2))
    nodes = []
    for changes in (first, second):
        found = {
            node
            for each in changes
            if isinstance(each, Assert)
            for node in (each.statement.subject, each.statement.object)
        }
        assert len(found) == 1
        nodes.append(found.pop())
    assert nodes[0] != nodes[1]
    assert isinstance(nodes[0], Iri)
    assert nodes[0].value.startswith(GENID)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('{"@value": "x"}', Literal("x")),
        ('{"@value": "x", "@type": "urn:t"}', Literal("x", "urn:t")),
        ('{"@value": "x", "@language": "ar", "@direction": "rtl"}', Literal("x", language="ar", direction="rtl")),
        ('{"@value": true}', Literal("true", XSD + "boolean")),
        ('{"@value": 42.0}', Literal("42", XSD + "integer")),
        ('{"@value": 7, "@type": "%sdouble"}' % XSD, Literal("7", XSD + "double")),  # noqa: UP031
        ('{"@id": "urn:o"}', THING),
    ],
)
def test_case_20_objects(written: str, expected: Term) -> None:
    body = json.dumps({"changes": [{"op": "assert", **ABOUT, "object": 0}]}).replace(
        '"object": 0', f'"object": {written}'
    )
    (found,) = read(body).changes
    assert isinstance(found, Assert)
    assert found.statement.object == expected


@given(literals)
def test_case_46_literals_are_held_as_stored_and_spelled_as_submitted(literal: Literal) -> None:
    parts = {"@value": literal.lexical, "@language": literal.language, "@direction": literal.direction}
    if literal.language is None:
        parts["@type"] = literal.datatype
    value = {name: part for name, part in parts.items() if part is not None}
    try:
        held = CANONICALISER.canonical(literal)
    except InvalidTerm:
        refused(InvalidTerm, "assert", **ABOUT | {"object": value})
        return
    found = asserted(object=value)
    assert found.statement.object == held
    assert found.spelling.object == (None if held == literal else literal)


@pytest.mark.parametrize(
    ("subject", "said"), [({"@value": "Ann"}, "a literal cannot stand here"), ({}, "neither @id nor @value")]
)
def test_what_is_no_node_is_told_why(subject: Members, said: str) -> None:
    error = refused(InvalidTerm, "assert", **ABOUT | {"subject": subject})
    assert (said in error.message, error.where) == (True, "/changes/0/subject")


# --- times -----------------------------------------------------------------------------------------------------------


def test_case_23_an_offset_is_the_same_instant_and_is_kept() -> None:
    found = asserted(validFrom="2024-01-01T00:00:00+05:00")
    assert print_instant(parse_instant("2023-12-31T19:00:00Z")) == print_instant(
        valid_from("2023-12-31T19:00:00Z").instant
    )
    assert found.validity.interval.start == parse_instant("2023-12-31T19:00:00Z")
    assert found.spelling.valid_from == "2024-01-01T00:00:00+05:00"
    assert asserted(validFrom="2023-12-31T19:00:00Z").spelling.valid_from is None


def test_case_24_a_time_without_zone_is_refused_unless_the_request_names_one() -> None:
    error = refused(InvalidTime, "assert", **ABOUT, validFrom="2024-01-01T00:00:00")
    assert error.where == "/changes/0/validFrom"
    found = request({"op": "assert", **ABOUT, "validFrom": "2024-01-01T00:00:00"}, zone="+05:00").changes[0]
    assert isinstance(found, Assert)
    assert found.validity.interval.start == parse_instant("2023-12-31T19:00:00Z")
    assert found.spelling.valid_from == "2024-01-01T00:00:00+05:00"


def test_case_25_a_day_to_itself_is_empty_and_through_itself_is_a_day() -> None:
    error = refused(InvalidInterval, "assert", **ABOUT, validFrom="2026-05-06", validTo="2026-05-06")
    assert "validThrough" in error.remedy
    assert error.where == "/changes/0/validTo"
    found = asserted(validFrom="2026-05-06", validThrough="2026-05-06")
    assert found.validity.interval.contains(parse_instant("2026-05-06T15:00:00Z"))


@pytest.mark.parametrize("op", ["assert", "retract", "revise"])
def test_case_26_inverted_is_refused(op: str) -> None:
    about: Members = {"fact": FACT} if op == "revise" else dict(ABOUT)
    error = refused(InvalidInterval, op, **about, validFrom="2025", validThrough="2023")
    assert error.where == "/changes/0/validThrough"


def test_case_30_the_submitted_spelling_is_kept() -> None:
    found = asserted(validFrom="2024-01-01T00:00:00.100000Z", validTo="2024-01-01T00:00:00.2Z")
    assert found.spelling == Spelling(None, "2024-01-01T00:00:00.100000Z", None)


def test_times_on_governance_graphs_are_refused() -> None:
    error = refused(ReservedGraph, "assert", **ABOUT, graph=SHAPES_GRAPH.value, validFrom="2024")
    assert error.where == "/changes/0"


@pytest.mark.parametrize(
    ("member", "value"),
    [
        *(("validFrom", text) for text in ("2024-02-30", "yesterday", "", "2024-01-01T23:59:60Z")),
        *(("validFrom", value) for value in (2024, None, True, {"@value": "2024"}, ["2024"])),
        ("validTo", "2024-13"),
        ("validThrough", 2024),
    ],
)
def test_times_that_cannot_be_read(member: str, value: object) -> None:
    assert refused(InvalidTime, "assert", **ABOUT, **{member: value}).where == f"/changes/0/{member}"
    assert refused(InvalidTime, "revise", fact=FACT, **{member: value}).where == f"/changes/0/{member}"


def test_a_point_that_cannot_be_read() -> None:
    assert refused(InvalidTime, "end", **ABOUT, at="2024-02-30").where == "/changes/0/at"


@pytest.mark.parametrize("zone", ["CET", "+25:00", 60, None])
def test_a_zone_that_is_none(zone: object) -> None:
    with pytest.raises(InvalidTime) as caught:
        request({"op": "assert", **ABOUT}, zone=zone)
    assert caught.value.where == "/zone"


# --- case 36 and all that is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "member", "hint"),
    [
        ("assert", "validThru", "did you mean 'validThrough'?"),
        ("assert", "valid_from", "did you mean 'validFrom'?"),
        ("assert", "Graph", "did you mean 'graph'?"),
        ("assert", "fact", "known are"),
        ("assert", "at", "known are"),
        ("end", "validTo", "known are"),
        ("retract", "confidence", "known are"),
        ("revise", "subject", "leave it out; known are confidence, fact, object, op,"),
        ("revise", "subjekt", "known are"),
        ("assert", "zone", "leave it out; known are"),
        ("assert", "x/y~z", "known are"),
    ],
)
def test_case_36_members_that_an_op_does_not_know_are_named(op: str, member: str, hint: str) -> None:
    error = refused(InvalidChange, op, **ABOUT if op != "revise" else {"fact": FACT}, **{member: "urn:x"})
    assert repr(member) in error.message
    assert error.where == f"/changes/0/{member.replace('~', '~0').replace('/', '~1')}"
    assert hint in error.remedy


def test_case_36_also_in_the_request_itself() -> None:
    with pytest.raises(InvalidChange, match="'resaon'") as caught:
        request({"op": "assert", **ABOUT}, resaon="x")
    assert (caught.value.where, caught.value.remedy) == ("/resaon", "did you mean 'reason'?")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "the op is missing"),
        ("asert", "no op 'asert'"),
        ("purge", "no op 'purge'"),
        (5, "no op 5"),
        ([], "no op"),
    ],
)
def test_case_36_ops(value: object, message: str) -> None:
    with pytest.raises(InvalidChange, match=message) as caught:
        request({"op": value, **ABOUT} if value is not None else ABOUT)
    assert caught.value.where == "/changes/0/op"
    if value == "asert":
        assert caught.value.remedy == "did you mean 'assert'?"


@pytest.mark.parametrize("member", ["subject", "predicate", "object"])
@pytest.mark.parametrize("op", ["assert", "end", "retract"])
def test_what_is_missing_is_named(op: str, member: str) -> None:
    rest = {name: value for name, value in ABOUT.items() if name != member}
    error = refused(InvalidChange, op, **rest)
    assert error.message == f"the {member} is missing"
    assert error.where == f"/changes/0/{member}"


@pytest.mark.parametrize("member", ["subject", "object", "graph"])
@pytest.mark.parametrize("op", ["end", "retract"])
def test_a_fact_and_a_statement_are_too_much(op: str, member: str) -> None:
    error = refused(InvalidChange, op, fact=FACT, **{member: "urn:x"})
    assert error.where == f"/changes/0/{member}"


@pytest.mark.parametrize("fact", ["", "urn:x", FACT[:-1], FACT.replace("-", ""), f"{{{FACT}}}", 5, None])
def test_a_fact_that_is_none(fact: object) -> None:
    assert refused(InvalidChange, "end", fact=fact).where == "/changes/0/fact"
    error = refused(InvalidChange, "revise", fact=fact)
    assert error.where == "/changes/0/fact"
    assert "GET /facts" in error.remedy


def test_a_revision_of_a_statement_is_told_to_name_a_fact() -> None:
    error = refused(InvalidChange, "revise", **ABOUT)
    assert error.where == "/changes/0/fact"
    assert "GET /facts" in error.remedy
    assert "retract" in error.remedy


def test_two_ends_are_one_too_many() -> None:
    error = refused(InvalidChange, "assert", **ABOUT, validTo="2024", validThrough="2024")
    assert error.where == "/changes/0/validThrough"


@pytest.mark.parametrize("confidence", [1.5, -0.1, True, "0.5", None, 2])
def test_a_confidence_that_is_none(confidence: object) -> None:
    assert refused(InvalidChange, "assert", **ABOUT, confidence=confidence).where == "/changes/0/confidence"


@pytest.mark.parametrize(
    ("member", "value", "where"),
    [
        ("object", "urn:o", "object"),
        ("object", 5, "object"),
        ("object", None, "object"),
        ("object", [{"@id": "urn:o"}], "object"),
        ("object", {}, "object"),
        ("object", {"@id": 5}, "object/@id"),
        ("object", {"@id": "no iri"}, "object/@id"),
        ("object", {"@id": "http://h/<"}, "object/@id"),
        ("object", {"@id": "http://[h/"}, "object/@id"),
        ("object", {"@id": "urn:o", "@type": "urn:t"}, "object"),
        ("object", {"@value": "x", "value": "y"}, "object/value"),
        ("object", {"@value": None}, "object/@value"),
        ("object", {"@value": 5, "@language": "en"}, "object/@value"),
        ("object", {"@value": {"x": 1}, "@type": "@json"}, "object/@value"),
        ("object", {"@value": "x", "@type": "urn:t", "@language": "en"}, "object/@type"),
        ("object", {"@value": "x", "@type": None}, "object/@type"),
        ("object", {"@value": "x", "@type": "date"}, "object"),
        ("object", {"@value": "x", "@language": "not a tag"}, "object"),
        ("object", {"@value": "x", "@language": "en", "@direction": "up"}, "object"),
        ("object", {"@value": "x", "@direction": "rtl"}, "object"),
        ("object", {"@value": 1.5, "@type": XSD + "decimal"}, "object/@value"),
        ("subject", "no iri", "subject"),
        ("subject", 5, "subject"),
        ("subject", {"@value": "x"}, "subject"),
        ("predicate", "_:b", "predicate"),
        ("predicate", {"@id": "_:b"}, "predicate"),
        ("graph", "_:g", "graph"),
        ("graph", None, "graph"),
    ],
)
def test_terms_that_are_none_have_their_place(member: str, value: object, where: str) -> None:
    assert refused(InvalidTerm, "assert", **ABOUT | {member: value}).where == f"/changes/0/{where}"


def test_case_20_digits_are_not_lost_in_silence() -> None:
    body = json.dumps({"changes": [{"op": "assert", **ABOUT, "object": {"@value": 0}}]})
    with pytest.raises(InvalidTerm, match="exactly") as caught:
        read(body.replace('"@value": 0', '"@value": 2.0000000000000001'))
    assert (caught.value.where, caught.value.remedy) == ("/changes/0/object/@value", "write exact numbers as strings")


@pytest.mark.parametrize(
    ("body", "kind", "where"),
    [
        ("[]", InvalidChange, None),
        ("{}", InvalidChange, "/changes"),
        ('{"changes": []}', InvalidChange, "/changes"),
        ('{"changes": {}}', InvalidChange, "/changes"),
        ('{"changes": [5]}', InvalidChange, "/changes/0"),
        ('{"changes": [{"op": "end", "op": "retract"}]}', InvalidDocument, None),
        ('{"changes": [', InvalidDocument, "line 1, column 14"),
        ('{"changes": [{"op": "end"}], "reason": 5}', InvalidChange, "/changes/0/subject"),
    ],
)
def test_requests_that_are_none(body: str, kind: type[CallerError], where: str | None) -> None:
    with pytest.raises(kind) as caught:
        read(body)
    assert (type(caught.value), caught.value.where) == (kind, where)


@pytest.mark.parametrize(
    ("member", "kind"), [("reason", InvalidChange), ("episode", InvalidTerm), ("graph", InvalidTerm)]
)
@pytest.mark.parametrize("value", [5, None, [], True])
def test_members_of_the_request_of_another_kind(member: str, kind: type[CallerError], value: object) -> None:
    with pytest.raises(kind) as caught:
        request({"op": "assert", **ABOUT}, **{member: value})
    assert caught.value.where == f"/{member}"


def test_the_place_is_that_of_the_change() -> None:
    good = {"op": "assert", **ABOUT}
    with pytest.raises(InvalidTerm) as caught:
        request(good, good, good | {"subject": "x"})
    assert caught.value.where == "/changes/2/subject"


def test_a_request_that_is_too_large_is_refused_unread() -> None:
    with pytest.raises(InvalidDocument, match="3 bytes, more than 2"):
        read_changes(b"[[[", principal="p", canonicaliser=CANONICALISER, limit=2)


# --- line by line ----------------------------------------------------------------------------------------------------


def test_one_change_alone() -> None:
    setting = Setting(JsonTerms(CANONICALISER, Skolem()), graph=G, zone="+01:00")
    found = read_change({"op": "assert", **ABOUT, "validFrom": "2024-01-01T00:00:00"}, setting)  # type: ignore[dict-item]
    assert isinstance(found, Assert)
    assert found.statement == Statement(S, P, THING, G)
    assert found.validity.interval.start == parse_instant("2023-12-31T23:00:00Z")
    with pytest.raises(InvalidTerm) as caught:
        read_change({"op": "assert", "subject": "x", "predicate": "urn:p", "object": {"@id": "urn:o"}}, setting)
    assert caught.value.where == "/subject"
    with pytest.raises(InvalidChange) as named:
        read_change(5, setting)
    assert named.value.where is None


_junk = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-1, 2),
        st.sampled_from(["urn:a", "_:b", "x", "2024", "en", "@json", FACT]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["@id", "@value", "@type", "@language", "@direction", "x"]), inner, max_size=3),
    ),
    max_leaves=6,
)
_members = [
    "subject",
    "predicate",
    "object",
    "graph",
    "fact",
    "validFrom",
    "validTo",
    "validThrough",
    "at",
    "confidence",
]


@given(
    st.sampled_from(["assert", "end", "retract", "revise"]),
    st.dictionaries(st.sampled_from(_members), _junk, max_size=6),
)
def test_whatever_comes_is_read_or_refused_with_its_place(op: str, members: Members) -> None:
    about: Members = {"fact": FACT} if op == "revise" else dict(ABOUT)
    try:
        change(op, **about | members)
    except CallerError as error:
        where = error.where or ""
        if not where.startswith("/changes/0"):
            raise
