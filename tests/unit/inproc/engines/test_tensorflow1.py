"""Sessions tell what they ran only while a window is open."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc.engines.tensorflow1 import TensorFlow1Tracer

from tests.contracts.engine_exercise import fake_keras
from tests.contracts.engine_programs import PROGRAMS


def test_a_window_has_the_metadata_of_all_that_ran(probed: Callable[..., Any], tmp_path: Any) -> None:
    """Of callables and of plain runs, one behind the other."""
    setup, program = probed("tensorflow1"), PROGRAMS["tensorflow1"]()
    setup.engine.under_keras(fake_keras())
    step = program.stepping()
    step()
    tracer = setup.engine.make_tracer()

    tracer.start(str(tmp_path))
    step()
    files = tracer.stop()
    step()

    assert files == [str(tmp_path / "steps.runmeta.pb")]
    assert (tmp_path / "steps.runmeta.pb").read_bytes() == b"metadata2metadata2"


def test_a_run_that_asks_for_its_own_metadata_gets_it(probed: Callable[..., Any]) -> None:
    """It is the script's."""
    setup = probed("tensorflow1")
    tf = sys.modules["tensorflow"].compat.v1
    result = tf.placeholder_with_default(np.float32(1), [], name="one")
    setup.engine._sessions.collect(1)
    metadata = tf.RunMetadata()

    tf.Session().run(result, options={}, run_metadata=metadata)

    assert metadata.operators == 2
    assert setup.engine._sessions.collected() == []


def test_a_callable_has_what_the_sessions_own_has(probed: Callable[..., Any]) -> None:
    """All but calling goes to that."""
    probed("tensorflow1")
    from tensorflow.core.protobuf import config_pb2

    tf = sys.modules["tensorflow"].compat.v1
    session, options = tf.Session(), config_pb2.CallableOptions()
    options.fetch.append(tf.placeholder_with_default(np.float32(1), [], name="one").name)

    assert session._make_callable_from_options(options).kept == "of the session's own"


def test_other_results_and_inputs_of_a_session_are_another_graph(probed: Callable[..., Any]) -> None:
    """The first run of each is a compilation, the second is not."""
    setup = probed("tensorflow1")
    tf = sys.modules["tensorflow"].compat.v1
    value = tf.placeholder("float32", [], name="value")
    result, session = tf.add(value, value, name="result"), tf.Session()
    loop = setup.open()
    for fetches in (result, result, value):
        session.run(fetches, {value: np.float32(1)})
    setup.close(loop)

    assert setup.probe.loops.compiles == [2]


@pytest.mark.parametrize(
    ("kinds", "gpu", "level"), [(["CPU"], True, 1), (["CPU", "GPU"], True, 3), (["GPU"], False, 1)]
)
def test_gpus_are_traced_where_there_are_any(
    probed: Callable[..., Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch, kinds: list[str], gpu: bool, level: int
) -> None:
    """Unless a tool around the process has them; the full trace also logs, and so is not asked for on a CPU."""
    probed("tensorflow1")
    devices = ModuleType("tensorflow.python.client.device_lib")
    devices.list_local_devices = lambda: [SimpleNamespace(device_type=kind) for kind in kinds]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, devices.__name__, devices)
    levels: list[int] = []
    tracer = TensorFlow1Tracer(SimpleNamespace(collect=levels.append))
    tracer.gpu = gpu

    tracer.start(str(tmp_path))

    assert levels == [level]


def test_a_version_without_such_sessions_has_no_windows(probed: Callable[..., Any], tmp_path: Any) -> None:
    """The report says what is missing."""
    setup = probed("tensorflow1")
    from tensorflow.python.client import session

    setup.end()
    del session.BaseSession._make_callable_from_options
    setup.engine._sessions = None
    setup.engine.attach(sys.modules["tensorflow"])

    assert setup.engine.make_tracer() is None
    assert "tf.Session" in setup.probe.missing
