from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kernel.errors import InvalidInterval, InvalidTime
from kernel.time.instants import BEGINNING, EARLIEST, FOREVER, LATEST, Instant, Zone, parse_instant, print_instant
from kernel.time.timevalues import (
    NO_END,
    NO_START,
    Bound,
    Precision,
    TimeValue,
    exact,
    interval_between,
    parse_point,
    parse_time,
    spell_end,
    spell_start,
    valid_from,
    valid_through,
    valid_to,
)
from tests.kernel.time_strategies import Written, instants, times

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOON = parse_instant("2024-05-06T12:00:00Z")

zones = st.one_of(st.integers(-840, 840), st.sampled_from(("Z", "+05:30", "-12:00")))


def refusal(text: str, zone: Zone = None) -> InvalidTime:
    with pytest.raises(InvalidTime) as caught:
        parse_time(text, field="validFrom", zone=zone)
    return caught.value


def at(day: date) -> int:
    return (datetime(day.year, day.month, day.day, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


# --- values --------------------------------------------------------------------------------------


@given(st.dates(max_value=date(9998, 12, 31)))
def test_days_months_and_years_cover_what_datetime_says(day: date) -> None:
    month = day.replace(day=1)
    year = month.replace(month=1)
    assert parse_time(day.isoformat()) == TimeValue(
        Instant(at(day)), Instant(at(day + timedelta(days=1))), Precision.DAY, day.isoformat()
    )
    text = f"{day:%m}".join((f"{day.year:04d}-", ""))
    following = (month + timedelta(days=32)).replace(day=1)
    assert parse_time(text) == TimeValue(Instant(at(month)), Instant(at(following)), Precision.MONTH, text)
    text = f"{day.year:04d}"
    following = year.replace(year=year.year + 1)
    assert parse_time(text) == TimeValue(Instant(at(year)), Instant(at(following)), Precision.YEAR, text)


@given(instants)
def test_an_instant_covers_one_microsecond(instant: Instant) -> None:
    value = parse_time(print_instant(instant))
    assert (value.first, value.after, value.precision) == (instant, instant + 1, Precision.INSTANT)


@pytest.mark.parametrize("text", ["unknown", "####"])
def test_unknown_covers_everything(text: str) -> None:
    assert parse_time(text) == TimeValue(BEGINNING, FOREVER, Precision.UNKNOWN, text)


@given(times(), zones)
def test_a_spelling_reads_the_same_without_the_zone_of_the_request(written: Written, zone: int | str) -> None:
    value = parse_time(written.text, zone=zone)
    assert parse_time(value.spelling) == value
    assert value.spelling.startswith(written.text)


@pytest.mark.parametrize(
    ("text", "zone", "first"),
    [
        ("2024-05-06", None, "2024-05-06T00:00:00Z"),
        ("2024-05-06", "+05:00", "2024-05-05T19:00:00Z"),
        ("2024-05-06Z", "+05:00", "2024-05-06T00:00:00Z"),
        ("2024-05-06-03:00", None, "2024-05-06T03:00:00Z"),
        ("2024-05-03:00", None, "2024-05-01T03:00:00Z"),
        ("2024-05", None, "2024-05-01T00:00:00Z"),
        ("2024-05:00", None, "2024-01-01T05:00:00Z"),
        ("2024+14:00", None, "2023-12-31T10:00:00Z"),
        ("199#+01:00", None, "1989-12-31T23:00:00Z"),
        ("18##Z", None, "1800-01-01T00:00:00Z"),
        ("18##", -60, "1800-01-01T01:00:00Z"),
        ("0000", None, "0000-01-01T00:00:00Z"),
    ],
)
def test_a_point_is_the_first_instant_in_its_zone(text: str, zone: Zone, first: str) -> None:
    assert print_instant(parse_point(text, zone=zone)) == first


def test_an_unknown_time_is_no_point() -> None:
    with pytest.raises(InvalidTime, match="no point") as caught:
        parse_point("unknown", field="valid-at")
    assert caught.value.where == "valid-at"


def test_what_could_be_given_instead_of_an_unreadable_time_would_be_taken() -> None:
    with pytest.raises(InvalidTime) as caught:
        parse_point("yesterday", field="valid-at")
    assert "2024-05-06" in caught.value.remedy
    assert "unknown" not in caught.value.remedy
    with pytest.raises(InvalidTime) as caught:
        valid_from("yesterday")
    assert "unknown" in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("987", "four digits"),
        ("-405", "four digits"),
        ("+2024", "plus sign"),
        ("02024", "leading zero"),
        ("-0000", "no year -0000"),
        ("-0000-01", "no year -0000"),
        ("2024-13", "no month 13"),
        ("2024-00-01", "no month 00"),
        ("2023-02-29", "no day 29"),
        ("2024-05-06z", "upper case"),
        ("2024-05-06 ", "white space"),
        ("2024-05-06+15:00", "no zone +15:00"),
        ("290001", "beyond"),
        ("29000#", "beyond"),
        ("1000000", "beyond"),
        ("-290000+00:01", "beyond"),
        ("2024-05-06T12:00:00", "no time zone"),
        ("19#", "not a time"),
        ("1###", "not a time"),
        ("-####", "not a time"),
        ("####Z", "not a time"),
        ("01234#", "leading zero"),
        ("199#-05", "not a time"),
        ("199x", "four digits"),
        ("2024-5-6", "not a time"),
        ("2024-W05", "not a time"),
        ("2024-0١", "not a time"),
        ("19٩#", "four digits"),
        ("20240506", "no hyphens"),
        ("202405061", "beyond"),
        ("unbounded", "not a time"),
        ("Unknown", "not a time"),
    ],
)
def test_refusals_name_field_and_reason_and_say_what_to_do(text: str, reason: str) -> None:
    error = refusal(text)
    assert reason in error.message
    assert error.where == "validFrom"
    assert error.remedy


