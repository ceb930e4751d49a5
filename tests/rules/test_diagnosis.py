"""What a diagnosis finds in a rule base, and what it leaves in peace."""

import json

import numpy as np
import pytest

from fuzzymil import RuleBase
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags import Bags
from fuzzymil.inference.membership import Gaussian, Triangular
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.editing import Finding

SETS = {"low": Gaussian(0.0, 0.4), "high": Gaussian(2.0, 0.4)}
BAGS = Bags.from_list([[[0.1], [1.9]], [[0.0]], [[2.0], [1.8]], [[1.1]]], ids=["a", "b", "c", "d"])


def rules_of(*rules, sets=SETS, **settings):
    """Rules over x in [0, 2], given as (premise, conclusion)."""
    made = [Rule({"x": premise} if isinstance(premise, str) else premise, [[said]]) for premise, said in rules]
    return RuleBase([Variable("x", sets, 0.0, 2.0)], made, **settings)


def healthy(**settings):
    return rules_of(("low", 0.0), ("high", 1.0), **settings)


def kinds(found):
    return [(finding.kind, finding.rules) for finding in found]


def test_healthy_rules_have_no_findings():
    found = healthy().diagnose(BAGS)
    assert len(found) == 0
    assert list(found) == []
    assert str(found) == "0 findings about 2 rules on 4 bags."


def test_a_rule_that_never_fires():
    rules = rules_of(("low", 0.0), ("high", 1.0), ("far", 1.0), sets={**SETS, "far": Gaussian(9.0, 1.0)})
    found = rules.diagnose(BAGS)
    assert kinds(found) == [("never fires", (3,)), ("never true", (3,))]
    greatest = rules.infer(BAGS).normalized[:, 2].max()
    assert f"{100 * greatest:.3g}%" in found[0].message
    assert "edit(drop=3)" in found[0].advice
    assert found[1].message.endswith(" 0.05: x is far.")
    assert kinds(rules.diagnose(BAGS, min_share=greatest / 2, never=0.0)) == []


def test_a_rule_that_always_fires():
    rules = healthy().edit(weights={2: 1e6})
    found = rules.diagnose(BAGS, min_share=0.0)
    assert kinds(found) == [("always fires", (2,))]
    assert "50% on 100% of the bags" in found[0].message
    part = (rules.edit(weights={2: 20.0}).infer(BAGS).normalized[:, 1] > 0.5).mean()
    assert part == 0.75
    assert kinds(rules.edit(weights={2: 20.0}).diagnose(BAGS)) == []
    assert kinds(rules.edit(weights={2: 20.0}).diagnose(BAGS, nearly_all=0.75)) == [("always fires", (2,))]


def test_a_single_rule_does_not_dominate():
    assert kinds(rules_of(("low", 0.0), sets={"low": SETS["low"]}).diagnose(BAGS)) == []


@pytest.mark.parametrize(("said", "kind"), [(0.9, "duplicate"), (0.0, "contradiction")])
def test_rules_that_ask_nearly_the_same(said, kind):
    sets = {**SETS, "big": Gaussian(1.97, 0.4)}
    found = rules_of(("low", 0.0), ("high", 1.0), ("big", said), sets=sets).diagnose(BAGS)
    assert kinds(found) == [(kind, (2, 3))]
    assert "Rules 2 and 3" in found[0].message
    assert "similarity 0.9" in found[0].message
    assert "edit(merge=[(2, 3)])" in found[0].advice


def test_rules_that_ask_the_very_same_in_any_form():
    rules = healthy().edit(add=["IF x is not high THEN y = 0", "IF x is not high THEN y = 0.05"])
    found = rules.diagnose(BAGS)
    assert kinds(found) == [("duplicate", (3, 4))]
    assert "the same premise" in found[0].message


def test_a_conclusion_far_from_all_others():
    rules = healthy().edit(add="IF x is high THEN y = 40 WITH 0.02")
    found = rules.diagnose(BAGS).of("extreme conclusion")
    assert [finding.rules for finding in found] == [(3,)]
    greatest = rules.infer(BAGS).output.max()
    assert "Rule 3 concludes y = 40;" in found[0].message
    assert f"from 0 to {greatest:.4g}" in found[0].message
    assert rules.diagnose(BAGS, extreme=100.0).of("extreme conclusion") == ()


def test_a_low_conclusion_is_extreme_too():
    found = healthy().edit(add="IF x is high THEN y = -40 WITH 0.02").diagnose(BAGS).of("extreme conclusion")
    assert "Rule 3 concludes y = -40;" in found[0].message
    assert "from 0 to 1" in found[0].message


