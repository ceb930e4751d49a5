"""Small Mamdani systems that several tests use."""

from fuzzymil import RuleBase
from fuzzymil.inference.membership import Gaussian, Triangular
from fuzzymil.rules import Rule, Variable

DEPTH = Variable("depth", {"shallow": Gaussian(0.0, 0.2), "deep": Gaussian(1.0, 0.2)}, 0.0, 1.0, "m")
RISK = Variable("risk", {"small": Triangular(-0.5, 0, 0.5), "great": Triangular(0.5, 1, 1.5)}, 0.0, 1.0)
RULES = ["IF depth is shallow THEN risk is great", "IF depth is deep THEN risk is small"]
TEXT = """
VARIABLE depth [m] FROM 0 TO 1: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
IF depth is shallow THEN risk is great
IF depth is deep THEN risk is small
"""


def two_rules(**settings):
    return RuleBase.parse(RULES, [DEPTH], [RISK], **settings)


def gaps(**settings):
    """Two rules that are truly zero outside of [0, 2] and [4, 6]."""
    x = Variable("x", {"near": Triangular(0, 1, 2), "far": Triangular(4, 5, 6)})
    return RuleBase.parse(
        ["IF x is near THEN risk is great", "IF x is far THEN risk is small"], [x], [RISK], **settings
    )


PREMISES = [Rule({"depth": "shallow"}, {"risk": "great"}), Rule({"depth": "deep"}, {"risk": "small"})]


def odd_rules():
    text = """
    VARIABLE "depth (m)": "not deep" = Gaussian(0, 0.25), if_at_all = Bell(1, 0.5, 2)
    VARIABLE width [mm] FROM -1 TO 4: wide = Sigmoid(2, 3)
    OUTPUT "the risk" [%] FROM 0 TO 100: small = Triangular(-50, 0, 50), "very great" = Trapezoidal(50, 80, 100, 130)
    OUTPUT haste FROM -1 TO 1: some = Gaussian(0.125, 0.5)
    USING t_norm = einstein, s_norm = max, aggregation = softmax, alpha = (1, 2.5, 0.1), limited = yes,
          implication = product, accumulation = bounded, defuzzify = mom, resolution = 77, default = (12.5, -0.75)
    IF "depth (m)" is not very "not deep" OR NOT (width is wide AND "depth (m)" is if_at_all) THEN "the risk" is small
    IF anything THEN haste is some, "the risk" is "very great" WITH 0.3
    IF width is somewhat wide THEN haste is some WITH 0
    """
    return RuleBase.parse(text)
