"""Allocations recorded by the real memray: the line of a leak, on several engines and whatever ends the script."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

LEAK = """
    import numpy as np
    import keras
    from keras import layers as L

    kept = []

    class Keeps(keras.callbacks.Callback):
        def on_batch_end(self, batch, logs=None):
            kept.append(np.ones(50000))

    model = keras.models.Sequential([L.Dense(4, input_shape=(8,))])
    model.compile("sgd", "mse")
    model.fit(np.ones((3200, 8)), np.ones((3200, 4)), batch_size=16, epochs=2, verbose=0, callbacks=[Keeps()])
"""
KILLED = """
    import os, signal, sys
    import numpy as np
    kept = [np.ones(1000000) for _ in range(50)]
    print("kept", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
BY_LINE = "SELECT file, line, sum(peak_bytes)::BIGINT AS bytes FROM heap WHERE file = 'script.py' GROUP BY ALL ORDER BY 3 DESC"


@pytest.mark.parametrize("backend", ["torch", "mxnet", "tensorflow1"])
def test_the_line_of_a_leak_has_what_it_allocated(tmp_path: Path, backend: str) -> None:
    """400 arrays of 400 kB: 160 MB, on Pythons for which memray has different releases."""
    runner.write(tmp_path, "script.py", LEAK)

    done = runner.trace("script.py", "--backend", backend, "--heap", cwd=tmp_path)

    assert done.code == 0, done.err
    rows = {row["line"]: row["bytes"] for row in runner.sql(tmp_path, BY_LINE)}
    assert rows[10] == pytest.approx(160_000_000, rel=0.01)


def test_a_script_that_is_killed_has_what_it_allocated_until_then(tmp_path: Path) -> None:
    """Each allocation is written as it is made."""
    runner.write(tmp_path, "script.py", KILLED)

    done = runner.trace("script.py", "--heap", cwd=tmp_path)

    assert (done.code, done.out) == (137, "kept\n")
    assert runner.sql(tmp_path, BY_LINE)[0] == {"file": "script.py", "line": 4, "bytes": pytest.approx(4e8, rel=0.01)}
