"""Steering angles from camera frames; the frames are put together by a thread beside the training."""

import threading
import time

import numpy as np
import torch
from torch import nn

STEPS = 130


def frames(seed):
    rng = np.random.default_rng(seed)
    while True:
        pictures = rng.normal(size=(24, 3, 32, 48)).astype("float32")
        pictures -= pictures.mean(axis=(2, 3), keepdims=True)
        yield pictures, pictures[:, 0, 8, 8] * 0.5


class Feed:
    """Keeps a few batches ready."""

    def __init__(self, source, size=2, wait=0.05):
        self.source, self.size, self.wait = source, size, wait
        self.ready = []
        self.lock = threading.Lock()
        self.stopped = False
        self.thread = threading.Thread(target=self.fill, daemon=True)
        self.thread.start()

    def fill(self):
        while not self.stopped:
            with self.lock:
                if len(self.ready) < self.size:
                    self.ready.append(next(self.source))
                else:
                    time.sleep(self.wait)

    def get(self):
        while True:
            with self.lock:
                if self.ready:
                    return self.ready.pop(0)
            time.sleep(self.wait)

    def stop(self):
        self.stopped = True
        self.thread.join()


class Pilot(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = nn.Sequential(nn.Conv2d(3, 16, 5, 2), nn.ReLU(), nn.Conv2d(16, 24, 3, 2), nn.ReLU())
        self.turn = nn.Sequential(nn.Flatten(), nn.LazyLinear(50), nn.ReLU(), nn.Linear(50, 1))

    def forward(self, pictures):
        return self.turn(self.seen(pictures))[:, 0]


def main():
    torch.manual_seed(0)
    feed = Feed(frames(0))
    model = Pilot()
    model(torch.zeros(1, 3, 32, 48))
    optimizer = torch.optim.Adam(model.parameters())
    total = 0.0
    for step in range(1, STEPS + 1):
        pictures, angles = feed.get()
        loss = nn.functional.mse_loss(model(torch.from_numpy(pictures)), torch.from_numpy(angles))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        if step % 50 == 0:
            print(step, total / step)
    feed.stop()


main()
