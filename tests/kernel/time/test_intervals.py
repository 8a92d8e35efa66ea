from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.errors import InvalidInterval
from kernel.time.instants import BEGINNING, FOREVER, LATEST, parse_instant
from kernel.time.intervals import ALWAYS, Interval, elementary, gaps, remainders

LINE = range(-2, 16)


@st.composite
def short_intervals(draw: st.DrawFn) -> Interval:
    start = draw(st.integers(0, 12))
    return Interval(start, draw(st.integers(start + 1, 13)))


def points(*intervals: Interval) -> set[int]:
    """The naive model: the set of instants held."""
    return {point for interval in intervals for point in range(interval.start, interval.end)}


def in_order_and_disjoint(intervals: list[Interval]) -> bool:
    return all(one.end <= following.start for one, following in pairwise(intervals))


@given(short_intervals())
def test_contains_what_it_covers(interval: Interval) -> None:
    assert {point for point in LINE if interval.contains(point)} == points(interval)


@given(short_intervals(), short_intervals())
def test_overlap_and_intersection_are_those_of_sets(one: Interval, other: Interval) -> None:
    both = points(one) & points(other)
    assert one.overlaps(other) == bool(both)
    common = one.intersect(other)
    assert (points(common) if common else set()) == both


@given(short_intervals(), st.lists(short_intervals(), max_size=6))
def test_gaps_are_what_is_not_covered(interval: Interval, covered: list[Interval]) -> None:
    found = gaps(interval, covered)
    assert points(*found) == points(interval) - points(*covered)
    assert all(one.end < following.start for one, following in pairwise(found)), "each gap is whole"


@given(short_intervals(), short_intervals())
def test_remainders_are_what_is_left(held: Interval, cut: Interval) -> None:
    left = remainders(held, cut)
    assert points(*left) == points(held) - points(cut)
    assert len(left) <= 2
    assert in_order_and_disjoint(left)


@given(st.lists(short_intervals(), max_size=6))
def test_elementary_parts_cut_the_union_at_every_boundary(intervals: list[Interval]) -> None:
    parts = elementary(intervals)
    assert points(*parts) == points(*intervals)
    assert in_order_and_disjoint(parts)
    boundaries = {end for interval in intervals for end in (interval.start, interval.end)}
    assert {end for part in parts for end in (part.start, part.end)} == boundaries
    for part in parts:
        holders = {tuple(interval.contains(point) for interval in intervals) for point in points(part)}
        assert len(holders) == 1


def test_the_whole_line() -> None:
    middle = Interval(0, 10)
    assert ALWAYS.contains(BEGINNING)
    assert ALWAYS.contains(LATEST)
    assert not ALWAYS.contains(FOREVER)
    assert ALWAYS.intersect(middle) == middle
    assert remainders(ALWAYS, middle) == [Interval(BEGINNING, 0), Interval(10, FOREVER)]
    assert remainders(middle, ALWAYS) == []


def test_adjacent_intervals_do_not_overlap_and_are_not_fused() -> None:
    one, following = Interval(0, 5), Interval(5, 9)
    assert not one.overlaps(following)
    assert elementary([one, following]) == [one, following]


@pytest.mark.parametrize(("start", "end"), [(BEGINNING - 1, 0), (0, FOREVER + 1)])
def test_an_interval_stays_on_the_line(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="leaves the time line"):
        Interval(start, end)


def test_case_25_an_empty_interval_points_at_valid_through() -> None:
    day = parse_instant("2026-05-06T00:00:00Z")
    with pytest.raises(InvalidInterval, match="2026-05-06T00:00:00Z") as caught:
        Interval(day, day)
    assert "validThrough" in caught.value.remedy
    assert caught.value.data == {"start": "2026-05-06T00:00:00Z", "end": "2026-05-06T00:00:00Z"}


def test_case_26_the_start_is_inclusive_and_the_end_exclusive_to_the_microsecond() -> None:
    start, end = parse_instant("2024-01-01T00:00:00Z"), parse_instant("2024-01-02T00:00:00Z")
    interval = Interval(start, end)
    assert not interval.contains(start - 1)
    assert interval.contains(start)
    assert interval.contains(end - 1)
    assert not interval.contains(end)


@given(st.integers(-20, 20), st.integers(0, 20))
def test_case_26_empty_and_inverted_intervals_are_refused(start: int, back: int) -> None:
    with pytest.raises(InvalidInterval, match="inverted" if back else "empty") as caught:
        Interval(start, start - back)
    assert caught.value.code == "invalid-interval"


@pytest.mark.parametrize(("start", "end"), [(0, BEGINNING), (FOREVER, 0), (FOREVER, FOREVER)])
def test_case_26_also_at_the_ends_of_the_line(start: int, end: int) -> None:
    with pytest.raises(InvalidInterval, match="no bound"):
        Interval(start, end)
