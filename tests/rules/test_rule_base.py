"""The rule base: what it refuses, its arrays, its text, its file, and what it infers at the edges."""

import dataclasses
import json
import math
import os

import numpy as np
import pytest

from fuzzymil._utils.errors import InputError, ModelFileError, ParameterError
from fuzzymil.bags import Bags
from fuzzymil.inference.membership import Bell, Gaussian, Sigmoid, Trapezoidal, Triangular
from fuzzymil.rules import Rule, RuleBase, Variable
from fuzzymil.rules.json import VERSIONS


def two_rules(**settings):
    return RuleBase.from_arrays(
        [[0.0, 0.0], [1.0, 1.0]],
        [[0.3, 0.4], [0.5, 0.6]],
        [0.0, 1.0],
        **{"feature_names": ["hue", "texture"], "output_names": ["sky"], **settings},
    )


def triangles(**settings):
    """Two rules that are truly zero outside of [0, 2] and [4, 6]."""
    x = Variable("x", {"near": Triangular(0, 1, 2), "far": Triangular(4, 5, 6)})
    return RuleBase([x], [Rule({"x": "near"}, ((1.0,),)), Rule({"x": "far"}, ((2.0,),))], **settings)


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"t_norm": "prodct"}, "t_norm 'prodct'.*Did you mean 'product'"),
        ({"aggregation": "soft"}, "aggregation 'soft'"),
        ({"t_norm": None}, "t_norm None"),
        ({"conclusion_aggregation": "median"}, "conclusion_aggregation 'median'.*softmax, mean, max, min"),
        ({"alpha": math.nan}, "alpha must be a number.*NaN"),
        ({"conclusion_alpha": math.nan}, "alpha must be a number.*NaN"),
        ({"alpha": [1.0, 2.0, 3.0]}, r"alpha must be one number, or a finite one per rule \(2\)"),
        ({"alpha": [1.0, math.inf]}, r"alpha must be one number, or a finite one per rule \(2\)"),
        ({"default": (0.0, 1.0)}, r"default .*1 value\(s\), got 2"),
        ({"feature_names": ["hue", "hue"]}, "Two variables have the same name"),
        ({"output_names": ["sky", "sea"]}, r"output_names .*1 name\(s\), got 2"),
        ({"feature_names": ["hue"]}, r"feature_names .*2 name\(s\), got 1"),
        ({"feature_names": ["hue", "texture", "size"]}, r"feature_names .*2 name\(s\), got 3"),
        ({"ranges": [[0.0, 1.0]]}, "ranges"),
    ],
)
def test_bad_settings_are_refused_by_name(settings, named):
    with pytest.raises(ParameterError, match=named):
        two_rules(**settings)


@pytest.mark.parametrize(
    ("centers", "widths", "coefs", "named"),
    [
        ([[0.0, math.nan]], [[1.0, 1.0]], [1.0], "center of rule 1, feature 2 must be finite, got nan"),
        ([[0.0], [1.0]], [[1.0], [0.0]], [1.0, 2.0], "width of rule 2, feature 1 must be greater than 0.*got 0.0"),
        ([[0.0], [1.0]], [[-1.0], [1.0]], [1.0, 2.0], "width of rule 1, feature 1"),
        ([[0.0], [1.0]], [[1.0], [math.inf]], [1.0, 2.0], "width of rule 2.*got inf"),
        ([[0.0, 1.0]], [[1.0]], [1.0], r"centers and widths .*\(1, 2\) and \(1, 1\)"),
        (np.zeros((2, 2, 2)), np.ones((2, 2, 2)), [1.0, 2.0], "centers and widths .*shape"),
        ([[0.0], [1.0]], [[1.0], [1.0]], [1.0, 2.0, 3.0], r"coefs must have shape .*got \(3, 1, 1\)"),
        ([[0.0], [1.0]], [[1.0], [1.0]], np.zeros((2, 1, 3)), r"coefs must have shape \(2,\).*\(2, k, 2\)"),
        ([[0.0], [1.0]], [[1.0], [1.0]], [1.0, math.nan], "Rule 2 has a coefficient that is not finite"),
        (np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0), "at least one variable, one rule and one output"),
    ],
)
def test_bad_arrays_are_refused_by_place(centers, widths, coefs, named):
    with pytest.raises(ParameterError, match=named):
        RuleBase.from_arrays(centers, widths, coefs)


