"""The sampler process: `python -m dlprof_probes.sidecar CONFIG.json`, started by the conductor.

It runs in a session of its own, so that Ctrl-C at the terminal does not reach it, and at the lowest
priority, so that it takes no time from a busy machine. Its standard input is a pipe from the
conductor: the line `stop` ends it in order; the end of the file means that the conductor died, and then
it ends the traced process and what that has started, so that nothing is left behind.

Where the traced process is itself the conductor (a notebook's), the configuration names none. The sampler then
looks after py-spy too, which the traced process could not do without being disturbed, and ends nobody.
"""

from __future__ import annotations

from dlprof_probes import own_path

own_path.settle(first=__name__ == "__main__")  # before modules are loaded that a file of the user's may hide

import json  # noqa: E402
import os  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from dlprof_probes.sidecar import jsonl  # noqa: E402
from dlprof_probes.sidecar.cores import Cores  # noqa: E402
from dlprof_probes.sidecar.gpu import Gpu  # noqa: E402
from dlprof_probes.sidecar.rate import Rate  # noqa: E402
from dlprof_probes.sidecar.stacks import StackSampler  # noqa: E402
from dlprof_probes.sidecar.unavailable import Unavailable  # noqa: E402

_GRACE_S = 5.0
_LEAST_HZ = 0.5
"""Of a tree of many processes with many threads a sample takes milliseconds."""
_NEAR_HZ, _NEAR_SAMPLES = 4.0, 240
"""Near a limit of memory samples are not rarer than this, for so many of them."""
_STATE_BYTES = 2048
"""Room for what is said of the probes."""


def main() -> None:
    """Sample until told to stop."""
    config = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    _become_background_process()
    sampler = _Sampler(config)
    orderly = sampler.run()
    if not orderly and config["conductor"] is not None and config.get("ends_traced", True):
        _end_traced(config["pid"], sampler.tree())
    sampler.finish()


def _become_background_process() -> None:
    try:
        os.nice(19)
    except OSError:
        pass
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


