"""The published schemas: they are those of the types, and what each command prints is as its schema says."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dlprof import cli
from dlprof.cli import doctor, json_types
from dlprof.cli.doctor import Check
from dlprof.cli.parser import Parser
from dlprof.launch import environments
from dlprof.launch.environments import Environment
from dlprof.report.json_text import print_json
from dlprof.trials.exam import tables
from dlprof.trials.exam.result import Answer, CleanPair, Result
from dlprof.trials.exam.truths import Truth
from dlprof.trials.outside import report as outside
from tests.unit.analysis.memory_runs import MB, over_training, stood
from tests.unit.bench.matrices import GOOD, Runs, written
from tests.unit.export.run_of_everything import whole
from tests.unit.published import problems
from tests.unit.runs import dlprof, trained, window
from tests.unit.trials.outside.test_figures import ANSWERS

ROOT = Path(__file__).parents[3]
KERNELS = (
    {"op": "MatMul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 8},
    {"op": "Relu", "category": "activation", "layer": "relu", "direction": "backward", "ms": 2},
)
THINNED = {
    "name": "cores",
    "state": "on",
    "thinned": "samples per second",
    "thinned_from_value": 10.0,
    "thinned_to_value": 2.5,
    "thinned_why": "it took 0.7 % of a core",
}
RUN_COMMANDS = (
    ("report", ("report", "RUN", "--json")),
    ("diagnose", ("diagnose", "RUN", "--json")),
    ("diagnose", ("diagnose", "RUN", "OTHER", "--json")),
    ("compare", ("compare", "RUN", "OTHER", "--json")),
    ("compare", ("compare", "RUN", "OTHER", "OTHER", "--json")),
    ("gate", ("gate", "RUN", "OTHER", "--anyway", "--json")),
    ("gate", ("gate", "GONE", "OTHER", "--json")),
    ("lines", ("lines", "RUN", "--json")),
    *(("kernels", ("kernels", "RUN", "--by", by, "--json")) for by in ("layer", "op", "category", "device", "step")),
    ("roofline", ("kernels", "RUN", "--roofline", "--json")),
    ("memory", ("memory", "RUN", "--json")),
    ("runs", ("runs", "FOLDER", "--json")),
    ("sql", ("sql", "RUN", "SELECT *, 'x' AS word, DATE '2026-11-23' AS day FROM phases", "--format", "json")),
    ("sql", ("sql", "RUN", "--format", "json")),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with kernels, with a bit of everything, with memory that grows, and a damaged one."""
    path = tmp_path_factory.mktemp("runs")
    trained(path / "kernels", **window(list(KERNELS)), probes=[THINNED])
    trained(path / "plain")
    whole(path / "everything")
    over_training([(100 + n) * MB for n in range(100)], path / "grows", **stood(1, 8, 30))
    trained(path / "damaged").folder.manifest_path.write_text("{")
    return path


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    """The JSON that a command prints."""
    dlprof(*words)
    said = capsys.readouterr()
    assert said.out, said.err
    return json.loads(said.out)


@pytest.mark.parametrize("name", json_types.PUBLISHED)
def test_a_published_schema_is_that_of_the_type(name: str) -> None:
    """`python -m dlprof.cli.json_types` writes it anew; then the change is seen in review."""
    assert json_types.file(name).read_text(encoding="utf-8") == json_types.make(name)


def test_every_published_file_is_of_a_kind() -> None:
    """None is left behind."""
    assert {path.name for path in json_types.FILES.iterdir()} == {f"{name}-1.json" for name in json_types.PUBLISHED}


def test_the_page_of_json_links_every_schema() -> None:
    """And tells of the kinds."""
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")

    assert [name for name in json_types.PUBLISHED if f"json_schemas/{json_types.file(name).name})" not in page] == []


def commands_of_page() -> list[str]:
    """Every command on the page that prints JSON, as it is written there."""
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"`(dlprof [^`]*--(?:json|format json|to json)[^`]*)`", page)))


@pytest.mark.parametrize(
    "command", sorted({*(one.command for one in json_types.PUBLISHED.values()), *commands_of_page()})
)
def test_every_command_that_is_said_to_print_json_is_taken(command: str) -> None:
    """Those of the list of schemas and those of the page: a word that there is not would end with an error."""
    words = command.removeprefix("dlprof ").replace("[", "").replace("]", "").split()

    assert cli.parse(words)[0] is not None


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_that_takes_json_has_a_published_schema(name: str) -> None:
    """By `--json`, or as a format; also where only a subcommand takes it."""
    parser = cli.make_parser(name).subcommands()[name]
    takes = any("--json" in one.flags() or "json" in formats(one) for one in (parser, *parser.subcommands().values()))

    published = {one.command.split()[1] for one in json_types.PUBLISHED.values()}
    assert (name in published) == takes


