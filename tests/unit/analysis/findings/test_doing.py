"""What a stack tells of what a thread does."""

from __future__ import annotations

from dlprof.analysis.findings import doing
from dlprof.analysis.stacks import Frame
from dlprof.engines.base import UNKNOWN

MAIN = Frame("<module>", "train.py", 3)


def of(*frames: Frame) -> str | None:
    """What a stack tells, innermost frame first, whose outermost is the script's."""
    return doing.of_stack((*frames, MAIN), {"train.py"}, UNKNOWN)


def test_what_a_line_has_called_tells() -> None:
    """The innermost frame that is known; frames around it may be others'."""
    assert (
        of(Frame("backend_compile", "jax/_src/compiler.py", 1), Frame("cache_miss", "jax/_src/pjit.py", 2))
        == "compiling"
    )
    assert (
        of(Frame("wait", "<python>/threading.py", 1), Frame("wait", "<python>/subprocess.py", 2))
        == "waiting for a thread"
    )
    assert of(Frame("poll", "other/file.py", 1), Frame("wait", "<python>/subprocess.py", 2)) == "waiting for a process"


def test_a_line_of_the_script_itself_tells_nothing() -> None:
    """Nor does what stands above it: it has been left."""
    assert of() is None
    assert doing.of_stack((MAIN, Frame("call", "<python>/subprocess.py", 2)), {"train.py"}, UNKNOWN) is None


def test_a_function_of_tensorflow_that_runs_is_not_compiled() -> None:
    """Both are below the call of it; what traces it lies further in."""
    called = Frame("call_function", "tensorflow/python/eager/polymorphic_function/tracing_compilation.py", 9)
    runs = Frame("call_flat", "tensorflow/python/eager/polymorphic_function/atomic_function.py", 4)
    execute = Frame("quick_execute", "tensorflow/python/eager/execute.py", 5)
    traces = Frame("func_graph_from_py_func", "tensorflow/python/framework/func_graph.py", 6)

    assert of(execute, runs, called) == "running a graph"
    assert of(traces, called) == "compiling"


def test_a_function_that_torch_never_compiles_is_not_compiled() -> None:
    """Its wrapper is Dynamo's."""
    gives_back = Frame("Optimizer.zero_grad", "torch/optim/optimizer.py", 1)
    wrapper = Frame("DisableContext.__call__.<locals>._fn", "torch/_dynamo/eval_frame.py", 2)

    assert of(gives_back, wrapper) is None
    assert of(Frame("_compile", "torch/_dynamo/convert_frame.py", 1), wrapper) == "compiling"


def test_a_compiled_function_of_torch_that_runs_is_not_compiled() -> None:
    """What made it lies further in."""
    runs = Frame("CompiledFxGraph.__call__", "torch/_inductor/output_code.py", 3)
    around = Frame("runtime_wrapper", "torch/_functorch/_aot_autograd/runtime_wrappers.py", 4)
    makes = Frame("compile_fx_inner", "torch/_inductor/compile_fx.py", 2)

    assert of(Frame("call", "/tmp/torchinductor/abc.py", 1), runs, around) == "running a graph"
    assert of(makes, around) == "compiling"
