"""What tests of bags share."""

import numpy as np
import pytest
from three_bags import ARRAYS, IDS, LABELS

from fuzzymil.bags import Bags


@pytest.fixture
def bags():
    """Bags that carry everything there is to carry."""
    return Bags(
        np.concatenate(ARRAYS),
        [0, 2, 3, 6],
        ids=IDS,
        feature_names=["width", "depth"],
        labels=LABELS,
        instance_labels=[0, 1, 0, 1, 1, 0],
    )
