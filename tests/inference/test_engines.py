"""The engines agree on every rule base, and can be chosen."""

import sys
import threading

import numpy as np
import pytest
from three_engines import NO_TORCH, TORCH, evaluated, layers_by

from fuzzymil import Bags, ParameterError, RuleBase
from fuzzymil.inference.activations import _in_numpy, use_engine
from fuzzymil.inference.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.inference.layers import Operators
from fuzzymil.inference.norms import S_NORMS, T_NORMS

TEXT = """
VARIABLE a: low = Gaussian(0, 1), high = Sigmoid(1, 3), wide = Bell(0, 2, 2)
VARIABLE b: low = Triangular(-2, 0, 2), high = Trapezoidal(0, 1, 2, 4)
USING {settings}
IF a is low AND b is very low THEN y = 1 + 2*a - b
IF a is high OR NOT (b is high) THEN y = -1 + a
IF a is not wide AND (b is somewhat low OR a is high) THEN y = 0.5
IF anything THEN y = 0.1 WITH 0.2
"""


def some_bags(gaps=True, single=False):
    rng = np.random.RandomState(0)
    values = rng.normal(0, 1.5, size=(40, 2))
    if gaps:
        values[rng.uniform(size=values.shape) < 0.1] = np.nan
    offsets = np.arange(41) if single else np.array([0, 1, 4, 5, 12, 13, 30, 40])
    return Bags(values, offsets)


def both(rules, bags):
    with use_engine("numpy"):
        one = rules.infer(bags)
    with use_engine("jax"):
        other = rules.infer(bags)
    return one, other


SETTINGS = [
    *(f"t_norm = {name}" for name in T_NORMS),
    *(f"s_norm = {name}" for name in S_NORMS),
    *(f"aggregation = {name}, alpha = 2" for name in AGGREGATIONS),
    *(f"conclusion_aggregation = {name}, conclusion_alpha = 3" for name in COMBINERS),
    "normalize = false",
]


@pytest.mark.parametrize(
    "settings",
    [*(pytest.param(each, marks=[pytest.mark.slow] if n % 6 else []) for n, each in enumerate(SETTINGS))],
)  # each norm and aggregation is compared by itself in test_namespaces.py
def test_numpy_and_jax_agree(settings):
    check(RuleBase.parse(TEXT.format(settings=settings)), some_bags())


@pytest.mark.parametrize("bags", [some_bags(gaps=False), some_bags(single=True)])
def test_numpy_and_jax_agree_on_other_bags(bags):
    check(RuleBase.parse(TEXT.format(settings="alpha = 2")), bags)


CONJUNCTIONS = """
VARIABLE a: low = Triangular(-1, 0, 1), high = Trapezoidal(0, 1, 2, 2.5)
VARIABLE b: low = Gaussian(0, 1), some = Triangular(-1, 0, 1)
USING t_norm = min, aggregation = max, default = (7)
IF a is low AND b is some THEN y = 1{slopes}
IF a is high AND b is low THEN y = 2{weight}
IF a is low THEN y = -1
"""


@pytest.mark.parametrize("slopes", ["", " + 2*a - b"])
@pytest.mark.parametrize("weight", ["", " WITH 0.5"])
@pytest.mark.parametrize("single", [True, False])
def test_numpy_and_jax_agree_on_the_least_membership(slopes, weight, single):
    rules, bags = RuleBase.parse(CONJUNCTIONS.format(slopes=slopes, weight=weight)), some_bags(False, single)
    check(rules, bags)
    with use_engine("jax"):
        found = rules.infer(bags)
    assert found.uncovered.any()
    assert not found.uncovered.all()
    assert (found.output[found.uncovered] == 7).all()
    found.output[0] = 0  # an array of one's own


QUANTIFIED = """
VARIABLE a: low = Gaussian(0, 1), high = Sigmoid(1, 3)
VARIABLE b: low = Triangular(-2, 0, 2)
Default: y = 0.5
IF SOME (a is low AND b is low) AND MOST a is high THEN y += 1 + a
IF AT LEAST 3 a is high OR NOT (ALL b is low) THEN y -= 2
IF ON AVERAGE b is very low THEN y += 0.3
IF a is low AND b is low THEN y -= 1
"""
TEXTS = [*(TEXT.format(settings=settings) for settings in SETTINGS), QUANTIFIED]
SHORT = [*SETTINGS, "quantified"]


