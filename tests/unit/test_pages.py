"""Pages: complete, self-contained, equal to the JSON, and safe against names."""

from __future__ import annotations

import base64
import gzip
import html
import http.client
import json
import re
import threading
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from dlprof.analysis import breakdown, compare, line_pairs, samples
from dlprof.analysis.compare import Side
from dlprof.analysis.findings import diagnose
from dlprof.report import compare_json, summary
from dlprof.report.html import flames, page, serve, source_lines, timeline
from dlprof.report.html.pack import Pack
from dlprof.report.html.timeline import Track
from dlprof.report.json_text import plain
from dlprof.store.run import Run
from dlprof.units import duration
from tests.unit.runs import MS, S, dlprof, lasting, losses, manifest, span, steps, trained, window

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "\x1b[2J\x07bell",
    "{{ 7 * 7 }}",
    "日本語 ünï \u202e reversed",
    "x" * 10_000,
]


class Elements(HTMLParser):
    """Elements of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def embedded(text: str, name: str) -> Any:
    """JSON that the page carries under a name."""
    found = re.search(rf'<script type="application/json" id="{re.escape(name)}">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def unpacked(text: str) -> tuple[dict[str, Any], bytes]:
    """Header and columns of what the page packed."""
    found = re.search(r'<script type="text/plain" id="packed">(.*?)</script>', text, re.DOTALL)
    assert found
    return header(found[1])


def header(text: str) -> tuple[dict[str, Any], bytes]:
    """The same of the packed text alone."""
    whole = gzip.decompress(base64.b64decode(text))
    length = int.from_bytes(whole[:4], "little")
    return json.loads(whole[4 : 4 + length]), whole[4 + length :]


def column(content: dict[str, Any], columns: bytes, number: int) -> list[float]:
    """A column, as the page's script reads it."""
    offset, count, kind = content["columns"][number]
    if kind == "f":
        return [float(value) for value in np.frombuffer(columns, "<f4", count, offset)]
    values, at, before = [], offset, 0
    for _ in range(count):
        value = shift = 0
        while True:
            byte = columns[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        before = before + value if kind == "d" else value
        values.append(float(before))
    return values


def run_page(run: Run) -> str:
    """The page of a run, with its diagnosis."""
    return page.of_run(run, diagnose.diagnose(run))


def comparison_page(a: Run, b: Run) -> str:
    """The page of a comparison of two runs."""
    found = compare.compare(Side("a", (a,)), Side("b", (b,)))
    return page.of_comparison(found, line_pairs.join((a,), (b,)), diagnose.diagnose_gap(found))


def named(path: Path, name: str) -> Run:
    """A run in which everything that has a name has this one."""
    kernels = window([{"op": name, "category": name[:50], "layer": name, "direction": "forward", "ms": 15}])
    lines = [{"file": name, "function": name, "first_line": 1, "line": n, "hits": 1, "time_ns": S, "source": name}
             for n in (1, 2)]  # fmt: skip
    frames = [{"stack_id": 1, "depth": 0, "function": name, "file": name, "line": 1}]
    stacks = [{"thread_id": 1, "thread": name, "start_ns": 3 * S, "dur_ns": S, "stack_id": 1}]
    metrics = [{"loop_id": 1, "epoch": 0, "step": None, "name": name, "value": 1.0, "time_ns": 0}]
    epochs = [{"loop_id": 1, "epoch": 0, "start_ns": 2 * S, "dur_ns": S, "steps": 250}]
    probes = [{"name": "lines", "state": "failed", "reason": name, "cost_ns": None, "cost_source": None}]
    health = [{"slug": "odd", "severity": "warning", "message": name, "count": 1}]
    made = span("construct", 1, 2, span_id=3, name=name, file=name, line=1, detail=json.dumps({"layer": name}))
    told = manifest(command={"script": f"{name}.py", "module": None, "program": None, "argv": [name]})
    changes: dict[str, Any] = {
        **kernels, "lines": lines, "frames": frames, "stacks": stacks, "metrics": metrics, "epochs": epochs,
        "probes": probes, "health": health, "spans": [*trained(path.with_name("s")).rows("spans"), made],
    }  # fmt: skip
    return trained(path.with_name("named"), told, **changes)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_stand_in_a_page_as_text(tmp_path: Path, name: str) -> None:
    """No name makes an element, an attribute or a script."""
    run = named(tmp_path / "r", name)
    plain = named(tmp_path / "p" / "r", "plain")
    for text, usual in ((run_page(run), run_page(plain)), (comparison_page(run, run), comparison_page(plain, plain))):
        tags = [(tag, sorted(attributes)) for tag, attributes in Elements(text).found]

        assert tags == [(tag, sorted(attributes)) for tag, attributes in Elements(usual).found]
        assert "onerror" not in {key for _, keys in tags for key in keys}
        assert "onload" not in {key for _, keys in tags for key in keys}


def test_a_name_is_shown_as_it_is(tmp_path: Path) -> None:
    """What a browser makes of the escaped text is the name."""
    text = run_page(named(tmp_path / "r", HOSTILE[1]))
    assert HOSTILE[1] in Elements(text).text
    assert html.escape(HOSTILE[1], quote=False) in text


def test_a_page_carries_the_report_as_json(tmp_path: Path) -> None:
    """The same object as `dlprof report --json`."""
    run = trained(tmp_path / "r")
    assert embedded(run_page(run), "report.json") == json.loads(json.dumps(plain(summary.summarise(run, top=25))))


def test_a_comparison_carries_its_json(tmp_path: Path) -> None:
    """The same object as `dlprof compare --json`."""
    a, b = trained(tmp_path / "a"), trained(tmp_path / "b")
    found = compare.compare(Side("a", (a,)), Side("b", (b,)))
    assert embedded(comparison_page(a, b), "compare.json") == json.loads(
        json.dumps(plain(compare_json.as_json(found, [])))
    )


def test_a_page_names_no_other_place(tmp_path: Path) -> None:
    """No element loads anything."""
    for tag, attributes in Elements(run_page(trained(tmp_path / "r"))).found:
        for key in ("src", "srcset", "href", "action", "data", "poster"):
            value = attributes.get(key) or ""
            assert value.startswith(("#", "data:,")) or not value, (tag, key, value)


def test_phases_are_shown_with_the_figures_of_the_report(tmp_path: Path) -> None:
    """6 s of 10 s are fit."""
    text = run_page(trained(tmp_path / "r"))
    assert '<td class="number" data-phase="fit">6.00 s</td><td class="number">60.0</td>' in text


def test_a_run_that_cannot_be_diagnosed_says_why(tmp_path: Path) -> None:
    """In place of findings."""
    text = page.of_run(trained(tmp_path / "r"), None, "nothing was seen.")
    assert "Not diagnosed, because nothing was seen." in Elements(text).text


# -- the data of the charts ----------------------------------------------------------------------------


def test_columns_come_back_as_they_were() -> None:
    """Small and large numbers, differences, floats and what was not measured."""
    pack = Pack()
    numbers = [0, 1, 127, 128, 16_383, 16_384, 2**31, 2**40 + 5]
    pack.unsigned(numbers)
    pack.rising([5, 5, 300, 2**41])
    pack.floats([0.5, float("nan")])
    content, columns = header(pack.text({"x": 1}))

    assert column(content, columns, 0) == numbers
    assert column(content, columns, 1) == [5, 5, 300, 2**41]
    assert column(content, columns, 2)[0] == 0.5
    assert np.isnan(column(content, columns, 2)[1])
    assert content["x"] == 1


def test_an_empty_column_comes_back_empty() -> None:
    """A track of a side that has no events."""
    pack = Pack()
    pack.unsigned([])
    content, columns = header(pack.text({}))
    assert column(content, columns, 0) == []


def test_the_time_line_has_every_event(tmp_path: Path) -> None:
    """Ten steps of one kernel of 15 ms, at their times."""
    kernels = window([{"op": "matmul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 15}])
    content, columns = unpacked(run_page(trained(tmp_path / "r", **kernels)))
    line = content["timelines"][0]
    (track,) = [one for one in line["tracks"] if one["group"] == "host"]

    assert line["tick_ns"] == 1
    assert column(content, columns, track["start"]) == [3 * S + n * 20 * MS for n in range(10)]
    assert column(content, columns, track["dur"]) == [15 * MS] * 10
    assert track["label"] == "host operators: t"
    assert {line["names"]["text"][int(n)] for n in column(content, columns, track["name"])} == {"matmul"}


def test_gpu_streams_are_tracks_of_their_own(tmp_path: Path) -> None:
    """By device and lane."""
    kernels = window([{"op": "gemm", "category": "matmul", "kind": "kernel", "device": 1, "ms": 5}])
    line = unpacked(run_page(trained(tmp_path / "r", **kernels)))[0]["timelines"][0]
    assert [one["label"] for one in line["tracks"] if one["group"] == "gpu"] == ["GPU 1: t"]


def test_many_short_neighbours_are_drawn_as_one() -> None:
    """Long events stay; the number of all that are drawn as one is kept."""
    start = np.arange(10_000, dtype=np.int64) * 100
    dur = np.full(10_000, 50, np.int64)
    dur[5000] = 90
    track = Track("t", "host", start, dur, np.zeros(10_000, np.int64))
    (thin,) = timeline.thinned([track], 1000)

    assert len(thin.start_ns) <= 1000
    assert thin.merged is not None
    assert int(thin.merged.sum()) == 10_000
    assert int((thin.start_ns + thin.dur_ns).max()) == int((start + dur).max())


def test_few_events_are_left_as_they_are() -> None:
    """Nothing is merged."""
    track = Track("t", "host", np.arange(10), np.ones(10, np.int64), np.zeros(10, np.int64))
    assert timeline.thinned([track], 1000) == [track]


def test_steps_have_the_median_of_the_report(tmp_path: Path) -> None:
    """20 ms in both."""
    content, _ = unpacked(run_page(trained(tmp_path / "r")))
    (loop,) = content["steps"]
    assert loop["median_ns"] == 20 * MS
    assert loop["step_ms"] == [20.0] * 250


def test_compiled_steps_and_epochs_are_marked(tmp_path: Path) -> None:
    """By their running number."""
    rows = steps(10)
    rows[0]["compiled"] = rows[0]["first"] = True
    for row in rows[5:]:
        row["epoch"] = 1
    (loop,) = unpacked(run_page(trained(tmp_path / "r", steps=rows)))[0]["steps"]
    assert (loop["compiled"], loop["epoch_starts"]) == ([0], [0, 5])


def test_a_step_has_its_wait_for_the_batch(tmp_path: Path) -> None:
    """As the median has it: 20 ms of work after 80 ms of waiting."""
    (loop,) = unpacked(run_page(trained(tmp_path / "r", steps=steps(10, input_ns=80 * MS))))[0]["steps"]
    assert (loop["step_ms"], loop["median_ns"]) == ([100.0] * 10, 100 * MS)


def test_windows_are_marked_in_their_own_loop(tmp_path: Path) -> None:
    """By the steps that began in them: the third and the fourth of the test steps, not the number in the run."""
    tested = [{**row, "loop": "test", "loop_id": 2} for row in steps(10, start_s=8.0)]
    kernels = window([{"op": "mm", "ms": 5}], begin_s=8.04, count=2)
    loops = unpacked(run_page(trained(tmp_path / "r", **{**kernels, "steps": [*steps(250), *tested]})))[0]["steps"]
    assert [(loop["loop"], loop["windows"]) for loop in loops] == [("train", []), ("test", [[2, 3]])]


def test_rows_of_several_steps_keep_the_numbers_of_steps(tmp_path: Path) -> None:
    """Each of them stands for ten."""
    rows = [{**row, "count": 10, "step": 10 * n} for n, row in enumerate(steps(3, dur_ms=200))]
    (loop,) = unpacked(run_page(trained(tmp_path / "r", steps=rows)))[0]["steps"]
    assert (loop["number"], loop["step_ms"]) == ([1, 11, 21], [20.0, 20.0, 20.0])


def test_ranks_have_tracks_of_their_own(tmp_path: Path) -> None:
    """Two processes on GPU 0, stream 7."""
    kernels = window([{"op": "gemm", "category": "matmul", "kind": "kernel", "device": 0, "ms": 5}])
    both = [{**row, "rank": rank} for rank in (0, 1) for row in kernels["kernel_events"]]
    line = unpacked(run_page(trained(tmp_path / "r", **{**kernels, "kernel_events": both})))[0]["timelines"][0]
    assert [one["label"] for one in line["tracks"] if one["group"] == "gpu"] == [
        "GPU 0 (rank 0): t",
        "GPU 0 (rank 1): t",
    ]


def test_a_series_says_where_nothing_was_measured(tmp_path: Path) -> None:
    """Between 3 s and 8 s no sample was taken."""
    used = [{"time_ns": n * S, "interval_ns": S, "rss_bytes": 10**6, "cpu_pct": 50.0} for n in (1, 2, 3, 8, 9)]
    content, columns = unpacked(run_page(trained(tmp_path / "r", process_samples=used)))
    series = {one["label"]: one for one in content["timelines"][0]["series"]}["CPU of the process tree"]
    assert column(content, columns, series["time"]) == [0, S, 2 * S, 3 * S, 7 * S, 8 * S]
    values = column(content, columns, series["value"])
    assert [value for value in values if value == value] == [50.0] * 5  # noqa: PLR0124  (NaN is not itself)
    assert np.isnan(values[3])


def test_a_diverged_run_is_valid_json(tmp_path: Path) -> None:
    """A loss that is not a number stands there as a text."""
    epochs = [{"loop_id": 1, "epoch": 0, "start_ns": 2 * S, "dur_ns": S, "steps": 250}]
    run = trained(tmp_path / "r", metrics=losses(float("nan")), epochs=epochs)
    found = re.search(r'id="report.json">(.*?)</script>', run_page(run), re.DOTALL)
    assert found
    report = json.loads(found[1], parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert report["epochs"][0]["metrics"]["loss"] == "NaN"


def test_a_faster_side_is_not_said_to_be_slower(tmp_path: Path) -> None:
    """Then the sides are to be turned around."""
    a, b = trained(tmp_path / "a"), trained(tmp_path / "b")
    b = lasting(b, 15 * S)
    assert "It is not: turn the sides around" in Elements(comparison_page(a, b)).text


def test_a_comparison_of_runs_without_phases_says_what_it_can(tmp_path: Path) -> None:
    """Nothing can be diagnosed then."""
    for name, wall in (("a", 9), ("b", 3)):
        run = trained(tmp_path / name, phases=[], phase_intervals=[])
        run.folder.write_manifest(lasting(run, wall * S).manifest)
    assert dlprof("compare", tmp_path / "a", tmp_path / "b", "--html", tmp_path / "p.html") == 0
    assert "Not diagnosed, because" in Elements((tmp_path / "p.html").read_text()).text


def test_a_long_file_does_not_drive_a_short_one_off(tmp_path: Path) -> None:
    """7,000 lines are too many for a page, 40 are not."""
    lines = [{"file": f, "function": "f", "first_line": 1, "line": n, "hits": 1, "time_ns": t, "source": "x"}
             for f, n, t in (("long.py", 7000, 9), ("train.py", 40, 5))]  # fmt: skip
    text = run_page(trained(tmp_path / "r", lines=lines))
    assert 'id="L-train_2e_py-40"' in text
    assert 'id="L-long_2e_py-7000"' not in text
    assert "Too long for this page" in text


@pytest.mark.parametrize(
    ("ns", "text"), [(-700 * S, "-11 min 40 s"), (-7200 * S, "-2 h 00 min"), (-5 * MS, "-5.00 ms")]
)
def test_times_below_zero_are_those_above_with_a_sign(ns: int, text: str) -> None:
    """Also from ten minutes on."""
    assert duration(ns) == text


def test_the_waterfall_sums_to_the_gap(tmp_path: Path) -> None:
    """From B's wall time to A's."""
    a, b = trained(tmp_path / "a"), trained(tmp_path / "b", steps=steps(125))
    b = lasting(b, 7 * S)
    content, _ = unpacked(comparison_page(a, b))
    assert sum(part["delta_ns"] for part in content["waterfall"]) == 3 * S
    assert content["walls_ns"] == [10 * S, 7 * S]


def test_a_flame_graph_has_the_outermost_frame_first(tmp_path: Path) -> None:
    """Widths are times; what lies inside a frame stands one below it."""
    frames = [{"stack_id": 1, "depth": d, "function": f, "file": "train.py", "line": d + 1} for d, f in enumerate("ab")]
    frames.append({"stack_id": 2, "depth": 0, "function": "a", "file": "train.py", "line": 1})
    stacks = [
        {"thread_id": 1, "thread": "MainThread", "start_ns": 3 * S, "dur_ns": 2 * S, "stack_id": 1},
        {"thread_id": 1, "thread": "MainThread", "start_ns": 5 * S, "dur_ns": S, "stack_id": 2},
    ]
    run = trained(tmp_path / "r", frames=frames, stacks=stacks)
    (flame,) = flames.of_run(run, samples.of_run(run, samples.Phases(run)))
    assert (flame["phase"], flame["thread"], flame["ns"]) == ("fit.steps", "main", 3 * S)
    assert flame["nodes"] == [[0, 0, 3 * S, "a", "train.py", 1, 1], [1, 0, 2 * S, "b", "train.py", 2, 1]]


def test_a_run_of_nothing_but_stacks_has_a_time_line(tmp_path: Path) -> None:
    """Such as one of py-spy's own files; it has a flame graph for each thread, too."""
    frames = [{"stack_id": 1, "depth": 0, "function": "f", "file": "a.py", "line": 1}]
    stacks = [{"thread_id": 1, "thread": "worker", "start_ns": 0, "dur_ns": S, "stack_id": 1}]
    run = trained(
        tmp_path / "r", frames=frames, stacks=stacks, phases=[], phase_intervals=[], steps=[], spans=[], metrics=[]
    )
    content, _ = unpacked(page.of_run(run, None, "there are no phases."))
    assert [track["label"] for track in content["timelines"][0]["tracks"]] == ["worker (sampled)"]
    assert [flame["phase"] for flame in content["flames"]] == ["worker"]


def test_a_line_has_the_kernels_of_the_layers_that_it_made(tmp_path: Path) -> None:
    """The construction of the layer says where."""
    kernels = window([{"op": "matmul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 20}])
    lines = [{"file": "train.py", "function": "f", "first_line": 1, "line": n, "hits": 1, "time_ns": n, "source": "x"}
             for n in (1, 2)]  # fmt: skip
    made = span("construct", 1, 2, span_id=3, line=2, detail=json.dumps({"layer": "dense"}))
    run = trained(tmp_path / "r", **kernels, lines=lines, spans=[*trained(tmp_path / "o").rows("spans"), made])
    (file,) = source_lines.of_run(run, breakdown.of_run(run), [])
    assert [(line.number, line.kernels_ns, line.layers) for line in file.lines] == [
        (1, None, ()),
        (2, 5 * S, ("dense",)),
    ]


def test_a_line_that_was_never_sampled_has_no_figure(tmp_path: Path) -> None:
    """Nothing was sampled: not measured, and not 0."""
    lines = [{"file": "train.py", "function": "f", "first_line": 1, "line": 1, "hits": 1, "time_ns": 5, "source": "x"}]
    (file,) = source_lines.of_run(trained(tmp_path / "r", lines=lines), None, [])
    assert file.lines[0].sampled_ns is None


# -- the commands --------------------------------------------------------------------------------------


def test_report_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says where it is."""
    trained(tmp_path / "r")
    assert dlprof("report", tmp_path / "r", "--html", tmp_path / "new" / "page.html") == 0
    assert capsys.readouterr().out == f"{tmp_path}/new/page.html\n"
    assert (tmp_path / "new" / "page.html").read_text().startswith("<!doctype html>")


def test_a_page_is_written_over_a_page_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of the user's stays as it is."""
    trained(tmp_path / "r")
    target = tmp_path / "page.html"
    assert dlprof("report", tmp_path / "r", "--html", target) == 0
    assert dlprof("report", tmp_path / "r", "--html", target) == 0
    target.write_text("my notes")
    assert dlprof("report", tmp_path / "r", "--html", target) == 64
    assert "is no page of dlprof" in capsys.readouterr().err
    assert target.read_text() == "my notes"


def test_view_writes_into_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing else is said."""
    trained(tmp_path / "r")
    assert dlprof("view", tmp_path / "r", "--no-open") == 0
    assert capsys.readouterr().out == f"{tmp_path}/r/report.html\n"


def test_compare_writes_a_page_of_two_sides_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A third one has no place in it."""
    for name in "abc":
        trained(tmp_path / name)
    assert dlprof("compare", tmp_path / "a", tmp_path / "b", "--html", tmp_path / "p.html") == 0
    assert dlprof("compare", *(tmp_path / name for name in "abc"), "--html", tmp_path / "p.html") == 64
    assert "compares two sides" in capsys.readouterr().err


# -- the server ----------------------------------------------------------------------------------------


@pytest.fixture
def address() -> Any:
    """Address of a served page."""
    with serve.Server("<p>hello</p>") as server:
        thread = threading.Thread(target=server.serve_until_stopped)
        thread.start()
        yield urlsplit(server.url)
        server.stop()
        thread.join()


def answer(address: Any, path: str, host: str | None = None, method: str = "GET") -> tuple[int, str]:
    """Status and body of a request."""
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    connection.request(method, path, headers={"Host": host or address.netloc})
    response = connection.getresponse()
    return response.status, response.read().decode()


def test_the_server_gives_the_page_to_who_knows_the_token(address: Any) -> None:
    """On a loopback address."""
    assert address.hostname == "127.0.0.1"
    assert answer(address, address.path) == (200, "<p>hello</p>")


@pytest.mark.parametrize("path", ["/", "/wrong/", "/../etc/passwd"])
def test_the_server_gives_nothing_without_the_token(address: Any, path: str) -> None:
    """Nor any other file."""
    assert answer(address, path)[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "[::1]"])
def test_the_server_answers_under_no_other_name(address: Any, host: str) -> None:
    """A name of somewhere else that was made to point here gets nothing."""
    assert answer(address, address.path, host)[0] == 421


def test_the_server_takes_no_posts(address: Any) -> None:
    """It gives a page, no more."""
    assert answer(address, address.path, method="POST")[0] == 501
