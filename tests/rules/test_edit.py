"""Changing rules by hand: what edit does and what it refuses."""

import dataclasses

import numpy as np
import pytest

from fuzzymil import RuleBase
from fuzzymil._utils.errors import ParameterError, RuleSyntaxError
from fuzzymil.bags import Bags
from fuzzymil.inference.aggregation import AGGREGATIONS
from fuzzymil.inference.membership import (
    FAMILIES,
    Bell,
    Gaussian,
    Sigmoid,
    Trapezoidal,
    Triangular,
    learnable_families,
)
from fuzzymil.inference.norms import T_NORMS
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.editing._edit import blend
from fuzzymil.rules.premise import ANYTHING, And, Is, Not, Or

SKY = """
VARIABLE hue FROM 0 TO 1: dark = Gaussian(0.1, 0.2), blue = Gaussian(0.6, 0.1), red = Gaussian(0.9, 0.1)
VARIABLE texture: smooth = Gaussian(0, 0.3), rough = Gaussian(1, 0.3)
IF hue is blue AND texture is smooth THEN sky = 1
IF hue is dark AND texture is smooth THEN sky = 0.5 WITH 3
IF hue is red OR NOT (texture is very smooth AND hue is blue) THEN sky = 0
"""
BAGS = Bags.from_list([[[0.6, 0.1], [0.1, 0.9]], [[0.15, 0.2]], [[0.9, 0.4], [0.7, 0.3], [0.5, 0.0]]])


def sky(**operators):
    return RuleBase.parse(SKY, **operators)


def output(rules, bags=BAGS):
    return rules.infer(bags).output


def texts(rules):
    return [line.partition(": ")[2] for line in str(rules).splitlines()]


# ---------------------------------------------------------------------- rules that go, stay, move


def test_dropped_rules_go_and_the_old_rule_base_stays():
    rules = sky()
    assert texts(rules.edit(drop=[1, 3])) == [texts(rules)[1]]
    assert texts(rules.edit(drop=2)) == [texts(rules)[0], texts(rules)[2]]
    assert rules.edit(drop=np.array([1, 3])) == rules.edit(drop=iter([3, 1])) == rules.edit(keep=np.array([2]))
    assert rules == sky()


def test_kept_rules_come_in_the_order_given():
    rules = sky(alpha=(1.0, 2.0, 3.0))
    kept = rules.edit(keep=[3, 1])
    assert texts(kept) == [texts(rules)[2], texts(rules)[0]]
    assert kept.alpha == (3.0, 1.0)


def test_numbers_are_those_printed_whatever_else_changes():
    found = sky().edit(drop=1, weights={3: 0.5}, conclusions={2: 0.7}, without={2: "texture"})
    assert texts(found) == [
        "IF hue is dark THEN sky = 0.7 WITH 3",
        "IF hue is red OR NOT (texture is very smooth AND hue is blue) THEN sky = 0 WITH 0.5",
    ]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"drop": 4}, "drop: .*no rule 4.* 1 to 3"),
        ({"drop": [0]}, "drop: there is no rule 0"),
        ({"drop": "rule 1"}, "drop: .*number.*'rule 1'"),
        ({"drop": [1.0]}, "number of a rule"),
        ({"drop": True}, "number of a rule"),
        ({"drop": [2, 2]}, "drop: rule 2 .*twice"),
        ({"drop": [1, 2, 3]}, "at least one"),
        ({"keep": []}, "at least one"),
        ({"keep": [1, 9]}, "keep: there is no rule 9"),
        ({"keep": [1], "drop": [2]}, "drop .*keep"),
        ({"weights": {7: 1.0}}, "weights: there is no rule 7"),
        ({"weights": {1: "much"}}, "the weight of rule 1 must be a number, got 'much'"),
        ({"weights": {1: -1.0}}, "weight of a rule .*-1.0"),
        ({"merge": [(1,)]}, "a group needs at least two rules"),
        ({"merge": [(1, 1)]}, "merge: rule 1 .*twice"),
        ({"merge": [(1, 5)]}, "merge: there is no rule 5"),
        ({"merge": [(1, 2), (2, 3)]}, "rule 2 is in two groups"),
        ({"merge": [(1, 2)], "drop": 2}, "drop: rule 2 is merged into rule 1"),
        ({"merge": [(1, 2)], "keep": [2]}, "keep: rule 2 is merged into rule 1"),
    ],
)
def test_bad_numbers_are_refused(changes, named):
    with pytest.raises(ParameterError, match=named):
        sky().edit(**changes)


# ---------------------------------------------------------------------- names


