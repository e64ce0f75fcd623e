"""The examples that the help of each command ends with: they do what they say, as they are typed."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import webbrowser
from pathlib import Path

import pytest
from dlprof_probes import wire

from dlprof import cli
from dlprof.cli import doctor
from dlprof.cli.command import load
from dlprof.cli.doctor import Check
from tests.unit import ranked_runs
from tests.unit.bench.matrices import GOOD, written
from tests.unit.ingest.formats.test_nvprof import nvprof_file
from tests.unit.runs import dlprof, trained

DATA = Path(__file__).parents[2] / "data" / "traces"
ONLY_READ = {
    r"trace ": "runs a script on an engine",
    r"bench (?!.*--table)": "runs scenarios on engines",
    r"exam\b": "runs scripts on engines",
    r"collect (?!node1)": "fetches from other machines, or from a folder that they share",
    r"diagnose .*--confirm": "runs the script again",
    r"try ": "runs the script again",
    r"import .*--on ray": "is read by other machines",
    r"attach ": "looks at a process that runs",
    r"history ": "runs scripts of a repository",
    r"export .*(-o http|--to mlflow)": "sends the run away",
    r"mcp": "serves until its input ends",
    r"view .*--serve": "serves until Ctrl-C",
    r"backends (install|remove|path)": "needs the network, or changes what is installed",
}
"""Examples that are parsed, not run, and why."""
SLOW = ("dlprof backends list", "dlprof doctor --measure")
"""Examples that look at more of the machine than a quick test should."""
KERNEL = {"ph": "X", "name": "aten::mm", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1.0, "dur": 5.0, "args": {}}
_COMMAND = re.compile(r"""(?:"[^"]*"|'[^']*'|[^\s"']|\s(?!\s))*""")
"""What stands before two blanks."""
RUNS = [
    "runs/tensorflow",
    "runs/mxnet",
    "runs/jax",
    "runs/torch",
    "runs/tf-repeats/1",
    "runs/tf-repeats/2",
    "runs/mx-repeats/1",
    "runs/mx-repeats/2",
    "runs/base/1",
    "runs/new/1",
    "results/1",
    "dlprof_runs/a1",
    "dlprof_runs/a2",
    "dlprof_runs/a3",
    "dlprof_runs/b1",
    "dlprof_runs/b2",
    "dlprof_runs/b3",
    "dlprof_runs/before",
    "dlprof_runs/after",
    "dlprof_runs/20261120-101500-mlp-mxnet",
    "dlprof_runs/RUN",
]
"""Runs that the examples name; the last one is `last`."""


def examples(text: str) -> list[str]:
    """The commands of a help's text, without what is said beside them, and without what other programs do with them."""
    lines = [line.strip() for line in text.splitlines() if line.startswith(("  dlprof ", "  $(dlprof "))]
    inner = [re.sub(r"^\$\((.*?)\).*", r"\1", line) for line in lines]
    plain = [match[0] for line in inner if (match := _COMMAND.match(line))]
    plain = [re.sub(r"\$\(pgrep [^)]*\)", "4711", line) for line in plain]  # a shell would
    return [re.split(r" [|>] ", line)[0] for line in plain]


EXAMPLES = [line for text in (cli.EXAMPLES, *(load(name).EXAMPLES for name in cli.COMMANDS)) for line in examples(text)]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    for name in RUNS:
        last = trained(folder / name).folder
    for name in ("ddp", "ddp-1", "ddp-2"):
        ranked_runs.make(folder / "runs" / name, {0: 5, 1: 12, 17: 5}, world=18)
    for rank, own_ms in ((0, 5.0), (1, 12.0)):
        ranked_runs.make(folder / f"node{rank + 1}/ddp", {rank: own_ms}, world=2)
        (folder / "traces").mkdir(exist_ok=True)
        (folder / f"traces/rank-{rank}.json").write_text(json.dumps({"traceEvents": [KERNEL], "schemaVersion": 1}))
    (folder / "logs/worker").mkdir(parents=True)
    (folder / "logs/worker/host_1.pt.trace.json").write_text(json.dumps({"traceEvents": [KERNEL], "schemaVersion": 1}))
    os.utime(last.manifest_path, (4e9, 4e9))  # also after examples that make runs
    content = wire.MAGIC + bytes([wire.VERSION]) + wire.record(wire.Record.META, wire.json_payload({"pid": 42}))
    (last.raw / "inproc.wire").write_bytes(content)
    (last.raw / "cores.jsonl").write_text('{"a": 1}\n')
    for name in ("trace.json.gz", "rank-0.json.gz", "rank-1.json.gz"):
        (folder / name).write_bytes(gzip.compress(json.dumps({"traceEvents": [KERNEL], "schemaVersion": 1}).encode()))
    nvprof_file(folder / "profile.nvvp")
    shutil.copy(DATA / "nvidia_smi.csv", folder / "gpu.csv")
    (folder / "no-header.csv").write_text("2026/11/20 10:15:00.123, 0, 93 %, 8192 MiB\n")
    written(folder, GOOD).rename(folder / "matrix.toml")
    # What one example makes another one reads, and that may be tried first, or in another process.
    assert dlprof("collect", f"{folder}/node1/ddp", f"{folder}/node2/ddp", "-o", f"{folder}/runs/all") == 0
    return folder


def test_there_are_examples_of_every_command() -> None:
    """So that the tests below look at some."""
    assert {shlex.split(line)[1] for line in EXAMPLES} == set(cli.COMMANDS)


@pytest.mark.parametrize(
    "line", [pytest.param(line, marks=[pytest.mark.slow] * (line in SLOW)) for line in dict.fromkeys(EXAMPLES)]
)
def test_an_example_works_as_it_stands(
    line: str, prepared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends with 0; what needs more than a prepared folder is parsed."""
    monkeypatch.chdir(prepared)
    monkeypatch.setenv("DLPROF_DATA", str(prepared / "data"))
    monkeypatch.setattr(webbrowser, "open", lambda _address: True)
    monkeypatch.setattr(doctor, "_LOOKS", [lambda: [Check("uv", "ok", "/bin/uv")]])
    words = shlex.split(line)[1:]

    if any(re.match(pattern, " ".join(words)) for pattern in ONLY_READ):
        command, args = cli.parse(words)
        assert isinstance(args, command.Arguments)
    else:
        assert dlprof(*words) == 0
        assert capsys.readouterr().out
