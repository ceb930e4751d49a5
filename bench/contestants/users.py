"""Measurements of what users run, each in a process of its own: ``users.py WHAT SETTINGS`` prints them as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzzymil import Bags, RuleBase, RuleClassifier

KINDS = {"SOME": "SOME {}", "AT LEAST 3": "AT LEAST 3 {}", "ON AVERAGE": "ON AVERAGE {}", "AND": "SOME ({} AND {})"}


def some_bags(n_bags: int, size: int = 10, n_features: int = 20, n_classes: int = 2, seed: int = 0) -> Bags:
    """Return bags whose class is a part of the range of the first feature's greatest value, with some noise."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_bags * size, n_features))
    greatest = x[:, 0].reshape(n_bags, size).max(axis=1) + 0.1 * rng.standard_normal(n_bags)
    rank = np.argsort(np.argsort(greatest))
    return Bags(x, np.arange(0, n_bags * size + 1, size), labels=rank * n_classes // n_bags)


def statistics(bags: Bags) -> np.ndarray:
    """Return the mean, minimum and maximum of each feature."""
    starts, x = bags.offsets[:-1], bags.instances
    ends = np.minimum.reduceat(x, starts), np.maximum.reduceat(x, starts)
    return np.hstack([np.add.reduceat(x, starts) / bags.sizes[:, None], *ends])


class OnStatistics:
    """An estimator of plain rows, on the statistics of the bags."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def fit(self, bags: Bags, labels: np.ndarray) -> OnStatistics:
        self.inner.fit(statistics(bags), labels)
        return self

    def predict(self, bags: Bags) -> Any:
        return self.inner.predict(statistics(bags))


def estimator(method: str) -> Any:
    """Return an unfitted method by its name."""
    if method == "RuleClassifier":
        return RuleClassifier(random_state=0)
    if method == "MILES":
        from fuzzymil.comparators import MILES

        return MILES()
    if method == "gated attention":
        from fuzzymil.comparators import GatedAttention

        return GatedAttention()
    if method == "EBM":
        from interpret.glassbox import ExplainableBoostingClassifier

        return OnStatistics(ExplainableBoostingClassifier(random_state=0, n_jobs=1))
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    kind = RandomForestClassifier if method == "random forest" else HistGradientBoostingClassifier
    return OnStatistics(kind(random_state=0))


def peak() -> int:
    """Return the most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = run()
    return time.perf_counter() - began, found


def fit(method: str, **size: int) -> dict[str, float]:
    train, test = some_bags(**size), some_bags(**size | {"n_bags": min(size["n_bags"], 2_000)}, seed=1)
    model, before = estimator(method), peak()
    seconds, _ = timed(lambda: model.fit(train, train.labels))
    more = peak() - before
    predicting, _ = timed(lambda: model.predict(train))
    return {
        "fit": seconds,
        "predict": predicting,
        "bytes": more,
        "accuracy": np.mean(model.predict(test) == test.labels),
    }


def rules(kinds: list[str], n_rules: int = 40, n_features: int = 20) -> RuleBase:
    """Return additive rules of some kinds, with sets of their own."""
    rng = np.random.default_rng(0)
    terms: dict[int, list[str]] = {d: ["low = Sigmoid(0, -2)"] for d in range(n_features)}

    def condition() -> str:
        d = int(rng.integers(n_features))
        terms[d].append(f"t{len(terms[d])} = Sigmoid({rng.normal():.3f}, {2 * rng.choice([-1, 1])})")
        return f"x{d + 1} is t{len(terms[d]) - 1}"

    said = [KINDS[kinds[r % len(kinds)]].format(condition(), condition()) for r in range(n_rules)]
    lines = [f"VARIABLE x{d + 1}: {', '.join(own)}" for d, own in terms.items()]
    return RuleBase.parse("\n".join([*lines, "Default: y = 0", *(f"IF {each} THEN y += 0.5" for each in said)]))


def least(run: Callable[[], Any], calls: int = 1, rounds: int = 6) -> float:
    """Return the least processor time of a call: other programs disturb it least."""
    found = []
    for _ in range(rounds):
        began = time.process_time()
        for _ in range(calls):
            run()
        found.append((time.process_time() - began) / calls)
    return min(found)


def predict(n_bags: int) -> dict[str, Any]:
    bags, train = some_bags(n_bags, seed=1), some_bags(400)
    forest = estimator("random forest").fit(train, train.labels)
    model = RuleClassifier(max_rules=1, random_state=0).fit(train)
    kinds = {kind: [kind] for kind in KINDS} | {"all four": list(KINDS)}
    models = {"forest": forest} | {name: model.with_rules(rules(own)) for name, own in kinds.items()}
    seconds = {name: least(lambda own=own: own.predict(bags)) for name, own in models.items()}
    one, mixed = [bags[0]], models["all four"]
    return {
        "kinds": {name: bags.n_instances / value for name, value in seconds.items()},
        "one": least(lambda: mixed.predict(one), 50),
        "explain": least(lambda: mixed.explain(one), 5),
    }


def write(path: str, n_bags: int) -> dict[str, float]:
    from fuzzymil import BagStream
    from fuzzymil.datasets import write_bags

    def part(number: int) -> Bags:
        whole = some_bags(n_bags // 50, seed=number)
        return Bags(whole.instances, whole.offsets, labels=whole.labels)

    return {"fit": timed(lambda: write_bags(BagStream(part, 50), path))[0]}


def stream(path: str, client: Any = None) -> dict[str, float]:
    from fuzzymil.datasets import stream_bags

    test, before = some_bags(2_000, seed=1_000), peak()
    model = RuleClassifier(random_state=0)
    seconds, _ = timed(lambda: model.fit(stream_bags(path), client=client))
    plain = Bags(test.instances, test.offsets, feature_names=[f"x{d + 1}" for d in range(test.n_features)])
    return {"fit": seconds, "bytes": peak() - before, "accuracy": np.mean(model.predict(plain) == test.labels)}


def dask(path: str, workers: int) -> dict[str, float]:
    from distributed import Client, LocalCluster

    settings = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        return stream(path, client)


def lightgbm(path: str) -> dict[str, float]:
    import polars as pl
    from lightgbm import LGBMClassifier

    test, before = some_bags(2_000, seed=1_000), peak()

    def run() -> Any:
        names = pl.all().exclude("bag", "label")
        own = [names.mean().name.suffix("_mean"), names.min().name.suffix("_min"), names.max().name.suffix("_max")]
        table = pl.scan_parquet(path).group_by("bag").agg(pl.col("label").first(), *own).collect(engine="streaming")
        return LGBMClassifier(verbose=-1).fit(table.drop("bag", "label").to_numpy(), table["label"].to_numpy())

    seconds, model = timed(run)
    return {
        "fit": seconds,
        "bytes": peak() - before,
        "accuracy": np.mean(model.predict(statistics(test)) == test.labels),
    }


if __name__ == "__main__":
    what, settings = sys.argv[1], json.loads(sys.argv[2])
    measured = {"fit": fit, "predict": predict, "write": write, "stream": stream, "dask": dask, "lightgbm": lightgbm}
    print(json.dumps(measured[what](**settings), default=float))