@NO_TORCH
@pytest.mark.parametrize("text", TEXTS, ids=SHORT)
@pytest.mark.parametrize("gaps", [False, True])
def test_pytorch_agrees_with_numpy_to_twelve_digits(text, gaps):
    rules, bags = RuleBase.parse(text), some_bags(gaps)
    agree(layers_by("torch", rules, bags), layers_by("numpy", rules, bags), 1e-12)


@pytest.mark.parametrize("engine", ["numpy", pytest.param("jax", marks=pytest.mark.slow), TORCH])
@pytest.mark.parametrize("text", TEXTS, ids=SHORT)
def test_32_bit_agrees_with_64_to_five_digits(text, engine):
    rules, bags = RuleBase.parse(text), some_bags()
    found = layers_by(engine, rules, bags, np.float32)
    assert engine == "numpy" or {values.dtype for values in found} == {np.dtype(np.float32)}
    agree(found, layers_by("numpy", rules, bags), 1e-5)


def agree(found, expected, tolerance):
    for name, one, other in zip(expected._fields, found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance, err_msg=name)


@NO_TORCH
@pytest.mark.parametrize(
    "text", [*(pytest.param(text, marks=pytest.mark.slow) for text in TEXTS[1:]), TEXTS[0]], ids=[*SHORT[1:], SHORT[0]]
)
def test_gradients_of_pytorch_are_those_of_jax(text):
    rules, bags = RuleBase.parse(text), some_bags()
    weights = np.random.default_rng(1).normal(size=(bags.n_bags, 1))
    _, expected = evaluated("jax", rules, bags, weights=weights)
    _, found = evaluated("torch", rules, bags, weights=weights)
    assert sum(np.any(gradient) for gradient in expected) > len(expected) / 2
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12 * max(1.0, np.abs(other).max()))


