"""What traces the kernels of GPUs: Nsight Systems or nvprof around the process, or the engine's own tracer."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from dlprof_probes.sidecar.gpu import cards
from dlprof_probes.sidecar.unavailable import Unavailable
from msgspec import Struct

from dlprof.errors import UnavailableError

NVPROF_BELOW = (8, 0)
"""nvprof supports cards of a compute capability below this (CUDA 11 and older drivers of it)."""
_FOLDER = "gpu"


class GpuTracer(Struct, frozen=True):
    """The tracer that was chosen.

    Attributes:
        name: `nsys`, `nvprof`, `framework` or `off`.
        reason: Why this one, for people.
        program: The tool's path; None for `framework` and `off`.
    """

    name: str
    reason: str
    program: str | None = None

    @property
    def wraps(self) -> bool:
        """Whether it runs around the process."""
        return self.program is not None

    def command(self, raw: Path) -> list[str]:
        """What stands before the traced command, so that the tool leaves its file below `raw`."""
        if self.program is None:
            return []
        target = raw / _FOLDER
        if self.name == "nsys":
            return [
                self.program, "profile", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none", "--export=sqlite",
                "--force-overwrite=true", f"--output={target / 'nsys'}",
            ]  # fmt: skip
        return [self.program, "--profile-child-processes", "--quiet", "-o", str(target / "nvprof-%p.nvvp")]


def choose(wanted: str, which: Callable[[str], str | None] = shutil.which) -> GpuTracer:
    """The tracer to use.

    Args:
        wanted: `auto`, `framework`, `nsys`, `nvprof` or `off`.
        which: Finds a program.

    Raises:
        UnavailableError: A tool was asked for by name that is not there, or that does not support the card.
    """
    if wanted in ("off", "framework"):
        return GpuTracer(wanted, "asked for")
    try:
        capabilities = [card["capability"] for card in cards()]
    except Unavailable as error:
        if wanted in ("nsys", "nvprof"):
            raise UnavailableError(
                f"{wanted} has no GPU to trace: {error}.", hint="dlprof trace without --gpu-tracer"
            ) from error
        return GpuTracer("framework", f"there is no GPU: {error}")
    return _of(wanted, capabilities, which)


def _of(wanted: str, capabilities: Sequence[tuple[int, int] | None], which: Callable[[str], str | None]) -> GpuTracer:
    nsys, nvprof = which("nsys"), which("nvprof")
    supported = all(known is not None and known < NVPROF_BELOW for known in capabilities)
    cards_text = ", ".join("unknown" if c is None else f"{c[0]}.{c[1]}" for c in capabilities)
    if wanted in ("auto", "nsys") and nsys:
        return GpuTracer("nsys", "Nsight Systems is installed", nsys)
    if wanted in ("auto", "nvprof") and nvprof and supported:
        return GpuTracer("nvprof", f"nvprof is installed and supports compute capability {cards_text}", nvprof)
    if wanted == "auto":
        missing = "nsys is not on PATH"
        why = f"nvprof does not support compute capability {cards_text}" if nvprof else "neither is nvprof"
        return GpuTracer("framework", f"{missing}, {why}")
    if wanted == "nvprof" and nvprof:
        raise UnavailableError(
            f"nvprof does not support compute capability {cards_text} (8.0 and above).", hint="--gpu-tracer nsys"
        )
    raise UnavailableError(f"{wanted} is not on PATH.", hint="--gpu-tracer framework")


def prepare(raw: Path) -> None:
    """Make the folder that takes the tool's files."""
    (raw / _FOLDER).mkdir(exist_ok=True)


def files(raw: Path) -> list[Path]:
    """The files that a tool left, those that can be read."""
    folder = raw / _FOLDER
    return sorted([*folder.glob("*.sqlite"), *folder.glob("*.nvvp")]) if folder.is_dir() else []
