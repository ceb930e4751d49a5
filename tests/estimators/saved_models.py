"""Models of every kind to save."""

import copy
import json

import numpy as np
from small_fits import BAGS, NUMBERS, QUICK, WORDS, Y

from fuzzymil import ANFISClassifier, ANFISRegressor, Bags, MIANFISClassifier, MIANFISRegressor
from fuzzymil.estimators import network_parameters

ROWS = Bags.from_list([bag[:1] for bag in BAGS])

MODELS = {
    "squared_error": (MIANFISClassifier(**network_parameters(**QUICK)), BAGS, Y),
    "cross-entropy": (MIANFISClassifier(**network_parameters(loss="cross_entropy", **QUICK)), BAGS, WORDS),
    "hinge": (MIANFISClassifier(**network_parameters(loss="hinge", **QUICK)), BAGS, Y.astype(bool)),
    "hinge, three": (MIANFISClassifier(**network_parameters(loss="hinge", **QUICK)), BAGS, WORDS),
    "objects": (MIANFISClassifier(**network_parameters(**QUICK)), BAGS, np.where(Y, "yes", "no way").astype(object)),
    "small numbers": (MIANFISClassifier(**network_parameters(**QUICK)), BAGS, Y.astype(np.int8)),
    "dropout": (
        MIANFISClassifier(**network_parameters(**QUICK | {"order": 1, "rule_keep_prob": 0.7, "rule_dropout": "paper"})),
        BAGS,
        Y,
    ),
    "alpha inf": (
        MIANFISClassifier(**network_parameters(**QUICK | {"alpha": np.inf, "n_estimators": 2, "init": "random"})),
        BAGS,
        Y,
    ),
    "regressor": (
        MIANFISRegressor(**network_parameters(**QUICK | {"n_estimators": 2, "init": "random"})),
        BAGS,
        NUMBERS,
    ),
    "two outputs": (
        MIANFISRegressor(**network_parameters(order=1, **QUICK)),
        BAGS,
        np.column_stack([NUMBERS, 9 - NUMBERS]),
    ),
    "plain classifier": (ANFISClassifier(**network_parameters(membership="bell", **QUICK)), ROWS, Y),
    "plain regressor": (ANFISRegressor(**network_parameters(t_norm="min", **QUICK)), ROWS, NUMBERS),
}


def places(node, path=()):
    """Paths to everything in a document."""
    yield path
    if isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from places(child, (*path, key))


def with_value(document, place, wrong):
    """The text of a document in which something, given as JSON, stands at a place."""
    copied = copy.deepcopy(document)
    node = copied
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = "PLACE"
    return json.dumps(copied).replace('"PLACE"', wrong)
