"""Find the pages with a nine: a small convolutional network and rules, trained end to end by the labels of pages alone.

A page is a bag of five digits, images of 8 x 8 pixels that come with scikit-learn. It is positive if one of them is a
nine; nothing tells which. The network turns each digit into two features, and three rules decide from the features of
all digits. After training, the witness of a rule on a page is the digit that satisfies it best.

Run it with ``python examples/torch_digits.py``; it needs ``fuzzymil[torch]``. ``--device cuda`` trains on a GPU, and
``--compile`` compiles network and rules with ``torch.compile``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from torch import Tensor, nn

from fuzzymil.torch import FuzzyBagHead

WANTED = 9
PER_PAGE = 5
DIGITS = load_digits()
IMAGES = torch.tensor(DIGITS.images, dtype=torch.float32)[:, None] / 16


class Reader(nn.Module):
    """From the digits of pages to a logit per page: a convolutional network, then rules."""

    def __init__(self, some_images: Tensor) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, kernel_size=3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(72, 32),
            nn.ReLU(),
            nn.Linear(32, 2),
            nn.BatchNorm1d(2, affine=False),  # keeps the features where the rules look for them
        )
        with torch.no_grad():
            start = self.features(some_images)
        self.head = FuzzyBagHead.from_instances(
            start, n_rules=3, output_names=["nine"], alpha=5.0, normalize=False, random_state=0
        )

    def bags(self, images: Tensor) -> Tensor:
        """Return the features (pages, digits, 2) of images (pages, digits, 1, 8, 8)."""
        found: Tensor = self.features(images.flatten(0, 1)).unflatten(0, images.shape[:2])
        return found

    def forward(self, images: Tensor) -> Tensor:
        """Return a logit for each page."""
        found: Tensor = self.head(self.bags(images))[:, 0]
        return found


def pages(digits: np.ndarray, n_pages: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the digits on pages, (pages, digits), and the labels; every second page has one nine."""
    is_nine = DIGITS.target[digits] == WANTED
    labels = np.arange(n_pages) % 2
    found = rng.choice(digits[~is_nine], (n_pages, PER_PAGE))
    positive = np.flatnonzero(labels)
    found[positive, rng.integers(PER_PAGE, size=len(positive))] = rng.choice(digits[is_nine], len(positive))
    return found, labels


def train(
    reader: Reader, images: Tensor, numbers: np.ndarray, labels: np.ndarray, n_epochs: int = 20, compiled: bool = False
) -> None:
    """Train network and rules together, by the labels of pages."""
    forward = torch.compile(reader) if compiled else reader
    optimizer = torch.optim.Adam(
        [
            {"params": reader.features.parameters(), "lr": 0.005},
            {"params": reader.head.parameters(), "lr": 0.03},
        ]
    )
    targets = torch.tensor(labels, dtype=torch.float32, device=images.device)
    reader.train()
    for _ in range(n_epochs):
        for batch in torch.randperm(len(numbers)).split(40):
            loss = nn.functional.binary_cross_entropy_with_logits(forward(images[numbers[batch]]), targets[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    reader.eval()


def draw(numbers: np.ndarray, logits: np.ndarray, truths: np.ndarray, rule: int, words: str) -> Figure:
    """Draw pages, one per row, each digit with the truth of a rule, and a frame around its witness."""
    figure, axes = plt.subplots(len(numbers), PER_PAGE, figsize=(5.2, 1.05 * len(numbers) + 0.6), squeeze=False)
    for page, row in enumerate(axes):
        witness = int(truths[page, :, rule].argmax())
        for place, axis in enumerate(row):
            axis.imshow(IMAGES[numbers[page, place], 0], cmap="gray_r")
            axis.set(xticks=[], yticks=[])
            own = place == witness
            axis.spines[:].set(color="tab:red" if own else "0.85", linewidth=2.5 if own else 0.8)
            axis.set_title(f"{truths[page, place, rule]:.2f}", fontsize=8, color="tab:red" if own else "0.4", pad=2)
        row[0].set_ylabel(f"nine: {1 / (1 + np.exp(-logits[page])):.0%}", rotation=0, ha="right", va="center")
    figure.suptitle(f"{words}\ntruth of each digit; the witness is framed", fontsize=9)
    figure.tight_layout()
    return figure


def main() -> None:
    """Train, print what was learned, and draw the witnesses of the rule that finds the nines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("torch-digits.png"), help="the figure (torch-digits.png)")
    parser.add_argument("--device", default="cpu", help="where to train: cpu, cuda, mps (cpu)")
    parser.add_argument("--compile", action="store_true", help="compile network and rules")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(IMAGES))
    numbers, labels = pages(order[:1200], 400, rng)
    unseen, expected = pages(order[1200:], 200, rng)  # of digits that training does not see

    reader = Reader(IMAGES[order[:1200]]).to(arguments.device)
    images = IMAGES.to(arguments.device)
    train(reader, images, numbers, labels, compiled=arguments.compile)

    rules = reader.head.rules()
    print(rules)
    with torch.no_grad():
        layers = reader.head.infer(reader.bags(images[unseen]))
    logits, truths = layers.output[:, 0].cpu().numpy(), layers.log_truth.exp().cpu().numpy()
    print(f"Pages that are right: {np.mean((logits > 0) == expected):.1%}")
    rule = int(rules.coefs[:, 0, 0].argmax())
    positive = np.flatnonzero(expected)
    witnesses = unseen[positive, truths[positive, :, rule].argmax(axis=1)]
    share = np.mean(DIGITS.target[witnesses] == WANTED)
    print(f"Pages with a nine on which it is the witness of rule {rule + 1}: {share:.1%}")

    shown = np.arange(6)
    words = str(rules).splitlines()[1 + rule]  # the first line is the default
    draw(unseen[shown], logits[shown], truths[shown], rule, words).savefig(arguments.output, dpi=150)
    print(f"Wrote {arguments.output}.")


if __name__ == "__main__":
    main()
