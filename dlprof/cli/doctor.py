"""`dlprof doctor`: what dlprof can do on this machine, and why not the rest."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

EXAMPLES = """\
examples:
  dlprof doctor
  dlprof doctor --json
  dlprof doctor --measure      what the cores can do at most (about 2 s, kept for all traces from then on)

Ends with 0 unless something is missing that every trace needs."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What.
        state: `ok`, `missing` (something cannot be measured) or `broken` (nothing works without it).
        found: What was found.
        mend: What to do about it, or None.
    """

    name: str
    state: str
    found: str
    mend: str | None = None


class DoctorReport(TypedDict):
    """All that was looked at (`dlprof doctor --json`)."""

    schema: Literal["dlprof.doctor/1"]
    checks: list[Check]


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    json: bool
    measure: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.doctor/1)")
    parser.add_argument(
        "--measure",
        action="store_true",
        help="measure what the cores can do at most: traces from then on say how near their layers come to it",
    )


def run(args: Arguments) -> int:
    """Look at everything, and print it; 1 when something is broken that every trace needs."""
    if args.measure:
        _measure()
    checks = [check for look in _LOOKS for check in _safely(look)]
    if args.json:
        from dlprof.report.json_text import print_json

        print_json(DoctorReport(schema="dlprof.doctor/1", checks=checks))
    else:
        for check in checks:
            print(f"{check.state:<8} {check.name:<16} {check.found}")
            if check.mend:
                print(f"{'':<25} {check.mend}")
    return 1 if any(check.state == "broken" for check in checks) else 0


def _safely(look: Callable[[], list[Check]]) -> list[Check]:
    try:
        return look()
    except Exception as error:  # noqa: BLE001  (a doctor must look at everything)
        message = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
        return [Check(look.__name__.lstrip("_"), "missing", message, getattr(error, "hint", None))]


def _python() -> list[Check]:
    from dlprof.version import __version__

    version = ".".join(str(part) for part in sys.version_info[:3])
    return [Check("dlprof", "ok", f"{__version__} on Python {version} ({sys.executable})")]


def _system() -> list[Check]:
    from dlprof.launch import system

    reason = system.why_not()
    if reason is None:
        return []
    return [
        Check("system", "broken", f"dlprof trace, attach, bench and exam cannot be used. {reason}", system.EVERYWHERE)
    ]


def _uv() -> list[Check]:
    from dlprof.launch import pip_settings, uvtool

    settings = pip_settings.read(os.environ, pip_settings.config_files(os.environ))
    taken = pip_settings.as_uv_environment(settings, os.environ)
    note = f"; from pip's settings: {', '.join(sorted(taken))}" if taken else ""
    return [Check("uv", "ok", f"{uvtool.find()}{note}")]


def _backends() -> list[Check]:
    from dlprof.launch import environments

    return [
        Check(
            f"backend {env.name}",
            "ok" if env.state == "installed" else "missing",
            env.state,
            None if env.state == "installed" else f"dlprof backends install {env.name}  (or at its first use)",
        )
        for env in environments.known()
        if env.state != "stale"
    ]


def _interpreters() -> list[Check]:
    from dlprof.errors import DlprofError
    from dlprof.launch import interpreters

    found: dict[str, str] = {}
    for path in interpreters.candidates(os.environ):
        try:
            facts = interpreters.inspect(path)
        except DlprofError:  # a shim that leads nowhere
            continue
        found.setdefault(facts.prefix, facts.version_text)
    newest_first = sorted(found.items(), key=lambda one: ([-int(part) for part in re.findall(r"\d+", one[1])], one[0]))
    return [Check("interpreter", "ok", f"{version:<8} {prefix}") for prefix, version in newest_first]


def _keras() -> list[Check]:
    from dlprof.launch import interpreters

    packages = interpreters.inspect(sys.executable).packages
    version = packages.get("keras") or packages.get("tf_keras")
    if version:
        return [Check("own Keras", "ok", f"Keras {version} in dlprof's own interpreter")]
    text = "no Keras in dlprof's own interpreter"
    return [Check("own Keras", "missing", text, "use --backend NAME or --python PATH")]


def _line_profiler() -> list[Check]:
    from importlib.metadata import version

    return [Check("line_profiler", "ok", version("line_profiler"))]


def _cores() -> list[Check]:
    import psutil

    from dlprof.launch import machine
    from dlprof.report.sections.head import cores

    told = machine.describe()
    memory = "" if told.memory_bytes is None else f", {told.memory_bytes / 1e9:.1f} GB"
    checks = [Check("cores", "ok", f"{cores(told)}{memory}")]
    frequencies = psutil.cpu_freq() if hasattr(psutil, "cpu_freq") else None
    if frequencies is None:
        checks.append(Check("frequency", "missing", "this machine tells no core frequency"))
    if not getattr(psutil, "sensors_temperatures", dict)():
        checks.append(Check("temperature", "missing", "this machine tells no temperature"))
    return checks


def _gpu() -> list[Check]:
    from dlprof_probes.sidecar.gpu import Gpu
    from dlprof_probes.sidecar.unavailable import Unavailable

    with tempfile.TemporaryDirectory() as folder:
        try:
            gpu = Gpu(Path(folder), list)
        except Unavailable as error:
            return [Check("GPU", "missing", str(error))]
        gpu.sample()
        gpu.writer.finish(gpu.trailer())
        header = json.loads((Path(folder) / "gpu.jsonl").read_text().splitlines()[0])
    names = ", ".join(gpu["name"] or "?" for gpu in header["gpus"])
    missing = [f"{item['metric']} (GPU {item['gpu']})" for item in gpu.trailer()["missing"]]
    note = f"; not supported: {', '.join(missing)}" if missing else ""
    return [Check("GPU", "ok", f"{names}; driver {header['driver']}{note}")]


def _stacks() -> list[Check]:
    """Let py-spy look at a short-lived Python of our own: rights cannot be told otherwise."""
    from dlprof_probes.sidecar import stacks

    program = stacks.find()
    if program is None:
        return [Check("py-spy", "missing", "not installed", f"{sys.executable} -m pip install py-spy")]
    child = subprocess.Popen(
        [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(20)"], stdout=subprocess.PIPE
    )
    try:
        assert child.stdout is not None  # noqa: S101
        child.stdout.readline()
        done = subprocess.run(
            [program, "dump", "--pid", str(child.pid)], capture_output=True, text=True, timeout=20, check=False
        )
    finally:
        child.kill()
        child.wait()
    if done.returncode == 0:
        return [Check("py-spy", "ok", f"{program}; it may read other processes")]
    reason = stacks.explain(done.stderr + done.stdout, done.returncode, False) or "it failed"
    return [Check("py-spy", "missing", reason)]


def _gpu_tools() -> list[Check]:
    from dlprof.launch import gpu_tracers

    found = {name: shutil.which(name) for name in ("nsys", "nvprof")}
    checks = [Check(name, "ok" if path else "missing", path or "not on PATH") for name, path in found.items()]
    if not _has_gpu():
        return [*checks, Check("GPU tracer", "missing", "none is needed without a GPU")]
    chosen = gpu_tracers.choose("auto")
    names = {"framework": "the engine's own tracer", "nsys": "Nsight Systems", "nvprof": "nvprof"}
    return [*checks, Check("GPU tracer", "ok", f"{names[chosen.name]}: {chosen.reason}")]


def _has_gpu() -> bool:
    from dlprof_probes.sidecar.gpu import cards
    from dlprof_probes.sidecar.unavailable import Unavailable

    try:
        return bool(cards())
    except Unavailable:
        return False


def _disk() -> list[Check]:
    from dlprof.launch.data_folder import data_folder

    folder = data_folder()
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(existing).free
    text = f"{free / 1e9:.1f} GB free for environments in {folder}"
    if not os.access(existing, os.W_OK):
        return [Check("disk", "missing", f"{existing} may not be written to", "set DLPROF_DATA to another folder")]
    return [Check("disk", "ok" if free > 3e9 else "missing", text)]


def _ceilings() -> list[Check]:
    from dlprof.launch import ceilings

    known = ceilings.known()
    if known is None:
        return [
            Check("ceilings", "missing", "what the cores can do at most is not measured", "dlprof doctor --measure")
        ]
    rates = ", ".join(f"{rate / 1e9:.0f} GFLOP/s {kind}" for kind, rate in known.flops_per_s.items())
    return [Check("ceilings", "ok", f"{rates}, {known.bytes_per_s / 1e9:.0f} GB/s on {known.cores} cores")]


def _measure() -> None:
    from dlprof.launch import system

    system.need_linux("dlprof doctor --measure")
    from dlprof.errors import UnavailableError
    from dlprof.launch import ceilings

    if ceilings.measure() is None:
        message = "What the cores can do could not be measured: NumPy does not run in a process of its own."
        raise UnavailableError(message)


_LOOKS = (
    _python,
    _system,
    _uv,
    _interpreters,
    _keras,
    _backends,
    _line_profiler,
    _cores,
    _gpu,
    _stacks,
    _gpu_tools,
    _disk,
    _ceilings,
)
