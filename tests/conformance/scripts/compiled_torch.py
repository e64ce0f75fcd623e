"""torch.compile with graph breaks, in functions of the script whose lines are counted."""

import torch


def broken(x):
    y = x * 2
    print("between graphs", tuple(y.shape))
    return y + 1


def twin(x):
    y = x * 2
    print("between graphs", tuple(y.shape))
    return y + 1


def step(x):
    total = broken(x) + twin(x)
    for n in range(2):
        total = total + n
    return total.sum()


compiled = torch.compile(step, backend="eager")
for _ in range(3):
    print(float(compiled(torch.ones(3))))
