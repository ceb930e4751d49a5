"""Problems with a known truth that are hard for a search for rules: what `RuleClassifier()` finds.

    python bench/hard_problems.py [--only NAME ...] [--seeds 3] [--output hard_problems.json]

Each problem is drawn several times. Measured are the AUC on bags that the rules have not seen, whether the rules use
the true features and no others, their number, and the seconds and peak memory of the fits.
"""

import argparse
import json
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from fuzzymil import Bags, RuleClassifier
from fuzzymil._utils.errors import EvidenceWarning

Truth = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of values (i, d) and positions where bags start: labels (b,)


class Problem(NamedTuple):
    """Bags of uniform values between 0 and 10, a truth about them, and labels of which some may be wrong."""

    words: str
    features: tuple[str, ...]  # that it is about
    n_bags: int
    sizes: tuple[int, int]
    n_features: int
    truth: Truth
    wrong: float = 0.0
    share: float = 0.5  # of positive bags; more are drawn until there are so many

    def draw(self, seed: int) -> tuple[Bags, Bags]:
        """Return bags to learn from, and bags that are unseen."""
        rng = np.random.RandomState(seed)
        n_unseen = max(400, int(20 / self.share))  # with at least 20 positive ones
        wanted = np.rint(np.array([1 - self.share, self.share]) * (self.n_bags + n_unseen)).astype(int)
        kept: list[list[np.ndarray]] = [[], []]
        while any(len(own) < n for own, n in zip(kept, wanted, strict=True)):
            n = min(max(2_000_000 // (self.sizes[1] * self.n_features), 20), 20_000)
            sizes = rng.randint(self.sizes[0], self.sizes[1] + 1, size=n)
            starts = np.concatenate([[0], np.cumsum(sizes)])
            values = rng.uniform(0, 10, size=(starts[-1], self.n_features)).astype(np.float32)
            for bag, label in enumerate(self.truth(values, starts[:-1])):
                if len(kept[int(label)]) < wanted[int(label)]:
                    kept[int(label)].append(values[starts[bag] : starts[bag + 1]])
        labels = np.repeat([0, 1], wanted)
        order = rng.permutation(len(labels))
        bags = [*kept[0], *kept[1]]
        flipped = np.where(rng.rand(len(labels)) < self.wrong, 1 - labels, labels)
        names = [f"x{d}" for d in range(self.n_features)]

        def some(places: np.ndarray, labels: np.ndarray) -> Bags:
            return Bags.from_list([bags[n] for n in places], labels=labels[places], feature_names=names)

        return some(order[n_unseen:], flipped), some(order[:n_unseen], labels)


def some(condition: Callable[[np.ndarray], np.ndarray], at_least: int = 1) -> Truth:
    """Return the truth that so many instances satisfy a condition."""
    return lambda x, starts: np.add.reduceat(condition(x).astype(int), starts) >= at_least


PROBLEMS = {
    "three of two": Problem(
        "AT LEAST 3 instances with x0 > 6 and x1 < 5",
        ("x0", "x1"), 300, (8, 16), 12, some(lambda x: (x[:, 0] > 6) & (x[:, 1] < 5), 3),
    ),
    "three of two, 10% wrong": Problem(
        "the same; 10% of the labels are wrong",
        ("x0", "x1"), 300, (8, 16), 12, some(lambda x: (x[:, 0] > 6) & (x[:, 1] < 5), 3), 0.1,
    ),
    "triple in large bags": Problem(
        "one instance with x0 > 9, x1 < 1 and x2 > 8.6 (bags of 500)",
        ("x0", "x1", "x2"), 200, (500, 500), 10, some(lambda x: (x[:, 0] > 9) & (x[:, 1] < 1) & (x[:, 2] > 8.6)),
    ),
    "needle": Problem(
        "one instance in 2,000 with x0 > 9.998; 5% positive bags",
        ("x0",), 300, (2_000, 2_000), 10, some(lambda x: x[:, 0] > 9.998), 0.0, 0.05,
    ),
    "any of four": Problem(
        "one instance in 2,000 with x0, x1, x2 or x3 > 9.999; 5% of the labels are wrong",
        ("x0", "x1", "x2", "x3"), 300, (2_000, 2_000), 20, some(lambda x: (x[:, :4] > 9.999).any(axis=1)), 0.05,
    ),
    "rare class": Problem(
        "63 of 200,000 bags are positive: an instance with x0 > 9.9997",
        ("x0",), 200_000, (1, 3), 4, some(lambda x: x[:, 0] > 9.9997), 0.0, 63 / 200_000,
    ),
    "few bags": Problem(
        "40 bags, 30 features: one instance with x0 > 9",
        ("x0",), 40, (4, 10), 30, some(lambda x: x[:, 0] > 9),
    ),
}  # fmt: skip


def measure(problem: Problem, seed: int) -> dict[str, object]:
    """Fit the default rules to a problem."""
    bags, unseen = problem.draw(seed)
    before = time.process_time()
    model = RuleClassifier(random_state=seed).fit(bags)
    seconds = time.process_time() - before
    used = {condition.variable for rule in model.rules_.rules for condition in rule.conditions}
    return {
        "auc": float(roc_auc_score(unseen.labels, model.decision_function(unseen))),
        "exact": used == set(problem.features),
        "n_rules": len(model.rules_.rules) if used else 0,
        "seconds": round(seconds, 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "rules": model.rules_.to_text(digits=2),
        "warnings": model.frontier_.doubt,
    }


def measure_noise(seed: int) -> dict[str, object]:
    """Fit the default rules to labels that are pure chance."""
    rng = np.random.RandomState(seed)
    bags = Bags.from_list([rng.normal(size=(rng.randint(2, 8), 30)) for _ in range(60)])
    model = RuleClassifier(random_state=seed).fit(bags, rng.permutation(np.arange(60) % 2))
    point = model.frontier_[model.frontier_.chosen]
    return {"n_rules": point.n_rules, "warned": bool(model.frontier_.doubt)}


def main() -> None:
    """Measure, print and write the problems."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[*PROBLEMS, "noise"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=7_000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore", EvidenceWarning)
    found: dict[str, list[dict[str, object]]] = {}
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    for name in options.only:
        if name == "noise":
            found[name] = [measure_noise(seed) for seed in range(options.first_seed, options.first_seed + 20)]
            without = sum(not each["n_rules"] for each in found[name])
            warned = sum(bool(each["warned"]) for each in found[name])
            print(f"noise: {without} of 20 sets without rules, {warned} with a warning", flush=True)
            continue
        runs = found[name] = [measure(PROBLEMS[name], seed) for seed in seeds]
        print(
            f"{name}: AUC {np.mean([run['auc'] for run in runs]):.3f}, exactly the true features "
            f"{sum(bool(run['exact']) for run in runs)} of {len(runs)}, rules {[run['n_rules'] for run in runs]}, "
            f"{np.mean([run['seconds'] for run in runs]):.1f} s, peak {max(run['peak_mb'] for run in runs)} MB",
            flush=True,
        )
    if options.output:
        settings = {"seeds": [*seeds], "model": repr(RuleClassifier())}
        options.output.write_text(json.dumps({"settings": settings, "problems": found}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
