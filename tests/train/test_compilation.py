"""Compiling is most of a short fit's time: similar data must share one program, and 64 bit stay where it belongs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from fuzzymil import Bags, MIANFISClassifier, MIANFISRegressor, Training
from fuzzymil.datasets import make_two_concepts
from fuzzymil.inference.segments import pack
from fuzzymil.learn.train._loop import run


def compiled():
    return run._cache_size()


def like_musk1():
    """92 bags of 2 to 40 instances, few of them large, with 20 features."""
    rng = np.random.default_rng(0)
    sizes = np.clip(np.round(2 * np.exp(rng.exponential(0.8, 92))).astype(int), 2, 40)
    sizes[0] = 40
    labels = np.arange(92) % 2
    instances = rng.normal(size=(sizes.sum(), 20)) + np.repeat(labels, sizes)[:, None] * 0.5
    return Bags(instances, np.cumsum([0, *sizes]), labels=labels)


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: make_two_concepts(random_state=0), like_musk1], ids=["concepts", "musk"])
@pytest.mark.parametrize("batch_size", [None, 1], ids=["batch", "on-line"])
def test_ten_folds_compile_the_training_program_at_most_twice(make, batch_size):
    bags = make()
    # A learning rate is no part of the program, but a number of rules that no other test uses is.
    model = MIANFISClassifier(5, training=Training(max_epochs=2, batch_size=batch_size), random_state=0)
    before = compiled()
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    scores = cross_val_score(model, bags, bags.labels, cv=folds)
    assert len(scores) == 10
    assert 1 <= compiled() - before <= 2


def test_ten_folds_near_the_edge_of_two_paddings():
    """Folds of 95 and 96 bags with about 384 instances: both counts are where padding takes another size."""
    rng = np.random.default_rng(1)
    sizes = rng.permutation(np.r_[np.full(53, 3), np.full(53, 5)])
    bags = Bags(rng.normal(size=(sizes.sum(), 2)), np.cumsum([0, *sizes]))
    shapes = set()  # those of the data decide whether a program is compiled anew
    for chosen, _ in KFold(10).split(np.arange(106)):
        packed = pack(bags[chosen].instances, bags[chosen].offsets, np.float32)
        shapes.add((packed.x.shape, packed.offsets.shape))
    assert len(shapes) <= 2


def test_a_second_fit_of_the_same_shape_compiles_nothing():
    bags = make_two_concepts(8, 8, random_state=0)
    for make in (MIANFISClassifier, MIANFISRegressor):
        few = Training(max_epochs=2)
        make(3, training=few, random_state=0).fit(bags)
        before = compiled()
        make(3, training=few, random_state=0).fit(bags)
        # All of these are data to the compiled program.
        make(3, training=Training(max_epochs=9, learning_rate=0.5, tol=1e-9), random_state=1).fit(bags)
        make(3, training=few, random_state=0, alpha=7.0, init="random").fit(bags)
        assert compiled() == before


def test_fits_do_not_change_the_width_of_numbers_elsewhere():
    bags = make_two_concepts(8, 8, random_state=0)
    for precision in ("single", "double"):
        model = MIANFISClassifier(3, training=Training(max_epochs=2, precision=precision), random_state=0).fit(bags)
        assert model.decision_function(bags).dtype == np.float64
        assert isinstance(model.decision_function(bags), np.ndarray)
        assert jax.config.jax_enable_x64 is False
        assert jnp.ones(1).dtype == jnp.float32


def test_a_failed_fit_in_64_bit_does_not_change_the_width_of_numbers():
    bags = make_two_concepts(8, 8, random_state=0)

    def fail(now):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        MIANFISClassifier(3, training=Training(max_epochs=2, precision="double", callbacks=[fail]), random_state=0).fit(
            bags
        )
    assert jnp.ones(1).dtype == jnp.float32