@NO_TORCH
@pytest.mark.parametrize("gaps", [False, True])
def test_gradients_of_the_papers_rules_in_pytorch_are_those_of_jax(gaps):
    rng = np.random.default_rng(3)
    rules = RuleBase.from_arrays(rng.normal(size=(3, 2)), rng.uniform(0.5, 2, (3, 2)), rng.normal(size=(3, 2, 3)))
    bags, weights = some_bags(gaps), rng.normal(size=(7, 2))
    layers, expected = evaluated("jax", rules, bags, weights=weights)
    others, found = evaluated("torch", rules, bags, weights=weights)
    for one, other in zip([*others, *found], [*layers, *expected], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


@NO_TORCH
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("text", [None, TEXTS[1]], ids=["at once", "one after the other"])
def test_rows_in_chunks_give_the_same_values_and_gradients_in_pytorch(monkeypatch, text, gaps):
    from fuzzymil.inference.engines import torch as engine

    rng = np.random.default_rng(4)
    arrays = rng.normal(size=(3, 2)), rng.uniform(0.5, 2, (3, 2)), rng.normal(size=(3, 1, 3))
    rules = RuleBase.from_arrays(*arrays) if text is None else RuleBase.parse(text)
    bags, weights = some_bags(gaps), rng.normal(size=(7, 1))
    expected = evaluated("torch", rules, bags, weights=weights)
    for name in ("_CACHED", "_GREATEST_ARRAY"):
        monkeypatch.setattr(engine, name, 100)
    found = evaluated("torch", rules, bags, weights=weights)
    for one, other in zip([*found[0], *found[1]], [*expected[0], *expected[1]], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def check(rules, bags):
    one, other = both(rules, bags)
    for name in ("log_truth", "log_degrees", "log_firing", "normalized", "rule_outputs", "output"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-12, err_msg=name)


def test_the_papers_rules_agree_where_truths_underflow():
    rng = np.random.RandomState(0)
    rules = RuleBase.from_arrays(rng.normal(size=(3, 166)), np.full((3, 166), 0.1), [0, 1, 2])
    one, other = both(rules, Bags(rng.normal(size=(20, 166)), [0, 5, 6, 20]))
    assert one.log_firing.max() < -1000
    np.testing.assert_allclose(one.log_firing, other.log_firing, rtol=1e-12)
    np.testing.assert_allclose(one.output, other.output, rtol=1e-9)


def test_large_data_use_jax(monkeypatch):
    assert _in_numpy(Operators(), 1_000)
    assert not _in_numpy(Operators(), 100_000_000)
    assert not _in_numpy(Operators(), 30_000_000)
    monkeypatch.delitem(sys.modules, "jax", raising=False)  # loading it takes longer than NumPy does
    assert _in_numpy(Operators(), 30_000_000)


def test_the_engine_of_a_thread_is_its_own():
    entered, left = threading.Barrier(2), threading.Event()

    def other():
        with use_engine("jax"):
            entered.wait()
            left.wait()

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait()
    with use_engine("numpy"):
        left.set()
        thread.join()
        assert _in_numpy(Operators(), 100_000_000)
    assert not _in_numpy(Operators(), 100_000_000)
    assert _in_numpy(Operators(), 1)


def test_the_environment_chooses(monkeypatch):
    monkeypatch.setenv("FUZZYMIL_ENGINE", "jax")
    assert not _in_numpy(Operators(), 1)
    with use_engine("numpy"):
        assert _in_numpy(Operators(), 100_000_000)
    monkeypatch.setenv("FUZZYMIL_ENGINE", "")
    assert _in_numpy(Operators(), 1)
    monkeypatch.setenv("FUZZYMIL_ENGINE", "numpi")
    with pytest.raises(ParameterError, match=r"FUZZYMIL_ENGINE.*Did you mean 'numpy'"):
        _in_numpy(Operators(), 1)


def test_an_unknown_engine():
    with pytest.raises(ParameterError, match="numpy"):
        use_engine("numba")


FAMILIES_TEXT = """
VARIABLE a: low = Gaussian(0, 1), high = Sigmoid(1, 3), wide = Bell(0, 2, 2)
VARIABLE b: low = Triangular(-2, 0, 2), high = Trapezoidal(0, 1, 2, 4), step = Triangular(0, 0, 1)
VARIABLE c: some = Discrete(-1, 0.2, 0, 1, 2, 0), odd = Formula("1 - abs(x)", 1, 3)
USING t_norm = {t_norm}
IF a is low AND b is low THEN y = 1 + 2*a - b
IF a is low AND b is high AND c is odd THEN y = -1 + a
IF c is some AND b is step THEN y = 0.5
IF a is wide THEN y = 2 - c
IF anything THEN y = 0.1 WITH 0.2
"""


@pytest.mark.parametrize("t_norm", ["min", "product", "einstein"])
@pytest.mark.parametrize("gaps", [False, True])
def test_many_rows_set_by_set_are_the_same_as_few(t_norm, gaps):
    rules = RuleBase.parse(FAMILIES_TEXT.format(t_norm=t_norm))
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1.5, (9000, 3))
    if gaps:
        x[rng.uniform(size=x.shape) < 0.1] = np.nan
    with use_engine("numpy"):
        many, few = rules.infer(x), [rules.infer(x[start : start + 5]) for start in (0, 4000, 8995)]
    for start, some in zip((0, 4000, 8995), few, strict=True):
        rows = slice(start, start + 5)
        np.testing.assert_allclose(many.log_truth[rows], some.log_truth, rtol=1e-13)
        np.testing.assert_allclose(many.normalized[rows], some.normalized, rtol=1e-12, atol=1e-300)
        np.testing.assert_allclose(many.output[rows], some.output, rtol=1e-12)
    check(rules, Bags(x[:500], np.arange(501)))


def test_many_rows_that_no_rule_covers_get_the_default():
    rules = RuleBase.parse(
        "VARIABLE a: low = Triangular(-1, 0, 1)\nVARIABLE b: low = Triangular(-1, 0, 1)\n"
        "USING t_norm = min, default = 7\nIF a is low AND b is low THEN y = 1\nIF a is low THEN y = 2"
    )
    with use_engine("numpy"):
        found = rules.infer(np.full((40_000, 2), 5.0))
    assert found.uncovered.all()
    assert (found.output == 7).all()
    assert (found.normalized == 0).all()
