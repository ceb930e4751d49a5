"""The worked example of the paper's layers, and random cases, for checks of the oracle."""

import math
import random

import pytest

# With this abscissa the unit Gaussian is a power of two: exp(-A^2/2) = exp(-ln 2) = 1/2.
A = math.sqrt(2 * math.log(2))

# The worked example: one feature, unit widths, a bag at 0 and A, rule 1 at 0, rule 2 at 2A, b = 1 and 0.
#   r_1 = (1, 1/2);  r_2 = (exp(-4 ln 2), exp(-ln 2)) = (1/16, 1/2)
EXAMPLE = {
    "bag": [[0.0], [A]],
    "centers": [[0.0], [2 * A]],
    "widths": [[1.0], [1.0]],
    "coefs": [[1.0], [0.0]],
}


def close(expected, tolerance=1e-12):
    return pytest.approx(expected, rel=tolerance, abs=tolerance)


def random_case(seed, rules=3, features=2, instances=4, order=1):
    draw = random.Random(seed)
    return {
        "bag": [[draw.gauss(0, 1) for _ in range(features)] for _ in range(instances)],
        "centers": [[draw.gauss(0, 1) for _ in range(features)] for _ in range(rules)],
        "widths": [[draw.uniform(0.6, 1.8) for _ in range(features)] for _ in range(rules)],
        "coefs": [[draw.gauss(0, 1) for _ in range(1 + order * features)] for _ in range(rules)],
    }
