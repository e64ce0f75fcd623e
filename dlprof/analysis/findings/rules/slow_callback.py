"""Callbacks take a good part of the training."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from dlprof.analysis.findings import growing_lengths, growth, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.growth import Growth
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample, measures_waits
from dlprof.analysis.stacks import Frame
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, Phase
from dlprof.units import duration

TITLE = Title("Callbacks held the training up", "callbacks")
_SHARE_OF_FIT = 0.05
_CALLBACK = "callbacks"
_PLAIN = ("callback_list.py", "callback.py", "history.py", "callbacks/__init__.py")
"""Files of Keras that run in every fit; the others are callbacks that were given."""
_PLAIN_CLASSES = ("CallbackList.", "BaseLogger.", "History.")
"""The same of Keras 2, which has all callbacks in one file: at each batch these time themselves, and keep sums."""
_BY_EPOCH = Query(
    "callbacks by epoch",
    "SELECT loop, epoch + 1 AS epoch, count(*) AS steps, sum(callbacks_ns) AS callbacks_ns, sum(dur_ns) AS steps_ns "
    "FROM steps GROUP BY ALL ORDER BY callbacks_ns DESC NULLS LAST LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """All that callbacks take and no other rule explains better."""
    total = _time(case) - growing_lengths.told_of(case)[Tree.FIT_CALLBACKS]
    if total < _SHARE_OF_FIT * max(1, case.own(Tree.FIT)):
        return
    line = case.code.hottest_line([Tree.FIT_CALLBACKS], case.code.is_called_back)
    function = _function(case, line)
    weights = 2 * case.code.share([Tree.FIT_CALLBACKS], _copies_weights) > _not_of_every_fit(case)
    grown = None if case.pair else growth.in_callbacks(case)
    yield Claim(
        Sentence(
            f"Callbacks{f', most of all {function},' if function else ''} hold the training up"
            f"{f', and take longer each time{_grew(grown)}' if grown else ''}:"
        ),
        case.takes(Tree.FIT_CALLBACKS, share=total / max(1, case.own(Tree.FIT_CALLBACKS))),
        [_BY_EPOCH, queries.python_stood(Phase.FIT_CALLBACKS, Phase.FIT_STEPS, where="s.thread = 'MainThread'")],
        f"{case.code.counting_note(line)}{_OF_WEIGHTS if weights else _OF_GROWTH if grown else _less_often(case)}",
        line,
        support=Support(Ground.REPEATED, seen=grown.count, agree=max(0.0, grown.rank))
        if grown
        else Support(
            Ground.PLACE, agree=_not_of_every_fit(case), part=total / max(1, case.own(Tree.FIT)), usual=_SHARE_OF_FIT
        ),
        fix="kernel_constraint=... of the layer, or variable.assign(...), in place of set_weights" if weights else None,
    )


_OF_GROWTH = (
    "See what the callback goes through again at each batch: lists or files that grow. Keep sums in place of values, "
    "or do that work once an epoch."
)
_LESS_OFTEN = "Do that work once an epoch instead of at each batch, on fewer values, or on another thread."
_OF_EPOCHS = (
    "It is done at the beginning or the end of epochs: do it every few epochs or once, behind the training, on fewer "
    "values, or on another thread."
)
_OF_TRAINING = (
    "It is done once in a training, as it begins or ends: do less of it, on fewer values, or on another thread."
)
_HOOKS = re.compile(
    r"(?:^|\.)on_(?:(?P<training>train_(?:begin|end))|(?P<epoch>epoch_(?:begin|end))|\w*batch_(?:begin|end))$"
)
"""What Keras calls of a callback, by how often."""
_OF_WEIGHTS = (
    "get_weights and set_weights copy weights to the host and back: change them where they are, by a constraint of the "
    "layer (part of the compiled step) or by variable.assign() with operations of the engine; or do it once an epoch."
)
_COPIES = frozenset({"get_weights", "set_weights", "batch_set_value", "batch_get_value"})
"""Methods of Keras that bring weights to the host, or set them from there."""


def _less_often(case: Case) -> str:
    """What to do, by how often what takes most of the callbacks' time is called; where that is not seen, per batch."""
    stood: Counter[str] = Counter()
    for sample in case.code.samples:
        if sample.main and Tree.FIT_CALLBACKS.holds(sample.phase):
            stood[_rhythm(sample)] += sample.dur_ns
    most = max(stood, key=lambda rhythm: stood[rhythm], default="")
    return {_EPOCH: _OF_EPOCHS, _TRAINING: _OF_TRAINING}.get(most, _LESS_OFTEN)


_EPOCH, _TRAINING = "epoch", "training"


def _rhythm(sample: Sample) -> str:
    """`training`, `epoch`, or empty: at each batch, or not known; by the outermost method that Keras calls."""
    for frame in reversed(sample.frames):
        called = _HOOKS.search(frame.function)
        if called is not None:
            return next((name for name in (_EPOCH, _TRAINING) if called[name]), "")
    return ""


def _grew(grown: Growth) -> str:
    whose = "they" if grown.of_callbacks else "steps of equal work, with them,"
    return (
        f" ({whose} grow from {duration(grown.first_ns)} to {duration(grown.last_ns)} each, medians of the first and "
        f"the last fifth of {grown.count:,})"
    )


def _copies_weights(sample: Sample) -> bool:
    return any(frame.name in _COPIES for frame in sample.frames)


def _time(case: Case) -> int:
    """Time of callbacks that is their own (ns)."""
    total = int(case.own(Tree.FIT_CALLBACKS) * _not_of_every_fit(case))
    if not case.asynchronous or measures_waits(case.run) or not case.code.samples:
        return total
    # Where waits are not told apart, Keras' own callbacks wait for the device: no fault of theirs.
    users = case.code.share([Tree.FIT_CALLBACKS], case.code.is_called_back)
    return min(total, int(users * case.phases.host(Phase.FIT_CALLBACKS)))


def _not_of_every_fit(case: Case) -> float:
    """Share of the callbacks that is not what Keras does in each fit, with no callback given; 1: not sampled."""
    sampled = case.code.share([Tree.FIT_CALLBACKS], lambda _sample: True)
    return case.code.share([Tree.FIT_CALLBACKS], lambda sample: _is_given(case, sample)) if sampled else 1.0


def _is_given(case: Case, sample: Sample) -> bool:
    """Whether a callback runs that the user gave, of the user's own or of a library."""
    if case.code.is_called_back(sample):
        return True
    return any(_CALLBACK in frame.file and not _is_plain(frame) for frame in sample.frames)


def _is_plain(frame: Frame) -> bool:
    return frame.file.endswith(_PLAIN) or frame.function.startswith(_PLAIN_CLASSES)


def _function(case: Case, line: SourceLine | None) -> str | None:
    """The function that a line is in, as the samples have it."""
    frames = (frame for sample in case.code.samples for frame in sample.frames)
    return next((f"{frame.function} in {frame.file}" for frame in frames if (frame.file, frame.line) == line), None)
