"""MISugeno: the paper's walk-through, what its settings mean, and bags that no rule knows."""

import numpy as np
import pytest
from sky import BAGS, INPUTS, LABELS, RULES

from fuzzymil import Bags, MIANFISClassifier, MISugeno, RuleBase, Training
from fuzzymil._utils.errors import ParameterError, RuleSyntaxError
from fuzzymil.estimators import experts
from fuzzymil.inference.membership import Gaussian, Triangular
from fuzzymil.rules import Variable
from fuzzymil.rules.files import read_rules
from fuzzymil.rules.language.source import declaration

GAPS = (
    "VARIABLE x: near = Triangular(0, 1, 2), far = Triangular(4, 5, 6) IF x is near THEN y = 1 IF x is far THEN y = 0"
)


# ---------------------------------------------------------------------- the walk-through


def by_hand(bag):
    """Go through the figure of the paper for two first-order rules, with loops only."""
    blue = [np.exp(-((hue - 0.6) ** 2) / (2 * 0.1**2)) for hue, _ in bag]
    smooth = [np.exp(-(texture**2) / (2 * 0.3**2)) for _, texture in bag]
    red = [np.exp(-((hue - 0.1) ** 2) / (2 * 0.1**2)) for hue, _ in bag]
    truth = [[min(b, s), r] for b, s, r in zip(blue, smooth, red, strict=True)]
    firing = [max(instance[rule] for instance in truth) for rule in range(2)]
    responses = [[0.5 + 2 * hue - texture, 0.1 - hue] for hue, texture in bag]
    outputs = [sum(response[rule] for response in responses) / len(bag) for rule in range(2)]
    output = sum(w * o for w, o in zip(firing, outputs, strict=True)) / sum(firing)
    return truth, firing, outputs, output


def test_two_rules_as_the_paper_walks_through_them():
    model = MISugeno(
        INPUTS,
        ["IF hue is blue AND texture is smooth THEN sky = 0.5 + 2*hue - texture", "IF hue is red THEN sky = 0.1 - hue"],
        t_norm="min",
        conclusion_aggregation="mean",
    )
    rng = np.random.default_rng(0)
    bags = [rng.uniform(0, 1, (n, 2)) for n in (1, 2, 5, 9)]
    found = model.infer(bags)
    truths = []
    for b, bag in enumerate(bags):
        truth, firing, outputs, output = by_hand(bag)
        truths += truth
        np.testing.assert_allclose(found.firing[b], firing, rtol=1e-12)
        np.testing.assert_allclose(found.rule_outputs[b, :, 0], outputs, rtol=1e-12)
        np.testing.assert_allclose(found.output[b, 0], output, rtol=1e-12)
    np.testing.assert_allclose(found.truth, truths, rtol=1e-12)


def test_a_case_to_do_in_the_head():
    steps = {"low": Triangular(-1, 0, 1), "high": Triangular(0, 1, 2)}
    rules = ["IF a is high AND b is high THEN y = 10", "IF a is low OR b is low THEN y = 20"]
    found = MISugeno({"a": steps, "b": steps}, rules, t_norm="min").infer([[[0.75, 0.5], [0.25, 1.0]]])
    assert found.truth.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert found.firing.tolist() == [[0.5, 0.75]]
    assert found.output.tolist() == [[(0.5 * 10 + 0.75 * 20) / 1.25]]


def test_fit_learns_nothing_of_the_rules():
    model = MISugeno(INPUTS, RULES)
    before = model.rule_base
    model.fit(BAGS, LABELS)
    assert model.rules_ == model.rule_base == before
    assert model.members_ == [before]
    np.testing.assert_array_equal(model.decision_function(BAGS), model.infer(BAGS).output[:, 0] - 0.5)


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("inputs", "rules"),
    [
        (INPUTS, "\n".join(RULES)),
        (INPUTS, tuple(RULES)),
        ({name: Variable(name, terms) for name, terms in INPUTS.items()}, RULES),
        ([Variable(name, terms) for name, terms in INPUTS.items()], RULES),
        (None, MISugeno(INPUTS, RULES).rule_base),
        (None, MISugeno(INPUTS, RULES).rule_base.to_source()),
        ({"texture": INPUTS["texture"]}, ["VARIABLE hue: blue = Gaussian(0.6, 0.1), red = Gaussian(0.1, 0.1)", *RULES]),
    ],
    ids=["text", "tuple", "variables by name", "variables", "rule base", "source", "declared in part"],
)
def test_rules_may_come_in_many_ways(inputs, rules):
    named = Bags(BAGS.instances, BAGS.offsets, feature_names=["hue", "texture"])
    expected = MISugeno(INPUTS, RULES).infer(named).output
    np.testing.assert_array_equal(MISugeno(inputs, rules).infer(named).output, expected)


