"""The input pipelines of a run: each loader's work by worker and stage, from sampled stacks, and where it stood.

Stages are shares of samples; passes, waits and CPU times are measured. What a worker does outside of Python's own
frames (a library in C, reading inside of it) is in the stage of the line that called it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dlprof.analysis import input_stages, loaders, phase_threads, program, samples
from dlprof.analysis.columns import integers
from dlprof.analysis.input_stages import ITEMS
from dlprof.analysis.loaders import Loader
from dlprof.analysis.phase_threads import PhaseThreads
from dlprof.analysis.stacks import Frame, frames_by_stack
from dlprof.schema.vocabulary import InputStage
from dlprof.store.run import Run

CALLING = "calling thread"
"""What asks for batches."""
_COLUMNS = ("pid", "thread_id", "thread", "start_ns", "dur_ns", "stack_id")
_TOP = 3
_DEEP = 4
"""Passes that may be inside of each other: a validation in a training."""


@dataclass(frozen=True)
class StageTime:
    """A stage of one or of several threads.

    Attributes:
        sampled_ns: For how long they stood in it, by the samples (ns).
        share: Of all samples of theirs.
    """

    stage: InputStage
    sampled_ns: int
    share: float


@dataclass(frozen=True)
class InputLine:
    """A line of the user's in which items or batches were made; `share`: of that work."""

    file: str
    line: int
    share: float


@dataclass(frozen=True)
class InputWorker:
    """A worker of a loader in all passes, or what asks for batches.

    Attributes:
        name: `worker 0`, or `calling thread`.
        cpu_ns: CPU time of its processes (ns); None: it is a thread, or not measured.
        stages: What it did, by the samples; empty: it was not sampled.
        lines: The user's lines in which it made items.
    """

    name: str
    cpu_ns: int | None
    stages: tuple[StageTime, ...]
    lines: tuple[InputLine, ...]

    @property
    def sampled_ns(self) -> int:
        """For how long it was seen (ns)."""
        return sum(one.sampled_ns for one in self.stages)

    def stood_ns(self, *stages: InputStage) -> int:
        """For how long it was seen in some stages (ns)."""
        return sum(one.sampled_ns for one in self.stages if one.stage in stages)

    @property
    def busy(self) -> float | None:
        """Share of its samples, but for starting and stopping, in which it made batches; None: not sampled."""
        whole = self.sampled_ns - self.stood_ns(InputStage.STARTING)
        return self.stood_ns(*ITEMS, InputStage.HANDING_OVER) / whole if whole else None


@dataclass(frozen=True)
class InputPipeline:
    """A loader, and who worked for it.

    Attributes:
        workers: In order of their numbers; without workers, nobody.
        calling: What asked for batches; None: it was not sampled.
        untold: What is not known of it, a sentence each.
    """

    loader: Loader
    workers: tuple[InputWorker, ...]
    calling: InputWorker | None
    untold: tuple[str, ...]

    @property
    def lines(self) -> tuple[InputLine, ...]:
        """Lines of the user's in which batches were made, by whomever."""
        makers = [one for one in (*self.workers, self.calling) if one is not None]
        times: dict[tuple[str, int], float] = defaultdict(float)
        for maker in makers:
            made = maker.stood_ns(*ITEMS)
            for line in maker.lines:
                times[line.file, line.line] += line.share * made
        whole = sum(maker.stood_ns(*ITEMS) for maker in makers)
        most = sorted(times.items(), key=lambda item: (-item[1], item[0]))[:_TOP]
        return tuple(InputLine(file, line, ns / whole) for (file, line), ns in most if whole)


def of_run(run: Run) -> tuple[InputPipeline, ...]:
    """The pipelines of the loaders that gave something, those with most time first."""
    found = [loader for loader in loaders.of_run(run) if loader.items]
    if not found:
        return ()
    stood = _Stood(run, found)
    made = [_pipeline(loader, stood) for loader in found]
    return tuple(sorted(made, key=lambda one: -sum(p.end_ns - p.start_ns for p in one.loader.passes)))


Key = tuple[int, int]
"""Number of a loader, and of its worker; -1: what asks."""
_ASKS = -1


