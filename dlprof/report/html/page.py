"""A page: a template filled with what the reports say, and with the data that its charts draw."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import jinja2

from dlprof.analysis.findings.diagnose import LEAST_NS, LEAST_SHARE
from dlprof.analysis.findings.finding import FLOOR
from dlprof.analysis.stacks import shown_name
from dlprof.report import end_words, finding_words, gap_words, pair_words, step_words, strict_json
from dlprof.report.diagnosis_json import FindingReport
from dlprof.report.html import contents, timeline
from dlprof.report.html.pack import Pack, compressed
from dlprof.report.html.timeline import Drawing
from dlprof.report.json_text import plain
from dlprof.report.roofline_table import scaled
from dlprof.store.run import Run
from dlprof.units import duration, percent, size
from dlprof.version import __version__

_EVENTS = (timeline.MOST, 750_000, 400_000, 150_000, 50_000)
_PAGE_BYTES = 4_800_000
"""How large a page may become: of the numbers of events it draws the first one with which it is no larger."""
_SCRIPTS = (
    "data.js",
    "tables.js",
    "charts.js",
    "flames.js",
    "flames_of_both.js",
    "timeline.js",
    "timeline_area.js",
    "memory.js",
    "ranks.js",
    "page.js",
)
_MISSING = "\N{EN DASH}"
_SHADES = 8
"""Strengths of a cell's colour."""


def filled(template: str, data: Mapping[str, Any], runs: Sequence[Run], **content: Any) -> str:
    """A page with its data and the timelines of runs, as fine as fits.

    Args:
        template: Name of the template.
        data: What the page's script draws, as JSON.
        runs: The runs whose timelines are drawn.
        **content: What the template shows.
    """
    drawings = [timeline.of_run(run) for run in runs]
    return drawn(template, lambda _: data, drawings, holds=contents.private(runs), **content)


def drawn(
    template: str,
    data: Callable[[Pack], Mapping[str, Any]],
    drawings: Sequence[Drawing | None],
    *,
    holds: Sequence[str],
    **content: Any,
) -> str:
    """A page with its data and some timelines, as fine as fits.

    Args:
        template: Name of the template.
        data: What the page's script draws, as JSON; its columns go into the pack.
        drawings: The timelines.
        holds: What the page holds that is not for everybody.
        **content: What the template shows.
    """
    slot = f"data-{secrets.token_hex(16)}"  # nothing in a run can have this name
    page = _rendered(template, has_timeline=any(drawings), data=slot, library=_library(), holds=holds, **content)
    return page.replace(slot, _packed(data, drawings, _PAGE_BYTES - len(page)))


def without_charts(template: str, **content: Any) -> str:
    """A page whose pictures stand in its template: it carries no plotting library, and no data to draw."""
    return _rendered(template, data=Pack().text({"kind": "tables", "timelines": []}), library="", holds=(), **content)


def _library() -> str:
    return compressed((resources.files("dlprof.report.html") / "assets" / "echarts" / "echarts.min.js").read_bytes())


def _packed(data: Callable[[Pack], Mapping[str, Any]], drawings: Sequence[Drawing | None], room: int) -> str:
    """The data and the timelines as one text, with as many events as there is room for."""
    for most in _EVENTS:
        pack = Pack()
        lines = [timeline.packed(one, pack, most // len(drawings)) if one else None for one in drawings]
        text = pack.text({**data(pack), "timelines": lines})
        if len(text) <= room:
            break
    return text


def _rendered(template: str, **content: Any) -> str:
    assets = resources.files("dlprof.report.html") / "assets"
    return (
        _templates()
        .get_template(template)
        .render(
            version=__version__,
            style=(assets / "page.css").read_text(encoding="utf-8"),
            script="\n".join((assets / name).read_text(encoding="utf-8") for name in _SCRIPTS),
            **content,
        )
    )


@cache
def _templates() -> jinja2.Environment:
    """Templates in which every text from outside is escaped."""
    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.PackageLoader("dlprof.report.html", "templates"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["least_finding"] = f"{LEAST_SHARE * 100:.0f} % and {duration(LEAST_NS)}"
    environment.filters.update(
        duration=_duration,
        signed=gap_words.signed,
        frame_name=lambda frame: shown_name(frame.function, frame.file),
        how_known=step_words.how,
        step_kind=step_words.kind,
        loop_place=step_words.place,
        fetches_in_call=step_words.fetches_in_call,
        size=size,
        by_signal=end_words.by_signal,
        signed_size=pair_words.signed,
        bytes_of=pair_words.bytes_of,
        work_cause=pair_words.cause,
        scaled=scaled,
        percent=percent,
        count=_count,
        in_script=_in_script,
        heading=_heading,
        state_words=finding_words.state,
        sureness=_sureness,
        shade=_shade,
        anchor=_anchor,
    )
    return environment


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _heading(finding: FindingReport) -> str:
    return finding_words.heading(finding.title, is_question=finding.confidence < FLOOR)


def _sureness(finding: FindingReport, of_one_run: bool) -> str:
    return finding_words.sureness(finding.confidence, finding.interval_ns if of_one_run else None)


def _in_script(value: Any) -> str:
    """JSON that cannot end the element that it stands in; the template marks it as safe."""
    text = strict_json.dumps(plain(value), default=str, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _duration(ns: float | None) -> str:
    """A time as pages print it: with a dash where there is none."""
    return _MISSING if ns is None else duration(ns)


def _shade(value: float | None, whole: float) -> int:
    """Strength of a cell's colour, 0 to 8, by the share of the whole: below 0.4 % it has none."""
    if not value or value <= 0:
        return 0
    return min(_SHADES, round(_SHADES * math.sqrt(value / whole)))


def _anchor(file: str | None, line: int | None = None) -> str:
    """Name of the anchor of a line, or of a file: one that no character of the name can break out of."""
    text = "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in file or "")
    return f"{text}-{line}" if line else text
