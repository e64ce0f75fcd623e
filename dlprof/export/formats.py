"""The formats that a run can be written in: the one table that the command, its help and the writers share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes:
        about: What it is, in one line.
        module: Module of `dlprof.export` that writes it: `write(run, out)` for a file, `write(run, folder)` for a
            folder; both return what was written, as a few words.
        ending: What the name of a file or folder ends with when the user gives none.
        folder: Whether it is a folder.
        shared: Whether several runs go into that folder, each into one of its own there.
        text: Whether it may go to standard output.
        viewer: How to open it; `{path}` stands for the file or folder.
    """

    about: str
    module: str
    ending: str
    viewer: str
    folder: bool = False
    shared: bool = False
    text: bool = False


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "perfetto": Format("time line for Perfetto, to the nanosecond", "perfetto", ".pftrace",
                           "open it at https://ui.perfetto.dev"),
        "chrome": Format("the same time line as trace events (JSON)", "chrome", ".trace.json",
                         "open it in chrome://tracing or at https://ui.perfetto.dev", text=True),
        "tensorboard": Format("scalars, phases, findings, and the engine's own traces", "tensorboard", "-tensorboard",
                              "tensorboard --logdir {path}", folder=True, shared=True),
        "speedscope": Format("sampled stacks of each thread, and phases (JSON)", "speedscope", ".speedscope.json",
                             "open it at https://www.speedscope.app", text=True),
        "pprof": Format("sampled stacks, labelled with thread and phase", "pprof", ".pb.gz",
                        "go tool pprof -http=: {path}"),
        "line_profiler": Format("time of each line, as line_profiler prints it", "line_profiler_text", ".lines.txt",
                                "it is plain text", text=True),
        "csv": Format("a folder with one CSV file for each table", "csv_folder", "-csv",
                      "open its files with any spreadsheet", folder=True),
        "parquet": Format("a folder with one Parquet file for each table", "parquet_folder", "-parquet",
                          "pandas, DuckDB and Polars read its files", folder=True),
        "json": Format("the report and all tables as one JSON object", "json_object", ".json",
                       "see docs/exporting.md", text=True),
    }
)  # fmt: skip
"""Every format, by the name that `--to` takes."""
