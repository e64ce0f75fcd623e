"""The training waits for its next batch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from dlprof.analysis import input_graphs, steps
from dlprof.analysis.findings import (
    cut_windows,
    drawn_rows,
    dropped_elements,
    fed_evaluations,
    file_work,
    input_waits,
    item_work,
    lost_items,
    one_hot_targets,
    own_evaluations,
    queries,
    received_batches,
    small_calls,
    standing,
    unfilled_caches,
    worker_contention,
)
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.dropped_elements import DroppedElements
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.input_load import InputLoad
from dlprof.analysis.findings.own_evaluations import Doing
from dlprof.analysis.findings.title import Title
from dlprof.analysis.findings.unfilled_caches import UnfilledCache
from dlprof.analysis.input_graphs import GraphStage
from dlprof.analysis.training import OpenedOnce
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Ground, InputStage, Phase
from dlprof.units import duration, times

TITLE = Title("The training waited for its input", "waiting for the input")
_OF_PROGRAM = Title("The program waited for its input", "waiting for the input")
"""A foreign trace does not always tell whether what it shows is a training."""
_OPENED = Title("An iterator was made anew for each batch", "making an iterator anew for each batch")
_MOST_STEPS = 0.5
"""Share of the steps from which on such iterators are how the loop gets its batches."""
_BETWEEN = 0.15
_RESTING = 0.25
"""Workers that rest no more than that are busy."""
_HARDLY_SEEN = 0.5
"""What was looked at where workers were hardly sampled: whether they worked, or waited for work themselves, is open."""
_MOSTLY_READS = 0.6
"""Share of the work on batches that reads files, from which on it is the way in which they are read."""
_MOSTLY_RESTS = 0.6
"""Share of the loop in which nothing works, from which on who makes its batches waits for something itself."""
_CHILDREN = 0.5
"""Cores that other processes of the program use, from which on these may make the batches."""
_MOSTLY_RECEIVES = 0.8
"""Share of the time in which it asks for batches, from which on they were made before it asked."""
_MANY_ELEMENTS, _SHORT_CALL_NS = 16, 200_000
"""A function that takes less for one of so many is mostly called: for all of them at once it takes little more."""
_GENERATOR = "Generator"
"""Stage of tf.data that asks a generator of Python."""
_WAITS = Query(
    "wait before each step, and the step itself",
    "SELECT loop, count(*) AS steps, median(input_ns) AS input_median_ns, sum(input_ns) AS input_ns, "
    "sum(dur_ns) AS step_ns FROM steps GROUP BY loop",
)
_STAGES = Query(
    "stages of the input in kernel windows",
    "SELECT name, dataset, element_count, own_ns, function_ns, asynchronous, parallelism, buffered_count, file, line, "
    'function FROM input_stages ORDER BY "window", pipeline, stage',
)


@dataclass(frozen=True)
class _Slowest:
    """A stage, and how many batches there were.

    Attributes:
        stage: The stage.
        batches: The batches.
        kept: The stage before it that keeps what it reads; None: none does.
        dropped: What is said of the elements of it that a stage behind it drops; None: none does.
        never_full: The stage behind it that keeps what it makes, and nothing for the next epoch; None: none does.
        cuts_windows: Whether it makes a data set of each window.
        batch_size: Of the batches that are made of its elements; None: it makes them itself, or that is not told.
    """

    stage: GraphStage
    batches: int
    kept: GraphStage | None
    dropped: DroppedElements | None = None
    never_full: UnfilledCache | None = None
    cuts_windows: bool = False
    batch_size: int | None = None

    @property
    def place(self) -> SourceLine | None:
        """The user's line that made it; None: not known."""
        return (self.stage.file, self.stage.line) if self.stage.file and self.stage.line else None


