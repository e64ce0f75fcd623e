"""`dlprof trace` in a process of its own, for a notebook's cell or a script; what it prints is shown as it comes."""

from __future__ import annotations

import codecs
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from dlprof.notebook.cell import NAME

_NAME_ERROR = re.compile(r"NameError: name '(.+?)' is not defined")
_LOOK_S = 0.2
"""How often it is looked whether the process has ended."""
_LAST_WORDS = 4000
"""Characters of standard error that are kept, to look for the reason of a failure."""


@dataclass(frozen=True)
class Ended:
    """How the cell's process ended.

    Attributes:
        code: Its exit code; that of dlprof where the cell was not run.
        interrupted: Whether it was interrupted from the notebook.
        said: The end of what it wrote to standard error.
        held: What was not shown of that (`run_script`).
    """

    code: int
    interrupted: bool
    said: str
    held: str = ""


def run(text: str, flags: Sequence[str], output: Path) -> Ended:
    """Trace a cell with `dlprof trace`, into the run folder `output`; what it prints is shown as it comes.

    Modules beside the notebook can be imported by the cell, as in the notebook itself.
    """
    with tempfile.TemporaryDirectory(prefix="dlprof-cell-") as folder:
        script = Path(folder) / NAME
        script.write_text(text, encoding="utf-8")
        path = os.pathsep.join(part for part in (str(Path.cwd()), os.environ.get("PYTHONPATH")) if part)
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
        return run_script(str(script), flags, output, environment=environment)


def run_script(
    script: str,
    flags: Sequence[str],
    output: Path,
    *,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    holds: str | None = None,
) -> Ended:
    """Trace a script by a dlprof of its own, into the run folder `output`; what it prints is shown as it comes.

    Args:
        script: Its path.
        flags: Of `dlprof trace`.
        output: The run folder.
        arguments: Of the script.
        environment: Environment variables; None: those of this process.
        holds: From a line on that begins so, what it writes to standard error is not shown, but given back.
    """
    command = [sys.executable, "-P", "-m", "dlprof", "trace", script, "-o", str(output), "--no-report", *flags]
    process = subprocess.Popen(
        [*command, "--", *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        return _Output(process, holds).until_the_end()


def missing_name(said: str, namespace: Mapping[str, Any]) -> str | None:
    """A name of the notebook that the cell failed for want of; None: that is not why."""
    found = _NAME_ERROR.findall(said)
    return found[-1] if found and found[-1] in namespace else None


_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
"""What the process is sent at the first interrupt, the second, and those that follow."""


class _Output:
    """What a process prints, passed on while it runs."""

    def __init__(self, process: subprocess.Popen[bytes], holds: str | None = None) -> None:
        self._process = process
        self._holds = holds
        self._held = ""
        self._said = ""
        self._interrupts = 0
        self._decoders = {}
        self._open = selectors.DefaultSelector()
        for pipe, target in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
            assert pipe is not None  # noqa: S101  (both are pipes)
            self._open.register(pipe, selectors.EVENT_READ, target)
            self._decoders[pipe] = codecs.getincrementaldecoder("utf-8")("replace")

    def until_the_end(self) -> Ended:
        while self._open.get_map():
            try:
                ready = self._open.select(_LOOK_S)
                for key, _ in ready:
                    self._pass_on(key.fileobj, key.data)  # type: ignore[arg-type]
                if not ready and self._process.poll() is not None:
                    break  # what the cell has started, and left running, holds its pipes open
            except KeyboardInterrupt:
                self._interrupts += 1
                # dlprof hands the first two on to the cell, which may have its own mind; its end ends the cell.
                self._process.send_signal(_INTERRUPTS[min(self._interrupts, len(_INTERRUPTS)) - 1])
        return Ended(self._process.wait(), self._interrupts > 0, self._said, self._held)

    def _pass_on(self, pipe: IO[bytes], target: IO[str]) -> None:
        data = os.read(pipe.fileno(), 1 << 16)
        text = self._decoders[pipe].decode(data, final=not data)
        target.write(self._shown(text) if pipe is self._process.stderr else text)
        target.flush()
        if not data:
            self._open.unregister(pipe)

    def _shown(self, text: str) -> str:
        """What is shown of a piece of standard error; the rest is held."""
        is_new = not self._said or self._said.endswith("\n")
        self._said = (self._said + text)[-_LAST_WORDS:]
        if self._held or self._holds is None:
            begin = 0 if self._held else len(text)
        elif is_new and text.startswith(self._holds):
            begin = 0
        else:
            found = text.find(f"\n{self._holds}")
            begin = found + 1 if found >= 0 else len(text)
        self._held += text[begin:]
        return text[:begin]
