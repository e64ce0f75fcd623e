"""The tutorials that Theano was taught with."""

from __future__ import annotations

from tests.public.case import Case, Edit, Input, Loop, Source

_COMMIT = "11c465105026cf87573937fc2d35ab7543678698"
_DATA = Input("mnist.pkl.gz", "mnist_pickle", (6000, 600, 600))
_SPEED = r"[\d.]+ epochs/sec"


def _source(path: str, *also: str) -> Source:
    return Source("lisa-lab/DeepLearningTutorials", _COMMIT, path, also)


CASES = (
    Case(
        "theano-logistic-regression",
        "theano",
        "theano",
        _source("code/logistic_sgd.py"),
        loops=(Loop("fit", 50, 5),),
        counted="6000 images by 600 are 10 steps, five times, in a `while`",
        edits=(Edit("n_epochs=1000", "n_epochs=5"),),
        inputs=(_DATA,),
        varies=(_SPEED,),
    ),
    Case(
        "theano-mlp",
        "theano",
        "theano",
        _source("code/mlp.py", "code/logistic_sgd.py"),
        loops=(Loop("fit", 90, 3),),
        counted="600 images by 20 are 30 steps, three times, in a `while`",
        edits=(Edit("n_epochs=1000", "n_epochs=3"),),
        inputs=(Input("mnist.pkl.gz", "mnist_pickle", (600, 100, 100)),),
        varies=(_SPEED, r"ran for [\d.]+m"),
    ),
)
