"""How long the script stood still."""

from __future__ import annotations

from dlprof.launch.stops import Stop, Stops


def test_a_stop_lasts_until_the_script_goes_on() -> None:
    """By what the kernel told."""
    stops = Stops()
    stops.stopped(19, 2_000)
    stands = stops.stands
    stops.continued(6_900, 7_000)

    assert (stands, stops.stands, stops.over) == (True, False, [Stop(2_000, 7_000, 19)])


def test_of_a_stop_that_was_not_told_only_a_part_is_known() -> None:
    """Dlprof stood too: what stopped the script, and when within the wait for the next look, is not known."""
    stops = Stops()
    stops.continued(1_000, 6_000)

    assert stops.over == [Stop(1_000, 6_000, None, is_least=True)]


def test_a_script_that_ends_while_it_stands_stood_until_then() -> None:
    """SIGKILL ends what is stopped."""
    stops = Stops()
    stops.stopped(20, 2_000)
    stops.ended(5_000)
    stops.ended(6_000)

    assert stops.over == [Stop(2_000, 5_000, 20)]


def test_a_second_signal_does_not_begin_another_stop() -> None:
    """The last that stopped it is told."""
    stops = Stops()
    stops.stopped(20, 2_000)
    stops.stopped(19, 3_000)
    stops.continued(4_000, 4_000)

    assert stops.over == [Stop(2_000, 4_000, 19)]
