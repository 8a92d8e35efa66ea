"""Day numbers of the proleptic Gregorian calendar.

Rules
-----
* A day number counts days from 1970-01-01, which is 0; it may be negative.
* Years are those of XSD 1.1: 0 is 1 BCE, -1 is 2 BCE. Every year has Gregorian leap days, also before 1582.
* The arithmetic is the published days-from-civil scheme: a year is taken to begin in March, so that the leap day is its
  last, and Python's floor division makes one formula serve both sides of year 0.

Example
-------
>>> days_from_civil(2000, 3, 1), civil_from_days(11_017)
(11017, (2000, 3, 1))
"""

from __future__ import annotations

_MARCH_FIRST_YEAR_0 = -719_468
"""Day number of 0000-03-01, where the March-based count starts."""

_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def days_in_month(year: int, month: int) -> int:
    """How many days a month (1 to 12) has."""
    if month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        return 29
    return _LENGTHS[month - 1]


def days_from_civil(year: int, month: int, day: int) -> int:
    """The day number of a calendar date that exists; what does not exist is not noticed here."""
    if month > 2:
        month -= 3
    else:
        month += 9
        year -= 1
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 1 + _MARCH_FIRST_YEAR_0


def civil_from_days(number: int) -> tuple[int, int, int]:
    """The (year, month, day) of a day number."""
    era, day_of_era = divmod(number - _MARCH_FIRST_YEAR_0, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    year = era * 400 + year_of_era
    return (year, month + 3, day) if month < 10 else (year + 1, month - 9, day)
