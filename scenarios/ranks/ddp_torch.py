"""An MLP in PyTorch's DistributedDataParallel, for torchrun; one process alone does the same without a launcher.

Initial weights, data and their order are those of the seed. Each rank takes every n-th row of the data, and
`--batch-size` rows in a step.
"""

import argparse
import os
import sys

import torch
import torch.distributed as dist
from torch.nn import Linear, ReLU, Sequential
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def arguments():
    parser = argparse.ArgumentParser(description="Train an MLP in DistributedDataParallel.")
    parser.add_argument("--samples", type=int, default=8192, help="rows of all ranks (default: %(default)s)")
    parser.add_argument("--batch-size", type=int, default=256, help="rows of a rank in a step (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=2, help="(default: %(default)s)")
    parser.add_argument("--units", type=int, default=1024, help="of each hidden layer (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    return parser.parse_args()


def main():
    args = arguments()
    if "RANK" not in os.environ:
        os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    dist.init_process_group("gloo")
    torch.manual_seed(args.seed)
    rows, labels = torch.rand(args.samples, 784), torch.randint(0, 10, (args.samples,))
    units = args.units
    net = Sequential(Linear(784, units), ReLU(), Linear(units, units), ReLU(), Linear(units, 10))
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    data = TensorDataset(rows, labels)
    loader = DataLoader(data, batch_size=args.batch_size, sampler=DistributedSampler(data, shuffle=False))
    for epoch in range(args.epochs):
        total, count = torch.zeros(()), 0
        for batch, wanted in loader:
            optimizer.zero_grad()
            loss = cross_entropy(model(batch), wanted)
            loss.backward()
            optimizer.step()
            total += loss.detach()
            count += 1
        dist.all_reduce(total)
        if dist.get_rank() == 0:
            print("epoch %d loss %.6f" % (epoch + 1, total.item() / count / dist.get_world_size()))
    dist.barrier()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # PyTorch 2.13 aborts now and then while a process ends that has used gloo
