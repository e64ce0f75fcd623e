"""What torch's traces are told of layers, and what settings do."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from threading import get_ident
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines.torch import Torch

from tests.contracts.engine_exercise import fake_keras

NOBODY: Any = None
"""Nothing of the engine's own is asked."""


def ranges(path: Any) -> list[str]:
    """Names of the ranges of a trace."""
    return [event["name"] for event in json.loads(path.read_text())["traceEvents"]]


def in_window(setup: Any, folder: Any, work: Callable[[], object]) -> list[str]:
    """The ranges that are made while a window is open."""
    tracer = setup.windows._tracer
    tracer.start(str(folder))
    setup.windows.active = SimpleNamespace(thread=get_ident())
    work()
    setup.windows.active = None
    tracer.stop()
    return ranges(folder / "trace.json")


def test_layers_loss_metrics_and_optimiser_of_keras_are_ranges(probed: Callable[..., Any], tmp_path: Any) -> None:
    """Torch itself does not know them."""
    setup, keras = probed("torch"), fake_keras()
    setup.engine.under_keras(keras)

    def step() -> None:
        model, optimizer = keras.models[0](), keras.module.optimizers.Optimizer()
        model.optimizer, optimizer.name = SimpleNamespace(name="adam"), "adam"
        keras.layer()(1)
        model.compute_loss(1)
        model.compute_metrics(1)
        model.zero_grad()
        optimizer.apply([])

    assert in_window(setup, tmp_path, step) == [
        "dlprof:start",
        "dlprof:layer:dense",
        "dlprof:loss:",
        "dlprof:metrics:",
        "dlprof:optimizer:adam",
        "dlprof:optimizer:adam",
    ]


def test_outside_of_windows_no_range_is_made(probed: Callable[..., Any]) -> None:
    """A layer's call is only looked at."""
    setup, keras = probed("torch"), fake_keras()
    setup.engine.under_keras(keras)

    assert keras.layer()(1) == 1


def test_the_parts_of_a_module_are_ranges(probed: Callable[..., Any], tmp_path: Any) -> None:
    """Those that have a name; the hooks are gone after the window."""
    setup = probed("torch")
    import torch

    model = torch.nn.Sequential()
    model.add_module("scale", torch.nn.Linear(2, 2))
    setup.engine.named_layers(model)
    setup.engine.alone()

    assert in_window(setup, tmp_path, lambda: model(torch.ones(2))) == ["dlprof:start", "dlprof:layer:scale"]
    assert (torch.nn.modules.module.before, torch.nn.modules.module.after) == ([], [])


def test_the_parts_of_a_module_are_no_ranges_on_other_threads(probed: Callable[..., Any], tmp_path: Any) -> None:
    """A range is of the thread that is traced, and is ended there."""
    setup = probed("torch")
    import torch

    model = torch.nn.Sequential()
    model.add_module("scale", torch.nn.Linear(2, 2))
    setup.engine.named_layers(model)
    setup.engine.alone()

    def work() -> None:
        thread = threading.Thread(target=lambda: model(torch.ones(2)))
        thread.start()
        thread.join()

    assert in_window(setup, tmp_path, work) == ["dlprof:start"]


def test_what_has_no_parts_is_no_module(probed: Callable[..., Any]) -> None:
    """A list of names is the script's own business."""
    assert probed("torch").engine.named_layers(["dense"]) is None


def test_a_module_that_cannot_be_named_leaves_no_profiler_running(probed: Callable[..., Any], tmp_path: Any) -> None:
    """`start` fails, and `stop` ends what had begun."""
    setup = probed("torch")
    import torch

    def broken() -> Any:
        raise KeyError("parts")

    setup.engine._models = [("", lambda: SimpleNamespace(named_modules=broken))]
    tracer = setup.engine.make_tracer()
    with pytest.raises(KeyError):
        tracer.start(str(tmp_path))
    tracer.stop()

    assert torch.profiler.running == []


def test_the_gpu_is_traced_where_there_is_one_and_waited_for(probed: Callable[..., Any], tmp_path: Any) -> None:
    """Unless a tool around the process has it."""
    setup = probed("torch")
    import torch

    waited = []
    torch.cuda.is_available = torch.cuda.is_initialized = lambda: True
    torch.cuda.synchronize = lambda: waited.append(True)
    seen = []
    for gpu in (True, False):
        tracer = setup.engine.make_tracer()
        tracer.gpu = gpu
        tracer.drain()
        tracer.start(str(tmp_path))
        seen.append(torch.profiler.running[0].activities)
        tracer.stop()

    assert seen == [["cpu", "cuda"], ["cpu"]]
    assert waited == [True, True]


def test_the_guards_that_failed_are_told_of_a_compilation(probed: Callable[..., Any]) -> None:
    """As torch says them."""
    setup = probed("torch")
    import torch

    compiled = torch.compile(lambda value: value)
    compiled(torch.ones(2))
    compiled(torch.ones(3))

    guards = [span.detail.get("guards") for span in setup.stream().spans.values() if span.kind == "graph_compile"]
    text = "tensor 'value' size mismatch at index 0"
    assert guards == [None, [{"argument": None, "what": "guard", "before": None, "now": text}]]


def test_settings_of_a_trial_hold_whatever_the_script_sets(probed: Callable[..., Any]) -> None:
    """Threads, and switches for debugging, also as contexts."""
    setup = probed("torch")
    import torch

    flags = ["torch.autograd.set_detect_anomaly", "torch.use_deterministic_algorithms"]
    setup.engine.apply(torch, {"threads": 1, "flags_off": flags})
    torch.set_num_threads(8)
    torch.use_deterministic_algorithms(True)
    torch.autograd.set_detect_anomaly(True)
    with torch.autograd.detect_anomaly():
        seen = torch.is_anomaly_enabled()

    assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled(), seen) == (1, False, False)


def test_its_gpus_count_memory_where_they_were_used() -> None:
    """All of them together; what was not used is not woken up."""
    used = SimpleNamespace(
        is_initialized=lambda: True,
        device_count=lambda: 2,
        memory_allocated=lambda number: 10 * (number + 1),
        max_memory_allocated=lambda number: 100 * (number + 1),
    )

    unused = SimpleNamespace(is_initialized=lambda: False)
    assert Torch(NOBODY).allocated(SimpleNamespace(cuda=used)) == {"live_bytes": 30, "peak_bytes": 300}
    assert Torch(NOBODY).allocated(SimpleNamespace(cuda=unused)) is None
