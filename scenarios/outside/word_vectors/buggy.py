import time
import torch
import torch.nn as nn

torch.manual_seed(11)
VOCAB, DIM, LEN = 250000, 50, 20
texts = torch.randint(0, VOCAB, (4000, LEN))
targets = (texts.float().mean(1) > VOCAB / 2).float()


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCAB, DIM)
        self.hidden = nn.Linear(DIM, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, ids):
        v = self.words(ids).mean(dim=1)
        return self.out(torch.relu(self.hidden(v))).squeeze(1)


net = Tagger()
opt = torch.optim.SGD(net.parameters(), lr=0.5)
bce = nn.BCEWithLogitsLoss()

for epoch in range(2):
    start, total = time.time(), 0.0
    for i in range(0, len(texts), 32):
        opt.zero_grad()
        loss = bce(net(texts[i:i + 32]), targets[i:i + 32])
        loss.backward()
        opt.step()
        total += loss.item()
    print("epoch %d loss %.4f  %.1f s" % (epoch, total / 125, time.time() - start))
