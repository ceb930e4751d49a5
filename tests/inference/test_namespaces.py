"""The same lines run on NumPy, JAX and PyTorch: operators give the same values and stay with the arrays they are given.

Inference of quantified rules runs in NumPy, because each rule base would need a compiled program of its own. An
operator that fell back to JAX would still be right, but compile something for every new shape.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from three_engines import NO_TORCH

from fuzzymil.inference.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.inference.engines.jax import Packed
from fuzzymil.inference.engines.numpy import Runs
from fuzzymil.inference.membership import (
    FAMILIES,
    Binary,
    Discrete,
    Formula,
    Rectangle,
    Singleton,
    family,
    learnable_families,
)
from fuzzymil.inference.norms import S_NORMS, T_NORMS
from fuzzymil.inference.premises import HEDGES
from fuzzymil.inference.quantifiers import QUANTIFIERS
from fuzzymil.inference.segments import Each
from fuzzymil.rules import RuleBase

OFFSETS = np.array([0, 1, 4, 6, 9])
INDEX = np.repeat(np.arange(4), np.diff(OFFSETS))
TRUTHS = np.array([[0.2, 0.0, 1.0], [1.0, 0.5, 1e-300], [0.7, 0.5, 0.3]] * 3)


def log_truths():
    with np.errstate(divide="ignore"):
        return np.log(TRUTHS)


def agree(in_numpy, in_jax):
    assert type(in_numpy) is np.ndarray
    np.testing.assert_allclose(np.exp(in_numpy), np.exp(in_jax), rtol=1e-13, atol=1e-300)
    finite = np.isfinite(in_numpy)
    np.testing.assert_array_equal(np.isfinite(in_jax), finite)
    np.testing.assert_allclose(in_numpy[finite], np.asarray(in_jax)[finite], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", [*T_NORMS, *(f"or {name}" for name in S_NORMS), *(f"hedge {name}" for name in HEDGES)])
def test_norms_and_hedges(name):
    kind, _, word = name.rpartition(" ")
    function = {"": T_NORMS, "or": S_NORMS, "hedge": HEDGES}[kind][word]
    with jax.enable_x64(), np.errstate(all="ignore"):
        agree(function(log_truths()), function(jnp.asarray(log_truths())))


@pytest.mark.parametrize("name", AGGREGATIONS)
@pytest.mark.parametrize("alpha", [-3.0, 0.0, 2.0, np.array([0.5, 1.0, 30.0])], ids=str)
def test_aggregations(name, alpha):
    alpha = np.asarray(alpha)
    with jax.enable_x64(), np.errstate(all="ignore"):
        found = AGGREGATIONS[name](log_truths(), Runs(OFFSETS), alpha)
        agree(found, AGGREGATIONS[name](jnp.asarray(log_truths()), Packed(jnp.asarray(INDEX), 4), jnp.asarray(alpha)))


@pytest.mark.parametrize("name", COMBINERS)
def test_combiners(name):
    z = np.random.default_rng(0).normal(size=(9, 3, 2))
    with jax.enable_x64():
        found = COMBINERS[name](z, Runs(OFFSETS), np.asarray(1.5))
        assert type(found) is np.ndarray
        expected = COMBINERS[name](jnp.asarray(z), Packed(jnp.asarray(INDEX), 4), jnp.asarray(1.5))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", QUANTIFIERS)
def test_quantifiers(name):
    with jax.enable_x64(), np.errstate(all="ignore"):
        for count in (1, 2, 4):
            join = QUANTIFIERS[name]
            agree(
                join(log_truths(), Runs(OFFSETS), count),
                join(jnp.asarray(log_truths()), Packed(jnp.asarray(INDEX), 4), count),
            )
            agree(join(log_truths(), Each(9), count), join(jnp.asarray(log_truths()), Each(9), count))


@pytest.mark.parametrize("name", learnable_families())
def test_families(name):
    rng = np.random.default_rng(1)
    x, center, width = rng.normal(size=(20, 3)), rng.normal(size=3), rng.uniform(0.3, 2, size=3)
    parameters = tuple(map(np.asarray, FAMILIES[name].around(center, width)))
    with jax.enable_x64(), np.errstate(all="ignore"):
        agree(
            FAMILIES[name].log_mu(x, *parameters), FAMILIES[name].log_mu(jnp.asarray(x), *map(jnp.asarray, parameters))
        )


SETS = [
    Discrete(0, 0, 1, 1, 1, 0.25, 3, 0.5),
    Binary(0.5, -1),
    Rectangle(0, 1),
    Singleton(0.5),
    Formula("1 / (1 + exp(-20 * (x - 0.75)))"),
    Formula("max(0, 1 - abs(x)^2) * lt(x, 0.6) + 0.3 * ge(x, 0.6) * exp(-1)", 0.5, 2.0),
    Formula("gt(x, 0) and !lt(x, 0.2) or eq(x, -1)"),
    Formula("min(pow(x, 2), sqrt(2)) + fmod(x, 0.3) - sin(x) / (2 - cos(x))"),
    Formula("0.3"),
]


@NO_TORCH
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(
    "chosen",
    [*SETS, *(FAMILIES[name](*map(float, FAMILIES[name].around(0.2, 0.7))) for name in learnable_families())],
    ids=str,
)
def test_sets_of_every_family_in_pytorch(chosen, bits):
    import torch

    x = np.array([-3.0, -1.0, 0.0, 0.1, 0.2, 0.5, 0.59, 0.75, 1.0, 1.7, 3.0, 40.0, np.nan])
    dtype = torch.float64 if bits == 64 else torch.float32
    kind = family(chosen.kind)
    numbers = [torch.tensor(value, dtype=dtype) for value in chosen.parameters]
    found = kind.log_mu(torch.tensor(x, dtype=dtype), *numbers)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, chosen.log_membership(x), rtol=1e-12 if bits == 64 else 1e-4, atol=1e-6)
    again = kind.from_free(*kind.to_free(*numbers))
    assert all(isinstance(value, torch.Tensor) for value in again)
    np.testing.assert_allclose(again, chosen.parameters, rtol=1e-6, atol=1e-6)
    peak = float(kind.peak(*numbers))
    assert peak == pytest.approx(float(kind.peak(*chosen.parameters)), rel=1e-6)


def test_runs_reduce_the_instances_of_each_bag():
    values = np.arange(9.0)[:, None]
    runs = Runs(OFFSETS)
    assert runs.sum(values)[:, 0].tolist() == [0, 6, 9, 21]
    assert runs.max(values)[:, 0].tolist() == [0, 3, 5, 8]
    assert runs.spread(runs.max(values))[:, 0].tolist() == [0, 3, 3, 3, 5, 5, 8, 8, 8]
    assert runs.sizes().tolist() == [1, 3, 2, 3]
    assert runs.owners().tolist() == INDEX.tolist()


@NO_TORCH
def test_groupings_of_tensors_reduce_the_instances_of_each_bag():
    import torch

    from fuzzymil.inference.engines.torch import Packed as PackedTensors
    from fuzzymil.inference.engines.torch import Padded
    from fuzzymil.inference.segments import greatest_in_order

    sizes = [1, 3, 0, 2]
    real = torch.arange(4) < torch.tensor(sizes)[:, None]
    padded = torch.full((4, 4, 1), torch.nan, dtype=torch.float64)
    padded[real] = torch.arange(6.0, dtype=torch.float64)[:, None]
    packed = PackedTensors(torch.repeat_interleave(torch.arange(4), torch.tensor(sizes)), 4)
    scattered = PackedTensors(torch.tensor([1, 3, 1, 0, 3, 1]), 4)
    order = [1, 4, 2, 0, 5, 3]
    rows = torch.arange(6.0, dtype=torch.float64)[:, None]
    for grouping, values in ((packed, rows), (Padded(real), padded.reshape(-1, 1)), (scattered, rows[order])):
        assert grouping.sum(values)[:, 0].tolist() == [0, 6, 0, 9]
        assert grouping.max(values)[:, 0].tolist() == [0, 3, -np.inf, 5]
        assert grouping.sizes().tolist() == sizes
        assert greatest_in_order(values.nan_to_num(9), grouping, 2)[:, 0].tolist() == [-np.inf, 2, -np.inf, 4]
        assert grouping.sum(grouping.spread(grouping.max(values)))[:, 0].tolist() == [0, 9, 0, 10]


def test_inference_with_quantified_rules_compiles_nothing(caplog):
    rules = RuleBase.parse("""
    VARIABLE a: high = Sigmoid(0, 2), near = Gaussian(0, 1), about = Bell(0, 1, 2), peak = Triangular(-1, 0, 1)
    VARIABLE b: high = Sigmoid(0, 2), top = Trapezoidal(-1, 0, 1, 2)
    Default: y = -1
    IF SOME (a is high AND b is very high) AND NOT (MOST a is near OR ALL b is extremely top) THEN y += 1
    IF AT LEAST 2 (a is about OR b is seldom high) THEN y -= 1
    IF ON AVERAGE a is somewhat peak THEN y += 0.5 + 2*a
    IF a is high AND NOT (b is high) THEN y += 1
    """)
    rng = np.random.default_rng(2)
    with jax.log_compiles():
        for sizes in ((3, 5, 7), (11, 2)):  # shapes that no other test has
            rules.infer([rng.normal(size=(size, 2)) for size in sizes])
    assert not [record for record in caplog.records if "ompil" in record.message]
