"""Learn an embedding of faces from triplets."""

import torch
from torch import nn

PEOPLE, EACH, FEATURES = 40, 30, 256
BATCH, STEPS = 256, 160


def random_triplets(labels):
    same = labels[:, None] == labels[None]
    other = ~same
    same.fill_diagonal_(False)
    anchors = torch.nonzero(same.any(1) & other.any(1))[:, 0]
    positives = torch.multinomial(same[anchors].float(), 1)[:, 0]
    negatives = torch.multinomial(other[anchors].float(), 1)[:, 0]
    return anchors, positives, negatives


class TripletLoss(nn.Module):
    def __init__(self, margin=0.2):
        super().__init__()
        self.margin = margin

    def forward(self, embeddings, labels):
        anchors, positives, negatives = random_triplets(labels)
        near = (embeddings[anchors] - embeddings[positives]).norm(dim=1)
        far = (embeddings[anchors] - embeddings[negatives]).norm(dim=1)
        return torch.relu(near - far + self.margin).mean()


def main():
    torch.manual_seed(0)
    faces = torch.randn(PEOPLE, 1, FEATURES) + 0.7 * torch.randn(PEOPLE, EACH, FEATURES)
    faces = faces.reshape(-1, FEATURES)
    names = torch.arange(PEOPLE).repeat_interleave(EACH)
    model = nn.Sequential(nn.Linear(FEATURES, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, 64))
    criterion = TripletLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(STEPS):
        chosen = torch.randint(0, len(faces), (BATCH,))
        loss = criterion(model(faces[chosen]), names[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            print(step, loss.item())


main()
