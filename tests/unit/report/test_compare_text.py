"""A comparison on a terminal."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from dlprof.analysis.compare import Comparison, Item, Side
from dlprof.analysis.doubts import Contended, Doubt
from dlprof.analysis.layer_pairs import LayerItem
from dlprof.analysis.line_pairs import LinePair
from dlprof.analysis.parity import Parity
from dlprof.report import compare_text
from dlprof.schema.tree_paths import TreePath
from tests.unit.report.reports import rows
from tests.unit.runs import MS, S, manifest, trained

FIT = Item(path=TreePath("fit/steps"), a_ns=6 * S, b_ns=2 * S, ci_ns=None, noise=False)
IMPORT = Item(path=TreePath("import"), a_ns=S, b_ns=2 * S, ci_ns=None, noise=False)
SMALL = Item(path=TreePath("teardown"), a_ns=10 * MS, b_ns=20 * MS, ci_ns=None, noise=True)


@pytest.fixture
def comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Comparison:
    """A of 10 s and B of 7 s, in the current folder."""
    monkeypatch.chdir(tmp_path)
    a, b = (Side(label, (trained(tmp_path / f"run-{label}"),)) for label in ("mxnet", "torch"))
    return Comparison(
        a=a,
        b=b,
        parity=Parity((), (), ()),
        a_wall_ns=10 * S,
        b_wall_ns=7 * S,
        gap_ns=3 * S,
        gap_ci_ns=None,
        noise=False,
        items=(FIT, IMPORT, SMALL),
        unattributed_ns=10 * MS,
        unsplit=None,
        layers=(),
        a_step_ns=20 * MS,
        b_step_ns=10 * MS,
    )


def printed(*comparisons: Comparison, lines: tuple[LinePair, ...] = (), plain: bool = True) -> list[str]:
    """The lines of the text, without empty ones."""
    out = io.StringIO()
    compare_text.print_comparison(comparisons, [lines] * len(comparisons), file=out, plain=plain)
    return [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]


def section(lines: list[str], title: str) -> list[str]:
    """The indented lines below a title."""
    start = next(n for n, line in enumerate(lines) if line.startswith(title)) + 1
    end = next((n for n, line in enumerate(lines[start:], start) if not line.startswith("  ")), len(lines))
    return lines[start:end]


def test_both_sides_are_named_with_their_runs(comparison: Comparison) -> None:
    """A first."""
    assert printed(comparison)[:2] == ["A: mxnet  (run-mxnet)", "B: torch  (run-torch)"]


@pytest.mark.parametrize(
    ("parity", "text"),
    [
        (Parity((), (), ()), ["Comparable: same work, equivalent losses."]),
        (Parity((), (), ("the loss",)), ["Comparable, as far as seen.", "  not checked: the loss"]),
        (Parity((), ("threads",), ()), ["Comparable: same work, equivalent losses.", "  differs: threads"]),
        (
            Parity(("the models differ",), (), ()),
            ["Not comparable, because", "  - the models differ", "What can be said all the same:"],
        ),
        (
            Parity(("the scripts differ",), (), (), ("scripts: keep one name.",)),
            ["Not comparable, because", "  - the scripts differ", "  what helps with scripts: keep one name."],
        ),
    ],
)
def test_first_it_is_said_whether_they_did_the_same_work(
    comparison: Comparison, parity: Parity, text: list[str]
) -> None:
    """With what differs, and what could not be checked."""
    assert printed(replace(comparison, parity=parity))[2 : 2 + len(text)] == text


def test_a_slower_machine_is_mentioned(comparison: Comparison) -> None:
    """From 5 % on."""
    assert "1.30 x as long in A" in "\n".join(printed(replace(comparison, common=1.3)))
    assert "as long in A" not in "\n".join(printed(replace(comparison, common=1.04)))


def test_without_a_gap_the_next_step_explains_the_parts_that_differ(comparison: Comparison) -> None:
    """Of the side that has more of them."""
    lines = printed(replace(comparison, noise=True))

    assert "no difference beyond noise as a whole, but parts differ beyond it" in " ".join(lines)
    assert lines[-1] == "next: dlprof diagnose run-mxnet run-torch"


def test_without_any_difference_there_is_no_next_step(comparison: Comparison) -> None:
    """Nothing is to be explained then."""
    lines = printed(replace(comparison, noise=True, items=(SMALL,)))

    assert not [line for line in lines if line.startswith("next:")]


def test_the_waterfall_sums_to_the_gap(comparison: Comparison) -> None:
    """Parts, small ones in one row, what is unattributed, and the wall time."""
    lines = printed(comparison)

    assert "Where the gap comes from  A - B: + where A takes longer" in lines
    assert rows(section(lines, "Where the gap"))[:6] == [
        ["part", "A", "B", "A - B", "95 %"],
        ["fit/steps", "6.00 s", "2.00 s", "+4.00 s", "+" + "#" * 18],
        ["import", "1.00 s", "2.00 s", "-1.00 s", "-" + "#" * 4],
        ["teardown", "10.0 ms", "20.0 ms", "-10.0 ms", "noise"],
        ["unattributed", "+10.0 ms"],
        ["wall", "10.0 s", "7.00 s", "+3.00 s"],
    ]


def test_what_a_trace_was_off_for_is_not_traced(comparison: Comparison, tmp_path: Path) -> None:
    """As its report calls it; of one trace and a run of dlprof's own it is both."""
    traces = [
        Side(label, (trained(tmp_path / f"trace-{label}", manifest(state="imported")),)) for label in ("one", "other")
    ]

    assert ["not traced", "+10.0 ms"] in rows(section(printed(replace(comparison, a=traces[0], b=traces[1])), "Where"))
    assert ["unattributed", "+10.0 ms"] in rows(section(printed(replace(comparison, a=traces[0])), "Where the gap"))


