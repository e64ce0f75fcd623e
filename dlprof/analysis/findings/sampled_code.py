"""Whose Python code ran, by the sampled stacks: the user's own, called by Keras or not, and its lines."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from dlprof.analysis import samples, scaled_hits, source_loops
from dlprof.analysis.breakdown import Breakdown
from dlprof.analysis.findings import doing, visits
from dlprof.analysis.findings.finding import Abstain, SourceLine, Support
from dlprof.analysis.findings.traced_kernels import TracedKernels
from dlprof.analysis.phase_lookup import PhaseLookup
from dlprof.analysis.samples import Sample
from dlprof.analysis.stacks import MODULE, Frame
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Ground, LineSource, ProbeState, SpanKind
from dlprof.store.run import Run

Chosen = Callable[[Sample], bool]
"""Whether a sample is one of those that are looked for."""
LAMBDA = "<lambda>"
"""What Python calls a function without a name."""
_IMPORT = re.compile(r"\s*(import|from)\s+\w")
_COMPILED_LAMBDA = re.compile(r"\b(jit|pmap|function|compile)\(\s*([\w.]+\(\s*)*lambda\b")
"""A function without a name that is compiled where it is made, not where it is called; what is around it may be its
gradient, or its copies for each row.
"""
_DEF = re.compile(r"\s*(?:async\s+)?def\s+(\w+)")
_DEFINES = re.compile(r"\s*(class|(async\s+)?def)\b")
_FOR = re.compile(r"\s*(async\s+)?for\b")
_LOOP = re.compile(r"\b(for|while)\b")
"""A line that turns a loop, also of one in brackets."""
_LOOPS_OF_THEIR_OWN = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", LAMBDA)
_LONG_CALL_NS = 1_000_000
"""What Python does in one line without a loop takes microseconds: more is what the line calls."""
_CALLED = re.compile(r"\b(\w+)\s*\(")
"""Names that are called in a line."""
_EVERY_NS = 50_000_000
"""From one stack to the next, as it is sampled where nobody says otherwise."""
_SMALL_TAX = 0.02
"""Share of the wall time that counting lines may cost without being worth a word."""
_COUNTING_IS_CHEAP = (3, 12)
"""From this Python on, counting lines does not slow down what is not counted."""
_SHARE_OF_ROOTS = 0.1
"""Share of the main thread's stacks that begin in a function where it does begin: those read in part begin anywhere."""
_SEEN_ANEW = 5
"""A line to which samples, far apart as they are, find the main thread come so often is in a loop."""


