"""Whether two runs did the same work on the same machine: before that is known, no word about speed."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import pyarrow.compute as pc

from dlprof.analysis import cold_files, loaders, loops, parity_advice, scheduling, steps
from dlprof.analysis import training as trainings
from dlprof.analysis.columns import total
from dlprof.analysis.loaders import Loader
from dlprof.analysis.training import Training
from dlprof.schema.vocabulary import EventKind, Loop, RunState
from dlprof.store.run import Run

LOSS_TOLERANCE, LOSS_TOLERANCE_RANDOM = 0.10, 0.25
"""Losses of an epoch may differ by so much of the first epoch's; the second where layers draw random numbers."""
WEIGHTS_TOLERANCE = 1e-3
"""Sums of squares of the initial weights may differ by so much, for their rounding."""
DATA_TOLERANCE = 1e-3
STEPS_TOLERANCE = 0.1
"""Steps of a script's own loop are found, and the first ones may be missed."""
_BUSY_PCT = 25.0
"""Other programs that took more than this of one core are mentioned."""
LOAD = "other programs used"
"""How a difference of the load begins."""
_SAME_SETTINGS = {
    "floatx": "float type",
    "policy": "dtype policy",
    "layout": "image layout",
    "loss": "loss function",
}
_LOOPS_OF = {True: "Keras' own loop", False: "a loop of the script's own"}
_CHOSEN = {"run_eagerly": "eager execution", "jit_compile": "jit_compile", "steps_per_execution": "steps per execution"}


@dataclass(frozen=True)
class Parity:
    """What differs.

    Attributes:
        why_not: Why the runs cannot be compared; empty: they can.
        differences: What also differs, and may be what is compared, or may explain the gap.
        unknown: What could not be checked, because a run does not hold it.
        advice: What would make them comparable, where that is known.
        same_run: Whether both are one and the same run.
        of_machine: Those of the differences that make it another kind of machine: its processor and cores.
    """

    why_not: tuple[str, ...]
    differences: tuple[str, ...]
    unknown: tuple[str, ...]
    advice: tuple[str, ...] = ()
    same_run: bool = False
    of_machine: tuple[str, ...] = ()

    @property
    def comparable(self) -> bool:
        """Whether nothing stands against a comparison."""
        return not self.why_not


def check(a: Run, b: Run) -> Parity:
    """Compare what two runs did, and where."""
    found = _Check(a, b)
    found.all()
    return Parity(
        tuple(found.why_not),
        tuple(found.differences),
        tuple(found.unknown),
        tuple(found.advice),
        found.is_same,
        tuple(found.of_machine),
    )