@pytest.mark.parametrize(
    ("variables", "rules", "named"),
    [
        ([], [Rule({}, ((1.0,),))], "at least one variable"),
        ([Variable("x")], [], "at least one variable, one rule"),
        ([Variable("x")], [Rule({"y": "low"}, ((1.0,),))], "variable 'y' in rule 1"),
        ([Variable("x", {"low": Gaussian(0, 1)})], [Rule({"x": "lov"}, ((1.0,),))], "'lov'.*Did you mean 'low'"),
        ([Variable("x")], [Rule({}, ())], "Rule 1 .*coefficients"),
        ([Variable("x")], [Rule({}, ((1.0,),)), Rule({}, ((1.0, 2.0),))], "Rule 2 .*1 or 2 coefficients"),
        ([Variable("x")], [Rule({}, ((1.0, 2.0, 3.0),))], "Rule 1 .*coefficients"),
        ([Variable("x")], [Rule({}, ((math.inf,),))], "Rule 1 has a coefficient"),
    ],
)
def test_bad_rules_are_refused_by_number(variables, rules, named):
    with pytest.raises(ParameterError, match=named):
        RuleBase(variables, rules)


def test_feature_names_may_be_an_array_of_names():
    assert two_rules(feature_names=np.array(["hue", "texture"])).feature_names == ("hue", "texture")


def test_a_rule_base_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        two_rules().alpha = 3.0


# ---------------------------------------------------------------------- arrays


@pytest.mark.parametrize("order", [0, 1])
def test_arrays_go_in_and_come_out(order):
    rng = np.random.default_rng(1)
    centers, widths = rng.normal(size=(4, 3)), rng.uniform(0.1, 2, (4, 3))
    coefs = rng.normal(size=(4, 2, 1 + 3 * order))
    rules = RuleBase.from_arrays(centers, widths, coefs, alpha=[1.0, 2.0, 3.0, -4.0], conclusion_alpha=0.5)
    np.testing.assert_array_equal(rules.centers, centers)
    np.testing.assert_array_equal(rules.widths, widths)
    np.testing.assert_array_equal(rules.coefs, coefs)
    params, masks, operators = rules.compile()
    np.testing.assert_array_equal(params.sets["gaussian"], [centers, widths])
    np.testing.assert_array_equal(params.alpha, [1.0, 2.0, 3.0, -4.0])
    assert params.conclusion_alpha == 0.5
    assert (rules.n_rules, rules.n_features, rules.feature_names) == (4, 3, ("x1", "x2", "x3"))
    assert rules.output_names == ("y1", "y2")
    again = RuleBase.from_sets(params.sets, masks, params.coefs, alpha=rules.alpha, conclusion_alpha=0.5)
    assert again == rules
    assert operators.t_norm == "product"


def mixed_rules():
    variables = [
        Variable("a", {"low": Gaussian(0, 1), "ramp": Sigmoid(1, 2)}, 0.0, 4.0, "m"),
        Variable("b", {"tent": Triangular(0, 1, 2), "roof": Trapezoidal(0, 1, 2, 3), "bell": Bell(1, 2, 3)}, -1.0, 3.0),
    ]
    rules = [
        Rule({"a": "low", "b": "tent"}, ((1.0, 0.5, 0.0),)),
        Rule({"b": "roof"}, ((2.0, 0.0, -1.0),)),
        Rule({"a": "ramp", "b": "bell"}, ((3.0, 0.0, 0.0),)),
        Rule({}, ((4.0, 0.0, 0.0),)),
    ]
    return RuleBase(variables, rules)


