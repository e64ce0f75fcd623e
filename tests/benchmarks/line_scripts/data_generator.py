"""A data generator: rows made one by one, and changed."""

import math
import random
import sys

random.seed(2)


def sample(k):
    x = [random.gauss(0, 1) for _ in range(k)]
    s = sum(x)
    y = 1 if s > 0 else 0
    return x, y


def augment(x):
    out = []
    for v in x:
        w = v * 1.1 + 0.1
        if w > 2:
            w = 2.0
        out.append(math.tanh(w))
    return out


def batches(n, size, k):
    for _ in range(n):
        xs, ys = [], []
        for _ in range(size):
            x, y = sample(k)
            xs.append(augment(x))
            ys.append(y)
        yield xs, ys


def main(n):
    total = 0.0
    for xs, ys in batches(n, 32, 64):
        total += sum(map(sum, xs)) / len(ys)
    return total


print(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