def test_ranges_and_units_of_inputs_are_kept():
    hue = Variable("hue", INPUTS["hue"], 0.0, 1.0, "turns")
    assert MISugeno({"hue": hue}, "IF hue is red THEN y = 1").rule_base.variables == (hue,)


@pytest.mark.parametrize(
    ("stated", "operators"),
    [
        ("", ("product", "max", 1.0)),
        ("USING t_norm = min, aggregation = power", ("min", "power", 1.0)),
        ("USING alpha = 5", ("product", "softmax", 5.0)),
    ],
    ids=["default", "operators", "alpha"],
)
def test_the_same_text_gives_the_same_numbers_wherever_it_is_read(stated, operators, tmp_path):
    declared = [declaration("VARIABLE", Variable(name, terms)) for name, terms in INPUTS.items()]
    text = "\n".join([*declared, stated, *RULES])
    (tmp_path / "sky.rules").write_text(text, encoding="utf-8")
    parsed = RuleBase.parse(text)
    assert (parsed.t_norm, parsed.aggregation, parsed.alpha) == operators
    assert read_rules(tmp_path / "sky.rules") == MISugeno(rules=text).rule_base == parsed
    assert MISugeno(INPUTS, [stated, *RULES]).rule_base == parsed
    expected = parsed.infer(BAGS).output
    np.testing.assert_array_equal(MISugeno(rules=text).infer(BAGS).output, expected)
    np.testing.assert_array_equal(MISugeno(rules=text).fit(BAGS).rules_.infer(BAGS).output, expected)
    written = MIANFISClassifier(init=parsed, training=Training(max_epochs=0)).fit(BAGS, LABELS)
    np.testing.assert_allclose(written.rules_.infer(BAGS).output, expected, rtol=1e-5)  # trained in 32 bit


def test_text_is_read_once(monkeypatch):
    reads = []
    experts._parse.cache_clear()
    parse = RuleBase.parse
    monkeypatch.setattr(RuleBase, "parse", lambda *args, **kwargs: reads.append(args) or parse(*args, **kwargs))
    inputs, rules = {name: dict(terms) for name, terms in INPUTS.items()}, list(RULES)
    model = MISugeno(inputs, rules)
    first = model.infer(BAGS).output
    model.fit(BAGS, LABELS).infer(BAGS)
    assert len(reads) == 1
    changes = [
        lambda: model.set_params(t_norm="min"),
        lambda: inputs["hue"].update(blue=Gaussian(0.5, 0.1)),
        lambda: rules.append("IF hue is red THEN sky = 0.5"),
        lambda: setattr(model, "alpha", np.array([1.0, 2.0, 3.0])),
    ]
    for count, change in enumerate(changes, start=2):
        before = model.infer(BAGS).output
        change()
        assert not np.array_equal(model.infer(BAGS).output, before)
        assert len(reads) == count
    assert first.shape == (4, 1)
    assert MISugeno(rules=model.rule_base).rule_base is model.rule_base


def test_operators_are_those_of_the_text_unless_the_settings_say_otherwise():
    rules = MISugeno(INPUTS, RULES).rule_base
    assert (rules.t_norm, rules.s_norm, rules.aggregation, rules.conclusion_aggregation) == (
        "product",
        "algebraic",
        "max",
        "softmax",
    )
    assert MISugeno(INPUTS, RULES, alpha=2.0).rule_base.aggregation == "softmax"
    assert rules.default == (0.0,)
    assert rules.normalize
    said = ["USING t_norm = product, aggregation = softmax, alpha = 3, default = 0.5", *RULES]
    told = MISugeno(INPUTS, said).rule_base
    assert (told.t_norm, told.s_norm, told.aggregation, told.alpha) == ("product", "algebraic", "softmax", 3.0)
    assert (told.conclusion_aggregation, told.default) == ("softmax", (0.5,))
    chosen = MISugeno(
        INPUTS, said, t_norm="lukasiewicz", alpha=7, default=1, conclusion_aggregation="max", normalize=False
    ).rule_base
    assert (chosen.t_norm, chosen.s_norm, chosen.alpha, chosen.conclusion_aggregation) == (
        "lukasiewicz",
        "bounded",
        7.0,
        "max",
    )
    assert chosen.default == (1.0,)
    assert not chosen.normalize
    assert MISugeno(INPUTS, RULES, s_norm="algebraic").rule_base.s_norm == "algebraic"
    odd = MISugeno(INPUTS, ["USING s_norm = einstein", *RULES], t_norm="product").rule_base
    assert (odd.t_norm, odd.s_norm) == ("product", "einstein")


