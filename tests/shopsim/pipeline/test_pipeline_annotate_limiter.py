"""The rate of all workers: even starts, one pause a wave, half the rate from the second wave on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shopsim.pipeline.annotate.limiter import COOLING_SECONDS, Limiter, Turn


def start(limiter: Limiter, now: float) -> tuple[Turn, float]:
    """Wait as long as it takes; the turn and when it came."""
    while (turn := limiter.take(now)).wait:
        now += turn.wait
    return turn, now


def test_starts_are_even_and_the_first_is_at_once() -> None:
    limiter, now, starts = Limiter(32), 100.0, []
    for _ in range(4):
        _, now = start(limiter, now)
        starts.append(now)
    assert starts == [100.0, 101.875, 103.75, 105.625]


def test_idle_time_is_not_made_up_for() -> None:
    limiter = Limiter(60)
    start(limiter, 0.0)
    assert start(limiter, 500.0)[1] == 500.0
    assert start(limiter, 500.0)[1] == 501.0


def test_a_refusal_pauses_everybody_once_a_wave() -> None:
    limiter = Limiter(32)
    turns = [start(limiter, second)[0] for second in (0.0, 2.0, 4.0)]
    for second, turn in zip((5.0, 6.0, 200.0), turns, strict=True):
        limiter.refused(turn, second, None)
    assert (limiter.waves, limiter.per_minute) == (1, 32)
    assert start(limiter, 6.0)[1] == 5.0 + COOLING_SECONDS == 70.0


@pytest.mark.parametrize(
    ("asked", "until"), [(None, 66.0), (7.0, 8.0), (300.0, 301.0), (0.0, 1.875), (-5.0, 1.875)]
)
def test_the_endpoint_may_say_how_long(asked: float | None, until: float) -> None:
    limiter = Limiter(32)
    turn, _ = start(limiter, 0.0)
    limiter.refused(turn, 1.0, asked)
    assert start(limiter, 1.0)[1] == until


def test_from_the_second_wave_on_the_rate_is_halved_but_not_under_one() -> None:
    limiter, now, rates = Limiter(20), 0.0, []
    for _ in range(7):
        turn, now = start(limiter, now)
        limiter.refused(turn, now, None)
        rates.append(limiter.per_minute)
    assert rates == [20, 10, 5, 2.5, 1.25, 1, 1]
    assert limiter.waves == 7


def test_after_a_pause_the_starts_are_even_again() -> None:
    limiter = Limiter(32)
    turn, _ = start(limiter, 0.0)
    limiter.refused(turn, 0.0, None)
    starts = [start(limiter, 0.0)[1] for _ in range(3)]
    assert starts == [65.0, 66.875, 68.75]


events = st.lists(
    st.tuples(
        st.floats(0.001, 30),  # seconds that pass
        st.booleans(),  # whether one of the requests under way is refused
        st.integers(0, 50),  # which
        st.one_of(st.none(), st.floats(0, 120)),  # Retry-After
    ),
    max_size=60,
)


@given(rate=st.integers(1, 60), events=events)
def test_no_minute_holds_more_starts_than_the_rate_and_no_pause_any(
    rate: int, events: list[tuple[float, bool, int, float | None]]
) -> None:
    limiter, now = Limiter(rate), 0.0
    starts: list[float] = []
    under_way: list[Turn] = []
    pauses: list[tuple[float, float]] = []
    waves = 0
    for passed, refused, which, retry_after in events:
        now += passed
        if refused and under_way:
            turn = under_way.pop(which % len(under_way))
            limiter.refused(turn, now, retry_after)
            assert limiter.waves == waves + (turn.wave == waves), "one pause a wave"
            if limiter.waves > waves:
                pauses.append((now, now + (COOLING_SECONDS if retry_after is None else retry_after)))
            waves = limiter.waves
        turn = limiter.take(now)
        if not turn.wait:
            starts.append(now)
            under_way.append(turn)
    for first in starts:
        assert sum(first <= second < first + 60 - 1e-6 for second in starts) <= rate
    assert not [at for at in starts for begin, end in pauses if begin <= at < end]
    assert limiter.per_minute == max(1.0, rate / 2 ** max(0, waves - 1))