class _Stood:
    """For how long each worker of each loader stood in which stage and line."""

    def __init__(self, run: Run, found: Sequence[Loader]) -> None:
        self.stages: dict[Key, dict[InputStage, int]] = defaultdict(lambda: defaultdict(int))
        self.lines: dict[Key, dict[tuple[str, int], int]] = defaultdict(lambda: defaultdict(int))
        self._owners = {one.pid: (loader.number, one.index) for loader in found for one in loader.processes}
        self._by_number = {loader.number: loader for loader in found}
        self._passes = sorted((one.start_ns, one.end_ns, loader.number) for loader in found for one in loader.passes)
        self._starts = np.array([start for start, _, _ in self._passes], np.int64)
        self._frames = frames_by_stack(run)
        self._users = samples.user_files(run)
        self._collates = {loader.collate for loader in found if loader.collate}
        self._sources: dict[str, Sequence[str]] = {}
        self._run = run
        self._known: dict[int, InputStage | None] = {}
        self._threads: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)
        self._beside = program.others(run)
        whose = phase_threads.of_run(run)
        for piece in run.pieces("stacks", _COLUMNS):
            self._add(program.rows_of(piece, self._beside), whose)
            if self._beside:
                self._add(program.rows_beside(piece, self._beside), PhaseThreads(None))

    def _add(self, piece: pa.Table, whose: PhaseThreads) -> None:
        piece, is_main = whose.split(piece)
        columns = (integers(piece[name]) for name in ("pid", "thread_id", "start_ns", "dur_ns", "stack_id"))
        pid, thread, start, dur, stack = columns
        place = self._pass_of(start)
        keys, group = np.unique(
            np.stack((pid, thread, is_main.astype(np.int64), place, stack)), axis=1, return_inverse=True
        )
        sums = np.zeros(keys.shape[1], np.int64)
        np.add.at(sums, group.reshape(-1), dur)
        for number, ns in enumerate(sums.tolist()):
            of_pid, of_thread, on_main, within, in_stack = (int(one) for one in keys[:, number])
            self._take(of_pid, of_thread, on_main, within, in_stack, ns)

    def _pass_of(self, moments: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The pass, the last to begin, that each moment is in; -1: none."""
        place = np.searchsorted(self._starts, moments, side="right") - 1
        ends = np.array([end for _, end, _ in self._passes], np.int64)
        for _ in range(_DEEP):
            place = np.where((place >= 0) & (ends[place] < moments), place - 1, place)
        return np.where((place >= 0) & (ends[place] < moments), -1, place)

    def _take(self, pid: int, thread: int, is_main: int, place: int, stack: int, ns: int) -> None:
        frames = self._frames.get(stack)
        if frames is None:
            return
        owner = self._owners.get(pid)
        stage = self._stage(stack, frames)
        if owner is not None:
            self._count(owner, stage or input_stages.of_worker(frames, is_main=is_main == 1), frames, ns)
        elif pid not in self._beside and place >= 0 and stage is not None:
            number = self._passes[place][2]
            if stage is InputStage.WAITING and not self._by_number[number].workers:
                stage = InputStage.MAKING  # nobody is waited for: it draws the indices of the next batch
            key = self._of_program(number, place, thread, stage, is_main=is_main == 1)
            if key is not None:
                self._count(key, stage, frames, ns)

    def _of_program(self, number: int, place: int, thread: int, stage: InputStage, *, is_main: bool) -> Key | None:
        """Whose a thread of the program is: threads that make batches are workers, those of a later pass the same."""
        loader = self._by_number[number]
        if is_main or stage in (InputStage.WAITING, InputStage.RECEIVING, InputStage.STARTING, InputStage.PINNING):
            return number, _ASKS
        if loader.uses_processes and loader.workers:
            return None
        if not loader.workers:
            return None if stage is InputStage.RESTING else (number, _ASKS)
        turn = self._threads[number, place].setdefault(thread, len(self._threads[number, place]))
        return number, turn % loader.workers

    def _count(self, key: Key, stage: InputStage | None, frames: Sequence[Frame], ns: int) -> None:
        if stage is None:
            return
        self.stages[key][stage] += ns
        if stage in ITEMS:
            inside = frames[: input_stages.fetch_place(frames)]
            users = next((frame for frame in inside if frame.file in self._users), None)
            if users is not None:
                self.lines[key][users.file, users.line] += ns

    def _stage(self, stack: int, frames: Sequence[Frame]) -> InputStage | None:
        if stack not in self._known:
            self._known[stack] = input_stages.stage_of(frames, self._collates, self._source)
        return self._known[stack]

    def _source(self, file: str, line: int) -> str:
        if file not in self._users:
            return ""
        if file not in self._sources:
            self._sources[file] = self._run.folder.source_lines(file)
        lines = self._sources[file]
        return lines[line - 1] if 0 < line <= len(lines) else ""


def _pipeline(loader: Loader, stood: _Stood) -> InputPipeline:
    numbers = range(loader.workers)
    workers = tuple(_worker(f"worker {n}", (loader.number, n), loader, stood) for n in numbers)
    calling = _worker(CALLING, (loader.number, _ASKS), loader, stood)
    seen = calling if calling.stages else None
    return InputPipeline(loader, workers, seen, tuple(_untold(loader, workers, calling)))


def _worker(name: str, key: Key, loader: Loader, stood: _Stood) -> InputWorker:
    times, lines = stood.stages.get(key, {}), stood.lines.get(key, {})
    whole, made = sum(times.values()), sum(ns for stage, ns in times.items() if stage in ITEMS)
    cpu = [one.cpu_ns for one in loader.processes if one.index == key[1] and one.cpu_ns is not None]
    most = sorted(lines.items(), key=lambda item: (-item[1], item[0]))[:_TOP]
    return InputWorker(
        name=name,
        cpu_ns=sum(cpu) if cpu else None,
        stages=tuple(StageTime(stage, times[stage], times[stage] / whole) for stage in InputStage if stage in times),
        lines=tuple(InputLine(file, line, ns / made) for (file, line), ns in most if made),
    )


def _untold(loader: Loader, workers: Sequence[InputWorker], calling: InputWorker) -> list[str]:
    said = []
    unseen = sum(1 for one in workers if not one.stages)
    if unseen:
        said.append(f"{unseen} of {len(workers)} workers were not sampled: what they did is not known")
    if not workers and not calling.stages:
        said.append("no stack was sampled while it made batches: its stages are not known")
    if loader.workers and loader.uses_processes and not loader.processes:
        said.append("no process of its workers was seen: their CPU time is not known")
    return said
