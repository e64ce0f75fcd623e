"""Plots with matplotlib: each returns the Axes, labelled with units, for the notebook to go on with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dlprof.notebook.extra import need
from dlprof.report import colours
from dlprof.units import safe

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dlprof.notebook.frames import ComparisonView, RunView

_NAME_MOST = 40
"""Characters of a name beside a bar."""
_LOOPS = ("train", "test", "predict", "data")


class RunPlots:
    """Plots of a run.

    Every method takes `ax`, the Axes to draw on; None: those of a new figure.
    """

    def __init__(self, view: RunView) -> None:
        self._view = view

    def phases(self, ax: Axes | None = None) -> Axes:
        """The wall time by phase, in seconds."""
        frame = self._view.phases()
        leaves = frame[~frame.index.isin(frame["parent"].dropna())].iloc[::-1]
        ax = _axes(ax, rows=len(leaves))
        seconds = _numbers(leaves["dur_ns"]) / 1e9
        bars = ax.barh(_names(leaves.index), seconds, color=[colours.of_phase(name) for name in leaves.index])
        ax.bar_label(bars, labels=[f"{value:.3g} s" for value in seconds], padding=3)
        ax.margins(x=0.15)
        return _labelled(ax, f"Phases of {self._view.name}", x="time (s)")

    def steps(self, ax: Axes | None = None) -> Axes:
        """Time of each step (ms) over the run; steps in which something was compiled are marked."""
        frame = self._view.steps()
        ax = _axes(ax)
        for number, loop in enumerate(one for one in _LOOPS if (frame["loop"] == one).any()):
            rows = frame[frame["loop"] == loop]
            at, took = _numbers(rows["start_ns"]) / 1e9, _numbers(rows["dur_ns"]) / 1e6 / _numbers(rows["count"])
            ax.plot(at, took, ".", markersize=4, color=colours.CYCLE[number], label=loop)
            compiled = rows["compiled"].to_numpy(dtype=bool, na_value=False)
            if compiled.any():
                ax.plot(at[compiled], took[compiled], "x", color="#d55e00", label=f"{loop}, compiled")
        if len(frame):
            ax.set_yscale("log")  # the first step may take a thousand times as long as the others
            plain = need("matplotlib.ticker").LogFormatter  # 20, not a power of ten
            ax.yaxis.set_major_formatter(plain())
            ax.yaxis.set_minor_formatter(plain(labelOnlyBase=False, minor_thresholds=(2, 0.5)))
            ax.legend()
        return _labelled(ax, f"Steps of {self._view.name}", x="time in the run (s)", y="time of a step (ms)")

    def cores(self, ax: Axes | None = None) -> Axes:
        """How busy each core was over the run, in percent."""
        frame = self._view.cores()
        ax = _axes(ax)
        for core, rows in frame.groupby("core"):
            colour = colours.CYCLE[int(core) % len(colours.CYCLE)]
            at = _numbers(rows["time_ns"]) / 1e9
            ax.step(at, _numbers(rows["busy_pct"]), where="pre", color=colour, label=f"core {core}", linewidth=1)
        ax.set_ylim(0, 105)
        if 0 < frame["core"].nunique() <= 16:
            ax.legend(loc="upper right")
        return _labelled(ax, f"Cores during {self._view.name}", x="time in the run (s)", y="busy (%)")

    def kernels(self, by: str = "layer", top: int = 12, ax: Axes | None = None) -> Axes:
        """The kernels with most time of their own (ms, in the traced windows), summed by layer, op, category, ..."""
        frame = self._view.kernels(by)
        key = "name" if by == "kernel" else by
        named = frame[key].astype(object).where(frame[key].notna(), "(none)")
        sums = frame.groupby(named)["self_ns"].sum().sort_values().iloc[-top:]
        ax = _axes(ax, rows=len(sums))
        ax.barh(_names(sums.index), _numbers(sums) / 1e6, color=colours.CYCLE[0])
        return _labelled(ax, f"Kernels of {self._view.name} by {by}", x="time in the traced windows (ms)")


class ComparisonPlots:
    """Plots of a comparison."""

    def __init__(self, view: ComparisonView) -> None:
        self._view = view

    def waterfall(self, top: int = 12, ax: Axes | None = None) -> Axes:
        """How the parts of the wall time lead from B to A, in seconds, those with the largest difference first.

        Args:
            top: So many parts; the others, and what is in no phase, are one more.
            ax: The Axes to draw on; None: those of a new figure.
        """
        found = self._view.comparison
        parts = [(str(item.path), item.delta_ns, item.noise) for item in found.items[:top]]
        rest = sum(item.delta_ns for item in found.items[top:]) + found.unattributed_ns
        if rest:
            parts.append(("all else", rest, True))
        ax = _axes(ax, rows=len(parts) + 2)
        a, b = found.a.label, found.b.label
        names = [b, *[name for name, _, _ in parts], a]
        places, reached = list(range(len(names)))[::-1], found.b_wall_ns
        _bar(ax, places[0], 0, reached, colours.OTHER)
        for place, (_, delta, noise) in zip(places[1:], parts, strict=False):
            colour = colours.NOISE if noise else colours.SLOWER if delta > 0 else colours.FASTER
            _bar(ax, place, reached, delta, colour, f"{delta / 1e9:+.3g} s")
            reached += delta
        _bar(ax, places[-1], 0, found.a_wall_ns, colours.OTHER)
        ax.set_yticks(places, _names(names))
        ax.margins(x=0.2)
        return _labelled(ax, f"From {b} to {a}", x="wall time (s)")


def _bar(ax: Axes, place: int, start_ns: int, delta_ns: int, colour: str, label: str | None = None) -> None:
    ax.barh(place, delta_ns / 1e9, left=start_ns / 1e9, color=colour)
    text = f"{delta_ns / 1e9:.3g} s" if label is None else label
    ax.annotate(
        text, (max(start_ns, start_ns + delta_ns) / 1e9, place), (3, 0), textcoords="offset points", va="center"
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
