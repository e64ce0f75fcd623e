"""Examples of Chainer."""

from __future__ import annotations

from tests.public.case import Case, Edit, Input, Loop, Source

_COMMIT = "a8e15cbe55a90854a3918b8b5a976abbbff9ec94"

_SEEDED = Edit("import chainer\n", "import chainer\nimport numpy\nnumpy.random.seed(0)\n")
_TRAINER = (r"(?m) +\S+ *$", r"[\d.]+ iters/sec.*", r"\x1b\[\w+")


def _source(path: str, *also: str) -> Source:
    return Source("chainer/chainer", _COMMIT, path, also)


CASES = (
    Case(
        "chainer-mnist",
        "chainer",
        "chainer",
        _source("examples/mnist/train_mnist.py"),
        edits=(_SEEDED,),
        loops=(Loop("fit", 150, 3), Loop("evaluate", 20, None, 4)),
        counted="5000 images by 100 are 50 steps, three times; 500 by 100 are 5 of a test, before them and three times",
        layers=("l1", "l2", "l3"),
        inputs=(Input("data/pfnet/chainer/mnist", "chainer_mnist", (5000, 500)),),
        arguments=("-e", "3"),
        variables=(("CHAINER_DATASET_ROOT", "{root}/examples/mnist/data"),),
        varies=_TRAINER,
        script_percent=40.0,
        because="it plots and saves behind each epoch of a second",
    ),
    Case(
        "chainer-mnist-own-loop",
        "chainer",
        "chainer",
        _source("examples/mnist/train_mnist_custom_loop.py", "examples/mnist/train_mnist.py"),
        edits=(_SEEDED,),
        loops=(Loop("fit", 150, 3), Loop("evaluate", 15, None, 3)),
        counted="5000 images by 100 are 50 steps, three times; 500 by 100 are 5 of a test, three times",
        layers=("l1", "l2", "l3"),
        inputs=(Input("data/pfnet/chainer/mnist", "chainer_mnist", (5000, 500)),),
        arguments=("-e", "3"),
        variables=(("CHAINER_DATASET_ROOT", "{root}/examples/mnist/data"),),
        script_percent=30.0,
        because="it saves its model and its optimizer",
    ),
    Case(
        "chainer-vae",
        "chainer",
        "chainer",
        _source("examples/vae/train_vae.py", "examples/vae/net.py"),
        edits=(_SEEDED,),
        loops=(Loop("fit", 60, 3), Loop("evaluate", 9, None, 3)),
        counted="2000 images by 100 are 20 steps, three times; 300 by 100 are 3 of a test, three times",
        inputs=(Input("data/pfnet/chainer/mnist", "chainer_mnist", (2000, 300)),),
        arguments=("-e", "3", "--dim-h", "200"),
        variables=(("CHAINER_DATASET_ROOT", "{root}/examples/vae/data"),),
        varies=_TRAINER,
        script_percent=80.0,
        because="it draws pictures behind a training of half a second",
    ),
)