@given(st.text(alphabet="0123456789-+:.TZtz #", max_size=32))
def test_other_text_is_read_or_refused_and_never_breaks(text: str) -> None:
    try:
        value = parse_time(text)
    except InvalidTime:
        return
    assert value.first < value.after


# --- bounds --------------------------------------------------------------------------------------


@given(times(), st.none() | zones)
def test_the_bounds_are_the_first_instant_and_the_one_after(written: Written, zone: Zone) -> None:
    assume(written.zoned or zone is not None or "T" not in written.text)
    value = parse_time(written.text, zone=zone)
    known = value.precision is not Precision.UNKNOWN
    assert valid_from(written.text, zone=zone).instant == value.first
    assert valid_to(written.text, zone=zone).instant == (value.first if known else FOREVER)
    assert valid_through(written.text, zone=zone).instant == value.after


@given(times(), zones)
def test_a_start_comes_back_as_submitted(written: Written, zone: int | str) -> None:
    start = valid_from(written.text, zone=zone)
    assert spell_start(start) == parse_time(written.text, zone=zone).spelling
    assert valid_from(spell_start(start)) == start


@given(times(), zones)
def test_an_end_comes_back_as_submitted_under_the_member_it_was_given_as(written: Written, zone: int | str) -> None:
    value = parse_time(written.text, zone=zone)
    exclusive = valid_to(written.text, zone=zone)
    inclusive = valid_through(written.text, zone=zone)
    assert spell_end(exclusive) == ("validTo", value.spelling)
    assert valid_to(value.spelling) == exclusive
    if value.precision is not Precision.UNKNOWN:
        assert spell_end(inclusive) == ("validThrough", value.spelling)
        assert valid_through(value.spelling) == inclusive


@pytest.mark.parametrize(
    "bound",
    [
        valid_from("2024-01-01T00:00:00.1Z"),
        valid_from("2024-05-06"),
        valid_from("2024-05+05:00"),
        valid_from("-004#"),
        valid_from("unknown"),
        valid_to("2024-01-01T00:00:00Z"),
        valid_through("2024-05-06"),
        valid_through("2024-05+05:00"),
        valid_through("2024"),
        valid_through("18##"),
        valid_to("unknown"),
    ],
)
def test_common_forms_keep_no_spelling(bound: Bound) -> None:
    assert bound.spelling is None


@pytest.mark.parametrize(
    ("bound", "spelling"),
    [
        (valid_from("2024-01-01T00:00:00.100Z"), "2024-01-01T00:00:00.100Z"),
        (valid_from("2024-05-06Z"), "2024-05-06Z"),
        (valid_from("2024-05-06+13:00"), "2024-05-06+13:00"),
        (valid_from("2024-01-01T00:00:00", zone="+01:00"), "2024-01-01T00:00:00+01:00"),
        (valid_to("2024-05-06"), "2024-05-06"),
        (valid_through("2024-05-06T00:00:00Z"), "2024-05-06T00:00:00Z"),
        (valid_to("####"), "####"),
    ],
)
def test_other_forms_keep_theirs(bound: Bound, spelling: str) -> None:
    assert bound.spelling == spelling


def test_nothing_is_unbounded_and_unknown_is_not() -> None:
    assert (valid_from(None), valid_to(None), valid_through(None)) == (NO_START, NO_END, NO_END)
    assert (valid_from("unbounded"), valid_to("unbounded"), valid_through("unbounded")) == (NO_START, NO_END, NO_END)
    assert (spell_start(NO_START), spell_end(NO_END)) == (None, None)
    assert valid_from("unknown") == Bound(BEGINNING, Precision.UNKNOWN, None)
    assert valid_to("unknown") == valid_through("unknown") == Bound(FOREVER, Precision.UNKNOWN, None)
    assert valid_to("unknown") != NO_END