def test_rules_of_several_families_compile_and_come_back_with_the_same_meaning():
    rules = mixed_rules()
    params, masks, _ = rules.compile()
    assert params.sets.keys() == masks.keys() == {"gaussian", "sigmoid", "triangular", "trapezoidal", "bell"}
    assert sum(masks.values()).tolist() == [[1, 1], [0, 1], [1, 1], [0, 0]]
    again = RuleBase.from_sets(params.sets, masks, params.coefs, feature_names=["a", "b"])
    bags = [np.random.default_rng(2).uniform(0, 3, (n, 2)) for n in (1, 4)]
    np.testing.assert_array_equal(again.infer(bags).output, rules.infer(bags).output)
    np.testing.assert_array_equal(np.isnan(rules.centers), [[0, 0], [1, 0], [0, 0], [1, 1]])


def test_a_rule_without_conditions_fires_fully_everywhere():
    found = mixed_rules().infer([[[100.0, -50.0]]])
    assert found.truth[0, 3] == 1.0
    alone = RuleBase([Variable("x")], [Rule({}, ((7.0,),))]).infer([[[3.0]], [[1e9]]])
    assert alone.output.tolist() == [[7.0], [7.0]]
    assert alone.strongest.tolist() == [1.0, 1.0]


# ---------------------------------------------------------------------- text


def test_text_names_sets_by_the_third_of_the_range():
    rules = RuleBase.from_arrays(
        [[0.0], [5.0], [10.0]], np.ones((3, 1)), [1.0, 2.0, 3.0], ranges=[[0.0, 10.0]], output_names=["z"]
    )
    assert str(rules) == (
        "Rule 1: IF x1 is low THEN z = 1\nRule 2: IF x1 is medium THEN z = 2\nRule 3: IF x1 is high THEN z = 3"
    )
    in_a_greater_range = RuleBase.from_arrays([[0.0], [5.0]], np.ones((2, 1)), [1.0, 2.0], ranges=[[0.0, 100.0]])
    assert [rule.antecedent["x1"] for rule in in_a_greater_range.rules] == ["lowest", "low"]


def test_sets_that_share_a_third_are_told_apart_and_equal_sets_share_a_name():
    rules = RuleBase.from_arrays([[9.0], [0.0], [8.0], [9.0]], [[1.0], [1.0], [1.0], [1.0]], np.arange(4.0))
    assert [rule.antecedent["x1"] for rule in rules.rules] == ["highest", "low", "high", "highest"]
    assert list(rules.variables[0].terms) == ["low", "high", "highest"]


def test_variable_whose_sets_all_stand_in_one_place_is_medium():
    rules = RuleBase.from_arrays([[2.0], [2.0]], [[1.0], [3.0]], [0.0, 1.0])
    assert [rule.antecedent["x1"] for rule in rules.rules] == ["narrow_medium", "broad_medium"]


def test_text_shows_first_order_consequents_and_several_outputs():
    coefs = [[[0.5, 2.0, -1.25], [-0.0, 0.0, 0.0]], [[1e-9, 0.0, 3.0], [1.0, -1.0, 1.0]]]
    rules = RuleBase.from_arrays([[0, 0], [1, 1]], np.ones((2, 2)), coefs, output_names=["p", "q"])
    assert rules.to_text(digits=3).splitlines() == [
        "Rule 1: IF x1 is low AND x2 is low THEN p = 0.5 + 2*x1 - 1.25*x2, q = 0",
        "Rule 2: IF x1 is high AND x2 is high THEN p = 1e-09 + 3*x2, q = 1 - 1*x1 + 1*x2",
    ]


def test_text_can_show_the_most_selective_conditions_only():
    rules = RuleBase.from_arrays([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], [[0.9, 0.1, 0.3], [0.1, 0.9, 0.9]], [0.0, 1.0])
    assert rules.to_text(max_conditions=1).splitlines() == [
        "Rule 1: IF x2 is low AND ... (2 less selective) THEN y = 0",
        "Rule 2: IF x1 is high AND ... (2 less selective) THEN y = 1",
    ]
    assert rules.to_text(max_conditions=3) == rules.to_text() == str(rules)
    many = RuleBase.from_arrays(np.zeros((1, 20)), np.ones((1, 20)), np.zeros((1, 1, 21)))
    assert str(many).count(" is ") == 8
    assert "(12 less selective)" in str(many)
    assert many.to_text().count(" is ") == 20


