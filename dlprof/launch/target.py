"""What is to be run: the script, the interpreter, the environment variables."""

from __future__ import annotations

import ast
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from msgspec import Struct

from dlprof.backends import native, registry
from dlprof.backends.base import BackendSpec
from dlprof.config import TraceConfig
from dlprof.engines import registry as engines
from dlprof.errors import DlprofError, NoInputError, Report, UsageError
from dlprof.launch import heap, interpreters
from dlprof.launch.interpreters import InterpreterFacts
from dlprof.launch.line_profiler import line_profiler_for
from dlprof.schema.manifest import Backend, Interpreter

KEPT_VARIABLES = (
    "KERAS_BACKEND", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "MKL_NUM_THREADS", "KMP_BLOCKTIME",
    "KMP_AFFINITY", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "TF_ENABLE_ONEDNN_OPTS", "TF_XLA_FLAGS",
    "TF_CPP_MIN_LOG_LEVEL", "XLA_FLAGS", "MXNET_ENGINE_TYPE", "MXNET_CPU_WORKER_NTHREADS", "MXNET_EXEC_BULK_EXEC_TRAIN",
    "MXNET_SUBGRAPH_BACKEND", "CUDA_VISIBLE_DEVICES", "PYTHONHASHSEED", "PYTHONPATH", "PYTHONOPTIMIZE",
    "GLIBC_TUNABLES", "LD_PRELOAD", "MALLOC_ARENA_MAX", "PYTHONTRACEMALLOC", "PYTHONMALLOC", "PYTHONDEVMODE",
)  # fmt: skip
"""Environment variables that change how fast training runs: they are kept in the manifest."""


class Target(Struct, frozen=True):
    """A script on an interpreter, or any program.

    Attributes:
        interpreter: What it runs on; None for a program that is run from the outside.
        spec: The backend's spec; None for an interpreter of the user's own.
        source: `managed`, `python` (`--python`), `current` (dlprof's own interpreter), `program` (`--exec`) or
            `notebook` (this very process).
        environment: Environment variables of the process, without those of the run folder.
        line_profiler: Folder that holds line_profiler, where the interpreter has none.
        memray: Folder that holds memray, where allocations are to be recorded; None: they are not.
        no_lines: Why there is no line profiling; None where there is.
    """

    interpreter: InterpreterFacts | None
    spec: BackendSpec | None
    source: str
    environment: Mapping[str, str]
    line_profiler: Path | None
    no_lines: str | None
    memray: Path | None = None


def resolve(config: TraceConfig, *, report: Report) -> Target:
    """Find, or make, what the script is to run on.

    Raises:
        UsageError: The backend is unknown, or the interpreter is none.
        NoInputError: The script or the interpreter does not exist.
        UnavailableError: The backend's environment cannot be made.
    """
    heap.check(config)
    if config.program:
        _check_program(config.program)
        if Path(config.program).name.startswith("python"):
            report(f"note: dlprof trace SCRIPT --python {config.program} sees phases, lines and kernels too")
        return Target(None, None, "program", dict(os.environ), None, "lines are counted in Python scripts only")
    check_script(config)
    spec = registry.get(config.backend) if config.backend else None
    if spec is not None and not spec.trains:
        check_training(config, spec)
    interpreter, source = _interpreter(config, spec, report)
    folder, reason = _line_profiler(config, interpreter, report)
    memray = heap.memray_for(config, interpreter, report=report)
    return Target(interpreter, spec, source, _environment(spec, source), folder, reason, memray)


def notebook() -> Target:
    """The process of a notebook: this one."""
    return Target(interpreters.inspect(sys.executable), None, "notebook", dict(os.environ), None, None)


_TRAINING = ("fit", "train_on_batch", "fit_generator")


