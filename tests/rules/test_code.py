"""Rules as Python and C: the code is run, and compiled where a compiler is installed, and says what the rules say."""

import ctypes
import dataclasses
import functools
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scorecards import POINTS
from slow_sets import EDGED, EXAMPLES
from small_systems import concluding

from fuzzymil import ParameterError, RuleBase, RuleClassifier
from fuzzymil.datasets import make_two_concepts, read_bags
from fuzzymil.inference.membership import FAMILIES, Formula, Singleton
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.files import export_rules, read_rules, what_is_lost, write_rules
from fuzzymil.rules.premise import And, Is, Not, Or

COMPILER = shutil.which("cc") or shutil.which("gcc")
LANGUAGES = ["python", pytest.param("c", marks=pytest.mark.skipif(COMPILER is None, reason="no C compiler"))]


def functions(language, rules, folder):
    """Return the functions for one instance and for a bag."""
    if language == "python":
        module = {}
        exec(export_rules(rules, "python"), module)
        return module["infer"], module["infer_bag"]
    (folder / "rules.c").write_text(export_rules(rules, "c"), encoding="utf-8")
    library = folder / "rules.so"
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    subprocess.run(
        [COMPILER, *strict, "-shared", "-fPIC", "-o", library, folder / "rules.c", "-lm"], check=True, timeout=60
    )
    loaded = ctypes.CDLL(str(library))
    n_outputs = len(rules.outputs)

    def of_doubles(values):
        return np.ascontiguousarray(values, float).ctypes.data_as(ctypes.POINTER(ctypes.c_double))

    def infer(x):
        out = np.zeros(n_outputs)
        values = np.ascontiguousarray(x, float)
        loaded.infer(of_doubles(values), of_doubles(out))
        return out.tolist()

    def infer_bag(instances):
        out = np.zeros(n_outputs)
        values = np.ascontiguousarray(instances, float)
        assert loaded.infer_bag(of_doubles(values), ctypes.c_size_t(len(values)), of_doubles(out)) == 0
        return out.tolist()

    return infer, infer_bag


def check(language, rules, folder, low=-3.0, high=3.0, tolerance=1e-9):
    infer, infer_bag = functions(language, rules, folder)
    rng = np.random.default_rng(0)
    x = rng.uniform(low, high, (40, len(rules.feature_names)))
    np.testing.assert_allclose([infer(row) for row in x], rules.infer(x).output, atol=tolerance, rtol=tolerance)
    bags = [rng.uniform(low, high, (n, x.shape[1])) for n in (1, 2, 5)]
    np.testing.assert_allclose(
        [infer_bag(bag) for bag in bags], rules.infer(bags).output, atol=tolerance, rtol=tolerance
    )


def memberships(sets):
    """Return rules with one output per set, which is its membership."""
    return RuleBase(
        (Variable("x", sets),),
        tuple(Rule(Is("x", term), np.eye(len(sets))[:, [r]]) for r, term in enumerate(sets)),
        tuple(sets),
        aggregation="max",
        normalize=False,
        default=(0.0,) * len(sets),
    )