class _Check:
    def __init__(self, a: Run, b: Run) -> None:
        self.a, self.b = a, b
        self.why_not: list[str] = []
        self.differences: list[str] = []
        self.unknown: list[str] = []
        self.advice: list[str] = []
        self.of_machine: list[str] = []
        self.is_same = a.folder.path.resolve() == b.folder.path.resolve()

    def all(self) -> None:
        """Every check, the gravest first."""
        self.why_not.extend(f"{name} {why}" for name, run in (("A", self.a), ("B", self.b)) for why in _incomplete(run))
        if not self.why_not and _is_imported(self.a, self.b):
            self._same_run()
            self._traces()
            return
        if not self.why_not:
            self._same_run()
            self._work()
            one, two = trainings.of_run(self.a), trainings.of_run(self.b)
            if one is not None and two is not None:
                self._training(one, two)
            elif (one is None) != (two is None):
                self.why_not.append(f"only {'A' if one else 'B'} trained")
            else:
                self.unknown.append("what they computed: neither told of a training")
        self._machine()

    def _same_run(self) -> None:
        if self.is_same:
            self.why_not.append("A and B are the same run")
            self.advice.append(parity_advice.OF_ONE_RUN)

    def _traces(self) -> None:
        """Foreign traces tell neither a script nor settings; how much of a training they hold must be alike."""
        self.unknown.append("what was run, and where: a foreign trace does not tell it")
        counts = [total(run.table("steps", ("count",))["count"]) for run in (self.a, self.b)]
        if 0 in counts and any(counts):
            known, other = ("A", "B") if counts[0] else ("B", "A")
            self.why_not.append(
                f"{max(counts):,} steps of {known} are known and none of {other}, in which nothing names them "
                "(StepTraceAnnotation of JAX, ProfilerStep of torch.profiler, a range train_step): the traces are "
                "compared as a whole"
            )
        elif counts[0] != counts[1]:
            self.why_not.append(f"the numbers of traced steps differ: {counts[0]:,} and {counts[1]:,}")
        formats = [", ".join(sorted({row["format"] for row in run.rows("sources")})) for run in (self.a, self.b)]
        if formats[0] != formats[1]:
            told = " and ".join(text or "dlprof's own probes" for text in formats)
            self.differences.append(f"what recorded them: {told}")
        self._python_functions()

    def _python_functions(self) -> None:
        """A trace with stacks takes longer, and shows as Python what is idle time without them."""
        python = [any(op["kind"] == EventKind.PYTHON.word for op in run.rows("kernel_ops")) for run in (self.a, self.b)]
        if python[0] != python[1]:
            one, other = ("A", "B") if python[0] else ("B", "A")
            self.differences.append(
                f"only {one} was traced with functions of Python, which takes time; its host_python is idle in {other}"
            )

    def _work(self) -> None:
        one, two = _script(self.a), _script(self.b)
        if one != two and not _are_twins(self.a, self.b):
            self.why_not.append(f"the scripts differ: {one} and {two}")
            self.advice.append(parity_advice.OF_SCRIPTS)
        elif one != two:
            self.differences.append(f"one runs the model without Keras: {one} and {two}")
        elif None not in (texts := (_digest(self.a), _digest(self.b))) and texts[0] != texts[1]:
            self.differences.append("the text of the script differs")
        arguments = [" ".join(run.manifest.command.argv) or "none" for run in (self.a, self.b)]
        if arguments[0] != arguments[1]:
            self.why_not.append(f"the arguments differ: {arguments[0]} and {arguments[1]}")
        recorded = [name for name, run in (("A", self.a), ("B", self.b)) if run.manifest.config.get("heap")]
        if len(recorded) == 1:
            self.differences.append(f"allocations were recorded in {recorded[0]} alone (--heap), which takes time")

    def _training(self, one: Training, two: Training) -> None:
        losses = self._losses(one, two)
        self._settings(one, two)
        self._loops()
        self._optimizer(one, two, losses_agree=losses)
        self._batch(one, two)
        self._steps()
        self._data(one, two)
        self.differences.extend(_of_loaders(self.a, self.b))
        self._weights(one, two)
        for name, title in _CHOSEN.items():
            values = one.settings.get(name), two.settings.get(name)
            if None not in values and values[0] != values[1]:
                self.differences.append(f"{title}: {values[0]} and {values[1]}")
        if one.flags != two.flags:
            self.differences.append(f"switches for debugging: {_names(one.flags)} and {_names(two.flags)}")

    def _losses(self, one: Training, two: Training) -> bool:
        if not one.losses or not two.losses:
            self.unknown.append("losses: not both runs kept them")
            return False
        if len(one.losses) != len(two.losses):
            self.why_not.append(f"the numbers of epochs differ: {len(one.losses)} and {len(two.losses)}")
            return False
        tolerance = LOSS_TOLERANCE_RANDOM if one.random or two.random else LOSS_TOLERANCE
        why = loss_difference(one.losses, two.losses, tolerance)
        if why is not None:
            self.why_not.append(why)
        return why is None

    def _settings(self, one: Training, two: Training) -> None:
        for name, title in _SAME_SETTINGS.items():
            values = one.settings.get(name), two.settings.get(name)
            if values[0] != values[1] and None not in values:
                self.why_not.append(f"the {title} differs: {values[0]} and {values[1]}")

    def _loops(self) -> None:
        """Whose loop it is: that of Keras does for each step what a loop of the script's own need not do."""
        kinds = [loops.who_trains(run) for run in (self.a, self.b)]
        if None not in kinds and kinds[0] != kinds[1] and not _are_twins(self.a, self.b):
            told = [_LOOPS_OF[kind] for kind in kinds if kind is not None]
            self.differences.append(f"who runs the steps: {told[0]} and {told[1]}")

    def _optimizer(self, one: Training, two: Training, *, losses_agree: bool) -> None:
        first, second = one.optimizer, two.optimizer
        others = trainings.other_optimizers(self.a, self.b)
        if others is not None:
            self.why_not.append(f"the optimisers differ: {others[0]} and {others[1]}")
            return
        if not first or not second:
            self.unknown.append("settings of the optimiser")
            return
        for name in sorted(first.keys() & second.keys() - {"class"}):
            if not _near(first[name], second[name], 1e-6):
                text = f"the optimiser's {name} differs: {first[name]:g} and {second[name]:g}"
                changes_work = isinstance(first[name], bool) or 0 in (first[name], second[name])
                if changes_work or not losses_agree:
                    self.why_not.append(text)
                else:
                    self.differences.append(f"{text} (the losses agree)")

    def _batch(self, one: Training, two: Training) -> None:
        for name, values in (
            ("batch sizes", (one.batch_size, two.batch_size)),
            ("numbers of samples", (one.samples, two.samples)),
        ):
            if None in values:
                self.unknown.append(name)
            elif values[0] != values[1]:
                self.why_not.append(f"the {name} differ: {values[0]} and {values[1]}")

    def _steps(self) -> None:
        """As many steps of training: else the sums of time are of unequal work."""
        counts = [
            next((one.count for one in steps.of_run(run) if one.loop is Loop.TRAIN), 0) for run in (self.a, self.b)
        ]
        if not all(counts):
            self.unknown.append("numbers of steps")
        elif abs(counts[0] - counts[1]) > STEPS_TOLERANCE * max(counts):
            self.why_not.append(f"the numbers of training steps differ: {counts[0]:,} and {counts[1]:,}")

    def _data(self, one: Training, two: Training) -> None:
        if not one.data or not two.data:
            self.unknown.append("data: not seen in both runs")
            return
        for first, second in zip(one.data, two.data, strict=False):
            shapes = first["shape"], second["shape"]
            if shapes[0] != shapes[1] and math.prod(shapes[0]) != math.prod(shapes[1]):
                self.why_not.append(f"the shapes of the data differ: {shapes[0]} and {shapes[1]}")
            elif not _near(first.get("mean"), second.get("mean"), DATA_TOLERANCE):
                self.why_not.append(
                    f"the data differ: means of the first rows are {first['mean']} and {second['mean']}"
                )
            types = first.get("dtype"), second.get("dtype")
            if None not in types and types[0] != types[1]:
                self.differences.append(f"types of the data: {types[0]} and {types[1]}")

    def _weights(self, one: Training, two: Training) -> None:
        counts = one.weights.get("count"), two.weights.get("count")
        if None not in counts and counts[0] != counts[1]:
            self.why_not.append(f"the models differ: {counts[0]:,} and {counts[1]:,} trainable weights")
            return
        self._types(one, two)
        first, second = one.weights.get("sums"), two.weights.get("sums")
        if first is None or second is None:
            self.unknown.append("initial weights: not seen in both runs")
            return
        if not all(_near(x[2], y[2], WEIGHTS_TOLERANCE) for x, y in zip(first, second, strict=False)):
            self.why_not.append("the initial weights differ")
            self.advice.append(parity_advice.of_weights(self.a, self.b))

    def _types(self, one: Training, two: Training) -> None:
        """Floats of the weights, where no float type of Keras was told."""
        if None not in (one.settings.get("floatx"), two.settings.get("floatx")):
            return
        types = one.weights.get("dtype"), two.weights.get("dtype")
        if types[0] != types[1] and None not in types:
            self.why_not.append(f"the types of the weights differ: {types[0]} and {types[1]}")

    def _machine(self) -> None:
        one, two = self.a.manifest.machine, self.b.manifest.machine
        told = {
            "machines": (one.host, two.host),
            "processors": (one.cpu, two.cpu),
            "usable cores": (one.usable_cores, two.usable_cores),
            "cores' worth of time that the control group may use": (one.quota_cores, two.quota_cores),
        }
        for title, values in told.items():
            if values[0] != values[1] and None not in values:
                told_of_both = f"{title}: {values[0]} and {values[1]}"
                self.differences.append(told_of_both)
                if title != "machines":  # those of a pool have many names, and are of one kind
                    self.of_machine.append(told_of_both)
        self._load()
        self._files()
        pairs = self.a.manifest.environment, self.b.manifest.environment
        for name in sorted(pairs[0].keys() | pairs[1].keys()):
            values = pairs[0].get(name), pairs[1].get(name)
            if values[0] != values[1] and name not in ("KERAS_BACKEND", "PYTHONPATH"):
                self.differences.append(f"{name}: {values[0] or 'not set'} and {values[1] or 'not set'}")

    def _files(self) -> None:
        pages = [cold_files.pages_from_disk(run) for run in (self.a, self.b)]
        if cold_files.is_colder(*pages) or cold_files.is_colder(*reversed(pages)):
            self.differences.append(
                f"pages of files read from disk before the training: {pages[0]:,} and {pages[1]:,}; that makes imports "
                "and starts slower"
            )

    def _load(self) -> None:
        loads = [_others_pct(run) for run in (self.a, self.b)]
        if any(load is not None and load > _BUSY_PCT for load in loads):
            told = " and ".join("not measured" if load is None else f"{load:.0f} %" for load in loads)
            self.differences.append(f"{LOAD} {told} of a core while training")
        hot = [_mean(run, "temperature_c") for run in (self.a, self.b)]
        if None not in hot and abs(hot[0] - hot[1]) > 15:  # type: ignore[operator]
            self.differences.append(f"temperature: {hot[0]:.0f} and {hot[1]:.0f} degrees")
        clocks = [scheduling.core_clock(run) for run in (self.a, self.b)]
        if None not in clocks and not _near(clocks[0], clocks[1], 0.05):
            self.differences.append(f"clock of the cores: {clocks[0]:.0f} and {clocks[1]:.0f} MHz")


