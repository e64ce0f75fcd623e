"""Plots with matplotlib: each returns the Axes, labelled with units, for the notebook to go on with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dlprof.analysis.compare import Comparison
from dlprof.notebook.extra import need
from dlprof.notebook.run_frames import RunFrames
from dlprof.report import colours
from dlprof.schema.vocabulary import Loop
from dlprof.units import safe

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME_MOST = 40
"""Characters of a name beside a bar."""


class RunPlots:
    """Plots of a run.

    Every method takes `ax`, the Axes to draw on; None: those of a new figure.
    """

    def __init__(self, frames: RunFrames) -> None:
        self._frames = frames

    def phases(self, ax: Axes | None = None) -> Axes:
        """The wall time by phase, in seconds."""
        frame = self._frames.phases(unit="ns")
        leaves = frame[~frame.index.isin(frame["parent"].dropna())].iloc[::-1]
        ax = _axes(ax, rows=len(leaves))
        seconds = _numbers(leaves["dur_ns"]) / 1e9
        bars = ax.barh(_names(leaves.index), seconds, color=[colours.of_phase(name) for name in leaves.index])
        ax.bar_label(bars, labels=[f"{value:.3g} s" for value in seconds], padding=3)
        ax.margins(x=0.15)
        return _labelled(ax, f"Phases of {self._frames.name}", x="time (s)")

    def steps(self, ax: Axes | None = None) -> Axes:
        """Time of each step (ms) over the run; steps in which something was compiled are marked."""
        frame = self._frames.steps(unit="ns")
        ax = _axes(ax)
        for number, loop in enumerate(loop for loop in Loop if (frame["loop"] == loop).any()):
            _draw_steps(ax, frame[frame["loop"] == loop], loop, colours.CYCLE[number])
        if len(frame):
            _logarithmic(ax)  # the first step may take a thousand times as long as the others
            ax.legend()
        return _labelled(ax, f"Steps of {self._frames.name}", x="time in the run (s)", y="time of a step (ms)")

    def cores(self, ax: Axes | None = None) -> Axes:
        """How busy each core was over the run, in percent."""
        frame = self._frames.cores(unit="ns")
        ax = _axes(ax)
        for core, rows in frame.groupby("core"):
            colour = colours.CYCLE[int(core) % len(colours.CYCLE)]
            at = _numbers(rows["time_ns"]) / 1e9
            ax.step(at, _numbers(rows["busy_pct"]), where="pre", color=colour, label=f"core {core}", linewidth=1)
        ax.set_ylim(0, 105)
        if 0 < frame["core"].nunique() <= 16:
            ax.legend(loc="upper right")
        return _labelled(ax, f"Cores during {self._frames.name}", x="time in the run (s)", y="busy (%)")

    def kernels(self, by: str = "layer", top: int = 12, ax: Axes | None = None) -> Axes:
        """The kernels with most time of their own (ms, in the traced windows), summed by layer, op, category, ..."""
        frame = self._frames.kernels(by, unit="ns")
        key = "name" if by == "kernel" else by
        named = frame[key].astype(object).where(frame[key].notna(), "(none)")
        sums = frame.groupby(named)["self_ns"].sum().sort_values().iloc[-top:]
        ax = _axes(ax, rows=len(sums))
        ax.barh(_names(sums.index), _numbers(sums) / 1e6, color=colours.CYCLE[0])
        return _labelled(ax, f"Kernels of {self._frames.name} by {by}", x="time in the traced windows (ms)")


class ComparisonPlots:
    """Plots of a comparison."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def waterfall(self, top: int = 12, ax: Axes | None = None) -> Axes:
        """How the parts of the wall time lead from B to A, in seconds, those with the largest difference first.

        Args:
            top: So many parts; the others, and what is in no phase, are one more.
            ax: The Axes to draw on; None: those of a new figure.
        """
        found = self._comparison
        parts = _waterfall_parts(found, top)
        ax = _axes(ax, rows=len(parts) + 2)
        a, b = found.a.label, found.b.label
        names = [b, *[part.name for part in parts], a]
        heights, reached_ns = list(range(len(names)))[::-1], found.b_wall_ns
        _bar(ax, heights[0], 0, reached_ns, colours.OTHER)
        for height, part in zip(heights[1:], parts, strict=False):
            _bar(ax, height, reached_ns, part.delta_ns, part.colour, f"{part.delta_ns / 1e9:+.3g} s")
            reached_ns += part.delta_ns
        _bar(ax, heights[-1], 0, found.a_wall_ns, colours.OTHER)
        ax.set_yticks(heights, _names(names))
        ax.margins(x=0.2)
        return _labelled(ax, f"From {b} to {a}", x="wall time (s)")


