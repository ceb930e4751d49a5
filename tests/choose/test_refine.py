"""Sets that are nearly equal become one."""

import numpy as np
from premises_to_try import random_bags

from fuzzymil.inference.membership import Sigmoid
from fuzzymil.learn.choose.candidates import Condition, Part, premise_truths
from fuzzymil.learn.choose.refine import share_sets


def some(*conditions):
    return (Part("some", None, tuple(Condition(d, (chosen,)) for d, chosen in conditions)),)


def sets_of(premises, feature):
    return {c.sets[0] for premise in premises for part in premise for c in part.conditions if c.feature == feature}


def test_sets_that_are_nearly_equal_become_one():
    bags = random_bags(n_bags=50)
    high, raised, top = Sigmoid(5.0, 4.0), Sigmoid(5.05, 4.2), Sigmoid(8.0, 4.0)
    other = Sigmoid(3.0, 4.0)
    premises = [some((0, high), (1, other)), some((0, raised)), some((0, top))]
    found = share_sets(premises, bags)
    (one,) = sets_of(found, 0) - {top}
    assert 5.0 < one.center < 5.05
    assert sets_of(found, 1) == {other}
    before, after = (premise_truths(each, bags) for each in (premises, found))
    np.testing.assert_allclose(before, after, atol=0.06)


def test_sets_that_alone_tell_rules_apart_stay():
    """Their difference is what lies between them."""
    premises = [some((0, Sigmoid(5.0, 4.0))), some((0, Sigmoid(5.05, 4.2))), some((0, Sigmoid(5.0, -4.0)))]
    assert share_sets(premises, random_bags(n_bags=50)) == premises
