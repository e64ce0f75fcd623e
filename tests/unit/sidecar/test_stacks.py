"""py-spy beside the traced process: segments one after the other, and why there are none."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dlprof_probes.sidecar import proc, stacks
from dlprof_probes.sidecar.below import PythonBelow
from dlprof_probes.sidecar.rate import Rate

WRITES = """#!/bin/sh
for last; do :; done
finish() { echo '[]' > "$last"; echo "Samples: 12 Errors: 1"; exit 0; }
trap finish INT
echo "$@" > ARGUMENTS
[ -n "$ENDS" ] && finish
while :; do sleep 0.02; done
"""
FAILS = "#!/bin/sh\necho 'Error: Permission Denied: Try running again with elevated permissions'\nexit 1\n"
STUBBORN = "#!/bin/sh\ntrap '' INT\necho ready > ARGUMENTS\nwhile :; do sleep 0.02; done\n"


@pytest.fixture
def spy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of py-spy; what it does, a test writes into it."""
    path = tmp_path / "py-spy"
    use(path, WRITES)
    monkeypatch.setattr(stacks, "find", lambda: str(path))
    return path


def use(spy: Path, text: str) -> None:
    """What the program does from here on."""
    spy.write_text(text.replace("ARGUMENTS", str(spy.with_name("arguments"))))
    spy.chmod(0o755)


def wait_for(path: Path) -> str:
    """What is in a file, as soon as there is something."""
    for _ in range(1000):
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return text
        time.sleep(0.01)
    raise AssertionError(path)


@pytest.fixture
def sampler(tmp_path: Path, spy: Path) -> Iterator[stacks.StackSampler]:
    """A sampler of this very process."""
    made = stacks.StackSampler(os.getpid(), tmp_path, 99.6)
    yield made
    made.stop(0.1)


def test_a_segment_has_its_file_and_its_anchor(sampler: stacks.StackSampler, tmp_path: Path) -> None:
    """py-spy writes when it is told to end; what it said of its samples is kept."""
    assert sampler.start() is True
    arguments = wait_for(tmp_path / "arguments").split()
    sampler.stop(10)

    assert arguments[:9] == [
        "record",
        "--pid",
        str(os.getpid()),
        "--format",
        "chrometrace",
        "--rate",
        "100",
        "--nonblocking",
        "--idle",
    ]
    assert arguments[-1] == str(tmp_path / "stacks-000.json")
    anchor = json.loads((tmp_path / "stacks-000.anchor.json").read_text())
    assert (anchor["rate_hz"], anchor["samples"], anchor["errors"], anchor["behind"], anchor["reason"]) == (
        100,
        12,
        1,
        False,
        None,
    )
    assert anchor["before_ns"] <= anchor["after_ns"]
    assert (sampler.reason, sampler.pid) == (None, None)
    assert not (tmp_path / "stacks-000.log").exists()


def test_a_whole_tree_is_sampled_where_it_is_asked(tmp_path: Path, spy: Path) -> None:
    """Every Python among the processes."""
    made = stacks.StackSampler(os.getpid(), tmp_path, 0.2, tree=True)
    made.start()
    arguments = wait_for(tmp_path / "arguments").split()
    made.stop(10)

    assert "--subprocesses" in arguments
    assert arguments[arguments.index("--rate") + 1] == "1"


@pytest.mark.parametrize(("below", "looks"), [(False, False), (True, True)])
def test_within_a_budget_a_tree_is_sampled_from_the_start_where_there_is_one(
    tmp_path: Path, spy: Path, monkeypatch: pytest.MonkeyPatch, below: bool, looks: bool
) -> None:
    """To search for one costs as much as the samples of the process itself."""
    monkeypatch.setattr(PythonBelow, "is_needed", lambda _self: below)
    made = stacks.StackSampler(os.getpid(), tmp_path, 20, tree=True, share=0.002)
    made.start()
    arguments = wait_for(tmp_path / "arguments").split()
    made.stop(10)

    assert ("--subprocesses" in arguments) is looks


