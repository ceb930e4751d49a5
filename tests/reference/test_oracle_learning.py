"""Checks of the oracle's learning: hand-computed numbers, central differences, fuzzy c-means."""

import copy
import itertools
import math

import oracle
import oracle_learning
import pytest
from worked_example import EXAMPLE, A, close, random_case

GROUPS = ("centers", "widths", "coefs")


def flat(gradients, groups=GROUPS):
    return [value for group in groups for row in gradients[group] for value in row]


# --- gradients ----------------------------------------------------------------------------------------


def test_gradients_by_hand():
    # t = 1, alpha = 0: O = 8/11, -2 (t - O) = -6/11, sum w = 33/32.
    #   dO/dw_1 = (1 - 8/11) 32/33 = 32/121          dO/dw_2 = (0 - 8/11) 32/33 = -256/363
    #   dw_1/dc_1 = (1 * 0 + 1/2 * A)/2 = A/4        dw_2/dc_2 = (1/16 * -2A + 1/2 * -A)/2 = -5A/16
    #   dw_1/ds_1 = (0 + 1/2 A^2)/2 = A^2/4          dw_2/ds_2 = (1/16 * 4A^2 + 1/2 A^2)/2 = 3A^2/8
    #   dE/dc = -48A/1331, -160A/1331   dE/ds = -48A^2/1331, 192A^2/1331   dE/db = -6/11 (8/11, 3/11)
    exact = oracle_learning.gradients_exact(target=1.0, **EXAMPLE, alpha=0)
    assert exact["error"] == close(9 / 121)
    assert exact["centers"] == [[close(-48 * A / 1331)], [close(-160 * A / 1331)]]
    assert exact["widths"] == [[close(-48 * A * A / 1331)], [close(192 * A * A / 1331)]]
    assert exact["coefs"] == [[close(-48 / 121)], [close(-18 / 121)]]
    # printed: f_1 (9/32)/(33/32)^2 = 288/1089 = 32/121 as above (the other rule's output is 0), f_2 = 0
    paper = oracle_learning.gradients_paper(target=1.0, **EXAMPLE, alpha=0)
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
    arguments = {"alpha": alphas[0], "conclusion_alpha": alphas[1], "keep": keep}
    gradients = oracle_learning.gradients_exact(target=target, **case, **arguments)
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
        assert oracle_learning.consequent_slopes_printed(case["bag"], coefs_k, alpha) == close(expected)
        assert expected[0] == close(1.0)  # a shift passes through S_alpha


def test_paper_gradients_lack_the_cross_terms():
    # exact - paper of dO/dw_k is -(sum over l != k of h_l wbar_l f_l)/sum w
    case, target = random_case(11), 0.3
    exact = oracle_learning.gradients_exact(target=target, **case)
    paper = oracle_learning.gradients_paper(target=target, **case)
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
    exact = oracle_learning.gradients_exact(target=1.0, **case, keep=keep)
    paper = oracle_learning.gradients_paper(target=1.0, **case, keep=keep)
    for group in GROUPS:
        assert paper[group][2] == close(exact[group][2])
    assert flat(paper, ("centers",))[:4] == [0.0] * 4
    assert any(abs(value) > 1e-6 for value in exact["centers"][0])


def test_one_rule_has_no_premise_gradient():
    case = random_case(13, rules=1)
    for function in (oracle_learning.gradients_exact, oracle_learning.gradients_paper):
        gradients = function(target=1.0, **case)
        assert flat(gradients, ("centers", "widths")) == close([0.0] * 4)
        assert any(value != 0 for value in gradients["coefs"][0])


def test_equal_rule_outputs_stop_the_exact_premises_only():
    # row 2: all f = 1 gives O = 1 whatever the premises are
    case = random_case(14, order=0)
    case["coefs"] = [[1.0]] * 3
    assert oracle.forward(**case)["output"] == close(1.0)
    exact = oracle_learning.gradients_exact(target=0.0, **case)
    paper = oracle_learning.gradients_paper(target=0.0, **case)
    assert flat(exact, ("centers", "widths")) == close([0.0] * 12)
    assert max(abs(value) for value in flat(paper, ("centers", "widths"))) > 1e-3


def test_common_shift_of_outputs_and_target():
    # adding 5 to every b0 and to t is the same problem; the printed direction changes with it
    case = random_case(15)
    moved = dict(case, coefs=[[row[0] + 5, *row[1:]] for row in case["coefs"]])
    exact = flat(oracle_learning.gradients_exact(target=0.5, **case))
    assert flat(oracle_learning.gradients_exact(target=5.5, **moved)) == close(exact, 1e-10)
    paper = flat(oracle_learning.gradients_paper(target=0.5, **case))
    assert flat(oracle_learning.gradients_paper(target=5.5, **moved)) != pytest.approx(paper, rel=0.1)


