"""Checks of the loop oracle itself: hand-computed numbers, central differences, the paper's statements."""

import copy
import itertools
import math
import random
from decimal import Decimal

import oracle
import pytest

# With this abscissa the unit Gaussian is a power of two: exp(-A^2/2) = exp(-ln 2) = 1/2.
A = math.sqrt(2 * math.log(2))

# The worked example: one feature, unit widths, a bag at 0 and A, rule 1 at 0, rule 2 at 2A, b = 1 and 0.
#   r_1 = (1, 1/2);  r_2 = (exp(-4 ln 2), exp(-ln 2)) = (1/16, 1/2)
EXAMPLE = {
    "bag": [[0.0], [A]],
    "centers": [[0.0], [2 * A]],
    "widths": [[1.0], [1.0]],
    "coefs": [[1.0], [0.0]],
}
GROUPS = ("centers", "widths", "coefs")


def close(expected, tolerance=1e-12):
    return pytest.approx(expected, rel=tolerance, abs=tolerance)


def random_case(seed, rules=3, features=2, instances=4, order=1):
    draw = random.Random(seed)
    return {
        "bag": [[draw.gauss(0, 1) for _ in range(features)] for _ in range(instances)],
        "centers": [[draw.gauss(0, 1) for _ in range(features)] for _ in range(rules)],
        "widths": [[draw.uniform(0.6, 1.8) for _ in range(features)] for _ in range(rules)],
        "coefs": [[draw.gauss(0, 1) for _ in range(1 + order * features)] for _ in range(rules)],
    }


def flat(gradients, groups=GROUPS):
    return [value for group in groups for row in gradients[group] for value in row]


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
    assert oracle.forward(**case, alpha=0, consequent_alpha=0)["output"] == close(8 / 11 * (1 + A))
    assert oracle.forward(**case, alpha=0, consequent_alpha=math.inf)["output"] == close(8 / 11 * (1 + 2 * A))
    assert oracle.forward(**case, alpha=0, combine="max")["output"] == close(8 / 11 * (1 + 2 * A))
    assert oracle.forward(**case, alpha=0, combine="mean")["output"] == close(8 / 11 * (1 + A))


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


# --- gradients ----------------------------------------------------------------------------------------


def test_gradients_by_hand():
    # t = 1, alpha = 0: O = 8/11, -2 (t - O) = -6/11, sum w = 33/32.
    #   dO/dw_1 = (1 - 8/11) 32/33 = 32/121          dO/dw_2 = (0 - 8/11) 32/33 = -256/363
    #   dw_1/dc_1 = (1 * 0 + 1/2 * A)/2 = A/4        dw_2/dc_2 = (1/16 * -2A + 1/2 * -A)/2 = -5A/16
    #   dw_1/ds_1 = (0 + 1/2 A^2)/2 = A^2/4          dw_2/ds_2 = (1/16 * 4A^2 + 1/2 A^2)/2 = 3A^2/8
    #   dE/dc = -48A/1331, -160A/1331   dE/ds = -48A^2/1331, 192A^2/1331   dE/db = -6/11 (8/11, 3/11)
    exact = oracle.gradients_exact(target=1.0, **EXAMPLE, alpha=0)
    assert exact["error"] == close(9 / 121)
    assert exact["centers"] == [[close(-48 * A / 1331)], [close(-160 * A / 1331)]]
    assert exact["widths"] == [[close(-48 * A * A / 1331)], [close(192 * A * A / 1331)]]
    assert exact["coefs"] == [[close(-48 / 121)], [close(-18 / 121)]]
    # printed: f_1 (9/32)/(33/32)^2 = 288/1089 = 32/121 as above (the other rule's output is 0), f_2 = 0
    paper = oracle.gradients_paper(target=1.0, **EXAMPLE, alpha=0)
    assert paper["error"] == exact["error"]
    assert paper["centers"] == [[close(-48 * A / 1331)], [0.0]]
    assert paper["widths"] == [[close(-48 * A * A / 1331)], [0.0]]
    assert paper["coefs"] == exact["coefs"]


