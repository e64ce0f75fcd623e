"""What lines of a loop do beside the training."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import chores
from dlprof.analysis.findings.case import Case
from dlprof.schema.tree_paths import Tree
from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, Call, keep_source, on, quiet, sampled

LINE = ("train.py", 7)


def case(
    path: Path,
    *calls: Call,
    source: str = "pass",
    hits: int | None = None,
    how: str = "exact",
    asynchronous: bool = False,
) -> Case:
    """A run whose line 7 has these frames above it, for two of three seconds; it ran so often."""
    base: list[Call] = FIT[:1]
    row = {
        "file": LINE[0],
        "line": LINE[1],
        "hits": hits,
        "time_ns": 3 * runs.S,
        "source": source,
        "function": "f",
        "how": how,
    }
    run = runs.trained(
        path / "r",
        on("torch", asynchronous=asynchronous),
        **quiet(**sampled((2, 4, [*base, *calls]), (4, 5, base)), lines=[row] if hits else []),
    )
    keep_source(run, "\n" * 6 + source + "\n")
    return Case(run)


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("matplotlib/figure.py", "Figures are drawn"),
        ("torch/utils/tensorboard/writer.py", "Logs are written"),
        ("torch/serialization.py", "Data are packed, saved or loaded"),
        ("sklearn/metrics/_ranking.py", "Scores and tables are computed by a library on the host"),
        ("PIL/Image.py", "Images or sounds are decoded and changed"),
        ("<python>/_strptime.py", "Dates are parsed one by one"),
    ],
)
def test_libraries_on_the_stack_tell_what_a_line_does(tmp_path: Path, file: str, what: str) -> None:
    """The innermost of them that is known."""
    made = case(tmp_path, ("f", file, 3), ("g", "numpy/core.py", 1))

    found = chores.of_line(made, LINE, [Tree.FIT_STEPS])

    assert found is not None
    assert found.what == what


def test_what_leaves_no_frame_is_told_by_the_text_of_the_line(tmp_path: Path) -> None:
    """With the API of this engine."""
    found = chores.of_line(case(tmp_path, source="x = torch.tensor(frames)"), LINE, [Tree.FIT_STEPS])

    assert found is not None
    assert (found.what, found.fix) == (
        "Data are converted to tensors",
        "torch.from_numpy(np.stack(rows)) in place of torch.tensor(rows)",
    )


@pytest.mark.parametrize(
    ("source", "what"),
    [
        (
            "scaled = np.array(self.priorities) ** 0.6",
            "An array of NumPy is made of a list or another sequence each time",
        ),
        ("x = torch.from_numpy(np.array(rows))", None),
        ("x = mx.nd.array(rows)", "Data are converted to tensors"),
    ],
)
def test_an_array_of_numpy_that_no_engine_is_given_is_no_conversion_for_one(
    source: str, what: str | None, tmp_path: Path
) -> None:
    """It is made of numbers, one by one."""
    found = chores.of_line(case(tmp_path, source=source), LINE, [Tree.FIT_STEPS])

    assert (found.what if found else None) == what


@pytest.mark.parametrize(
    ("source", "is_it"),
    [
        ("for _ in range(n):\n    j = rng.randint(items)", True),
        ("while True:\n    x = random.gauss(0, 1)", True),
        ("for _ in range(n):\n    j = rng.integers(items, size=n)", False),
        ("for _ in range(n):\n    j = rng.integers(0, items, 100)", False),
        ("for _ in range(n):\n    x = rng.standard_normal(100)", False),
        ("pass\nj = rng.randint(items)", False),
    ],
)
def test_random_numbers_that_a_loop_draws_are_drawn_one_by_one(tmp_path: Path, source: str, is_it: bool) -> None:
    """Not outside of a loop, nor many in one call."""
    made = case(tmp_path, source="pass")
    keep_source(made.run, "\n" * 5 + source + "\n")
    found = chores.of_line(made, LINE, [Tree.FIT_STEPS])

    assert (found is not None and found.what == "Random numbers are drawn one by one") == is_it


@pytest.mark.parametrize(
    ("source", "grows"),
    [
        ("kept = torch.cat([kept, x])", True),
        ("self.kept = tf.concat((self.kept, x), axis=0)", True),
        ("rows = np.append(rows, row)", True),
        ("rows = torch.cat([a, b])", False),
        ("rows = torch.cat([rows2, row])", False),
        ("rows = np.log(rows, out)", False),
    ],
)
def test_an_array_that_is_joined_to_itself_grows_by_copies(source: str, grows: bool, tmp_path: Path) -> None:
    """Whichever library joins it."""
    found = chores.of_line(case(tmp_path, source=source), LINE, [Tree.FIT_STEPS])

    assert (found is not None and found.title.text == "An array grew by copying all of it each time") == grows


def test_other_lines_do_nothing_that_is_known(tmp_path: Path) -> None:
    """Also where there is no line, and where a known library stood for less than half."""
    assert chores.of_line(case(tmp_path), LINE, [Tree.FIT_STEPS]) is None
    assert chores.of_line(case(tmp_path / "b"), None, [Tree.FIT_STEPS]) is None
    assert chores.of_line(case(tmp_path / "c", ("f", "PIL/Image.py", 3)), LINE, [Tree.SCRIPT]) is None


@pytest.mark.parametrize(
    ("source", "hits", "is_native"),
    [
        ("total += (a @ a).sum()", 200, True),
        ("total += (a @ a).sum()", 100_000, False),
        ("total = sum(x * x for x in row)", 200, False),
        ("total += (a @ a).sum()", None, False),
    ],
)
def test_a_line_that_runs_long_each_time_without_a_loop_is_not_told_to_leave_loops(
    tmp_path: Path, source: str, hits: int | None, is_native: bool
) -> None:
    """What it calls takes the time: not Python."""
    said = chores.advice(case(tmp_path, source=source, hits=hits), LINE, "no loops")

    assert said.startswith("Each time, the line runs for 15.0 ms inside what it calls") == is_native
    assert (said == "no loops") != is_native


def test_a_line_that_runs_once_is_not_told_to_run_less_often(tmp_path: Path) -> None:
    """As where the data of a run are made."""
    said = chores.advice(case(tmp_path, source="x = rng.normal(size=n)", hits=1), LINE, "no loops")

    assert said.startswith("It runs once, for 3.00 s inside what it calls")
    assert "less often" not in said


@pytest.mark.parametrize(("hits", "said"), [(200, "Each time, the line runs for about 20.0 ms"), (2000, "no loops")])
def test_hits_of_windows_tell_only_of_calls_that_are_long_in_any_case(tmp_path: Path, hits: int, said: str) -> None:
    """They may be four times too few: 1.5 ms may be 0.4 ms; 15 ms are told as 20."""
    counted = case(tmp_path, source="total += (a @ a).sum()", hits=hits, how="scaled")

    assert chores.advice(counted, LINE, "no loops").startswith(said)


def test_a_line_that_calls_python_is_told_what_is_usual(tmp_path: Path) -> None:
    """Its frames stand above it for most of its time."""
    made = case(tmp_path, ("f", "somewhere/lib.py", 3), source="total += f(a)", hits=200)

    assert chores.advice(made, LINE, "no loops") == "no loops"


@pytest.mark.parametrize(
    ("source", "better"),
    [
        ("rows = np.random.choice(len(data), 32, replace=False)", "np.random.default_rng().choice(n, k"),
        ("drawn = rng.choice(n, size=k, p=weights)", "draw for all rows at once (size=), or add up the weights once"),
        ("rows = rng.permutation(len(data))[:32]", "np.random.default_rng().choice(n, k"),
        ("seen = np.append(seen, row)", "gather the parts in a list"),
        ("x = np.linalg.inv(a) @ b", "np.linalg.solve(a, b)"),
        ("best = np.argsort(scores)[:10]", "np.argpartition(a, k)"),
        ("total += (a @ a).sum()", None),
    ],
)
def test_a_call_that_has_a_leaner_one_is_told_it(tmp_path: Path, source: str, better: str | None) -> None:
    """Where it takes long each time."""
    told = chores.leaner(case(tmp_path / "long", source=source, hits=200), LINE)

    assert (told or "").startswith(better or "") and (told is None) == (better is None)
    assert chores.leaner(case(tmp_path / "brief", source=source, hits=100_000), LINE) is None


def test_hits_that_were_scaled_do_not_make_a_line_brief_that_stands_long_in_each_step(tmp_path: Path) -> None:
    """It stands for 10 ms of each of 300 steps; 100,000 hits were scaled from a few."""
    source = "rows = np.random.choice(len(data), 32, replace=False)"

    assert chores.leaner(case(tmp_path, source=source, hits=100_000, how="scaled"), LINE) is not None


@pytest.mark.parametrize(
    ("text", "converts"),
    [
        ("x = torch.tensor(rows).to(device)", True),
        ("a, b = torch.tensor(a), torch.tensor(b)", True),
        ("xs = torch.stack([torch.tensor(row) for row in rows])", True),
        ("actions = torch.argmax(policy(torch.Tensor(states)), dim=1)", False),
        ("loss = step(params, jnp.asarray(batch))", False),
        ("states = np.stack(states)", True),
        ("rows.append(torch.tensor(row))", True),
        ("x = torch.tensor(a); n = 1; y = torch.tensor(b)", True),
        ("x = torch.stack(rows); loss = net(x).mean(); loss.backward(); opt.step()", False),
        ("print(x)", False),
    ],
)
def test_a_line_that_gives_what_it_converts_to_a_function_is_no_conversion(text: str, converts: bool) -> None:
    """The function is what takes long."""
    assert chores.converts(text) is converts


@pytest.mark.parametrize(
    ("source", "hits", "advice"),
    [
        ("rows = np.genfromtxt(path)", None, "np.save"),
        ("for path in paths: rows = np.genfromtxt(path)", None, "before the loop"),
        ("", None, "before the loop"),  # no copy of the file tells
        ("rows = np.genfromtxt(path)", 1, "np.save"),
        ("rows = np.genfromtxt(path)", 40, "before the loop"),
    ],
)
def test_what_is_parsed_once_is_not_to_be_moved_out_of_a_loop(
    source: str, hits: int | None, advice: str, tmp_path: Path
) -> None:
    """By its count, else where no loop is around it: samples alone come to a line in a loop of one line once, too."""
    made = case(tmp_path, ("genfromtxt", "numpy/lib/npyio.py", 3), source=source or "pass", hits=hits)
    if not source:
        made.run.folder.source_path(LINE[0]).unlink()

    found = chores.of_line(made, LINE, [Tree.FIT])

    assert found is not None
    assert advice in found.advised(made, LINE)


@pytest.mark.parametrize(
    ("source", "is_sequence"),
    [
        ("scores = np.array(kept)\nkept.append(1)", True),
        ("w = np.asarray(self.seen)\nself.seen = collections.deque(maxlen=9)", True),
        ("total += np.asarray(loss)\nlosses.append(3)", False),
        ("scores = np.asarray(model(x))", False),
    ],
)
def test_where_numpy_may_wait_an_array_is_made_of_what_the_file_makes_a_sequence(
    source: str, is_sequence: bool, tmp_path: Path
) -> None:
    """An engine that works on meanwhile has its arrays read without a frame: that line waits, and converts nothing."""
    found = chores.of_line(case(tmp_path, source=source, asynchronous=True), LINE, [Tree.FIT_STEPS])

    assert ((found.what if found else "").startswith("An array of NumPy")) is is_sequence


@pytest.mark.parametrize(
    ("source", "is_it"),
    [
        ("for n, p in net.named_parameters(): average[n] = 0.9 * average[n] + 0.1 * p.detach()", True),
        ("total = sum(p.grad.norm() ** 2 for p in weights)", True),
        ("p.grad.mul_(0.5)", False),
        ("for x in rows: total += x", False),
        ("optimizer = SGD(net.parameters())", False),
    ],
)
def test_a_loop_over_the_weights_is_told_what_takes_all_of_them(source: str, is_it: bool, tmp_path: Path) -> None:
    """With the calls of this engine; what is no loop, or one over something else, is none."""
    found = chores.of_line(case(tmp_path, source=source), LINE, [Tree.FIT_STEPS])

    assert (found is not None and found.what == "The weights are gone through one by one") is is_it
    assert found is None or str(found.fix).startswith("torch._foreach_mul_(averages, decay)")


def test_the_loop_around_a_line_tells_that_it_goes_through_weights(tmp_path: Path) -> None:
    """The line itself has a name only."""
    made = case(tmp_path)
    keep_source(made.run, "\n" * 4 + "def clip(net):\n    for p in net.parameters():\n        p.mul_(0.5)\n")

    assert chores.goes_through_weights(made, LINE)
