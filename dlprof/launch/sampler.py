"""The sampler beside the traced process: started, stopped, and asked what became of its probes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dlprof.schema import process_config
from dlprof.schema.process_config import SamplerConfig, SamplerReport


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
            [sys.executable, "-P", "-m", "dlprof_probes.sidecar", str(self._file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
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
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            self._process.wait()

    @property
    def killed_by(self) -> int | None:
        """The signal that ended it; None: none did, or it did not end."""
        code = self._process.returncode if self._process is not None else None
        return -code if code is not None and code < 0 else None

    def reports(self) -> dict[str, SamplerReport]:
        """What it said of its probes, by name; its files are removed."""
        try:
            reports = process_config.decode_reports(self._answer.read_bytes())
        except OSError:
            reports = {}
        for spent in (self._answer, self._file):
            spent.unlink(missing_ok=True)
        return reports