X_LOW, X_HIGH, Z_LOW = Is("x", "low"), Is("x", "high"), Is("z", "low")
TEXT = """
    VARIABLE x FROM -2 TO 2: low = Gaussian(-1, 1), high = Sigmoid(0.5, 3)
    VARIABLE z FROM -2 TO 2: low = Triangular(-3, 0, 2), high = Bell(1, 1, 2)
    IF x is very low AND NOT (z is low OR z is not high) THEN y = 1 + 2*x - z, q = 3 WITH 0.5
    IF x is somewhat high OR z is extremely low THEN y = -1 + z, q = 2 - 0.5*x
    IF x is seldom low THEN y = 0.25, q = x
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rules_of_the_ward_tutorial_decide_as_bags_do(language, tmp_path):
    """What the tutorial exports, on the patients that it checks with."""
    repository = Path(__file__).parents[2]
    page = (repository / "docs/tutorials/ward.md").read_text(encoding="utf-8")
    text = re.search(r'>>> text = """\n(.*?)\n\.\.\. """', page, re.DOTALL)[1]
    rules = RuleBase.parse("\n".join(line.removeprefix("...") for line in text.splitlines()))
    later = read_bags(repository / "examples/ward_later.csv", bag="patient", label="outcome")
    infer, infer_bag = functions(language, rules, tmp_path)
    columns = [later.feature_names.index(name) for name in rules.feature_names]
    found = [infer_bag(later[b][:, columns]) for b in range(later.n_bags)]
    np.testing.assert_allclose(found, rules.infer(later).output, atol=1e-12)
    assert infer(later[0][0, columns]) == pytest.approx(rules.infer([later[0][:1, columns]]).output[0], abs=1e-12)


SETTINGS = [
    {},
    {"limited": True},
    {"normalize": False, "default": (0.5, -1.0)},
    {"aggregation": "max", "conclusion_aggregation": "max"},
    {"alpha": 3.0, "conclusion_alpha": -2.0},
    {"alpha": (3.0, 0.0, 50.0), "conclusion_alpha": (1.0, -4.0), "aggregation": "softmax"},
    {"alpha": float("inf"), "conclusion_alpha": float("-inf")},
    {"aggregation": "algebraic", "conclusion_aggregation": "mean"},
    {"aggregation": "bounded", "conclusion_aggregation": "min"},
    {"aggregation": "min"},
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_sugeno_rules(language, settings, tmp_path):
    check(language, RuleBase.parse(TEXT, **settings), tmp_path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_in_points(language, tmp_path):
    check(language, RuleBase.parse(POINTS), tmp_path, low=-1.0, high=1.0)


QUANTIFIED = """
    VARIABLE x FROM -2 TO 2: low = Gaussian(-1, 1), high = Sigmoid(0.5, 3)
    VARIABLE z FROM -2 TO 2: low = Triangular(-3, 0, 2), high = Bell(1, 1, 2)
    IF SOME (x is very low AND NOT z is high) AND MOST z is low THEN y = 1
    IF AT LEAST 2 x is high OR NOT ALL z is low THEN y = -1 WITH 0.5
    IF ON AVERAGE x is low THEN y = 0.25
    IF AT LEAST 3 ANYTHING THEN y = 2
    IF x is low AND z is high THEN y = 0.5 - x
"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("normalize", [True, False])
def test_quantifiers(language, normalize, tmp_path):
    rules = RuleBase.parse(QUANTIFIED, normalize=normalize, aggregation="max")
    check(language, rules, tmp_path)
    constant = dataclasses.replace(rules, rules=rules.rules[:4])
    (tmp_path / "constant").mkdir()  # a library is loaded once from each place
    _, infer_bag = functions(language, constant, tmp_path / "constant")
    gaps = np.array([[np.nan, 0.5], [0.5, np.nan], [0.5, 0.5]])
    ties = np.array([[1.0, 0.0]] * 4)
    for bag in (gaps, ties):
        assert infer_bag(bag) == pytest.approx(constant.infer([bag]).output[0], abs=1e-12)


@pytest.mark.parametrize("language", LANGUAGES)
def test_learned_rules(language, tmp_path):
    bags = make_two_concepts(20, 20, random_state=0)
    rules = RuleClassifier(random_state=0).fit(bags, bags.labels).rules_
    _, infer_bag = functions(language, rules, tmp_path)
    found = [infer_bag(bags[b]) for b in range(bags.n_bags)]
    np.testing.assert_allclose(found, rules.infer(bags).output, atol=1e-9)


