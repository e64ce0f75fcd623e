"""An MLP in PyTorch under Ray Train, two workers with gloo; each writes the loss of each step into a file of its own."""

import argparse
import itertools
import os
import statistics
import time

import ray
import torch
from ray.train import ScalingConfig, get_context
from ray.train.torch import TorchConfig, TorchTrainer, prepare_data_loader, prepare_model
from torch.nn import Linear, ReLU, Sequential
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset


def train(told):
    rank, world = get_context().get_world_rank(), get_context().get_world_size()
    torch.manual_seed(1)
    size = 64 * told["steps"] * world
    data = TensorDataset(torch.rand(size, 784), torch.randint(0, 10, (size,)))
    model = prepare_model(Sequential(Linear(784, 512), ReLU(), Linear(512, 10)))
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    losses, moments = [], []
    for rows, labels in prepare_data_loader(DataLoader(data, batch_size=64)):
        optimizer.zero_grad()
        loss = cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        moments.append(time.perf_counter())
    with open(os.path.join(told["folder"], "losses-%d.txt" % rank), "w") as file:
        file.writelines("rank %d step %d loss %r\n" % (rank, number, one) for number, one in enumerate(losses, 1))
        if told["times"] and rank == 0:
            file.write("STEP_MS %.4f\n" % (1e3 * statistics.median(b - a for a, b in itertools.pairwise(moments[10:]))))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--times", action="store_true")
    args = parser.parse_args()
    ray.init("local", num_cpus=3, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    told = {"steps": args.steps, "folder": os.getcwd(), "times": args.times}
    scaling = ScalingConfig(num_workers=2, use_gpu=False)
    TorchTrainer(train, train_loop_config=told, scaling_config=scaling, torch_config=TorchConfig(backend="gloo")).fit()
    for rank in (0, 1):
        with open("losses-%d.txt" % rank) as file:
            print(file.read(), end="")
    ray.shutdown()


if __name__ == "__main__":
    main()
