"""Degrees of quantified parts without the truth of each instance: the same as by the layers, which compute it."""

import itertools

import numpy as np
import pytest

from fuzzymil import Bags, RuleBase
from fuzzymil.inference.activations import infer_output
from fuzzymil.inference.engines import numpy_parts

PREMISES = [
    "{q} a is high",
    "{q} a is low",
    "{q} a is not high",
    "{q} a is very low",
    "{q} (a is high AND b is low)",
    "{q} (a is high OR NOT (b is near))",
    "{q} b is near",
    "{q} b is missing",
]
QUANTIFIERS = ["SOME", "ALL", "MOST", "ON AVERAGE", "AT LEAST 2", "AT LEAST 5"]
RULES = """
VARIABLE a{a}: high = Sigmoid(0.5, 3), low = Sigmoid(-0.2, -4)
VARIABLE b{b}: low = Sigmoid(0, -2), near = Gaussian(0, 0.5)
USING t_norm = {norm}
Default: y = 0.25
"""


def rules(norm="product", a="", b=""):
    premises = [text.format(q=q) for text, q in itertools.product(PREMISES, QUANTIFIERS)]
    premises += ["AT LEAST 3 instances", "SOME a is high AND ALL b is low", "ALL a is high OR SOME b is near"]
    lines = [f"IF {premise} THEN y += {2.0**-n} WITH 0.5" for n, premise in enumerate(premises)]
    return RuleBase.parse(RULES.format(norm=norm, a=a, b=b) + "\n".join(lines))


def some_bags(gaps):
    rng = np.random.RandomState(0)
    values = rng.normal(size=(60, 2))
    if gaps:
        values[rng.uniform(size=values.shape) < 0.2] = np.nan
    return Bags(values, [0, 1, 4, 5, 12, 13, 20, 35, 60])


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("settings", [{}, {"norm": "min"}, {"a": " MISSING AS 0.4", "b": " MISSING AS -1, 0, 1"}])
def test_output_is_that_of_the_layers(gaps, settings, monkeypatch):
    base, bags = rules(**settings), some_bags(gaps)
    params, masks, operators = base.compile()
    assert degrees_of(base, bags).shape == (8, len(base.parts))
    for at_once in (1, 1 << 16):  # numbers
        monkeypatch.setattr(numpy_parts, "_NUMBERS", at_once)
        found = infer_output(params, masks, operators, bags)
        np.testing.assert_allclose(found, base.infer(bags).output, rtol=0, atol=1e-14)


def degrees_of(base, bags):
    params, masks, operators = base.compile()
    norms = operators.t_norm, operators.s_norm
    given = params.sets, masks, params.missing_values, norms, bags.instances, bags.offsets
    with np.errstate(all="ignore"):
        return numpy_parts.log_degrees(operators.parts, *given)


def test_other_norms_take_the_plain_way():
    base, bags = rules("einstein"), some_bags(True)
    assert degrees_of(base, bags) is None
    np.testing.assert_array_equal(infer_output(*base.compile(), bags), base.infer(bags).output)