class _Sampler:
    """The probes that were asked for and could be started, and what became of each.

    Args:
        config: What the conductor wrote (`CONFIG.json`).
    """

    def __init__(self, config: dict[str, Any]) -> None:
        raw = Path(config["raw"])
        flush_ns = jsonl.LIVE_FLUSH_NS if config.get("live") else jsonl.FLUSH_NS
        self._rate = Rate(float(config["hz"]), config.get("share"), _LEAST_HZ)
        self._asked_hz = self._rate.hz
        self._near_left = _NEAR_SAMPLES
        self._missed = 0
        self._states: dict[str, Any] = {}
        self._cores: Cores | None = None
        self._gpu: Gpu | None = None
        if "cores" in config["probes"]:
            self._cores = self._start("cores", lambda: self._make_cores(raw, config, flush_ns))
        if "gpu" in config["probes"]:
            self._gpu = self._start("gpu", lambda: Gpu(raw, self.tree, flush_ns))
        self._stacks: StackSampler | None = None
        if "stacks" in config["probes"]:
            self._stacks = StackSampler(config["pid"], raw, config["stacks_hz"], share=config.get("stacks_share"))
            self._stacks.start()
        self._state_path = raw / "sampler.json"
        self._write_states()

    @staticmethod
    def _make_cores(raw: Path, config: dict[str, Any], flush_ns: int) -> Cores:
        conductor = config["conductor"] if config["conductor"] is not None else os.getpid()
        keep = config.get("keep_arguments", False)
        return Cores(raw, config["pid"], conductor, flush_ns, program=config.get("program"), keep_arguments=keep)

    def _start(self, name: str, make: Any) -> Any:
        try:
            probe = make()
        except Unavailable as error:
            self._states[name] = {"state": "unavailable", "reason": str(error)}
            return None
        except Exception as error:  # noqa: BLE001  (one probe that fails must not end the other)
            self._states[name] = {"state": "failed", "reason": f"{type(error).__name__}: {error}"}
            return None
        self._states[name] = {"state": "on", "reason": None}
        return probe

    def _write_states(self) -> None:
        """Into a file that keeps its first size, so that a disk that is full by then cannot keep it back."""
        text = json.dumps(self._states).encode().ljust(_STATE_BYTES)
        try:
            with self._state_path.open("r+b" if self._state_path.is_file() else "xb") as file:
                file.write(text)
                file.truncate()
        except OSError:
            pass

    def tree(self) -> list[int]:
        """The traced process and its descendants, as last seen."""
        return self._cores.tree() if self._cores is not None else []

    def run(self) -> bool:
        """Sample at the set rate; returns False when the conductor died."""
        due = time.monotonic()
        while True:
            self._sample("cores", self._cores)
            self._sample("gpu", self._gpu)
            if self._stacks is not None:
                self._stacks.poll()
            self._rate.look()
            interval_s = 1 / self._hz()
            due += interval_s
            late = time.monotonic() - due
            if late > 0:  # the machine is busy: leave samples out rather than hurry after them
                skipped = int(late / interval_s) + 1
                self._missed += skipped
                due += skipped * interval_s
            answer = self._stopped(due)
            if answer is not None:
                return answer

    def _hz(self) -> float:
        """How often it is sampled now: near a limit of memory as often as was asked for, or nearly so, for a minute.

        One that is killed there is not there for long, and what led to it is worth more than these samples cost; one
        that stays there has the rate that it may cost.
        """
        if self._cores is None or not self._cores.is_near:
            self._near_left = _NEAR_SAMPLES
            return self._rate.hz
        self._near_left = max(0, self._near_left - 1)
        return max(self._rate.hz, min(_NEAR_HZ, self._asked_hz)) if self._near_left else self._rate.hz

    def _sample(self, name: str, probe: Cores | Gpu | None) -> None:
        if probe is None or self._states[name]["state"] != "on":
            return
        try:
            probe.sample()
        except Exception as error:  # noqa: BLE001  (one probe that fails must not end the other)
            self._states[name] = {"state": "failed", "reason": f"{type(error).__name__}: {error}"}
        if probe.writer.failed:
            self._states[name] = {"state": "failed", "reason": probe.writer.failed}

    def _stopped(self, due: float) -> bool | None:
        """Wait until `due`; None: go on, True: told to stop, False: the conductor is gone."""
        wait = max(0.0, due - time.monotonic())
        readable, _, _ = select.select([sys.stdin], [], [], wait)
        if not readable:
            return None
        return sys.stdin.readline().strip() == "stop"

    def finish(self) -> None:
        """Close the files with what the sampling cost."""
        if self._stacks is not None:
            self._stacks.stop(_GRACE_S)
            self._states["stacks"] = {
                "reason": self._stacks.reason,
                "failed": self._stacks.failed,
                "cpu_ns": self._stacks.cpu_ns,
            }
            self._note_thinned("stacks", self._stacks.thinned())
        for name, probe in (("cores", self._cores), ("gpu", self._gpu)):
            self._note_thinned(name, self._rate.thinned() if probe is not None else None)
        cost = {"cost_cpu_ns": time.process_time_ns(), "missed": self._missed}
        if self._cores is not None:
            self._cores.read_all_next()
            self._sample("cores", self._cores)
            self._cores.writer.finish({**cost, **self._cores.trailer()})
        if self._gpu is not None:
            self._gpu.writer.finish({**cost, **self._gpu.trailer()})
        self._write_states()

    def _note_thinned(self, name: str, told: dict[str, Any] | None) -> None:
        if told is not None:
            self._states[name] = {**self._states[name], "thinned": told}


def _end_traced(pid: int, tree: list[int]) -> None:
    """End the traced process and its descendants: politely, then not."""
    pids = list(dict.fromkeys([pid, *tree]))
    for number, wait_s in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, 0.0)):
        for each in pids:
            try:
                os.kill(each, number)
            except OSError:
                pass
        end = time.monotonic() + wait_s
        while time.monotonic() < end and any(_alive(each) for each in pids):
            time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state not in (b"Z", b"X")


if __name__ == "__main__":
    main()
    os._exit(0)  # all is written; the conductor waits for the end of this process, not for that of its modules
