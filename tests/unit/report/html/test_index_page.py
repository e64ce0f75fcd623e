"""The page over all runs of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.report import run_index
from dlprof.report.html import index_page
from tests.unit.report.html.pages import HOSTILE, Elements, embedded
from tests.unit.runs import make, manifest, trained


def page(folder: Path, **links: str) -> str:
    """The page of a folder."""
    return index_page.make(run_index.of_folder(folder), links)


def test_the_page_shows_runs_and_counts_damaged_ones(tmp_path: Path) -> None:
    """And names them."""
    trained(tmp_path / "good")
    make(tmp_path / "bad").folder.manifest_path.write_text("{")

    text = Elements(page(tmp_path)).text

    assert "1 run, and 1 whose manifest cannot be read." in text
    assert "bad: " in text


def test_only_runs_with_a_page_are_links(tmp_path: Path) -> None:
    """No link leads nowhere."""
    trained(tmp_path / "a")
    trained(tmp_path / "b")

    links = [attrs["href"] for tag, attrs in Elements(page(tmp_path, a="a/report.html")).found if tag == "a"]

    assert [link for link in links if link and not link.startswith("#")] == ["a/report.html"]


def test_the_page_carries_its_runs_as_json(tmp_path: Path) -> None:
    """All that the table says."""
    trained(tmp_path / "a")
    (run,) = embedded(page(tmp_path), "runs.json")["runs"]
    assert (run["listed"]["run"], run["figures"]["step_ns"]) == ("a", 20_000_000)


def test_runs_of_one_command_have_a_picture(tmp_path: Path) -> None:
    """One of the wall time, one of the step."""
    for name in "ab":
        trained(tmp_path / name)
    assert [tag for tag, _ in Elements(page(tmp_path)).found if tag == "polyline"] == ["polyline", "polyline"]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_becomes_markup(tmp_path: Path, name: str) -> None:
    """Scripts are named by users."""
    told = manifest(command={"script": f"{name}.py", "module": None, "program": None, "argv": [name]})
    for run in "ab":
        trained(tmp_path / run, told)
    found = Elements(page(tmp_path)).found
    assert [tag for tag, _ in found if tag == "img"] == []
    assert [attrs for _, attrs in found if any(key.startswith("on") for key in attrs)] == []


def test_served_pages_have_addresses_that_hold_no_slash_of_a_name() -> None:
    """A run of repeats is one step below the page, as any other."""
    assert index_page.quoted("five/run 1") == "run/five%2Frun%201/"
