"""Timelines of some ranks of a training below each other, on one axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlprof.analysis.clocks import Clock
from dlprof.analysis.columns import Integers
from dlprof.report.html import timeline
from dlprof.report.html.curves import Curve
from dlprof.report.html.names import Names, cut
from dlprof.report.html.thinning import Track
from dlprof.report.html.timeline import Drawing
from dlprof.store.ranked import Member

_OF_MACHINE = "CPU of others"
"""A curve that all ranks of a machine have alike."""


class RankTimelines:
    """The timelines of some ranks on one axis, which begins with the one that began first.

    Args:
        members: The ranks.
        clock: How the clocks of all ranks stand to each other; a drift is left out. Where it is not known each rank
            begins at 0.

    Attributes:
        drawing: All that is drawn; None: nothing in them has a time.
    """

    def __init__(self, members: Sequence[Member], clock: Clock) -> None:
        names = Names()
        made = [(one, timeline.of_run(one.run, timeline.MOST // max(1, len(members)), names)) for one in members]
        drawn = [(one, drawing) for one, drawing in made if drawing is not None]
        zeros = {one.rank: self._zero_ns(one, clock) for one, _ in drawn}
        base = min((zeros[one.rank] - drawing.shift_ns for one, drawing in drawn), default=0)
        self._shifts = {rank: zero - base for rank, zero in zeros.items()}
        self.drawing = self._together(drawn, names) if drawn else None

    @staticmethod
    def _zero_ns(member: Member, clock: Clock) -> int:
        place = clock.placements.get(member.rank)
        return 0 if clock.unknown is not None or place is None else place.shift_ns

    def on_axis(self, rank: int, own: Integers) -> Integers | None:
        """Moments of a rank's own timeline on the axis (ns); None: it is not drawn."""
        return own + self._shifts[rank] if rank in self._shifts else None

    def _together(self, drawn: Sequence[tuple[Member, Drawing]], names: Names) -> Drawing:
        first, of_first = min(drawn, key=lambda pair: self._shifts[pair[0].rank])
        one_machine = len({one.host for one, _ in drawn}) == 1
        moves = [(one, drawing, self._shifts[one.rank] - drawing.shift_ns) for one, drawing in drawn]
        zero_ns = self._shifts[first.rank]
        return Drawing(
            shift_ns=zero_ns,
            zero_ns=zero_ns,
            span_ns=max(drawing.span_ns + by_ns for _, drawing, by_ns in moves),
            tracks=[_moved(track, one.rank, by_ns) for one, drawing, by_ns in moves for track in drawing.tracks],
            names=names,
            windows=[(low + by_ns, high + by_ns) for _, drawing, by_ns in moves for low, high in drawing.windows],
            cores=of_first.cores if one_machine else (),
            cores_end_ns=of_first.cores_end_ns if one_machine else None,
            curves=[
                replace(curve, label=label, time_ns=curve.time_ns + by_ns)
                for one, drawing, by_ns in moves
                for label, curve in _curves(one, drawing, alone=one is first or not one_machine)
            ],
        )


def _curves(member: Member, drawing: Drawing, *, alone: bool) -> Iterator[tuple[str, Curve]]:
    """The curves of a rank with their labels; those of its machine once."""
    for curve in drawing.curves:
        of_machine = curve.label == _OF_MACHINE
        if not of_machine or alone:
            yield (curve.label if of_machine else f"rank {member.rank} {curve.axis}"), curve


def _moved(track: Track, rank: int, by_ns: int) -> Track:
    """A track of a rank, by so much later; what is no device's stands below the rank's own heading."""
    is_device = track.group in ("gpu", "host")
    return replace(
        track,
        label=cut(f"rank {rank}: {track.label}"),
        place=cut(f"rank {rank}: {track.place or track.label}" if is_device else f"rank {rank}"),
        lane=cut(track.lane or track.label),
        start_ns=track.start_ns + by_ns,
    )
