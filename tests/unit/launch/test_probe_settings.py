"""What the probe is told, from the settings of a run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dlprof.backends import registry
from dlprof.config import TraceConfig
from dlprof.launch import probe_settings
from dlprof.launch.interpreters import InterpreterFacts
from dlprof.launch.target import Target
from dlprof.rundir import RunDir
from dlprof.schema.process_config import KernelSettings, LineSettings, ProcessConfig

RUN = RunDir(Path("/runs/a"))


def told(config: TraceConfig, backend: str | None = None, **changes: bool) -> ProcessConfig:
    """What the probe of a script is told."""
    facts = InterpreterFacts(Path(sys.executable), (3, 11, 7), "cpython", "linux-x86_64", sys.prefix, {})
    spec = registry.get(backend) if backend else None
    target = Target(facts, spec, "managed", {}, Path("/tools/lp"), None)
    flags = {"engine_traces_gpu": True, "wrapped": False, **changes}
    return probe_settings.of_script(
        RUN, config, target, engine_traces_gpu=flags["engine_traces_gpu"], wrapped=flags["wrapped"]
    )


def test_a_script_is_named_in_full_and_by_its_user() -> None:
    """`sys.argv` has the name that the user gave it."""
    config = told(TraceConfig(script="a.py", arguments=("-x",)))

    assert (config.script, config.module, config.argv) == (str(Path.cwd() / "a.py"), None, ("a.py", "-x"))


def test_a_module_is_named_as_it_is() -> None:
    """As for `python -m`."""
    config = told(TraceConfig(module="a.b"))

    assert (config.script, config.module, config.argv) == ("a.b", "a.b", ("a.b",))


def test_lines_and_kernels_are_told_where_they_are_wanted() -> None:
    """With line_profiler's folder."""
    config = told(TraceConfig(script="a.py", lines=("pkg",), kernel_steps=3))

    assert config.lines == LineSettings(patterns=("pkg",), package="/tools/lp", share=0.004)
    assert config.kernels == KernelSettings(mode="windows", steps=3, gpu=True, share=0.0025)


def test_what_is_not_wanted_is_null() -> None:
    """Nothing of it is loaded."""
    config = told(TraceConfig(script="a.py", probes=("phases",)))

    assert (config.lines, config.kernels, config.overrides, config.pid) == (None, None, None, None)


@pytest.mark.parametrize(
    ("backend", "engine"),
    [("native-gluon", "mxnet"), ("native-tensorflow1", "tensorflow"), ("mxnet", None), (None, None)],
)
def test_a_script_without_keras_is_told_its_engine(backend: str | None, engine: str | None) -> None:
    """Keras says itself on what it runs."""
    assert told(TraceConfig(script="a.py"), backend).engine == engine


def test_under_a_gpu_tool_the_process_tells_its_number() -> None:
    """And leaves the GPU to the tool."""
    config = told(TraceConfig(script="a.py"), wrapped=True, engine_traces_gpu=False)

    assert config.pid == "/runs/a/payload/pid"
    assert config.kernels == KernelSettings(mode="windows", steps=10, gpu=False, share=0.0025)


def test_a_cell_has_no_arguments_of_its_own() -> None:
    """It runs in the notebook's process."""
    config = probe_settings.of_cell(RUN, TraceConfig(script="cell.py"), engine_traces_gpu=True)

    assert (config.script, config.argv, config.engine) == (str(Path.cwd() / "cell.py"), (), None)
    assert config.lines == LineSettings(share=0.004)