def test_a_tree_without_another_python_is_left_out_to_save_until_there_is_one(
    tmp_path: Path, spy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once samples cost too much; searching costs as much as they do."""
    monkeypatch.setattr(stacks, "_SETTLED_S", 0.0)
    monkeypatch.setattr(PythonBelow, "is_needed", lambda _self: False)
    monkeypatch.setattr(PythonBelow, "has_come", lambda _self: (tmp_path / "come").exists())
    monkeypatch.setattr(Rate, "look", lowered)
    monkeypatch.setattr(Rate, "is_due", True)
    monkeypatch.setattr(stacks, "_cpu_ns", lambda _pid: 1_000_000_000)
    made = stacks.StackSampler(os.getpid(), tmp_path, 20, tree=True)
    made.start()
    seen = [segment(made, tmp_path, 0), segment(made, tmp_path, 1)]
    (tmp_path / "come").touch()
    seen.append(segment(made, tmp_path, 2))
    made.stop(10)

    assert ["--subprocesses" in arguments for arguments in seen] == [True, False, True]


@pytest.fixture
def ranks(tmp_path: Path, spy: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[stacks.StackSampler]:
    """A sampler of a launcher; a file `apart` says that its ranks have samplers of their own by now."""
    monkeypatch.setattr(PythonBelow, "has_come", lambda _self: (tmp_path / "come").exists())
    monkeypatch.setattr(PythonBelow, "are_all_apart", lambda _self: (tmp_path / "apart").exists())
    made = stacks.StackSampler(os.getpid(), tmp_path, 20, tree=True)
    yield made
    made.stop(10)


def test_what_is_sampled_on_its_own_is_not_sampled_twice(ranks: stacks.StackSampler, tmp_path: Path) -> None:
    """The launcher is looked at alone then."""
    ranks.start()
    first = segment(ranks, tmp_path, 0)
    (tmp_path / "apart").touch()
    second = segment(ranks, tmp_path, 1)

    assert ("--subprocesses" in first, "--subprocesses" in second) == (True, False)


def test_a_program_that_is_no_python_is_left_alone_until_there_is_one_to_look_at(
    ranks: stacks.StackSampler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`bash run.sh`, whose Pythons are all followed."""
    monkeypatch.setattr(stacks, "is_python", lambda _pid: False)
    ranks.start()
    segment(ranks, tmp_path, 0)
    (tmp_path / "apart").touch()
    while ranks.pid is not None:
        ranks.poll()
    ranks.poll()
    left_alone = (ranks.pid, ranks.reason)
    (tmp_path / "apart").unlink()
    (tmp_path / "come").touch()

    assert left_alone == (None, None)
    assert "--subprocesses" in segment(ranks, tmp_path, 1)


def test_a_segment_that_is_cut_short_before_it_began_is_not_missed(
    ranks: stacks.StackSampler, spy: Path, tmp_path: Path
) -> None:
    """The next one takes its place."""
    use(spy, '#!/bin/sh\necho "$@" > ARGUMENTS\nexec sleep 60\n')
    ranks.start()
    segment(ranks, tmp_path, 0)
    use(spy, WRITES)
    (tmp_path / "apart").touch()
    segment(ranks, tmp_path, 1)

    assert (ranks.reason, ranks.failed) == (None, False)


def test_a_tree_that_takes_long_to_search_is_left_out(
    tmp_path: Path, spy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster of Ray has hundreds of processes; fewer samples do not make the search cheaper. It is said."""
    monkeypatch.setattr(stacks, "_SETTLED_S", 0.0)
    monkeypatch.setattr(stacks, "_cpu_ns", lambda _pid: 1_000_000_000)
    monkeypatch.setattr(PythonBelow, "is_needed", lambda _self: True)
    monkeypatch.setattr(PythonBelow, "has_come", lambda _self: True)

    def searched(rate: Rate, cpu_ns: int | None) -> bool:
        assert cpu_ns is not None
        rate.hz, rate.taken = 1.0, 0.25
        return True

    monkeypatch.setattr(Rate, "look", searched)
    monkeypatch.setattr(Rate, "is_due", True)
    made = stacks.StackSampler(os.getpid(), tmp_path, 20, tree=True, share=0.002)
    made.start()
    seen = [segment(made, tmp_path, 0), segment(made, tmp_path, 1)]
    for _ in range(20):
        made.poll()
    made.stop(10)

    assert ["--subprocesses" in arguments for arguments in seen] == [True, False]
    assert not (tmp_path / "stacks-002.log").exists()
    told = made.thinned()
    assert told is not None
    assert (told["what"], told["to"]) == ("samples per second, processes below", 1.0)
    assert told["why"].endswith("to search the processes below took 25 % of a core: they are left out")


def lowered(rate: Rate, cpu_ns: int | None) -> bool:
    """Lower a rate of 20 to 5, once."""
    assert cpu_ns is not None
    was, rate.hz = rate.hz, 5
    return was != 5


def segment(made: stacks.StackSampler, folder: Path, number: int) -> list[str]:
    """Arguments of the segment of that number, once it runs."""
    while not (folder / f"stacks-{number:03d}.log").exists():
        made.poll()
        time.sleep(0.01)
    told = wait_for(folder / "arguments").split()
    (folder / "arguments").unlink()
    return told


def test_the_next_segment_begins_where_one_has_ended(
    sampler: stacks.StackSampler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as the traced process is there."""
    monkeypatch.setenv("ENDS", "1")
    sampler.start()
    wait_for(tmp_path / "stacks-000.json")
    while not (tmp_path / "stacks-001.json").exists():
        sampler.poll()
    sampler.stop(10)

    assert (tmp_path / "stacks-000.anchor.json").exists()
    assert (tmp_path / "stacks-001.anchor.json").exists()


def test_no_segment_follows_when_the_process_has_ended(
    sampler: stacks.StackSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing to sample."""
    monkeypatch.setenv("ENDS", "1")
    monkeypatch.setattr(stacks, "_alive", lambda _pid: False)
    sampler.start()
    while sampler.pid is not None:
        sampler.poll()
    sampler.poll()

    assert (sampler.reason, sampler._segment) == (None, 1)


def test_a_segment_that_failed_is_the_last(sampler: stacks.StackSampler, spy: Path, tmp_path: Path) -> None:
    """With the reason, also in its anchor."""
    use(spy, FAILS)
    sampler.start()
    while sampler.pid is not None:
        sampler.poll()

    assert sampler.reason is not None
    assert sampler.reason.startswith("py-spy may not read the process (no right to ptrace)")
    assert json.loads((tmp_path / "stacks-000.anchor.json").read_text())["reason"] == sampler.reason


def test_a_py_spy_that_does_not_end_is_killed(sampler: stacks.StackSampler, spy: Path, tmp_path: Path) -> None:
    """After the time that it was given."""
    use(spy, STUBBORN)
    sampler.start()
    wait_for(tmp_path / "arguments")
    sampler.stop(0.05)

    assert sampler.reason == "py-spy did not write its last segment in time, and was killed"
    assert sampler.failed


def test_without_py_spy_there_are_no_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or with one that cannot be run."""
    monkeypatch.setattr(stacks, "find", lambda: None)
    made = stacks.StackSampler(os.getpid(), tmp_path, 100)
    assert (made.start(), made.reason) == (False, "py-spy is not installed")

    monkeypatch.setattr(stacks, "find", lambda: str(tmp_path / "absent"))
    assert (made.start(), made.reason) == (False, "py-spy cannot be started: No such file or directory")
    made.poll()
    made.stop(1)


@pytest.mark.parametrize(
    ("said", "code", "wrote", "reason"),
    [
        ("", 0, True, None),
        ("", -signal.SIGINT, False, "the run was over before py-spy had begun"),
        ("", -9, True, "py-spy was killed by signal 9; its last segment is lost"),
        ("Error: No such process", 1, False, "the process ended before py-spy could look at it"),
        ("Error: No space left on device", 1, False, "the disk was full"),
        ("No python processes found in process 7", 1, False, "no Python process was found in time"),
        ("warning\nError: odd\nReason: odder\nmore", 1, False, "py-spy failed: odder"),
        ("the last line \n\n", 2, False, "py-spy failed: the last line"),
        ("", 2, False, "py-spy failed: exit code 2"),
        ("", 0, False, "py-spy failed: exit code 0"),
    ],
)
def test_why_a_segment_is_missing(said: str, code: int, wrote: bool, reason: str | None) -> None:
    """In one clause for the user."""
    assert stacks.explain(said, code, wrote) == reason


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("py-spy> Wrote... Samples: 120 Errors: 3\n", {"samples": 120, "errors": 3, "behind": False}),
        (
            "py-spy> 1.20s behind in sampling, results may be inaccurate",
            {"samples": None, "errors": None, "behind": True},
        ),
    ],
)
def test_what_py_spy_says_of_its_samples(said: str, expected: dict[str, int]) -> None:
    """None where it does not say."""
    assert stacks.counts(said) == expected


def test_without_proc_py_spy_is_not_started(
    sampler: stacks.StackSampler, spy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would say that there is no Python."""
    monkeypatch.setattr(proc, "is_mounted", lambda: False)

    assert sampler.start() is False
    assert (sampler.reason, sampler.failed) == ("/proc is not mounted, and py-spy finds a process there", False)
    assert not spy.with_name("arguments").exists()