def look(case: Case) -> Iterator[Claim]:
    """Time between batches, waits inside the step, and what the script does between its own calls of a step."""
    if any(small_calls.fits(case)):  # what each of very many calls of fit sets up is no wait for a batch
        return
    yield from own_evaluations.claims(case, Doing.INPUT)
    yield from fed_evaluations.claims(case)
    load = _load(case)
    yield from received_batches.claims(case, load)
    yield from drawn_rows.claims(case)
    yield from worker_contention.claims(case)
    starting = load.starting_share() if load is not None else 0.0
    made, drawn = (1 - received_batches.share(load)) * _for_work(load) * (1 - starting), drawn_rows.takes(case)
    takes = {
        leaf: int((ns - drawn.get(leaf, 0)) * (made if leaf in input_waits.MEASURED else 1.0))
        for leaf, ns in case.input_waits.items()
    }
    between = _between_own_steps(case)
    if not sum(takes.values()) and not between:
        input_waits.need_told(case)
        return
    takes.update(between)
    opened = _opened_each_time(case)
    yield _of_waits(case, load, takes) if opened is None else _of_opened(case, opened, takes)


def _of_waits(case: Case, load: InputLoad | None, takes: Mapping[TreePath, int]) -> Claim:
    """The claim where batches are waited for: what makes them, at which line, and how that is done in less time."""
    slowest = _slowest(case) if load is None else None
    mapped = _written_map(case) if load is None and slowest is None else None
    lost = lost_items.line(case)
    needless = lost_items.LOST if lost else item_work.of_rows(case)
    line = lost or _line(case, load, slowest, mapped, between=Tree.SCRIPT in takes)
    if needless is not None and lost is None:
        line = case.input.item_line or line
    if needless in (item_work.ROWS, item_work.LONG_ROWS):
        takes = {**takes, **{leaf: ns + takes.get(leaf, 0) for leaf, ns in item_work.queued(case).items()}}
    targets = one_hot_targets.said(case) if one_hot_targets.are_made_at(case, line) else None
    manner = _manner(case, load, slowest)
    batch = case.training.batch_size if case.training else None
    what = f". {needless.what} at line {line[1]}" if needless and line else ""
    of_batch = f" of {batch}" if batch else ""
    trains = case.own(Tree.FIT_STEPS) > 0 or not input_waits.is_of_trace(case)
    return Claim(
        Sentence(f"The {'training' if trains else 'program'} waits for its batches{of_batch}{what}:"),
        takes,
        [_WAITS, queries.python_stood(Phase.FIT_INPUT, Phase.FIT_STEPS), *([_STAGES] if slowest else [])],
        f"{case.code.counting_note(line)}{_of_workers(load) if load else ''}{_of_elements(slowest) if slowest else ''}"
        f"{_of_stage(slowest) if slowest else ''}{_of_beginnings(case) if load is None else ''}"
        f"{f'{targets} ' if targets else ''}{needless.advice if needless else _ADVICE[manner]}",
        line,
        title=needless.title if needless else None if trains else _OF_PROGRAM,
        support=_support(
            case,
            takes,
            Ground.REPEATED if needless else Ground.MODEL if manner is _Manner.HANDED_OVER else Ground.PLACE,
            covered=1.0 if load is None or load.is_seen else _HARDLY_SEEN,
        ),
        fix=needless.fix
        if needless
        else one_hot_targets.FIX
        if targets and manner is not _Manner.HANDED_OVER
        else _FIXES.get(manner) or _behind(slowest) or _one_by_one(slowest) or _in_batches(case, mapped),
        other_way=_WORKERS if _computes(case) else None,
    )


def _line(
    case: Case, load: InputLoad | None, slowest: _Slowest | None, mapped: SourceLine | None, *, between: bool
) -> SourceLine | None:
    """The line to blame: where batches are made; `between`: the script itself does it between its own steps."""
    line = _made_at(case, load)
    if line is not None and not case.code.ran_once(line):
        return line
    waits = case.code.hottest_line([Tree.SCRIPT] if between else [Tree.FIT_INPUT])
    return (slowest.place if slowest else None) or _loader_line(case) or waits or mapped or line


def _made_at(case: Case, load: InputLoad | None) -> SourceLine | None:
    """The line at which batches are seen to be made: by the workers of a loader, else by whatever thread."""
    of_workers = load.item_line if load else None
    return of_workers or case.code.hottest_line([Tree.FIT_INPUT, Tree.FIT_STEPS], case.code.feeds, main=None)


def _opened_each_time(case: Case) -> OpenedOnce | None:
    """Loaders that were opened for one batch each; None: too few for that to be how the loop gets its batches."""
    opened = case.training.opened_once if case.training else None
    steps_made = case.loop.count if case.loop else 0
    return opened if opened is not None and opened.count >= max(2, _MOST_STEPS * steps_made) else None


