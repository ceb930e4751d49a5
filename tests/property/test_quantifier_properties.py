"""What must hold of quantifiers whatever the truths and the bags are, in NumPy and in JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzymil.inference.engines.jax import Packed
from fuzzymil.inference.engines.numpy import Runs
from fuzzymil.inference.membership import Trapezoidal
from fuzzymil.inference.quantifiers import COUNTING, QUANTIFIERS, most
from fuzzymil.inference.segments import Each, OneBag
from fuzzymil.rules import RuleBase, Variable

many = settings(max_examples=100, derandomize=True, deadline=None, database=None)
truths = st.one_of(st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]), st.floats(0, 1), st.floats(-1e6, 0).map(np.exp))
bags_of_truths = st.lists(st.lists(truths, min_size=1, max_size=6), min_size=1, max_size=4)


def degrees(bags, name, count=1):
    """The degrees (b,) of a quantifier over bags of truths, in logarithms."""
    values = np.concatenate(bags)[:, None]
    offsets = np.cumsum([0, *map(len, bags)])
    with np.errstate(divide="ignore"):
        return QUANTIFIERS[name](np.log(values), Runs(offsets), count)[:, 0]


@many
@given(bags_of_truths)
def test_all_is_at_most_every_at_least_and_some_is_the_greatest(bags):
    some, every, mean = (degrees(bags, name) for name in ("some", "all", "on average"))
    assert (every <= mean + 1e-12).all()
    assert (mean <= some + 1e-12).all()
    before = some
    np.testing.assert_array_equal(degrees(bags, "at least", 1), some)
    for count in range(2, 8):
        found = degrees(bags, "at least", count)
        assert (found <= before).all()
        sizes = np.array([len(bag) for bag in bags])
        assert np.isneginf(found[sizes < count]).all()
        assert (found[sizes >= count] >= every[sizes >= count]).all()
        np.testing.assert_array_equal(found[sizes == count], every[sizes == count])
        before = found


@many
@given(bags_of_truths, st.integers(1, 4), st.randoms(use_true_random=False))
def test_order_does_not_matter_and_every_quantifier_is_monotone(bags, count, random):
    shuffled = [random.sample(bag, len(bag)) for bag in bags]
    higher = [[max(truth, random.random()) for truth in bag] for bag in bags]
    for name in QUANTIFIERS:
        found = degrees(bags, name, count)
        np.testing.assert_allclose(np.exp(degrees(shuffled, name, count)), np.exp(found), rtol=1e-12)
        assert (degrees(higher, name, count) >= found - 1e-12).all(), name
        assert (found <= 1e-12).all()
        assert not np.isnan(found).any()


@settings(many, max_examples=30)
@given(st.lists(truths, min_size=4, max_size=4), st.sampled_from([1, 2, 5]))  # few shapes, which are compiled
def test_all_groupings_agree(bag, count):
    with np.errstate(divide="ignore"):
        log_r = np.log(np.array(bag))[:, None]
    with jax.enable_x64():
        values = jnp.asarray(log_r)
        padded = jnp.concatenate([values, jnp.zeros((3, 1))])
        index = jnp.asarray([0] * len(bag) + [1] * 3)
        offsets = jnp.asarray([0, len(bag), len(bag)])
        for name, join in QUANTIFIERS.items():
            expected = join(log_r, Runs(np.array([0, len(bag)])), count)[0]
            for found in (
                join(values, Packed(jnp.zeros(len(bag), int), 1), count)[0],
                join(padded, Packed(index, 2), count)[0],
                join(padded, Packed(index, 2, offsets, longest=len(bag)), count)[0],
                join(padded, OneBag(jnp.arange(len(bag) + 3) < len(bag)), count)[0],
            ):
                np.testing.assert_allclose(np.exp(found), np.exp(expected), rtol=1e-12, err_msg=name)
                finite = np.isfinite(expected)
                np.testing.assert_allclose(np.asarray(found)[finite], expected[finite], rtol=1e-12, atol=1e-12)
            alone = join(log_r, Each(len(bag)), count)
            np.testing.assert_allclose(np.exp(join(values, Each(len(bag)), count)), np.exp(alone), rtol=1e-12)
            single = np.exp(log_r)
            kept = np.clip((single - 0.3) / 0.5, 0, 1) if name == "most" else single
            if name in COUNTING and count > 1:
                kept = np.zeros_like(single)
            np.testing.assert_allclose(np.exp(alone), kept, rtol=1e-9, atol=1e-12)


def test_a_nan_in_a_bag_stays_a_nan():
    log_r = np.array([[0.0], [np.nan], [-1.0], [-2.0]])
    for name, join in QUANTIFIERS.items():
        for count in (1, 2) if name in COUNTING else (1,):
            for grouping, values in (
                (Runs(np.array([0, 3, 4])), log_r),
                (Packed(jnp.array([0, 0, 0, 1]), 2), jnp.asarray(log_r)),
            ):
                found = np.asarray(join(values, grouping, count))
                assert np.isnan(found[0, 0]), name
                assert not np.isnan(found[1, 0]), name


def test_most_has_no_slope_outside_its_ramp_and_a_finite_one_at_its_ends():
    bag = OneBag(jnp.ones(2, bool))
    for truth, slope in ((0.0, 0.0), (0.1, 0.0), (0.5, 2.0), (0.95, 0.0), (1.0, 0.0)):
        value = jnp.log(jnp.full((2, 1), truth))
        found = jax.grad(lambda v: jnp.exp(most(v, bag)).sum())(value)
        assert not np.isnan(found).any()
        np.testing.assert_allclose(found.sum(), slope * truth, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_quantified_rules_do_not_depend_on_order_and_infer_in_parts(seed):
    rng = np.random.default_rng(seed)
    variables = [Variable(name, {"yes": Trapezoidal(-1.0, 0.0, 1.0, 2.5)}) for name in ("a", "b")]
    text = """
    Default: y = 0.5
    IF SOME (a is yes AND b is yes) AND MOST b is yes THEN y += 1
    IF NOT (AT LEAST 2 a is yes) OR ALL b is yes THEN y -= 2
    IF ON AVERAGE NOT (a is very yes) THEN y += 0.25
    """
    rules = RuleBase.parse(text, variables)
    bags = [rng.normal(size=(size, 2)) for size in (3, 1, 6, 2)]
    expected = rules.infer(bags).output
    shuffled = [bag[rng.permutation(len(bag))] for bag in bags]
    np.testing.assert_allclose(rules.infer(shuffled[::-1]).output[::-1], expected, rtol=1e-12)
    np.testing.assert_allclose([rules.infer([bag]).output[0] for bag in bags], expected, rtol=1e-12)
