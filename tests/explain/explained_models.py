"""Models and bags that several tests explain."""

import dataclasses
import functools

import numpy as np

from fuzzymil import ANFISRegressor, Bags, MIANFISClassifier, MIANFISRegressor, RuleBase
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import network_parameters
from fuzzymil.inference.membership import Gaussian, Trapezoidal, Triangular
from fuzzymil.rules.premise import And, Is, Not, Or
from fuzzymil.rules.rule import Rule, Variable

BAGS = make_two_concepts(n_per_concept=8, n_negative=8, random_state=3)
TEXT_LABELS = np.array(["left"] * 8 + ["right"] * 8 + ["none"] * 8)

HUE = Variable("hue", {"red": Gaussian(0.1, 0.1), "blue": Gaussian(0.6, 0.1)}, 0, 1)
TEXTURE = Variable("texture", {"smooth": Triangular(-1, 0, 1), "rough": Trapezoidal(0.2, 0.6, 2, 3)}, unit="mm")
SKY = RuleBase(
    (HUE, TEXTURE),
    (
        Rule({"hue": "blue", "texture": "smooth"}, [[1.0]]),
        Rule(
            And((Is("hue", "red"), Not(Or((Is("texture", "smooth", ("very",)), Is("hue", "blue")))))),
            [[-0.5]],
            weight=0.5,
        ),
        Rule(Or((Is("hue", "blue", ("not",)), Is("texture", "rough"))), [[0.25]]),
    ),
    ("sky",),
    t_norm="min",
    aggregation="max",
)
PATCHES = np.array([[0.65, 0.1], [0.2, 0.75], [0.5, 0.5]])


def small(kind, y, n_rules=3, **settings):
    settings = {"max_epochs": 15, "random_state": 0, "alpha": 5.0} | settings
    if kind is ANFISRegressor:
        del settings["alpha"]
        return kind(n_rules, **network_parameters(**settings)).fit(BAGS.instances, np.repeat(y, BAGS.sizes, axis=0))
    return kind(n_rules, **network_parameters(**settings)).fit(BAGS, y)


@functools.cache
def model(name):
    numbers = np.array([bag.max() for bag in BAGS])
    two = BAGS.labels
    return {
        "classifier": lambda: small(MIANFISClassifier, two),
        "hinge": lambda: small(MIANFISClassifier, two, loss="hinge"),
        "not normalized": lambda: small(MIANFISClassifier, two, normalize=False),
        "classes": lambda: small(MIANFISClassifier, TEXT_LABELS),
        "committee": lambda: small(MIANFISClassifier, two, n_estimators=3, order=1, init="random"),
        "triangles": lambda: small(MIANFISClassifier, two, membership="triangular", init_width=0.2),
        "two numbers": lambda: small(MIANFISRegressor, np.column_stack([numbers, -numbers])),
        "plain": lambda: small(ANFISRegressor, numbers),
    }[name]()


MODELS = ("classifier", "hinge", "not normalized", "classes", "committee", "triangles", "two numbers", "plain")


def bags_for(name):
    return Bags(BAGS.instances[:6], np.arange(7)) if name == "plain" else BAGS[[0, 5, 9, 14, 18, 23]]


SHARP = dataclasses.replace(
    SKY, variables=(Variable("hue", {"blue": Triangular(0, 1, 2)}), TEXTURE), rules=(Rule({"hue": "blue"}, [[1.0]]),)
)
