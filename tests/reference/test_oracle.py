"""Checks of the loop oracle itself: hand-computed numbers and the paper's statements about its layers."""

import math
from decimal import Decimal

import oracle
import oracle_learning
import pytest
from worked_example import EXAMPLE, A, close, random_case

# --- memberships --------------------------------------------------------------------------------------


def test_memberships_by_hand():
    assert oracle.gaussian(3.0, 1.0, 2.0) == close(math.exp(-0.5))  # one standard deviation away
    assert oracle.gaussian(A, 0.0, 1.0) == close(0.5)
    assert oracle.bell(5.0, 1.0, 2.0, 1.0) == close(0.2)  # |4/2|^2 = 4, 1/5
    assert oracle.bell(3.0, 1.0, 2.0, 7.0) == close(0.5)  # the crossover does not depend on the slope
    assert oracle.sigmoid(1.0, 1.0, 5.0) == close(0.5)
    assert oracle.sigmoid(math.log(3.0), 0.0, 1.0) == close(0.75)  # 1/(1 + 1/3)
    assert oracle.sigmoid(-math.log(3.0), 0.0, 1.0) == close(0.25)
    assert oracle.sigmoid(-1e4, 0.0, 1.0) == 0.0
    assert [oracle.triangular(x, 0, 2, 3) for x in (-1, 0, 1, 2, 2.5, 3, 4)] == [0, 0, 0.5, 1, 0.5, 0, 0]
    assert [oracle.trapezoidal(x, 0, 2, 4, 8) for x in (0, 1, 2, 3, 4, 5, 8)] == [0, 0.5, 1, 1, 1, 0.75, 0]
    assert oracle.triangular(0.0, 0.0, 0.0, 1.0) == 1.0  # a vertical flank belongs to the top


# --- T-norms and pooling ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("product", 0.24),  # .5 * .6 * .8
        ("min", 0.5),
        ("lukasiewicz", 0.0),  # .5 + .6 - 1 = .1; .1 + .8 - 1 < 0
        # .3/(1.1 - .3) = .375; .375 * .8 = .3, .3/(1.175 - .3) = .3/.875 = 12/35
        ("hamacher", 12 / 35),
        # .3/(1 + .5 * .4) = .25; .25 * .8 = .2, .2/(1 + .75 * .2) = .2/1.15 = 4/23
        ("einstein", 4 / 23),
    ],
)
def test_t_norms_by_hand(name, expected):
    assert oracle.t_norm([0.5, 0.6, 0.8], name) == close(expected)
    assert oracle.t_norm([0.7, 1.0], name) == close(0.7)  # 1 is neutral
    assert oracle.t_norm([0.7, 0.0], name) == 0.0
    assert oracle.t_norm([0.0, 0.0], name) == 0.0
    assert oracle.t_norm([0.3], name) == 0.3


def test_lukasiewicz_above_zero():
    assert oracle.t_norm([0.9, 0.8, 0.9], "lukasiewicz") == close(0.6)


def test_softmax_by_hand():
    # alpha = ln 2 on (0, 1): weights 1 and 2, so 2/3; on (0, 2): weights 1 and 4, so 8/5
    assert oracle.softmax_alpha([0.0, 1.0], math.log(2)) == close(2 / 3)
    assert oracle.softmax_alpha([0.0, 2.0], math.log(2)) == close(8 / 5)
    assert oracle.softmax_alpha([0.0, 1.0], -math.log(2)) == close(1 / 3)


def test_softmax_statements_of_the_paper():
    values = [0.3, -1.2, 2.5, 0.9]
    assert oracle.softmax_alpha(values, 0) == close(0.625)  # 2.5/4
    assert oracle.softmax_alpha(values, math.inf) == 2.5
    assert oracle.softmax_alpha(values, -math.inf) == -1.2
    assert oracle.softmax_alpha(values, 1e4) == close(2.5)
    assert oracle.softmax_alpha(values, -1e4) == close(-1.2)
    for alpha in (-3.0, -0.5, 0.0, 2.0):
        assert oracle.softmax_alpha([0.7] * 5, alpha) == close(0.7)
        assert min(values) <= oracle.softmax_alpha(values, alpha) <= max(values)
        # S_(-a)(-x) = -S_a(x), and a shift passes through
        assert oracle.softmax_alpha([-v for v in values], -alpha) == close(-oracle.softmax_alpha(values, alpha))
        shifted = oracle.softmax_alpha([v + 2 for v in values], alpha)
        assert shifted == close(oracle.softmax_alpha(values, alpha) + 2)