def test_names_change_everywhere_and_inference_does_not():
    rules = sky()
    found = rules.edit(rename={"hue": "color", "color.dark": "black", "texture.smooth": "even", "sky": "heaven"})
    assert texts(found) == [
        "IF color is blue AND texture is even THEN heaven = 1",
        "IF color is black AND texture is even THEN heaven = 0.5 WITH 3",
        "IF color is red OR NOT (texture is very even AND color is blue) THEN heaven = 0",
    ]
    assert list(found.variables[0].terms) == ["black", "blue", "red"]
    np.testing.assert_array_equal(output(found), output(rules))


def test_names_can_be_swapped():
    found = sky().edit(rename={"hue": "texture", "texture": "hue", ("texture", "blue"): "red", "texture.red": "blue"})
    assert texts(found)[0] == "IF texture is red AND hue is smooth THEN sky = 1"
    np.testing.assert_array_equal(output(found), output(sky()))


def test_names_with_points_are_told_apart_by_pairs():
    variables = [Variable("a", {"b.c": Gaussian(0, 1)}), Variable("a.b", {"c": Gaussian(1, 1)})]
    rules = RuleBase(variables, [Rule({"a": "b.c", "a.b": "c"}, [[1.0]])])
    with pytest.raises(ParameterError, match=r"rename: 'a.b.c' .*pair"):
        rules.edit(rename={"a.b.c": "low"})
    assert texts(rules.edit(rename={("a", "b.c"): "low"})) == ["IF a is low AND a.b is c THEN y = 1"]


@pytest.mark.parametrize(
    ("names", "named"),
    [
        ({"huw": "color"}, "rename: .*'huw'.*Did you mean 'hue'"),
        ({"hue.drak": "black"}, "rename: .*'hue.drak'.*Did you mean 'hue.dark'"),
        ({"hue": "color", "hue.dark": "black"}, "'hue' is now 'color'"),
        ({"hue": "texture"}, "two variables .*'texture'"),
        ({"hue.dark": "blue"}, "two terms of 'hue' .*'blue'"),
        ({"hue": ""}, "new name of 'hue' .*got ''"),
        ({"hue": 3}, "new name of 'hue' .*got 3"),
        ({3: "hue"}, "rename: .*term 3"),
    ],
)
def test_bad_names_are_refused(names, named):
    with pytest.raises(ParameterError, match=named):
        sky().edit(rename=names)


def test_outputs_that_clash_are_refused():
    rules = RuleBase([Variable("x", {"a": Gaussian(0, 1)})], [Rule({"x": "a"}, [[1.0], [2.0]])], ["y", "z"])
    with pytest.raises(ParameterError, match=r"two outputs .*'z'"):
        rules.edit(rename={"y": "z"})
    both = dataclasses.replace(rules, outputs=("x", "z"))
    with pytest.raises(ParameterError, match="'x' is both a variable and an output"):
        both.edit(rename={"x": "w"})


# ---------------------------------------------------------------------- fuzzy sets


def test_sets_change_for_all_rules_that_share_them():
    rules = sky()
    found = rules.edit(sets={"texture.smooth": {"center": 0.2}, ("hue", "blue"): Triangular(0.4, 0.6, 0.8)})
    assert found.variables[1].terms["smooth"] == Gaussian(0.2, 0.3)
    assert found.variables[0].terms["blue"] == Triangular(0.4, 0.6, 0.8)
    assert found.rules == rules.rules
    assert rules == sky()


@pytest.mark.parametrize(
    ("sets", "named"),
    [
        ({"hue.drak": {"center": 0}}, "sets: .*'hue.drak'.*Did you mean 'hue.dark'"),
        ({"hue": {"center": 0}}, "sets: .*term 'hue'"),
        ({("hue", "drak"): {"center": 0}}, "term 'hue.drak'"),
        ({"hue.dark": {"centr": 0}}, "'centr' of 'hue.dark'.*Did you mean 'center'"),
        ({"hue.dark": {"width": 0}}, "Gaussian: width must be greater than 0"),
        ({"hue.dark": 0.3}, "'hue.dark' .*fuzzy set.*{'center': 0.1}.*got 0.3"),
    ],
)
def test_bad_sets_are_refused(sets, named):
    with pytest.raises(ParameterError, match=named):
        sky().edit(sets=sets)


def test_new_terms_are_for_new_rules():
    found = sky().edit(new_terms={"hue.white": Gaussian(0.5, 0.4)}, add="IF hue is white THEN sky = 0.2")
    assert texts(found)[3] == "IF hue is white THEN sky = 0.2"
    assert found.variables[0].terms["white"] == Gaussian(0.5, 0.4)


