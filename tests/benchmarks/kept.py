"""Figures that are kept from release to release: `python -m tests.benchmarks.kept [--pairs N]`.

Measures what needs no engine, adds a line to `kept.jsonl`, and writes `docs/benchmarks.md` anew; `--page` writes the page alone. For a
calm machine: the line says which one it was, and figures of different machines are not compared.
"""

import argparse
import datetime as dt
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks import startup

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILE = HERE / "kept.jsonl"
PAGE = ROOT / "docs" / "benchmarks.md"
DLPROF = [sys.executable, "-m", "dlprof"]
FIGURES = {
    "record_us": ("hooks and record of one training step", "µs", 2.0),
    "first_line_s": ("the script's first line under `dlprof trace`, more than bare", "s", 0.25),
    "whole_s": ("`dlprof trace` of an empty script, report included, more than bare", "s", 0.5),
    "help_s": ("`dlprof --help`", "s", 0.15),
    "report_s": ("`dlprof report` on a run of the demo", "s", 1.0),
    "compare_s": ("`dlprof compare` of the demo's two runs", "s", 2.0),
}
"""What is measured, its unit, and the goal: at most so much."""
_WORDS = """\
# Benchmarks, kept

What dlprof costs without any engine, from one measurement to the next; [what it costs beside engines](overhead.md) is measured less often.
`python -m tests.benchmarks.kept` measures on a calm machine, adds a line to `tests/benchmarks/kept.jsonl` and writes this page from it.
Medians; the least and the most in brackets. Figures of different machines are not to be compared.
"""


_NOTHING: dict[str, dict[str, list[float]]] = {"figures": {}}


def measured(pairs):
    """Values of each figure."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        subprocess.run([*DLPROF, "demo", str(place / "demo")], check=True, capture_output=True, cwd=place)
        mxnet, tensorflow = str(place / "demo" / "mxnet"), str(place / "demo" / "tensorflow")
        (place / "first.py").write_text(startup.FIRST)
        (place / "nothing.py").write_text("")
        startup.trace(place, "nothing.py", 0)
        found = {name: [] for name in FIGURES}
        for number in range(1, pairs + 1):
            bare, traced = startup.pair(place, "first.py", number)
            found["first_line_s"].append((traced.first_ns - bare.first_ns) / 1e9)
            bare, traced = startup.pair(place, "nothing.py", number)
            found["whole_s"].append((traced.wall_ns - bare.wall_ns) / 1e9)
            found["help_s"].append(_seconds([*DLPROF, "--help"], place))
            found["report_s"].append(_seconds([*DLPROF, "report", mxnet], place))
            found["compare_s"].append(_seconds([*DLPROF, "compare", mxnet, tensorflow], place))
            found["record_us"].append(_record_us())
    return found


def _seconds(command, place):
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=place)
    return time.perf_counter() - start


def _record_us():
    done = subprocess.run([sys.executable, str(HERE / "step_record.py")], check=True, capture_output=True, text=True)
    return float(done.stdout.split()[0])


def line(found, load):
    """A measurement as it is kept; `load` is the mean number of others that wanted a core in the minute before."""
    git = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return {
        "date": dt.datetime.now(dt.UTC).strftime("%Y-%m-%d"),
        "commit": git.stdout.strip() or None,
        "machine": f"{os.cpu_count()} cores of {names[0] if names else platform.machine()}",
        "python": platform.python_version(),
        "load": load,
        "figures": {name: [round(value, 4) for value in values] for name, values in found.items()},
    }


def page(rows):
    """The page of some measurements, oldest first."""
    text = [_WORDS, "| figure | goal | last | before |", "| --- | --- | --- | --- |"]
    for name, (meaning, unit, most) in FIGURES.items():
        before, last = (_told(row, name, unit) for row in [_NOTHING, _NOTHING, *rows][-2:])
        text.append(f"| {meaning} | <= {most:g} {unit} | {last} | {before} |")
    text += ["", "## All measurements", ""]
    text += [
        f"| date | commit | machine | load before | Python | {' | '.join(FIGURES)} |",
        f"|{' --- |' * (5 + len(FIGURES))}",
    ]
    for row in rows:
        values = " | ".join(_told(row, name, unit) for name, (_, unit, _) in FIGURES.items())
        text.append(
            f"| {row['date']} | {row['commit'] or ''} | {row['machine']} | {row['load']} | {row['python']} | {values} |"
        )
    for name, (meaning, unit, most) in FIGURES.items() if len(rows) > 2 else ():
        text += ["", *_chart(rows, name, meaning, unit, most)]
    return "\n".join(text) + "\n"


def _told(row, name, unit):
    values = row["figures"].get(name)
    if not values:
        return "not measured"
    return f"{statistics.median(values):.3g} {unit} ({min(values):.3g} to {max(values):.3g}, {len(values)} runs)"


def _chart(rows, name, meaning, unit, most):
    known = [row for row in rows if row["figures"].get(name)]
    medians = [statistics.median(row["figures"][name]) for row in known]
    plain = meaning.replace("`", "")
    return [
        "```mermaid", "xychart-beta", f'    title "{plain} ({unit})"',
        f'    x-axis "measurement" {list(range(1, len(known) + 1))}',
        f'    y-axis "{unit}" 0 --> {max(most, *medians):g}',
        f"    line {[round(one, 4) for one in medians]}", "```",
    ]  # fmt: skip


def kept():
    """All measurements, oldest first."""
    return [json.loads(text) for text in FILE.read_text(encoding="utf-8").splitlines()] if FILE.exists() else []


def main():
    """Measure, keep, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=7, help="runs of each figure (default: 7)")
    parser.add_argument("--page", action="store_true", help="measure nothing: write the page of what is kept")
    args = parser.parse_args()
    if not args.page:
        with FILE.open("a", encoding="utf-8") as file:
            load = round(os.getloadavg()[0], 2)
            file.write(json.dumps(line(measured(args.pairs), load)) + "\n")
    PAGE.write_text(page(kept()), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