class _Part(NamedTuple):
    """A part of a waterfall."""

    name: str
    delta_ns: int
    noise: bool

    @property
    def colour(self) -> str:
        return colours.NOISE if self.noise else colours.SLOWER if self.delta_ns > 0 else colours.FASTER


def _waterfall_parts(comparison: Comparison, top: int) -> list[_Part]:
    """The largest parts, and all else as one more."""
    parts = [_Part(str(item.path), item.delta_ns, item.noise) for item in comparison.items[:top]]
    rest_ns = sum(item.delta_ns for item in comparison.items[top:]) + comparison.unattributed_ns
    return [*parts, _Part("all else", rest_ns, noise=True)] if rest_ns else parts


def _draw_steps(ax: Axes, steps: Any, loop: Loop, colour: str) -> None:
    """Steps of a loop as points, those that compiled as crosses."""
    starts_s = _numbers(steps["start_ns"]) / 1e9
    times_ms = _numbers(steps["dur_ns"]) / 1e6 / _numbers(steps["count"])
    ax.plot(starts_s, times_ms, ".", markersize=4, color=colour, label=loop)
    compiled = steps["compiled"].to_numpy(dtype=bool, na_value=False)
    if compiled.any():
        ax.plot(starts_s[compiled], times_ms[compiled], "x", color="#d55e00", label=f"{loop}, compiled")


def _logarithmic(ax: Axes) -> None:
    """A logarithmic axis with plain numbers: 20, not a power of ten."""
    ax.set_yscale("log")
    formatter = need("matplotlib.ticker").LogFormatter
    ax.yaxis.set_major_formatter(formatter())
    ax.yaxis.set_minor_formatter(formatter(labelOnlyBase=False, minor_thresholds=(2, 0.5)))


def _bar(ax: Axes, height: int, start_ns: int, delta_ns: int, colour: str, label: str | None = None) -> None:
    ax.barh(height, delta_ns / 1e9, left=start_ns / 1e9, color=colour)
    text = f"{delta_ns / 1e9:.3g} s" if label is None else label
    ax.annotate(
        text, (max(start_ns, start_ns + delta_ns) / 1e9, height), (3, 0), textcoords="offset points", va="center"
    )


def _axes(ax: Axes | None, rows: int = 0) -> Axes:
    """The Axes to draw on; a new figure is as high as its rows of bars need."""
    if ax is not None:
        return ax
    pyplot = need("matplotlib.pyplot")
    _, made = pyplot.subplots(figsize=(8, max(3.5, 0.32 * rows + 1.2)), layout="constrained")
    return made


def _numbers(column: Any) -> Any:
    return column.to_numpy(dtype=float, na_value=float("nan"))


def _names(names: Any) -> list[str]:
    """Names from outside as plain text: a dollar sign would begin a formula, and a long one leave no room for bars."""
    shown = [safe(str(name)) for name in names]
    cut = [name if len(name) <= _NAME_MOST else f"{name[: _NAME_MOST - 1]}…" for name in shown]
    return [name.replace("$", r"\$") for name in cut]


def _labelled(ax: Axes, title: str, *, x: str, y: str | None = None) -> Axes:
    ax.set_title(_names([title])[0])
    ax.set_xlabel(x)
    if y is not None:
        ax.set_ylabel(y)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
