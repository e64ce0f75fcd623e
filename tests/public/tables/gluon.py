"""Examples of MXNet's Gluon."""

from __future__ import annotations

from tests.public.case import Case, Edit, Input, Loop, Source

_COMMIT = "76d73dbd778c9ab4a4584dbc857c8c0694faa162"

_UNCHECKED = "gluon.utils.check_sha1 = lambda *_: True  # the images are made up\n"


def _source(path: str, *also: str) -> Source:
    return Source("apache/mxnet", _COMMIT, path, also)


CASES = (
    Case(
        "gluon-mnist",
        "gluon",
        "mxnet",
        _source("example/gluon/mnist/mnist.py"),
        loops=(Loop("fit", 60, 3), Loop("evaluate", 9, None, 3)),
        counted="2050 images by 100, the last 50 left out, are 20 steps, three times; 300 by 100 are 3 of a test, three times",
        edits=(
            Edit("import mxnet as mx\n", "import mxnet as mx\nmx.random.seed(0)\nnp.random.seed(0)\n"),
            Edit("from mxnet import gluon, autograd\n", "from mxnet import gluon, autograd\n" + _UNCHECKED),
        ),
        inputs=(Input("data", "idx", (2050, 300)),),
        arguments=("--epochs", "3"),
    ),
    Case(
        "gluon-lstm-crf",
        "gluon",
        "mxnet",
        _source("example/gluon/lstm_crf/lstm_crf.py"),
        loops=(Loop("fit", 20, 10),),
        counted="two sentences are 2 steps, ten times",
        edits=(Edit("for epoch in range(300):", "for epoch in range(10):"),),
    ),
)
