"""Small systems that tests of formats write."""

import dataclasses

import numpy as np

from fuzzymil import RuleBase
from fuzzymil.inference.membership import Bell, Gaussian, Sigmoid, Trapezoidal, Triangular
from fuzzymil.rules import Defuzzification, Rule, Variable

BAGS = "one instance at a time"


def two_inputs():
    return (
        Variable("depth", {"low": Triangular(0, 0, 1), "some": Bell(1, 0.5, 2), "high": Sigmoid(1.5, 4)}, 0, 2),
        Variable(
            "size", {"box": Trapezoidal(0, 0, 1, 1), "roof": Trapezoidal(0, 1, 1, 3), "big": Gaussian(2, 1)}, 0, 3
        ),
    )


def base(*premises, inputs=None, coefs=None, **fields):
    rules = [Rule(premise, [[float(r + 1)]] if coefs is None else coefs[r]) for r, premise in enumerate(premises)]
    return RuleBase(inputs or two_inputs(), tuple(rules), **({"aggregation": "max"} | fields))


POINTS = np.random.default_rng(0).uniform([-0.2, -0.2], [2.2, 3.2], (60, 2))


def concluding(premises, outputs, conclusions, default=(), **settings):
    """Return rules with these premises that conclude terms of outputs; the settings are those of `Defuzzification`."""
    return dataclasses.replace(
        premises,
        rules=[rule.concluding(said) for rule, said in zip(premises.rules, conclusions, strict=True)],
        outputs=outputs,
        default=default,
        defuzzification=Defuzzification(**settings),
    )
