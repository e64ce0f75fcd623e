"""What a line of the script does beside the training, by the libraries on its stacks: draws, logs, saves, converts.

What libraries written in C do leaves no frame; there the text of the line tells, and only what to do about it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dlprof.analysis import source_calls, source_loops
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import SourceLine
from dlprof.analysis.findings.sampled_code import Chosen
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import TreePath
from dlprof.units import duration


@dataclass(frozen=True)
class Chore:
    """Something that a loop does besides its steps.

    Attributes:
        what: What happens, as the beginning of a sentence.
        title: What a finding is called.
        advice: What to do.
        fix: The API; None: there is none to name.
        once: What to do where it ran only once; None: the same.
    """

    what: str
    title: Title
    advice: str
    fix: str | None = None
    once: str | None = None

    def advised(self, case: Case, line: SourceLine) -> str:
        """What to do about it at a line."""
        return self.once if self.once is not None and case.code.runs_once(line) else self.advice


_LESS_OFTEN = "Do it once an epoch or every so many steps, or after the training, from values that were kept."
_BY_FILES: tuple[tuple[tuple[str, ...], Chore], ...] = (
    (
        ("<python>/_strptime", "dateutil/"),
        Chore(
            "Dates are parsed one by one",
            Title("Dates were parsed one by one", "parsing dates one by one"),
            "Parse the whole column at once, and keep what comes out: strptime goes through its format for each text; "
            "for 100,000 timestamps it took 90 times as long as np.array(texts, dtype='datetime64[s]'), of ISO "
            "format (of others pandas.to_datetime(texts, format=...)), and 34 times as long as datetime.fromisoformat.",
            "np.array(texts, dtype='datetime64[s]') in the place of strptime for each",
        ),
    ),
    (
        ("matplotlib/", "plotly/", "seaborn/", "mpl_toolkits/"),
        Chore("Figures are drawn", Title("The loop drew figures", "drawing figures in the loop"), _LESS_OFTEN),
    ),
    (
        ("torch/utils/tensorboard", "tensorboard/", "tensorboardX/", "tensorflow/python/summary", "wandb/", "mlflow/",
         "<python>/logging/", "tqdm/", "rich/"),
        Chore("Logs are written", Title("The loop wrote logs", "writing logs in the loop"), _LESS_OFTEN),
    ),
    (
        ("torch/serialization", "<python>/pickle.py", "<python>/zipfile", "<python>/gzip", "h5py/", "joblib/",
         "numpy/lib/npyio", "numpy/lib/_npyio", "keras/src/saving", "<python>/json/"),
        Chore(
            "Data are packed, saved or loaded",
            Title("The loop packed, saved or loaded data", "packing data in the loop"),
            "Load it once, before the loop, and save less often: once an epoch, or every so many steps.",
            once="Keep what it reads, or makes, in a file that loads as it is (np.save, Parquet): to parse text, or to "
            "unpack, takes many times as long. A parser in C (pandas, PyArrow) is faster, too.",
        ),
    ),
    (
        ("sklearn/", "scipy/", "pandas/", "statsmodels/", "nltk/", "torchmetrics/"),
        Chore(
            "Scores and tables are computed by a library on the host",
            Title("The loop computed scores on the host", "computing scores on the host"),
            "Compute them once an epoch from kept outputs, or with operations of the engine.",
        ),
    ),
    (
        ("PIL/", "imageio/", "skimage/", "torchvision/transforms", "albumentations/", "librosa/", "soundfile"),
        Chore(
            "Images or sounds are decoded and changed",
            Title("The loop prepared images or sounds one by one", "preparing images or sounds in the loop"),
            "Prepare them once and keep the arrays, or beside the training (a loader with workers).",
        ),
    ),
)  # fmt: skip
_CONVERTS = re.compile(
    r"torch\.(tensor|as_tensor|FloatTensor|LongTensor|Tensor|stack)\(|\b(nd|np|jnp|numpy)\.(array|asarray|v?stack)\(|"
    r"convert_to_tensor\(|tf\.constant\("
)
_KEEPS = ("add", "append", "extend", "put")
"""Methods that only keep what they are given."""
_CONVERSION = Chore(
    "Data are converted to tensors",
    Title("Data were converted in each step", "converting data in each step"),
    "Convert all data once, before the loop, and take batches of the tensor; make one array of a list of arrays first "
    "(np.stack), which is far faster than to convert them one by one.",
)
_OF_NUMPY = re.compile(r"\b(np|numpy)\.(array|asarray)\(")
_GIVEN = re.compile(r"\b(?:np|numpy)\.(?:array|asarray)\(\s*(?:list\(\s*)?(?:\w+\.)*(?P<name>\w+)\s*[,)\[]")
"""The name of what such an array is made of."""
_OF_ENGINE = re.compile(r"torch\.|tf\.|\bnd\.|\bjnp\.|\bmx\.|convert_to_tensor\(")
_OF_NUMBERS = Chore(
    "An array of NumPy is made of a list or another sequence each time",
    Title("An array was made of a sequence each time", "making arrays of sequences"),
    "NumPy goes through a list or a deque number by number, each time: keep the values in an array from the beginning, "
    "of the size that they may reach, and write each one into its place.",
    "kept = np.empty(capacity), kept[i % capacity] = value in the place of append(value)",
)
_BY_ENGINE = {
    "torch": "torch.from_numpy(np.stack(rows)) in place of torch.tensor(rows)",
    "mxnet": "one array: data = mx.nd.array(np.stack(rows)), made once, and batches by data.take(indices)",
    "tensorflow": "tf.constant(np.stack(rows)), once",
    "jax": "data = np.stack(rows), once, and step(params, data[indices]): a compiled function takes arrays of NumPy",
}
"""How each makes one array of many."""
_IN_COMPILED = (
    "Make one array of NumPy of all rows, once, before the loop, and give its batches to the compiled function as they "
    "are, or put all data on the device and index inside of that function: outside of it, to index an array of JAX "
    "costs more than to convert a batch."
)

_WEIGHTS = re.compile(
    r"\bfor\b.*\b((named_)?parameters|collect_params|trainable_(variables|weights))\b|\w\.grad\b(?!\s*=\s*None)"
)
_OF_WEIGHTS = Chore(
    "The weights are gone through one by one",
    Title("Python went through the weights one by one", "going through the weights one by one"),
    "Each weight starts operations of its own, however small it is: take all of them in one call, and ask for a value "
    "once a step at most.",
)
_FOR_WEIGHTS = {
    "torch": "torch._foreach_mul_(averages, decay) and torch._foreach_add_(averages, weights, alpha=1 - decay) take "
    "lists; so do AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay)) of torch.optim.swa_utils, and "
    "torch.nn.utils.clip_grad_norm_(weights, limit)",
    "tensorflow": "in the @tf.function of the step; norms by tf.clip_by_global_norm(gradients, limit), averages by the "
    "optimizer (use_ema=True)",
    "jax": "jax.tree.map(f, averages, weights) inside of the jitted step",
    "mxnet": "mx.gluon.utils.clip_global_norm(gradients, limit), and the optimizer of a Trainer, take all of them",
}
"""What takes all weights at once."""

_LONG_NS = 2_000_000
"""In each step: so long no line takes that does little, and runs once or a few times."""
_DRAWN = (
    "np.random.default_rng().choice(n, k, replace=False) draws k of n without putting all of them in order; "
    "integers(n, size=k), which may draw one twice, is leaner still"
)
_JOINED = (
    "gather the parts in a list and join them once, behind the loop, or fill an array that is large enough: each of "
    "these calls copies all that was there"
)
_GROWS = re.compile(
    r"^\s*(?P<whole>[\w.]+)\s*=\s*(?:\w+\.)*(?:cat|concat|concatenate|append|[vh]stack)\(\s*[\[(]?\s*(?P=whole)\s*,"
)
_GROWN = Chore(
    "An array is made anew for each part that is put behind it",
    Title("An array grew by copying all of it each time", "growing an array by copies"),
    "Each of these calls copies all that was there, so that it takes longer and longer: gather the parts in a list and "
    "join them once, behind the loop, or fill an array that is large enough.",
    "parts.append(x) in the loop, and one call that joins the list behind it",
)
_DRAWS = re.compile(
    r"\b(rng|rs|gen|generator|random|random_state)\.((random|random_sample|rand|randn|standard_normal)\(\s*\)"
    r"|(randint|integers|randrange|uniform|normal|gauss)\(\s*([^(),=]+(,\s*[^(),=]+)?)?\))"
)
"""Calls that give one number: with no size, neither by name nor as a third argument."""
_DRAWN_ONE_BY_ONE = Chore(
    "Random numbers are drawn one by one",
    Title("Random numbers were drawn one by one", "drawing random numbers one by one"),
    "Draw as many as the loop needs in one call, and see on whole arrays which of them to draw again: 200,000 numbers "
    "took NumPy 380 times as long in as many calls as in one. Membership of many: np.isin(keys, known) with one number "
    "for each pair (row * columns + column), not a look-up for each in a dict or a sparse matrix.",
    "rng.integers(n, size=(rows, k)), once, in the place of a call for each",
)
_FLUSHES = re.compile(r"\bf(data)?sync\(")
FLUSHED = Chore(
    "A file is brought to the disk, and that is waited for,",
    Title("The loop waited until files were on the disk", "waiting until files are on the disk"),
    "fsync comes back when the disk has all of it, which takes milliseconds: leave it out where the file only has to "
    "outlive the program (flush, or closing it, does that; fsync is against a machine that loses power), or call it "
    "once an epoch or every so many steps.",
    "file.flush() in place of os.fsync(file.fileno())",
)
_WEIGHED = (
    "draw for all rows at once (size=), or add up the weights once, cdf = np.cumsum(p), and draw by "
    "np.searchsorted(cdf, rng.random(n)): choice(..., p=p) goes through all of p in each call"
)
_LEANER = (
    (re.compile(r"\bchoice\(.*\bp\s*="), _WEIGHED),
    (re.compile(r"\b(np|numpy)\.random\.choice\("), _DRAWN),
    (re.compile(r"(permutation|randperm)\(.*\)\s*\[\s*:"), _DRAWN),
    (re.compile(r"\b(np|numpy)\.(append|insert|delete|concatenate|[vh]stack|r_)\b"), _JOINED),
    (re.compile(r"\b(np|numpy)\.linalg\.inv\("), "np.linalg.solve(a, b) in place of inv(a) @ b"),
    (
        re.compile(r"(argsort|\bsort|sorted)\(.*\)\s*\["),
        "np.argpartition(a, k) finds the k smallest without putting all of them in order",
    ),
)
"""What calls of NumPy take long with many rows, and what is told of the same in less time."""


def of_line(
    case: Case, line: SourceLine | None, paths: Sequence[TreePath], chosen: Chosen = lambda _sample: True
) -> Chore | None:
    """What a line does for more than half of its samples in some phases; None: nothing that is known.

    Args:
        case: The run.
        line: The line; None: there is none.
        paths: The phases.
        chosen: Which of its samples count.
    """
    if line is None:
        return None
    times: dict[Chore | None, int] = {}
    for sample in case.code.samples:
        mine = sample.main and any(path.holds(sample.phase) for path in paths) and chosen(sample)
        if mine and case.code.user_line(sample) == line:
            found = _of_stack(case, sample)
            times[found] = times.get(found, 0) + sample.dur_ns
    most = max(times, key=lambda chore: times[chore], default=None)
    if most is not None and 2 * times[most] > sum(times.values()):
        return most
    return _of_text(case, line)


def _of_text(case: Case, line: SourceLine) -> Chore | None:
    """What leaves no frame."""
    source = case.code.source(*line)
    known = {_GROWS: _GROWN, _FLUSHES: FLUSHED}
    found = next((chore for written, chore in known.items() if written.search(source)), None)
    if found is not None:
        return found
    if _DRAWS.search(source) and line[1] in source_loops.around(case.code.lines(line[0])):
        return _DRAWN_ONE_BY_ONE
    if goes_through_weights(case, line):
        return replace(_OF_WEIGHTS, fix=for_weights(case))
    if not converts(source):
        return None
    if not _OF_NUMPY.search(source) or _OF_ENGINE.search(source):
        return conversion(case)
    # NumPy waits for an array of such an engine until it is there, and leaves no frame of that.
    return _OF_NUMBERS if not case.asynchronous or _of_sequence(case, line) else None


def _of_sequence(case: Case, line: SourceLine) -> bool:
    """Whether an array of NumPy is made of what its file makes a list or a deque, or puts something behind."""
    given = _GIVEN.search(case.code.source(*line))
    if given is None:
        return False
    grows = re.compile(rf"\b{given['name']}\s*(=\s*(\[|list\(|[\w.]*deque\()|\.(append|appendleft|extend)\()")
    return any(grows.search(text) for text in case.code.lines(line[0]))


def goes_through_weights(case: Case, line: SourceLine) -> bool:
    """Whether a line is in a loop over the weights, or over their gradients."""
    texts = case.code.lines(line[0])
    header = source_loops.around(texts).get(line[1])
    own = case.code.source(*line)
    if header is None and not source_loops.has_for(own):
        return False
    return any(_WEIGHTS.search(text) for text in (own, case.code.source(line[0], header or line[1])))


def for_weights(case: Case) -> str | None:
    """What takes all weights at once, with this run's engine."""
    return _FOR_WEIGHTS.get(case.engine.name)


