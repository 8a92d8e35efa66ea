from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Store

from kernel.errors import InvalidTime
from kernel.time.instants import (
    BEGINNING,
    DAY,
    EARLIEST,
    FOREVER,
    LATEST,
    MINUTE,
    Instant,
    Zone,
    parse_instant,
    parse_zone,
    print_instant,
    print_offset,
)
from tests.kernel.time_strategies import Written, date_times, instants, written_offset

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DATE_TIME = NamedNode("http://www.w3.org/2001/XMLSchema#dateTime")
NODE = NamedNode("urn:node")

zones = st.integers(-840, 840).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def refusal(text: str, zone: Zone = None) -> InvalidTime:
    with pytest.raises(InvalidTime) as caught:
        parse_instant(text, field="validFrom", zone=zone)
    return caught.value


def stored(text: str) -> str:
    """The text as an RDF store with typed values gives it back."""
    store = Store()
    store.add(Quad(NODE, NODE, Literal(text, datatype=DATE_TIME)))
    value = next(iter(store)).object
    assert isinstance(value, Literal)
    return value.value


def first_answer(query: str) -> str:
    solutions = Store().query(f"PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> {query}")
    assert isinstance(solutions, QuerySolutions)
    answer = next(solutions)["answer"]
    assert isinstance(answer, Literal)
    return answer.value


# --- against datetime ----------------------------------------------------------------------------


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=zones))
def test_reads_the_instant_that_datetime_reads(when: datetime) -> None:
    assert parse_instant(when.isoformat()) == (when - EPOCH) // timedelta(microseconds=1)


