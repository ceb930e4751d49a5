"""Joined sets in plain numbers: the same as in logarithms."""

import numpy as np
import pytest

from fuzzymil.inference import conclusions
from fuzzymil.rules import RuleBase

TEXT = """
VARIABLE a: low = Gaussian(0, 0.2), high = Gaussian(1, 0.2), far = Triangular(3, 4, 5)
OUTPUT y FROM 0 TO 4: small = Triangular(-1, 0, 2), middle = Gaussian(2, 0.5), great = Trapezoidal(2, 3, 4, 5)
USING implication = {implication}, accumulation = {accumulation}, defuzzify = {defuzzify}
IF a is low THEN y is small
IF a is high THEN y is middle WITH 0.5
IF a is very high THEN y is great
IF a is far THEN y is great
"""


@pytest.mark.parametrize("implication", ["min", "product"])
@pytest.mark.parametrize("accumulation", ["max", "sum", "bounded"])
@pytest.mark.parametrize("defuzzify", ["centroid", "bisector", "mom", "som", "lom"])
def test_plain_numbers_and_logarithms_agree(implication, accumulation, defuzzify, monkeypatch):
    rules = RuleBase.parse(TEXT.format(implication=implication, accumulation=accumulation, defuzzify=defuzzify))
    x = np.linspace(-0.5, 1.5, 41)[:, None]
    plain = rules.infer(x).output
    monkeypatch.setattr(conclusions, "plain_suffices", lambda log_degrees, *rest: np.zeros(len(log_degrees), bool))
    in_logs = rules.infer(x).output
    apart = 4 / 1000 if defuzzify in ("mom", "som", "lom") else 1e-12  # which of two equal cells depends on rounding
    np.testing.assert_allclose(plain, in_logs, atol=apart, rtol=0)


def test_faint_and_empty_sets_are_left_to_logarithms():
    rules = RuleBase.parse(TEXT.format(implication="min", accumulation="max", defuzzify="centroid"))
    found = rules.infer([[0.5], [9.0], [2.0], [-40.0]])
    log_mu = np.array([chosen.log_membership(rules.values_of()) for chosen in rules.outputs[0].terms.values()])
    suits = conclusions.plain_suffices(found.log_firing[:, :3], log_mu, "min", "max")
    assert suits.tolist() == [True, False, True, False]
    assert found.uncovered_outputs[:, 0].tolist() == [False, False, False, False]
    assert found.output[3, 0] == pytest.approx(rules.infer([[-1.0]]).output[0, 0], abs=0.7)  # only 'low' speaks
    assert not conclusions.plain_suffices(found.log_firing[:, :3], log_mu, "einstein", "max").any()
