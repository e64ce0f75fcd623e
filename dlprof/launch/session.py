"""One traced run: the process, the sidecars beside it, and their life together."""

from __future__ import annotations

import contextlib
import json
import linecache
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlprof_probes.sidecar.cores import walk
from dlprof_probes.sidecar.jsonl import anchor
from dlprof_probes.sidecar.stacks import StackSampler

from dlprof.backends import registry
from dlprof.config import PROBES, TraceConfig
from dlprof.launch import gpu_tracers, payload
from dlprof.launch.mark_file import MarkFile
from dlprof.launch.process import Outcome, TracedProcess
from dlprof.launch.target import Target
from dlprof.launch.view import Moment, View
from dlprof.rundir import RunDir, writing_into
from dlprof.schema.manifest import GpuTracer

_TICK_S = 0.1
_LOOK_S = 0.5
"""How often a Python is looked for among what a program has started."""
_READY_S = 5.0
"""How long py-spy waits for the script to begin: before that there is no Python to look at."""
_STOP_S = 5.0
_FULL_BYTES = 64 << 10
"""Less free space than this counts as a full disk."""


@dataclass
class Session:
    """Runs the target once.

    Attributes:
        states: State of each probe as far as it is known here: name to {state, reason, ...}.
        clock: Anchors of the run's clock.
        pid: The traced process; 0 before it was started.
    """

    config: TraceConfig
    target: Target
    run: RunDir
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    clock: dict[str, Any] = field(default_factory=dict)
    pid: int = 0
    _sampler: subprocess.Popen[bytes] | None = None
    _stacks: StackSampler | None = None
    _stacks_due: bool = False
    _marks: MarkFile | None = None
    _next_look: float = 0.0
    _gpu_tracer: gpu_tracers.GpuTracer = field(default_factory=lambda: gpu_tracers.GpuTracer("off", "not asked for"))

    def go(self, view: View) -> Outcome:
        """Run to the end, shown by `view`.

        Raises:
            CannotCreateError: The run folder cannot be written to.
            UnavailableError: The interpreter cannot be started, or a GPU tracer that was asked for is not there.
        """
        if self.config.wants("kernels"):
            self._gpu_tracer = gpu_tracers.choose(self.config.gpu_tracer)
        command = self._command()
        environment = self._environment()
        try:
            process = TracedProcess(command, environment, view.open(self.run))
            self._ignore(process, view)
            self.clock = {"anchor_start": anchor()}
            self.pid = process.start()
            self.clock["origin_perf_ns"] = process.start_ns
            self._start_sampler(process)
            self._stacks_due = self.config.wants("stacks")
            outcome = process.wait(lambda: self._tick(process, view), _TICK_S)
        finally:
            # The samplers first: closing the view may take a while, and measures nothing of the script.
            try:
                self._stop_sidecars()
                if self._marks is not None:
                    self._marks.stop()
            finally:
                self._close(view)
        self.clock["anchor_end"] = anchor()
        self._judge_inproc()
        payload.remove(self.run)
        payload.remove_keras_home(self.run)
        return outcome

    # -- before ------------------------------------------------------------------------------------

    def _command(self) -> list[str]:
        config = self.config
        if self.target.interpreter is None:
            return self._command_of_program()
        python = str(self.target.interpreter.path)
        lines = None
        if config.wants("lines") and self.target.no_lines is None:
            folder = self.target.line_profiler
            lines = {"patterns": list(config.lines), "package": str(folder) if folder else None}
        elif config.wants("lines"):
            self.states["lines"] = {"state": "unavailable", "reason": self.target.no_lines}
        for name in PROBES:
            if not config.wants(name):
                self.states[name] = {"state": "off", "reason": "not asked for"}
        if not config.wants("phases"):
            start = ["-m", config.module] if config.module else [config.script]
            return [*self._wrapper(), python, *start, *config.arguments]
        spec = self.target.spec
        engine = registry.engine_of(spec) if spec is not None and not spec.keras_backend else None
        staged = payload.stage(
            self.run,
            {
                "script": str(Path(config.script).absolute()) if config.script else config.module,
                "module": config.module,
                "argv": [config.script or config.module, *config.arguments],
                "lines": lines,
                "kernels": self._kernels(),
                "engine": engine.module if engine is not None else None,
                "live": config.live,
                "pid": str(self.run.payload / "pid") if self._gpu_tracer.wraps else None,
                "overrides": dict(config.overrides) or None,
            },
        )
        return [*self._wrapper(), python, *staged]

    def _command_of_program(self) -> list[str]:
        """A program that is no Python script: only what stands beside it can measure."""
        for name in PROBES:
            if not self.config.wants(name):
                self.states[name] = {"state": "off", "reason": "not asked for"}
        if self.config.wants("lines"):
            self.states["lines"] = {"state": "unavailable", "reason": self.target.no_lines}
        if self.config.wants("kernels") and not self._gpu_tracer.wraps:
            reason = "inside a program of another kind only nsys and nvprof see kernels"
            self.states["kernels"] = {"state": "unavailable", "reason": reason}
        if self.config.wants("phases"):
            self._marks = MarkFile(self.run.raw)
        return [*self._wrapper(), str(self.config.program), *self.config.arguments]

    def _kernels(self) -> dict[str, Any] | None:
        if not self.config.wants("kernels"):
            return None
        # Two tracers cannot have the GPU at once: under a tool the engine's own keeps to the host.
        return {
            "mode": self.config.kernels,
            "steps": self.config.kernel_steps,
            "gpu": self._gpu_tracer.name == "framework",
        }

    def _wrapper(self) -> list[str]:
        """The GPU tool that runs around the process, if there is one."""
        if self._gpu_tracer.wraps:
            gpu_tracers.prepare(self.run.raw)
        return self._gpu_tracer.command(self.run.raw)

    @property
    def gpu_tracer(self) -> GpuTracer:
        """What traced GPUs, and why that, for the manifest."""
        return GpuTracer(name=self._gpu_tracer.name, reason=self._gpu_tracer.reason)

    def _script_pid(self, process: TracedProcess) -> int:
        """The process of the script: under a GPU tool it is a child of the one that was started."""
        if not self._gpu_tracer.wraps:
            return process.pid
        try:
            return int((self.run.payload / "pid").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return process.pid

    def _environment(self) -> dict[str, str]:
        home = payload.make_keras_home(self.run, own=self.target.source != "managed")
        marks = {"DLPROF_MARK": str(self._marks.path)} if self._marks is not None else {}
        return {**self.target.environment, "KERAS_HOME": str(home), **marks}

    def _start_sampler(self, process: TracedProcess) -> None:
        wanted = [name for name in ("cores", "gpu") if self.config.wants(name)]
        if not wanted:
            return
        config = {
            "raw": str(self.run.raw),
            "pid": process.pid,
            "conductor": os.getpid(),
            "probes": wanted,
            "hz": self.config.cores_hz,
            "live": self.config.live,
        }
        path = self.run.raw / "sampler-config.json"
        try:
            path.write_text(json.dumps(config), encoding="utf-8")
            self._sampler = self._spawn_sampler(path)
            process.ignore(self._sampler.pid)
        except OSError as error:  # the script runs already: it goes on without the sampler
            for name in wanted:
                self.states[name] = {"state": "failed", "reason": f"the sampler cannot be started: {error.strerror}"}

    @staticmethod
    def _spawn_sampler(path: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "dlprof_probes.sidecar", str(path)], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=unblock_signals,
        )  # fmt: skip

    # -- meanwhile ---------------------------------------------------------------------------------

    def _tick(self, process: TracedProcess, view: View) -> None:
        if self._stacks_due:
            tree = self.target.interpreter is None
            pid = self._root_of_python(process) if tree else self._began(process)
            if pid is not None:
                self._stacks_due = False
                self._stacks = StackSampler(pid, self.run.raw, self.config.stacks_hz, tree=tree)
                self._stacks.start()
        if self._stacks is not None:
            self._stacks.poll()
            if self._stacks.pid is not None:
                process.ignore(self._stacks.pid)
        self._ignore(process, view)
        view.tick(self.run, Moment(process.pid, process.start_ns, process.interrupts, self._states_now()))

    @staticmethod
    def _ignore(process: TracedProcess, view: View) -> None:
        """The view's processes are none that the script started."""
        for pid in view.helpers():
            process.ignore(pid)

    def _states_now(self) -> dict[str, dict[str, Any]]:
        """State of each probe while the script runs, as far as it is known here."""
        states = {name: {"state": "starting", "reason": None} for name in PROBES}
        states.update(self.states)
        if self._stacks is not None:
            reason = self._stacks.reason
            states["stacks"] = {"state": "failed" if reason else "on", "reason": reason}
        return states

    def _began(self, process: TracedProcess) -> int | None:
        """The process of the script, once it runs."""
        if time.perf_counter_ns() - process.start_ns > _READY_S * 1e9:
            return self._script_pid(process)
        stream = self.run.raw / "inproc.wire"
        return self._script_pid(process) if stream.is_file() and stream.stat().st_size > 100 else None

    def _root_of_python(self, process: TracedProcess) -> int | None:
        """The program's process, once there is a Python in its tree."""
        now = time.monotonic()
        if now < self._next_look:
            return None
        self._next_look = now + _LOOK_S
        tree: dict[int, int] = {}
        walk(process.pid, 0, tree)
        for pid in tree:
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if Path(f"/proc/{pid}/exe").readlink().name.startswith(("python", "pypy")):
                    return process.pid
        return None

    # -- after -------------------------------------------------------------------------------------

    def _close(self, view: View) -> None:
        state = view.close()
        if state is not None:
            self.states["live"] = state

    def _stop_sidecars(self) -> None:
        if self._sampler is not None:
            stop_sampler(self._sampler)
        if self._stacks is not None:
            self._stacks.stop(_STOP_S)
        self._judge_stacks()
        if self.config.wants("cores") or self.config.wants("gpu"):
            self._judge_sampler()

    def _judge_sampler(self) -> None:
        path = self.run.raw / "sampler.json"
        try:
            states = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            states = {}
        code = self._sampler.returncode if self._sampler is not None else None
        for name in ("cores", "gpu"):
            if self.config.wants(name):
                self.states[name] = (
                    states.get(name)
                    or self.states.get(name)
                    or {
                        "state": "failed",
                        "reason": self._disk_full() or "the sampler did not start",
                    }
                )
                if code is not None and code < 0 and self.states[name]["state"] == "on":
                    self.states[name] = {"state": "failed", "reason": f"the sampler was killed by signal {-code}"}
        for spent in (path, self.run.raw / "sampler-config.json"):
            spent.unlink(missing_ok=True)

    def _judge_stacks(self) -> None:
        if not self.config.wants("stacks"):
            return
        stacks = self._stacks
        if stacks is None:
            self.states["stacks"] = {
                "state": "unavailable",
                "reason": (
                    "no Python process was seen in what the program started"
                    if self.target.interpreter is None
                    else "the process ended before py-spy could look at it"
                ),
            }
            return
        state = "on"
        if stacks.reason is not None:
            stacks.reason = self._disk_full() or stacks.reason
            state = "failed" if list(self.run.raw.glob("stacks-[0-9][0-9][0-9].json")) else "unavailable"
        source = "measured: CPU time of py-spy beside the process"
        self.states["stacks"] = {
            "state": state,
            "reason": stacks.reason,
            "cost_ns": stacks.cpu_ns,
            "cost_source": source,
        }

    def _disk_full(self) -> str | None:
        """The reason why something left nothing, if that is it."""
        return "the disk was full" if shutil.disk_usage(self.run.path).free < _FULL_BYTES else None

    def _judge_inproc(self) -> None:
        if not self.config.wants("phases") or self.target.interpreter is None:
            return
        reason = payload.failure(self.run)
        if reason is None and not (self.run.raw / "inproc.wire").is_file():
            reason = "the process ended before the probe could start"
        if reason is not None:
            self.states["phases"] = {"state": "failed", "reason": reason}
        (self.run.raw / "inproc.status").unlink(missing_ok=True)


