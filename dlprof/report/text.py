"""The report of a run on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from dlprof.report import summary
from dlprof.report.console import Page, is_ascii, make_console
from dlprof.store.run import Run
from dlprof.units import bar, duration, percent, resample, safe, size, strip

_STACK_AT_LEAST_NS = 100_000_000
"""Stacks that stood for less are a sample or two by chance."""
_FRAMES = 4
"""Frames of a stack that are shown, from the innermost."""


def print_report(run: Run, *, file: TextIO, top: int = 10, plain: bool = False) -> None:
    """Print the report of a run.

    Args:
        run: The run.
        file: Where to.
        top: How many lines at most.
        plain: No colour, only ASCII.
    """
    _Printer(make_console(file, plain=plain), summary.summarise(run, top=top), is_ascii(file, plain)).print()


_RECOMPILATIONS = 6
"""Rows of recompilations in the text report."""


def _why(one: Mapping[str, Any]) -> Text:
    """The cause of a recompilation, for people."""
    if one["what"] is None:
        return Text("not told; the arguments are as before")
    if one["what"] == "guard":
        return Text(safe(" ".join((one["now"] or "").split())))
    before, now = (one[name] if one[name] is not None else "none" for name in ("before", "now"))
    return Text(safe(f"{one['argument']}: {before} to {now}"))


class _Printer(Page):
    def __init__(self, console: Console, report: dict[str, Any], ascii_only: bool) -> None:
        super().__init__(console, ascii_only=ascii_only)
        self.report = report
        self.wide = console.width >= 90

    def print(self) -> None:
        imported = self.report["state"] == "imported"
        self._head()
        if not imported:
            self._phases()
            self._steps()
            self._recompilations()
        self._split()
        self._kernels()
        self._gpu_idle()
        # Of foreign traces only what is in them is shown; of a run also what is missing, and why.
        for name in ("lines", "stacks", "cores", "gpu"):
            if not imported or self._has(name):
                getattr(self, f"_{name}")()
        if not imported:
            self._ledger()
        self._health()
        self._next()

    def _has(self, name: str) -> bool:
        found = self.report[name]
        return bool(found["measured"] if name == "gpu" else found)

    # -- sections ----------------------------------------------------------------------------------

    def _head(self) -> None:
        if self.report["state"] == "imported":
            self._imported_head()
        else:
            self._traced_head()

    def _imported_head(self) -> None:
        report = self.report
        self.console.print()
        names = ", ".join(row["file"] for row in report["sources"][:4])
        more = len(report["sources"]) - 4
        self.say(safe(f"{names}{f' and {more} more' if more > 0 else ''}"), "bold")
        self.say(f"imported as {report['run']}; {duration(report['wall_ns'])} from the first to the last event", "dim")
        self.title("Sources")
        table = self.table(("file", "left"), ("format", "left"), ("events", "right"), ("begins at", "right"))
        for row in report["sources"]:
            events = "-" if row["events"] is None else f"{row['events']:,}"
            first = self.report["window_starts"].get(row["file"])
            table.add_row(Text(safe(row["file"])), row["format"], events, duration(first))
        self.show(table)

    def _traced_head(self) -> None:
        report = self.report
        versions = {**report["versions"]}
        native_ = (report["backend"] or "").startswith("native-")
        keras = report["keras_version"] or (None if native_ else versions.pop("keras", None))
        engine = report["engine"]
        parts = [
            f"Keras {keras}" if keras else "no Keras" if report["source"] != "program" else "run from the outside",
            f"{engine['name']} {engine['version'] or ''}".strip() if engine else "",
            f"Python {report['python_version']}" if report["python_version"] else "",
        ]
        arguments = " ".join([report["script"], *report["arguments"]])
        machine = report["machine"]
        self.console.print()
        where = "" if report["source"] == "program" else f"  on {report['backend'] or 'no known backend'}"
        self.say(safe(f"{arguments}{where}"), "bold")
        self.say(
            f"{', '.join(part for part in parts if part)}; {machine['cores']} cores, {machine['cpu'] or 'unknown CPU'}",
            "dim",
        )
        self.say(f"run {report['run']}; {self._ended()}; wall time {duration(report['wall_ns'])}", "dim")
        self.console.print()
        self.say(summary.verdict(self.report))

    def _ended(self) -> str:
        ended = self.report["exit"]
        if ended["signal"]:
            return f"ended by signal {ended['signal']}"
        if ended["code"] is None:
            return "how it ended is not known: dlprof was killed"
        text = f"exit code {ended['code']}"
        return f"{text}, interrupted" if self.report["state"] == "interrupted" else text

    def _phases(self) -> None:
        wall = self.report["wall_ns"]
        self.title("Phases", "of the wall time, main thread")
        table = self.table(("phase", "left"), ("time", "right"), ("%", "right"), ("count", "right"), ("", "left"))
        width = min(40, self.console.width - 55)
        for phase in self.report["phases"]:
            inner = phase["parent"] is not None
            name = "  " + phase["name"].partition(".")[2] if inner else phase["name"]
            share = phase["dur_ns"] / wall if wall else 0
            drawn = Text(bar(share, width, ascii_only=self.ascii), style="dim" if inner else "cyan")
            table.add_row(
                name, duration(phase["dur_ns"]), percent(phase["dur_ns"], wall), f"{phase['count'] or ''}", drawn
            )
        unattributed = self.report["unattributed_ns"]
        table.add_row("unattributed", duration(unattributed), percent(unattributed, wall), "", "")
        self.show(table)

    def _steps(self) -> None:
        loops = self.report["loops"]
        self.title("Steps", "median, p95 and throughput over steps in which nothing was compiled" if loops else "")
        if not loops:
            called = [p["name"] for p in self.report["phases"] if p["name"] in ("fit", "evaluate", "predict")]
            reason = f"no step of {called[0]} was finished" if called else "fit, evaluate and predict were never called"
            self.say(f"none: {reason}", indent=2)
            return
        names = ("loop", "count", "first", "median", "p95", "call", "input", "samples/s", "compiled")
        table = self.table(*[(name, "left" if name == "loop" else "right") for name in names])
        inside = self.report["steps"]["input_inside_step"]
        for loop in loops:
            rate = f"{loop['samples_per_s']:,.0f}" if loop["samples_per_s"] else "-"
            waited = "in call" if inside else duration(loop["input_median_ns"])
            times = [duration(loop[n]) for n in ("first_ns", "median_ns", "p95_ns", "call_median_ns")]
            table.add_row(loop["loop"], f"{loop['count']}", *times, waited, rate, f"{loop['compiled']}")
        self.show(table)
        if inside:
            self.say(
                "input: this backend fetches the batch inside the step function; that wait is not measured", "dim", 2
            )
        if self.report["steps"]["asynchronous_dispatch"]:
            self.say("call: dispatch only; the work itself goes on after the call", "dim", 2)
        self._epochs()

    def _epochs(self) -> None:
        epochs = self.report["epochs"]
        for epoch in epochs if len(epochs) <= 4 else [*epochs[:1], *epochs[-2:]]:
            values = "  ".join(f"{safe(name)} {value:.4g}" for name, value in epoch["metrics"].items())
            self.say(f"epoch {epoch['epoch'] + 1:<3} {duration(epoch['dur_ns']):>9}   {values}", "dim", 2)

    def _recompilations(self) -> None:
        found = self.report["recompilations"]
        if not found:
            return
        count, time = sum(one["count"] for one in found), sum(one["time_ns"] for one in found)
        self.title(f"Compiled again  {count} times, {duration(time)} in all", "beyond the first time of each function")
        table = self.table(
            ("function", "left"), ("count", "right"), ("time", "right"), ("line", "left"), ("why", "left")
        )
        for one in found[:_RECOMPILATIONS]:
            line = f"{one['file']}:{one['line']}" if one["file"] else "-"
            table.add_row(Text(safe(one["function"])), str(one["count"]), duration(one["time_ns"]), line, _why(one))
        self.show(table)
        if len(found) > _RECOMPILATIONS:
            self.say(f"and {len(found) - _RECOMPILATIONS} more: --json", "dim", indent=2)

    def _split(self) -> None:
        split = self.report["step_split"]
        if split is None:
            return
        whole = split["plain_step_ns"] or split["window_step_ns"]
        traced = f"{split['steps']} {split['loop']} steps under {split['engine']}'s tracer"
        if split["plain_step_ns"]:
            note = f"{traced} ({split['slowdown']:.2f} x a plain one), scaled to a plain step"
        else:
            note = f"{traced}, not scaled: there was no plain step"
        self.title(f"A {split['loop']} step of {duration(whole)}", note)
        table = self.table(("part", "left"), ("time", "right"), ("%", "right"), ("", "left"))
        for part in split["parts"]:
            time = part["plain_ns"] if split["plain_step_ns"] else part["window_ns"]
            if time is None:
                table.add_row(part["name"], "-", "-", "in host python: where calls of steps begin and end is not known")
                continue
            drawn = bar(time / whole if whole else 0, 30, ascii_only=self.ascii)
            table.add_row(part["name"], duration(time), percent(time, whole), drawn)
        self.show(table)

    def _kernels(self) -> None:
        found = self.report["kernels"]
        if found is None or not found["rows"]:
            return
        self.title("Kernels", f"{duration(found['all_ns'])} in all; more: dlprof kernels {self.report['run']}")
        table = self.table(
            ("layer", "left"), ("direction", "left"), ("on", "left"), ("count", "right"), ("time", "right"),
            ("%", "right"), ("operator", "left"),
        )  # fmt: skip
        for row in found["rows"]:
            table.add_row(
                Text(safe(row["layer"] or "(no layer)")), row["direction"] or "-", row["device"], f"{row['count']:,}",
                duration(row["total_ns"]), f"{100 * row['share']:.1f}", Text(safe(row["op"] or f"({row['category']})")),
            )  # fmt: skip
        self.show(table)
        if found["dropped_events"]:
            self.say(f"{found['dropped_events']} events were dropped by the profiler", "yellow", 2)

    def _gpu_idle(self) -> None:
        rows = self.report["gpu_idle"]
        if not rows:
            return
        self.title("GPU idle", "time between the first and the last kernel in which nothing ran on the device")
        for row in rows:
            parts = ", ".join(
                f"{duration(row[name])} {text}"
                for name, text in (
                    ("host_ns", "nothing was launched (host-bound)"),
                    ("launch_ns", "launch latency"),
                    ("wait_ns", "waiting on the device"),
                )
            )
            share = percent(row["idle_ns"], row["span_ns"])
            self.say(f"gpu:{row['device']} idle {duration(row['idle_ns'])} ({share} %): {parts}", indent=2)
            for name, time in row["blamed"][:3]:
                self.say(f"{duration(time)} while the host ran {safe(name or 'what no profiler saw')}", "dim", 4)

    def _lines(self) -> None:
        wall = self.report["wall_ns"]
        rows = self.report["lines"]
        self.title("Hottest lines", "with what they call; calls of other profiled functions taken off" if rows else "")
        if not rows:
            self._missing("lines")
            return
        table = self.table(("time", "right"), ("%", "right"), ("hits", "right"), ("line", "left"), ("source", "left"))
        for row in rows:
            place = f"{safe(row['file'])}:{row['line']}"
            source = safe((row["source"] or "").strip())
            table.add_row(duration(row["own_ns"]), percent(row["own_ns"], wall), f"{row['hits']}", place, source)
        self.show(table)

    def _stacks(self) -> None:
        rows = self.report["stacks"]
        self.title("Hottest stacks by phase", "sampled; main thread; innermost first" if rows else "")
        if not rows:
            self._missing("stacks")
            return
        arrow = " < " if self.ascii else " ← "
        phase = None
        for row in [row for row in rows if row["dur_ns"] >= _STACK_AT_LEAST_NS]:
            if row["phase"] != phase:
                phase = row["phase"]
                self.say(phase, "cyan", 2)
            frames = [f"{f['function']} ({f['file'].rpartition('/')[2]}:{f['line']})" for f in row["frames"][:_FRAMES]]
            text = f"{100 * row['share']:5.1f} %  {duration(row['dur_ns']):>8}  {safe(arrow.join(frames))}"
            self.console.print(Padding(Text(text, no_wrap=True, overflow="ellipsis"), (0, 0, 0, 2)))

    def _cores(self) -> None:
        rows, process = self.report["cores"], self.report["process"]
        self.title("Cores and memory", "busy share over the run" if rows else "")
        if not rows:
            self._missing("cores")
            return
        width = self.console.width - 24
        for row in rows[:32]:
            mean = f"{row['mean_pct']:5.1f} %" if row["mean_pct"] is not None else "      -"
            drawn = strip(resample(row["strip_pct"], width), ascii_only=self.ascii)
            self.say(f"core {row['core']:<3} {mean}  {drawn}", indent=2)
        if len(rows) > 32:
            overall = sum(row["mean_pct"] or 0 for row in rows) / len(rows)
            self.say(f"... {len(rows) - 32} more cores; mean of all {overall:.1f} %", "dim", 2)
        self.say(
            f"process tree {self._cores_of(process['tree_cpu_pct'])}, "
            f"others {self._cores_of(process['others_cpu_pct'])}, "
            f"dlprof beside it {self._cores_of(process['dlprof_cpu_pct'])}",
            indent=2,
        )
        self.say(
            f"memory peak {size(process['peak_rss_bytes'])} in {process['processes']} process(es), "
            f"{process['threads'] or '-'} threads; least available {size(process['available_min_bytes'])}",
            indent=2,
        )

    @staticmethod
    def _cores_of(pct: float | None) -> str:
        return "not measured" if pct is None else f"{pct / 100:.2f} cores"

    def _gpu(self) -> None:
        gpu = self.report["gpu"]
        self.title("GPU")
        if not gpu["measured"]:
            self.say(f"not measured, because {gpu['reason']}", indent=2)
            return
        table = self.table(
            *[(n, "right") for n in ("gpu", "kernels running %", "memory", "power", "temp.", "SM clock", "throttled")]
        )
        for row in gpu["gpus"]:
            table.add_row(
                f"{row['gpu']} {row['name'] or ''}", _figure(row["utilisation_mean_pct"], "%.0f"),
                f"{size(row['memory_peak_bytes'])} of {size(row['memory_total_bytes'])}",
                _figure(row["power_mean_w"], "%.0f W"),
                _figure(row["temperature_peak_c"], "%.0f C"), _figure(row["sm_clock_mean_mhz"], "%.0f MHz"),
                _figure(row["throttled_share"] and 100 * row["throttled_share"], "%.0f %%"),
            )  # fmt: skip
        self.show(table)

    def _ledger(self) -> None:
        self.title("Overhead ledger", "what each probe cost, as far as known")
        table = self.table(("probe", "left"), ("state", "left"), ("cost", "right"), ("how known, or why not", "left"))
        for probe in self.report["probes"]:
            why = "; ".join(part for part in (probe["reason"], probe["cost_source"]) if part)
            style = "" if probe["state"] in ("on", "off") else "yellow"
            table.add_row(probe["name"], Text(probe["state"], style=style), duration(probe["cost_ns"]), safe(why))
        table.columns[-1].no_wrap = False
        table.columns[-1].overflow = "fold"
        self.show(table)

    def _health(self) -> None:
        rows = self.report["health"]
        self.title("Health")
        if not rows:
            self.say("nothing was dropped, cut or killed", indent=2)
        for row in rows:
            style = {"error": "red", "warning": "yellow"}.get(row["severity"], "")
            self.say(f"{row['severity']}: {safe(row['message'])} [{row['slug']}]", style, 2)

    def _next(self) -> None:
        name = self.report["run"]
        self.console.print()
        self.say(
            f'more: dlprof lines {name}   dlprof sql {name} "SELECT * FROM steps"   dlprof report {name} --json', "dim"
        )

    def _missing(self, probe: str) -> None:
        row = next((p for p in self.report["probes"] if p["name"] == probe), None)
        reason = (row or {}).get("reason") or "nothing was recorded"
        self.say(f"not measured, because {safe(reason)}", indent=2)


def _figure(value: float | None, pattern: str) -> str:
    return "-" if value is None else pattern % value
