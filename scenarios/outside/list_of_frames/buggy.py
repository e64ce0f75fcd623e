import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn

random.seed(1)
np.random.seed(1)
torch.manual_seed(1)


class QNet(nn.Module):
    def __init__(self, actions):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2, 8, 8, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 10 * 10, 64), nn.ReLU(),
            nn.Linear(64, actions),
        )

    def forward(self, x):
        return self.body(x)


memory = deque(maxlen=1000)
frame = np.zeros((2, 44, 44), dtype=np.float32)
for _ in range(300):
    nxt = 0.9 * frame + 0.1 * np.random.rand(2, 44, 44).astype(np.float32)
    memory.append((frame, random.randrange(4), float(nxt.mean()), nxt))
    frame = nxt

policy, target = QNet(4), QNet(4)
target.load_state_dict(policy.state_dict())
opt = torch.optim.Adam(policy.parameters(), lr=1e-3)


def learn():
    batch = random.sample(memory, 32)
    states, actions, rewards, after = zip(*batch)
    s = torch.tensor(states)
    s2 = torch.tensor(after)
    a = torch.tensor(actions).unsqueeze(1)
    r = torch.tensor(rewards)
    q = policy(s).gather(1, a).squeeze(1)
    with torch.no_grad():
        goal = r + 0.9 * target(s2).max(1)[0]
    loss = nn.functional.smooth_l1_loss(q, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


for step in range(40):
    loss = learn()
    if step % 10 == 0:
        target.load_state_dict(policy.state_dict())
        print(step, loss)
