"""Sets and names of every kind in files, and whole systems there and back."""

import numpy as np
import pytest
from file_texts import fll, weighted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slow_sets import EXAMPLES, fuzzy_sets
from small_systems import concluding

from fuzzymil import ParameterError, RuleBase
from fuzzymil.inference.membership import FAMILIES, Binary, Discrete, Formula, Gaussian, Ramp, Singleton, Triangular
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.files import export_rules, parse_rules, what_is_lost
from fuzzymil.rules.premise import And, Is, Or

# ---------------------------------------------------------------------- sets


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Triangle 0 1 2 0.5", Discrete(0, 0, 1, 0.5, 2, 0)),
        ("Trapezoid 0 1 2 3 0.5", Discrete(0, 0, 1, 0.5, 2, 0.5, 3, 0)),
        ("Ramp 2 0 0.5", Discrete(0, 0.5, 2, 0)),
        ("Discrete 0 0 1 1 0.5", Discrete(0, 0, 1, 0.5)),
        ("Triangle -inf 1 2", Ramp(2, 1)),
        ("Triangle 0 1 inf", Ramp(0, 1)),
        ("Trapezoid -inf -inf 1 2", Ramp(2, 1)),
        ("Trapezoid 1 1 inf inf", Binary(1, 1)),
        ("Rectangle -inf inf", Formula("1")),
        ("Rectangle 2 0", None),
        ("Binary 1 inf", Binary(1, 1)),
        ("Binary 1 -inf", Binary(1, -1)),
        ("Triangle 1 1 1", Triangular(1, 1, 1)),
        ("Function 1 - abs(x)/2", Formula("1 - abs(x)/2")),
    ],
)
def test_sets_that_only_fuzzylite_writes(words, expected):
    text = fll(weighted("y", ["one Constant 1"]), ["if a is odd then y is one"])
    read = parse_rules(text.replace("  term: low Ramp 1 0\n", f"  term: odd {words}\n"), "fll")
    if expected is not None:
        assert read.variables[0].terms["odd"] == expected
    assert parse_rules(export_rules(read, "fll"), "fll") == read


@pytest.mark.parametrize("name", sorted(EXAMPLES))
@pytest.mark.parametrize("format", ["fll", "fis"])
def test_every_family_is_written_and_read(name, format):
    sets = {f"t{k}": FAMILIES[name](*parameters) for k, parameters in enumerate(EXAMPLES[name])}
    rules = RuleBase(
        (Variable("x", sets, -50, 50),), tuple(Rule(Is("x", term), [[1.0]]) for term in sets), aggregation="max"
    )
    text = export_rules(rules, format)
    assert parse_rules(text, format) == rules


def test_a_moved_formula_and_a_single_number_are_told_and_mean_the_same():
    sets = {"moved": Formula("exp(-x^2)", 3, 2), "one": Singleton(4)}
    rules = RuleBase(
        (Variable("v", sets, 0, 9),), tuple(Rule(Is("v", term), [[1.0]]) for term in sets), aggregation="max"
    )
    assert any(
        "single numbers" in sentence.lower() and "'one' of 'v'" in sentence for sentence in what_is_lost(rules, "fll")
    )
    x = np.linspace(0, 9, 37)[:, None]
    np.testing.assert_allclose(
        parse_rules(export_rules(rules, "fll"), "fll").infer(x).firing, rules.infer(x).firing, atol=1e-12
    )


# ---------------------------------------------------------------------- names


def test_no_two_names_are_merged_and_accents_are_spelled_out():
    inputs = (Variable("dV", {"élevé": Gaussian(0, 1), "eleve": Gaussian(1, 1)}, 0, 1),)
    outputs = (Variable("dV*", {"größer": Triangular(0, 1, 2), "grosser": Triangular(0, 0, 1)}, 0, 2),)
    premises = RuleBase(inputs, (Rule(Is("dV", "élevé"), [[0.0]]), Rule(Is("dV", "eleve"), [[0.0]])), aggregation="max")
    rules = concluding(premises, outputs, ({"dV*": "größer"}, {"dV*": "grosser"}))
    again = parse_rules(export_rules(rules, "fll"), "fll")
    assert (again.feature_names, again.outputs[0].name) == (("dV",), "dV2")
    assert list(again.variables[0].terms) == ["eleve2", "eleve"]
    assert list(again.outputs[0].terms) == ["grosser2", "grosser"]
    told = " ".join(what_is_lost(rules, "fll"))
    assert "'dV*' is written as 'dV2'" in told
    assert "'élevé' is written as 'eleve2'" in told
    np.testing.assert_array_equal(again.infer([[0.3]]).output, rules.infer([[0.3]]).output)


# ---------------------------------------------------------------------- round trips of whole systems


