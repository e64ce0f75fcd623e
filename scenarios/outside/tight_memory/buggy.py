"""Fine-tune a small transformer on made-up sentences."""

import gc

import torch
from torch import nn

VOCAB, LENGTH, BATCH = 2000, 32, 16
STEPS = 90


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 96)
        layer = nn.TransformerEncoderLayer(96, 4, 192, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(96, 12)

    def forward(self, tokens):
        return self.head(self.encoder(self.embed(tokens)))


def main():
    torch.manual_seed(0)
    model = Tagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    peak = 0
    for step in range(STEPS):
        tokens = torch.randint(0, VOCAB, (BATCH, LENGTH))
        tags = tokens % 12
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tags.flatten())
        loss.backward()
        optimizer.step()
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
            peak = max(peak, torch.cuda.max_memory_allocated())
        if step % 30 == 0:
            print(step, loss.item(), peak)


main()