def stop_sampler(sampler: subprocess.Popen[bytes], timeout_s: float = _STOP_S) -> None:
    """End the sampler in order, or else not."""
    try:
        sampler.communicate(b"stop\n", timeout=timeout_s)
    except (subprocess.TimeoutExpired, BrokenPipeError):
        sampler.kill()
        sampler.wait()


def unblock_signals() -> None:
    """Between fork and exec: a helper is not to inherit what dlprof blocks."""
    signal.pthread_sigmask(signal.SIG_SETMASK, set())


def keep_sources(run: RunDir, files: dict[str, str]) -> None:
    """Copy source files into the run folder, so that reports do not depend on the working tree.

    Args:
        run: The run folder.
        files: Short name (as in the tables) to absolute name.
    """
    for short, path in files.items():
        target = run.source_path(short)
        try:
            content = Path(path).read_bytes()
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        except OSError:
            continue  # the report then shows lines without their text


def keep_cells(run: RunDir, files: dict[str, str]) -> None:
    """Keep the text of cells whose lines were counted, as their shell compiled it; it is in no file.

    Args:
        run: The run folder.
        files: What the tables call them, to what they are called as compiled.
    """
    for short, name in files.items():
        target = run.source_path(short)
        with writing_into(run.path):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(linecache.getlines(name)), encoding="utf-8")