@st.composite
def systems(draw, matlab):
    """Mamdani systems with every set, norm and setting that a format can hold."""
    tame = st.floats(-9, 9).map(lambda value: round(value, 2))
    families = [name for name in FAMILIES if name not in ("singleton", "formula", "missing")]
    t_norms = [name for name in DUAL if name != "dombi"]  # which no other program has
    s_norms = [name for name in DUAL.values() if name != "dombi"]
    inputs = tuple(
        Variable(name, {term: draw(fuzzy_sets(tame, families)) for term in ("low", "high")}, -9, 9)
        for name in ("a", "b")[: draw(st.integers(1, 2))]
    )
    n_outputs = draw(st.integers(1, 2))
    one_way = draw(st.booleans())
    kinds = [draw(st.booleans()) for _ in range(n_outputs)]
    kinds = [kinds[0]] * n_outputs if matlab else kinds
    monotone = ["ramp", "sigmoid", "s_shape", "z_shape", "concave", "arc"]
    outputs, fields = [], {name: [] for name in ("implication", "accumulation", "defuzzify", "resolution", "sampling")}
    for k, sampled in enumerate(kinds):
        term_families = families if sampled else monotone
        single = not sampled and (one_way or matlab)
        terms = {
            term: Singleton(draw(tame)) if single else draw(fuzzy_sets(tame, term_families)) for term in ("s", "t")
        }
        outputs.append(Variable(f"y{k}", terms, -9, 9))
        fields["defuzzify"].append(
            draw(st.sampled_from(["centroid", "bisector", "mom", "som", "lom"] if sampled else ["average", "sum"]))
        )
        fields["implication"].append(draw(st.sampled_from(t_norms)) if sampled else "min")
        fields["accumulation"].append(draw(st.sampled_from([*s_norms, "sum"])) if sampled or not matlab else "sum")
        fields["resolution"].append((101 if matlab else draw(st.integers(2, 500))) if sampled else 1000)
        fields["sampling"].append("points" if matlab and sampled else "cells")
    if matlab:
        fields = {name: [values[0]] * n_outputs for name, values in fields.items()}
    hedges = [(), ("not",), ("very",), ("not", "somewhat"), ("extremely",), ("seldom",)]
    rules, conclusions = [], []
    for _ in range(draw(st.integers(1, 4))):
        asked = tuple(Is(v.name, draw(st.sampled_from(["low", "high"])), draw(st.sampled_from(hedges))) for v in inputs)
        premise = asked[0] if len(asked) == 1 else draw(st.sampled_from([And, Or]))(asked)
        rules.append(Rule(premise, [[0.0]], draw(st.sampled_from([1.0, 0.5]))))
        conclusions.append({output.name: draw(st.sampled_from(["s", "t"])) for output in outputs})
    premises = RuleBase(
        inputs,
        tuple(rules),
        aggregation="max",
        t_norm=draw(st.sampled_from(t_norms)),
        s_norm=draw(st.sampled_from(s_norms)),
    )
    return concluding(
        premises,
        tuple(outputs),
        tuple(conclusions),
        **{name: tuple(values) for name, values in fields.items()},
        hold=tuple(draw(st.booleans()) for _ in kinds),
        default=tuple(0.0 for _ in kinds),
        activation="general"
        if matlab
        else draw(st.sampled_from(["general", "first 1 0.25", "highest 2", "threshold > 0.5"])),
    )


HEALTHY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


@settings(max_examples=60, **HEALTHY)
@given(systems(matlab=False))
def test_mamdani_systems_come_back_from_text_json_and_fll(rules):
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(rules.to_dict()) == rules
    kinds = [rules.setting("defuzzify", k) for k in range(len(rules.outputs))]
    several = (
        len({rules.setting("implication", k) for k, kind in enumerate(kinds) if kind not in ("average", "sum")}) > 1
    )
    if several and rules.defuzzification.activation != "general":
        with pytest.raises(ParameterError, match="FLL cannot express activation"):
            export_rules(rules, "fll")
        return
    text = export_rules(rules, "fll")
    if several:  # implications need several blocks, and so more rules
        return
    again = parse_rules(text, "fll")
    if not again.concludes_sets:  # every rule concludes a number for every output
        x = np.linspace(-2, 2, 7)[:, np.newaxis] * np.ones(len(rules.feature_names))
        np.testing.assert_allclose(again.infer(x).output, rules.infer(x).output, rtol=1e-12)
    else:
        assert again == rules


@settings(max_examples=40, **HEALTHY)
@given(systems(matlab=True))
def test_mamdani_systems_come_back_from_fis(rules):
    weighted_sum = rules.defuzzification.defuzzify in ("average", "sum")
    text = export_rules(rules, "fis")
    if weighted_sum and rules.defuzzification.hold is False:
        again = parse_rules(text, "fis")
        x = np.linspace(-9, 9, 7)[:, None] * np.ones(len(rules.feature_names))
        np.testing.assert_allclose(again.infer(x).output, rules.infer(x).output, atol=1e-9)
        return
    again = parse_rules(text, "fis")
    assert again.with_settings(default=rules.default, resolution=rules.defuzzification.resolution) == rules