@pytest.mark.parametrize(
    ("terms", "named"),
    [
        ({"hue.dark": Gaussian(0, 1)}, "'hue' .*'dark'.*sets="),
        ({"huw.white": Gaussian(0, 1)}, "'huw.white' .*hue, texture"),
        ({"hue": Gaussian(0, 1)}, "'hue' .*variable"),
        ({("hue",): Gaussian(0, 1)}, "variables are hue"),
        ({("hue", "dark"): Gaussian(0, 1)}, "'hue' .*'dark'"),
        ({"hue.white": 3}, "term 'white' of 'hue' must be a fuzzy set, got 3"),
    ],
)
def test_bad_new_terms_are_refused(terms, named):
    with pytest.raises(ParameterError, match=named):
        sky().edit(new_terms=terms)


def test_unused_terms_stay_until_asked_to_go():
    rules = sky()
    assert list(rules.edit(drop=[2, 3]).variables[0].terms) == ["dark", "blue", "red"]
    lean = rules.edit(drop=[2, 3], drop_unused_terms=True)
    assert [list(variable.terms) for variable in lean.variables] == [["blue"], ["smooth"]]
    np.testing.assert_array_equal(output(lean), output(rules.edit(drop=[2, 3])))


# ---------------------------------------------------------------------- conditions


A, B, C = Is("x", "a"), Is("y", "b"), Is("z", "c", ("very",))


@pytest.mark.parametrize(
    ("premise", "names", "left"),
    [
        (And((A, B, C)), ["y"], And((A, C))),
        (And((A, B)), "x", And((B,))),
        (And((A,)), "x", ANYTHING),
        (Or((A, B)), "y", And((A,))),
        (Or((A, B, C)), ["x", "y"], And((C,))),
        (And((A, Not(Or((B, C))))), "y", And((A, Not(C)))),
        (And((A, Not(And((B, C))))), ["z", "y"], And((A,))),
        (And((Or((A, B)), Is("x", "a", ("not",)), C)), "x", And((B, C))),
        (And((ANYTHING, A)), "x", ANYTHING),
    ],
    ids=str,
)
def test_a_rule_can_stop_asking(premise, names, left):
    variables = [Variable(name, {term: Gaussian(0, 1)}) for name, term in (("x", "a"), ("y", "b"), ("z", "c"))]
    rules = RuleBase(variables, [Rule(premise, [[1.0]]), Rule({"x": "a"}, [[0.0]])])
    found = rules.edit(without={1: names})
    assert found.rules == (Rule(left, [[1.0]]), rules.rules[1])


def test_conditions_that_are_not_there_are_named():
    with pytest.raises(ParameterError, match=r"rule 1 .*'textur'.*hue, texture.*Did you mean"):
        sky().edit(without={1: ["textur"]})
    with pytest.raises(ParameterError, match="without: there is no rule 4"):
        sky().edit(without={4: "hue"})


# ---------------------------------------------------------------------- conclusions


def test_conclusions_are_numbers_or_sums():
    rules = sky()
    assert rules.edit(conclusions={1: 0.9}).coefs.ravel().tolist() == [0.9, 0.5, 0.0]
    linear = rules.edit(conclusions={3: "0.3 + 2*hue"})
    assert linear.coefs.tolist() == [[[1.0, 0.0, 0.0]], [[0.5, 0.0, 0.0]], [[0.3, 2.0, 0.0]]]
    assert linear.edit(conclusions={3: 0.0}).coefs.tolist()[2] == [[0.0, 0.0, 0.0]]
    np.testing.assert_allclose(output(linear.edit(conclusions={3: 0.0})), output(rules), rtol=1e-12)


def test_with_several_outputs_conclusions_name_theirs():
    rules = RuleBase([Variable("x", {"a": Gaussian(0, 1)})], [Rule({"x": "a"}, [[1.0], [2.0]])], ["y", "z"])
    assert rules.edit(conclusions={1: {"z": 5}}).coefs.tolist() == [[[1.0], [5.0]]]
    with pytest.raises(ParameterError, match=r"y, z.*{1: {'y': 5}}"):
        rules.edit(conclusions={1: 5})


