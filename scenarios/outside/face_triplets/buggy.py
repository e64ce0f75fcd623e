"""Learn an embedding of faces from triplets."""

import numpy as np
import torch
from torch import nn

PEOPLE, EACH, FEATURES = 40, 30, 256
BATCH, STEPS = 256, 160


def random_triplets(labels, rng):
    labels = labels.numpy()
    indices = np.arange(len(labels))
    anchors, positives, negatives = [], [], []
    for index, label in enumerate(labels):
        same = np.where((labels == label) & (indices != index))[0]
        other = np.where(labels != label)[0]
        if len(same) == 0 or len(other) == 0:
            continue
        anchors.append(index)
        positives.append(rng.choice(same))
        negatives.append(rng.choice(other))
    return torch.tensor(anchors), torch.tensor(positives), torch.tensor(negatives)


class TripletLoss(nn.Module):
    def __init__(self, margin=0.2):
        super().__init__()
        self.margin = margin
        self.rng = np.random.default_rng(0)

    def forward(self, embeddings, labels):
        anchors, positives, negatives = random_triplets(labels, self.rng)
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
