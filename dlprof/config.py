"""What to trace and how: one frozen object, which remembers where each value came from.

Values are taken from, in rising order: defaults, `[tool.dlprof]` of the pyproject.toml in the current
folder or above it (`dlprof.settings_file`), environment variables `DLPROF_…`, flags of the command line.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from dlprof import settings_file
from dlprof.errors import UsageError, nearest

PROBES = ("phases", "lines", "stacks", "kernels", "cores", "gpu")
"""Probes in the order of reports. `phases` is the in-process probe and carries `lines` and `kernels`."""
_CHOOSE_CODE = ("python", "backend")
"""Settings that say which program runs: one from a file is announced."""
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*((?:[kmgt]i?b?|b)?)", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_MEMORY = (64 << 20, 64 << 40)
_RUN = ("script", "module", "program", "arguments")
"""What is run, and no setting of how."""


@dataclass(frozen=True)
class TraceConfig:
    """Settings of one `dlprof trace`."""

    script: str = ""
    """Path of the script as the user gave it; empty with `module`."""
    module: str | None = None
    """Module to run instead of a script, as `python -m` would."""
    program: str | None = None
    """Any program to run instead of a Python script, from the outside (`--exec`)."""
    arguments: tuple[str, ...] = ()
    """Arguments of the script."""
    backend: str | None = None
    """Managed backend; None: the interpreter's own Keras."""
    python: str | None = None
    """Interpreter to run with; None: that of the backend, or dlprof's own."""
    probes: tuple[str, ...] = PROBES
    """Probes that are wanted, out of PROBES."""
    lines: tuple[str, ...] = ()
    """More modules and files for line profiling, beyond the script and what lies beside it."""
    stacks_hz: float = 20.0
    """Samples per second of the Python stacks."""
    cores_hz: float = 10.0
    """Samples per second of cores, processes and GPUs."""
    kernels: str = "windows"
    """When the engine's tracer runs: in `windows` of some steps, over `all` of fit, evaluate and predict, or `off`."""
    kernel_steps: int = 10
    """Steps of a kernel window, at most."""
    gpu_tracer: str = "auto"
    """What traces GPUs: the engine's own tracer (`framework`), `nsys` or `nvprof` around the process, or `off`."""
    heap: bool = False
    """Record with memray who allocates memory, from the first line of the script to its end; it costs time."""
    follow: bool | None = None
    """Trace Pythons below the script that import an engine, each as a run of its own; None: below a program only."""
    budget: float | None = 0.01
    """Share of the wall time that all probes together may cost; None: no limit. Probes are thinned to keep it."""
    output: str | None = None
    """Run folder; None: a new one below dlprof_runs/."""
    keep_arguments: bool = False
    """Write command lines down as they are: else passwords, tokens and keys on them are hidden."""
    max_memory: int | None = None
    """What reading a trace may take of the memory (bytes; as text `800MB`, `16GB`); None: a quarter, 4 GiB at most."""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Settings that a trial run takes instead of the script's own (JSON in DLPROF_OVERRIDES; `diagnose --confirm`)."""
    progress: bool = True
    """A status line while the script runs, where standard error is a terminal."""
    live: bool = False
    """A screen that shows the run while the script runs, where standard error is a terminal."""
    origins: tuple[tuple[str, str], ...] = ()
    """(setting, where its value came from) for all that is not a default."""
    said: tuple[str, ...] = ()
    """What the user is told of a file of settings that is not used: lines."""

    @property
    def announced(self) -> tuple[str, ...]:
        """What the user is told of the program that a file of settings chose: lines."""
        origins = dict(self.origins)
        chosen = [name for name in _CHOOSE_CODE if Path(origins.get(name, "")).name == settings_file.NAME]
        return tuple(f"{name} {getattr(self, name)} is from {origins[name]}" for name in chosen)

    def wants(self, probe: str) -> bool:
        """Whether `probe` is to run."""
        return probe in self.probes and not (probe == "kernels" and self.kernels == "off")

    @property
    def follows(self) -> bool:
        """Whether Pythons below the script are traced too: under `--exec` unless it is declined."""
        wanted = self.program is not None if self.follow is None else self.follow
        return wanted and self.wants("phases")

    def is_given(self, setting: str) -> bool:
        """Whether the user chose the value of `setting`: it is obeyed then, whatever it costs."""
        return any(name == setting for name, _ in self.origins)

    @property
    def label(self) -> str:
        """Short name of what is run: `mlp` for `scenarios/mlp.py`."""
        return self.module.rpartition(".")[2] if self.module else Path(self.program or self.script).stem

    def as_json(self) -> dict[str, Any]:
        """The settings for the manifest."""
        return {name: value for name, value in asdict(self).items() if name not in (*_RUN, "said")}


SETTABLE = tuple(field.name for field in fields(TraceConfig) if field.name not in (*_RUN, "origins", "said"))
"""Settings that a file, the environment and the command line may give; flags have these names."""


def load(flags: Mapping[str, Any], environ: Mapping[str, str], folder: Path) -> TraceConfig:
    """Put the settings together.

    Args:
        flags: Values of the command line; None: not given.
        environ: Environment variables.
        folder: Current folder, where the search for pyproject.toml begins.

    Raises:
        UsageError: A value makes no sense, or a setting of the file is unknown.
    """
    config = TraceConfig()
    origins: dict[str, str] = {}
    file, said = settings_file.find(folder)
    for source, values in (
        (str(file), _read_pyproject(file) if file else {}),
        ("environment", _from_environment(environ)),
        ("command line", {name: value for name, value in flags.items() if value is not None}),
    ):
        for name, value in values.items():
            config = replace(config, **{name: _checked(name, value, source)})
            origins[name] = source
    return replace(config, origins=tuple(sorted(origins.items())), said=said)


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    return {name: environ[f"DLPROF_{name.upper()}"] for name in SETTABLE if f"DLPROF_{name.upper()}" in environ}


