"""Sums up what memray recorded: how much each place held when memory was at its largest, and over time.

It runs in a process of its own, by the interpreter of the script: memray reads only what the same version wrote.
"""

import importlib
from bisect import bisect_left
from io import open as open_file
from json import dumps

from dlprof_probes.inproc.user_files import UserFiles

FORMAT = "dlprof.heap/1"
_MOMENTS = 64
_PLACES = 1000
"""Places that are told one by one; the others are one."""
_DEEPEST = 256
"""Frames that are looked at, from the innermost one on."""
_MS = 1000000


class Place(object):
    """Where memory was allocated.

    Attributes:
        peak_bytes, peak_count: What it held when the recorded memory was at its largest.
        held: What it held at each moment (bytes).
        places: How many places this is.
    """

    __slots__ = ("held", "peak_bytes", "peak_count", "places")

    def __init__(self, moments):
        self.peak_bytes = self.peak_count = 0
        self.held = [0] * moments
        self.places = 1

    def add(self, other):
        """Take another one in."""
        self.peak_bytes += other.peak_bytes
        self.peak_count += other.peak_count
        self.held = [one + two for one, two in zip(self.held, other.held)]
        self.places += other.places

    @property
    def weight(self):
        """By what places are chosen (bytes)."""
        return max([self.peak_bytes, *self.held])


def main(recorded, sums):
    """Read a file of memray's, and write the sums."""
    memray = importlib.import_module("memray")  # from the folder that the caller has put on the path

    reader = memray.FileReader(recorded)
    told = summed(reader)
    told["memray"] = memray.__version__
    with open_file(sums, "w", encoding="utf-8") as target:
        target.write(dumps(told))


def summed(reader):
    """The sums, of a `memray.FileReader`."""
    snapshots = list(reader.get_memory_snapshots())
    chosen = _moments(len(snapshots))
    of_user, places = _Frames(), {}
    for record in reader.get_high_watermark_allocation_records(merge_threads=True):
        place = _place(places, of_user.key(record), len(chosen))
        place.peak_bytes += record.size
        place.peak_count += record.n_allocations
    for record in reader.get_temporal_allocation_records(merge_threads=True):
        place = _place(places, of_user.key(record), len(chosen))
        for interval in record.intervals:
            gone = interval.deallocated_before_snapshot
            end = len(chosen) if gone is None else bisect_left(chosen, gone)
            for number in range(bisect_left(chosen, interval.allocated_before_snapshot), end):
                place.held[number] += interval.n_bytes
    largest = max(snapshots, key=lambda one: one.heap) if snapshots else None
    kept = sorted(places.items(), key=lambda item: -item[1].weight)
    left = Place(len(chosen))
    left.places = 0
    for _, place in kept[_PLACES:]:
        left.add(place)
    rows = [_row(key, place) for key, place in kept[:_PLACES]]
    return {
        "format": FORMAT,
        "allocations": reader.metadata.total_allocations,
        "peak_bytes": reader.metadata.peak_memory,
        "peak_wall_ns": largest.time * _MS if largest is not None else None,
        "moments_wall_ns": [snapshots[moment].time * _MS for moment in chosen],
        "places": rows + ([_row((None, None), left)] if left.places else []),
    }


def _moments(count):
    """Numbers of some snapshots, evenly spread, the last one with them."""
    if count <= _MOMENTS:
        return list(range(count))
    return sorted({(count - 1) * number // (_MOMENTS - 1) for number in range(_MOMENTS)})


def _place(places, key, moments):
    place = places.get(key)
    if place is None:
        place = places[key] = Place(moments)
    return place


def _row(key, place):
    user, at = key
    return {
        "user": user,
        "at": at,
        "peak_bytes": place.peak_bytes,
        "peak_count": place.peak_count,
        "held": place.held,
        "places": place.places,
    }


class _Frames(object):
    """What of a stack tells a place: the innermost frame of the user's own code, and the innermost of all."""

    def __init__(self):
        self._is_user_file = UserFiles()

    def key(self, record):
        """File, line and function of each; None: there is no such frame."""
        stack = record.stack_trace(_DEEPEST)
        user = next((frame for frame in stack if self._is_user_file(frame[1])), None)
        return _frame(user), _frame(stack[0] if stack else None)


def _frame(frame):
    return None if frame is None else (frame[1], frame[2], frame[0])