def test_dropped_rule():
    # row 4: the printed directions are zero for a dropped rule, the exact premise gradient is not
    case, keep = random_case(16), [1, 1, 0]
    exact = oracle_learning.gradients_exact(target=1.0, **case, keep=keep)
    paper = oracle_learning.gradients_paper(target=1.0, **case, keep=keep)
    for group in GROUPS:
        assert all(value == 0 for value in paper[group][2])
    assert all(value == 0 for value in exact["coefs"][2])
    assert all(value != 0 for value in exact["centers"][2])


# --- Algorithm 1 --------------------------------------------------------------------------------------


def example_params():
    return {group: copy.deepcopy(EXAMPLE[group]) for group in GROUPS}


def test_one_online_step_by_hand():
    # the gradients of test_gradients_by_hand, eta = 0.1
    params = example_params()
    before = copy.deepcopy(params)
    moved = oracle_learning.epoch_online([EXAMPLE["bag"]], [1.0], params, 0.1, [0], alpha=0)
    assert params == before
    assert moved["centers"] == [[close(4.8 * A / 1331)], [close(2 * A + 16 * A / 1331)]]
    assert moved["widths"] == [[close(1 + 4.8 * A * A / 1331)], [close(1 - 19.2 * A * A / 1331)]]
    assert moved["coefs"] == [[close(1 + 4.8 / 121)], [close(1.8 / 121)]]
    paper = oracle_learning.epoch_online([EXAMPLE["bag"]], [1.0], params, 0.1, [0], update="paper", alpha=0)
    assert paper["centers"] == [[close(4.8 * A / 1331)], [2 * A]]
    assert oracle_learning.epoch_batch([EXAMPLE["bag"]], [1.0], params, 0.1, alpha=0) == moved


def test_widths_stay_positive():
    # eta = 10: the width 1 - 1920 A^2/1331 = -0.9998 loses its sign
    moved = oracle_learning.epoch_batch([EXAMPLE["bag"]], [1.0], example_params(), 10.0, alpha=0)
    assert 1 - 1920 * A * A / 1331 < 0
    assert moved["widths"][1] == [close(1920 * A * A / 1331 - 1)]


@pytest.mark.parametrize("update", ["exact", "paper"])
def test_epochs_over_several_bags(update):
    case = random_case(21)
    params = {group: case[group] for group in GROUPS}
    bags = [random_case(22 + p, instances=p + 1)["bag"] for p in range(3)]
    targets, eta, order = [0.0, 1.0, 1.0], 0.2, [2, 0, 1]
    keep = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    function = oracle_learning.gradients_exact if update == "exact" else oracle_learning.gradients_paper

    expected = params
    for p in order:
        gradients = function(bags[p], targets[p], *(expected[g] for g in GROUPS), 2.0, 0.5, keep[p])
        expected = oracle_learning._step(expected, gradients, eta)
    moved = oracle_learning.epoch_online(bags, targets, params, eta, order, update, 2.0, 0.5, keep)
    assert moved == expected
    other = oracle_learning.epoch_online(bags, targets, params, eta, [0, 1, 2], update, 2.0, 0.5, keep)
    assert flat(other) != pytest.approx(flat(moved), rel=1e-6)

    batch = oracle_learning.epoch_batch(bags, targets, params, eta, update, 2.0, 0.5, keep)
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
        params = oracle_learning.epoch_batch(bags, targets, params, 0.02)
        errors.append(error(params))
    assert errors == sorted(errors, reverse=True)


# --- fuzzy c-means ------------------------------------------------------------------------------------


def test_fcm_by_hand():
    # centers 0 and 3, m = 2: the point 1 has d^2 = 1 and 4, so u = (4/5, 1/5);
    # m = 3: d = 1 and 2, u = (2/3, 1/3)
    assert oracle_learning.fcm_memberships([[1.0], [3.0]], [[0.0], [3.0]], 2) == [close([0.8, 0.2]), [0.0, 1.0]]
    assert oracle_learning.fcm_memberships([[1.0]], [[0.0], [3.0]], 3) == [close([2 / 3, 1 / 3])]
    assert oracle_learning.fcm_memberships([[1.0]], [[1.0], [1.0], [3.0]], 2) == [[0.5, 0.5, 0.0]]
    # centers: (0.64 * 1 + 0 * 3)/0.64 = 1 and (0.04 * 1 + 1 * 3)/1.04 = 3.04/1.04
    assert oracle_learning.fcm_update([[1.0], [3.0]], [[0.8, 0.2], [0.0, 1.0]], 2) == [
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
        memberships = oracle_learning.fcm_memberships(points, centers, 1.7)
        assert all(sum(row) == close(1.0) for row in memberships)
        values.append(objective(memberships, centers))
        centers = oracle_learning.fcm_update(points, memberships, 1.7)
        values.append(objective(memberships, centers))
    assert all(later <= earlier + 1e-12 for earlier, later in itertools.pairwise(values))
