"""One shape of data and rules for nearly all tests of the networks, so that they share compiled programs."""

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from fuzzymil import (
    ANFISClassifier,
    ANFISRegressor,
    Bags,
    MIANFISClassifier,
    MIANFISRegressor,
    NaiveMIL,
    RuleBase,
    Training,
)
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import network_parameters
from fuzzymil.inference.membership import Bell, Gaussian, Trapezoidal, Triangular
from fuzzymil.rules import Rule, Variable

QUICK = {"n_rules": 3, "max_epochs": 5, "init": "fcm", "rule_keep_prob": None, "random_state": 0}
BAGS = make_two_concepts(8, 8, random_state=0)
Y = BAGS.labels
WORDS = np.array([str(i).split("-")[0] for i in BAGS.ids])  # three classes: concept1, concept2, negative
NUMBERS = np.array([bag[:, 0].max() for bag in BAGS])
CENTERS = np.array([[0.5, 0.5], [1.5, 1.5], [0.5, 1.5]])
WIDTHS = np.array([[0.3, 0.4], [0.5, 0.3], [0.6, 0.6]])

BATTERY = {
    "defaults": MIANFISClassifier(3, training=Training(max_epochs=5), random_state=0),
    "classifier": MIANFISClassifier(**network_parameters(**QUICK)),
    "regressor": MIANFISRegressor(**network_parameters(**QUICK)),
    "first order": MIANFISClassifier(**network_parameters(order=1, n_estimators=2, **QUICK)),
    "plain classifier": ANFISClassifier(**network_parameters(**QUICK)),
    "plain regressor": ANFISRegressor(**network_parameters(**QUICK)),
    "naive ANFIS": NaiveMIL(ANFISClassifier(**network_parameters(**QUICK))),
    "naive logistic": NaiveMIL(LogisticRegression()),
    "naive margin": NaiveMIL(LinearSVC(random_state=0), pool="min"),
    "naive linear": NaiveMIL(LinearRegression(), pool="mean"),
}

networks = pytest.mark.parametrize("model", [BATTERY["classifier"], BATTERY["regressor"]], ids=["classes", "numbers"])


def classifier(**changes):
    return MIANFISClassifier(**quick(**changes))


def regressor(**changes):
    return MIANFISRegressor(**quick(**changes))


def quick(**changes):
    settings = QUICK | changes
    if not isinstance(settings["init"], str):  # rules and centers say how many they are
        settings.pop("n_rules")
    return network_parameters(**settings)


def material(model):
    """Bags and labels that suit a model: those of the plain networks have one instance each."""
    bags = BAGS
    if isinstance(model, ANFISClassifier | ANFISRegressor):
        bags = Bags.from_list([bag[:1] for bag in BAGS], labels=BAGS.labels)
    return bags, Y if is_classifier(model) else NUMBERS


def score_of(model, bags):
    return model.decision_function(bags) if is_classifier(model) else model.predict(bags)


def arrays_of(bags):
    return [bag.copy() for bag in bags]


def mean_squared_error(rules, bags, targets):
    output = rules.infer(Bags(bags.instances, bags.offsets)).output
    return np.square(output - np.reshape(targets, output.shape)).sum(axis=1).mean()


def mixed_rules():
    """Rules of several families, with don't-care and linear conclusions."""
    x = Variable("x", {"low": Gaussian(0.4, 0.3), "about": Bell(1.2, 0.5, 2.0), "trap": Trapezoidal(-1, 0, 2, 3)})
    y = Variable("y", {"wide": Triangular(-2, 1, 4), "high": Gaussian(1.5, 0.4)})
    rules = (
        Rule({"x": "low"}, ((0.1, 0.2, -0.3),)),
        Rule({"x": "about", "y": "high"}, ((0.9, 0.0, 0.1),)),
        Rule({"x": "trap", "y": "wide"}, ((0.3, 0.1, 0.1),)),
        Rule({}, ((0.5, 0.0, 0.0),)),
    )
    return RuleBase((x, y), rules, alpha=3.0, conclusion_alpha=2.0)
