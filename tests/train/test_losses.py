"""Losses: a registered one is complete."""

import jax.numpy as jnp
import numpy as np
import pytest

from fuzzymil import MIANFISClassifier, Training
from fuzzymil._utils.errors import ParameterError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.learn.train.losses import LOSSES, Loss, register


@pytest.fixture
def signed_error():
    register(
        "signed_error",
        Loss(
            per_bag=lambda output, target: jnp.square(target - output).sum(axis=-1),
            low=-1.0,
            threshold=0.25,
            probability=lambda output: np.clip((output + 1) / 2, 0.0, 1.0),
        ),
    )
    yield
    del LOSSES["signed_error"]


@pytest.mark.slow
def test_a_registered_loss_codes_targets_decides_and_gives_probabilities(signed_error):
    bags = make_two_concepts(random_state=0)
    model = MIANFISClassifier(
        6, training=Training(loss="signed_error", learning_rate=0.1, max_epochs=60), random_state=0
    ).fit(bags)
    output = model.rules_.infer(bags).output[:, 0]
    assert output.min() < -0.5  # targets are -1 and 1
    assert output.max() > 0.5
    np.testing.assert_allclose(model.decision_function(bags), output - 0.25)
    np.testing.assert_allclose(model.predict_proba(bags)[:, 1], np.clip((output + 1) / 2, 0.0, 1.0))
    assert (model.predict(bags) == (output > 0.25)).all()
    assert model.score(bags) > 0.9


def test_the_name_of_a_loss_is_taken_once():
    with pytest.raises(ParameterError, match="'hinge'"):
        register("hinge", Loss(per_bag=lambda output, target: output[:, 0]))
