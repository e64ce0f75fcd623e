"""Examples of Lasagne."""

from __future__ import annotations

from tests.public.case import Case, Edit, Input, Loop, Source

_COMMIT = "5d3c63cb315c50b1cbd27a6bc8664b406f34dd99"


def _source(path: str) -> Source:
    return Source("Lasagne/Lasagne", _COMMIT, path)


_SEED = Edit(
    "import lasagne\n", "import lasagne\nnp.random.seed(0)\nlasagne.random.set_rng(np.random.RandomState(0))\n"
)

CASES = (
    Case(
        "lasagne-mnist",
        "lasagne",
        "lasagne",
        _source("examples/mnist.py"),
        loops=(Loop("fit", 60, 6),),
        counted="5000 images by 500, without the last 10000, are 10 steps, six times; tests have no loader",
        edits=(_SEED,),
        inputs=(Input(".", "idx", (15000, 1000)),),
        arguments=("mlp", "6"),
        varies=(r"took [\d.]+s",),
    ),
)
