"""Nets, steps of training and inference with Caffe2."""

import numpy as np
from caffe2.python import core, model_helper, optimizer, workspace


class Net(object):
    """A model: one net that trains, one that infers, over the same blobs.

    Args:
        build: Function from a ModelHelper, the name of the input and whether it is training to the name of the logits.
        weights: Blob to initial array.
        minimize: Function from a ModelHelper: adds the optimiser.
        rows: Some rows.
        fed: Function from rows to what the net takes.
    """

    def __init__(self, build, weights, minimize, rows, fed=np.ascontiguousarray):
        self._fed = fed
        feed("rows", fed(rows))
        feed("labels", np.zeros(len(rows), "int32"))
        self._training = self._net("training", build, minimize)
        self._inference = self._net("inference", build, None)
        for name, array in weights.items():
            feed(name, np.ascontiguousarray(array, "float32"))
        workspace.CreateNet(self._training.net)
        workspace.CreateNet(self._inference.net)

    @staticmethod
    def _net(name, build, minimize):
        model = model_helper.ModelHelper(name=name, arg_scope={"order": "NCHW"}, init_params=minimize is not None)
        logits = build(model, "rows", minimize is not None)
        _, loss = model.SoftmaxWithLoss([logits, "labels"], [name + "_probabilities", name + "_loss"])
        if minimize is not None:
            model.AddGradientOperators([loss])
            minimize(model)
            workspace.RunNetOnce(model.param_init_net)
        return model

    def functions(self):
        """The functions that `common.run` takes."""

        def run(name, rows, labels):
            feed("rows", self._fed(rows))
            feed("labels", labels.argmax(1).astype("int32"))
            workspace.RunNet(self._training.net if name == "training" else self._inference.net)
            return float(workspace.FetchBlob(name + "_loss"))

        def step(rows, labels):
            return run("training", rows, labels)

        def test(rows, labels):
            loss = run("inference", rows, labels)
            found = workspace.FetchBlob("inference_probabilities")
            return loss, int((found.argmax(1) == labels.argmax(1)).sum())

        def predict(rows):
            run("inference", rows, np.zeros((len(rows), 1)))
            return workspace.FetchBlob("inference_probabilities").copy()

        return step, test, predict


def feed(name, array):
    """Give a blob its content."""
    workspace.FeedBlob(name, array, device_option=core.DeviceOption(0))


def rmsprop(model):
    """RMSprop of Caffe2."""
    optimizer.build_rms_prop(model, base_learning_rate=0.001, decay=0.9, epsilon=1e-7)


def adam(model):
    """Adam of Caffe2."""
    optimizer.build_adam(model, base_learning_rate=0.001, epsilon=1e-7)


def sgd(model):
    """Gradient descent of Caffe2."""
    optimizer.build_sgd(model, base_learning_rate=0.05)