def flushes(case: Case, line: SourceLine | None) -> bool:
    """Whether the text of a line has the system bring a file to the disk: no frame tells that."""
    return line is not None and _FLUSHES.search(case.code.source(*line)) is not None


def converts(text: str) -> bool:
    """Whether a line makes an array of the engine's out of data, and gives it to no other function itself.

    `policy(torch.Tensor(state))` runs a network, which takes longer; `rows.append(torch.Tensor(row))` only keeps it. A
    part of a statement may do either. Of several statements in a line each must convert, or call nothing.
    """
    if not _CONVERTS.search(text):
        return False
    tree = source_loops.parsed([text.strip()])
    calls = _calls(tree) if tree is not None else []
    statements = tree.body if tree is not None else []
    if not all(_CONVERTS.search(ast.unparse(one)) for one in statements if _calls(one)):
        return False
    given = [call for call in calls if any(_CONVERTS.search(ast.unparse(value)) for value in call.args)]
    others = (call for call in given if not _CONVERTS.match(f"{ast.unparse(call.func)}("))
    return all(source_calls.called(call) in _KEEPS for call in others)


def _calls(node: ast.AST) -> list[ast.Call]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Call)]


def advice(case: Case, line: SourceLine | None, usual: str) -> str:
    """What to do about a line that does nothing that is known.

    Args:
        case: The run.
        line: The line; None: there is none.
        usual: What helps where Python itself is what takes the time.
    """
    each_ns = None if line is None else case.code.long_call_ns(line)
    if each_ns is None:
        return usual
    if line is not None and case.code.runs_once(line):
        return (
            f"It runs once, for {duration(each_ns)} inside what it calls, which is no code of Python's: keep what it "
            "makes in a file, or give it less to do (float32 for float64, fewer rows, a leaner call)."
        )
    about = "about " if line is not None and case.code.is_scaled(line) else ""
    return (
        f"Each time, the line runs for {about}{duration(each_ns)} inside what it calls, which is no code of Python's: "
        "do that less often, keep its result, or give it less to do (float32 for float64, fewer rows at a time, a "
        "leaner call)."
    )