def test_description_of_terms_gives_every_variable_its_sets():
    text = mixed_rules().describe_terms()
    assert [line.split()[0].rstrip(":") for line in text.splitlines()] == ["a", "b"]
    for piece in ("Gaussian(0, 1)", "Sigmoid(1, 2)", "Triangular(0, 1, 2)", "Trapezoidal(0, 1, 2, 3)", "Bell(1, 2, 3)"):
        assert piece in text


def test_a_rule_without_conditions_reads_as_anything():
    assert str(RuleBase([Variable("x")], [Rule({}, ((7.0,),))])) == "Rule 1: IF anything THEN y = 7"


# ---------------------------------------------------------------------- inference at the edges


def test_named_features_are_matched_by_name():
    rules = two_rules()
    plain = rules.infer([[[0.2, 0.9]], [[0.7, 0.1], [0.3, 0.3]]]).output
    shuffled = Bags.from_list(
        [[[5.0, 0.9, 0.2]], [[6.0, 0.1, 0.7], [7.0, 0.3, 0.3]]], feature_names=["size", "texture", "hue"]
    )
    np.testing.assert_array_equal(rules.infer(shuffled).output, plain)
    with pytest.raises(InputError, match=r"no feature 'texture'.*Did you mean 'textur'"):
        rules.infer(Bags.from_list([[[0.0, 0.0]]], feature_names=["hue", "textur"]))
    with pytest.raises(InputError, match="3 features, but these rules expect 2"):
        rules.infer([[[0.0, 0.0, 0.0]]])


def test_bags_that_no_rule_covers_get_the_default():
    bags = [[[1.0]], [[3.0]], [[5.0]], [[3.0], [3.5]], [[3.0], [5.0]]]
    found = triangles(default=[-9.0]).infer(bags)
    assert found.output.ravel().tolist() == [1.0, -9.0, 2.0, -9.0, 2.0]
    assert found.uncovered.tolist() == [False, True, False, True, False]
    assert found.strongest[[1, 3]].tolist() == [0.0, 0.0]
    assert (found.log_firing[1] == -np.inf).all()
    np.testing.assert_allclose(found.normalized.sum(axis=1), [1, 0, 1, 0, 1])
    assert triangles().infer([[[3.0]]]).output.tolist() == [[0.0]]


def test_a_merely_far_bag_is_covered_and_its_strength_tells():
    found = two_rules().infer([[[0.0, 0.0]], [[1e4, 1e4]]])
    assert found.strongest.tolist() == [1.0, 0.0]
    assert not found.uncovered.any()
    assert found.output[1, 0] == pytest.approx(1.0)  # the nearer, wider rule
    assert found.normalized.sum(axis=1).tolist() == pytest.approx([1.0, 1.0])


@pytest.mark.slow
@pytest.mark.parametrize("t_norm", ["product", "min", "lukasiewicz", "hamacher", "einstein"])
def test_a_missing_value_is_as_if_the_rules_did_not_ask_for_it(t_norm):
    rules = dataclasses.replace(two_rules(), t_norm=t_norm)
    unasked = dataclasses.replace(
        rules, rules=[Rule({"hue": rule.antecedent["hue"]}, rule.coefs) for rule in rules.rules]
    )
    known = [[0.1, 0.2], [0.4, 0.5]]
    found = rules.infer([[[0.1, math.nan]], [[0.4, math.nan], [0.3, math.nan]], known])
    expected = unasked.infer([[[0.1, 77.0]], [[0.4, -3.0], [0.3, 0.0]], known])
    np.testing.assert_allclose(found.truth[:3], expected.truth[:3], rtol=1e-12)
    np.testing.assert_allclose(found.output[:2], expected.output[:2], rtol=1e-12)
    np.testing.assert_allclose(found.output[2], rules.infer([known]).output[0], rtol=1e-12)
    everything = rules.infer([[[math.nan, math.nan]]])
    assert everything.truth.tolist() == [[1.0, 1.0]]


def test_a_missing_value_stands_at_the_rules_typical_value_in_its_consequent():
    coefs = [[[1.0, 10.0, 0.0]], [[2.0, 0.0, 100.0]]]
    rules = RuleBase.from_arrays([[3.0, 4.0], [5.0, 6.0]], np.ones((2, 2)), coefs)
    found = rules.infer([[[math.nan, math.nan]]])
    assert found.rule_outputs[0, :, 0].tolist() == pytest.approx([1 + 10 * 3.0, 2 + 100 * 6.0])


