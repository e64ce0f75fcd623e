"""Attribution of instructions of programs that XLA compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.ingest.attribution.hlo_labels import HloLabels
from dlprof.ingest.attribution.labels import Line, Model
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.scopes import HloInstruction
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.hlo import Frame, Fused, Instruction
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import labelled


def instruction(name: str, opcode: str, path: str, number: int, operands: tuple[int, ...]) -> Instruction:
    """One of a program."""
    return Instruction(name, opcode, path, None, (), operands, number)


def ran(*instructions: Instruction) -> Trace:
    """A trace in which each of them ran once."""
    program = {one.name: one for one in instructions}
    trace = Trace(Path("x.pb"), "xspace", "xla", "program", programs={"jit_f(1)": program})
    trace.lane(0, Lane(0, 0, "tf_XLAEigen"))
    trace.add_rows([
        EventRow(EventKind.OPERATOR, trace.names.number(name), 0, 1, 0,
                 scope=trace.scopes.number(HloInstruction(name, "jit_f", 1, "")))
        for name in program
    ])  # fmt: skip
    return trace


def test_what_one_function_of_jax_does_is_its_own() -> None:
    """A one-hot array is a comparison that was made a number; a product of it stays a product."""
    trace = ran(
        instruction("fusion.1", "fusion", "jit(update)/jvp(jit(_one_hot))/convert_element_type", 1, ()),
        instruction("dot.2", "dot", "jit(update)/jvp(jit(_one_hot))/dot_general", 2, ()),
    )

    assert [operator for _, _, operator in labelled(trace)] == ["one_hot", "dot_general"]


def test_instructions_that_xla_inserted_belong_to_their_neighbours() -> None:
    """A copy to what made its value, other work to who uses it, and what has no neighbour to XLA."""
    found = labelled(
        ran(
            instruction("dot.1", "dot", "jit(f)/jvp(dense_1)/dot_general", 1, ()),
            instruction("copy.2", "copy", "", 2, (1,)),
            instruction("fusion.3", "fusion", "", 3, ()),
            instruction("scatter.4", "scatter", "jit(f)/transpose(jvp(dense_2))/scatter", 4, (3,)),
            instruction("copy.5", "copy", "", 5, ()),
        )
    )

    assert found == [
        ("dot.1", ("dense_1", "forward"), "dot_general"),
        ("copy.2", ("dense_1", "forward"), "copy"),
        ("fusion.3", ("dense_2", "backward"), "fusion"),
        ("scatter.4", ("dense_2", "backward"), "scatter"),
        ("copy.5", ("(xla)", None), "copy"),
    ]


def test_an_owner_is_found_across_more_ways_than_could_be_gone() -> None:
    """False before, by minutes: layers of 60 of which each takes all of the one before, as in a loop that was unrolled."""
    wide, rings = 60, 4
    numbers = [range(ring * wide + 1, (ring + 1) * wide + 1) for ring in range(rings)]
    made = [
        instruction(f"fusion.{number}", "fusion", "", number, tuple(numbers[ring - 1]) if ring else ())
        for ring in range(rings)
        for number in numbers[ring]
    ]
    last = rings * wide + 1
    user = instruction("dot.1", "dot", "jit(f)/jvp(dense_1)/dot_general", last, tuple(numbers[-1]))

    found = labelled(ran(*made, user))

    assert {owner for name, owner, _ in found if name.startswith("fusion")} == {("dense_1", "forward")}


def test_the_neighbour_that_is_reached_on_most_ways_owns_what_xla_made() -> None:
    """Two ways lead to one layer, one to another that comes first."""
    found = labelled(
        ran(
            instruction("fusion.1", "fusion", "", 1, ()),
            instruction("fusion.2", "fusion", "", 2, (1,)),
            instruction("fusion.3", "fusion", "", 3, (1,)),
            instruction("dot.4", "dot", "jit(f)/jvp(dense_1)/dot_general", 4, (2,)),
            instruction("dot.5", "dot", "jit(f)/jvp(dense_2)/dot_general", 5, (2, 3)),
        )
    )

    assert found[0] == ("fusion.1", ("dense_2", "forward"), "fusion")


def test_a_fusion_is_of_the_layer_of_its_product() -> None:
    """It bears the name of its last operation: here XLA has joined a whole base, down to the mean over its maps."""
    inside = (
        Fused("jit(f)/jvp(dense_1)/conv_general_dilated", "convolution"),
        Fused("jit(f)/jvp(dense_1)/add", "add"),
        Fused("jit(f)/jvp(dense_2)/reduce_sum", "reduce"),
        Fused("jit(f)/jvp(dense_2)/div", "divide"),
    )
    fusion = Instruction("fusion.1", "fusion", "jit(f)/jvp(dense_2)/div", None, inside, (), 1)

    assert labelled(ran(fusion)) == [("fusion.1", ("dense_1", "forward"), "conv_general_dilated")]


_KERAS = "/env/lib/python3.11/site-packages/keras/src"
_OF_METRIC = Frame(f"{_KERAS}/metrics/metrics_utils.py", 577, Frame(f"{_KERAS}/trainers/compile_utils.py", 99))
_OF_LOSS = Frame(f"{_KERAS}/losses/losses.py", 8, Frame(f"{_KERAS}/metrics/reduction_metrics.py", 3))


@pytest.mark.parametrize("around", [_OF_METRIC, _OF_LOSS])
def test_what_a_metric_computes_is_no_layer_s_that_it_takes_results_of(around: Frame) -> None:
    """False before: the layer's, as its operators are in files for all of Keras; 71 % of a step of an AUC's were."""
    inside = (
        Fused("jit(f)/jvp(dense)/div", "bitcast"),
        Fused("jit(f)/gt", "compare", Frame("<frozen importlib._bootstrap>", 163, around)),
    )
    made = Frame(f"{_KERAS}/ops/core.py", 882, around)
    layer = instruction("dot.1", "dot", "jit(f)/jvp(dense)/dot_general", 1, ())
    fusion = Instruction("fusion.1", "fusion", "jit(f)/convert_element_type", made, inside, (1,), 2)

    assert labelled(ran(layer, fusion))[1] == ("fusion.1", ("metrics", "forward"), "convert_element_type")


def test_folders_of_the_users_are_no_metrics_of_keras() -> None:
    """A project may well lie in one of that name."""
    script = Frame("/home/me/metrics/train.py", 9)
    one = Instruction("sub.1", "subtract", "jit(f)/sub", Frame("/env/jax/src/numpy.py", 3, script), (), (), 1)

    assert labelled(ran(one)) == [("sub.1", None, "sub")]


SCRIPT = Frame("/project/train.py", 90)
MODEL = Frame("/project/net.py", 12, SCRIPT)
OPTAX = Frame("/env/lib/python3.11/site-packages/optax/_src/update.py", 43, SCRIPT)


def line_of(made: Instruction) -> Line | None:
    """The line that made an instruction, in a run of train.py."""
    model = Model(files=FileNames("/project"))
    return HloLabels({"jit_f": {made.name: made}}, model).line(HloInstruction(made.name, "jit_f", 1, ""))


@pytest.mark.parametrize(
    ("frame", "line"),
    [
        (MODEL, ("net.py", 12)),
        (OPTAX, ("train.py", 90)),
        (Frame("<frozen importlib._bootstrap>", 137), None),
        (None, None),
    ],
)
def test_the_line_of_an_instruction_is_the_innermost_of_the_users(
    frame: Frame | None, line: tuple[str, int] | None
) -> None:
    """What a package makes is of the line that called it."""
    assert line_of(Instruction("add.1", "add", "jit(f)/add", frame, (), (), 1)) == line


def test_a_fusion_is_of_the_line_of_its_product() -> None:
    """Else of the line that most of it is of."""
    inside = (Fused("", "dot", MODEL), Fused("", "add", SCRIPT), Fused("", "add", SCRIPT))

    assert line_of(Instruction("fusion.1", "fusion", "", SCRIPT, inside, (), 1)) == ("net.py", 12)
    assert line_of(Instruction("fusion.1", "fusion", "", MODEL, inside[1:], (), 1)) == ("train.py", 90)


def test_a_loop_or_a_condition_is_of_its_own_line() -> None:
    """What it runs is not fused into it."""
    runs = (Fused("", "dot", MODEL), Fused("", "add", MODEL))

    assert line_of(Instruction("while.1", "while", "", SCRIPT, runs, (), 1)) == ("train.py", 90)


def test_what_xla_put_between_others_is_of_the_line_of_its_neighbours() -> None:
    """A product that was rewritten, of who uses its result; a copy, of what made it."""
    made = {
        one.name: one
        for one in (
            Instruction("add.1", "add", "", SCRIPT, (), (), 1),
            Instruction("copy.2", "copy", "", None, (), (1,), 2),
            Instruction("dot.3", "dot", "jit(f)/dot_general", None, (), (2,), 3),
            Instruction("tanh.4", "tanh", "", MODEL, (), (3,), 4),
        )
    }
    labels = HloLabels({"jit_f": made}, Model(files=FileNames("/project")))

    assert [labels.line(HloInstruction(name, "jit_f", 1, "")) for name in ("copy.2", "dot.3")] == [
        ("train.py", 90),
        ("net.py", 12),
    ]


@pytest.mark.parametrize("line", [0, -1, 1 << 40])
def test_a_number_that_is_no_line_is_passed_over(line: int) -> None:
    """A file may say anything: the caller is told then."""
    odd = Frame("/project/net.py", line, SCRIPT)

    assert line_of(Instruction("add.1", "add", "", odd, (), (), 1)) == ("train.py", 90)


def test_the_gradient_of_grouped_weights_says_that_it_is_one() -> None:
    """XLA has made a convolution of one group out of it, and names it so."""
    gradient = instruction("convolution-base-dilated.1", "convolution", "jit(f)/transpose(jvp())/conv", 2, ())

    assert [label[2] for label in labelled(ran(gradient), Model([]))] == ["conv_general_dilated (gradient of groups)"]


def test_a_convolution_says_of_how_many_groups_it_is() -> None:
    """Also one that was put into a computation of its own."""
    one = Instruction("call.1", "call", "jit(f)/vmap(jvp())/conv", None, (Fused("", "convolution", None, 5),), (), 1)
    plain = instruction("convolution.2", "convolution", "jit(f)/conv", 2, ())

    assert [label[2] for label in labelled(ran(one, plain), Model([]))] == [
        "conv_general_dilated (5 groups)",
        "conv_general_dilated",
    ]
