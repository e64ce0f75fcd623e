"""Where the program asks for values of the device."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pytest
from dlprof_probes.inproc import syncs
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Clock, Recorded

MS = 1_000_000


class Tensor:
    """Its value takes 2 ms."""

    def __init__(self, now: Clock) -> None:
        self._now = now

    def item(self, scale: int = 1) -> int:
        """The value."""
        self._now.ns += 2 * MS
        if not scale:
            raise ValueError("no scale")
        return 7 * scale


def watched(probe: Probe, now: Clock) -> Any:
    """A tensor of a class of its own whose `item` is counted."""
    made = type("Own", (Tensor,), {})
    probe.syncs.watch(made, (("item", "item()"),))
    return made(now)


def told(out: Recorded, probe: Probe) -> list[tuple[Any, ...]]:
    """What, calls, and time (ms) of each place, in the order in which they came."""
    probe.syncs.finish()
    return [(one.what, one.calls, one.dur_ns / MS) for one in out.stream().syncs.values()]


def test_calls_are_summed_by_line(probe: Probe, out: Recorded, now: Clock) -> None:
    """Two lines; the first one is called three times."""
    tensor = watched(probe, now)

    values = [tensor.item() for _ in range(3)]
    values.append(tensor.item(scale=2))

    assert values == [7, 7, 7, 14]
    assert told(out, probe) == [("item()", 3, 6.0), ("item()", 1, 2.0)]
    first, second = out.stream().syncs.values()
    assert (first.file, second.line - first.line) == (__file__, 1)
    assert (first.last_ns - first.first_ns, second.last_ns - second.first_ns) == (6 * MS, 2 * MS)


def test_a_call_that_raises_is_counted(probe: Probe, out: Recorded, now: Clock) -> None:
    """It took its time."""
    tensor = watched(probe, now)

    with pytest.raises(ValueError, match="no scale"):
        tensor.item(0)

    assert told(out, probe) == [("item()", 1, 2.0)]


def test_what_other_code_calls_is_not_counted(probe: Probe, out: Recorded, now: Clock) -> None:
    """An engine's own code, or Keras."""
    tensor = watched(probe, now)
    names: dict[str, Any] = {"tensor": tensor}

    exec(compile("value = tensor.item()", "/env/lib/site-packages/keras/x.py", "exec"), names)

    assert names["value"] == 7
    assert told(out, probe) == []


def test_sums_are_written_now_and_then(
    now: Clock, probe: Probe, out: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a second has passed, at the end of a call: the third; not again within the next second."""
    tensor, written = watched(probe, now), []
    monkeypatch.setattr(probe.recorder, "sync", lambda _number, place, sums: written.append((place[0], sums[0])))
    for wait in (0, 400, 700, 0):
        now.ns += wait * MS
        tensor.item()

    assert written == [("item()", 3)]


def test_more_places_than_fit_are_counted_as_left_out(
    probe: Probe, out: Recorded, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One fits."""
    monkeypatch.setattr(syncs, "PLACES_AT_MOST", 1)
    tensor = watched(probe, now)

    tensor.item()
    tensor.item()

    assert told(out, probe) == [("item()", 1, 2.0)]
    assert [note.slug for note in out.stream().notes] == ["syncs-left-out"]


def test_more_instructions_than_fit_are_left_out(
    probe: Probe, out: Recorded, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call of those is counted there."""
    monkeypatch.setattr(syncs, "INSTRUCTIONS_AT_MOST", 1)
    tensor = watched(probe, now)

    tensor.item()
    for _ in range(5):
        tensor.item()

    assert told(out, probe) == [("item()", 1, 2.0)]
    (note,) = out.stream().notes
    assert note.message.startswith("At least 5 calls")


def test_a_probe_that_has_ended_counts_nothing(probe: Probe, out: Recorded, now: Clock) -> None:
    """The class has its own method again, or none, as before."""
    tensor = watched(probe, now)
    probe.end()

    assert tensor.item() == 7
    assert "item" not in vars(type(tensor))


def test_a_method_of_c_is_called_with_no_frame_below_it(probe: Probe, out: Recorded) -> None:
    """What it warns of is the line that calls it: here C functions only are between."""

    class Number:
        def __float__(self) -> float:
            warnings.warn("odd", stacklevel=2)
            return 2.5

    probe.syncs.watch(Number, (("__float__", "float()"),), slots=True)

    with pytest.warns(UserWarning, match="odd") as caught:
        value = float(Number())

    assert value == 2.5
    assert caught[0].filename == __file__
    assert [calls for _, calls, _ in told(out, probe)] == [1]


def test_a_method_of_c_is_counted_when_it_is_called_and_not_when_it_is_looked_up(probe: Probe, out: Recorded) -> None:
    """As often as it is called; on the class it is as it was."""
    made: Any = type("Number", (float,), {})
    before = made.hex
    probe.syncs.watch(made, (("hex", "hex()"),), slots=True)
    number = made(1.0)

    assert hasattr(number, "hex")
    found = number.hex
    assert [found(), found()] == ["0x1.0000000000000p+0"] * 2
    assert made.hex is before
    assert [calls for _, calls, _ in told(out, probe)] == [2]


def test_a_method_is_not_counted_while_it_is_off(probe: Probe, out: Recorded, now: Clock) -> None:
    """While a function is traced, it may warn."""
    off = itertools.cycle([True, False])
    made: Any = type("Number", (float,), {})
    probe.syncs.watch(made, (("hex", "hex()"),), is_off=lambda: next(off))
    number = made(1.0)

    values = [number.hex() for _ in range(4)]

    assert values == ["0x1.0000000000000p+0"] * 4
    assert [calls for _, calls, _ in told(out, probe)] == [2]
