"""`dlprof.trace`: a script traced from Python, as the command traces it, in a process of its own."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import TypedDict, Unpack, cast

from dlprof import config, rundir
from dlprof.errors import (
    BadDataError,
    CannotCreateError,
    DlprofError,
    ExitCode,
    NoInputError,
    UnavailableError,
    UsageError,
    nearest,
)
from dlprof.notebook import fresh, given
from dlprof.notebook.python_words import in_python
from dlprof.notebook.time_units import Unit, checked
from dlprof.notebook.views import RunView, open_run

_ERRORS = {
    int(kind.exit_code): kind for kind in (BadDataError, CannotCreateError, NoInputError, UnavailableError, UsageError)
}
_OWN_ERROR = "dlprof: error: "
"""What dlprof begins the reason with why it could not begin: here it is raised."""
_SAID = re.compile(r"^dlprof: error: (?P<message>.+)(?:\n  try: (?P<hint>.+))?", re.MULTILINE)


class Settings(TypedDict, total=False):
    """Settings of a trace, as the options of `dlprof trace` have them; what is not given is as there."""

    backend: str
    """Managed environment of a backend."""
    python: str
    """An interpreter; without it and a backend: the one that this Python runs on."""
    probes: str | Sequence[str]
    """`all`, `none`, names, or `-name` to leave one out."""
    lines: Sequence[str]
    """More modules or files for line profiling."""
    stacks_hz: float
    cores_hz: float
    """Samples per second."""
    kernels: str
    """`windows`, `all` or `off`."""
    kernel_steps: int
    """Steps of a window, at most."""
    gpu_tracer: str
    budget: str
    """What all probes may cost, of the run's time, such as `1%`; `off`: never thinned."""
    follow: bool
    """Trace Pythons below the script, each as a run of its own."""
    keep_arguments: bool
    """Do not hide what looks like a secret on command lines."""


def trace(
    script: str | PathLike[str],
    arguments: Sequence[str] = (),
    *,
    output: str | PathLike[str] | None = None,
    unit: Unit = "ns",
    **settings: Unpack[Settings],
) -> RunView:
    """Run a script under the probes, in a process of its own, as `dlprof trace` does; wait for it, and open the run.

    What the script prints is shown as it comes. It has no standard input. An interrupt reaches it, and is raised here
    when it has ended. A script that fails is no error: `exit_code` of the run says so.

    Args:
        script: Its path.
        arguments: Of the script.
        output: The run folder; None: a new one below `dlprof_runs/`.
        unit: Of the times in the run's frames.
        **settings: See `Settings`; the environment and pyproject.toml give those that are not given.

    Returns:
        The run.

    Raises:
        UsageError: A setting is unknown or makes no sense; or there is no such unit.
        NoInputError: There is no such script.
        UnavailableError: An interpreter or a backend cannot be had.
        CannotCreateError: The output folder cannot be made.
    """
    checked(unit)
    script = given.path(script, "A script")
    for name in settings:
        if name not in Settings.__annotations__:
            known = list(Settings.__annotations__)
            raise UsageError(f"There is no setting {name}.", hint=", ".join(known), near=nearest(name, known))
    flags = list(_flags(settings))
    folder = Path(given.path(output, "output")) if output is not None else _free(script, settings)
    ended = fresh.run_script(script, flags, folder, arguments=arguments, holds=_OWN_ERROR)
    if not (folder / "manifest.json").is_file():
        with in_python("output"):
            raise _failure(ended)
    sys.stderr.write(ended.held)  # dlprof's own, of a run that there is
    if ended.interrupted:
        raise KeyboardInterrupt("the traced script was interrupted")
    return open_run(folder, unit=unit)


def _free(script: str, settings: Settings) -> Path:
    name = f"{config.TraceConfig(script=script).label}-{settings.get('backend', 'own')}"
    return rundir.free_path(name, datetime.now().astimezone())


def _flags(settings: Settings) -> Iterator[str]:
    """Settings as options of the command line."""
    for name, value in settings.items():
        flag = f"--{name.replace('_', '-')}"
        if name == "lines":
            yield from (
                f"{flag}={one}" for one in ([value] if isinstance(value, str) else cast("Sequence[str]", value))
            )
        elif isinstance(value, bool):
            yield from [flag] if value else ["--no-follow"] if name == "follow" else []
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{flag}={','.join(value)}"
        else:
            yield f"{flag}={value}"


def _failure(ended: fresh.Ended) -> DlprofError:
    """What dlprof said when it could not begin."""
    kind = _ERRORS.get(ended.code, DlprofError)
    said = _SAID.search(ended.said)
    if said is None:
        code = f"exit code {ended.code}" if ended.code != ExitCode.INTERRUPTED else "an interrupt"
        return kind(f"dlprof ended with {code} before the script was started.")
    return kind(said["message"], hint=said["hint"])
