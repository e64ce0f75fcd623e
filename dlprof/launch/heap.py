"""Recording allocations with memray (`--heap`): what it needs before a script runs, and summing up behind it.

memray reads only what the same version wrote, so the interpreter of the script sums up too, in a process of its own.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
from pathlib import Path

from dlprof.config import TraceConfig
from dlprof.errors import Report, UnavailableError, UsageError
from dlprof.launch import payload, probe_copy, tool_folder
from dlprof.launch.interpreters import InterpreterFacts
from dlprof.rundir import RunDir
from dlprof.schema.process_config import HeapSettings

FILE, SUMS = "heap.memray", "heap.json"
"""What memray wrote, which goes when it is summed up, and the sums."""
_OLDEST = (3, 7)
"""Python; memray has no release for one that is older."""
_MOST_BYTES = 1 << 30
"""Some minutes of training; reading takes a second for each 10 MB."""
_OF_FREE = 4
"""And not more than this part of what the disk has left."""
_WAIT_S = 900.0
_PROGRAM = (
    "import sys; sys.path[:0] = sys.argv[1:3]; from dlprof_probes.inproc import heap_sums; "
    "heap_sums.main(*sys.argv[3:])"
)


def check(config: TraceConfig) -> None:
    """Refuse what cannot record.

    Raises:
        UsageError: Allocations are asked for of a program, or without the probe in the process.
    """
    if config.heap and config.program:
        raise UsageError(
            "--heap records inside of a Python script, not of any program.",
            hint="dlprof trace SCRIPT --python PATH --heap",
        )
    if config.heap and not config.wants("phases"):
        raise UsageError("--heap is recorded by the probe in the process, which --probes leaves out: add phases.")


def memray_for(config: TraceConfig, interpreter: InterpreterFacts, *, report: Report) -> Path | None:
    """Folder that holds memray for an interpreter; None: allocations are not recorded.

    Raises:
        UnavailableError: memray cannot be had for this interpreter.
        CannotCreateError: The data folder cannot be written to.
    """
    if not config.heap:
        return None
    if interpreter.version < _OLDEST or interpreter.implementation != "cpython":
        raise UnavailableError(
            f"memray, which --heap records with, has no release for Python {interpreter.version_text}.",
            hint="without --heap: what holds memory, and which lines may keep it, is told as well",
        )
    return tool_folder.of("memray", interpreter, report=report)


def settings(run: RunDir, package: Path) -> HeapSettings:
    """What the probe in the process is told."""
    free = _MOST_BYTES * _OF_FREE
    with contextlib.suppress(OSError):
        free = shutil.disk_usage(run.path).free
    return HeapSettings(package=str(package), most_bytes=min(_MOST_BYTES, free // _OF_FREE))


def sum_up(run: RunDir, interpreter: InterpreterFacts | None, package: Path | None, *, report: Report) -> None:
    """Make sums of what was recorded, and remove that; why it could not be done is in the file of the sums.

    Args:
        run: The run folder; its script is over.
        interpreter: What the script ran on.
        package: Folder that holds memray; None: nothing was to be recorded.
        report: Takes a line, for it may take a while.
    """
    file = run.raw / FILE
    if package is None or interpreter is None or not file.is_file():
        return
    try:
        report(f"memray: summing up {file.stat().st_size / 1e6:.1f} MB of allocations")
        copy = probe_copy.place(run.payload)
        command = [str(interpreter.path), "-I", "-c", _PROGRAM, str(copy), str(package), str(file), str(run.raw / SUMS)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_WAIT_S, check=False)
        failed = (
            (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1] if ended.returncode else ""
        )
    except KeyboardInterrupt:
        failed = "it was interrupted"
    except subprocess.TimeoutExpired:
        failed = f"it took longer than {_WAIT_S:.0f} s"
    except OSError as error:
        failed = f"{type(error).__name__}: {error}"
    with contextlib.suppress(OSError):
        payload.remove(run)
        if failed:
            (run.raw / SUMS).write_text(json.dumps({"failed": failed}), encoding="utf-8")
        else:
            file.unlink()
