"""Which treatment of missing values predicts best: benchmark datasets with holes punched into them.

    python bench/gaps.py [--folds 5] [--sets musk1,fox] [--output bench/gaps.json]

Values are removed from all bags, 10 % or 30 % of them: at random, or depending on the value, the greatest ones most
often (the chance grows evenly with the rank of the value in its feature, from 0 to twice the share). Every treatment
sees the same holes and the same folds, and everything is fitted inside the training bags. Each result is written as
soon as it is there, and a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from fuzzymil import Bags, RuleClassifier, __version__
from fuzzymil._utils.storage import write_atomically
from fuzzymil.comparators import EmbeddingForest
from fuzzymil.datasets import load_elephant, load_fox, load_musk1, load_musk2, load_tiger

SETS = {"musk1": load_musk1, "fox": load_fox, "tiger": load_tiger, "elephant": load_elephant, "musk2": load_musk2}
TREATMENTS = ("ignore", "median", "average", "condition")
FOREST = "EmbeddingForest, median"
WAYS = ("at random", "by value")
SHARES = (0.1, 0.3)
SEED = 2026
FEWER = {"musk2": 3}  # of the folds are measured: its 6,598 instances take as long as all other datasets together


def punched(bags: Bags, way: str, share: float, rng: np.random.Generator) -> Bags:
    """Return the bags without a share of their values."""
    x = bags.instances
    chance: np.ndarray | float = share
    if way == "by value":
        ranks = np.column_stack([rankdata(column) for column in x.T])
        chance = 2 * share * (ranks - 0.5) / len(x)
    return Bags(np.where(rng.random(x.shape) < chance, np.nan, x), bags.offsets, labels=bags.labels)


def measured(model: object, bags: Bags, n_folds: int, n_measured: int) -> dict[str, object]:
    """Return accuracy and AUC on the first of the folds, and the seconds of a fit."""
    y = np.asarray(bags.labels)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=SEED)
    accuracy, auc, seconds = [], [], []
    for train, test in itertools.islice(folds.split(np.zeros(len(y)), y), n_measured):
        start = time.perf_counter()
        model.fit(bags[train], y[train])
        seconds.append(time.perf_counter() - start)
        accuracy.append(float(np.mean(model.predict(bags[test]) == y[test])))
        auc.append(float(roc_auc_score(y[test], model.decision_function(bags[test]))))
    return {"accuracy": accuracy, "auc": auc, "seconds": round(float(np.mean(seconds)), 2)}


def main() -> None:
    """Measure what has not been measured, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    settings = {
        "folds": options.folds,
        "repeats": 1,
        "seed": SEED,
        "version": __version__,
        "shares": SHARES,
        "fewer": FEWER,
    }
    print("settings:", json.dumps(settings), flush=True)
    found: dict[str, dict[str, object]] = {}
    if options.output.exists():
        found = json.loads(options.output.read_text())["results"]
    for name in options.sets.split(","):
        bags = SETS[name]()
        for way, share in [("complete", 0.0), *((way, share) for share in SHARES for way in WAYS)]:
            rng = np.random.default_rng([SEED, round(100 * share), len(way)])
            holed = bags if way == "complete" else punched(bags, way, share, rng)
            for treatment in ("ignore", FOREST) if way == "complete" else (*TREATMENTS, FOREST):
                key = f"{name} | {way} | {share:g} | {'-' if way == 'complete' else treatment}"
                key = f"{key} | forest" if treatment == FOREST and way == "complete" else key
                if key in found:
                    continue
                forest = treatment == FOREST
                model = EmbeddingForest(random_state=0) if forest else RuleClassifier(missing=treatment, random_state=0)
                found[key] = measured(model, holed, options.folds, FEWER.get(name, options.folds))
                write_atomically(options.output, json.dumps({"settings": settings, "results": found}, indent=1))
                mean = {measure: float(np.mean(found[key][measure])) for measure in ("accuracy", "auc")}
                print(
                    f"{key}: accuracy {mean['accuracy']:.3f}, AUC {mean['auc']:.3f}, {found[key]['seconds']} s",
                    flush=True,
                )
    print(table(found))


def table(found: dict[str, dict[str, object]]) -> str:
    """Return the mean accuracy in % of each treatment, as Markdown."""
    names = [name for name in SETS if any(key.startswith(f"{name} |") for key in found)]
    lines = ["| missing | treatment | " + " | ".join(names) + " | mean |", "|---|---|" + "---:|" * (len(names) + 1)]
    for way, share in [("complete", 0.0), *((way, share) for share in SHARES for way in WAYS)]:
        for treatment in ("-", "- | forest") if way == "complete" else (*TREATMENTS, FOREST):
            each = [found.get(f"{name} | {way} | {share:g} | {treatment}") for name in names]
            if all(each):
                means = [100 * float(np.mean(one["accuracy"])) for one in each]
                numbers = " | ".join(f"{value:.1f}" for value in [*means, float(np.mean(means))])
                what = "nothing" if way == "complete" else f"{share:.0%}, {way}"
                shown = {"-": "MI-ANFIS", "- | forest": "EmbeddingForest"}.get(treatment, treatment)
                lines.append(f"| {what} | {shown} | {numbers} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
