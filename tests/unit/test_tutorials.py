"""The examples of docs/extending are complete: what the pages print is run here as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dlprof import plugins
from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings import registry as rules
from dlprof.backends import registry
from dlprof.ingest.formats import registry as formats
from tests.unit import runs

PAGES = Path(__file__).parents[2] / "docs" / "extending"


def blocks(page: str, language: str) -> list[str]:
    """The code of a page in some language."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def module(page: str, folder: Path) -> dict[str, Any]:
    """What the Python code of a page defines, as a file of that folder."""
    (code,) = blocks(page, "python")
    defined: dict[str, Any] = {"__file__": str(folder / "example.py"), "__name__": "example"}
    exec(compile(code, f"{page}.md", "exec"), defined)  # noqa: S102  (our own page)
    return defined


@dataclass
class Entry:
    """An entry point that gives `value`."""

    name: str
    value: object

    def load(self) -> object:
        """Give it."""
        return self.value


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, list[Entry]]]:
    """The installed plug-ins by group: lists to fill."""
    found: dict[str, list[Entry]] = {registry.GROUP: [], formats.GROUP: [], rules.GROUP: []}
    caches = (registry._plugged_in, formats.all_readers, rules.plugged_in)
    monkeypatch.setattr(plugins, "entry_points", lambda group: found.get(group, []))
    for cached in caches:
        cached.cache_clear()
    yield found
    for cached in caches:
        cached.cache_clear()


@pytest.mark.slow
def test_the_example_of_a_backend_is_one(
    plugged: dict[str, list[Entry]], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`dlprof backends list` has it, under the name in its spec."""
    monkeypatch.setenv("DLPROF_DATA", str(tmp_path))
    (tmp_path / "tensorflow-2.18.txt").write_text("keras==3.8.0\n")
    plugged[registry.GROUP].append(Entry("x", module("backend", tmp_path)["SPEC"]))

    code = runs.dlprof("backends", "list")

    assert (code, "tensorflow-2.18" in capsys.readouterr().out) == (0, True)


@pytest.mark.parametrize(
    ("page", "group"), [("backend", registry.GROUP), ("reader", formats.GROUP), ("rule", rules.GROUP)]
)
def test_the_pages_name_the_groups_of_entry_points_that_are_looked_at(page: str, group: str) -> None:
    """A plug-in that follows them is found."""
    (toml,) = blocks(page, "toml")

    assert toml.startswith(f'[project.entry-points."{group}"]\n')


def test_the_example_of_a_reader_reads_the_example_of_a_file(
    plugged: dict[str, list[Entry]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the file to `dlprof kernels`, known by its content."""
    plugged[formats.GROUP].append(Entry("x", module("reader", tmp_path)["READER"]))
    file = tmp_path / "some.log"
    file.write_text(blocks("reader", "text")[0])

    imported = runs.dlprof("import", file, "-o", tmp_path / "run")
    capsys.readouterr()
    printed = runs.dlprof(
        "sql", tmp_path / "run", "SELECT name, start_ns, dur_ns FROM kernels ORDER BY start_ns", "--format", "csv"
    )

    assert (imported, printed) == (0, 0)
    assert capsys.readouterr().out.splitlines() == [
        "name,start_ns,dur_ns",
        "conv2d_forward,0,120500",
        "relu,130000,40000",
    ]


@pytest.mark.parametrize("line", ["1.0 x y", "nan 1 y", "1"])
def test_the_example_of_a_reader_names_the_line_that_is_damaged(
    line: str, plugged: dict[str, list[Entry]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 4 and one sentence."""
    plugged[formats.GROUP].append(Entry("x", module("reader", tmp_path)["READER"]))
    file = tmp_path / "some.log"
    file.write_text(f"#kernels\n0 1 a\n{line}\n")

    code = runs.dlprof("import", file, "-o", tmp_path / "run")

    assert (code, "some.log: line 3: " in capsys.readouterr().err) == (4, True)


def test_the_example_of_a_rule_finds_its_cause_and_claims_its_time(
    plugged: dict[str, list[Entry]], tmp_path: Path
) -> None:
    """3 s of predict in a run of 10 s, at the line of the first call; behind the rule that it names."""
    plugged[rules.GROUP].append(Entry("predict-heavy", SimpleNamespace(**module("rule", tmp_path))))
    run = runs.trained(
        tmp_path / "run",
        phases=[
            {"phase": "import", "parent": None, "dur_ns": 1 * runs.S, "count": 1},
            *runs.phases(fit_steps=6, predict=3),
        ],
        spans=[runs.fit_span(), runs.span("predict", 7, 10)],
    )

    (finding,) = diagnose.diagnose(run).findings

    assert (finding.slug, finding.at_stake_ns, finding.file, finding.line) == (
        "predict-heavy",
        3 * runs.S,
        "train.py",
        7,
    )
    assert finding.claim == "predict was called 1 times: 3.00 s, 30 % of the wall time."
    assert list(rules.all_rules()).index("predict-heavy") == list(rules.all_rules()).index("validation-heavy") + 1


def test_the_example_of_a_rule_finds_nothing_where_all_is_well(plugged: dict[str, list[Entry]], tmp_path: Path) -> None:
    """And says what it misses where it cannot tell."""
    plugged[rules.GROUP].append(Entry("predict-heavy", SimpleNamespace(**module("rule", tmp_path))))

    well = diagnose.diagnose(runs.trained(tmp_path / "well"))
    blind = diagnose.diagnose(runs.trained(tmp_path / "blind", spans=[]))

    assert "predict-heavy" not in [finding.slug for finding in well.findings]
    assert "predict-heavy" not in [rule.slug for rule in well.abstained]
    assert [one.because for one in blind.abstained if one.slug == "predict-heavy"] == [
        "the in-process probe left nothing"
    ]
