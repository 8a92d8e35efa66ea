from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kernel.time.gregorian import civil_from_days, days_from_civil, days_in_month

EPOCH = date(1970, 1, 1)
FOUR_CENTURIES = 146_097


@given(st.dates())
def test_day_numbers_are_those_of_datetime(day: date) -> None:
    number = (day - EPOCH).days
    assert days_from_civil(day.year, day.month, day.day) == number
    assert civil_from_days(number) == (day.year, day.month, day.day)


@given(st.dates(), st.integers(-800, 800))
def test_the_calendar_repeats_every_four_hundred_years(day: date, cycles: int) -> None:
    number = (day - EPOCH).days + cycles * FOUR_CENTURIES
    year = day.year + cycles * 400
    assert days_from_civil(year, day.month, day.day) == number
    assert civil_from_days(number) == (year, day.month, day.day)


def test_every_day_around_year_0_follows_the_one_before() -> None:
    first = days_from_civil(-401, 1, 1)
    seen = [civil_from_days(number) for number in range(first, days_from_civil(401, 1, 1))]
    expected = [
        (year, month, day)
        for year in range(-401, 401)
        for month in range(1, 13)
        for day in range(1, days_in_month(year, month) + 1)
    ]
    assert seen == expected


@given(st.dates(max_value=date(9998, 12, 1)))
def test_months_are_as_long_as_in_datetime(day: date) -> None:
    first = day.replace(day=1)
    following = (first + timedelta(days=32)).replace(day=1)
    assert days_in_month(day.year, day.month) == (following - first).days
