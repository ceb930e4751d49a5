"""How often prediction sets have the true answer: `python bench/conformal.py FOLDER` prints a table in Markdown.

FOLDER has benchmark sets as CSV files. A model of three rules is fitted on half of the bags; the other half is divided
300 times into bags to calibrate by and bags to test on. Two halves are tried. Two planted problems are added.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from fuzzymil import RuleClassifier
from fuzzymil.datasets import make_planted, read_bags
from fuzzymil.estimators.conformal import Conformity, prediction_sets

CONFIDENCES = (0.8, 0.9, 0.95)
DIVISIONS = 300


def coverages(bags):
    """Return, by confidence and whether it holds by class, the share of right sets: of all bags, and of each class."""
    labels, found = np.asarray(bags.labels), {}
    for seed in range(2):
        halves = train_test_split(np.arange(len(labels)), test_size=0.5, random_state=seed, stratify=labels)
        model = RuleClassifier(max_rules=3, max_conditions=1, cv=2, random_state=0).fit(bags[halves[0]])
        answers = model.predict_proba(bags[halves[1]])
        truth = np.searchsorted(model.classes_, labels[halves[1]])
        for division in range(DIVISIONS):
            order = np.random.default_rng([seed, division]).permutation(len(truth))
            inside, test = np.array_split(order, 2)
            known = Conformity.of(answers[inside], truth[inside], np.arange(2))
            for case in ((confidence, by_class) for confidence in CONFIDENCES for by_class in (False, True)):
                sets = prediction_sets(known, answers[test], test, np.arange(2), case[0], by_class=case[1])
                right = sets.included[np.arange(len(test)), truth[test]]
                shares = [right.mean(), *(right[truth[test] == k].mean() for k in (0, 1))]
                found.setdefault(case, []).append([*shares, (sets.included.sum(axis=1) == 1).mean()])
    return {case: np.nanmean(shares, axis=0) for case, shares in found.items()}


def main(folder):
    """Print the table."""
    warnings.simplefilter("ignore")
    sets = {path.name.partition(".")[0]: read_bags(path) for path in sorted(folder.rglob("*.csv.gz"))}
    for kind in ("some", "count"):
        sets[f"planted: {kind}"] = make_planted(kind, n_bags=300, n_noise=4, random_state=1)
    print("| set | bags | 80% | 90% | 95% | worst class at 90% | the same by class | sets of one class at 90% |")
    print("|---|---|---|---|---|---|---|---|")
    for name, bags in sets.items():
        found = coverages(bags)
        cells = [f"{found[confidence, False][0]:.3f}" for confidence in CONFIDENCES]
        cells += [f"{found[0.9, by_class][1:3].min():.3f}" for by_class in (False, True)]
        print(f"| {name} | {len(bags)} | {' | '.join(cells)} | {found[0.9, False][3]:.2f} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
