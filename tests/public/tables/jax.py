"""Examples of JAX itself, and of Flax, optax and Haiku."""

from __future__ import annotations

from tests.public.case import Case, Edit, Input, Loop, Source

PACKAGES = (
    "flax==0.12.8",
    "optax==0.2.8",
    "dm-haiku==0.0.17",
    "equinox==0.13.8",
    "absl-py==2.5.1",
    "matplotlib",
)

_JAX = "cec06d116c05f0d52adfceee3d3b730fdbcb0ce5"
_FLAX = "18f8f311c275d57f46d95e41b15aa97b454754c0"
_DIGITS = Input("data", "idx", (5000, 500))
_LOCAL = Edit('_DATA = "/tmp/jax_example_data/"', '_DATA = "data/"', path="examples/datasets.py")
_TIMES = (r"in [\d.]+ sec", r"\([\d.]+ sec\)")


def _jax(path: str) -> Source:
    return Source("jax-ml/jax", _JAX, path, ("examples/__init__.py", "examples/datasets.py"))


def _flax(path: str, *also: str) -> Source:
    return Source("google/flax", _FLAX, path, also)


_OPTAX = "2edbcbe2390da13983b92cbef94ac0460ecde1c5"
_HAIKU = "f4d858a5cbb29140855d68f81f5fd625e078a5ae"
_EQUINOX = "9336d820b2ef66b360fc6cb3611b3da5cefbb14d"
_PLOTS = "it is short, and plots behind its loop"
_SEEDED = Edit("X = np.linspace(0, 1, 100)[:, None]", "np.random.seed(0)\nX = np.linspace(0, 1, 100)[:, None]")

CASES = (
    Case(
        "jax-mnist",
        "jax",
        "jax",
        _jax("examples/mnist_classifier.py"),
        loops=(Loop("fit", 120, 3),),
        counted="5000 images by 128 are 40 steps, three times",
        edits=(Edit("num_epochs = 10", "num_epochs = 3"), _LOCAL),
        inputs=(_DIGITS,),
        folder="",
        varies=_TIMES,
    ),
    Case(
        "jax-mnist-from-scratch",
        "jax",
        "jax",
        _jax("examples/mnist_classifier_fromscratch.py"),
        loops=(Loop("fit", 120, 3),),
        counted="5000 images by 128 are 40 steps, three times",
        edits=(Edit("num_epochs = 10", "num_epochs = 3"), _LOCAL),
        inputs=(_DIGITS,),
        folder="",
        varies=_TIMES,
    ),
    Case(
        "flax-lifted-transforms",
        "flax",
        "jax",
        _flax("examples/nnx_toy_examples/02_lifted_transforms.py"),
        loops=(Loop("fit", 5000, 1),),
        counted="5000 steps of one loop",
        edits=(Edit("total_steps = 10_000", "total_steps = 5_000"), _SEEDED),
        script_percent=30.0,
        because=_PLOTS,
    ),
    Case(
        "flax-train-state",
        "flax",
        "jax",
        _flax("examples/nnx_toy_examples/03_train_state.py"),
        loops=(Loop("fit", 5000, 1),),
        counted="5000 steps of one loop",
        edits=(Edit("total_steps = 10_000", "total_steps = 5_000"), _SEEDED),
        script_percent=30.0,
        because=_PLOTS,
    ),
    Case(
        "optax-flax",
        "optax",
        "jax",
        Source("google-deepmind/optax", _OPTAX, "examples/flax_example.ipynb"),
        loops=(Loop("fit", 100, 1),),
        counted="100 steps of one loop, with updates outside of compiled functions",
    ),
    Case(
        "optax-meta-learning",
        "optax",
        "jax",
        Source("google-deepmind/optax", _OPTAX, "examples/meta_learning.ipynb"),
        loops=(Loop("fit", 500, 1),),
        counted="500 steps of one loop; the inner updates are inside of them",
        edits=(Edit("for i in range(2000):", "for i in range(500):"),),
    ),
    Case(
        "equinox-rnn",
        "equinox",
        "jax",
        Source("patrick-kidger/equinox", _EQUINOX, "docs/examples/train_rnn.ipynb"),
        loops=(Loop("fit", 1000, 1),),
        counted="1000 steps of one loop",
        edits=(
            Edit("import numpy as np\n", "import numpy as np\nnp.random.seed(0)\n"),
            Edit("    steps=200,", "    steps=1000,"),
        ),
        script_percent=30.0,
        because="its accuracy, behind the loop, is computed by operators that are compiled one by one",
    ),
    Case(
        "equinox-frozen-layer",
        "equinox",
        "jax",
        Source("patrick-kidger/equinox", _EQUINOX, "docs/examples/frozen_layer.ipynb"),
        loops=(Loop("fit", 1000, 1),),
        counted="1000 steps of one loop",
    ),
    Case(
        "haiku-transformer",
        "haiku",
        "jax",
        Source(
            "google-deepmind/dm-haiku",
            _HAIKU,
            "examples/transformer/train.py",
            (
                "examples/__init__.py",
                "examples/transformer/__init__.py",
                "examples/transformer/dataset.py",
                "examples/transformer/model.py",
            ),
        ),
        loops=(Loop("fit", 60, 1),),
        counted="60 steps of one loop",
        edits=(
            Edit("MAX_STEPS = 10**6", "MAX_STEPS = 60"),
            Edit("NUM_LAYERS = 6", "NUM_LAYERS = 2"),
            Edit("import random\n", "import random\nrandom.seed(0)\n", path="examples/transformer/dataset.py"),
        ),
        inputs=(Input("text.txt", "letters", (20000,)),),
        arguments=("--dataset_path=text.txt",),
        folder="",
    ),
)