@given(st.datetimes())
def test_prints_what_datetime_prints(naive: datetime) -> None:
    when = naive.replace(tzinfo=UTC)
    whole, _, fraction = naive.isoformat().partition(".")
    expected = whole + (f".{fraction.rstrip('0')}" if fraction else "") + "Z"
    assert print_instant(Instant((when - EPOCH) // timedelta(microseconds=1))) == expected


# --- against a SPARQL store ----------------------------------------------------------------------


@given(instants)
@example(EARLIEST)
@example(LATEST)
@example(Instant(0))
@example(parse_instant("0000-01-01T00:00:00Z"))
@example(Instant(parse_instant("0000-01-01T00:00:00Z") - 1))
def test_the_print_is_the_one_that_a_store_gives_back(instant: Instant) -> None:
    assert stored(print_instant(instant)) == print_instant(instant)


@given(date_times())
def test_a_store_takes_the_text_and_the_print_for_the_same_instant(written: Written) -> None:
    assume(written.zoned)
    printed = print_instant(parse_instant(written.text))
    assert (
        first_answer(f'SELECT ("{written.text}"^^xsd:dateTime = "{printed}"^^xsd:dateTime AS ?answer) {{}}') == "true"
    )


@given(date_times(), date_times())
def test_a_store_orders_as_the_instants_do(one: Written, other: Written) -> None:
    assume(one.zoned and other.zoned)
    earlier = parse_instant(one.text) < parse_instant(other.text)
    answer = first_answer(f'SELECT ("{one.text}"^^xsd:dateTime < "{other.text}"^^xsd:dateTime AS ?answer) {{}}')
    assert answer == str(earlier).lower()


# --- the whole line ------------------------------------------------------------------------------


@given(instants)
@example(EARLIEST)
@example(LATEST)
def test_what_is_printed_reads_back(instant: Instant) -> None:
    assert parse_instant(print_instant(instant)) == instant


def test_the_ends_of_the_line_lie_beyond_every_instant_and_fit_64_bits() -> None:
    assert -(2**63) <= BEGINNING < EARLIEST < LATEST < FOREVER < 2**63
    assert print_instant(EARLIEST) == "-290000-01-01T00:00:00Z"
    assert print_instant(LATEST) == "290000-12-31T23:59:59.999999Z"


@pytest.mark.parametrize("outside", [BEGINNING, EARLIEST - 1, LATEST + 1, FOREVER])
def test_what_is_no_instant_is_not_printed(outside: int) -> None:
    with pytest.raises(ValueError, match="not an instant"):
        print_instant(Instant(outside))


@pytest.mark.parametrize(
    "text",
    [
        "-290000-01-01T00:00:00+00:01",
        "290000-12-31T23:59:59-00:01",
        "290000-12-31T24:00:00Z",
        "290001-01-01T00:00:00Z",
        "-999999-01-01T00:00:00Z",
        "1000000-01-01T00:00:00Z",
        "9" * 10_000 + "-01-01T00:00:00Z",
    ],
)
def test_what_lies_beyond_the_line_is_refused(text: str) -> None:
    assert "beyond" in refusal(text).message


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("0000-02-29T00:00:00Z", "0000-02-29T00:00:00Z"),
        ("12024-01-01T00:00:00Z", "12024-01-01T00:00:00Z"),
        ("-12024-01-01T00:00:00Z", "-12024-01-01T00:00:00Z"),
        ("0987-06-05T04:03:02.000001Z", "0987-06-05T04:03:02.000001Z"),
        ("2024-01-01T00:00:00-00:00", "2024-01-01T00:00:00Z"),
        ("2024-01-01T00:00:00+14:00", "2023-12-31T10:00:00Z"),
        ("2024-01-01T00:00:00.000000Z", "2024-01-01T00:00:00Z"),
    ],
)
def test_canonical_prints(text: str, printed: str) -> None:
    assert print_instant(parse_instant(text)) == printed


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" 2024-01-01T00:00:00Z", "white space"),
        ("2024-01-01T00:00:00Z\n", "white space"),
        ("2024-01-01 00:00:00Z", "white space"),
        ("+2024-01-01T00:00:00Z", "plus sign"),
        ("987-01-01T00:00:00Z", "four digits"),
        ("-44-03-15T00:00:00Z", "four digits"),
        ("02024-01-01T00:00:00Z", "leading zero"),
        ("-00044-01-01T00:00:00Z", "leading zero"),
        ("-0000-01-01T00:00:00Z", "no year -0000"),
        ("2024-01-01t00:00:00Z", "upper case"),
        ("2024-01-01T00:00:00z", "upper case"),
        ("2024-00-01T00:00:00Z", "no month 00"),
        ("2024-13-01T00:00:00Z", "no month 13"),
        ("2024-01-00T00:00:00Z", "no day 00"),
        ("2024-04-31T00:00:00Z", "no day 31"),
        ("1900-02-29T00:00:00Z", "no day 29"),
        ("-0001-02-29T00:00:00Z", "-0001-02 has no day 29"),
        ("2024-01-01T24:00:01Z", "after 24:00:00"),
        ("2024-01-01T24:01:00Z", "after 24:00:00"),
        ("2024-01-01T24:00:00.000001Z", "after 24:00:00"),
        ("2024-01-01T25:00:00Z", "after 24:00:00"),
        ("2024-01-01T00:60:00Z", "no minute 60"),
        ("2024-01-01T00:00:61Z", "no second 61"),
        ("2024-01-01T00:00:00+14:01", "no zone +14:01"),
        ("2024-01-01T00:00:00-15:00", "no zone -15:00"),
        ("2024-01-01T00:00:00+13:60", "no zone +13:60"),
        ("2024-01-01T00:00:00+0500", "not an xsd:dateTime"),
        ("2024-01-01T00:00:00.Z", "not an xsd:dateTime"),
        ("20240101T00:00:00Z", "no hyphens"),
        ("2024-01-01T00:00Z", "not an xsd:dateTime"),
        ("2024-01-01", "not an xsd:dateTime"),
        ("2024", "not an xsd:dateTime"),
        ("٢٠٢٤-01-01T00:00:00Z", "not an xsd:dateTime"),
        ("2024-0١-01T00:00:00Z", "not an xsd:dateTime"),
        ("2024-01-01T00:00:00+0٥:00", "not an xsd:dateTime"),
        ("now", "not an xsd:dateTime"),
        ("zzz", "not an xsd:dateTime"),
        ("44 BCE", "an era"),
        ("06.05.2024", "does not come first"),
    ],
)
def test_refusals_name_field_and_reason_and_say_what_to_do(text: str, reason: str) -> None:
    error = refusal(text)
    assert reason in error.message
    assert error.where == "validFrom"
    assert error.code == "invalid-time"
    assert error.remedy


NEARLY = st.text(alphabet="0123456789-+:.TZtz #", max_size=32)


