"""What the probe in a traced process is told: from the settings of the run and what it runs on."""

from __future__ import annotations

from pathlib import Path

from dlprof.backends import registry
from dlprof.config import TraceConfig
from dlprof.launch import budget, heap, payload
from dlprof.launch.target import Target
from dlprof.rundir import RunDir
from dlprof.schema.process_config import KernelSettings, LineSettings, ProcessConfig
from dlprof.schema.vocabulary import EXACT_LINES


def of_script(
    run: RunDir,
    config: TraceConfig,
    target: Target,
    *,
    engine_traces_gpu: bool,
    wrapped: bool,
    follow: Path | None = None,
) -> ProcessConfig:
    """What the probe in a script's process is told.

    Args:
        run: The run folder.
        config: What is traced, and how.
        target: What it runs on.
        engine_traces_gpu: Whether the engine's own tracer is the one of GPUs.
        wrapped: Whether a GPU tool runs around the process, so that its number is to be told.
        follow: Folder that follows Python children, in front on PYTHONPATH behind the entry; None: they are not.
    """
    return ProcessConfig(
        raw=str(run.raw),
        status=str(payload.status_file(run)),
        script=str(Path(config.script).absolute()) if config.script else config.module or "",
        module=config.module,
        argv=(config.script or config.module or "", *config.arguments),
        lines=_lines(config, target.line_profiler) if target.no_lines is None else None,
        kernels=_kernels(config, engine_traces_gpu=engine_traces_gpu),
        heap=heap.settings(run, target.memray) if target.memray is not None else None,
        engine=_engine(target),
        live=config.live,
        pid=str(pid_file(run)) if wrapped else None,
        overrides=config.overrides or None,
        follow=str(follow) if follow is not None else None,
    )


def of_child(config: TraceConfig, *, engine_traces_gpu: bool) -> ProcessConfig:
    """What the probe in a Python below the program is told, but for its folders: it makes these itself."""
    return ProcessConfig(
        raw="",
        status="",
        script="",
        kernels=_kernels(config, engine_traces_gpu=engine_traces_gpu),
        engine_plugins=payload.engine_plugins(),
    )


def of_cell(run: RunDir, config: TraceConfig, *, engine_traces_gpu: bool) -> ProcessConfig:
    """What the probe in a notebook's process is told."""
    return ProcessConfig(
        raw=str(run.raw),
        status=str(payload.status_file(run)),
        script=str(Path.cwd() / config.script),
        lines=_lines(config, None),
        kernels=_kernels(config, engine_traces_gpu=engine_traces_gpu),
        engine_plugins=payload.engine_plugins(),
    )


def of_attached(run: RunDir, config: TraceConfig) -> ProcessConfig:
    """What the probe in a process that runs already is told."""
    return ProcessConfig(
        raw=str(run.raw),
        status=str(payload.status_file(run)),
        script=str(Path(config.script).absolute()) if config.script else config.module or "",
        kernels=_kernels(config, engine_traces_gpu=config.gpu_tracer != "off"),
        engine_plugins=payload.engine_plugins(),
    )


def pid_file(run: RunDir) -> Path:
    """Where the probe writes its process number, if it is asked for that."""
    return run.payload / "pid"


def _lines(config: TraceConfig, package: Path | None) -> LineSettings | None:
    if not config.wants("lines"):
        return None
    patterns = tuple(one for one in config.lines if one != EXACT_LINES)
    return LineSettings(
        patterns=patterns,
        package=str(package) if package else None,
        share=budget.of("lines", config),
    )


def _kernels(config: TraceConfig, *, engine_traces_gpu: bool) -> KernelSettings | None:
    if not config.wants("kernels"):
        return None
    return KernelSettings(
        mode=config.kernels,
        steps=config.kernel_steps,
        share=budget.of("kernels", config),
        gpu=engine_traces_gpu,
    )


def _engine(target: Target) -> str | None:
    """Where no Keras tells which engine it is: that of the backend that was asked for."""
    if target.spec is None or target.spec.keras_backend:
        return None
    engine = registry.engine_of(target.spec)
    return engine.module if engine is not None else None
