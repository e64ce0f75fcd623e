"""A training of 4 steps, then: 2 texts of 40 words, each written word by word with all of it; one with a state; a study."""

import torch
from torch import nn


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.read, self.score = nn.Embedding(9, 4), nn.GRU(4, 6, batch_first=True), nn.Linear(6, 9)

    def forward(self, words, state=None):
        read, state = self.read(self.embed(words), state)
        return self.score(read), state


@torch.no_grad()
def write(model, words, count):
    for _ in range(count):
        scores, _state = model(words)
        words = torch.cat([words, scores[:, -1:].argmax(-1)], 1)
    return words


@torch.no_grad()
def write_with_state(model, words, count):
    newest, state = words, None
    for _ in range(count):
        scores, state = model(newest, state)
        newest = scores[:, -1:].argmax(-1)
        words = torch.cat([words, newest], 1)
    return words


torch.manual_seed(1)
model = Words()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for length in range(4, 8):
    words = torch.randint(0, 9, (2, length))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(words)[0].flatten(0, 1), words.flatten()).backward()
    optimizer.step()
for _ in range(2):
    print(write(model, torch.zeros(1, 2, dtype=torch.long), 40).shape)
print(write_with_state(model, torch.zeros(1, 1, dtype=torch.long), 40).shape)
with torch.no_grad():
    print(sum(len(model(torch.ones(2, length, dtype=torch.long))[0]) for length in range(8, 400, 16)))
