"""Write the golden files of this version: small saved models, with inputs and expected outputs.

Run it once per release, right before the release::

    python tests/golden/make.py

It writes ``tests/golden/<version>/`` and never changes an existing folder: files of an older version must load in every
later one (``tests/estimators/test_persistence.py`` checks all folders), so writing them anew would hide what they test.
"""

import json
import sys
from pathlib import Path

import numpy as np

from fuzzymil import (
    ANFISClassifier,
    Bags,
    MIANFISClassifier,
    MIANFISRegressor,
    RuleBase,
    RuleClassifier,
    RuleRegressor,
    __version__,
)
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import network_parameters
from fuzzymil.inference.membership import Bell, Gaussian, Sigmoid, Trapezoidal, Triangular
from fuzzymil.rules import Rule, Variable

QUICK = {"n_rules": 3, "max_epochs": 10, "random_state": 0}


def mixed_rules():
    """Return rules of every family, with don't-care, two outputs and maximum aggregation."""
    wide = Variable(
        "width",
        {"low": Gaussian(0.4, 0.3), "about one": Bell(1.1, 0.5, 2.0), "broad": Trapezoidal(-1.0, 0.2, 1.5, 3.0)},
        0.0,
        2.0,
        "m",
    )
    deep = Variable("größe", {"rising": Sigmoid(0.8, 4.0), "peak": Triangular(-2.0, 0.7, 4.0)})
    rules = (
        Rule({"width": "low"}, ((0.1, 0.2, -0.3), (1.0, 0.0, 0.0))),
        Rule({"width": "about one", "größe": "rising"}, ((0.9, 0.0, 0.1), (0.0, 0.5, 0.25))),
        Rule({"width": "broad", "größe": "peak"}, ((0.3, 0.1, 0.1), (0.2, 0.2, 0.2))),
        Rule({}, ((0.5, 0.0, 0.0), (-1.0, 0.0, 0.0))),
    )
    return RuleBase(
        (wide, deep), rules, ("cost", "gain"), alpha=np.inf, conclusion_aggregation="softmax", conclusion_alpha=-np.inf,
        default=(0.25, -0.5),
    )  # fmt: skip


def scorecard():
    """Return additive rules with every quantifier, alone and joined."""
    return RuleBase.parse("""
    VARIABLE width [m] FROM 0 TO 2: low = Sigmoid(0.8, -6), high = Sigmoid(1.2, 6)
    VARIABLE größe: peak = Triangular(-2, 0.7, 4), about = Gaussian(1, 0.5)
    Default: cost = -2.9, gain = 0.5
    IF SOME (width is high AND größe is about) AND MOST width is low THEN cost += 2.2, gain -= 1
    IF NOT (AT LEAST 3 width is very high) THEN cost -= 1.4, gain += 0.25
    IF AT LEAST 8 instances OR ON AVERAGE größe is peak THEN cost += 0.5, gain += 1 WITH 0.5
    IF ALL NOT (width is low OR größe is somewhat about) THEN cost += 3, gain -= 0.75
    IF width is low THEN cost += 0.125, gain += 0.5
    """)


def cases(bags):
    """Yield file name, saved value, feature names, and bags to try it on."""
    words = np.array([str(name).split("-")[0] for name in bags.ids])
    numbers = np.array([10 + 5 * bag[:, 0].max() for bag in bags])
    named = bags.map_instances(lambda x: x, ["width", "depth"])
    rows = bags.instances[:40]
    sides = np.where(rows[:, 0] > rows[:, 1], "left", "a long way right")
    few = [bag.tolist() for bag in bags[::3]]
    yield "binary.json", MIANFISClassifier(**network_parameters(**QUICK)).fit(named), ["width", "depth"], few
    first_order = MIANFISClassifier(**network_parameters(order=1, loss="cross_entropy", **QUICK)).fit(bags, words)
    yield "three_classes_first_order.json", first_order, None, few
    members = MIANFISRegressor(
        **network_parameters(n_estimators=2, init="random", rule_dropout="paper", rule_keep_prob=0.8, **QUICK)
    )
    members.fit(bags, numbers)
    yield "regressor_two_members.json", members, None, few
    bell = ANFISClassifier(
        **network_parameters(class_weight={"left": 2.0}, membership="bell", loss="hinge", **QUICK)
    ).fit(rows, sides)
    yield "plain_bell_hinge.json", bell, None, [[row] for row in rows[:10].tolist()]
    yield "mixed_rules.json", mixed_rules(), ["width", "größe"], [*few, [[100.0, -100.0]]]
    yield "scorecard.json", scorecard(), ["width", "größe"], [*few, [[100.0, -100.0]]]
    yield "chosen.json", RuleClassifier(random_state=0).fit(named), ["width", "depth"], few
    committee = RuleRegressor(5, max_conditions=2, n_estimators=2, random_state=0).fit(bags, numbers)
    yield "chosen_regressor_two_members.json", committee, None, few


def main():
    """Write the folder of this version, unless it exists."""
    folder = Path(__file__).parent / __version__
    if folder.exists():
        sys.exit(f"{folder} exists already: golden files are written once and kept.")
    folder.mkdir()
    described = []
    for name, model, feature_names, bags in cases(make_two_concepts(8, 8, random_state=0)):
        model.save(folder / name)
        data = [np.array(bag) for bag in bags]
        if isinstance(model, RuleBase):
            kind, results = "rules", {"output": model.infer(data).output}
        else:
            kind = type(model).__name__
            wanted = ["predict", "instance_scores"]
            if hasattr(model, "predict_proba"):
                wanted += ["decision_function", "predict_proba"]
            given = Bags.from_list(data, feature_names)
            results = {method: getattr(model, method)(given) for method in wanted}
        expected = {method: values.tolist() for method, values in results.items()}
        described.append(
            {"file": name, "kind": kind, "feature_names": feature_names, "bags": bags, "expected": expected}
        )
    text = json.dumps({"library": __version__, "cases": described}, indent=1, ensure_ascii=False)
    (folder / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