def test_differences_have_a_minus_sign_where_it_can_be_printed(comparison: Comparison) -> None:
    """Not a hyphen."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    compare_text.print_comparison([comparison], [()], file=out)
    out.seek(0)

    assert "A − B: + where A takes longer" in out.read()


def test_intervals_stand_beside_the_parts(comparison: Comparison) -> None:
    """Where there are enough runs."""
    items = (replace(FIT, ci_ns=(3 * S, 5 * S)),)

    lines = printed(replace(comparison, gap_ci_ns=(2 * S, 4 * S), items=items))

    assert "means and 95 % intervals over the runs" in " ".join(lines)
    table = rows(section(lines, "Where the gap"))
    assert table[1][4] == "+3.00 s to +5.00 s"
    assert table[-2][4] == "+2.00 s to +4.00 s"


def test_noise_is_called_so_and_explained(comparison: Comparison) -> None:
    """With what would tell it apart."""
    noisy = replace(comparison, items=(replace(FIT, noise=True),))

    lines = section(printed(noisy), "Where the gap")

    assert rows(lines)[1][4] == "noise"
    assert lines[-1].strip().startswith("noise: below 20 % of the part or 50.0 ms")


def test_steps_that_could_not_be_split_say_why(comparison: Comparison) -> None:
    """Below the table."""
    lines = printed(replace(comparison, unsplit="A has no kernel window"))

    assert "  steps are not split: A has no kernel window" in lines


def test_layers_stand_beside_each_other(comparison: Comparison) -> None:
    """With two operators of each side."""
    layers = (
        LayerItem("dense", "forward", 5 * S, 2 * S, ("a", "b", "c"), ("d",)),
        LayerItem(None, None, None, S, (), ("e",)),
    )

    assert rows(section(printed(replace(comparison, layers=layers)), "Kernels by layer")) == [
        ["layer", "direction", "A", "B", "A - B", "operators of A | B"],
        ["dense", "forward", "5.00 s", "2.00 s", "+3.00 s", "a, b | d"],
        ["(no layer told)", "-", "-", "1.00 s", "-1.00 s", "- | e"],
    ]


def test_layers_that_are_no_part_of_the_gap_are_a_sentence(comparison: Comparison) -> None:
    """Of 5 s of differences they have 3 ms."""
    layers = (LayerItem("dense", "forward", 5 * MS, 2 * MS, ("a",), ("d",)),)

    assert section(printed(replace(comparison, layers=layers)), "Kernels by layer") == [
        "  1 of them, 5.00 ms and 2.00 ms together: none has 1 % of the differences; each: --full"
    ]


def test_lines_that_differ_much_stand_beside_each_other(comparison: Comparison) -> None:
    """Those below 1 % of the gap are left out."""
    pairs = (
        LinePair("train.py", "main", 7, "step()", 10, 2 * S, None, None),
        LinePair("train.py", "main", 8, "log()", 1, 20 * MS, 1, 0),
    )

    assert rows(section(printed(comparison, lines=pairs), "Lines"))[1:] == [
        ["train.py:7", "10", "2.00 s", "-", "-", "+2.00 s", "step()"],
    ]


def test_hits_that_are_an_estimate_are_marked(comparison: Comparison) -> None:
    """On the side that counted them in windows."""
    pair = LinePair("train.py", "main", 7, "step()", 585, 2 * S, 3000, S, b_scaled=True)

    (row,) = rows(section(printed(comparison, lines=(pair,)), "Lines"))[1:]

    assert row[1:5] == ["585", "2.00 s", "~3000", "1.00 s"]


def test_differences_of_sampled_lines_are_noise_or_have_their_interval(comparison: Comparison) -> None:
    """A line that was counted on both sides has neither."""
    pairs = (
        LinePair("train.py", "main", 7, "step()", None, 2 * S, None, S, error_ns=100 * MS),
        LinePair("train.py", "main", 8, "load()", None, 2 * S, None, S, error_ns=600 * MS),
        LinePair("train.py", "main", 9, "log()", 1, 2 * S, 1, S),
    )

    *shown, note = section(printed(comparison, lines=pairs), "Lines")[1:]

    assert [row[5:] for row in rows(shown)] == [
        ["+1.00 s", "+742 ms to +1.26 s", "step()"],
        ["+1.00 s", "noise", "load()"],
        ["+1.00 s", "log()"],
    ]
    assert note.strip() == "times from samples: noise where the 99 % interval of the difference holds 0"


def test_cores_of_both_sides_are_drawn(tmp_path: Path, comparison: Comparison) -> None:
    """Of a side without samples nothing is."""
    cores = [{"time_ns": n * S, "interval_ns": S, "core": 0, "busy_pct": 50.0} for n in range(1, 11)]
    side = Side("mxnet", (trained(tmp_path / "measured", cores=cores),))

    assert [row[:3] for row in rows(section(printed(replace(comparison, a=side)), "Cores"))[1:]] == [
        ["A", "all 1", "50.0 %"]
    ]


def test_the_next_step_names_runs_as_they_are_typed(comparison: Comparison) -> None:
    """By their paths where they lie elsewhere; repeats by the folder that has them all, and no others."""
    elsewhere = Side("mxnet", (trained(Path("deep") / "er" / "run"),))
    repeats = tuple(trained(Path("runs") / "base" / number) for number in ("001", "002"))

    assert printed(replace(comparison, a=elsewhere))[-1] == "next: dlprof diagnose deep/er/run run-torch"
    assert printed(replace(comparison, a=Side("a", repeats)))[-1] == "next: dlprof diagnose runs/base run-torch"
    assert printed(replace(comparison, a=Side("a", (*repeats, elsewhere.runs[0]))))[-1] == (
        "next: dlprof diagnose runs/base/001,runs/base/002,deep/er/run run-torch"
    )


@pytest.mark.parametrize(("gap_ns", "names"), [(3 * S, "run-mxnet run-torch"), (-3 * S, "run-torch run-mxnet")])
def test_the_next_step_is_to_diagnose_the_slower_one(comparison: Comparison, gap_ns: int, names: str) -> None:
    """It comes first."""
    assert printed(replace(comparison, gap_ns=gap_ns))[-1] == f"next: dlprof diagnose {names}"


def test_several_comparisons_begin_with_an_overview(comparison: Comparison) -> None:
    """Wall time by phase, of A and of each other side."""
    second = replace(comparison, b=replace(comparison.b, label="jax"), b_step_ns=None)

    lines = printed(comparison, second)

    assert lines[0] == "Overview  wall time by phase; the gap is mxnet - the other"
    assert rows(section(lines, "Overview")) == [
        ["mxnet", "torch", "jax"],
        ["fit", "6.00 s", "2.00 s", "2.00 s"],
        ["import", "1.00 s", "2.00 s", "2.00 s"],
        ["teardown", "10.0 ms", "20.0 ms", "20.0 ms"],
        ["wall", "10.0 s", "7.00 s", "7.00 s"],
        ["steady step", "20.0 ms", "10.0 ms", "-"],
        ["gap", "+3.00 s", "+3.00 s"],
    ]


def test_what_makes_times_doubtful_comes_first(comparison: Comparison) -> None:
    """Before any word of what differs, and no side is called slower."""
    doubt = Doubt(of_a=True, state=Contended(181.0, 0.43, 3.0, 0.0))
    told = replace(comparison, doubts=(doubt,), parity=Parity((), ("other programs used 181 % and 3 % of a core",), ()))

    text = " ".join(printed(told)[2:9])

    assert text.startswith(
        "Doubtful: other programs used 181 % of a core while mxnet trained, and its threads spent 43 %"
    )
    assert "mxnet took 10.0 s, torch 7.00 s: mxnet took 3.00 s more than torch, most of it in fit/steps" in text
    assert ("slower" in text, "differs:" in text) == (False, False)


def test_parts_that_hardly_differ_are_one_row(comparison: Comparison) -> None:
    """Unless all are asked for."""
    small = tuple(Item(9 * MS, 8 * MS, None, True, TreePath(f"fit/{n}")) for n in ("build", "callbacks"))
    told = replace(comparison, items=(FIT, IMPORT, *small))
    out = io.StringIO()
    compare_text.print_comparison([told], [()], file=out, plain=True, full=True)

    assert ["and 2 others", "18.0 ms", "16.0 ms", "+2.00 ms"] in rows(section(printed(told), "Where the gap"))
    assert ["fit/build", "9.00 ms", "8.00 ms", "+1.00 ms", "noise"] in rows(
        section([line for line in out.getvalue().splitlines() if line.strip()], "Where the gap")
    )


def test_each_core_has_a_row_in_full(tmp_path: Path, comparison: Comparison) -> None:
    """Else they have one together."""
    cores = [{"time_ns": n * S, "interval_ns": S, "core": n % 2, "busy_pct": 50.0 + n % 2} for n in range(1, 11)]
    told = replace(comparison, a=Side("mxnet", (trained(tmp_path / "measured", cores=cores),)))
    out = io.StringIO()
    compare_text.print_comparison([told], [()], file=out, plain=True, full=True)
    full = [line for line in out.getvalue().splitlines() if line.strip()]

    assert [row[:3] for row in rows(section(printed(told), "Cores"))[1:]] == [["A", "all 2", "50.5 %"]]
    assert [row[:3] for row in rows(section(full, "Cores"))[1:]] == [["A", "0", "50.0 %"], ["A", "1", "51.0 %"]]


def test_a_line_that_moved_has_both_places(comparison: Comparison) -> None:
    """That of B only where it is in another file, or in a function of another name."""
    moved = LinePair("a.py", "f", 4, "g()", 1, 2 * S, 1, S, b_file="b.py", b_function="f", b_line=9)
    stayed = LinePair("a.py", "f", 5, "h()", 1, 2 * S, 1, S, b_file="a.py", b_function="f", b_line=8)

    text = "\n".join(printed(comparison, lines=(moved, stayed)))

    assert "a.py:4 (B: b.py:9)" in text
    assert "a.py:5 " in text and "a.py:8" not in text


def test_where_the_machine_may_have_been_slower_still_it_is_said(comparison: Comparison) -> None:
    """No more than 1.25 is put down to it."""
    assert "everything took at least 1.25 x as long in A" in "\n".join(printed(replace(comparison, common=1.25)))
    assert "everything took at most 0.80 x as long in A" in "\n".join(printed(replace(comparison, common=0.8)))
    assert "everything took 1.20 x as long in A" in "\n".join(printed(replace(comparison, common=1.2)))
