"""Models that tests share."""

import copy

import pytest
from saved_models import MODELS


@pytest.fixture(scope="session")
def fitted():
    """Each model, trained once."""
    trained = {}

    def get(name):
        if name not in trained:
            model, bags, y = MODELS[name]
            trained[name] = copy.deepcopy(model).fit(bags, y)
        return trained[name], *MODELS[name][1:]

    return get
