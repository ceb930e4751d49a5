"""Peers on bags: a PyTorch module with one step per bag, and the attention networks of two packages."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable

import numpy as np
import samples

from contestants.timing import epoch_timer, seconds

Task = Callable[[], float]


def torch_on_line(n_rules: int) -> dict[str, Task]:
    """The paper's Algorithm 1 in PyTorch: the six layers, the error, its gradient and a step for each bag."""
    import torch

    class MIANFIS(torch.nn.Module):
        def __init__(self, centers: torch.Tensor, alpha: float = 1.0) -> None:
            super().__init__()
            self.centers = torch.nn.Parameter(centers)
            self.widths = torch.nn.Parameter(torch.full_like(centers, 15.0))
            self.outputs = torch.nn.Parameter(torch.zeros(len(centers)))
            self.alpha = alpha

        def forward(self, bag: torch.Tensor) -> torch.Tensor:
            z = (bag[:, None, :] - self.centers) / self.widths
            log_truth = -0.5 * (z * z).sum(2)  # (i, r)
            weight = torch.log_softmax(self.alpha * torch.exp(log_truth), 0)
            log_firing = torch.logsumexp(log_truth + weight, 0)  # (r,): the truths' mean, weighted by the softmax
            return torch.softmax(log_firing, 0) @ self.outputs

    x, offsets, labels, _ = samples.musk1()
    x = (x - x.mean(0)) / np.where(x.std(0) > 0, x.std(0), 1.0)
    instances = torch.tensor(x, dtype=torch.float32)
    bags = [instances[start:end] for start, end in itertools.pairwise(offsets)]
    targets = torch.tensor(labels, dtype=torch.float32)

    def fit(epochs: int) -> object:
        order = torch.Generator().manual_seed(0)
        model = MIANFIS(instances[:n_rules].clone())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(epochs):
            for place in torch.randperm(len(bags), generator=order).tolist():
                loss = (model(bags[place]) - targets[place]) ** 2
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
        return loss.item()

    return {"epoch": epoch_timer(fit)}


def _small_bags(n_bags: int, n_features: int) -> tuple[list[np.ndarray], np.ndarray]:
    x, offsets, labels = samples.bags(np.random.default_rng(1).integers(2, 11, n_bags), n_features)
    return [x[start:end] for start, end in itertools.pairwise(offsets)], labels


def torchmil(n_bags: int, n_features: int, epochs: int) -> dict[str, Task]:
    """ABMIL in torchmil's Trainer, full batch; the Trainer evaluates the bags again after each epoch."""
    import torch
    from tensordict import TensorDict
    from torchmil.data import collate_fn
    from torchmil.models import ABMIL
    from torchmil.utils import Trainer

    bags, labels = _small_bags(n_bags, n_features)
    data = [
        TensorDict({"X": torch.tensor(bag, dtype=torch.float32), "Y": torch.tensor(float(label))})
        for bag, label in zip(bags, labels, strict=True)
    ]

    def fit(epochs: int) -> None:
        torch.manual_seed(0)
        loader = torch.utils.data.DataLoader(data, batch_size=n_bags, shuffle=True, collate_fn=collate_fn)
        model = ABMIL(in_shape=(n_features,), att_dim=64)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        Trainer(model, optimizer, device="cpu", disable_pbar=True, verbose=False).train(epochs, loader)

    fit(1)
    return {"fit": lambda: seconds(fit, epochs)}


def milearn(n_bags: int, n_features: int, epochs: int) -> dict[str, Task]:
    """milearn's additive attention, full batch; it holds out a fifth of the bags for validation."""
    warnings.filterwarnings("ignore")
    from milearn.network.classifier import AdditiveAttentionNetworkClassifier

    bags, labels = _small_bags(n_bags, n_features)

    def fit(epochs: int) -> None:
        settings = {"max_epochs": epochs, "batch_size": n_bags, "early_stopping": False}
        AdditiveAttentionNetworkClassifier(**settings).fit(bags, labels.tolist())

    fit(1)
    return {"fit": lambda: seconds(fit, epochs)}
