"""The paper's rules about the sky, and bags for them."""

import numpy as np

from fuzzymil import Bags
from fuzzymil.inference.membership import Gaussian, Sigmoid

INPUTS = {
    "hue": {"red": Gaussian(0.1, 0.1), "blue": Gaussian(0.6, 0.1)},
    "texture": {"smooth": Gaussian(0.0, 0.3), "rough": Sigmoid(0.5, 8.0)},
}
RULES = ["IF hue is blue AND texture is smooth THEN sky = 1", "IF hue is red AND texture is rough THEN sky = 0"]
SKY = [[0.6, 0.05], [0.1, 0.9]]
NO_SKY = [[0.15, 0.8], [0.1, 0.5], [0.2, 0.9]]
BAGS = Bags.from_list([SKY, NO_SKY, SKY[::-1], NO_SKY[1:]], ids=["a", "b", "c", "d"])
LABELS = np.array(["sky", "none", "sky", "none"])