FORMULAS = [
    "1 / (1 + exp(-20 * (x - 0.75)))",
    "max(0, 1 - abs(x)^1.5)",
    "sin(x)^2 * cos(x / 2) + 0.1",
    "(gt(x, 1) or lt(x, -1)) and !eq(x, 2)",
    "fmod(x, 0.7) + le(x, 0) * 0.5 + ge(x, 2) * 0.1 + neq(x, 0) * 0.05",
    "round(x) / 4 + floor(x) / 8 + ceil(x) / 8",
    "log(x + 3) / 2 + log10(x + 3.5) / 9 + log1p(x + 3) / 9 - sqrt(x + 3) / 9",
    "atan2(x, 2) + atan(x) + asin(x / 3) / 9 + acos(x / 3) / 9 + tan(x / 3)",
    "min(sinh(x), cosh(x)) * tanh(x) + asinh(x) + acosh(x + 5) + atanh(x / 4) + pow(2, -x) % 3",
    "-x / pi + e - 2",
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_sets_given_by_formulas(language, tmp_path):
    sets = {f"f{n}": Formula(text, 0.25, 1.125) for n, text in enumerate(FORMULAS)}
    each = memberships(sets)
    check(language, each, tmp_path, low=-2.5, high=2.5)


UNDEFINED = [
    *("1 / a", "-1 / a", "log(a)", "log10(a)", "log1p(a)", "sqrt(a)", "exp(1000 * a)", "sinh(-900 * a)", "a ^ -1"),
    *("a ^ 0.5", "(1e200 * a) ^ 3", "atanh(a)", "acosh(a)", "asin(2 * a)", "fmod(1, a)", "sin(1e300 * a * 1e300)"),
    *("floor(1 / a)", "round(log(a))", "max(log(a), 0)", "min(0, sqrt(a))", "a and 1", "gt(sqrt(a), 0)"),
    *("10 ^ (400 * a)", "cosh(900 * a)"),
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", UNDEFINED)
def test_a_formula_that_is_undefined_concludes_nothing(language, text, tmp_path):
    premises = RuleBase((Variable("a", {"any": Formula("1")}),), (Rule(Is("a", "any"), [[0.0]]),), aggregation="max")
    rules = concluding(premises, (Variable("y", {"n": Formula(text)}, -5, 5),), ({"y": "n"},), defuzzify="average")
    infer, _ = functions(language, rules, tmp_path)
    for a in (-2.0, -1.0, -0.0, 0.0, 1.0, 2.0):
        with np.errstate(all="ignore"):
            expected = float(rules.infer([[a]]).output[0, 0])
        assert infer([a])[0] == pytest.approx(expected, nan_ok=True), a


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_given_by_formulas(language, tmp_path):
    variables = RuleBase.parse(TEXT).variables
    premises = RuleBase(variables, tuple(Rule(p, [[0.0]]) for p in (X_LOW, X_HIGH, Z_LOW)), aggregation="max")
    first = Variable("first", {"line": Formula("2 * x - z + 1"), "one": Singleton(1)}, -5, 5)
    then = Variable("then", {"wave": Formula("sin(x) * first"), "root": Formula("sqrt(z)"), "two": Singleton(2)}, -5, 5)
    rules = concluding(
        premises,
        (first, then),
        ({"first": "line", "then": "wave"}, {"first": "one", "then": "root"}, {"first": "line", "then": "two"}),
        defuzzify=("average", "sum"),
        accumulation="sum",
    )
    check(language, rules, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("t_norm", list(DUAL))
def test_every_norm(language, t_norm, tmp_path):
    rules = RuleBase.parse(TEXT, t_norm=t_norm, aggregation="max", conclusion_aggregation="max")
    check(language, rules, tmp_path, tolerance=1e-7)


@functools.cache
def mamdani(defuzzify, sampling, t_norm="min"):
    variables = RuleBase.parse(TEXT).variables
    output = Variable("y", {"a": FAMILIES["triangular"](0, 1, 3), "b": FAMILIES["gaussian"](3, 1)}, 0, 4)
    number = Variable("n", {"a": Singleton(1), "b": FAMILIES["ramp"](3, 1), "c": FAMILIES["sigmoid"](1, 4)}, 0, 2)
    premises = RuleBase(
        variables,
        tuple(Rule(premise, [[0.0]], weight) for premise, weight in (
            (And((X_LOW, Z_LOW)), 1.0), (Or((X_HIGH, Not(Z_LOW))), 0.5), (Is("z", "high", ("very",)), 1.0))),
        aggregation="max",
    )  # fmt: skip
    return concluding(
        premises,
        (output, number),
        ({"y": "a", "n": "a"}, {"y": "b", "n": Is("n", "b", ("somewhat",))}, {"y": "a", "n": "c"}),
        implication=(t_norm, "min"),
        accumulation=(DUAL[t_norm], "sum"),
        defuzzify=(defuzzify, "average"),
        resolution=(50, 1000),
        sampling=(sampling, "cells"),
        clip=(False, True),
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("sampling", ["cells", "points"])
@pytest.mark.parametrize("defuzzify", ["centroid", "bisector", "mom", "som", "lom"])
def test_mamdani_rules(language, defuzzify, sampling, tmp_path):
    check(language, mamdani(defuzzify, sampling), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("t_norm", [name for name in DUAL if name != "min"])
def test_norms_of_implication_and_accumulation(language, t_norm, tmp_path):
    check(language, mamdani("centroid", "cells", t_norm), tmp_path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_family(language, tmp_path):
    sets = {}
    for name, parameters in [*((n, p) for n, examples in EXAMPLES.items() for p in examples), *EDGED]:
        sets[f"{name}{len(sets)}"] = FAMILIES[name](*parameters)
    each = memberships(sets)
    infer, _ = functions(language, each, tmp_path)
    x = np.concatenate([np.linspace(-45, 55, 101), np.linspace(-3.1, 3.3, 129), [0.6, 0.5, 7.0]])
    found = np.array([infer([value]) for value in x])
    np.testing.assert_allclose(found, each.infer(x[:, None]).output, atol=1e-12)


@pytest.mark.parametrize("language", LANGUAGES)
def test_unknown_values_satisfy_their_conditions(language, tmp_path):
    text = TEXT.replace("1 + 2*x - z", "1").replace("-1 + z", "-1").replace("2 - 0.5*x", "2").replace("q = x", "q = 0")
    rules = RuleBase.parse(text)
    infer, _ = functions(language, rules, tmp_path)
    x = np.array([[np.nan, 0.5], [0.5, np.nan], [np.nan, np.nan]])
    np.testing.assert_allclose([infer(row) for row in x], rules.infer(x).output, atol=1e-12)


def test_names_cannot_break_out_of_comments(tmp_path):
    name = '*/ int x; /* """ \\'
    rules = RuleBase((Variable(name, {"low": FAMILIES["gaussian"](0, 1)}),), (Rule(Is(name, "low"), [[1.0]]),))
    for language in ["python", "c"] if COMPILER else ["python"]:
        infer, _ = functions(language, rules, tmp_path)
        assert infer([0.0]) == [1.0]


def test_files_are_written_and_what_cannot_be_expressed_is_told(tmp_path):
    rules = RuleBase.parse(TEXT)
    for ending in (".py", ".c"):
        lost = what_is_lost(rules, {".py": "python", ".c": "c"}[ending])
        assert write_rules(rules, tmp_path / f"rules{ending}") == lost
        with pytest.raises(ParameterError, match=r"code.*\.json"):
            read_rules(tmp_path / f"rules{ending}")
    for changed, word in (
        (dataclasses.replace(rules, aggregation="power"), "power"),
        (mamdani("mom", "cells").with_settings(hold=True), "previous"),
        (mamdani("mom", "cells").with_settings(activation="highest 1"), "highest 1"),
    ):
        with pytest.raises(ParameterError, match=word):
            export_rules(changed, "python")