def _of_opened(case: Case, opened: OpenedOnce, takes: Mapping[TreePath, int]) -> Claim:
    """The claim where an iterator is made for each batch: what it reads ahead for the next ones is thrown away."""
    file = case.training.file if case.training else None
    place = (file, opened.line) if file and opened.line else None
    text = case.code.source(*place).strip() if place else ""
    return Claim(
        Sentence(f"The training waits for its batches, and made an iterator for one batch {opened.count} times:"),
        takes,
        [_WAITS],
        "Make the iterator once, before the loop, and ask it for each batch: a new one shuffles, fills its buffers and "
        "starts its workers again, and what it read ahead is lost.",
        place or case.training_line,
        title=_OPENED,
        support=_support(case, takes, Ground.REPEATED),
        fix=f"before the loop: `batches = iter(...)`; in the place of `{text}`: `next(batches)`" if text else None,
    )


_WORKERS = "too-few-workers"
_MAP = ".map("
_BATCHES = r"\.(padded_)?batch\("
_DATA_SETS = r"\b\w*Dataset\b|tf\.data\b"
_LOOP = (Tree.FIT_INPUT, Tree.FIT_STEPS, Tree.FIT_WAIT, Tree.FIT_CALLBACKS)


class _Manner(Enum):
    """How batches come to the training, which decides what is to be done."""

    HANDED_OVER = auto()
    """They are ready: they have only to be received from the workers."""
    READING = auto()
    """They are mostly read from files."""
    CHUNKS = auto()
    """The same, from HDF5 archives."""
    RESTING = auto()
    """Another thread makes them, and waits for something itself."""
    BESIDE = auto()
    """Another thread makes them."""
    OTHER = auto()


_ADVICE = {
    _Manner.OTHER: "Prepare batches beside the training, once before it, or with operations on whole arrays.",
    _Manner.HANDED_OVER: "They were mostly there when they were asked for: what takes the time is to receive them from "
    "the workers. Where items are cheap to make, make them without workers (num_workers=0), or join them into larger "
    "batches.",
    _Manner.READING: "Open each file once, and keep it, or what was unpacked of it, in the data set; read only the "
    "rows that are used, and take those of one file one after the other.",
    _Manner.CHUNKS: file_work.OF_CHUNKS,
    _Manner.RESTING: "They are prepared on another thread, but hardly any thread of the process works while the "
    "training waits: that one waits, too. For a pause or a lock: hand batches over by a queue.Queue, whose get() "
    "returns as soon as one is there, and hold no lock while sleeping. For a disk or the network: have several threads "
    "wait at a time.",
    _Manner.BESIDE: "They are prepared beside the training already, on another thread, and take longer than a step: "
    "prepare them once before it, with operations on whole arrays, or in processes (Python's threads take turns).",
}
_FIXES = {
    _Manner.HANDED_OVER: "num_workers=0, where items are cheap to make",
    _Manner.READING: "functools.lru_cache on what reads a file, and a sampler that takes the rows of a file together",
    _Manner.CHUNKS: file_work.CHUNKS,
    _Manner.RESTING: "queue.Queue(maxsize=N): the thread puts each batch into it, and the loop takes it with get()",
}


def _manner(case: Case, load: InputLoad | None, slowest: _Slowest | None) -> _Manner:
    if _is_only_handed_over(load):
        return _Manner.HANDED_OVER
    if load is not None and load.stages.get(InputStage.READING, 0.0) >= _MOSTLY_READS:
        made = load.item_line
        return _Manner.CHUNKS if made is not None and file_work.is_of_hdf5(case, made[0]) else _Manner.READING
    if not _is_beside(case, load):
        return _Manner.OTHER
    return _Manner.RESTING if slowest is None and _rests(case) else _Manner.BESIDE


def _rests(case: Case) -> bool:
    """Whether no thread of the process, and no other process of the program, works for most of the loop.

    Threads of the engine's own pipelines come and go, and what they did is not known: of those it is not asked.
    """
    stood = standing.of_phases(case, _LOOP)
    return stood is not None and stood.others < _CHILDREN and stood.share >= _MOSTLY_RESTS


def _is_only_handed_over(load: InputLoad | None) -> bool:
    """Whether the training is seen to receive batches, not to wait for them, and no more slowly than is usual."""
    return not received_batches.share(load) and received_batches.seen(load) >= _MOSTLY_RECEIVES


