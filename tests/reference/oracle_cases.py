"""Random bags and rules, for the network and for the loop-only oracle."""

import math

import numpy as np

from fuzzymil.rules import RuleBase

ALPHAS = (-50.0, 0.0, 1.0, 50.0)


class Case:
    """Rules of one output and bags, such that no membership underflows a double."""

    def __init__(self, seed, features, sizes, order, rules=3):
        rng = np.random.default_rng(seed)
        self.bags = [rng.normal(size=(size, features)) for size in sizes]
        self.centers = rng.normal(size=(rules, features))
        self.widths = 0.6 * math.sqrt(features) * rng.uniform(0.8, 1.25, (rules, features))
        self.coefs = rng.normal(size=(rules, 1 + order * features))
        self.coefs[:, 1:] /= math.sqrt(features)
        self.targets = rng.normal(size=len(sizes))
        self.keep = (rng.random((len(sizes), rules)) < 0.6).astype(float)

    @property
    def parameters(self):
        """Centers, widths and coefficients as the oracle takes them."""
        return self.centers.tolist(), self.widths.tolist(), self.coefs.tolist()

    def rule_base(self, **settings):
        return RuleBase.from_arrays(self.centers, self.widths, self.coefs[:, None, :], **settings)

    def packed(self):
        """Instances and the index of each one's bag."""
        index = np.repeat(np.arange(len(self.bags), dtype=np.int32), [len(bag) for bag in self.bags])
        return np.concatenate(self.bags), index
