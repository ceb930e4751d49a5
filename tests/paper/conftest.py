"""Results that tests of the landmine experiment share."""

import json

import numpy as np
import pytest
from made_up_alarms import EPOCHS, SMALL, made_up

from fuzzymil import MIANFISClassifier, Training
from paper import landmine
from paper.experiment import Options
from paper.landmine import METHODS, OnBags


@pytest.fixture(scope="session")
def alarms():
    return made_up()


@pytest.fixture(scope="session")
def results(alarms):
    """Return what a quick run collects, with few epochs and alarms that cost nothing."""
    patch = pytest.MonkeyPatch()
    patch.setattr(landmine, "METHODS", {name: SMALL[name] for name in METHODS})
    patch.setattr(Options, "n_folds", 2)
    patch.setattr(landmine.gpr, "draw_alarms", lambda *counts, **settings: alarms)
    patch.setattr("paper.landmine.N_REPLICATES", 20)
    variants = {"MI-ANFIS, alpha 5": OnBags(MIANFISClassifier(3, alpha=5.0, training=Training(max_epochs=EPOCHS)))}
    patch.setattr(landmine, "_variants", lambda options: variants)
    options = Options(seed=100, quick=True)
    units = landmine._units(options)
    points = {"points": np.zeros((2, 35)).tolist(), "labels": [0.0, 1.0], "reach": 1.0}
    found = [{"down_track": points, "cross_track": points, "seeds": []}]
    for unit in units[1:]:
        found.append(json.loads(json.dumps(unit.work(*(found[place] for place in unit.needs)))))
    collected = {"seed": 100, "quick": True, **landmine._collect(options, found)}
    patch.undo()
    return json.loads(json.dumps(collected))
