"""The probe inside a process that runs already: Python itself starts it there, and ends it (`sys.remote_exec`).

From Python 3.14 on an interpreter runs a script that another process names to it, between two instructions of its main
thread. The one who names it must be an interpreter of the same version: the process's own program is one.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from pathlib import Path

import msgspec
from dlprof_probes.sidecar import proc

from dlprof.config import TraceConfig
from dlprof.errors import UnavailableError
from dlprof.launch import payload, probe_copy, probe_settings
from dlprof.launch.running_process import RunningProcess
from dlprof.rundir import RunDir, writing_into
from dlprof.schema import process_config

PROBES = ("phases", "kernels")
"""Those that are begun inside. Lines cannot be counted in code that runs already: theirs are from samples."""
OLDER = "the process runs Python {version}: only from 3.14 on a probe can be started inside"
_FIRST = (3, 14)
_NAME = "import sys; sys.remote_exec(int(sys.argv[1]), sys.argv[2])"
_ASK_S = 10.0
_END_S = 10.0
"""How long the main thread may stand outside of Python before nobody waits for it any longer."""
_TICK_S = 0.02
_SCRIPT = """\
def _dlprof(folder, config, call):
    import os, sys
    known = "dlprof_probes" in sys.modules
    if not os.path.exists(config) or known is (call == "begin"):
        return
    if not known:
        from importlib.util import module_from_spec, spec_from_file_location
        package = os.path.join(folder, "dlprof_probes")
        spec = spec_from_file_location("dlprof_probes", os.path.join(package, "__init__.py"),
                                       submodule_search_locations=[package])
        sys.modules["dlprof_probes"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
    from dlprof_probes.inproc import attached
    getattr(attached, call)(config)


_dlprof({folder!r}, {config!r}, {call!r})
"""


class _Told(msgspec.Struct, frozen=True):
    """What the process says of its probe (`dlprof_probes.inproc.attached`)."""

    state: str = ""
    """`on`, `failed` or `over`; empty: nothing yet."""
    reason: str | None = None
    problems: tuple[str, ...] = ()


class Inside:
    """The probe in a process.

    Args:
        config: What to measure.
        process: The process.
        run: The run folder.
    """

    def __init__(self, config: TraceConfig, process: RunningProcess, run: RunDir) -> None:
        self._config = config
        self._process = process
        self._run = run
        self._asked = False
        self.problems: tuple[str, ...] = ()
        """What could not be put back in the process."""

    def begin(self) -> None:
        """Ask for it. It begins when the main thread is between two instructions of Python.

        Raises:
            UnavailableError: It cannot be asked for; why.
            CannotCreateError: The run folder cannot be written to.
        """
        python = self._interpreter()
        self._check_version(python)
        with writing_into(self._run.path):
            self.stage()
        self._name(python, self._script("begin"))
        self._asked = True

    @property
    def was_there(self) -> bool:
        """Whether it has begun, as far as the process has said."""
        return self._told().state in {"on", "over"}

    def end(self) -> str | None:
        """Have it ended, and wait for that.

        Returns:
            Why nothing, or not all, was measured inside; None: all went well.
        """
        if not self._asked:
            return None
        told = self._told()
        if told.state == "failed":
            return f"the in-process probe did not start: {told.reason}"
        if not told.state:
            return self._given_up()
        return None if self._process.has_ended() else self._ended()

    def _ended(self) -> str | None:
        try:
            self._name(self._interpreter(), self._script("end"))
        except UnavailableError as error:
            return f"the probe could not be ended: {error}"
        if not self._wait_for("over", _END_S):
            return (
                f"the main thread has not come back to Python for {_END_S:.0f} s: the probe ends when it does, by a "
                f"script in {self._run.path}, which has to stay there until then"
            )
        self.problems = self._told().problems
        return None

    def remove(self) -> None:
        """Take what was staged away, unless the process may still ask for it."""
        if not self._asked or self._process.has_ended() or self._told().state in {"over", "failed"}:
            payload.remove(self._run)
            payload.status_file(self._run).unlink(missing_ok=True)
            for path in (*self._run.raw.glob("attached-*.py"), self._told_path, self._config_path):
                path.unlink(missing_ok=True)

    def _given_up(self) -> str:
        """It never began: nor shall it, once we are gone."""
        self._config_path.unlink(missing_ok=True)  # without it the script does nothing
        if self._wait_for("on", 0.2):  # it had just begun to read it
            return self.end() or "the look was over before the probe had begun"
        return "the main thread did not come back to Python while it was looked at: nothing was measured inside"

    def _wait_for(self, state: str, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self._told().state != state:
            if time.monotonic() > deadline or self._process.has_ended():
                return self._told().state == state
            time.sleep(_TICK_S)
        return True

    @property
    def _config_path(self) -> Path:
        return self._run.raw / "attached.json"

    @property
    def _told_path(self) -> Path:
        return self._run.raw / "attached.state"

    def _told(self) -> _Told:
        try:
            return msgspec.json.decode(self._told_path.read_bytes(), type=_Told)
        except (OSError, msgspec.MsgspecError):
            return _Told()

    def stage(self) -> None:
        """Write what the process is to run, and what that is told."""
        config = process_config.as_builtins(probe_settings.of_attached(self._run, self._config))
        own = proc.stat(os.getpid())
        config |= {
            "conductor": [os.getpid(), own.started if own is not None else None],
            "told": str(self._told_path),
            "end": str(self._run.raw / "attached-end.py"),
        }
        folder = probe_copy.place(self._run.payload)
        payload.reserve_status(self._run)
        self._config_path.write_text(json.dumps(config), encoding="utf-8")
        for call in ("begin", "end"):
            text = _SCRIPT.format(folder=str(folder), config=str(self._config_path), call=call)
            self._script(call).write_text(text, encoding="utf-8")

    def _script(self, call: str) -> Path:
        return self._run.raw / f"attached-{call}.py"

    def _interpreter(self) -> str:
        """The process's own program, which is an interpreter of its version.

        Raises:
            UnavailableError: It is none that can be asked.
        """
        folder = Path(f"/proc/{self._process.pid}")
        with contextlib.suppress(OSError):
            # Its program is run as the user of dlprof, and it has to read what that user writes.
            if folder.stat().st_uid != os.geteuid():
                raise UnavailableError("the process is another user's: a probe is started inside one's own only")
            if (folder / "ns/mnt").readlink() != Path("/proc/self/ns/mnt").readlink():
                raise UnavailableError("the process has files of its own (a container): dlprof must run there, too")
            if (folder / "exe").readlink().name.startswith("python"):
                return str(folder / "exe")
        raise UnavailableError("the process is no Python, or has one built in: a probe cannot be started inside")

    def _check_version(self, python: str) -> None:
        told = _run(python, "import sys; print(*sys.version_info[:2])").stdout.split()
        version = tuple(int(part) for part in told if part.isdigit())
        if version < _FIRST:
            raise UnavailableError(OLDER.format(version=".".join(told) or "of an unknown version"))

    def _name(self, python: str, script: Path) -> None:
        """Name a script to the process."""
        done = _run(python, _NAME, str(self._process.pid), str(script))
        if done.returncode:
            said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise UnavailableError(f"Python refused to start a probe inside: {said}")


def _run(python: str, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a line of Python, by itself.

    Raises:
        UnavailableError: The interpreter does not run here.
    """
    command = [python, "-I", "-S", "-c", text, *words]
    try:
        return subprocess.run(
            command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd="/", timeout=_ASK_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"the interpreter of the process cannot be run here: {error}") from error
