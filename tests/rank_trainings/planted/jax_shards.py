"""Data-parallel JAX by hand, for `several.py`: each process takes the gradient of its own rows, then all take the mean.

`--more N`: process 1 has N times the rows of the others. `--evaluate`: process 0 evaluates after every twentieth step.
"""

import argparse
import os

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--more", type=int, default=1)
parser.add_argument("--evaluate", action="store_true")
args = parser.parse_args()
number, count = int(os.environ["PROCESS"]), int(os.environ["PROCESSES"])
jax.distributed.initialize("127.0.0.1:" + os.environ["PORT"], count, number)
mesh = Mesh(np.array(jax.devices()), ("data",))
split, shared = NamedSharding(mesh, PartitionSpec("data")), NamedSharding(mesh, PartitionSpec())


def loss_of(params, rows, labels):
    hidden = jax.nn.relu(rows @ params["in"])
    wrong = jax.nn.log_softmax(hidden @ params["out"])
    return -jnp.mean(jnp.take_along_axis(wrong, labels[:, None], 1))


gradient = jax.jit(jax.value_and_grad(loss_of))
evaluate = jax.jit(loss_of)


@jax.jit
def mean_of_all(tree):
    return jax.tree.map(lambda one: jax.lax.with_sharding_constraint(one.mean(0), shared), tree)


@jax.jit
def update(params, change):
    return jax.tree.map(lambda old, one: old - 0.05 * one, params, change)


def averaged(tree):
    stacked = jax.tree.map(lambda one: jax.make_array_from_process_local_data(split, np.asarray(one)[None]), tree)
    return jax.tree.map(lambda one: one.addressable_data(0), mean_of_all(stacked))


def main():
    random = np.random.RandomState(1)
    params = {
        "in": jnp.asarray(random.normal(0, 0.05, (784, 512)), "float32"),
        "out": jnp.asarray(random.normal(0, 0.05, (512, 10)), "float32"),
    }
    size = 128 * (args.more if number == 1 else 1)
    rows = random.rand(size, 784).astype("float32")
    labels = random.randint(0, 10, size)
    for step in range(args.steps):
        loss, change = gradient(params, rows, labels)
        params = update(params, averaged(change))
        if args.evaluate and number == 0 and step % 20 == 10:
            for _ in range(200):
                evaluate(params, rows, labels).block_until_ready()
    if number == 0:
        print("loss %r" % float(loss))


main()
