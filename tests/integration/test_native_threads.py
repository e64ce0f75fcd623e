"""Python that runs on threads of an engine is told for as long as it ran: the functions measure that themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = [pytest.mark.integration, pytest.mark.measured]

SPIN = """
import atexit
import threading
import time
import numpy as np

ran = {"seconds": 0.0, "main": 0.0}
_sum = threading.Lock()

def spin(seconds):
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        sum(range(1000))
    with _sum:
        is_main = threading.get_ident() == threading.main_thread().ident
        ran["main" if is_main else "seconds"] += time.perf_counter() - begin

atexit.register(lambda: print("RAN", ran["seconds"], ran["main"], flush=True))
"""
GENERATOR = """
import tensorflow as tf

def rows():
    for number in range(20):
        spin(0.05)  # spin
        yield np.float32(number)

for _ in tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((), "float32")):
    time.sleep(0.15)
time.sleep(1)
"""
MAPPED = """
import tensorflow as tf

def work(x):
    spin(0.05)  # spin
    return x

data = tf.data.Dataset.range(20).map(lambda x: tf.numpy_function(work, [x], tf.int64), num_parallel_calls=4)
for _ in data:
    time.sleep(0.1)
time.sleep(1)
"""
EAGER = MAPPED.replace("numpy_function", "py_function")
CALLBACK = """
import jax
import jax.numpy as jnp

def work(x):
    spin(0.05)  # spin
    return np.asarray(x)

@jax.jit
def step(x):
    return CALL(work, jax.ShapeDtypeStruct((), jnp.float32), x) + 1

x = jnp.float32(0)
for _ in range(20):
    x = step(x)
    time.sleep(0.1)
print(float(x))
time.sleep(1)
"""
CASES = {
    "generator": ("native-tensorflow", GENERATOR),
    "numpy_function": ("native-tensorflow", MAPPED),
    "py_function": ("native-tensorflow", EAGER),
    "pure_callback": ("native-jax", CALLBACK.replace("CALL", "jax.pure_callback")),
    "io_callback": ("native-jax", CALLBACK.replace("CALL", "jax.experimental.io_callback")),
}


@pytest.mark.parametrize("case", CASES)
def test_python_on_threads_of_an_engine_is_told_for_as_long_as_it_ran(case: str, tmp_path: Path) -> None:
    """Twenty calls with pauses between them, in which the sampler alone takes the thread to be still there."""
    backend, text = CASES[case]
    text = text.replace("import jax\n", "import jax\nimport jax.experimental\n")
    (tmp_path / "train.py").write_text(SPIN + text)

    done = runner.trace("train.py", "--backend", backend, cwd=tmp_path)

    assert done.code == 0, done.err
    ran = sum(float(one) for one in done.out.split("RAN ")[1].split()[:2])
    rows = runner.asked("lines", "run", cwd=tmp_path)
    told = sum(row["time_ns"] for row in rows if (row["source"] or "").endswith("# spin")) / 1e9
    assert ran / 1.5 - 0.3 < told < ran * 1.5 + 0.3