def _read_pyproject(path: Path) -> dict[str, Any]:
    try:
        table = settings_file.table(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    for name in table:
        if name.replace("-", "_") not in SETTABLE:
            hint = f"known settings: {', '.join(SETTABLE)}"
            near = nearest(name, SETTABLE)
            raise UsageError(f"{path}: [tool.dlprof] has the unknown setting {name}.", hint=hint, near=near)
    return {name.replace("-", "_"): value for name, value in table.items()}


_CHOICES = {"kernels": ("off", "windows", "all"), "gpu_tracer": ("auto", "framework", "nsys", "nvprof", "off")}


def _checked(name: str, value: Any, source: str) -> Any:
    """The value of a setting, made of what its source has for it."""
    return _PARSERS[name](name, value, source) if name in _PARSERS else value


def _count(name: str, value: Any, source: str) -> int:
    try:
        count = int(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} from {source} is not a whole number: {value}") from None
    if not 1 <= count <= 100_000:
        raise UsageError(f"{name} from {source} must lie between 1 and 100000, not {value}.")
    return count


def _rate(name: str, value: Any, source: str) -> float:
    try:
        rate = float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} from {source} is not a number: {value}") from None
    if not 0.1 <= rate <= 1000:
        raise UsageError(f"{name} from {source} must lie between 0.1 and 1000 samples per second, not {value}.")
    return rate


_SHARE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*%")
_NO_LIMIT = ("off", "none")


def _budget(name: str, value: Any, source: str) -> float | None:
    """A share of the wall time, written in percent; None: no limit."""
    text = str(value).strip().lower()
    if text in _NO_LIMIT or value is False:
        return None
    match = _SHARE.fullmatch(text)
    if match is None:
        raise UsageError(
            f"{name} from {source} is no share of the run's time: {value}",
            hint="a percentage such as 1% or 0.5%, or off for no limit",
        )
    share = float(match[1]) / 100
    if not 0.0001 <= share <= 1:
        raise UsageError(f"{name} from {source} must lie between 0.01% and 100%, not {value}; off: no limit.")
    return share


def _memory(name: str, value: Any, source: str) -> int:
    """A size in bytes; units of a thousand and of 1024 are both as people mean them here: 1024."""
    match = _SIZE.fullmatch(str(value).strip())
    size = int(float(match[1]) * _UNITS[match[2].lower()[:1]]) if match else 0
    if not _MEMORY[0] <= size <= _MEMORY[1]:
        raise UsageError(f"{name} from {source} must be a size from 64MB to 64TB, such as 800MB or 16GB, not {value}.")
    return size


def _object(name: str, value: Any, source: str) -> Mapping[str, Any]:
    try:
        content = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise UsageError(f"{name} from {source} is not a JSON object: {value}")
    return content


def _choice(name: str, value: Any, source: str) -> str:
    if value not in _CHOICES[name]:
        hint = f"one of: {', '.join(_CHOICES[name])}"
        near = nearest(str(value), _CHOICES[name])
        raise UsageError(f"{name} from {source} cannot be {value}.", hint=hint, near=near)
    return str(value)


def _switch(_name: str, value: Any, _source: str) -> bool:
    return value if isinstance(value, bool) else str(value).lower() not in ("0", "no", "off", "false")


def _texts(_name: str, value: Any, _source: str) -> tuple[str, ...]:
    return tuple(value.split(",")) if isinstance(value, str) else tuple(value)


def parse_probes(value: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """The probes that `value` asks for.

    Args:
        value: `all`, `none`, names separated by commas, or names with a minus in front that are left
            out: `phases,cores`, `-stacks,-gpu`.

    Raises:
        UsageError: A probe is unknown.
    """
    words = [w.strip() for w in (value.split(",") if isinstance(value, str) else value) if w.strip()]
    for word in words:
        if word.lstrip("-") not in (*PROBES, "all", "none"):
            name = word.lstrip("-")
            hint = f"known probes: {', '.join(PROBES)}"
            raise UsageError(f"There is no probe {name}.", hint=hint, near=nearest(name, PROBES))
    added = [w for w in words if not w.startswith("-") and w not in ("all", "none")]
    everything = "all" in words or (not added and "none" not in words)
    dropped = {w[1:] for w in words if w.startswith("-")}
    chosen = set(PROBES if everything else added) - dropped
    if chosen & {"lines", "kernels"}:
        chosen.add("phases")
    return tuple(probe for probe in PROBES if probe in chosen)


_PARSERS: Mapping[str, Callable[[str, Any, str], Any]] = {
    "arguments": _texts,
    "budget": _budget,
    "cores_hz": _rate,
    "follow": _switch,
    "gpu_tracer": _choice,
    "heap": _switch,
    "keep_arguments": _switch,
    "kernel_steps": _count,
    "kernels": _choice,
    "lines": _texts,
    "live": _switch,
    "max_memory": _memory,
    "overrides": _object,
    "probes": lambda _name, value, _source: parse_probes(value),
    "progress": _switch,
    "stacks_hz": _rate,
}
"""What reads the value of a setting; the others are texts."""


def current() -> tuple[Mapping[str, str], Path]:
    """The environment and the folder of this process, for `load`."""
    return os.environ, Path.cwd()
