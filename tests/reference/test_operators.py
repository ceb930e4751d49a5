"""Rules under every operator and over every family against the loop-only oracle."""

import math

import numpy as np
import oracle
import pytest
from oracle_cases import ALPHAS, Case
from slow_sets import SLOW
from three_engines import ENGINES, infer_by

from fuzzymil.inference.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.inference.membership import FAMILIES, learnable_families
from fuzzymil.inference.norms import T_NORMS
from fuzzymil.rules import Rule, RuleBase, Variable


def check_infer(engine, case, rule_base, **settings):
    found = infer_by(engine, rule_base, case.bags)
    for b, bag in enumerate(case.bags):
        expected = oracle.forward(bag.tolist(), *case.parameters, **settings)
        np.testing.assert_allclose(found.firing[b], expected["firing"], rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(found.normalized[b], expected["normalized"], rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.output[b, 0], expected["output"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("t_norm", sorted(T_NORMS.keys() - {"drastic"}))  # under which no rule fires here
def test_rules_under_another_t_norm_are_the_oracles(t_norm, engine):
    case = Case(16, 2, (1, 3, 40), 1)
    case.widths *= 4  # doubts that do not add up to one
    check_infer(engine, case, case.rule_base(t_norm=t_norm), t_norm=t_norm)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("aggregation", sorted(set(AGGREGATIONS) - {"softmax_relative", "softmax_log"}))
def test_rules_under_another_aggregation_are_the_oracles(aggregation, engine):
    case = Case(17, 2, (1, 3, 40), 0)
    for alpha in (*ALPHAS, math.inf, -math.inf):
        check_infer(
            engine, case, case.rule_base(aggregation=aggregation, alpha=alpha), aggregation=aggregation, alpha=alpha
        )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("conclusion_aggregation", sorted(set(COMBINERS) - {"min"}))
def test_rules_that_combine_responses_otherwise_are_the_oracles(conclusion_aggregation, engine):
    case = Case(18, 2, (1, 3, 40), 1)
    for alpha in (*ALPHAS, math.inf, -math.inf):
        settings = {"conclusion_aggregation": conclusion_aggregation, "conclusion_alpha": alpha}
        check_infer(engine, case, case.rule_base(**settings), **settings)


@pytest.mark.parametrize("engine", ENGINES)
def test_combining_by_min_is_the_limit_at_minus_infinity(engine):
    case = Case(18, 2, (1, 3, 40), 1)
    check_infer(engine, case, case.rule_base(conclusion_aggregation="min"), conclusion_alpha=-math.inf)


@pytest.mark.parametrize("aggregation", ["softmax", "softmax_relative", "softmax_log", "lse", "power"])
def test_infinite_alpha_is_exactly_the_greatest_and_the_least_instance(aggregation):
    case = Case(19, 25, (1, 3, 40), 1)
    for alpha, limit in ((math.inf, np.max), (-math.inf, np.min)):
        found = case.rule_base(aggregation=aggregation, alpha=alpha, conclusion_alpha=alpha).infer(case.bags)
        for b, rows in enumerate(np.split(np.arange(44), [1, 4])):
            assert (found.log_firing[b] == limit(found.log_truth[rows], axis=0)).all()
            responses = case.coefs[:, 0] + case.bags[b] @ case.coefs[:, 1:].T
            np.testing.assert_allclose(found.rule_outputs[b, :, 0], limit(responses, axis=0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("aggregation", ["softmax", "softmax_relative", "softmax_log", "lse"])
def test_alpha_zero_is_the_mean(aggregation):
    case = Case(20, 25, (1, 3, 40), 1)
    found = case.rule_base(aggregation=aggregation, alpha=0.0, conclusion_alpha=0.0).infer(case.bags)
    for b, rows in enumerate(np.split(np.arange(44), [1, 4])):
        np.testing.assert_allclose(found.firing[b], found.truth[rows].mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("name", "t_norm"), [(name, "hamacher" if name == "bell" else "product") for name in learnable_families()]
)
def test_rules_over_another_family_are_the_oracles(name, t_norm, engine):
    case = Case(21, 2, (1, 3, 40), 1)
    parameters = FAMILIES[name].around(case.centers, 3 * case.widths)
    sets = [[FAMILIES[name](*(p[k, j] for p in parameters)) for j in range(2)] for k in range(3)]
    variables = [Variable(f"x{j}", {f"set{k}": sets[k][j] for k in range(3)}) for j in range(2)]
    rules = [Rule({"x0": f"set{k}", "x1": f"set{k}"}, (tuple(case.coefs[k]),)) for k in range(3)]
    check_infer(
        engine,
        case,
        RuleBase(variables, rules, t_norm=t_norm),
        t_norm=t_norm,
        membership=lambda x, k, j: SLOW[name](x, *sets[k][j].parameters),
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_rules_may_mix_families_and_leave_features_out(engine):
    case = Case(22, 2, (1, 3, 40), 1)
    sets = [
        {"x0": FAMILIES["bell"](0.2, 1.0, 2.0), "x1": FAMILIES["gaussian"](0.0, 0.8)},
        {"x1": FAMILIES["sigmoid"](0.5, -2.0)},
        {"x0": FAMILIES["gaussian"](-1.0, 0.5)},
    ]
    variables = [
        Variable(name, {f"set{k}": chosen[name] for k, chosen in enumerate(sets) if name in chosen})
        for name in ("x0", "x1")
    ]
    rules = [Rule(dict.fromkeys(chosen, f"set{k}"), (tuple(case.coefs[k]),)) for k, chosen in enumerate(sets)]

    def degree(x, k, j):
        chosen = sets[k].get(f"x{j}")
        return 1.0 if chosen is None else SLOW[chosen.name](x, *chosen.parameters)

    check_infer(engine, case, RuleBase(variables, rules), membership=degree)