# ---------------------------------------------------------------------- files

AWKWARD = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 1e-7, 2**53 + 1.0, math.pi]


def test_a_saved_rule_base_comes_back_bit_for_bit(tmp_path):
    path = tmp_path / "rules.json"
    widths = np.abs(AWKWARD)[:, None] + 5e-324
    rules = RuleBase.from_arrays(
        np.array(AWKWARD)[:, None],
        widths,
        np.array([[[value, -value]] for value in AWKWARD]),
        feature_names=['größe 目 \u2028 "quoted" \\'],
        output_names=["Ωμέγα"],
        alpha=[0.1, 2.0, -3e-300, 4.0, 5.0, 6.0, 7.0, 1 / 3],
        conclusion_alpha=-math.inf,
        t_norm="hamacher",
        aggregation="power",
        normalize=False,
        default=[-1 / 3],
        ranges=[[-0.1, 1e300]],
    )
    rules.save(path)
    again = RuleBase.load(path)
    assert again == rules
    assert again.to_dict() == rules.to_dict()
    assert [math.copysign(1, c) for c in again.coefs.ravel()] == [math.copysign(1, c) for c in rules.coefs.ravel()]
    np.testing.assert_array_equal(again.infer([[[0.3]]]).output, rules.infer([[[0.3]]]).output)


@pytest.mark.parametrize("alpha", [math.inf, -math.inf, 0.0])
def test_infinite_alpha_is_saved_and_the_file_is_strict_json(tmp_path, alpha):
    path = tmp_path / "rules.json"
    mixed = dataclasses.replace(mixed_rules(), alpha=alpha)
    mixed.save(path)

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    document = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    assert (document["format"], document["version"]) == ("fuzzymil.rules", 1)
    assert RuleBase.load(path) == mixed


def test_a_default_must_be_finite_or_no_answer():
    with pytest.raises(ParameterError, match="default must be finite, or NaN for no answer, got inf"):
        triangles(default=[math.inf])
    with pytest.raises(ParameterError, match="default must be finite, got nan"):
        triangles(default=[math.nan], normalize=False)
    silent = triangles(default=[math.nan])
    assert np.isnan(silent.infer([[1e9]]).output).all()
    assert silent.with_answers().default == (0.0,)
    assert silent == RuleBase.from_dict(silent.to_dict()) == RuleBase.parse(silent.to_source())


@pytest.mark.parametrize("name", ["tipper", 'two "words"', "nan", "12", "yes"])
def test_the_name_of_the_rules_is_kept_in_text_and_json(name):
    rules = dataclasses.replace(triangles(), name=name)
    assert RuleBase.parse(rules.to_source()).name == RuleBase.from_dict(rules.to_dict()).name == name


def test_numbers_of_numpy_are_saved(tmp_path):
    path = tmp_path / "rules.json"
    x = Variable("x", {"low": Gaussian(np.float32(0.5), 1)}, np.float32(0.0), np.int64(3))
    rules = RuleBase([x], [Rule({"x": "low"}, ((np.float32(0.1),),))])
    rules.save(path)
    assert RuleBase.load(path) == rules


def saved(tmp_path, change=None):
    path = tmp_path / "rules.json"
    mixed_rules().save(path)
    if change is not None:
        document = json.loads(path.read_text(encoding="utf-8"))
        change(document)
        path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_truncated_files_are_refused(tmp_path):
    whole = saved(tmp_path).read_text(encoding="utf-8")
    path = tmp_path / "cut.json"
    for length in (0, 1, len(whole) // 2, len(whole) - 3):
        path.write_text(whole[:length], encoding="utf-8")
        with pytest.raises(ModelFileError, match=r"cut\.json.*(damaged|not a fuzzymil file).*save"):
            RuleBase.load(path)


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n\x00\xff", b"\x80\x04\x95pickle", b"[" * 100_000, b"a,b\n1,2\n"]
)
def test_files_that_are_no_json_are_refused(tmp_path, content):
    path = tmp_path / "foreign.json"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"foreign\.json is not a fuzzymil file"):
        RuleBase.load(path)