def test_softmax_slopes():
    # (0, 1) at ln 2: S = 2/3, weights 1/3 and 2/3, slopes 1/3 (1 - 2/3 ln 2) and 2/3 (1 + 1/3 ln 2)
    slopes = oracle.softmax_alpha_slopes([0.0, 1.0], math.log(2))
    assert slopes == close([(1 - 2 / 3 * math.log(2)) / 3, 2 / 3 * (1 + math.log(2) / 3)])
    assert sum(slopes) == close(1.0)
    assert oracle.softmax_alpha_slopes([1.0, 3.0, 3.0], math.inf) == [0.0, 0.5, 0.5]
    assert oracle.softmax_alpha_slopes([1.0, 3.0, 3.0], -math.inf) == [1.0, 0.0, 0.0]
    # row 7: a slope is negative exactly where alpha (S - x_i) > 1
    values, alpha = [0.0, 0.6, 1.0], 3.0  # S = .874: .6 lies .274 below, within 1/3
    pooled = oracle.softmax_alpha(values, alpha)
    signs = [slope < 0 for slope in oracle.softmax_alpha_slopes(values, alpha)]
    assert signs == [alpha * (pooled - value) > 1 for value in values]
    assert signs == [True, False, False]


@pytest.mark.parametrize(
    ("name", "alpha", "expected"),
    [
        ("softmax", math.inf, 0.5),
        ("max", 1.0, 0.5),
        ("min", 1.0, 0.125),
        ("algebraic", 1.0, 1 - 0.5 * 0.75 * 0.875),
        ("bounded", 1.0, 0.875),
        ("lse", 0, 0.875 / 3),
        ("lse", math.inf, 0.5),
        ("lse", -math.inf, 0.125),
        ("power", 1, 0.875 / 3),
        ("power", 0, 0.25),  # (1/2 1/4 1/8)^(1/3) = (1/64)^(1/3)
        ("power", -1, 3 / 14),  # harmonic: 3/(2 + 4 + 8)
        ("power", 2, math.sqrt((1 / 4 + 1 / 16 + 1 / 64) / 3)),
        ("power", math.inf, 0.5),
        ("power", -math.inf, 0.125),
    ],
)
def test_pooling_by_hand(name, alpha, expected):
    assert oracle.aggregation([0.5, 0.25, 0.125], name, alpha) == close(expected)


def test_pooling_edges():
    assert oracle.aggregation([0.5, 0.75], "bounded") == 1.0
    # alpha = ln 3 on (0, 1): mean(1, 3) = 2, so ln 2/ln 3
    assert oracle.aggregation([0.0, 1.0], "lse", math.log(3)) == close(math.log(2) / math.log(3))
    assert oracle.aggregation([0.0, 1.0], "power", 0) == 0.0
    assert oracle.aggregation([0.0, 1.0], "power", -2) == 0.0
    assert oracle.aggregation([0.0, 1.0], "power", 2) == close(math.sqrt(0.5))
    with pytest.raises(ValueError, match="T-conorm"):
        oracle.aggregation([0.5], "median")
    assert oracle.combine([1.0, -3.0], "mean") == -1.0
    assert oracle.combine([1.0, -3.0], "max") == 1.0
    assert oracle.combine([0.0, 1.0], "softmax", math.log(2)) == close(2 / 3)


# --- forward ------------------------------------------------------------------------------------------


def test_forward_by_hand_with_the_mean():
    # alpha = 0: w = ((1 + 1/2)/2, (1/16 + 1/2)/2) = (3/4, 9/32), sum 33/32,
    # wbar = (24/33, 9/33) = (8/11, 3/11)
    passed = oracle.forward(**EXAMPLE, alpha=0)
    assert passed["layer1"][1] == [[close(1 / 16)], [close(0.5)]]
    assert passed["truth"] == [close([1, 0.5]), close([1 / 16, 0.5])]
    assert passed["firing"] == close([0.75, 9 / 32])
    assert passed["normalized"] == close([8 / 11, 3 / 11])
    assert passed["rule_outputs"] == close([1.0, 0.0])
    assert passed["layer5"] == close([8 / 11, 0.0])
    assert passed["output"] == close(8 / 11)