@pytest.mark.parametrize("said", [(0.0, 40.0), (0.0, 0.0, 40.0)])
def test_a_conclusion_is_only_extreme_among_others_that_differ(said):
    rules = rules_of(*(("low", value) for value in said))
    assert rules.diagnose(BAGS).of("extreme conclusion") == ()


def test_conditions_that_say_nothing():
    rules = rules_of(
        ("low", 0.0), ("high", 1.0), ("any", 0.5), sets={**SETS, "any": Gaussian(1.0, 50.0)}, aggregation="max"
    ).edit(add="IF x is not any THEN y = 1")
    found = rules.diagnose(BAGS)
    assert kinds(found) == [("never fires", (4,)), ("always true", (3,)), ("never true", (4,))]
    assert found[1].message.startswith("Rule 3 ")
    assert found[1].message.endswith(" 0.95 or more: x is any.")
    assert "edit(without={3: ['x']})" in found[1].advice
    assert found[2].message.endswith(" 0.05: x is not any.")


def test_many_empty_conditions_are_listed_in_short():
    names = [f"x{d}" for d in range(15)]
    variables = [Variable(name, {"any": Gaussian(1.0, 50.0)}, 0.0, 2.0) for name in names]
    rules = RuleBase(variables, [Rule(dict.fromkeys(names, "any"), [[1.0]]), Rule({"x0": "any"}, [[0.0]])])
    found = rules.diagnose(np.ones((3, 15)))
    assert kinds(found) == [("always true", (1,)), ("always true", (2,))]
    assert "x11 is any and 3 more." in found[0].message
    assert "simplify(bags)" in found[0].advice


def prototype(n_features, width, **settings):
    """One rule about all features; each of its conditions is wide."""
    names = [f"x{d}" for d in range(n_features)]
    variables = [Variable(name, {"near": Gaussian(0.0, width)}, 0.0, 1.0) for name in names]
    return RuleBase(variables, [Rule(dict.fromkeys(names, "near"), [[1.0]])], **settings)


def test_conditions_that_hold_one_by_one_but_not_together_are_no_finding():
    corners = np.vstack([np.zeros(60), np.ones(60)])
    assert np.exp(-0.5 / 4**2) > 0.95
    rules = prototype(60, 4.0)
    assert rules.infer(corners).firing[1, 0] < 0.2
    assert kinds(rules.diagnose(corners)) == []
    assert kinds(prototype(60, 4.0, t_norm="min").diagnose(corners)) == [("always true", (1,))]


def test_of_many_conditions_those_that_hold_together_are_named():
    rules = prototype(8, 4.0)
    corners = np.vstack([np.zeros(8), np.ones(8)])
    corners[:, 2] = 0.01  # hardly differs
    (found,) = rules.diagnose(corners)
    assert "x2 is near" in found.message
    left = rules.edit(without={1: ["x2", *(name for name in ("x0", "x1") if f"{name} is near" in found.message)]})
    assert abs(left.infer(corners).firing - rules.infer(corners).firing).max() <= 0.05


def test_values_that_are_missing_do_not_count():
    assert kinds(healthy().diagnose([[[np.nan], [0.0]], [[2.0]]])) == []
    assert [kind for kind, _ in kinds(healthy().diagnose([[[np.nan]], [[np.nan]]]))] == ["always true", "always true"]


def test_terms_and_variables_that_nobody_uses():
    variables = [
        Variable("x", {**SETS, "mid": Gaussian(1, 1), "odd": Gaussian(1, 1)}),
        Variable("size"),
        Variable("slope"),
    ]
    rules = [Rule({"x": "low"}, [[0.0, 0.0, 0.0, 1.0]]), Rule({"x": "high"}, [[1.0, 0.0, 0.0, 0.0]])]
    found = RuleBase(variables, rules).diagnose([[[0.0, 1.0, 0.0]], [[2.0, 1.0, 0.0]]])
    assert kinds(found) == [("unused terms", ()), ("unused variable", ())]
    assert found[0].message.endswith(": mid, odd of x.")
    assert found[1].message == "No rule uses size."