def _is_beside(case: Case, load: InputLoad | None) -> bool:
    """Whether only other threads of the process were seen to make batches."""
    paths = [Tree.FIT_INPUT, Tree.FIT_STEPS]
    if load is not None or case.code.hottest_line(paths, case.code.feeds) is not None:
        return False
    return case.code.hottest_line(paths, case.code.feeds, main=False) is not None


def _support(case: Case, takes: Mapping[TreePath, int], ground: Ground, covered: float = 1.0) -> Support:
    """Waits are measured; samples tell whether anything made batches meanwhile, or next to nothing was waited for.

    Of batches that were only handed over, that would be saved as far as the training could make them in less time.
    """
    part = sum(takes.values()) / max(1, input_waits.loop_ns(case) + takes.get(Tree.SCRIPT, 0))
    seen, agree = input_waits.seen(case), 0.5 if ground is Ground.MODEL else 1.0
    return Support(ground, seen=seen, agree=agree, part=part, usual=input_waits.USUAL, covered=covered)


def _between_own_steps(case: Case) -> dict[TreePath, int]:
    """Time of the script between its calls of `train_on_batch`, but for what the engine computes beside it."""
    gaps, in_steps = steps.own_loop(case.run)
    total = min(gaps - case.tree.beside_script_ns, case.own(Tree.SCRIPT))
    if total <= 0 or total < _BETWEEN * (total + in_steps):
        return {}
    return {Tree.SCRIPT: min(total, case.time(Tree.SCRIPT))}


def _for_work(load: InputLoad | None) -> float:
    """Share of the waits that is for work on batches: workers that rest have none, and another cause is to blame."""
    if load is None:
        return 1.0
    try:
        resting = load.resting_share()
    except Abstain:
        return 1.0
    return 1.0 if resting < _RESTING else 1 - resting


def _load(case: Case) -> InputLoad | None:
    """The loader with workers that feeds the training; None: there is none, or it was not seen."""
    load = _seen(case)
    return load if load is not None and load.loader.workers else None


def _seen(case: Case) -> InputLoad | None:
    """The loader that feeds the training, with workers or without; None: none was seen."""
    try:
        return case.input
    except Abstain:
        return None


def _computes(case: Case) -> bool:
    """Whether batches are known to be work that computes: workers share it out as far as there are cores."""
    try:
        return case.input.computes
    except Abstain:  # no loader was seen, or its workers were hardly sampled
        return False


def _slowest(case: Case) -> _Slowest | None:
    """The slowest stage of the pipeline that the engine runs for the training; None: none was traced, or of a pair."""
    if case.pair:
        return None
    graph = input_graphs.of_training(case.run)
    stage = graph.slowest_stage if graph is not None else None
    if graph is None or stage is None:
        return None
    return _Slowest(
        stage,
        graph.batches,
        graph.kept_before,
        dropped_elements.of_training(graph),
        unfilled_caches.behind_slowest(case, graph),
        cut_windows.are_cut(case, stage),
        graph.batch_behind,
    )


def _of_elements(slowest: _Slowest) -> str:
    """What to do where Python is called for each element of a batch, and does little each time."""
    stage, (each, ns) = slowest.stage, _each_call(slowest)
    if not ns:
        return ""
    if stage.function is None:
        return (
            f"The generator is asked for each of the {each} elements of a batch, {duration(ns)} each, a way into "
            "Python and back every time: have it yield whole batches. "
        )
    called = f"{stage.function} is called for each of {each} elements of a batch, {duration(ns)} each"
    if slowest.cuts_windows:
        return f"{called}, {cut_windows.SAID}"
    return f"{called}: put .batch(...) in front of .map(...), and have it take whole batches. "


def _each_call(slowest: _Slowest) -> tuple[int, float]:
    """Elements of a batch that a function, or a generator, is asked for one by one, and what a call takes (ns).

    0 ns: it is not, or it has enough to do in each call.
    """
    stage = slowest.stage
    each = stage.batch_size or slowest.batch_size or stage.elements // slowest.batches
    if not (stage.function or stage.name == _GENERATOR) or not stage.work_ns or each < _MANY_ELEMENTS:
        return each, 0.0
    if cut_windows.makes_data_sets(stage) and not slowest.cuts_windows:
        return each, 0.0
    asked = stage.elements if slowest.batch_size and not stage.batch_size else 0
    ns = stage.work_ns / (asked or each * slowest.batches)
    return each, ns if ns <= _SHORT_CALL_NS else 0.0


