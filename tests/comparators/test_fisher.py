"""miFV: Fisher vectors against finite differences of the log-likelihood, a closed form and a loop."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from scipy.stats import norm
from sklearn.mixture import GaussianMixture

from fuzzymil import Bags
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.comparators import MiFV
from fuzzymil.comparators.mi_fv import fisher_vectors, improve


def made_bags(n_bags, seed, n_features=3):
    """Bags of two kinds of instances, which positive bags mix in another proportion."""
    rng = np.random.RandomState(seed)
    labels = np.arange(n_bags) % 2
    bags = []
    for label in labels:
        kind = rng.uniform(size=(rng.randint(3, 8), 1)) < (0.9 if label else 0.1)
        bags.append(
            np.where(kind, 2.0, -1.0) + rng.normal(scale=np.arange(1, n_features + 1), size=(len(kind), n_features))
        )
    return Bags.from_list(bags, labels=labels)


BAGS = made_bags(30, seed=0)
MIXTURE = GaussianMixture(2, covariance_type="diag", random_state=0).fit(BAGS.instances)


def log_likelihood(bag, logits, centers, widths):
    """The logarithm of the mixture's density, summed over the instances, by SciPy's normal density."""
    of_components = norm.logpdf(bag[:, None], centers, widths).sum(axis=2)
    return logsumexp(of_components + np.log(softmax(logits)), axis=1).sum()


def test_fisher_vectors_are_slopes_of_the_log_likelihood_over_their_deviation():
    weights, centers = MIXTURE.weights_, MIXTURE.means_
    widths = np.sqrt(MIXTURE.covariances_)
    start = np.concatenate([np.log(weights), centers.ravel(), widths.ravel()])
    cuts = [2, 2 + centers.size]

    def value(parameters, bag):
        logits, centers_now, widths_now = np.split(parameters, cuts)
        return log_likelihood(bag, logits, centers_now.reshape(2, -1), widths_now.reshape(2, -1))

    # Deviations of the slopes for one instance of well separated components (Sánchez et al., 2013).
    root = np.sqrt(weights)[:, None]
    deviations = np.concatenate([root.ravel(), (root / widths).ravel(), (np.sqrt(2) * root / widths).ravel()])
    steps = 1e-5 * np.eye(len(start))
    for b in (0, 1, 7):
        slopes = [(value(start + step, BAGS[b]) - value(start - step, BAGS[b])) / 2e-5 for step in steps]
        np.testing.assert_allclose(fisher_vectors(BAGS[[b]], MIXTURE)[0], slopes / deviations, rtol=1e-6, atol=1e-6)


def test_one_component_tells_the_mean_and_the_variance_of_a_bag():
    mixture = GaussianMixture(1, covariance_type="diag", reg_covar=0.0).fit(BAGS.instances)
    center, width = BAGS.instances.mean(axis=0), BAGS.instances.std(axis=0)
    for vector, bag in zip(fisher_vectors(BAGS, mixture), BAGS, strict=True):
        away = (bag.mean(axis=0) - center) / width
        spread = ((bag - center) ** 2).mean(axis=0) / width**2 - 1
        np.testing.assert_allclose(vector, len(bag) * np.concatenate([[0.0], away, spread / np.sqrt(2)]), atol=1e-9)


def test_the_fisher_vectors_of_all_instances_of_the_mixture_add_up_to_zero():
    """At the maximum of the likelihood, the slopes are zero."""
    mixture = GaussianMixture(2, covariance_type="diag", random_state=0, tol=1e-13, max_iter=10000, reg_covar=0.0)
    total = fisher_vectors(BAGS, mixture.fit(BAGS.instances)).sum(axis=0)
    np.testing.assert_allclose(total, 0.0, atol=1e-4)


def test_signed_roots_of_unit_length():
    vectors = np.random.RandomState(0).normal(size=(5, 4))
    found = improve(vectors)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)
    np.testing.assert_array_equal(np.sign(found), np.sign(vectors))
    ratios = (found**2) / np.abs(vectors)
    np.testing.assert_allclose(ratios, ratios[:, :1] * np.ones(4))
    assert improve(np.zeros((1, 3))).tolist() == [[0.0, 0.0, 0.0]]


def test_the_classifier_is_linear_in_the_vectors_of_reduced_instances():
    model = MiFV(2, energy=0.8, random_state=0).fit(BAGS)
    center = BAGS.instances.mean(axis=0)
    _, lengths, axes = np.linalg.svd(BAGS.instances - center, full_matrices=False)
    shares = np.cumsum(lengths**2) / (lengths**2).sum()
    kept = 1 + int((shares < 0.8).sum())
    assert kept < 3
    assert model.reducer_.n_components_ == kept
    signs = np.sign((model.reducer_.components_ * axes[:kept]).sum(axis=1))
    slow = []
    for bag in BAGS:
        reduced = (bag - center) @ (signs[:, None] * axes[:kept]).T
        vector = fisher_vectors(Bags.from_list([reduced]), model.mixture_)[0]
        vector = np.sign(vector) * np.sqrt(np.abs(vector))
        slow.append(vector / np.linalg.norm(vector) @ model.machine_.coef_[0] + model.machine_.intercept_[0])
    np.testing.assert_allclose(model.decision_function(BAGS), slow, atol=1e-8)
    assert MiFV(energy=1.0).fit(BAGS).reducer_.n_components_ == 3


def test_repeating_every_instance_changes_no_decision():
    model = MiFV(random_state=0).fit(BAGS)
    twice = Bags.from_list([np.repeat(bag, 2, axis=0) for bag in BAGS])
    np.testing.assert_allclose(model.decision_function(twice), model.decision_function(BAGS), atol=1e-9)


def test_proportions_of_kinds_are_learned():
    assert MiFV(random_state=0).fit(made_bags(100, seed=1)).score(made_bags(100, seed=2)) > 0.85


def test_too_few_different_instances():
    bags = Bags.from_list([[[1.0], [2.0]], [[1.0]], [[2.0]]], labels=[0, 1, 1])
    with pytest.raises(InputError, match=r"3 different instances, got 2.*n_components"):
        MiFV(3).fit(bags)
    with pytest.raises(InputError, match=r"2 different instances, got 1"):
        MiFV(1).fit([[[1.0]], [[1.0]]], [0, 1])
    assert MiFV(2, random_state=0).fit(bags).predict(bags).shape == (3,)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MiFV(0), "n_components .*at least 1"),
        (MiFV(energy=0.0), "energy .*above 0"),
        (MiFV(energy=1.1), "energy .*at most 1"),
        (MiFV(C=-1.0), "C .*above 0"),
    ],
)
def test_settings_that_cannot_be(model, message):
    with pytest.raises(ParameterError, match=message):
        model.fit(BAGS)
