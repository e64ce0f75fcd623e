"""The schemas of what `--json` prints: which there are, the type of each, and the files that `dlprof schema` prints.

    python -m dlprof.cli.json_types

writes the files anew when a type has changed; a test fails until that is done, so that every change of what is printed
is seen in review.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

FILES = Path(__file__).parent / "json_schemas"
"""Where the published schemas lie."""


@dataclass(frozen=True)
class Published:
    """A kind of JSON that some command prints.

    Attributes:
        command: The command, as it is typed.
        place: Module and type of what is printed; one with `[]` is a list of such.
        numbers: What stands for a number that may be a fraction; what JSON does not know is null.
        version: It goes up when a field changes or goes, which no release has done yet.
    """

    command: str
    place: str
    numbers: Sequence[str] = ("number", "null")
    version: int = 1

    @property
    def kind(self) -> Any:
        """The type of what is printed."""
        module, _, name = self.place.removesuffix("[]").partition(":")
        found = getattr(importlib.import_module(module), name)
        return tuple.__class_getitem__((found, ...)) if self.place.endswith("[]") else found


PUBLISHED: Mapping[str, Published] = MappingProxyType(
    {
        "backends": Published("dlprof backends list --json", "dlprof.cli.backends:BackendsReport"),
        "bench": Published("dlprof bench MATRIX --format json", "dlprof.bench.tables:BenchReport"),
        "compare": Published("dlprof compare A B --json", "dlprof.report.compare_json:ComparisonReport"),
        "compare-ranks": Published(
            "dlprof compare RANKS RANKS --json", "dlprof.report.rank_pairs_json:RanksComparisonReport"
        ),
        "demo": Published("dlprof demo --json", "dlprof.cli.demo:DemoReport"),
        "diagnose": Published("dlprof diagnose RUN [RUN] --json", "dlprof.report.diagnosis_json:DiagnosisReport"),
        "doctor": Published("dlprof doctor --json", "dlprof.cli.doctor:DoctorReport"),
        "exam": Published("dlprof exam --format json", "dlprof.trials.exam.tables:ExamReport"),
        "exam-outside": Published("dlprof exam --outside --format json", "dlprof.trials.outside.report:ExamReport"),
        "export": Published(
            "dlprof export RUN --to json", "dlprof.export.json_object:ExportedRun", ("number", "string", "null")
        ),
        "gate": Published("dlprof gate BASE NEW --format json", "dlprof.report.gate_report:GateReport"),
        "history": Published(
            "dlprof history REPO --bench MATRIX --commits A..B --format json", "dlprof.history.report:HistoryReport"
        ),
        "kernels": Published("dlprof kernels RUN --json", "dlprof.report.kernel_json:KernelTable"),
        "lines": Published("dlprof lines RUN --json", "dlprof.report.line_json:LineCount[]"),
        "memory": Published("dlprof memory RUN --json", "dlprof.report.memory_json:MemoryReport"),
        "ranks": Published("dlprof report RANKS --json", "dlprof.report.ranks_json:RanksReport"),
        "report": Published("dlprof report RUN --json", "dlprof.report.model:Report"),
        "roofline": Published("dlprof kernels RUN --roofline --json", "dlprof.report.roofline_json:RooflineReport"),
        "runs": Published("dlprof runs --json", "dlprof.report.run_list:RunList"),
        "scenarios": Published("dlprof scenarios --json", "dlprof.cli.scenarios:ScenariosReport"),
        "sql": Published("dlprof sql RUN QUERY --format json", "dlprof.cli.sql:AnswerRow[]"),
        "try": Published("dlprof try RUN --set NAME=VALUE --json", "dlprof.report.try_report:TryReport"),
    }
)
"""Every kind, by its name: `report` stands for `dlprof.report/1`."""


def file(name: str) -> Path:
    """The file of a published schema."""
    return FILES / f"{name}-{PUBLISHED[name].version}.json"


def make(name: str) -> str:
    """The schema of a kind as its type has it now, as the text of its file."""
    from dlprof.report import json_schema

    one = PUBLISHED[name]
    about = f"What `{one.command}` prints."
    made = json_schema.of(one.kind, f"dlprof.{name}/{one.version}", about, numbers=one.numbers)
    # A line for each value, for whoever compares two versions; indents would make the wheel 4 kB larger.
    return json.dumps(made, indent=0, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in PUBLISHED:
        file(name).write_text(make(name), encoding="utf-8")