def _of_loaders(a: Run, b: Run) -> Iterator[str]:
    """How the loaders that fed both runs differ: nothing where one was fed otherwise, as by arrays or by tf.data."""
    one, two = _loaders(a), _loaders(b)
    names = [[loader.called for loader in found] for found in (one, two)]
    if not one or not two:
        return
    if names[0] != names[1]:
        yield f"loaders: {', '.join(names[0])} and {', '.join(names[1])}"
        return
    for first, second in zip(one, two, strict=True):
        place = f" ({first.file}:{first.line})" if first.place else ""
        for (title, x), (_, y) in zip(_settings(first), _settings(second), strict=True):
            if x != y and None not in (x, y):
                yield f"{title} of the {first.called}{place}: {x} and {y}"


def _loaders(run: Run) -> list[Loader]:
    """The first loader that was made at each place: a script may make one anew for each epoch."""
    found: dict[tuple[str, tuple[str, int] | None], Loader] = {}
    for loader in loaders.of_run(run):
        found.setdefault((loader.called, loader.place), loader)
    return list(found.values())


def _settings(loader: Loader) -> tuple[tuple[str, str | None], ...]:
    """What was set of a loader, by its name for people; None: not set, or not known."""
    lasting = None if loader.persistent is None else "yes" if loader.persistent else "no"
    ahead = None if loader.queue is None else f"{loader.queue}{' for each worker' * loader.queue_per_worker}"
    size = None if loader.batch_size is None else f"{loader.batch_size}"
    return (
        ("workers", loader.staff),
        ("persistent workers", lasting),
        ("batches made ahead", ahead),
        ("batch size", size),
    )