@pytest.mark.parametrize(
    ("conclusions", "error", "named"),
    [
        ({4: 1.0}, ParameterError, "conclusions: there is no rule 4"),
        ({1: {"sjy": 1.0}}, ParameterError, "output 'sjy' in conclusions.*Did you mean 'sky'"),
        ({1: None}, ParameterError, "'sky' .*got None"),
        ({1: float("nan")}, ParameterError, "not finite"),
        ({1: "1 WITH 0.5"}, ParameterError, "expected a sum such as '0.3 . 2.x', got '1 WITH 0.5'"),
        ({1: "1 IF hue is blue THEN sky = 2"}, ParameterError, "expected a sum"),
        ({1: "1, sea = 2"}, ParameterError, "expected a sum"),
        ({1: "2*huw"}, RuleSyntaxError, "'huw'.*Did you mean 'hue'"),
    ],
)
def test_bad_conclusions_are_refused(conclusions, error, named):
    with pytest.raises(error, match=named):
        sky().edit(conclusions=conclusions)


# ---------------------------------------------------------------------- merging


@pytest.mark.slow
@pytest.mark.parametrize(("t_norm", "aggregation"), list(zip(2 * sorted(T_NORMS), sorted(AGGREGATIONS), strict=False)))
def test_merging_rules_with_equal_premises_changes_nothing(t_norm, aggregation):
    rules = sky(t_norm=t_norm, aggregation=aggregation).edit(
        add=[
            "IF texture is smooth AND hue is blue THEN sky = 0.2 WITH 2",
            "IF hue is blue AND texture is smooth THEN sky = 4",
        ]
    )
    merged = rules.edit(merge=[(1, 4, 5)])
    assert merged.n_rules == 3
    assert merged.rules[0].weight == 4
    np.testing.assert_allclose(merged.rules[0].coefs, [[(1 + 2 * 0.2 + 4) / 4]])
    np.testing.assert_allclose(output(merged), output(rules), rtol=1e-12)


def test_rules_of_any_form_merge_if_they_ask_the_same():
    rules = sky().edit(add="IF hue is red OR NOT (texture is very smooth AND hue is blue) THEN sky = 1")
    merged = rules.edit(merge=[(3, 4)])
    assert texts(merged)[2].endswith("THEN sky = 0.5 WITH 2")
    np.testing.assert_allclose(output(merged), output(rules), rtol=1e-12)


def test_the_merged_set_has_the_moments_of_the_mixture():
    rules = sky()  # weights 1 and 3
    merged = rules.edit(merge=[(2, 1)])
    assert texts(merged)[0] == "IF hue is dark_or_blue AND texture is smooth THEN sky = 0.625 WITH 4"
    found = merged.variables[0].terms["dark_or_blue"]
    center = 0.75 * 0.1 + 0.25 * 0.6
    width = np.sqrt(0.75 * (0.2**2 + (0.1 - center) ** 2) + 0.25 * (0.1**2 + (0.6 - center) ** 2))
    np.testing.assert_allclose([found.center, found.width], [center, width], rtol=1e-12)
    assert merged.variables[0].terms["dark"] == rules.variables[0].terms["dark"]


def test_rules_without_weight_merge_evenly():
    merged = sky().edit(weights={1: 0, 2: 0}, merge=[(1, 2)])
    assert merged.rules[0].weight == 0
    assert merged.rules[0].coefs == ((0.75,),)


def test_a_taken_name_is_not_given_twice():
    rules = sky().edit(new_terms={"hue.blue_or_dark": Gaussian(5, 1)})
    assert texts(rules.edit(merge=[(1, 2)]))[0].startswith("IF hue is blue_or_dark_2 AND")
    again = rules.edit(merge=[(1, 2)]).variables[0].terms
    assert again["blue_or_dark"] == Gaussian(5, 1)


def test_alphas_of_merged_rules_are_averaged_by_weight():
    merged = sky(alpha=(1.0, 2.0, 3.0)).edit(merge=[(1, 2)])
    assert merged.alpha == (1.75, 3.0)


@pytest.mark.parametrize("kind", sorted(learnable_families()))
def test_a_blend_lies_among_its_sets(kind):
    family = FAMILIES[kind]
    sets = [family(*map(float, family.around(center, width))) for center, width in ((1.0, 0.5), (2.0, 1.0))]
    found = blend(sets, np.array([0.5, 0.5]))
    assert float(found.peak(*found.parameters)) == pytest.approx(1.5)
    assert float(found.spread(*found.parameters)) == pytest.approx(np.sqrt((0.25 + 1.0) / 2 + 0.25))
    same = blend([sets[0]] * 2, np.array([0.3, 0.7]))
    np.testing.assert_allclose(same.parameters, sets[0].parameters, rtol=1e-12)


