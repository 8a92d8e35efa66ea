from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.errors import Blame, ClockAhead
from kernel.time.instants import SECOND, Instant, parse_instant
from kernel.time.transaction_clock import next_instant, refuse_if_ahead

NOW = parse_instant("2024-05-06T12:00:00Z")
HOUR = 3_600 * SECOND


def given_out(host_times: list[int]) -> list[Instant]:
    """The instants that successive applies get, the host's clock reading so at each."""
    instants: list[Instant] = []
    for host_now in host_times:
        instants.append(next_instant(instants[-1] if instants else None, Instant(host_now)))
    return instants


@given(st.lists(st.integers(NOW - 5, NOW + 5), max_size=20))
def test_clock_monotonic(host_times: list[int]) -> None:
    instants = given_out(host_times)
    assert all(earlier < later for earlier, later in pairwise(instants))
    assert all(host_now <= instant for host_now, instant in zip(host_times, instants, strict=True))


@given(st.sets(st.integers(NOW - 1_000, NOW + 1_000)))
def test_a_clock_that_runs_forward_is_followed_exactly(host_times: set[int]) -> None:
    assert given_out(sorted(host_times)) == sorted(host_times)


def test_case_31_the_host_steps_back_an_hour_and_transaction_times_still_increase() -> None:
    assert given_out([NOW, NOW - HOUR, NOW - HOUR, NOW + 7]) == [NOW, NOW + 1, NOW + 2, NOW + 7]


@pytest.mark.parametrize("ahead", [-HOUR, 0, 5 * SECOND])
def test_writes_start_when_the_last_instant_is_at_most_five_seconds_ahead(ahead: int) -> None:
    refuse_if_ahead(Instant(NOW + ahead), NOW, accept=False)


def test_writes_start_on_an_empty_base() -> None:
    refuse_if_ahead(None, NOW, accept=False)


def test_writes_do_not_start_when_the_last_instant_is_further_ahead() -> None:
    with pytest.raises(ClockAhead) as caught:
        refuse_if_ahead(Instant(NOW + 5 * SECOND + 1), NOW, accept=False)
    assert caught.value.blame is Blame.OURS
    assert "2024-05-06T12:00:05.000001Z" in caught.value.message
    assert "--accept-clock" in caught.value.remedy


def test_the_operator_may_accept_it() -> None:
    refuse_if_ahead(Instant(NOW + HOUR), NOW, accept=True)
