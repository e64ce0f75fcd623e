"""Programs without Keras: Python with marks, and any program from the outside."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

MARKED = """
    import time
    from dlprof_probes import mark

    with mark.phase("construct"):
        time.sleep(0.05)
    with mark.phase("fit", batch_size=8):
        for epoch in range(2):
            with mark.epoch(epoch):
                for batch in mark.steps(range(3)):
                    time.sleep(0.01)
                mark.metrics(loss=1.0 / (epoch + 1))
    with mark.phase("evaluate"):
        for _ in range(2):
            with mark.step():
                time.sleep(0.01)
    with mark.phase("nonsense"):
        pass
    print("done", epoch, batch)
"""


def test_marks_make_phases_epochs_and_steps(tmp_path: Path) -> None:
    """As the hooks of Keras do; a phase that there is not is a note."""
    script = runner.write(tmp_path, "train.py", MARKED)
    done = runner.trace(str(script), "--python", sys.executable, "--probes", "phases", cwd=tmp_path)

    assert (done.code, done.out) == (0, "done 1 2\n"), done.err
    content = runner.report(tmp_path)
    found = runner.phases(content)
    assert found["construct"] >= 50_000_000
    assert found["fit.steps"] >= 60_000_000
    assert found["evaluate"] >= 20_000_000
    assert {loop["loop"]: loop["count"] for loop in content["step_summaries"]} == {"train": 6, "test": 2}
    assert content["steps"]["samples_per_s"] is not None
    assert [(e["epoch"], e["steps"], e["metrics"]) for e in content["epochs"]] == [
        (0, 3, {"loss": 1.0}),
        (1, 3, {"loss": 0.5}),
    ]
    assert "mark-unknown" in {row["slug"] for row in content["health"]}


def test_marks_do_nothing_without_dlprof(tmp_path: Path) -> None:
    """The package is there, and nobody listens."""
    script = runner.write(tmp_path, "train.py", MARKED)
    done = runner.run([sys.executable, str(script)], cwd=tmp_path)

    assert (done.code, done.out, done.err) == (0, "done 1 2\n", "")


def test_an_exception_in_a_step_passes_as_it_is(tmp_path: Path) -> None:
    """With the traceback that it has without dlprof, and the steps before it."""
    script = runner.write(
        tmp_path,
        "train.py",
        """
        from dlprof_probes import mark

        with mark.phase("fit"):
            for batch in mark.steps(range(5)):
                if batch == 3:
                    raise ValueError("bad batch")
    """,
    )
    done = runner.trace(str(script), "--python", sys.executable, "--probes", "phases", cwd=tmp_path)
    bare = runner.run([sys.executable, str(script)], cwd=tmp_path)

    assert done.code == bare.code
    assert done.err.endswith(bare.err)  # before it, dlprof says that there is no Keras
    assert runner.report(tmp_path)["steps"]["count"] == 4


def test_a_program_states_its_phases_in_a_file(tmp_path: Path) -> None:
    """And ends as it ends; its standard output is its own."""
    program = runner.write(
        tmp_path,
        "program.sh",
        """\
        #!/bin/sh
        mark() { echo "$@" >> "$DLPROF_MARK"; }
        mark begin data; sleep 0.2; mark end data
        mark begin fit batch_size=4
        for step in 1 2 3; do sleep 0.05; mark step; done
        mark metric loss 0.5
        mark end fit
        echo "arguments: $*"
        exit 7
    """,
    )
    program.chmod(0o755)
    command = [*runner.DLPROF, "trace", "--exec", "-o", "run", "--no-report", "--", str(program), "a", "--b"]
    done = runner.run(command, cwd=tmp_path)

    assert (done.code, done.out) == (7, "arguments: a --b\n"), done.err
    content = runner.report(tmp_path)
    assert (content["source"], content["script"], content["exit"]["code"]) == ("program", str(program), 7)
    found = runner.phases(content)
    # Half of what it sleeps: a line is seen some time after it was written, later where all cores are busy.
    assert found["data"] >= 100_000_000
    assert found["fit.steps"] >= 75_000_000
    assert content["steps"]["count"] == 3
    assert content["epochs"][0]["metrics"] == {"loss": 0.5}
    states = {probe["name"]: probe["state"] for probe in content["probes"]}
    assert (states["phases"], states["lines"], states["cores"]) == ("on", "unavailable", "on")


def test_a_program_that_states_nothing_has_cores_and_stacks(tmp_path: Path) -> None:
    """Of the Python that a shell starts."""
    code = "import time\nwhile time.process_time() < 2: sum(range(1000))"
    command = [*runner.DLPROF, "trace", "--exec", "-o", "run", "--no-report", "--"]
    done = runner.run([*command, "sh", "-c", f"'{sys.executable}' -c '{code}'; true"], cwd=tmp_path)

    assert done.code == 0, done.err
    content = runner.report(tmp_path)
    assert runner.phases(content)["script"] >= 0.99 * content["wall_ns"]
    assert content["process"]["tree_cpu_pct"] > 5  # on a busy machine, too
    assert content["stacks"]
    reason = next(probe["reason"] for probe in content["probes"] if probe["name"] == "phases")
    assert "DLPROF_MARK" in reason


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        (["--exec"], 64, "There is no program to run."),
        (["--exec", "--", "no-such-program"], 66, "The program no-such-program was not found on PATH."),
        (["x.py", "--exec", "--", "ls"], 64, "--exec runs a program as it is"),
        (["--exec", "--backend", "mxnet", "--", "ls"], 64, "--exec runs a program as it is"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(flags: list[str], code: int, said: str, tmp_path: Path) -> None:
    """And nothing is left behind."""
    done = runner.run([*runner.DLPROF, "trace", *flags], cwd=tmp_path)

    assert done.code == code
    assert said in done.err
    assert not list(tmp_path.iterdir())
