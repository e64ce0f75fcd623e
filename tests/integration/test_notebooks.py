"""The cell magic on real backends, and the notebook of the documentation."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from dlprof.backends import registry
from dlprof.launch import environments
from tests.integration import runner

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "first-steps.ipynb"

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

IN_PLACE = """
    import json, site, sys
    site.addsitedir(sys.argv[1])

    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance(colors="nocolor")

    def run(text):
        result = shell.run_cell(text, store_history=True)
        result.raise_error()

    run("%load_ext dlprof")
    run('''
    import keras, numpy
    keras.utils.set_random_seed(3)
    x, y = numpy.random.rand(1024, 16).astype("float32"), numpy.random.randint(0, 4, 1024)

    def made():
        keras.utils.set_random_seed(3)
        model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(8), keras.layers.Dense(4, activation="softmax")])
        model.compile("sgd", "sparse_categorical_crossentropy")
        return model

    class Mine(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.seen = epoch

    plain, model, mine = made(), made(), Mine()
    expected = plain.fit(x, y, batch_size=32, epochs=2, verbose=0, shuffle=False).history["loss"]
    before = {(one, name): value for one in keras.Sequential.__mro__ for name, value in vars(one).items()}
    ''')
    run('''%%dlprof --lines made --budget off --no-report
    history = model.fit(x, y, batch_size=32, epochs=2, verbose=0, shuffle=False, callbacks=[mine])
    again = made()
    ''')
    run("%%dlprof --into second --no-report\\nmodel.evaluate(x, y, batch_size=32, verbose=0)")
    run('''
    after = {(one, name): value for one in keras.Sequential.__mro__ for name, value in vars(one).items()}
    changed = [name for (one, name), value in before.items() if after[one, name] is not value]
    ''')
    names, view = shell.user_ns, shell.user_ns["_dlprof"]
    print("TOLD" + json.dumps({
        "expected": names["expected"],
        "losses": names["history"].history["loss"],
        "changed": names["changed"],
        "step function": type(names["model"].train_function).__name__,
        "phases": {row["name"]: row["dur_ns"] for row in view.summary["phases"]},
        "wall_ns": view.wall_ns,
        "steps": {loop["loop"]: loop["count"] for loop in view.summary["step_summaries"]},
        "second": {loop["loop"]: loop["count"] for loop in names["second"].summary["step_summaries"]},
        "backend": view.backend,
        "kernels": sorted(set(view.kernels()["layer"].dropna())),
        "lines": view.lines().query("hits > 0")[["file", "line"]].drop_duplicates().to_dict("records"),
        "health": view.summary["health"],
        "html": view._repr_html_()[:20],
    }))
"""


@pytest.mark.parametrize("backend", ["torch", "jax", "tensorflow"])
def test_a_cell_is_traced_in_place_and_leaves_keras_as_it_was(backend: str, tmp_path: Path) -> None:
    """Keras is loaded and has trained before the cell: phases, steps and kernels are there, and the same losses."""
    python = environments.ensure(registry.get(backend), report=print).python
    packages = python.parents[1] / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    if not packages.is_dir():
        pytest.skip(f"the environment of {backend} is of another Python than dlprof's own")
    runner.write(tmp_path, "shell.py", IN_PLACE)
    env = {"KERAS_BACKEND": backend, "KERAS_HOME": str(tmp_path / "home"), "IPYTHONDIR": str(tmp_path / "ipython")}

    done = runner.run([sys.executable, "shell.py", str(packages)], cwd=tmp_path, env=env)

    assert done.code == 0, done.err + done.out
    told = json.loads(done.out.rpartition("TOLD")[2])
    assert told["losses"] == told["expected"]
    assert told["changed"] == []
    assert told["step function"] not in ("StepFunction", "NoneType")
    assert sum(ns for name, ns in told["phases"].items() if "." not in name) == told["wall_ns"]
    assert told["phases"]["fit.steps"] > 0
    assert "import" not in told["phases"] or told["phases"]["import"] < told["wall_ns"] / 4
    assert told["steps"] == {"train": 64}
    assert told["second"] == {"test": 32}
    assert told["backend"] == backend
    assert {"dense_2", "dense_3"} <= set(told["kernels"])
    assert {"file": "cell.py", "line": 1} in told["lines"]
    assert {"file": "In[2]", "line": 8} in told["lines"]
    assert [entry for entry in told["health"] if entry["severity"] != "info"] == []
    assert told["html"] == "<div class='dlprof'>"


@pytest.mark.backend("torch")
def test_the_notebook_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell, in a real kernel, and what it shows."""
    environments.ensure(registry.get("torch"), report=print)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)

    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute(cwd=str(tmp_path))

    shown = {cell.source: kinds(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"}
    pages = [source for source, found in shown.items() if "text/html" in found]
    pictures = [source for source, found in shown.items() if "image/png" in found]
    assert pictures == ["small.plot.phases();", "small.plot.steps();", "gap.plot.waterfall();"]
    assert {"small.findings()", "here.lines()"} <= set(pages)
    assert [source for source in pages if source.startswith("gap = dlprof.compare(")]
    assert not [source for source, found in shown.items() if "error" in found]


def kinds(outputs: list[Any]) -> set[str]:
    """What a cell has shown: types of data, or of output."""
    return {kind for one in outputs for kind in (one.get("data") or {one.output_type: None})}


def test_the_notebook_is_kept_without_its_output() -> None:
    """So that its differences can be read."""
    cells = json.loads(NOTEBOOK.read_text())["cells"]

    assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]