@pytest.mark.parametrize("content", ["[]", "3", "null", '"text"', "{}", '{"format": "other"}', '{"format": ["x"]}'])
def test_json_of_another_kind_is_refused(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    match = r"other\.json.*('fuzzymil\.rules'|is not a fuzzymil file: it begins with)"
    with pytest.raises(ModelFileError, match=match):
        RuleBase.load(path)


def test_a_newer_file_asks_for_an_upgrade(tmp_path):
    path = saved(tmp_path, lambda d: d.update(version=VERSIONS["fuzzymil.rules"] + 1, library="99.1"))
    with pytest.raises(ModelFileError, match=r"newer fuzzymil \(99\.1\).*[Uu]pgrade"):
        RuleBase.load(path)


@pytest.mark.parametrize("version", [None, "1", 0, -1, 1.5, True, [1]])
def test_a_version_that_is_no_version_is_refused(tmp_path, version):
    with pytest.raises(ModelFileError, match="no valid 'version'"):
        RuleBase.load(saved(tmp_path, lambda d: d.update(version=version)))


def drop(key):
    return lambda document: document.pop(key)


@pytest.mark.parametrize(
    "key", ["variables", "rules", "outputs", "t_norm", "alpha", "conclusion_aggregation", "normalize", "default"]
)
def test_a_file_that_lacks_a_part_is_refused_by_its_name(tmp_path, key):
    with pytest.raises(ModelFileError, match=key):
        RuleBase.load(saved(tmp_path, drop(key)))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(variables=3),
        lambda d: d.update(variables=[3]),
        lambda d: d.update(variables={}),
        lambda d: d.update(rules=None),
        lambda d: d.update(rules=[[]]),
        lambda d: d.update(outputs=[]),
        lambda d: d.update(alpha=None),
        lambda d: d.update(alpha="big"),
        lambda d: d.update(alpha=[1.0]),
        lambda d: d.update(alpha=True),
        lambda d: d.update(t_norm=["product"]),
        lambda d: d.update(aggregation="unknown"),
        lambda d: d.update(default=["a"]),
        lambda d: d.update(default=[10**400]),
        lambda d: d.update(normalize="no"),
        lambda d: d.update(normalize=None),
        lambda d: d["rules"][0].update({"if": {"a": "nothing"}}),
        lambda d: d["rules"][0].update({"if": ["a"]}),
        lambda d: d["rules"][0].update({"then": [[1.0]]}),
        lambda d: d["rules"][0].update({"then": [["1.0", 0.5, 0.0]]}),
        lambda d: d["rules"][0].update({"then": 1.0}),
        lambda d: d["variables"][0].update(terms=None),
        lambda d: d["variables"][0].update(low="zero"),
        lambda d: d["variables"][0]["terms"]["low"].update(family="gausian"),
        lambda d: d["variables"][0]["terms"]["low"].update(family=["gaussian"]),
        lambda d: d["variables"][0]["terms"]["low"].update(parameters=[1.0]),
        lambda d: d["variables"][0]["terms"]["low"].update(parameters=[1.0, -1.0]),
        lambda d: d["variables"][0]["terms"]["low"].update(parameters=[1.0, "nan"]),
        lambda d: d["variables"][0]["terms"]["low"].update(parameters="01"),
    ],
)
def test_wrong_content_is_refused_as_damage(tmp_path, change):
    with pytest.raises(ModelFileError, match=r"damaged|wrong"):
        RuleBase.load(saved(tmp_path, change))


def test_a_failed_save_leaves_the_old_file_whole(tmp_path, monkeypatch):
    path = saved(tmp_path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        triangles().save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]  # and nothing beside it
    monkeypatch.undo()
    triangles().save(path)
    assert RuleBase.load(path) == triangles()


def test_a_term_must_be_a_fuzzy_set():
    with pytest.raises(ParameterError, match=r"The term 'low' of 'x' must be a fuzzy set, got 3\.0"):
        Variable("x", {"low": 3.0})
