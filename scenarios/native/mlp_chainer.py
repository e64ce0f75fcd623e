"""The MNIST MLP of `scenarios/mlp.py` in Chainer, without Keras."""

import chainer
from chainer import functions
from chainer import links

import common
import training_chainer as training


class Mlp(chainer.Chain):
    """784-512-512-10 with dropout."""

    def __init__(self, rate):
        super().__init__()
        self.rate = rate
        with self.init_scope():
            self.dense_1, self.dense_2, self.dense_3 = (
                links.Linear(784, 512),
                links.Linear(512, 512),
                links.Linear(512, 10),
            )

    def forward(self, rows):
        """Logits of a batch of images."""
        hidden = functions.dropout(functions.relu(self.dense_1(rows)), self.rate)
        hidden = functions.dropout(functions.relu(self.dense_2(hidden)), self.rate)
        return self.dense_3(hidden)


def main():
    workload = common.mlp()
    with common.mark.phase("construct"):
        model = Mlp(common.rate(workload.args, 0.2))
        k1, b1, k2, b2, k3, b3 = workload.weights
        training.load(model, {"dense_1/W": k1.T, "dense_1/b": b1, "dense_2/W": k2.T, "dense_2/b": b2,
                              "dense_3/W": k3.T, "dense_3/b": b3})  # fmt: skip
    common.run(workload, *training.steps(model, chainer.optimizers.RMSprop(lr=0.001, alpha=0.9, eps=1e-7)))


if __name__ == "__main__":
    main()
