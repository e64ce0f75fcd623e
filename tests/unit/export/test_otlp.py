"""A run for OpenTelemetry, read by the protocol's own messages; and sent to a collector."""

from __future__ import annotations

import http.server
import io
import json
import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from dlprof.errors import NoInputError, UnavailableError, UsageError
from dlprof.export import otlp
from dlprof.store.run import Run
from tests.unit.export.run_of_everything import whole
from tests.unit.runs import S, losses, make, manifest, span

ZERO = 1_700_000_000 * S


def told(**changes: Any) -> dict[str, Any]:
    """A manifest with a time."""
    return manifest(clock={"origin_perf_ns": 5, "origin_wall_ns": ZERO}, **changes)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A fit with an epoch in it, and losses of two epochs."""
    spans = [
        span("fit", 2, 8, span_id=7, file="train.py", line=12),
        span("epoch", 3, 5, span_id=8, parent_id=7, name="0", file=None, line=None),
    ]
    return make(tmp_path / "r", told(), spans=spans, metrics=losses(1.0, math.nan))


def lines(run: Run) -> list[Any]:
    """The lines of the file."""
    out = io.BytesIO()
    otlp.write(run, out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def spans(run: Run) -> list[Any]:
    """The spans, as the protocol's own messages."""
    message = json_format.ParseDict(lines(run)[0], ExportTraceServiceRequest())
    return list(message.resource_spans[0].scope_spans[0].spans)


def facts(attributes: Any) -> dict[str, Any]:
    """Attributes by their names."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


def test_the_run_is_a_span_and_what_is_in_it_nests(run: Run) -> None:
    """Each with its times on the wall clock, and its line."""
    root, fit, epoch = spans(run)

    assert [one.name for one in (root, fit, epoch)] == ["train.py", "fit", "0"]
    assert (fit.start_time_unix_nano, fit.end_time_unix_nano) == (ZERO + 2 * S, ZERO + 8 * S)
    assert (root.parent_span_id, fit.parent_span_id, epoch.parent_span_id) == (b"", root.span_id, fit.span_id)
    assert {one.trace_id for one in (root, fit, epoch)} == {root.trace_id}
    known = facts(fit.attributes)
    assert (known["code.file.path"], known["code.line.number"], known["dlprof.kind"]) == ("train.py", 12, "fit")
    assert "code.line.number" not in facts(epoch.attributes)


def test_figures_are_gauges_and_losses_have_the_time_of_their_epoch(run: Run) -> None:
    """A loss that is no number is told as such."""
    message = json_format.ParseDict(lines(run)[1], ExportMetricsServiceRequest())
    found = {metric.name: metric for metric in message.resource_metrics[0].scope_metrics[0].metrics}

    wall = found["dlprof.run_wall"]
    assert (wall.unit, wall.gauge.data_points[0].as_double) == ("s", 10.0)
    first, second = found["dlprof.epoch.value"].gauge.data_points
    assert (first.as_double, math.isnan(second.as_double)) == (1.0, True)
    assert facts(first.attributes) == {"name": "loss", "epoch": 0, "loop": 1}


def test_what_names_the_run_is_of_the_resource(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service is the script, unless the environment names it."""
    message = json_format.ParseDict(lines(run)[0], ExportTraceServiceRequest())
    known = facts(message.resource_spans[0].resource.attributes)
    assert (known["service.name"], known["host.name"], known["process.pid"]) == ("train.py", "h", 42)

    monkeypatch.setenv("OTEL_SERVICE_NAME", "forecast")
    message = json_format.ParseDict(lines(run)[0], ExportTraceServiceRequest())
    assert facts(message.resource_spans[0].resource.attributes)["service.name"] == "forecast"


def test_a_run_that_failed_is_a_span_with_an_error(tmp_path: Path) -> None:
    """By its exit code."""
    root = spans(make(tmp_path / "r", told(process={"pid": 1, "exit_code": 3, "wall_ns": S})))[0]

    assert (root.status.code, root.status.message) == (2, "exit code 3")


def test_of_many_spans_the_longest_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many are not is told with the run."""
    monkeypatch.setattr(otlp, "SPANS_AT_MOST", 2)
    rows = [
        span("fit", 0, 8, span_id=1),
        span("epoch", 0, 5, span_id=2, parent_id=1),
        span("epoch", 5, 8, span_id=3, parent_id=1),
    ]
    made = make(tmp_path / "r", told(), spans=rows)

    root, *rest = spans(made)
    assert [one.end_time_unix_nano - one.start_time_unix_nano for one in rest] == [8 * S, 5 * S]
    assert facts(root.attributes)["dlprof.spans_left_out"] == 1
    assert otlp.write(made, io.BytesIO()).startswith("3 spans (1 short ones left out) and ")


def test_names_that_are_out_to_do_harm_stay_text(tmp_path: Path) -> None:
    """The protocol's own parser takes all of it."""
    found = spans(whole(tmp_path / "r", told()))

    assert all(one.name.isprintable() for one in found)


def test_a_run_of_no_known_time_is_refused(tmp_path: Path) -> None:
    """Its spans would be of 1970."""
    with pytest.raises(NoInputError, match="it is not known when it was"):
        lines(make(tmp_path / "r", manifest(clock={"origin_perf_ns": 5})))


class Collector(http.server.ThreadingHTTPServer):
    """Takes what it is sent."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, str | None, Any]] = []
        self.answer = (200, b"{}")
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:  # the name is that of the library
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.append((self.path, self.headers["key"], json.loads(body)))
        status, text = self.server.answer
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    """One that listens."""
    with Collector() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def test_a_collector_gets_traces_and_metrics(run: Run, collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the headers of the environment; the same as in a file."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "key=a%20b,other=c")

    said = otlp.send(run, collector.address + "/")

    assert [(path, key) for path, key, _ in collector.taken] == [("/v1/traces", "a b"), ("/v1/metrics", "a b")]
    assert [body for *_, body in collector.taken] == lines(run)
    assert said.startswith("3 spans and ")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((403, b""), r"/v1/traces refused the run: 403 Forbidden\."),
        (
            (200, b'{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "full"}}'),
            r"took the run in part only: 2 were rejected \(full\)\.",
        ),
    ],
)
def test_a_collector_that_refuses_is_told_of(
    run: Run, collector: Collector, answer: tuple[int, bytes], told: str
) -> None:
    """In its own words."""
    collector.answer = answer
    with pytest.raises(UnavailableError, match=told):
        otlp.send(run, collector.address)


def test_a_collector_that_is_not_there_is_told_of(run: Run, collector: Collector) -> None:
    """With the port where it is as a rule."""
    address = collector.address
    collector.shutdown()
    collector.server_close()
    with pytest.raises(UnavailableError, match=r"cannot be reached: .*refused"):
        otlp.send(run, address)


def test_headers_that_are_none_are_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is sent."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "secret")
    with pytest.raises(UsageError, match="is not of the form name=value"):
        otlp.send(run, "http://127.0.0.1:9")