@pytest.mark.parametrize("alphas", [(1.0, 1.0), (0.0, 0.0), (5.0, -2.0), (-3.0, 0.7), (math.inf, math.inf)])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("keep", [None, [1, 0, 1]])
def test_gradients_exact_against_central_differences(alphas, order, keep):
    case = random_case(7 + order, order=order)
    target, step = 0.8, 1e-5
    arguments = {"alpha": alphas[0], "consequent_alpha": alphas[1], "keep": keep}
    gradients = oracle.gradients_exact(target=target, **case, **arguments)
    assert gradients["error"] == close((target - oracle.forward(**case, **arguments)["output"]) ** 2)
    for group in GROUPS:
        for k, row in enumerate(case[group]):
            for j in range(len(row)):
                errors = []
                for sign in (1, -1):
                    moved = copy.deepcopy(case)
                    moved[group][k][j] += sign * step
                    errors.append((target - oracle.forward(**moved, **arguments)["output"]) ** 2)
                numeric = (errors[0] - errors[1]) / (2 * step)
                assert gradients[group][k][j] == pytest.approx(numeric, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("alpha", [0.0, 1.0, -2.5])
def test_printed_double_sum_is_the_chain_rule(order, alpha):
    case = random_case(3, order=order)
    for coefs_k in case["coefs"]:
        slopes = oracle.softmax_alpha_slopes(oracle.linear_responses(case["bag"], coefs_k), alpha)
        expected = [sum(slopes)]
        for j in range(len(coefs_k) - 1):
            expected.append(sum(s * x[j] for s, x in zip(slopes, case["bag"], strict=True)))
        assert oracle.consequent_slopes_printed(case["bag"], coefs_k, alpha) == close(expected)
        assert expected[0] == close(1.0)  # a shift passes through S_alpha


def test_paper_gradients_lack_the_cross_terms():
    # exact - paper of dO/dw_k is -(sum over l != k of h_l wbar_l f_l)/sum w
    case, target = random_case(11), 0.3
    exact = oracle.gradients_exact(target=target, **case)
    paper = oracle.gradients_paper(target=target, **case)
    assert paper["coefs"] == exact["coefs"]
    passed = oracle.forward(**case)
    for k in range(3):
        others = passed["output"] - passed["layer5"][k]
        own = passed["rule_outputs"][k] - passed["output"]
        printed = own + others  # f_k (1 - wbar_k)
        for group in ("centers", "widths"):
            for j in range(2):
                assert paper[group][k][j] != pytest.approx(exact[group][k][j], rel=1e-3)
                assert paper[group][k][j] * own == close(exact[group][k][j] * printed)


def test_paper_and_exact_agree_for_the_only_rule_with_an_output():
    case = random_case(12)
    case["coefs"][0] = [0.0] * 3
    keep = [1, 0, 1]  # rule 0 says nothing, rule 1 is dropped: rule 2 is alone
    exact = oracle.gradients_exact(target=1.0, **case, keep=keep)
    paper = oracle.gradients_paper(target=1.0, **case, keep=keep)
    for group in GROUPS:
        assert paper[group][2] == close(exact[group][2])
    assert flat(paper, ("centers",))[:4] == [0.0] * 4
    assert any(abs(value) > 1e-6 for value in exact["centers"][0])


def test_one_rule_has_no_premise_gradient():
    case = random_case(13, rules=1)
    for function in (oracle.gradients_exact, oracle.gradients_paper):
        gradients = function(target=1.0, **case)
        assert flat(gradients, ("centers", "widths")) == close([0.0] * 4)
        assert any(value != 0 for value in gradients["coefs"][0])


def test_equal_rule_outputs_stop_the_exact_premises_only():
    # row 2: all f = 1 gives O = 1 whatever the premises are
    case = random_case(14, order=0)
    case["coefs"] = [[1.0]] * 3
    assert oracle.forward(**case)["output"] == close(1.0)
    exact = oracle.gradients_exact(target=0.0, **case)
    paper = oracle.gradients_paper(target=0.0, **case)
    assert flat(exact, ("centers", "widths")) == close([0.0] * 12)
    assert max(abs(value) for value in flat(paper, ("centers", "widths"))) > 1e-3


def test_common_shift_of_outputs_and_target():
    # adding 5 to every b0 and to t is the same problem; the printed direction changes with it
    case = random_case(15)
    moved = dict(case, coefs=[[row[0] + 5, *row[1:]] for row in case["coefs"]])
    exact = flat(oracle.gradients_exact(target=0.5, **case))
    assert flat(oracle.gradients_exact(target=5.5, **moved)) == close(exact, 1e-10)
    paper = flat(oracle.gradients_paper(target=0.5, **case))
    assert flat(oracle.gradients_paper(target=5.5, **moved)) != pytest.approx(paper, rel=0.1)


def test_dropped_rule():
    # row 4: the printed directions are zero for a dropped rule, the exact premise gradient is not
    case, keep = random_case(16), [1, 1, 0]
    exact = oracle.gradients_exact(target=1.0, **case, keep=keep)
    paper = oracle.gradients_paper(target=1.0, **case, keep=keep)
    for group in GROUPS:
        assert all(value == 0 for value in paper[group][2])
    assert all(value == 0 for value in exact["coefs"][2])
    assert all(value != 0 for value in exact["centers"][2])


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
    gradients = oracle.gradients_exact(bag, one, centers, widths, coefs, one, one, exp=exp)
    # O = wbar_1 = logistic(log r_1 - log r_2): dO/dc_1j = O (1 - O) (x - c)/s^2 = -5 O (1 - O)
    slope = -2 * (1 - expected) * expected * (1 - expected)
    assert float(gradients["centers"][0][3]) == close(-5 * slope)
    assert float(gradients["widths"][1][0]) == close(-36 * slope)
    floats = [[[float(v) for v in row] for row in part] for part in (bag, centers, widths, coefs)]
    with pytest.raises(ZeroDivisionError):
        oracle.forward(*floats)


# --- Algorithm 1 --------------------------------------------------------------------------------------


def example_params():
    return {group: copy.deepcopy(EXAMPLE[group]) for group in GROUPS}


def test_one_online_step_by_hand():
    # the gradients of test_gradients_by_hand, eta = 0.1
    params = example_params()
    before = copy.deepcopy(params)
    moved = oracle.epoch_online([EXAMPLE["bag"]], [1.0], params, 0.1, [0], alpha=0)
    assert params == before
    assert moved["centers"] == [[close(4.8 * A / 1331)], [close(2 * A + 16 * A / 1331)]]
    assert moved["widths"] == [[close(1 + 4.8 * A * A / 1331)], [close(1 - 19.2 * A * A / 1331)]]
    assert moved["coefs"] == [[close(1 + 4.8 / 121)], [close(1.8 / 121)]]
    paper = oracle.epoch_online([EXAMPLE["bag"]], [1.0], params, 0.1, [0], update="paper", alpha=0)
    assert paper["centers"] == [[close(4.8 * A / 1331)], [2 * A]]
    assert oracle.epoch_batch([EXAMPLE["bag"]], [1.0], params, 0.1, alpha=0) == moved


def test_widths_stay_positive():
    # eta = 10: the width 1 - 1920 A^2/1331 = -0.9998 loses its sign
    moved = oracle.epoch_batch([EXAMPLE["bag"]], [1.0], example_params(), 10.0, alpha=0)
    assert 1 - 1920 * A * A / 1331 < 0
    assert moved["widths"][1] == [close(1920 * A * A / 1331 - 1)]


@pytest.mark.parametrize("update", ["exact", "paper"])
def test_epochs_over_several_bags(update):
    case = random_case(21)
    params = {group: case[group] for group in GROUPS}
    bags = [random_case(22 + p, instances=p + 1)["bag"] for p in range(3)]
    targets, eta, order = [0.0, 1.0, 1.0], 0.2, [2, 0, 1]
    keep = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    function = oracle.gradients_exact if update == "exact" else oracle.gradients_paper

    expected = params
    for p in order:
        gradients = function(bags[p], targets[p], *(expected[g] for g in GROUPS), 2.0, 0.5, keep[p])
        expected = oracle._step(expected, gradients, eta)
    moved = oracle.epoch_online(bags, targets, params, eta, order, update, 2.0, 0.5, keep)
    assert moved == expected
    other = oracle.epoch_online(bags, targets, params, eta, [0, 1, 2], update, 2.0, 0.5, keep)
    assert flat(other) != pytest.approx(flat(moved), rel=1e-6)

    batch = oracle.epoch_batch(bags, targets, params, eta, update, 2.0, 0.5, keep)
    means = [0.0] * len(flat(params))
    for p in range(3):
        gradients = function(bags[p], targets[p], *(params[g] for g in GROUPS), 2.0, 0.5, keep[p])
        means = [mean + value / 3 for mean, value in zip(means, flat(gradients), strict=True)]
    assert flat(batch) == close([v - eta * g for v, g in zip(flat(params), means, strict=True)])


def test_small_exact_batch_steps_descend():
    case = random_case(31)
    params = {group: case[group] for group in GROUPS}
    bags = [random_case(32 + p)["bag"] for p in range(4)]
    targets = [0.0, 1.0, 1.0, 0.0]

    def error(parameters):
        outputs = [oracle.forward(bag, **parameters)["output"] for bag in bags]
        return sum((t - o) ** 2 for t, o in zip(targets, outputs, strict=True)) / 4

    errors = [error(params)]
    for _ in range(5):
        params = oracle.epoch_batch(bags, targets, params, 0.02)
        errors.append(error(params))
    assert errors == sorted(errors, reverse=True)


# --- fuzzy c-means ------------------------------------------------------------------------------------


def test_fcm_by_hand():
    # centers 0 and 3, m = 2: the point 1 has d^2 = 1 and 4, so u = (4/5, 1/5);
    # m = 3: d = 1 and 2, u = (2/3, 1/3)
    assert oracle.fcm_memberships([[1.0], [3.0]], [[0.0], [3.0]], 2) == [close([0.8, 0.2]), [0.0, 1.0]]
    assert oracle.fcm_memberships([[1.0]], [[0.0], [3.0]], 3) == [close([2 / 3, 1 / 3])]
    assert oracle.fcm_memberships([[1.0]], [[1.0], [1.0], [3.0]], 2) == [[0.5, 0.5, 0.0]]
    # centers: (0.64 * 1 + 0 * 3)/0.64 = 1 and (0.04 * 1 + 1 * 3)/1.04 = 3.04/1.04
    assert oracle.fcm_update([[1.0], [3.0]], [[0.8, 0.2], [0.0, 1.0]], 2) == [
        [close(1.0)],
        [close(3.04 / 1.04)],
    ]


def test_fcm_lowers_its_objective():
    points = random_case(41, instances=12)["bag"]
    centers = points[:3]

    def objective(memberships, at):
        return sum(
            u**1.7 * sum((a - b) ** 2 for a, b in zip(point, center, strict=True))
            for point, row in zip(points, memberships, strict=True)
            for u, center in zip(row, at, strict=True)
        )

    values = []
    for _ in range(6):
        memberships = oracle.fcm_memberships(points, centers, 1.7)
        assert all(sum(row) == close(1.0) for row in memberships)
        values.append(objective(memberships, centers))
        centers = oracle.fcm_update(points, memberships, 1.7)
        values.append(objective(memberships, centers))
    assert all(later <= earlier + 1e-12 for earlier, later in itertools.pairwise(values))
