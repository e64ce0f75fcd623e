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
        "perfetto": Format(
            about="timeline for Perfetto, to the nanosecond",
            module="perfetto",
            ending=".pftrace",
            viewer="open it at https://ui.perfetto.dev",
        ),
        "chrome": Format(
            about="the same timeline as trace events (JSON)",
            module="chrome",
            ending=".trace.json",
            viewer="open it in chrome://tracing or at https://ui.perfetto.dev",
            text=True,
        ),
        "tensorboard": Format(
            about="scalars, phases, findings, and the engine's own traces",
            module="tensorboard",
            ending="-tensorboard",
            viewer="tensorboard --logdir {path}",
            folder=True,
            shared=True,
        ),
        "speedscope": Format(
            about="sampled stacks of each thread, and phases (JSON)",
            module="speedscope",
            ending=".speedscope.json",
            viewer="open it at https://www.speedscope.app",
            text=True,
        ),
        "pprof": Format(
            about="sampled stacks, labelled with thread and phase",
            module="pprof",
            ending=".pb.gz",
            viewer="go tool pprof -http=: {path}",
        ),
        "line_profiler": Format(
            about="time of each line, as line_profiler prints it",
            module="line_profiler_text",
            ending=".lines.txt",
            viewer="it is plain text",
            text=True,
        ),
        "csv": Format(
            about="a folder with one CSV file for each table",
            module="csv_folder",
            ending="-csv",
            viewer="open its files with any spreadsheet",
            folder=True,
        ),
        "parquet": Format(
            about="a folder with one Parquet file for each table",
            module="parquet_folder",
            ending="-parquet",
            viewer="pandas, DuckDB and Polars read its files",
            folder=True,
        ),
        "prometheus": Format(
            about="figures of the run as Prometheus' text",
            module="prometheus",
            ending=".prom",
            viewer="put it where the textfile collector of node_exporter looks",
            text=True,
        ),
        "otlp": Format(
            about="spans and metrics for OpenTelemetry (JSON)",
            module="otlp",
            ending=".otlp.jsonl",
            viewer="the Collector's otlpjsonfile receiver reads it",
            text=True,
        ),
        "json": Format(
            about="the report and all tables as one JSON object",
            module="json_object",
            ending=".json",
            viewer="see `dlprof help exporting`",
            text=True,
        ),
    }
)
"""Every format, by the name that `--to` takes."""


@dataclass(frozen=True)
class Service:
    """Where a run can be sent.

    Attributes:
        about: What it is told, in one line.
        module: Module of `dlprof.export` with `send(run, where)`, which returns what was sent, as a few words.
        address: What `-o` takes.
    """

    about: str
    module: str
    address: str


SERVICES: Mapping[str, Service] = MappingProxyType(
    {
        "otlp": Service(FORMATS["otlp"].about, "otlp", "http://HOST:4318"),
        "mlflow": Service("parameters, figures, losses, report and page, in MLflow", "mlflow_run", "TRACKING_URI"),
        "wandb": Service("the same in Weights & Biases", "wandb_run", "FOLDER"),
    }
)
"""Every service, by the name that `--to` takes; one of them takes files, too."""