class SampledCode:
    """Stacks of a run, and the user's files.

    Args:
        run: The run.
        tree: Its tree.
        lookup: Its phases over time.
        kernels: Its operators.
    """

    def __init__(self, run: Run, tree: Breakdown, lookup: PhaseLookup, kernels: TracedKernels) -> None:
        self._run = run
        self._tree = tree
        self._lookup = lookup
        self._kernels = kernels
        self._sources: dict[str, list[str]] = {}

    @cached_property
    def user_files(self) -> set[str]:
        """Files of the user's own code, as far as they were seen."""
        return samples.user_files(self._run)

    @cached_property
    def _known(self) -> set[tuple[str, int]] | None:
        return samples.known_lines(self._run)

    @cached_property
    def samples(self) -> list[Sample]:
        """All sampled stacks, cut by phase."""
        return samples.by_phase(self._run)

    @cached_property
    def beside(self) -> list[Sample]:
        """Stacks of the main thread while another one trains, which are none of `samples`, cut by phase."""
        return samples.of_main_beside(self._run, self._lookup)

    @cached_property
    def visits(self) -> Mapping[SourceLine, int]:
        """Lines of the user's with the number of times that the main thread was seen to come to them."""
        return visits.of_run(self._run, self.user_files)

    def lines_of_loops(self, least: int) -> set[SourceLine]:
        """Lines that ran so often; where counting was thinned and does not tell it, those that were seen anew.

        So do those that asked the engine for a value so often: that is counted whatever is thinned.
        """
        rows = self._run.rows("lines")
        often = {(row["file"], row["line"]) for row in rows if (row["hits"] or 0) >= least}
        untold = ((row["file"], row["line"]) for row in rows if row["hits"] is None)
        seen = {line for line in untold if self.visits.get(line, 0) >= _SEEN_ANEW or self.asked[line] >= least}
        return often | seen

    @cached_property
    def asked(self) -> Counter[SourceLine]:
        """Lines of the user's with the number of values of the engine that they asked for."""
        found: Counter[SourceLine] = Counter()
        for row in self._run.rows("syncs"):
            found[row["file"], row["line"]] += row["calls"]
        return found

    def need_samples(self) -> None:
        """Abstain where no stack was sampled."""
        if not self.samples:
            raise Abstain("no Python stack was sampled")

    def share(self, paths: Sequence[TreePath], chosen: Chosen, *, main: bool = True) -> float:
        """Share of the sampled time of some phases in which a stack is one of those chosen.

        Of the main thread those are looked at that were read whole: of the others the user's line is not known, and
        what they stand in is taken to be shared out as it is in those.

        Args:
            paths: The phases.
            chosen: Which stacks.
            main: Those of the main thread; else those of all other threads.
        """
        inside = [sample for sample in self.samples if sample.main == main and _is_in(sample, paths)]
        if main:
            inside = self._read_whole(inside)
        # Other threads come and go: their time is a share of the phase's.
        whole = sum(sample.dur_ns for sample in inside) if main else sum(self._tree.time(path) for path in paths)
        return min(1.0, sum(sample.dur_ns for sample in inside if chosen(sample)) / whole) if whole else 0.0

    def bounded_share(self, paths: Sequence[TreePath], chosen: Chosen) -> float:
        """Share of some phases in which the main thread stands in a stack of those chosen, by lines' exact times.

        Where a program is sampled seldom, or hardly had a core, one stack weighs for much that it did not see. What is
        counted exactly for a line of the user's, with all that it calls, is the most that stacks can have in it.

        Args:
            paths: The phases.
            chosen: Which stacks.
        """
        inside = self._read_whole([sample for sample in self.samples if sample.main and _is_in(sample, paths)])
        sampled_ns, whole_ns = _time(inside), sum(self._tree.time(path) for path in paths)
        if not sampled_ns or not whole_ns:
            return 0.0
        stood: dict[SourceLine | None, float] = {}
        for sample in inside:
            if chosen(sample):
                line = self.user_line(sample)
                stood[line] = stood.get(line, 0.0) + sample.dur_ns * whole_ns / sampled_ns
        return min(1.0, sum(min(ns, self._exact_ns.get(line, ns)) for line, ns in stood.items()) / whole_ns)

    @cached_property
    def _exact_ns(self) -> Mapping[SourceLine | None, int]:
        """How long each line ran that was counted whenever it did (ns); empty where counting or the program broke off.

        A line that stands when the program is killed is not in its counts.
        """
        process, probes = self._run.manifest.process, self._run.rows("probes")
        if process.exit_code is None or any(row["name"] == "lines" and row["state"] != ProbeState.ON for row in probes):
            return {}
        exact: dict[SourceLine | None, int] = {}
        partly = set()
        for row in self._run.rows("lines"):
            line, how = (row["file"], row["line"]), LineSource(row["how"] or LineSource.EXACT)
            if how != LineSource.EXACT or row["time_ns"] is None or not row["hits"]:
                partly.add(line)
            else:
                exact[line] = exact.get(line, 0) + row["time_ns"]
        return {line: ns for line, ns in exact.items() if line not in partly}

    def _read_whole(self, inside: list[Sample]) -> list[Sample]:
        """Those that begin where the main thread does; all of them where these are less than half of the time."""
        whole = [sample for sample in inside if (root := sample.frames[-1]).name == MODULE or root[:2] in self._roots]
        return whole if 2 * _time(whole) >= _time(inside) else inside

    @cached_property
    def _roots(self) -> set[tuple[str, str]]:
        """Functions, each with its file, with which a good part of the main thread's stacks begins."""
        stood: dict[tuple[str, str], int] = {}
        for sample in self.samples:
            if sample.main:
                root = sample.frames[-1]
                stood[root[:2]] = stood.get(root[:2], 0) + sample.dur_ns
        return {root for root, ns in stood.items() if ns >= _SHARE_OF_ROOTS * sum(stood.values())}

    def support(
        self,
        paths: Sequence[TreePath],
        chosen: Chosen,
        *,
        main: bool | None = True,
        ground: Ground = Ground.PLACE,
        **more: Any,
    ) -> Support:
        """What samples say for a claim on those chosen: how many these are, and how much of the time was sampled.

        Where there are none, nothing was looked at.

        Args:
            paths: The phases.
            chosen: Which stacks.
            main: Those of the main thread, of all other threads, or (None) of all.
            ground: What tells that it is the cause.
            **more: What else of a `Support` is known.
        """
        inside = [one for one in self.samples if main in (None, one.main) and _is_in(one, paths)]
        if not inside:
            return Support(ground, covered=0.0, **more)
        seen = sum(one.dur_ns for one in inside if chosen(one)) / self.every_ns
        covered = sum(one.dur_ns for one in inside) / max(1, sum(self._tree.time(path) for path in paths))
        return Support(ground, seen=seen, covered=min(1.0, covered), **more)

    @cached_property
    def every_ns(self) -> float:
        """From one stack to the next, on average (ns): more than usual where sampling was thinned."""
        thinned = (row for row in self._run.rows("probes") if row["name"] == "stacks" and row["thinned"])
        rates = [row["thinned_to_value"] for row in thinned]
        return max(_EVERY_NS, 1e9 / rates[0]) if rates and rates[0] else _EVERY_NS

    def hottest_line(
        self, paths: Sequence[TreePath], chosen: Chosen = lambda _sample: True, *, main: bool | None = True
    ) -> SourceLine | None:
        """The innermost line of the user's code that stood longest in some phases.

        Args:
            paths: The phases.
            chosen: Which stacks.
            main: Those of the main thread, of all other threads, or (None) of all.
        """
        inside = (one for one in self.samples if main in (None, one.main) and _is_in(one, paths))
        return self.line_of(one for one in inside if chosen(one))

    def line_of(self, stacks: Iterable[Sample]) -> SourceLine | None:
        """The innermost line of the user's code that stood longest in some stacks."""
        stood: dict[SourceLine, int] = {}
        for sample in stacks:
            frame = self.user_frame(sample)
            if frame is not None and not self.is_import(frame.file, frame.line) and self._is_known(frame):
                stood[frame.file, frame.line] = stood.get((frame.file, frame.line), 0) + sample.dur_ns
        return max(stood, key=lambda line: stood[line]) if stood else None

    def _is_known(self, frame: Frame) -> bool:
        """Whether a line was seen for sure, or is of code without a file, as of a cell, whose lines nobody counts."""
        return self._known is None or (frame.file, frame.line) in self._known or frame.file not in self._counted

    @cached_property
    def _counted(self) -> set[str]:
        """Files of which lines are told."""
        return {row["file"] for row in self._run.rows("lines")}

    def stood_ns(self, line: SourceLine) -> int:
        """For how long a line was the innermost of the user's on the main thread, by the samples (ns)."""
        stood = 0
        for sample in self.samples:
            frame = self.user_frame(sample) if sample.main else None
            if frame is not None and (frame.file, frame.line) == line:
                stood += sample.dur_ns
        return stood

    def ran_once(self, line: SourceLine) -> bool:
        """Whether a line is known to have run no more than once: nothing of a loop."""
        hits = [row["hits"] for row in self._run.rows("lines") if (row["file"], row["line"]) == line]
        return bool(hits) and all(count is not None and count <= 1 for count in hits)

    def hits(self, line: SourceLine) -> int | None:
        """How often a line ran; None: it was not counted."""
        rows = [row for row in self._run.rows("lines") if (row["file"], row["line"]) == line]
        counts = [row["hits"] for row in rows if row["hits"] is not None]
        return sum(counts) if counts else None

    def is_scaled(self, line: SourceLine) -> bool:
        """Whether how often a line ran is an estimate: it was counted in windows."""
        rows = (row for row in self._run.rows("lines") if (row["file"], row["line"]) == line)
        return any(row["how"] == LineSource.SCALED for row in rows)

    def runs_once(self, line: SourceLine) -> bool:
        """Whether a line ran once by its count; where that is not known, whether no loop of the user's is around it.

        That is told by the stacks in which it is the user's innermost line, and by the sources.
        """
        if self.hits(line) is not None:
            return self.ran_once(line)
        mine = [one for one in self.samples if one.main and self.user_line(one) == line]
        frames = {frame for one in mine for frame in one.frames if frame.file in self.user_files}
        return bool(frames) and not any(self._may_turn(frame) for frame in frames)

    def _may_turn(self, frame: Frame) -> bool:
        """Whether a frame of the user's stands in a loop, or no copy of its file tells."""
        if frame.name in _LOOPS_OF_THEIR_OWN or not self.lines(frame.file):
            return True
        loops = self._run.once(f"loops of {frame.file}", lambda _run: source_loops.around(self.lines(frame.file)))
        return frame.line in loops or bool(_LOOP.search(self.source(frame.file, frame.line)))

    def long_call_ns(self, line: SourceLine) -> int | None:
        """How long a line ran each time, where that is so long that it is native code which it calls (ns).

        None: it turns a loop, calls Python, runs briefly, or it is not known how often it ran.
        """
        rows = [row for row in self._run.rows("lines") if (row["file"], row["line"]) == line]
        hits = sum(row["hits"] or 0 for row in rows)
        is_scaled = any(row["how"] == LineSource.SCALED for row in rows)
        each_ns = sum(row["time_ns"] or 0 for row in rows if row["hits"]) // hits if hits else 0
        least_ns = _LONG_CALL_NS * (scaled_hits.OFF if is_scaled else 1)
        if each_ns < least_ns or _LOOP.search(self.source(*line)):
            return None
        mine = [sample for sample in self.samples if self._stands_in(sample, line)]
        alone = sum(one.dur_ns for one in mine if one.frames[0].name not in _LOOPS_OF_THEIR_OWN)
        told_ns = scaled_hits.estimate(each_ns, hits) if is_scaled else each_ns
        return told_ns if 2 * alone > self.stood_ns(line) else None

    def _stands_in(self, sample: Sample, line: SourceLine) -> bool:
        """Whether a sample of the main thread has that line innermost: nothing of Python runs above it."""
        return sample.main and (sample.frames[0].file, sample.frames[0].line) == line

    def is_import(self, file: str, line: int) -> bool:
        """Whether a line of the user's only imports: it is to blame for nothing else."""
        return bool(_IMPORT.match(self.source(file, line)))

    def user_frame(self, sample: Sample) -> Frame | None:
        """The innermost frame of the user's code."""
        return next((frame for frame in sample.frames if frame.file in self.user_files), None)

    def user_line(self, sample: Sample) -> SourceLine | None:
        """Its line."""
        frame = self.user_frame(sample)
        return (frame.file, frame.line) if frame is not None else None

    def calls_compiled(self, sample: Sample) -> bool:
        """Whether a stack stands in a line of the user's that calls a function which the engine compiled.

        Calls of such a function leave no frame of Python: what runs there is the engine's.
        """
        frame = sample.frames[0]
        line = frame.file, frame.line
        return frame.file in self.user_files and (line in self._compiling or self.names_compiled([line]))

    def names_compiled(self, lines: Iterable[SourceLine]) -> bool:
        """Whether one of some lines of the user's calls a function that the engine compiled."""
        return bool(self.compiled) and any(self.compiled & set(_CALLED.findall(self.source(*line))) for line in lines)

    def turns_a_loop(self, sample: Sample) -> bool:
        """Whether a stack stands in a `for` line of the user's that asks the engine or a loader for batches.

        What that line runs itself is theirs: their iterators, and batches that are let go.
        """
        frame = sample.frames[0]
        return (frame.file, frame.line) in self._asking

    def goes_through(self, sample: Sample) -> bool:
        """Whether Python goes through something in the user's line in which a stack stands: a loop, or brackets."""
        frame = sample.frames[0]
        return frame.name in _LOOPS_OF_THEIR_OWN or bool(_LOOP.search(self.source(frame.file, frame.line)))

    @cached_property
    def _asking(self) -> frozenset[SourceLine]:
        asking = (self.user_frame(sample) for sample in self.samples if sample.main and samples.is_of_input(sample))
        lines = {(frame.file, frame.line) for frame in asking if frame is not None}
        return frozenset(line for line in lines if _FOR.match(self.source(*line)))

    @cached_property
    def compiled(self) -> frozenset[str]:
        """Names of the functions of the user's that were compiled, as far as the engine told them."""
        return frozenset(name for name, _ in self._compilations)

    @cached_property
    def _compiling(self) -> frozenset[SourceLine]:
        """Lines that had a function of the user's own compiled, by whatever name they call it (`self.step(...)`)."""
        return frozenset(line for name, line in self._compilations if name in self.defined)

    @cached_property
    def _compilations(self) -> list[tuple[str, SourceLine]]:
        """Name of each function that was compiled, and where it was called."""
        rows = self._run.chosen("spans", "kind", (SpanKind.GRAPH_COMPILE,), ("kind", "detail", "file", "line"))
        told = [(row, json.loads(row["detail"]).get("compiled") or {}) for row in rows if row["detail"]]
        return [(str(one["function"]), (row["file"], row["line"])) for row, one in told if one.get("function")]

    def is_called_back(self, sample: Sample) -> bool:
        """Whether user code runs that a library called: a callback, a generator, a layer; on other threads any."""
        return samples.is_called_back(sample, self.user_files)

    def feeds(self, sample: Sample) -> bool:
        """Whether user code runs that was called to make a batch: before a step, or on another thread.

        An engine calls Python from threads of its own for a batch as for a layer; the operators that do so tell which.
        A thread that waits for another makes nothing: its batches are made, and nobody takes them.
        """
        if not self.is_called_back(sample):
            return False
        if sample.main:
            return sample.phase == Tree.FIT_INPUT
        if doing.waits_for_thread(sample.frames):
            return False
        if samples.is_of_input(sample):
            return True
        if samples.is_callback(sample):
            return False
        return not (samples.is_operator(sample) and self._kernels.call_python_for_layers)

    def counting_note(self, line: SourceLine | None) -> str:
        """What is to be said first of the time of a line; empty where counting lines does not slow it."""
        if line is None or self._is_sampled_only(line):
            return ""
        version = self._run.manifest.interpreter.version or ""
        is_old = tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < _COUNTING_IS_CHEAP
        if not (version and is_old and any(self._all_counted(row) for row in self._run.rows("probes"))):
            return ""
        return (
            f"Trace it with --probes=-lines first: on Python {version} counting lines slows such code, tight loops "
            "more than ten times. "
        )

    def _all_counted(self, probe: Mapping[str, Any]) -> bool:
        """Whether this is the line probe, and it counted every line, at a cost that is not known to be small."""
        if probe["name"] != "lines" or probe["state"] != ProbeState.ON or probe["thinned"] is not None:
            return False
        return probe["tax_ns"] is None or probe["tax_ns"] > _SMALL_TAX * (self._run.wall_ns or 0)

    def _is_sampled_only(self, line: SourceLine) -> bool:
        """Whether a line ran only where lines are not counted."""
        ways = [row["how"] for row in self._run.rows("lines") if (row["file"], row["line"]) == line]
        return bool(ways) and all(how == LineSource.SAMPLED for how in ways)

    def source(self, file: str, line: int) -> str:
        """Text of a line of the user's code; empty where no copy of the file was kept."""
        lines = self.lines(file)
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def lines(self, file: str) -> list[str]:
        """Text of a file of the user's code; empty where no copy of it was kept."""
        if file not in self._sources:
            self._sources[file] = self._run.folder.source_lines(file)
        return self._sources[file]

    def defines(self, function: str, line: SourceLine) -> bool:
        """Whether the user's own code makes functions of that name: with `def`, or as a lambda in that very line."""
        if function == LAMBDA:
            texts = (text for file in self.user_files for text in self.lines(file))
            return "lambda" in self.source(*line) or any(_COMPILED_LAMBDA.search(text) for text in texts)
        return function in self.defined

    @cached_property
    def defined(self) -> frozenset[str]:
        """Names of the functions that the user's own code makes with `def`."""
        found = (_DEF.match(text) for file in self.user_files for text in self.lines(file))
        return frozenset(match.group(1) for match in found if match is not None)

    def line_with(self, *words: str) -> SourceLine | None:
        """The first line of the user's code that ran and has one of these words: the call that set something."""
        return self._first(lambda text: any(word in text for word in words))

    def written(self, pattern: str) -> SourceLine | None:
        """The first line of the user's files that holds something of that regular expression, seen or not.

        What an engine runs once to make a graph of it is not counted.
        """
        return next(self.places(pattern), None)

    def places(self, pattern: str) -> Iterator[SourceLine]:
        """All such lines, in order."""
        for file in sorted(self.user_files):
            yield from ((file, number) for number, text in self._numbered(file) if re.search(pattern, text))

    def _numbered(self, file: str) -> Iterable[tuple[int, str]]:
        return enumerate(self.lines(file), 1)

    def line_like(self, pattern: str) -> SourceLine | None:
        """The first line of the user's code that ran, defines nothing, and holds something of a regular expression."""
        return self._first(lambda text: bool(pattern and re.search(pattern, text)) and not _DEFINES.match(text))

    def _first(self, is_it: Callable[[str], bool]) -> SourceLine | None:
        """The first line that ran and is it; else the first that may have run, as no window met it."""
        rows = [row for row in self._run.rows("lines") if row["source"] and is_it(row["source"])]
        ran = [row for row in rows if row["hits"] or row["samples"]]
        may_have = ran or [row for row in rows if row["hits"] is None]
        return min(((row["file"], row["line"]) for row in may_have), default=None)


def _time(inside: Iterable[Sample]) -> int:
    return sum(sample.dur_ns for sample in inside)


def _is_in(sample: Sample, paths: Sequence[TreePath]) -> bool:
    return any(path.holds(sample.phase) for path in paths)