def leaner(case: Case, line: SourceLine | None) -> str | None:
    """What gives the same in less time as the one call in which a line stands; None: none is known."""
    if line is None or not (case.code.long_call_ns(line) or _stands_long(case, line)):
        return None
    return known_leaner(case, line)


def known_leaner(case: Case, line: SourceLine) -> str | None:
    """The same of a line that is known to take long, however long each of its calls takes."""
    source = case.code.source(*line)
    return next((better for pattern, better in _LEANER if pattern.search(source)), None)


def _stands_long(case: Case, line: SourceLine) -> bool:
    """Whether the line itself stands so long in each step, where hits were scaled from windows, and say little."""
    if case.code.hits(line) is not None and not case.code.is_scaled(line):
        return False
    stood = sum(one.dur_ns for one in case.code.samples if one.main and one.frames[0][1:] == line)
    return case.loop is not None and stood >= _LONG_NS * max(1, case.loop.count)


def conversion(case: Case) -> Chore:
    """That data are converted, with how this engine makes one array of many."""
    advice = _IN_COMPILED if case.backend == "jax" else _CONVERSION.advice
    return replace(_CONVERSION, advice=advice, fix=_BY_ENGINE.get(case.backend))


def _of_stack(case: Case, sample: Sample) -> Chore | None:
    for frame in sample.frames:
        if frame.file in case.code.user_files:
            return None
        for files, chore in _BY_FILES:
            if frame.file.startswith(files):
                return chore
    return None
