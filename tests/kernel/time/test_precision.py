import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kernel.time.gregorian import days_from_civil
from kernel.time.instants import DAY, EARLIEST, LATEST, Instant, parse_instant
from kernel.time.precision import COARSE, Precision, canonical_spelling
from kernel.time.timevalues import parse_time
from tests.kernel.time_strategies import Written, calendar_values, instants, written_year

coarse = st.sampled_from(sorted(COARSE))
finite = st.sampled_from(sorted(COARSE | {Precision.INSTANT}))


def start_of_year(year: int) -> int:
    return days_from_civil(year, 1, 1) * DAY


@pytest.mark.parametrize(("length", "hashes"), [(1, "#"), (2, "##")])
def test_decades_and_centuries_cover_the_years_written_with_their_digits(length: int, hashes: str) -> None:
    years_of: dict[str, list[int]] = {}
    for year in [*range(-10_299, -9_799), *range(-1_199, 1_200), *range(9_800, 10_200)]:
        years_of.setdefault(written_year(year)[:-length] + hashes, []).append(year)
    for text, years in years_of.items():
        value = parse_time(text)
        assert value.first == start_of_year(min(years))
        assert value.after == start_of_year(max(years) + 1)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("199#", 1990, 1999),
        ("18##", 1800, 1899),
        ("000#", 0, 9),
        ("-000#", -9, -1),
        ("-004#", -49, -40),
        ("-00##", -99, -1),
        ("-04##", -499, -400),
        ("1234#", 12340, 12349),
    ],
)
def test_years_of_decades_and_centuries(text: str, first: int, last: int) -> None:
    assert parse_time(text).first == start_of_year(first)
    assert parse_time(text).after == start_of_year(last + 1)


@given(calendar_values(), st.booleans())
def test_a_calendar_value_comes_back_from_either_of_its_bounds(written: Written, inclusive: bool) -> None:
    value = parse_time(written.text)
    text = canonical_spelling(value.after if inclusive else value.first, value.precision, inclusive=inclusive)
    assert text is not None
    read = parse_time(text)
    assert (read.after if inclusive else read.first) == (value.after if inclusive else value.first)
    assert read.precision in {value.precision, Precision.INSTANT}


@given(calendar_values())
def test_a_value_in_utc_or_without_zone_is_canonical_without_one(written: Written) -> None:
    bare = written.text.removesuffix("Z")
    value = parse_time(bare)
    if parse_time(bare, zone="+01:00") != value:  # it has no zone of its own
        assert canonical_spelling(value.first, value.precision, inclusive=False) == bare
        assert canonical_spelling(value.after, value.precision, inclusive=True) == bare


@given(instants.filter(lambda instant: instant > EARLIEST), finite, st.booleans())
@example(LATEST, Precision.CENTURY, False)
@example(Instant(start_of_year(-289_999)), Precision.YEAR, True)
@example(Instant(start_of_year(-289_999)), Precision.DECADE, True)
def test_the_instant_is_never_lost(instant: Instant, precision: Precision, inclusive: bool) -> None:
    text = canonical_spelling(instant, precision, inclusive=inclusive)
    assert text is not None
    value = parse_time(text)
    assert instant == (value.after if inclusive else value.first)


@pytest.mark.parametrize(
    ("offset", "canonical"),
    [
        ("Z", "2024-05"),
        ("+00:00", "2024-05"),
        ("+05:30", "2024-05+05:30"),
        ("+12:00", "2024-05+12:00"),
        ("-11:59", "2024-05-11:59"),
    ],
)
def test_the_zone_of_a_calendar_value_is_recovered(offset: str, canonical: str) -> None:
    first = parse_time("2024-05" + offset).first
    assert canonical_spelling(first, Precision.MONTH, inclusive=False) == canonical


@pytest.mark.parametrize("inclusive", [False, True])
def test_unknown_is_spelled_and_unbounded_is_not(inclusive: bool) -> None:
    anywhere = parse_instant("2024-01-01T00:00:00Z")
    assert canonical_spelling(anywhere, Precision.UNKNOWN, inclusive=inclusive) == "unknown"
    assert canonical_spelling(anywhere, Precision.UNBOUNDED, inclusive=inclusive) is None