def test_a_rule_base_keeps_its_operators():
    learned = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], alpha=5)
    assert MISugeno(rules=learned).rule_base == learned
    assert MISugeno(rules=learned, alpha=2.0).rule_base.alpha == 2.0


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"rules": None}, "needs rules"),
        ({"rules": []}, "no rule"),
        ({"rules": ["IF hue is bleu THEN y = 1"]}, "Did you mean 'blue'"),
        ({"rules": ["IF hüe is blue THEN y = 1"]}, "'hüe'"),
        ({"rules": ["IF hue is blue THEN sky is likely"]}, "output"),
        ({"rules": 5}, "must be text"),
        ({"inputs": {"hue": Gaussian(0, 1)}}, r"inputs.'hue'. must be terms"),
        ({"inputs": {"hue": {"blue": 3.0}}}, "'blue' of 'hue' must be a fuzzy set"),
        ({"inputs": {"hue": Variable("color")}}, "hue.*'color'"),
        ({"inputs": "hue"}, "inputs must .*names to terms"),
        ({"inputs": 7}, "inputs must .*names to terms"),
        ({"rules": RuleBase.from_arrays([[0.0]], [[1.0]], [1])}, "omit inputs"),
        ({"t_norm": "minimum"}, "Unknown t_norm.*Did you mean 'min'"),
        ({"aggregation": "soft"}, "Unknown aggregation"),
        ({"s_norm": "plus"}, "Unknown s_norm"),
        ({"conclusion_aggregation": "median"}, "Unknown conclusion_aggregation"),
        ({"alpha": np.nan}, "alpha must be a number"),
        ({"default": (1, 2)}, "default"),
        ({"default": np.inf}, "default"),
        ({"normalize": "yes"}, "normalize must be True or False"),
        ({"threshold": "half"}, "threshold must be a number"),
        ({"threshold": np.nan}, "threshold must be a number"),
        ({"missing": "drop"}, "Unknown missing"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,
)
def test_bad_settings_are_refused_by_name(settings, named):
    model = MISugeno(**({"inputs": INPUTS, "rules": RULES} | settings))  # a constructor only stores
    for use in (model.infer, model.fit):
        with pytest.raises(ParameterError, match=named):
            use(BAGS)
    assert not hasattr(model, "rules_")


def test_errors_in_text_point_at_the_character():
    with pytest.raises(RuleSyntaxError, match=r"(?s)Rule 2, line 1, character 11.*\n +\^"):
        MISugeno(INPUTS, [RULES[0], "IF hue is bleu THEN sky = 1"]).infer(BAGS)


# ---------------------------------------------------------------------- bags that no rule knows


def test_a_bag_on_which_no_rule_fires_gets_the_default_and_is_reported():
    bags = Bags.from_list([[[1.0], [9.0]], [[9.0], [3.0]], [[5.5]], [[-1.0]]], ids=["p", "q", "r", "s"])
    model = MISugeno(rules=GAPS, default=0.75)
    with pytest.warns(UserWarning, match=r"No rule fires on 2 of 4 bag\(s\).*Bags: q, s \(") as caught:
        found = model.infer(bags)
    assert len(caught) == 1
    assert found.uncovered.tolist() == [False, True, False, True]
    assert found.output.ravel().tolist() == [1.0, 0.75, 0.0, 0.75]
    model.fit(bags, [1, 1, 0, 1])
    for method in (model.predict, model.decision_function, model.predict_proba):
        with pytest.warns(UserWarning, match="No rule fires"):
            method(bags)
    assert model.instance_scores(bags).tolist() == [0.5, 0.25, 0.25, 0.25, -0.5, 0.25]  # as if bags, without a word
    with pytest.warns(UserWarning, match="No rule fires"):
        assert model.predict(bags).tolist() == [1, 1, 0, 1]


def test_the_default_may_differ_between_outputs():
    rules = "VARIABLE x: near = Triangular(0, 1, 2) IF x is near THEN one = 1, two = 2"
    with pytest.warns(UserWarning, match="No rule fires"):
        assert MISugeno(rules=rules, default=(5, 6)).infer([[[9.0]]]).output.tolist() == [[5.0, 6.0]]
    with pytest.warns(UserWarning, match="No rule fires"):
        assert MISugeno(rules=rules, default=7).infer([[[9.0]]]).output.tolist() == [[7.0, 7.0]]


def test_strengths_that_merely_underflow_are_no_default():
    model = MISugeno({"x": {"near": Gaussian(0, 0.001), "nearer": Gaussian(1, 0.001)}}, [
        "IF x is near THEN y = 1", "IF x is nearer THEN y = 2"])  # fmt: skip
    found = model.infer([[[100.0]]])
    assert found.firing.tolist() == [[0.0, 0.0]]
    assert found.output.tolist() == [[2.0]]
    assert not found.uncovered.any()
