"""An MLP in DistributedDataParallel on gloo, for torchrun; rank 0 prints its loss of each step."""

import argparse
import itertools
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch.nn import Linear, ReLU, Sequential
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--times", action="store_true")
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    size = 64 * args.steps * dist.get_world_size()
    data = TensorDataset(torch.rand(size, 784), torch.randint(0, 10, (size,)))
    model = DistributedDataParallel(Sequential(Linear(784, 512), ReLU(), Linear(512, 512), ReLU(), Linear(512, 10)))
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    losses, moments = [], []
    for rows, labels in DataLoader(data, batch_size=64, sampler=DistributedSampler(data, shuffle=False)):
        optimizer.zero_grad()
        loss = cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        moments.append(time.perf_counter())
    if dist.get_rank() == 0:
        for number, value in enumerate(losses, 1):
            print("step %d loss %r" % (number, value))
        if args.times:
            print("STEP_MS %.4f" % (1e3 * statistics.median(b - a for a, b in itertools.pairwise(moments[10:]))))
    dist.barrier()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # PyTorch 2.13 aborts now and then while a process ends that has used gloo
