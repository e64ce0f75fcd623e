"""The sampler beside the traced process: started, stopped, and asked what became of its probes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dlprof.config import TraceConfig
from dlprof.launch import budget, bytecode
from dlprof.schema import process_config
from dlprof.schema.manifest import Probe
from dlprof.schema.process_config import SamplerConfig, SamplerReport
from dlprof.schema.vocabulary import ProbeState

SAMPLED = ("cores", "gpu")
"""Probes that it has everywhere."""


def config_of(config: TraceConfig, raw: Path, pid: int, probes: Sequence[str] = SAMPLED) -> SamplerConfig | None:
    """What a sampler of dlprof's is told; None: none of these probes is wanted.

    Args:
        config: How to trace.
        raw: Folder that takes its files.
        pid: The process that is looked at.
        probes: Those that it may have.
    """
    wanted = tuple(name for name in probes if config.wants(name))
    if not wanted:
        return None
    return SamplerConfig(
        raw=str(raw),
        pid=pid,
        conductor=os.getpid(),
        probes=wanted,
        hz=config.cores_hz,
        share=budget.of("cores", config),
        keep_arguments=config.keep_arguments,
    )


class Sampler:
    """A process that samples until it is told to stop, or until dlprof is gone.

    Args:
        config: What it is told.
        in_child: Called between fork and exec; not to be had in a process with threads.
    """

    def __init__(self, config: SamplerConfig, in_child: Callable[[], None] | None = None) -> None:
        self._config = config
        self._in_child = in_child
        self._file = Path(config.raw) / "sampler-config.json"
        self._answer = Path(config.raw) / "sampler.json"
        self._process: subprocess.Popen[bytes] | None = None
        self._timed_out = False

    def prepare(self) -> None:
        """Write its configuration.

        Raises:
            OSError: That cannot be written.
        """
        self._file.write_bytes(process_config.encode(self._config))

    def start(self) -> int:
        """Start it; returns its process number.

        Raises:
            OSError: It cannot be started.
        """
        self._process = subprocess.Popen(
            [sys.executable, *bytecode.flags(), "-P", "-m", "dlprof_probes.sidecar", str(self._file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,  # it says nothing: a pipe's end is seen at once, a process's by polling
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=self._in_child,
        )
        return self._process.pid

    def wait_until_ready(self, timeout_s: float) -> None:
        """Wait until it samples, or has ended, or the time is up."""
        deadline = time.monotonic() + timeout_s
        while not self._answer.is_file() and self._is_alive() and time.monotonic() < deadline:
            time.sleep(0.005)

    def _is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self, timeout_s: float) -> None:
        """End it in order, or else not."""
        if self._process is None:
            return
        try:
            self._process.communicate(b"stop\n", timeout=timeout_s)
        except BrokenPipeError:  # it has ended already
            self._process.wait()
        except subprocess.TimeoutExpired:
            self._timed_out = True
            self._process.kill()
            self._process.wait()

    @property
    def ended(self) -> str | None:
        """How it came to its end, as a clause, if not in order; None: it did, or runs."""
        code = self._process.poll() if self._process is not None else None
        if not code:
            return None
        if self._timed_out:
            return "the sampler did not end when it was told to, and was killed"
        return f"the sampler was killed by signal {-code}" if code < 0 else f"the sampler failed with exit code {code}"

    def reports(self) -> dict[str, SamplerReport]:
        """What it said of its probes, by name; its files are removed."""
        try:
            reports = process_config.decode_reports(self._answer.read_bytes())
        except OSError:
            reports = {}
        for spent in (self._answer, self._file):
            spent.unlink(missing_ok=True)
        return reports


def outcome(name: str, report: SamplerReport | None, ended: str | None, disk_full: str | None) -> Probe:
    """What became of a probe of the sampler, by all that is known of that beside its file.

    Args:
        name: The probe.
        report: What the sampler said of it; None: nothing.
        ended: How the sampler came to its end, if not in order.
        disk_full: The reason, if the disk is full.
    """
    if report is not None and report.state != ProbeState.ON:
        full = disk_full if report.state == ProbeState.FAILED else None
        return Probe(name=name, state=report.state, reason=full or report.reason)
    if ended is not None:
        return Probe(name=name, state=ProbeState.FAILED, reason=disk_full or ended)
    if report is None:
        return Probe(name=name, state=ProbeState.FAILED, reason=disk_full or "the sampler did not start")
    return Probe(name=name, state=report.state, reason=report.reason, thinned=report.thinned)
