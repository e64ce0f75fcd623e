"""One traced run of a script, or of any program: the process, what measures beside it, and their life together."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from dlprof.config import PROBES, TraceConfig
from dlprof.launch import (
    budget,
    follow_folder,
    following,
    gpu_tracers,
    payload,
    probe_settings,
    ranks,
    signals,
    stack_sampling,
)
from dlprof.launch.mark_file import MarkFile
from dlprof.launch.preloading import Preloading
from dlprof.launch.process import Outcome, TracedProcess
from dlprof.launch.recorded import Child, ProbeStates, Recorded, clock_between, read_anchor
from dlprof.launch.sampler import SAMPLED, Sampler, config_of
from dlprof.launch.sampler import outcome as sampler_outcome
from dlprof.launch.stack_sampling import PythonSearch, StackSampling
from dlprof.launch.target import Target
from dlprof.launch.view import STARTING, Progress, View
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Anchor, GpuTracer, Probe
from dlprof.schema.vocabulary import ProbeState

_TICK_S = 0.1
_STOP_S = 5.0
"""Probes of the sampler."""
_NO_KERNELS = "inside a program of another kind only nsys and nvprof see kernels"
_KERNELS_FOLLOWED = "those of the Pythons that it started are in their own runs"


class TracedScript:
    """Runs the target once.

    Args:
        config: What to trace, and how.
        target: What it runs on.
        run: The run folder.
        preloading: What is loaded while the script runs.
        begin: Takes each Python below it that is followed, when it is found.
    """

    def __init__(
        self,
        config: TraceConfig,
        target: Target,
        run: RunDir,
        preloading: Preloading | None = None,
        begin: following.Begin | None = None,
    ) -> None:
        self._config = config
        self._beside = budget.among_ranks(config, ranks.on_its_machine(os.environ) or 1)
        self._target = target
        self._run = run
        self._preloading = preloading or Preloading()
        self._states = ProbeStates.of(config)
        self._sampler: Sampler | None = None
        self._stacks: StackSampling | None = None
        self._marks: MarkFile | None = None
        self._entry: str | None = None
        self._begin = begin
        self._follow: Path | None = None
        self._following: following.Following | None = None
        self._gpu_tracer = gpu_tracers.GpuTracer("off", "not asked for")

    def go(self, view: View) -> Recorded:
        """Run to the end, shown by `view`.

        Raises:
            CannotCreateError: The run folder cannot be written to.
            UnavailableError: The interpreter cannot be started, or a GPU tracer that was asked for is not there.
        """
        if self._config.wants("kernels"):
            self._gpu_tracer = gpu_tracers.choose(self._config.gpu_tracer)
        if self._config.follows and self._begin is not None:
            self._stage_following(self._begin)
        command = self._command()
        environment = self._environment()
        try:
            process = TracedProcess(command, environment, view.open(self._run), self._config.wants("stacks"))
            self._ignore_helpers(process, view)
            start = read_anchor()
            process.start()
            outcome = self._watch(process, view)
        except BaseException:
            self._end_beside(view)
            self._last_probe()
            raise
        self._end_beside(view)
        return self._recorded(process, outcome, start)

    def _stage_following(self, begin: following.Begin) -> None:
        gpu = self._gpu_tracer.name == "framework"
        self._follow = follow_folder.stage(self._run, probe_settings.of_child(self._config, engine_traces_gpu=gpu))
        self._following = following.Following(self._config, self._run, begin, self._gpu_tracer_told())

    def _gpu_tracer_told(self) -> GpuTracer:
        return GpuTracer(name=self._gpu_tracer.name, reason=self._gpu_tracer.reason)

    def _watch(self, process: TracedProcess, view: View) -> Outcome:
        """Measure beside the process until it ends. It runs: no failure of ours may come out of here."""
        self._harmless(lambda: self._start_sampler(process), *SAMPLED)
        if self._following is not None:
            self._following.started(process.pid)
        self._harmless(lambda: self._preloading.tick(process.start_ns))
        if self._config.wants("stacks"):
            tree = self._target.interpreter is None
            python = PythonSearch(process.pid) if tree else self._python_of(process)
            self._stacks = StackSampling(self._run, self._beside, python, tree=tree, apart=self._apart)
        return process.wait(lambda: self._harmless(lambda: self._tick(process, view)), _TICK_S)

    def _apart(self) -> frozenset[int]:
        """Those below the process whose stacks are in runs of their own."""
        return self._following.sampled() if self._following is not None else frozenset()

    def _harmless(self, work: Callable[[], object], *probes: str) -> None:
        """Do some work while the script runs, or after it; where that fails, these probes have failed."""
        try:
            work()
        except Exception as error:  # noqa: BLE001  (whatever it is, the script and its end come first)
            gone = "" if self._run.raw.is_dir() else "the run folder was removed; "
            for name in probes:
                if self._config.wants(name):
                    self._states.note(name, ProbeState.FAILED, f"{gone}{type(error).__name__}: {error}")

    def _end_beside(self, view: View) -> None:
        # The samplers first: closing the view may take a while, and measures nothing of the script.
        if self._stacks is not None:
            self._harmless(self._stacks.ask_to_stop)
        self._harmless(self._stop_sampler, *SAMPLED)
        self._harmless(self._judge_sampler, *SAMPLED)
        if self._marks is not None:
            self._harmless(self._marks.stop, "phases")
        probe = view.close()
        if probe is not None:
            self._states.put(probe)

    def _recorded(self, process: TracedProcess, outcome: Outcome, start: Anchor) -> Recorded:
        end = read_anchor()
        children, counts = self._end_following(outcome)
        self._harmless(self._judge_phases, "phases")
        self._harmless(lambda: payload.remove(self._run))
        self._harmless(lambda: payload.remove_keras_home(self._run))
        return Recorded(
            outcome=outcome,
            pid=process.pid,
            clock=clock_between(start, end, process.start_ns),
            gpu_tracer=self._gpu_tracer_told(),
            probes=self._states.all_probes(),
            children=children,
            pythons=counts[0],
            not_followed=counts[1],
            last_probe=self._last_probe if self._stacks is not None else None,
        )

    def _end_following(self, outcome: Outcome) -> tuple[tuple[Child, ...], tuple[int, int]]:
        """The Pythons that were followed, and how many there were beside them; nothing of ours may come out of here."""
        found: list[Child] = []
        counts = [(0, 0)]
        if self._following is not None:
            followed = self._following
            self._harmless(lambda: found.extend(followed.stop(outcome.interrupts)))
            self._harmless(lambda: counts.append(followed.counts))
        return tuple(found), counts[-1]

    # -- before ------------------------------------------------------------------------------------

    def _command(self) -> list[str]:
        if self._config.wants("lines") and self._target.no_lines is not None:
            self._states.note("lines", ProbeState.UNAVAILABLE, self._target.no_lines)
        command = self._command_of_program() if self._target.interpreter is None else self._command_of_script()
        if self._gpu_tracer.wraps:
            gpu_tracers.prepare(self._run.raw)
        return [*self._gpu_tracer.command(self._run.raw), *command]

    def _command_of_script(self) -> list[str]:
        config = self._config
        assert self._target.interpreter is not None  # noqa: S101  (asked by the caller)
        python = str(self._target.interpreter.path)
        if not config.wants("phases"):
            return [python, *(["-m", config.module] if config.module else [config.script]), *config.arguments]
        settings = probe_settings.of_script(
            self._run,
            config,
            self._target,
            # Two tracers cannot have the GPU at once: under a tool the engine's own keeps to the host.
            engine_traces_gpu=self._gpu_tracer.name == "framework",
            wrapped=self._gpu_tracer.wraps,
            follow=self._follow,
        )
        staged = payload.stage(self._run, settings)
        self._entry = staged[0]
        return [python, *staged]

    def _command_of_program(self) -> list[str]:
        """A program that is no Python script: only what stands beside it can measure."""
        if self._config.wants("kernels") and not self._gpu_tracer.wraps:
            reason = _KERNELS_FOLLOWED if self._follow is not None else _NO_KERNELS
            self._states.note("kernels", ProbeState.UNAVAILABLE, reason)
        if self._config.wants("phases"):
            self._marks = MarkFile(self._run.raw)
        return [str(self._config.program), *self._config.arguments]

    def _environment(self) -> dict[str, str]:
        home = payload.make_keras_home(self._run, own=self._target.source != "managed")
        marks = {"DLPROF_MARK": str(self._marks.path)} if self._marks is not None else {}
        environment = {**self._target.environment, "KERAS_HOME": str(home), **marks}
        for folder in (self._follow, self._entry):
            if folder is not None:
                environment["PYTHONPATH"] = payload.python_path(str(folder), environment.get("PYTHONPATH"))
        return environment

    # -- meanwhile ---------------------------------------------------------------------------------

    def _start_sampler(self, process: TracedProcess) -> None:
        config = config_of(self._beside, self._run.raw, process.pid)
        if config is None:
            return
        self._sampler = Sampler(replace(config, live=self._config.live), in_child=signals.unblock)
        try:
            self._sampler.prepare()
            process.ignore(self._sampler.start())
        except OSError as error:  # the script runs already: it goes on without the sampler
            for name in config.probes:
                self._states.note(name, ProbeState.FAILED, f"the sampler cannot be started: {error.strerror}")

    def _tick(self, process: TracedProcess, view: View) -> None:
        if self._stacks is not None:
            self._harmless(lambda: self._tick_stacks(process), "stacks")
        if self._following is not None:
            for pid in self._following.tick():
                process.ignore(pid)
        if self._is_itself(process):
            process.look_at_program()
        self._preloading.tick(process.start_ns)
        view.tick(self._run, Progress(process.pid, process.start_ns, process.interrupts, self._states_now()))
        self._ignore_helpers(process, view)

    def _is_itself(self, process: TracedProcess) -> bool:
        """Whether the process runs the script by now: a shim may stand before its interpreter."""
        silent = self._target.interpreter is None or not self._config.wants("phases")
        return silent or stack_sampling.has_begun(self._run, process.start_ns)

    def _tick_stacks(self, process: TracedProcess) -> None:
        assert self._stacks is not None  # noqa: S101  (asked by the caller)
        try:
            self._stacks.tick()
        finally:
            if self._stacks.pid is not None:
                process.ignore(self._stacks.pid)

    @staticmethod
    def _ignore_helpers(process: TracedProcess, view: View) -> None:
        """The view's processes are none that the script started."""
        for pid in view.helpers():
            process.ignore(pid)

    def _states_now(self) -> dict[str, Probe]:
        """State of each probe while the script runs, as far as it is known here."""
        states = {name: Probe(name=name, state=STARTING) for name in PROBES}
        states.update({probe.name: probe for probe in self._states})
        ended = self._sampler.ended if self._sampler is not None else None
        if ended is not None:
            wanted = (name for name in SAMPLED if self._config.wants(name))
            states.update({name: Probe(name=name, state=ProbeState.FAILED, reason=ended) for name in wanted})
        stacks = self._stacks.state_now() if self._stacks is not None else None
        return {**states, "stacks": stacks} if stacks is not None else states

    def _python_of(self, process: TracedProcess) -> Callable[[], int | None]:
        """What gives the process of the script, once it runs."""
        return lambda: self._script_pid(process) if stack_sampling.has_begun(self._run, process.start_ns) else None

    def _script_pid(self, process: TracedProcess) -> int:
        """The process of the script: under a GPU tool it is a child of the one that was started."""
        if not self._gpu_tracer.wraps:
            return process.pid
        try:
            return int(probe_settings.pid_file(self._run).read_text(encoding="ascii"))
        except (OSError, ValueError):
            return process.pid

    # -- after -------------------------------------------------------------------------------------

    def _stop_sampler(self) -> None:
        if self._sampler is not None:
            self._sampler.stop(_STOP_S)

    def _last_probe(self) -> Probe:
        """What became of the stacks: py-spy ends at its next sample, and others need not wait for it."""
        self._harmless(self._stop_stacks, "stacks")
        return self._states.get("stacks") or Probe(name="stacks")

    def _stop_stacks(self) -> None:
        if self._stacks is not None:
            self._stacks.stop(_STOP_S)
            self._states.put(self._stacks.outcome())

    def _judge_sampler(self) -> None:
        if self._sampler is None:
            return
        reports, ended = self._sampler.reports(), self._sampler.ended
        disk_full = self._run.disk_full()
        for name in SAMPLED:
            if self._config.wants(name) and self._states.get(name) is None:
                self._states.put(sampler_outcome(name, reports.get(name), ended, disk_full))

    def _judge_phases(self) -> None:
        if not self._config.wants("phases") or self._target.interpreter is None:
            return
        reason = payload.failure(self._run)
        if reason is None and not (self._run.raw / "inproc.wire").is_file():
            reason = "the process ended before the probe could start"
        if reason is not None:
            self._states.note("phases", ProbeState.FAILED, reason)
        payload.status_file(self._run).unlink(missing_ok=True)