def test_an_unknown_end_reads_as_still_valid() -> None:
    assert interval_between(valid_from("2020"), valid_to("unknown"), field="validTo").contains(LATEST)


def test_an_exact_bound_is_spelled_as_its_instant() -> None:
    assert spell_start(exact(NOON)) == "2024-05-06T12:00:00Z"
    assert spell_end(exact(NOON)) == ("validTo", "2024-05-06T12:00:00Z")


def test_the_ends_of_the_line() -> None:
    assert valid_from("-290000").instant == EARLIEST
    assert spell_end(Bound(EARLIEST, Precision.YEAR, None)) == ("validTo", "-290000")
    assert valid_to(print_instant(LATEST)).instant == LATEST
    with pytest.raises(InvalidTime, match="beyond"):
        valid_through("290000")


@pytest.mark.parametrize(
    ("instant", "precision", "spelling"),
    [
        (BEGINNING, Precision.INSTANT, None),
        (FOREVER, Precision.DAY, None),
        (LATEST + 1, Precision.YEAR, None),
        (NOON, Precision.UNKNOWN, None),
        (NOON, Precision.UNBOUNDED, None),
        (NOON, Precision.INSTANT, "2024-05-06T12:00:01Z"),
        (NOON, Precision.DAY, "2024-05-06"),
        (NOON, Precision.DAY, "2024-05-06T12:00:00Z"),
        (FOREVER, Precision.UNBOUNDED, "unknown"),
    ],
)
def test_a_bound_whose_parts_do_not_fit_cannot_be_built(
    instant: int, precision: Precision, spelling: str | None
) -> None:
    with pytest.raises(ValueError, match="not a bound"):
        Bound(Instant(instant), precision, spelling)


@pytest.mark.parametrize(
    ("first", "after", "precision"),
    [(NOON, NOON, Precision.INSTANT), (NOON + 1, NOON, Precision.DAY), (NOON, NOON + 1, Precision.UNBOUNDED)],
)
def test_a_value_that_covers_nothing_cannot_be_built(first: int, after: int, precision: Precision) -> None:
    with pytest.raises(ValueError, match="not a time value"):
        TimeValue(Instant(first), Instant(after), precision, "2024")


# --- cases ---------------------------------------------------------------------------------------


def test_case_23_the_offset_comes_back_on_export() -> None:
    start = valid_from("2024-01-01T00:00:00+05:00")
    assert start.instant == valid_from("2023-12-31T19:00:00Z").instant
    assert spell_start(start) == "2024-01-01T00:00:00+05:00"


def test_case_24_a_date_is_not_a_naive_time() -> None:
    assert "no time zone" in refusal("2024-01-01T00:00:00").message
    assert valid_from("2024-01-01").instant == parse_instant("2024-01-01T00:00:00Z")


def test_case_25_one_day_with_valid_to_is_empty_and_points_at_valid_through() -> None:
    with pytest.raises(InvalidInterval, match="empty") as caught:
        interval_between(valid_from("2026-05-06"), valid_to("2026-05-06"), field="validTo")
    assert caught.value.where == "validTo"
    assert "validThrough" in caught.value.remedy


def test_case_25_one_day_with_valid_through_holds_in_the_afternoon() -> None:
    day = interval_between(valid_from("2026-05-06"), valid_through("2026-05-06"), field="validThrough")
    assert day.contains(parse_point("2026-05-06T15:00:00Z"))
    assert not day.contains(parse_point("2026-05-07"))


def test_case_26_an_inverted_interval_is_refused() -> None:
    with pytest.raises(InvalidInterval, match="inverted") as caught:
        interval_between(valid_from("2024"), valid_through("2022"), field="validThrough")
    assert caught.value.where == "validThrough"


def test_case_28_the_ides_of_march_come_back_on_export() -> None:
    assert spell_start(valid_from("-0043-03-15")) == "-0043-03-15"
    assert spell_end(valid_through("-0043-03-15")) == ("validThrough", "-0043-03-15")
    assert parse_point("-0043-03-15") < parse_point("-0042") < parse_point("0000") < parse_point("0001")


@pytest.mark.parametrize("text", ["2016-12-31T23:59:60Z", "2024-02-30", "2024-01-01T00:00:00.1234567Z"])
def test_case_29_impossible_times_are_refused(text: str) -> None:
    assert refusal(text).where == "validFrom"


def test_case_30_the_submitted_spelling_comes_back() -> None:
    long, short = valid_from("2024-01-01T00:00:00.100000Z"), valid_from("2024-01-01T00:00:00.1Z")
    assert long.instant == short.instant
    assert spell_start(long) == "2024-01-01T00:00:00.100000Z"
    assert spell_start(short) == "2024-01-01T00:00:00.1Z"
