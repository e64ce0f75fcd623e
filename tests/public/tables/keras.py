"""Examples and guides of Keras, on three engines, and of those who teach TensorFlow."""

from __future__ import annotations

from tests.public.case import Case, Edit, Input, Loop, Source

_KERAS = "3422977a5e38fb2f7709aaa9a08e47f0c43d0f60"
_TEACHING = "6dcbe14649163814e72a22a999f20c5e247ce988"
_MNIST = '(lambda d: ((d["x_train"], d["y_train"]), (d["x_test"], d["y_test"])))(np.load("mnist.npz"))'
_SEEDED = Edit(
    "from keras import optimizers\n", "from keras import optimizers\nimport keras\nkeras.utils.set_random_seed(0)\n"
)
_VARIABLE = Edit("backend.Variable(", "keras.Variable(", 2)
_STATE = "trainable_variables, non_trainable_variables, optimizer_variables"
_VALUES = Edit(  # the JAX of today takes no variables of Keras where they are traced
    f"state = {_STATE}\n# Training loop", f"state = tuple([v.value for v in each] for each in ({_STATE}))"
)
_MORE = Edit("for _ in range(20):", "for _ in range(200):")


def _keras(path: str) -> Source:
    return Source("keras-team/keras", _KERAS, path)


def _teaching(path: str) -> Source:
    return Source("aymericdamien/TensorFlow-Examples", _TEACHING, f"tensorflow_v2/notebooks/{path}")


CASES = (
    Case(
        "keras-own-loop-jax",
        "keras",
        "jax",
        _keras("examples/demo_custom_jax_workflow.py"),
        loops=(Loop("fit", 200, 1),),
        counted="200 batches of a generator",
        edits=(_SEEDED, _MORE, _VARIABLE, _VALUES),
    ),
    Case(
        "keras-own-loop-tensorflow",
        "keras",
        "tensorflow",
        _keras("examples/demo_custom_tf_workflow.py"),
        loops=(Loop("fit", 200, 1),),
        counted="200 batches of a generator",
        edits=(_SEEDED, _MORE, _VARIABLE),
    ),
    Case(
        "keras-own-loop-torch",
        "keras",
        "torch",
        _keras("examples/demo_custom_torch_workflow.py"),
        loops=(Loop("fit", 40, 4, 2),),
        counted="640 images by 64 are 10 steps, twice; then the same with another model",
        edits=(
            Edit("keras.datasets.mnist.load_data()", _MNIST),
            Edit("num_epochs = 1\n", "num_epochs = 2\nkeras.utils.set_random_seed(0)\n"),
        ),
        inputs=(Input("mnist.npz", "mnist_arrays", (640, 100)),),
    ),
    Case(
        "keras-convnet",
        "keras",
        "jax",
        _keras("examples/demo_mnist_convnet.py"),
        loops=(Loop("fit", 16, 2), Loop("evaluate", 2, None, 2), Loop("evaluate", 4)),
        counted="Keras' own fit: 1008 of 1120 images by 128 are 8 steps and 112 are 1 of a validation, twice; 100 by 32 are 4",
        edits=(
            Edit("validation_split=0.1", "validation_split=0.1, verbose=2"),
            Edit("keras.datasets.mnist.load_data()", _MNIST),
            Edit("epochs = 3", "epochs = 2\nkeras.utils.set_random_seed(0)"),
        ),
        inputs=(Input("mnist.npz", "mnist_arrays", (1120, 100)),),
        variables=(("KERAS_BACKEND", "jax"),),
        varies=(r"\d+s - \d+m?s/step",),
    ),
    Case(
        "tensorflow-logistic-regression",
        "tensorflow",
        "tensorflow",
        _teaching("2_BasicModels/logistic_regression.ipynb"),
        loops=(Loop("fit", 200, 1),),
        counted="200 batches of a data set that repeats for ever",
        edits=(
            Edit("mnist.load_data()", _MNIST),
            Edit("training_steps = 1000", "training_steps = 200\ntf.random.set_seed(0)"),
        ),
        inputs=(Input("mnist.npz", "mnist_arrays", (2560, 100)),),
    ),
)
