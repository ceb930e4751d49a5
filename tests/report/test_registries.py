"""A registered family, T-norm or aggregation works in every figure of rules and in the report."""

import dataclasses

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pytest

from fuzzymil import Bags, MISugeno, RuleBase
from fuzzymil.inference.aggregation import AGGREGATIONS, maximum, register_aggregation
from fuzzymil.inference.membership import FAMILIES, Location, MembershipFunction, Width
from fuzzymil.inference.norms import DUAL, S_NORMS, T_NORMS, product, register_t_norm
from fuzzymil.plots import (
    ExplanationDisplay,
    MembershipDisplay,
    SpaceDisplay,
    SurfaceDisplay,
)
from fuzzymil.report import Report

RULES = """
    VARIABLE hue FROM 0 TO 1: low = {family}(0.2, 0.2), high = {family}(0.8, 0.2)
    VARIABLE size FROM 0 TO 1: small = {family}(0.2, 0.3)
    IF hue is low AND NOT size is small THEN y = 0
    IF hue is very high OR size is small THEN y = 1
"""


@pytest.fixture
def registered():
    @dataclasses.dataclass(frozen=True)
    class Laplace(MembershipFunction, name="laplace"):
        center: Location
        width: Width

        @staticmethod
        def log_mu(x, *parameters):
            center, width = parameters
            return -jnp.abs(x - center) / width

        @staticmethod
        def around(center, width):
            return center, width

    register_t_norm("own_t_norm", product)
    register_aggregation("own_aggregation", maximum)
    yield
    del FAMILIES["laplace"], T_NORMS["own_t_norm"], S_NORMS["own_t_norm"], DUAL["own_t_norm"]
    del AGGREGATIONS["own_aggregation"]


@pytest.mark.slow
@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("family", "operators"),
    [("Laplace", {}), ("Gaussian", {"t_norm": "own_t_norm", "aggregation": "own_aggregation"})],
    ids=["family", "operators"],
)
def test_figures_and_report(family, operators):
    rules = dataclasses.replace(RuleBase.parse(RULES.format(family=family)), **operators)
    bags = Bags.from_list(list(np.random.default_rng(0).uniform(0, 1, (6, 3, 2))), ["hue", "size"], labels=[0, 1] * 3)
    model = MISugeno(rules=rules).fit(bags)
    displays = [
        MembershipDisplay.from_rules(rules),
        SpaceDisplay.from_model(model, bags, position=0),
        SurfaceDisplay.from_rules(model, "hue", "size", n_points=5),
        ExplanationDisplay.from_explanation(model.explain(bags, position=0)),
    ]
    for display in displays:
        figure = display.plot()
        figure.canvas.draw()
        plt.close(figure)
    text = Report.of(model, bags).to_html()
    assert f"{family}(0.2, 0.2)" in text
    assert all(name in text for name in operators.values())
