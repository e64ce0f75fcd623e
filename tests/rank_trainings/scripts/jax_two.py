"""An MLP in JAX over all devices of all processes, for `several.py`; process 0 prints the loss of each step."""

import argparse
import itertools
import os
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def loss_of(params, rows, labels):
    hidden = rows
    for weights, bias in params[:-1]:
        hidden = jax.nn.relu(hidden @ weights + bias)
    weights, bias = params[-1]
    wrong = jax.nn.log_softmax(hidden @ weights + bias)
    return -jnp.mean(jnp.take_along_axis(wrong, labels[:, None], 1))


@jax.jit
def train_step(params, rows, labels):
    loss, gradients = jax.value_and_grad(loss_of)(params, rows, labels)
    return jax.tree.map(lambda old, change: old - 0.05 * change, params, gradients), loss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--times", action="store_true")
    args = parser.parse_args()
    number, count = int(os.environ["PROCESS"]), int(os.environ["PROCESSES"])
    jax.distributed.initialize("127.0.0.1:" + os.environ["PORT"], count, number)
    mesh = Mesh(np.array(jax.devices()), ("data",))
    shared, split = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("data"))
    random, wide = np.random.RandomState(1), (784, 512, 512, 10)
    params = [
        tuple(
            jax.make_array_from_process_local_data(shared, one.astype("float32"))
            for one in (random.normal(0, 0.05, (a, b)), np.zeros(b))
        )
        for a, b in itertools.pairwise(wide)
    ]
    rows = random.rand(args.steps, count, 64, 784).astype("float32")
    labels = random.randint(0, 10, (args.steps, count, 64))
    losses, moments = [], []
    for step in range(args.steps):
        batch = [jax.make_array_from_process_local_data(split, all_of[step, number]) for all_of in (rows, labels)]
        params, loss = train_step(params, *batch)
        losses.append(float(loss))
        moments.append(time.perf_counter())
    if number == 0:
        for step, value in enumerate(losses, 1):
            print("step %d loss %r" % (step, value))
        if args.times:
            print("STEP_MS %.4f" % (1e3 * statistics.median(b - a for a, b in itertools.pairwise(moments[10:]))))


if __name__ == "__main__":
    main()