def loss_difference(a: tuple[float, ...], b: tuple[float, ...], tolerance: float = LOSS_TOLERANCE) -> str | None:
    """Why two loss curves of equal length are not equivalent; None: they are, within the tolerance."""
    scale = max(abs(a[0]), abs(b[0])) if math.isfinite(a[0]) and math.isfinite(b[0]) else 0.0
    for epoch, (one, two) in enumerate(zip(a, b, strict=True), 1):
        if math.isfinite(one) != math.isfinite(two):
            return f"the loss of epoch {epoch} is {one:g} and {two:g}"
        if math.isfinite(one) and abs(one - two) > tolerance * scale:
            return (
                f"the losses differ: {one:.4g} and {two:.4g} in epoch {epoch}, by more than "
                f"{tolerance:.0%} of the first epoch's"
            )
    return None


def _incomplete(run: Run) -> Iterator[str]:
    """Why a run cannot be compared whatever the other is."""
    manifest = run.manifest
    if manifest.state == RunState.IMPORTED:
        return
    process = manifest.process
    if manifest.state == RunState.RUNNING:
        yield "has no end: its dlprof was killed, or is still at work"
    elif manifest.state == RunState.INTERRUPTED:
        yield "was interrupted"
    elif process.signal:
        yield f"was ended by signal {process.signal}"
    elif process.exit_code:
        yield f"failed with exit code {process.exit_code}"
    if not run.table("phases").num_rows:
        yield "has no phases: " + next(
            (row["reason"] for row in run.rows("probes") if row["name"] == "phases" and row["reason"]), "none were seen"
        )


def _is_imported(*runs: Run) -> bool:
    """Whether any of some runs is made of foreign traces."""
    return any(run.manifest.state == RunState.IMPORTED for run in runs)


def _script(run: Run) -> str | None:
    command = run.manifest.command
    name = command.script or command.program
    return PurePath(name).name if name else command.module


def _are_twins(a: Run, b: Run) -> bool:
    """Whether one run is of the model without Keras that stands in for the other's script."""
    stems = [PurePath(run.manifest.command.script or "").stem for run in (a, b)]
    native = [(run.manifest.backend.name or "").startswith("native-") for run in (a, b)]
    return any(native) and stems[0].partition("_")[0] == stems[1].partition("_")[0] != ""


def _digest(run: Run) -> str | None:
    """Of the script's text, where a copy is in the run folder."""
    name = PurePath(run.manifest.command.script or "").name
    lines = run.folder.source_lines(name) if name else []
    return hashlib.sha256("\n".join(lines).encode()).hexdigest() if lines else None


def _near(a: Any, b: Any, tolerance: float) -> bool:
    if a is None or b is None or isinstance(a, str) or isinstance(b, str):
        return bool(a == b) or a is None or b is None
    return bool(abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-12))


def _names(flags: Mapping[str, Any]) -> str:
    return ", ".join(sorted(flags)) or "none"


def _mean(run: Run, column: str) -> float | None:
    value = pc.mean(run.table("machine")[column]).as_py()
    return None if value is None else float(value)


def _others_pct(run: Run) -> float | None:
    return scheduling.mean_of_machine(run, scheduling.training_span(run, run.wall_ns or 0), "others_cpu_pct")