@given(st.one_of(st.text(max_size=30), NEARLY))
def test_other_text_is_read_or_refused_and_never_breaks(text: str) -> None:
    try:
        instant = parse_instant(text)
    except InvalidTime:
        return
    assert parse_instant(print_instant(instant)) == instant


def test_a_long_text_is_cut_short_in_the_message() -> None:
    assert len(refusal("2024-01-01T00:00:00." + "1" * 100_000).message) < 200


# --- zones that a request names ------------------------------------------------------------------


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)), st.integers(-840, 840))
def test_a_named_zone_reads_as_if_it_were_written(naive: datetime, minutes: int) -> None:
    text = naive.isoformat()
    written = parse_instant(text + written_offset(minutes))
    assert parse_instant(text, zone=minutes) == written
    assert parse_instant(text, zone=written_offset(minutes)) == written
    assert written == parse_instant(text, zone="Z") - minutes * MINUTE


def test_a_written_zone_wins_over_the_named_one() -> None:
    assert parse_instant("2024-01-01T00:00:00Z", zone="+05:00") == parse_instant("2024-01-01T00:00:00Z")


@pytest.mark.parametrize("zone", ["", "z", "UTC", "Europe/Paris", "05:00", "+5:00", "+14:01", 841, -841])
def test_an_unusable_zone_is_refused_as_the_zone(zone: int | str) -> None:
    error = refusal("2024-01-01T00:00:00", zone=zone)
    assert error.where == "zone"


@given(st.integers(-840, 840))
def test_printed_offsets_read_back(minutes: int) -> None:
    assert parse_zone(print_offset(minutes)) == minutes


# --- cases ---------------------------------------------------------------------------------------


def test_case_23_an_offset_and_utc_are_the_same_instant() -> None:
    east = parse_instant("2024-01-01T00:00:00+05:00")
    assert east == parse_instant("2023-12-31T19:00:00Z")
    assert print_instant(east) == "2023-12-31T19:00:00Z"


def test_case_24_a_time_without_zone_is_refused_naming_the_field() -> None:
    error = refusal("2024-01-01T00:00:00")
    assert error.where == "validFrom"
    assert "no time zone" in error.message
    assert error.remedy == "end it with Z or an offset such as +02:00"


def test_case_24_a_time_without_zone_is_read_in_the_zone_of_the_request() -> None:
    assert parse_instant("2024-01-01T00:00:00", zone="+05:00") == parse_instant("2023-12-31T19:00:00Z")


def test_case_28_the_ides_of_march_of_44_bce() -> None:
    ides = parse_instant("-0043-03-15T00:00:00Z")
    assert print_instant(ides) == "-0043-03-15T00:00:00Z"
    assert parse_instant("-0044-03-15T00:00:00Z") < ides < parse_instant("-0042-03-15T00:00:00Z")
    # Two thousand years are five whole cycles of the calendar.
    assert parse_instant("1957-03-15T00:00:00Z") - ides == 5 * 146_097 * DAY


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2016-12-31T23:59:60Z", "leap seconds"),
        ("2024-02-30T00:00:00Z", "2024-02 has no day 30"),
        ("2024-01-01T00:00:00.1234567Z", "more than six fractional digits"),
        ("2024-01-01T00:00:00.1000000Z", "more than six fractional digits"),
    ],
)
def test_case_29_impossible_times_are_refused_with_the_reason(text: str, reason: str) -> None:
    assert reason in refusal(text).message


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("2024-02-28T24:00:00Z", "2024-02-29T00:00:00Z"),
        ("2024-12-31T24:00:00Z", "2025-01-01T00:00:00Z"),
        ("-0001-12-31T24:00:00.0Z", "0000-01-01T00:00:00Z"),
    ],
)
def test_case_29_24_00_is_the_start_of_the_next_day(text: str, start: str) -> None:
    assert print_instant(parse_instant(text)) == start


def test_case_30_trailing_zeros_are_the_same_instant() -> None:
    assert parse_instant("2024-01-01T00:00:00.100000Z") == parse_instant("2024-01-01T00:00:00.1Z")
    assert print_instant(parse_instant("2024-01-01T00:00:00.100000Z")) == "2024-01-01T00:00:00.1Z"
