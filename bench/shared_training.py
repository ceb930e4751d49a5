"""Started by questions/processes.py in one or several processes: prints the minimum time per epoch, and the rules."""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from fuzzymil import Bags, MIANFISClassifier, RunOptions
from fuzzymil.learn.train.distributed import join


def main() -> None:
    n_instances, epochs = int(sys.argv[1]), int(sys.argv[2])
    processes = join()
    rng = np.random.default_rng(0)
    labels = np.arange(n_instances // 10) % 2
    instances = rng.normal(size=(n_instances, 25))
    instances[::10] += labels[:, None]
    bags = Bags(instances, np.arange(0, n_instances + 1, 10), labels=labels)
    ends: list[float] = []
    run = RunOptions(distributed=True, callbacks=[lambda _: ends.append(time.perf_counter())])
    model = MIANFISClassifier(10, init="kmeans", max_epochs=epochs, random_state=0, run=run)
    model.fit(processes.share(bags))
    if processes.rank == 0:
        rules = np.concatenate([model.rules_.centers.ravel(), model.rules_.coefs.ravel()])
        print(json.dumps({"epoch": float(np.diff(ends).min()), "rules": rules.tolist()}))


if __name__ == "__main__":
    main()
