"""Layers of products that XLA has left without a name."""

from __future__ import annotations

from dlprof.ingest.attribution.hlo_labels import HloLabels
from dlprof.ingest.attribution.labels import Label, Model
from dlprof.ingest.kernels.scopes import HloInstruction
from dlprof.ingest.parse.hlo import Fused, Instruction, Program
from dlprof.schema.vocabulary import Direction

BACKWARD, FORWARD = Direction.BACKWARD, Direction.FORWARD
MODEL = Model(layers=("conv_a", "conv_b", "norm"), optimizers=("sgd",))


def program(*instructions: tuple[str, str, str, tuple[int, ...]], fused: tuple[str, ...] = ()) -> Program:
    """Instructions of one computation, numbered from 0: name, opcode, path, and numbers of what it takes."""
    return {
        name: Instruction(
            name, opcode, path, None, tuple(Fused("", one) for one in fused if opcode == "fusion"), takes, at
        )
        for at, (name, opcode, path, takes) in enumerate(instructions)
    }


def label(of: str, made: Program) -> Label:
    """Whose an instruction is."""
    return HloLabels({"jit_f": made}, MODEL).label(HloInstruction(of, "jit_f", 1, ""))[0]


def step(*, update: str = "jit(f)/sgd/sub", second: str = "conv_a") -> Program:
    """Two products with a name take the weights; the gradient's has none, and takes what the normalisation gave."""
    return program(
        ("weights", "parameter", "", ()),
        ("velocity", "parameter", "", ()),
        ("norm.2", "fusion", "jit(f)/jvp(norm)/mul", ()),
        ("layout.3", "fusion", "", (2,)),
        ("conv.4", "convolution", "jit(f)/jvp(conv_a)/conv_general_dilated", (2, 0)),
        ("conv.5", "convolution", f"jit(f)/transpose(jvp({second}))/conv_general_dilated", (4, 0)),
        ("norm.6", "multiply", "jit(f)/transpose(jvp(norm))/mul", (4,)),
        ("conv.7", "convolution", "", (3, 6)),
        ("momentum.8", "subtract", update, (1, 7)),
        ("sum.9", "add", update, (0, 8)),
        fused=("parameter", "transpose", "copy"),
    )


def test_a_product_without_a_name_is_of_the_layer_whose_weights_are_updated_with_it() -> None:
    """Through the velocity of momentum; not of the normalisation that is nearest."""
    assert label("conv.7", step()) == Label("conv_a", BACKWARD)


def test_where_two_layers_take_the_weights_the_nearest_name_counts() -> None:
    """Tied weights have the gradients of both."""
    assert label("conv.7", step(second="conv_b")) == Label("norm", BACKWARD)


def test_without_an_optimizer_in_the_paths_the_nearest_name_counts() -> None:
    """What is done with the result may be anything then."""
    assert label("conv.7", step(update="")) == Label("norm", BACKWARD)


def test_a_product_whose_result_the_next_layer_takes_is_no_gradient() -> None:
    """Though that layer takes a variable as well."""
    made = program(
        ("weights", "parameter", "", ()),
        ("images", "parameter", "", ()),
        ("conv.2", "convolution", "", (1,)),
        ("conv.3", "convolution", "jit(f)/jvp(conv_b)/conv_general_dilated", (2, 0)),
    )

    assert label("conv.2", made) == Label("conv_b", FORWARD)


def test_variables_are_known_behind_what_moves_them() -> None:
    """Another layout, made once for both products."""
    made = program(
        ("weights", "parameter", "", ()),
        ("layout.1", "fusion", "", (0,)),
        ("conv.2", "convolution", "jit(f)/jvp(conv_b)/conv_general_dilated", (1,)),
        ("norm.3", "multiply", "jit(f)/transpose(jvp(norm))/mul", (2,)),
        ("conv.4", "convolution", "", (3,)),
        ("back.5", "transpose", "", (4,)),
        ("sum.6", "subtract", "jit(f)/sgd/sub", (0, 5)),
        fused=("parameter", "copy"),
    )

    assert label("conv.4", made) == Label("conv_b", BACKWARD)


def moved(*layers: str) -> Program:
    """A product without a name, which the fusions of an optimiser turn into the shape of a variable of these layers."""
    path = "jit(f)/transpose(jvp({}))/conv_general_dilated"
    return {
        "convolution.0": Instruction("convolution.0", "convolution", "", None, (), (), 0),
        **{
            f"sum.{at}": Instruction(
                f"sum.{at}",
                "fusion",
                "jit(f)/sgd/sub",
                None,
                (Fused(path.format(layer), "transpose"), Fused("jit(f)/sgd/mul", "multiply")),
                (0,),
                at,
            )
            for at, layer in enumerate(layers, 1)
        },
    }


def test_what_turns_a_product_into_the_shape_of_its_variable_names_its_layer() -> None:
    """It is fused with the optimiser's operations, and keeps its name there."""
    assert label("convolution.0", moved("conv_a", "conv_a")) == Label("conv_a", BACKWARD)


def test_moves_of_two_layers_name_none() -> None:
    """The nearest name is the optimiser's then."""
    assert label("convolution.0", moved("conv_a", "conv_b")).layer == "sgd"