def test_forward_variants_by_hand():
    assert oracle.forward(**EXAMPLE, alpha=math.inf)["output"] == close(2 / 3)  # w = (1, 1/2)
    assert oracle.forward(**EXAMPLE, alpha=-math.inf)["output"] == close(8 / 9)  # w = (1/2, 1/16)
    assert oracle.forward(**EXAMPLE, alpha=0, normalize=False)["output"] == close(0.75)  # w_1 b_1
    assert oracle.forward(**EXAMPLE, aggregation="max")["output"] == close(2 / 3)
    # algebraic: 1 - 0 * 1/2 = 1 and 1 - 15/16 * 1/2 = 17/32, so 32/49
    assert oracle.forward(**EXAMPLE, aggregation="algebraic")["output"] == close(32 / 49)
    # dropped rules keep their share of Layer 4
    both = dict(EXAMPLE, coefs=[[1.0], [2.0]])
    assert oracle.forward(**both, alpha=0)["output"] == close(14 / 11)
    assert oracle.forward(**both, alpha=0, keep=[0, 1])["output"] == close(6 / 11)
    assert oracle.forward(**both, alpha=0, keep=[0, 0])["output"] == 0.0
    # another membership: degree 1 in rule 1 and 1/3 in rule 2 everywhere
    assert oracle.forward(**EXAMPLE, membership=lambda x, k, j: (1, 1 / 3)[k])["output"] == close(0.75)


def test_forward_first_order_by_hand():
    # z = 1 + 2 x on x = 0, A: (1, 1 + 2A); rule 2 the constant 0
    case = dict(EXAMPLE, coefs=[[1.0, 2.0], [0.0, 0.0]])
    assert oracle.forward(**case, alpha=0, conclusion_alpha=0)["output"] == close(8 / 11 * (1 + A))
    assert oracle.forward(**case, alpha=0, conclusion_alpha=math.inf)["output"] == close(8 / 11 * (1 + 2 * A))
    assert oracle.forward(**case, alpha=0, conclusion_aggregation="max")["output"] == close(8 / 11 * (1 + 2 * A))
    assert oracle.forward(**case, alpha=0, conclusion_aggregation="mean")["output"] == close(8 / 11 * (1 + A))


def test_forward_two_features_min_and_product():
    case = {"bag": [[A, 2 * A]], "centers": [[0.0, 0.0]], "widths": [[1.0, 1.0]], "coefs": [[3.0]]}
    assert oracle.forward(**case)["firing"] == close([1 / 32])  # 1/2 * 1/16
    assert oracle.forward(**case, t_norm="min")["firing"] == close([1 / 16])
    assert oracle.forward(**case)["output"] == close(3.0)  # row 17: one rule of order zero is a constant


def test_bag_order_and_repeated_instances():
    case = random_case(1)
    reference = oracle.forward(**case)["output"]
    assert oracle.forward(**dict(case, bag=case["bag"][::-1]))["output"] == close(reference)
    # the softmax is a weighted mean: repeating the whole bag changes nothing
    assert oracle.forward(**dict(case, bag=case["bag"] * 3))["output"] == close(reference)


# --- other number types -------------------------------------------------------------------------------


def test_decimal_numbers_where_doubles_underflow():
    # 400 features, each 5 widths away from rule 1: log r = -5000. Rule 2 is 5 away in all but one, 6 in that:
    # log r is (36 - 25)/2 = 5.5 less, and a lone instance has w = r, so wbar_1 = 1/(1 + e^(-5.5)).
    def exp(number):
        return number.exp()

    features = 400
    bag = [[Decimal(0)] * features]
    centers = [[Decimal(5)] * features, [Decimal(6)] + [Decimal(5)] * (features - 1)]
    widths = [[Decimal(1)] * features] * 2
    coefs = [[Decimal(1)], [Decimal(0)]]
    one = Decimal(1)
    passed = oracle.forward(bag, centers, widths, coefs, one, one, exp=exp)
    expected = 1 / (1 + math.exp(-5.5))
    assert float(passed["output"]) == close(expected)
    assert float(passed["firing"][0]) == 0.0
    gradients = oracle_learning.gradients_exact(bag, one, centers, widths, coefs, one, one, exp=exp)
    # O = wbar_1 = logistic(log r_1 - log r_2): dO/dc_1j = O (1 - O) (x - c)/s^2 = -5 O (1 - O)
    slope = -2 * (1 - expected) * expected * (1 - expected)
    assert float(gradients["centers"][0][3]) == close(-5 * slope)
    assert float(gradients["widths"][1][0]) == close(-36 * slope)
    floats = [[[float(v) for v in row] for row in part] for part in (bag, centers, widths, coefs)]
    with pytest.raises(ZeroDivisionError):
        oracle.forward(*floats)
