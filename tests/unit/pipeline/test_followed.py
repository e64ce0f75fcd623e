"""The runs of Pythons below a program: their manifests, and the index of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec import structs

from dlprof.config import TraceConfig
from dlprof.launch.process import Outcome
from dlprof.launch.recorded import Child, Recorded
from dlprof.pipeline import followed
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Clock, GpuTracer, Manifest, Rank
from dlprof.schema.process_config import ChildFacts

CONFIG = TraceConfig(program="make")


def facts(*command: str) -> ChildFacts:
    """A Python in the current folder that imported torch 0.25 s after its start."""
    return ChildFacts(
        pid=7, parent=5, boot_ns=10**9, begun_ns=1_250_000_000, engine="torch", command=("/bin/python", *command),
        folder=os.getcwd(), executable="/bin/python", python="3.11.7", implementation="cpython", ranks={"RANK": "0"},
    )  # fmt: skip


def recorded(code: int | None, signal: int | None, *children: Child) -> Recorded:
    """A second of a process that ended so."""
    outcome = Outcome(code, signal, 10**9, 2 * 10**9, 0, 0, 0, {}, False)
    return Recorded(outcome, 7, Clock(), GpuTracer(name="off"), (), children, 9, 2)


@pytest.mark.parametrize(
    ("command", "script", "module", "program", "argv"),
    [
        (("-u", "train.py", "--lr", "1"), "train.py", None, None, ("--lr", "1")),
        (("-m", "package.train", "x"), None, "package.train", None, ("x",)),
        (("/elsewhere/train.py",), "train.py", None, None, ()),
        (("-c", "pass"), None, None, "/bin/python", ("-c", "pass")),
    ],
)
def test_a_child_is_a_run_of_what_it_runs(
    tmp_path: Path,
    command: tuple[str, ...],
    script: str | None,
    module: str | None,
    program: str | None,
    argv: tuple[str, ...],
) -> None:
    """Its manifest is there from the moment on in which it was found."""
    begins = followed.Begins(CONFIG, Manifest())
    folder = RunDir(tmp_path)
    begins(folder, facts(*command))
    told = folder.read_manifest()
    what = told.command
    assert (what.script, what.module, what.program, what.argv) == (script, module, program, argv)
    assert (told.backend.source, told.state, told.process.pid) == ("followed", "running", 7)
    assert "from its import of torch on, 0.25 s after" in told.health[0].message


def test_the_index_says_how_each_ended(tmp_path: Path) -> None:
    """A code, a signal, another program in its place, still there, or not known; what was passed over is a warning."""
    made = [Child(RunDir(tmp_path / f"{number:03d}-train"), facts("train.py")) for number in range(1, 6)]
    made[0].recorded = recorded(3, None)
    made[1].recorded = recorded(None, 9)
    made[2].recorded, made[2].replaced = recorded(None, None), True
    made[3].recorded, made[3].went_on = recorded(None, None), True
    made[4].recorded = recorded(None, None)

    told = followed.indexed(Manifest(), CONFIG, recorded(0, None, *made))

    assert told.followed is not None
    assert [(one.ended, one.exit_code, one.signal) for one in told.followed.runs] == [
        ("exited", 3, None),
        ("signalled", None, 9),
        ("replaced", None, None),
        ("running", None, None),
        ("unknown", None, None),
    ]
    first = told.followed.runs[0]
    assert (first.run, first.command, first.wall_ns) == ("children/001-train", "/bin/python train.py", 10**9)
    assert first.ranks == {"RANK": "0"}
    assert (told.followed.pythons, told.followed.not_followed) == (9, 2)
    assert [line.slug for line in told.health] == ["not-followed"]


def test_a_script_whose_children_are_not_followed_has_no_index() -> None:
    """None is not an empty list."""
    assert followed.indexed(Manifest(), TraceConfig(script="train.py"), recorded(0, None)).followed is None


def test_secrets_on_command_lines_are_hidden(tmp_path: Path) -> None:
    """In the index, and in the child's own run."""
    child = Child(RunDir(tmp_path), facts("train.py", "--token", "abc"), recorded(0, None))
    told = followed.indexed(Manifest(), CONFIG, recorded(0, None, child)).followed
    assert told is not None
    assert told.runs[0].command == "/bin/python train.py --token ***"
    followed.Begins(CONFIG, Manifest())(child.folder, child.facts)
    assert child.folder.read_manifest().command.argv == ("--token", "***")


def test_the_rank_of_a_child_is_in_its_manifest(tmp_path: Path) -> None:
    """As its environment tells it, not that of the program that started it."""
    for number in range(2):
        (tmp_path / str(number)).mkdir()
    begins = followed.Begins(CONFIG, Manifest(rank=Rank(rank=5, world=6, by="SLURM_PROCID")))
    for number, told in enumerate(({"RANK": "1", "WORLD_SIZE": "2"}, {})):
        begins(RunDir(tmp_path / str(number)), structs.replace(facts("train.py"), ranks=told))
    ranks = [RunDir(tmp_path / str(number)).read_manifest().rank for number in range(2)]
    assert ranks == [Rank(rank=1, world=2, by="RANK"), None]
