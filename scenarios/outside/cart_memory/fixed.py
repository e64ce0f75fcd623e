"""Q-learning on logged transitions of a cart and its pole."""

import random

import numpy as np
import torch
from torch import nn

CAPACITY = 1_200_000
BATCH = 128
UPDATES = 1200


class Memory:
    """The last transitions."""

    def __init__(self, capacity):
        self.capacity, self.at, self.transitions = capacity, 0, []

    def push(self, row, action, reward):
        if len(self.transitions) < self.capacity:
            self.transitions.append(None)
        self.transitions[self.at] = (row, action, reward)
        self.at = (self.at + 1) % self.capacity

    def sample(self, count):
        return random.sample(self.transitions, count)


class Values(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, states):
        return self.layers(states)


def logged(memory, rng):
    states = rng.normal(size=(CAPACITY + 1, 4)).astype("float32")
    actions = rng.integers(0, 2, CAPACITY).tolist()
    memory.transitions.extend(zip(range(CAPACITY), actions, [1.0] * CAPACITY))
    return torch.from_numpy(states)


def update(policy, target, optimizer, states, batch, gamma=0.99):
    rows, actions, rewards = map(torch.tensor, zip(*batch))
    value = policy(states[rows]).gather(1, actions[:, None])[:, 0]
    with torch.no_grad():
        wanted = rewards + gamma * target(states[rows + 1]).max(1).values
    loss = nn.functional.smooth_l1_loss(value, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    random.seed(0)
    torch.manual_seed(0)
    memory = Memory(CAPACITY)
    states = logged(memory, np.random.default_rng(0))
    policy, target = Values(), Values()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    losses = []
    for step in range(UPDATES):
        if step % 200 == 0:
            target.load_state_dict(policy.state_dict())
        batch = memory.sample(BATCH)
        losses.append(update(policy, target, optimizer, states, batch))
    print("loss", np.mean(losses[-100:]))


main()
