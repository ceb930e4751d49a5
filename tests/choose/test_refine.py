"""Merging rules that say nearly the same."""

import numpy as np
import pytest
from premises_to_try import random_bags

from fuzzymil.inference.membership import Bell, Sigmoid
from fuzzymil.learn.choose.candidates import Condition, Part, premise_truths
from fuzzymil.learn.choose.refine import merge_alike, share_sets


def some(*conditions):
    return (Part("some", None, tuple(Condition(d, (chosen,)) for d, chosen in conditions)),)


def test_neighboring_thresholds_become_one():
    premises = [some((0, Sigmoid(7.0, 4.0))), some((0, Sigmoid(7.5, 4.0))), some((0, Sigmoid(8.0, 4.0)))]
    coefs = np.array([[1.0], [2.0], [1.0]])
    (premise,), together = merge_alike(premises, coefs)
    assert together.tolist() == [[4.0]]
    (condition,) = premise[0].conditions
    assert condition.sets[0].center == pytest.approx(7.5)
    assert 0 < condition.sets[0].slope < 4
    bags = random_bags(n_bags=100)
    apart = premise_truths(premises, bags) @ coefs
    np.testing.assert_allclose(premise_truths([premise], bags) @ together, apart, atol=0.2)


def test_merging_equal_rules_changes_nothing():
    premise = some((0, Sigmoid(7.0, -4.0)), (1, Bell(3.0, 2.0, 2.0)))
    (found,), coefs = merge_alike([premise, premise], np.array([[1.0, -2.0], [0.5, -1.0]]))
    assert coefs.tolist() == [[1.5, -3.0]]
    for one, other in zip(found[0].conditions, premise[0].conditions, strict=True):
        assert one.sets[0].parameters == pytest.approx(other.sets[0].parameters)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (some((0, Sigmoid(5.0, 2.0))), some((0, Sigmoid(5.0, -2.0)))),  # another direction
        (some((0, Sigmoid(5.0, 2.0))), some((1, Sigmoid(5.0, 2.0)))),  # another feature
        (some((0, Sigmoid(5.0, 2.0))), (Part("at least", 2, (Condition(0, (Sigmoid(5.0, 2.0),)),)),)),
        (some((0, Sigmoid(5.0, 2.0))), some((0, Sigmoid(5.0, 2.0)), (1, Sigmoid(5.0, 2.0)))),
        (some((0, Bell(2.0, 1.0, 2.0))), some((0, Bell(6.0, 1.0, 2.0)))),  # separate
        (some((0, Bell(2.0, 1.0, 2.0))), some((0, Sigmoid(2.0, 2.0)))),
    ],
)
def test_rules_that_say_something_else_stay(one, other):
    found, coefs = merge_alike([one, other], np.array([[1.0], [2.0]]))
    assert sorted(zip(coefs[:, 0], found, strict=True), key=lambda pair: pair[0]) == [(1.0, one), (2.0, other)]


def test_rules_that_conclude_the_opposite_stay():
    premises = [some((0, Sigmoid(5.0, 2.0))), some((0, Sigmoid(6.0, 2.0)))]
    assert len(merge_alike(premises, np.array([[1.0], [-1.0]]))[0]) == 2
    assert len(merge_alike(premises, np.array([[1.0, 1.0], [1.0, -1.0]]))[0]) == 2


def test_overlapping_bounded_sets_become_one():
    premises = [some((0, Bell(4.0, 2.0, 2.0))), some((0, Bell(5.0, 2.0, 4.0)))]
    (premise,), _ = merge_alike(premises, np.array([[1.0], [3.0]]))
    assert premise[0].conditions[0].sets[0].parameters == pytest.approx((4.75, 2.0, 3.5))


def test_nothing_to_merge():
    found, coefs = merge_alike([], np.empty((0, 2)))
    assert found == []
    assert coefs.shape == (0, 2)


# ---------------------------------------------------------------------- sets


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
