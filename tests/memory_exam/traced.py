"""Runs a script under dlprof, and keeps its run: what was made already is not made again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LEAKS = ROOT / "scenarios" / "leaks"
_DLPROF = (sys.executable, "-m", "dlprof")
_LIMIT_S = 900
_NICE = 10


@dataclass(frozen=True)
class Traced:
    """A run, and what its script said.

    Attributes:
        folder: The run.
        code: Exit code of `dlprof trace`.
        out, err: What it printed.
    """

    folder: Path
    code: int
    out: str
    err: str

    def report(self) -> dict[str, Any]:
        """`dlprof report --json`."""
        return _json("report", self.folder)

    def told(self, command: str, *flags: str) -> dict[str, Any]:
        """Another command's JSON."""
        return _json(command, self.folder, *flags)

    def findings(self, *slugs: str) -> list[dict[str, Any]]:
        """Findings of these rules, made anew by the rules as they are."""
        return [one for one in self.report()["findings"] if one["slug"] in slugs]


def run(  # noqa: PLR0917  (what a run is)
    folder: Path,
    script: Path,
    backend: str,
    flags: Sequence[str] = (),
    arguments: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
) -> Traced:
    """Trace a script, or open the run of the last time.

    Args:
        folder: Where the run is kept.
        script: The script.
        backend: A managed environment.
        flags: More of `dlprof trace`.
        arguments: Those of the script.
        env: More environment.
        before: What stands before the command, for example a shell that sets a limit.
    """
    kept = folder / "done.json"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [*before, *_DLPROF, "trace", str(script), "--backend", backend, "-o", str(folder / "run")]
        command += ["--no-report", *flags, "--", *arguments]
        told = {**os.environ, "OMP_NUM_THREADS": "1", **(env or {})}
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_LIMIT_S, env=told,
            preexec_fn=lambda: os.nice(_NICE),
        )  # fmt: skip
        kept.write_text(json.dumps({"code": done.returncode, "out": done.stdout[-4000:], "err": done.stderr[-4000:]}))
    told = json.loads(kept.read_text())
    return Traced(folder / "run", told["code"], told["out"], told["err"])


def line_of(script: Path, mark: str) -> int:
    """The line that ends in `# MARK`."""
    texts = script.read_text().splitlines()
    return next(number for number, text in enumerate(texts, 1) if text.endswith(f"# {mark}"))


def _json(command: str, folder: Path, *flags: str) -> dict[str, Any]:
    done = subprocess.run(
        [*_DLPROF, command, str(folder), *flags, "--json"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if done.returncode:
        raise RuntimeError(f"dlprof {command} of {folder}: {done.stderr[-500:]}")
    return json.loads(done.stdout)  # type: ignore[no-any-return]
