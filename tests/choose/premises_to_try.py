"""Bags and premises that several tests use."""

import numpy as np

from fuzzymil import Bags
from fuzzymil.bags import Column, Columns
from fuzzymil.inference.membership import Bell, Sigmoid
from fuzzymil.learn.choose.candidates import Condition, Part
from fuzzymil.learn.choose.choose import AdditiveRules, rule_base
from fuzzymil.learn.train.scaling import Measures, Scaling

NAMES = ("a", "b", "c")
HIGH, LOW = Condition(0, (Sigmoid(5.5, 1.3),)), Condition(1, (Sigmoid(4.0, -2.0),))
MIDDLE, NARROW = Condition(2, (Bell(5.0, 2.0, 3.0),)), Condition(0, (Bell(7.0, 1.0, 1.0),))

PREMISES = (
    (Part("some", None, (HIGH,)),),
    (Part("some", None, (LOW,)),),
    (Part("at least", 3, (HIGH,)),),
    (Part("at least", 2, (LOW,)),),
    (Part("some", None, (MIDDLE,)),),
    (Part("all", None, (LOW,)),),
    (Part("on average", None, (HIGH,)),),
    (Part("on average", None, (HIGH, MIDDLE)),),
    (Part("some", None, (HIGH, LOW, MIDDLE)),),
    (Part("at least", 2, (HIGH, LOW)),),
    (Part("all", None, (MIDDLE, LOW)),),
    (Part("at least", 4, ()),),
    (Part("some", None, (HIGH,)), Part("some", None, (LOW,))),
    (Part("some", None, (HIGH, LOW)), Part("on average", None, (NARROW,)), Part("at least", 3, ())),
)
"""Every quantifier, with one condition, several and none, and conjunctions of parts."""


def random_bags(seed=0, n_bags=30, missing=0.0):
    """Return bags of 1 to 7 instances with three features between 0 and 10."""
    rng = np.random.RandomState(seed)
    bags = [rng.uniform(0, 10, size=(rng.randint(1, 8), 3)) for _ in range(n_bags)]
    for bag in bags:
        bag[rng.uniform(size=bag.shape) < missing] = np.nan
    return Bags.from_list(bags, NAMES)


def converted(premises, bags, scaling=None):
    """Return a rule base with these premises, in this order."""
    scaling = scaling or Scaling.fit(Measures.of(bags.instances), standardize=True, clip=3.0)
    coefs = np.arange(len(premises), 0, -1.0)[:, None]
    return rule_base(
        AdditiveRules(tuple(premises), coefs, np.array([-1.5])),
        scaling,
        Columns(map(Column, NAMES)),
        ["y"],
    )


def numerical_gradient(function, point, step=1e-6):
    """Return the derivatives of a number by central differences."""
    found = np.empty(len(point))
    for n in range(len(point)):
        up, down = point.copy(), point.copy()
        up[n] += step
        down[n] -= step
        found[n] = (function(up) - function(down)) / (2 * step)
    return found