@pytest.mark.parametrize(
    "words",
    [
        ("bench", "m.toml"),
        ("history", ".", "--bench", "m.toml", "--commits", "a..b"),
        ("exam",),
        ("exam", "--outside"),
        ("sql", "last", "SELECT 1"),
    ],
    ids=" ".join,
)
def test_what_has_formats_takes_json_as_the_other_commands_do(words: Sequence[str]) -> None:
    """`--json` is `--format json` there."""
    assert cli.parse([*words, "--json"])[1] == cli.parse([*words, "--format", "json"])[1]


def formats(parser: Parser) -> Sequence[str]:
    """What `--format` or `--to` takes; nothing: there is no such option."""
    actions = (parser._option_string_actions.get(flag) for flag in ("--format", "--to"))
    return [str(word) for action in actions if action is not None for word in action.choices or ()]


@pytest.mark.parametrize("name", sorted(set(json_types.PUBLISHED) - {"lines", "sql"}))
def test_every_object_names_its_schema(name: str) -> None:
    """Only lines, and rows of SQL, are a plain list."""
    schema = json.loads(json_types.make(name))
    root = schema["$defs"][schema["$ref"].rpartition("/")[2]]

    assert "schema" in root["properties"]


@pytest.mark.parametrize("run", ["kernels", "everything", "grows"])
@pytest.mark.parametrize(("name", "words"), RUN_COMMANDS, ids=lambda value: value if isinstance(value, str) else None)
def test_what_a_command_prints_of_a_run_is_as_published(
    name: str, words: Sequence[str], run: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a run with kernels, one with a bit of everything, and one without kernels whose memory grows."""
    other = "plain" if run == "grows" else run
    places = {"RUN": folder / run, "OTHER": folder / other, "FOLDER": folder, "GONE": folder / "gone"}

    assert problems(name, printed(capsys, *(places.get(word, word) for word in words))) == []


@pytest.mark.parametrize("run", ["kernels", "everything", "grows"])
def test_an_export_is_as_published(run: str, folder: Path, tmp_path: Path) -> None:
    """With its manifest, its report and its tables."""
    assert dlprof("export", folder / run, "--to", "json", "-o", tmp_path / "run.json") == 0

    assert problems("export", json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))) == []


def test_what_the_doctor_found_is_as_published(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With something to do, and with nothing."""
    checks = [Check("uv", "ok", "/bin/uv"), Check("py-spy", "missing", "none", "install it")]
    monkeypatch.setattr(doctor, "_LOOKS", [lambda: checks])

    assert problems("doctor", printed(capsys, "doctor", "--json")) == []


def test_lists_of_backends_are_as_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that are there, those that are stale, and what was removed."""
    known = [Environment("mxnet", tmp_path, "ab", "installed", "3.11"), Environment("old", tmp_path, "", "stale", None)]
    monkeypatch.setattr(environments, "known", lambda: known)
    monkeypatch.setattr(environments, "remove", lambda _name: [tmp_path])

    assert problems("backends", printed(capsys, "backends", "list", "--json")) == []
    assert problems("backends", printed(capsys, "backends", "remove", "mxnet", "--json")) == []


def test_the_table_of_a_benchmark_is_as_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a run that failed."""
    matrix = written(tmp_path, GOOD)
    Runs(monkeypatch).error = {"b-large-jax-1": "no"}

    assert problems("bench", printed(capsys, "bench", matrix, "--format", "json", "-o", tmp_path / "out")) == []


def test_the_exams_are_as_published(capsys: pytest.CaptureFixture[str]) -> None:
    """With cases that failed, and pairs."""
    truth = Truth("c", "input-bound", (), Path("x.py"), "jax", (), {}, ("--slow",), {}, 0, None)
    answers = (Answer(truth, ("input-bound",), 1, 90, 100, 3, True), Answer(truth, failed="exit code 1"))
    print_json(tables.as_json(Result(answers, (CleanPair("p", 5, (("retracing", 0.1),)),), 0.2)))
    assert problems("exam", json.loads(capsys.readouterr().out)) == []

    print_json(outside.as_json(ANSWERS, 5))
    assert problems("exam-outside", json.loads(capsys.readouterr().out)) == []


def test_what_is_not_as_published_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A field too many, one that is missing, one of another type: the tests above can fail."""
    content = printed(capsys, "gate", folder / "plain", folder / "kernels", "--json")
    content["components"][0]["base_ns"] = "long"
    content["extra"] = content.pop("passed")

    assert sorted(problems("gate", content)) == [
        "$.components[0].base_ns: 'long' is not of type 'integer'",
        "$: 'passed' is a required property",
        "$: Additional properties are not allowed ('extra' was unexpected)",
    ]