def check_training(config: TraceConfig, spec: BackendSpec) -> None:
    """Refuse a script that trains without condition on a backend that cannot.

    A call of `fit` inside a function, or under an `if`, may never be reached: Keras itself refuses it then.

    Raises:
        UsageError: The script trains.
    """
    try:
        tree = ast.parse(Path(config.script).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for statement in tree.body:
        if isinstance(statement, (ast.Expr, ast.Assign, ast.For, ast.With)):
            for node in ast.walk(statement):
                function = getattr(node, "func", None)
                if isinstance(function, ast.Attribute) and function.attr in _TRAINING:
                    raise UsageError(
                        f"{config.script}, line {statement.lineno}, calls {function.attr}, but Keras on {spec.name} "
                        "cannot train.",
                        hint="a script that predicts, or --backend tensorflow, jax or torch",
                    )


def _check_program(program: str) -> None:
    """Refuse a program that is not there, or may not be run.

    Raises:
        NoInputError: So it is.
    """
    if shutil.which(program) is None:
        reason = "may not be run" if Path(program).is_file() else "was not found on PATH"
        hint = f"chmod +x {program}" if Path(program).is_file() else "its path, or a program on PATH, comes after --"
        raise NoInputError(f"The program {program} {reason}.", hint=hint)


def without_keras(config: TraceConfig) -> TraceConfig:
    """For a native backend, the script that has the same model without Keras, if there is one beside.

    `DIR/mlp.py` on `native-torch` is `DIR/native/mlp_torch.py`, where `DIR/native` has scripts for that framework.

    Raises:
        UsageError: The folder has such scripts, but not for this model.
    """
    if not (config.backend or "").startswith(native.PREFIX) or config.module or config.python:
        return config
    name = str(config.backend).removeprefix(native.PREFIX)
    folder, stem = Path(config.script).parent / "native", Path(config.script).stem
    if (folder / f"{stem}_{name}.py").is_file():
        return replace(config, script=str(folder / f"{stem}_{name}.py"))
    others = sorted(path.stem.removesuffix(f"_{name}") for path in folder.glob(f"*_{name}.py"))
    if others:
        raise UsageError(
            f"There is no {stem} for {config.backend}: {folder / f'{stem}_{name}.py'} does not exist.",
            hint=f"it has: {', '.join(other for other in others if other != 'loops')}",
        )
    return config


def main_file(script: str) -> Path:
    """The file that is run, resolved: of a folder that is its `__main__.py`."""
    path = Path(script).resolve()
    return path / "__main__.py" if path.is_dir() else path


_FILE_FIRST = "write the script to a file first, and trace that"


def check_script(config: TraceConfig) -> None:
    """Refuse a script that Python could not even open.

    Raises:
        NoInputError: It does not exist, cannot be read, or only once.
        UsageError: It is a folder, and has no `__main__.py`, which Python would run.
    """
    if config.module:
        return
    path = Path(config.script)
    if path.is_dir():
        if any((path / f"__main__.{kind}").is_file() for kind in ("py", "pyc")):
            return
        raise UsageError(
            f"{path} is a folder, not a script.", hint=f"dlprof trace {path / 'SCRIPT.py'}, or dlprof trace -m MODULE"
        )
    if not path.exists():
        raise NoInputError(f"There is no script {path}.", hint=_where_from(path))
    if not path.is_file():  # what is read of it before the script starts would be missing from the script
        text = f"The script {path} is no file: a pipe gives its text once, and dlprof reads a script more than once."
        raise NoInputError(text, hint=_FILE_FIRST)
    if not os.access(path, os.R_OK):
        raise NoInputError(f"The script {path} may not be read.", hint=f"chmod +r {path}")


def _where_from(path: Path) -> str:
    """What to do about a script that is not there: scenarios come with dlprof, and are copied first."""
    from dlprof.shipped import scenarios  # noqa: PLC0415  (of no use to a script that is there)

    if str(path) == "-":
        return f"{_FILE_FIRST}; none is read from standard input"
    if path.suffix in ("", ".py") and path.stem in {one.name for one in scenarios.known()}:
        home = path.parent.name == scenarios.FOLDER and str(path.parent) != scenarios.FOLDER
        return f"dlprof scenarios copy {path.stem}{f' {path.parent}' if home else ''}"
    return "check the path; it is taken from the current folder"


def _interpreter(config: TraceConfig, spec: BackendSpec | None, report: Report) -> tuple[InterpreterFacts, str]:
    if config.python:
        return interpreters.inspect(config.python), "python"
    if spec is not None:
        from dlprof.launch import environments  # noqa: PLC0415  (of no use to an interpreter of the user's own)

        environment = environments.ensure(spec, report=report, show_progress=sys.stderr.isatty())
        return interpreters.inspect(environment.python), "managed"
    return interpreters.inspect(sys.executable), "current"


def _line_profiler(
    config: TraceConfig, interpreter: InterpreterFacts, report: Report
) -> tuple[Path | None, str | None]:
    if not config.wants("lines"):
        return None, "switched off"
    try:
        return line_profiler_for(interpreter, report=report), None
    except DlprofError as error:
        return None, error.message.rstrip(".")


def _environment(spec: BackendSpec | None, source: str) -> dict[str, str]:
    environment = dict(os.environ)
    if source != "current":
        # Variables that tie a process to dlprof's own environment mislead another interpreter.
        for name in ("PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"):
            environment.pop(name, None)
    if spec is not None:
        for name, value in spec.environment.items():
            environment.setdefault(name, value)
        environment.pop("KERAS_BACKEND", None)
        if spec.keras_backend:
            environment["KERAS_BACKEND"] = spec.keras_backend
    return environment


def backend(target: Target) -> Backend:
    """What the manifest says of the backend, before anything has run."""
    spec = target.spec
    dispatch = (
        registry.dispatch_of(spec) if spec else engines.dispatch_under_keras(target.environment.get("KERAS_BACKEND"))
    )
    return Backend(
        name=spec.name if spec else None,
        title=spec.title if spec else None,
        source=target.source,
        asynchronous_dispatch=dispatch.asynchronous,
        input_inside_step=dispatch.input_inside_step,
    )


def interpreter(target: Target) -> Interpreter:
    """What the manifest says of the Python; nothing is known where a program of another kind runs."""
    facts = target.interpreter
    return Interpreter(version=facts.version_text, implementation=facts.implementation) if facts else Interpreter()


def kept_environment(target: Target) -> dict[str, str]:
    """The variables that change how fast training runs."""
    return {name: target.environment[name] for name in KEPT_VARIABLES if name in target.environment}


def keras_missing(target: Target, config: TraceConfig) -> str | None:
    """A warning when the interpreter has no Keras; None when it has, or when none seems to be wanted."""
    if target.interpreter is None or (target.spec is not None and not target.spec.keras_backend):
        return None
    packages = target.interpreter.packages
    if "keras" in packages or "tf_keras" in packages:
        return None
    if not _names_keras(config):
        return None
    others = "; --python PATH takes another one, --backend NAME one that dlprof makes" * (target.source == "current")
    return f"there is no Keras in {target.interpreter.path}: phases of Keras will be missing{others}"


def _names_keras(config: TraceConfig) -> bool:
    """Whether a script names Keras; one that cannot be looked at may."""
    if config.module:
        return True
    try:
        return b"keras" in main_file(config.script).read_bytes()
    except OSError:
        return True


__all__ = [
    "KEPT_VARIABLES",
    "Target",
    "UsageError",
    "backend",
    "check_script",
    "check_training",
    "interpreter",
    "kept_environment",
    "keras_missing",
    "main_file",
    "notebook",
    "resolve",
    "without_keras",
]
