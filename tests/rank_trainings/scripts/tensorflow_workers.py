"""An MLP in TensorFlow under MultiWorkerMirroredStrategy, for `several.py`; worker 0 prints the loss of each step."""

import argparse
import itertools
import os
import statistics
import time

import numpy as np
import tensorflow as tf

MEAN = tf.VariableAggregation.MEAN


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--times", action="store_true")
    args = parser.parse_args()
    number = int(os.environ["PROCESS"])
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    random, wide = np.random.RandomState(1), (784, 512, 10)
    with strategy.scope():
        params = [
            tf.Variable(one.astype("float32"), aggregation=MEAN)
            for a, b in itertools.pairwise(wide)
            for one in (random.normal(0, 0.05, (a, b)), np.zeros(b))
        ]

    def on_worker(rows, labels):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(rows @ params[0] + params[1])
            wrong = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, hidden @ params[2] + params[3])
            loss = tf.reduce_mean(wrong)
        for one, change in zip(params, tape.gradient(loss, params)):
            one.assign_sub(0.05 * change)
        return loss

    @tf.function
    def train_step(rows, labels):
        losses = strategy.run(on_worker, args=(rows, labels))
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)

    def of_worker(context):
        own = np.random.RandomState(2 + context.input_pipeline_id)
        rows = own.rand(64 * args.steps, 784).astype("float32")
        return tf.data.Dataset.from_tensor_slices((rows, own.randint(0, 10, len(rows)))).batch(64)

    losses, moments = [], []
    for batch in strategy.distribute_datasets_from_function(of_worker):
        losses.append(train_step(*batch).numpy())
        moments.append(time.perf_counter())
    if number == 0:
        for step, value in enumerate(losses, 1):
            print("step %d loss %r" % (step, float(value)))
        if args.times:
            print("STEP_MS %.4f" % (1e3 * statistics.median(b - a for a, b in itertools.pairwise(moments[10:]))))


if __name__ == "__main__":
    main()