def test_unused_terms_are_one_finding_and_categories_are_none():
    variables = [
        Variable("x", {**SETS, "mid": Gaussian(1, 1)}),
        Variable("z", {"odd": Gaussian(1, 1), "even": Gaussian(2, 1)}),
        Variable("channel", categories=("web", "phone", "fax")),
    ]
    rules = [Rule({"x": "low"}, [[0.0]]), Rule({"x": "high", "channel": "web"}, [[1.0]])]
    found = RuleBase(variables, rules).diagnose([[[0.0, 1.0, 0.0]], [[2.0, 1.0, 2.0]]])
    (finding,) = found.of("unused terms")
    assert finding.message == "No rule uses these terms: mid of x; odd, even of z."
    assert "drop_unused_terms" in finding.advice
    assert "fax" not in str(found)


def test_bags_that_no_rule_covers():
    far = Bags.from_list([[[0.0]], [[90.0], [80.0]], [[2.0]], [[-70.0]]], ids=["a", "b", "c", "d"])
    found = healthy().diagnose(far)
    assert kinds(found) == [("uncovered bags", ())]
    assert found[0].bags == ("b", "d")
    assert found[0].message.endswith(" 1e-06 or more on 2 of 4 bags: b, d.")
    triangles = {"low": Triangular(-1, 0, 1.2), "high": Triangular(0.9, 2, 3)}
    assert kinds(healthy(sets=triangles).diagnose(far[[0, 2]], coverage=0.0)) == []


def test_limits_of_the_rules_are_kept():
    far = Bags.from_list([[[0.0]], [[90.0]]])
    assert kinds(healthy(limited=True).diagnose(far)) == []


def test_the_table_and_the_plain_values():
    rules = rules_of(("low", 0.0), ("high", 1.0), ("high", 0.9), sets={**SETS, "odd": Gaussian(1, 1)})
    found = rules.diagnose(BAGS)
    title, *lines = str(found).splitlines()
    assert title == "2 findings about 3 rules on 4 bags:"
    for line, finding in zip(lines, found, strict=True):
        assert line == f"{finding.kind:12}  {finding.message} {finding.advice}"
    assert isinstance(found[0], Finding)
    assert found[:1] == (found[0],)
    assert found.of("unused terms") == (found[1],)
    told = json.loads(json.dumps(found.to_dict()))
    assert told["findings"][0]["rules"] == [2, 3]
    assert [finding["kind"] for finding in told["findings"]] == ["duplicate", "unused terms"]


def test_long_lines_are_broken_under_their_column():
    rules = healthy().edit(add=["IF x is low AND x is not high THEN y = 40 WITH 0.02"])
    lines = str(rules.diagnose(BAGS)).splitlines()
    assert max(map(len, lines)) <= 110
    assert any(line.startswith(" " * len("extreme conclusion  ")) for line in lines)


@pytest.mark.parametrize("name", ["min_share", "dominant", "nearly_all", "similarity", "agreement", "always", "never"])
def test_bad_limits_are_refused(name):
    with pytest.raises(ParameterError, match=f"{name} must be a number from 0 to 1, got 1.5"):
        healthy().diagnose(BAGS, **{name: 1.5})


def test_extreme_may_be_great_but_not_negative():
    assert kinds(healthy().diagnose(BAGS, extreme=7.0)) == []
    with pytest.raises(ParameterError, match="extreme must be a number from 0 to inf, got -1"):
        healthy().diagnose(BAGS, extreme=-1.0)


def test_a_rule_for_anything_else_may_always_have_a_say():
    rules = RuleBase.parse(
        "VARIABLE x FROM 0 TO 1: low = Gaussian(0, 0.01)\nIF x is low THEN y = 1\nIF anything THEN y = 0"
    )
    assert not [found for found in rules.diagnose([[[0.5]], [[0.8]], [[1.0]]]) if found.kind == "always fires"]


def test_wide_sets_on_many_features_are_similar_but_their_rules_are_no_duplicates():
    rng = np.random.RandomState(0)
    bags, centers, widths = list(rng.normal(size=(60, 3, 50))), rng.normal(size=(2, 50)), np.full((2, 50), 5.0)
    rules = RuleBase.from_arrays(centers, widths, [2, -1], normalize=False)
    assert kinds(rules.diagnose(bags, similarity=0.5)) == []
    twice = RuleBase.from_arrays([centers[0], centers[0] + 0.1], widths, [2, -1], normalize=False)
    assert kinds(twice.diagnose(bags, similarity=0.5)) == [("duplicate", (1, 2))]


def test_one_rule_on_one_bag_is_singular():
    rules = rules_of(("low", 0.0), sets={"low": SETS["low"]})
    assert str(rules.diagnose(BAGS[:1])) == "0 findings about 1 rule on 1 bag."
