"""The rule resource-growth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.findings.rules import resource_growth
from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted
from tests.unit.runs import S

SOURCE = """\
def train():
    first = open("settings")
    for step in range(250):
        log = open(name(step))
        watcher = threading.Thread(target=watch)
"""


def sampled(**columns: Callable[[float], int]) -> list[dict[str, Any]]:
    """Samples of the traced process from 2 s to 7 s; each column is a function of the time (s)."""
    moments = [2 + 0.1 * n for n in range(51)]
    told = {"pid": 42, "interval_ns": S // 10, "rss_bytes": 1}
    return [
        {**told, "time_ns": round(at * S), **{name: value(at) for name, value in columns.items()}} for at in moments
    ]


def lines(*hits: int | None) -> list[dict[str, Any]]:
    """Rows of `lines` for the source, from its second line on."""
    texts = SOURCE.splitlines()
    return [
        {
            "file": "train.py",
            "line": n,
            "hits": many,
            "samples": 0,
            "time_ns": 0,
            "how": "exact",
            "function": "train",
            "source": texts[n - 1],
        }
        for n, many in enumerate(hits, 2)
    ]


def claims(folder: Path, samples: list[dict[str, Any]], **tables: Any) -> list[Any]:
    """Claims on a run of 250 steps."""
    run = runs.trained(folder / "r", process_samples=samples, **tables)
    sources = run.folder.path / "raw" / "sources"
    sources.mkdir(parents=True, exist_ok=True)
    (sources / "train.py").write_text(SOURCE)
    return list(resource_growth.look(Case(run)))


def planted() -> Planted:
    """One more open file with each step."""
    return Planted({"process_samples": sampled(descriptors=lambda at: round(50 * (at - 2)))})


def test_open_files_are_told_with_their_slope_their_names_and_their_limit(tmp_path: Path) -> None:
    """A limit of 1,024, of which 243 are open at the end."""
    named = {"pid": 42, "time_ns": 6 * S, "kind": "descriptors", "count": 200, "looked_at": 200}
    (claim,) = claims(
        tmp_path,
        sampled(descriptors=lambda at: round(50 * (at - 2))),
        handles=[{**named, "name": "/data/#.log", "of_name": 190}],
        machine=[{"time_ns": 3 * S, "interval_ns": S, "limit_descriptors": 1024}],
    )

    told = claim.sentence.before
    assert (
        "more and more open descriptors (files, pipes, sockets): 68 at first, 250 at the end, 1 more with each" in told
    )
    assert "; the newest are /data/#.log (190)" in told
    assert "; at this rate the limit of 1,024 is reached after 774 more steps" in told
    assert (claim.line, claim.takes) == (None, {})


@pytest.mark.parametrize(
    ("hits", "line"),
    [
        ((1, 250, 250, 3), ("train.py", 4)),
        ((1, 250, None, None), ("train.py", 4)),
        ((1, 250, 3, 3), None),
        ((1, 250, 25_000, 3), None),
    ],
)
def test_the_line_is_one_that_opens_about_as_many(
    tmp_path: Path, hits: tuple[int | None, ...], line: tuple[str, int] | None
) -> None:
    """One that was not counted may be it; one that ran far more often, or more rarely, is not."""
    (claim,) = claims(tmp_path, sampled(descriptors=lambda at: round(50 * (at - 2))), lines=lines(*hits))

    assert claim.line == line


def test_hits_of_windows_rule_no_line_out(tmp_path: Path) -> None:
    """They may be four times too few."""
    scaled = [{**row, "how": "scaled"} for row in lines(1, 250, 60, 3)]

    (claim,) = claims(tmp_path, sampled(descriptors=lambda at: round(50 * (at - 2))), lines=scaled)

    assert claim.line == ("train.py", 4)


def test_threads_have_a_line_that_starts_them(tmp_path: Path) -> None:
    """By its source, too."""
    (claim,) = claims(tmp_path, sampled(threads=lambda at: round(50 * (at - 2))), lines=lines(1, 250, 250, 250))

    assert claim.line == ("train.py", 5)
    assert "train.py:5 starts one each time it runs" in claim.sentence.before


@pytest.mark.parametrize(
    "count",
    [
        lambda _at: 300,
        lambda at: 300 + (40 if at > 4.5 else 0),
        lambda at: 300 + round(10 * (at % 1)),
        lambda at: min(300, round(200 * (at - 1))),
        lambda at: 300 + round(at),
    ],
)
def test_what_does_not_go_on_growing_is_no_cause(tmp_path: Path, count: Callable[[float], int]) -> None:
    """As many all the time, once more, a few that come and go, a pool that is full, a few."""
    assert claims(tmp_path, sampled(descriptors=count, threads=count)) == []


def test_where_nothing_was_sampled_nothing_is_said(tmp_path: Path) -> None:
    """With the reason."""
    with pytest.raises(Abstain, match="no sample of processes was taken"):
        claims(tmp_path, [])
