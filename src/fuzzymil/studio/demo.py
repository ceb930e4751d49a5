"""The demonstration: the paper's two concepts, and an expert's first guess at them."""

from __future__ import annotations

import numpy as np

from fuzzymil.bags import Bags
from fuzzymil.studio.document import Document

__all__ = ["demo_bags", "demo_document"]

_GUESS = """\
# A bag of points is positive if one of its points lies in one of two discs.
# These rules are a first guess: drag the sets, or train them.

VARIABLE x1 FROM 0 TO 2: left = Gaussian(0.7, 0.3), right = Gaussian(1.3, 0.3)
VARIABLE x2 FROM 0 TO 2: low = Gaussian(0.7, 0.3), high = Gaussian(1.3, 0.3)
Default: positive = -3
First disc: IF SOME (x1 is left AND x2 is low) THEN positive += 5
Second disc: IF SOME (x1 is right AND x2 is high) THEN positive += 5
"""


def demo_document() -> Document:
    """Return the first guess.

    Examples
    --------
    >>> demo_document().rules.n_rules
    2
    """
    return Document(_GUESS)


def demo_bags() -> Bags:
    """Return the bags: 150, of which 100 are positive.

    Examples
    --------
    >>> demo_bags().n_bags
    150
    """
    from fuzzymil.datasets import make_two_concepts

    made = make_two_concepts(random_state=np.random.RandomState(3))  # a number would load scikit-learn
    assert made.labels is not None
    labels = ["positive" if label else "negative" for label in made.labels]
    return Bags(made.instances, made.offsets, ids=made.ids, labels=labels, feature_names=["x1", "x2"])