def test_a_blend_of_bells_has_the_mean_slope():
    assert blend([Bell(0, 1, 2), Bell(0, 1, 4)], np.array([0.5, 0.5])).slope == pytest.approx(3)


def test_a_blend_of_trapezoids_keeps_their_shape():
    narrow, wide = Trapezoidal(0, 1, 3, 6), Trapezoidal(0, 2, 6, 12)
    found = blend([narrow, wide], np.array([0.5, 0.5]))
    rise, top, fall = np.diff(found.parameters)
    np.testing.assert_allclose([top / rise, fall / rise], [2.0, 3.0], rtol=1e-12)


@pytest.mark.parametrize(
    ("sets", "rules", "named"),
    [
        ((Gaussian(0, 1), Triangular(0, 1, 2)), ({"x": "a"}, {"x": "b"}), "family or direction"),
        ((Sigmoid(0, 1), Sigmoid(0, -1)), ({"x": "a"}, {"x": "b"}), "family or direction"),
        (
            (Gaussian(0, 1), Gaussian(1, 1)),
            ({"x": "a"}, {"z": "c"}),
            r"rule 1 .*'x', rule 2 does not.*without={1: 'x'}",
        ),
        (
            (Gaussian(0, 1), Gaussian(1, 1)),
            ({"x": "a"}, {"x": "a", "z": "c"}),
            r"rule 2 .*'z', rule 1 does not. .*edit\(without={2: 'z'}\)",
        ),
        (
            (Gaussian(0, 1), Gaussian(1, 1)),
            ({"x": "a"}, Not(Is("x", "a"))),
            "Rule 2 cannot be merged: its premise",
        ),
    ],
    ids=["families", "sides", "variables", "more", "form"],
)
def test_rules_that_cannot_be_merged_say_why(sets, rules, named):
    variables = [Variable("x", dict(zip("ab", sets, strict=True))), Variable("z", {"c": Gaussian(0, 1)})]
    base = RuleBase(variables, [Rule(premise, [[1.0]]) for premise in rules])
    with pytest.raises(ParameterError, match=named):
        base.edit(merge=[(1, 2)])


# ---------------------------------------------------------------------- adding


def test_added_rules_speak_the_new_names():
    found = sky().edit(
        rename={"hue": "color"}, drop=1, add=["IF color is dark THEN sky = 0", "IF anything THEN sky = 1"]
    )
    assert texts(found)[2:] == ["IF color is dark THEN sky = 0", "IF anything THEN sky = 1"]


def test_added_rules_may_be_linear_and_name_outputs_in_any_order():
    rules = RuleBase(
        [Variable("x", {"a": Gaussian(0, 1)})], [Rule({"x": "a"}, [[1.0], [2.0]])], ["y", "z"], alpha=[4.0]
    )
    found = rules.edit(add="IF x is not a THEN z = 3, y = 1 + 2*x")
    assert found.coefs.tolist() == [[[1.0, 0.0], [2.0, 0.0]], [[1.0, 2.0], [3.0, 0.0]]]
    assert found.alpha == (4.0, 4.0)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("IF huw is blue THEN sky = 1", "'huw'.*Did you mean 'hue'"),
        ("IF hue is blue THEN sjy = 1", "output 'sjy' in add.*Did you mean 'sky'"),
        ("VARIABLE size: big = Gaussian(0, 1) IF size is big THEN sky = 1", r"'size' is a new variable; .*rules.over"),
        ("USING t_norm = min IF hue is blue THEN sky = 1", "t_norm"),
        ("USING alpha = 3 IF hue is blue THEN sky = 1", "alpha"),
        ("USING default = 3 IF hue is blue THEN sky = 1", "default"),
    ],
)
def test_bad_rules_are_not_added(text, named):
    with pytest.raises(ParameterError, match=named):
        sky().edit(add=text)


def test_added_rules_conclude_all_outputs():
    rules = RuleBase([Variable("x", {"a": Gaussian(0, 1)})], [Rule({"x": "a"}, [[1.0], [2.0]])], ["y", "z"])
    with pytest.raises(ParameterError, match="no conclusion for 'z'"):
        rules.edit(add="IF x is a THEN y = 1")


def test_edited_rules_are_written_and_read_back():
    found = sky().edit(
        rename={"hue.dark": "very dark"}, merge=[(1, 2)], conclusions={3: "hue - 1"}, add="IF hue is red THEN sky = 2"
    )
    assert RuleBase.parse(found.to_source()) == found
    assert RuleBase.from_dict(found.to_dict()) == found


def test_an_edit_without_changes_is_the_same_value():
    assert sky().edit() == sky()