def _one_by_one(slowest: _Slowest | None) -> str | None:
    """The change where elements are given one by one, by a generator or windows; None: each has enough to do."""
    if slowest is None or not _each_call(slowest)[1]:
        return None
    if slowest.cuts_windows:
        return cut_windows.FIX
    if slowest.stage.function is not None:
        return None
    return (
        "yield rows[i:i + N] in the generator, with a first axis of None in its signature, and no .batch(N) behind it"
    )


def _of_stage(slowest: _Slowest) -> str:
    """What that stage is, and what it takes for a batch."""
    stage = slowest.stage
    calls = f", which calls {stage.function}" if stage.function else ""
    made = f", made at {stage.file}:{stage.line}" if stage.file else ""
    threads = f" with {stage.parallelism} at a time" if stage.waiting_ns is not None and stage.parallelism else ""
    took = duration((stage.limit_ns or 0) / slowest.batches)
    kept = (
        f"The cache at line {slowest.kept.line} keeps what goes into it: behind it, it would keep what comes out. "
        if slowest.kept
        else ""
    )
    dropped = slowest.dropped.said if slowest.dropped else ""
    if slowest.never_full:
        kept += slowest.never_full.said
    return (
        f"In a kernel window its slowest stage was {stage.name}{calls}{made}: {took} for a batch{threads}. "
        f"{kept}{dropped}"
    )


def _of_beginnings(case: Case) -> str:
    """What the first batch of an epoch takes, where that is long: a window of steady steps does not show it."""
    found = input_waits.beginnings(case)
    if found is None:
        return ""
    return (
        f"The first step of an epoch takes {duration(found.each_ns)} more than the others ({times(found.count)}): what "
        "stands before the first batch is done anew in each epoch, such as mapping what .skip(...) then drops, or what "
        "fills a shuffle buffer. Put .skip and .shuffle in front of .map, or .cache() behind it. "
    )


def _behind(slowest: _Slowest | None) -> str | None:
    """The change where what the slowest stage makes is dropped, or what goes into it is kept, and not what it makes."""
    if slowest is None:
        return None
    if slowest.dropped is not None:
        return slowest.dropped.fix
    which = dropped_elements.named(slowest.stage)
    if slowest.never_full is not None:
        return slowest.never_full.fix
    if slowest.kept is None:
        return None
    return (
        f".cache() behind {which}, not in front of it (line {slowest.kept.line}), and .shuffle(...) behind the "
        "cache; only where it makes the same of an element in each epoch, and all of that fits into memory"
    )


def _written_map(case: Case) -> SourceLine | None:
    """Where the source maps a data set of TensorFlow, whose stages were not traced; None: nowhere, or nobody knows.

    The file makes data sets, and no other line of it calls a `map`.
    """
    if case.backend != "tensorflow" or case.pair:
        return None
    found = list(case.code.places(re.escape(_MAP)))
    return found[0] if len(found) == 1 and re.search(_DATA_SETS, "\n".join(case.code.lines(found[0][0]))) else None


def _in_batches(case: Case, mapped: SourceLine | None) -> str | None:
    """The change where what is mapped are rows, for all that the source tells: it makes batches behind that alone."""
    if mapped is None:
        return None
    text = "\n".join(case.code.lines(mapped[0]))
    made = re.search(_BATCHES, text)
    if made is None or made.start() < text.index(_MAP):
        return None
    return (
        f".batch(...) in front of .map(...) at line {mapped[1]}, whose function then takes whole batches "
        "(parse_example for parse_single_example); else .map(..., num_parallel_calls=N)"
    )


def _loader_line(case: Case) -> SourceLine | None:
    """The line that made the loader which feeds the training; None: none was seen."""
    load = _seen(case)
    return load.loader.place if load is not None else None


def _of_workers(load: InputLoad) -> str:
    """What its workers did, where that is known."""
    what = load.stages_text()
    return f"The workers of the {load.loader.called} spend their time on: {what}. " if what else ""
