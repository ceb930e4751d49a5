"""Started by test_distributed.py in several processes: `python distributed_script.py WHAT FOLDER`."""

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np

from fuzzymil import Bags, MIANFISClassifier, MIANFISRegressor, RunOptions
from fuzzymil.bags import BagStream
from fuzzymil.datasets import make_two_concepts
from fuzzymil.learn.train import partition, trainer
from fuzzymil.learn.train.distributed import join

DOUBLE = RunOptions(distributed=True, precision="double")
CASES = {
    "steps of 8 bags and Rule Dropout": {"batch_size": 8, "rule_keep_prob": 0.7},
    "several starts, held-out bags": {"n_init": 2, "n_iter_no_change": 20},
}


def numbers_of(model):
    return np.concatenate([model.rules_.centers.ravel(), model.rules_.coefs.ravel()]).tolist()


def sampled(processes, bags):
    """Rules of bags of which only some are looked at to start them."""
    before, partition.SAMPLE_ROWS = partition.SAMPLE_ROWS, 300
    try:
        return MIANFISClassifier(4, max_epochs=0, random_state=0, run=RunOptions(distributed=True)).fit(
            processes.share(bags)
        )
    finally:
        partition.SAMPLE_ROWS = before


def compare(processes):
    """Every way of training, on shares of bags and of a stream's parts, and a regression."""
    bags = make_two_concepts(random_state=0)
    found = {}
    if processes.size > 2:  # what all have in common
        single = MIANFISClassifier(4, max_epochs=30, random_state=0, run=RunOptions(distributed=True)).fit(
            processes.share(bags)
        )
        return {"32 bit": numbers_of(single), "sample": numbers_of(sampled(processes, bags))}
    for name, settings in CASES.items():
        model = MIANFISClassifier(4, max_epochs=8, random_state=0, run=DOUBLE, **settings).fit(processes.share(bags))
        found[name] = numbers_of(model)
    single = MIANFISClassifier(4, max_epochs=30, random_state=0, run=RunOptions(distributed=True)).fit(
        processes.share(bags)
    )
    found["32 bit"] = numbers_of(single)
    found["sample"] = numbers_of(sampled(processes, bags))
    stream = BagStream.from_bags(bags, 9)
    model = MIANFISClassifier(4, max_epochs=8, random_state=0, run=DOUBLE, rule_keep_prob=0.7)
    found["stream"] = numbers_of(model.fit(processes.share(stream)))
    sums = Bags(bags.instances, bags.offsets)
    targets = processes.share(Bags(np.array([instances.sum(axis=0) for instances in bags]), np.arange(bags.n_bags + 1)))
    own = processes.share(sums)
    weights = np.arange(1.0, sums.n_bags + 1)[sums.n_bags - own.n_bags if processes.rank else 0 :][: own.n_bags]
    regressor = MIANFISRegressor(3, max_epochs=8, random_state=0, run=DOUBLE)
    found["regression with weights"] = numbers_of(regressor.fit(own, targets.instances, weights))
    return found


def killed(processes, folder, dies, other=False):
    """Die in the middle of training, or go on from where the one before died."""
    bags = processes.share(make_two_concepts(random_state=0))
    if other and processes.rank == 1:  # two bags of the same label and size are exchanged: only their instances tell
        numbers = np.arange(bags.n_bags)
        alike = np.flatnonzero((bags.labels == bags.labels[0]) & (bags.sizes == bags.sizes[0]))
        numbers[alike[:2]] = alike[1::-1]
        bags = bags[numbers]

    def die(progress):
        if dies and processes.rank == 1 and progress.epoch == 12:
            os.kill(os.getpid(), signal.SIGKILL)

    model = MIANFISClassifier(
        4,
        max_epochs=20,
        random_state=0,
        run=RunOptions(distributed=True, checkpoint=folder / "kept", callbacks=[die]),
    )
    model.fit(bags)
    return numbers_of(model)


def wrong(processes):
    """Bags of one process that cannot be used are an error in all."""
    bags = processes.share(make_two_concepts(random_state=0))
    if processes.rank == 1:
        bags = bags.map_instances(lambda instances: np.where(instances == instances[3, 1], np.nan, instances))
    try:
        MIANFISClassifier(4, missing="error", random_state=0, run=RunOptions(distributed=True)).fit(bags)
    except ValueError as problem:
        return str(problem)


def fails(processes):
    """Raise in the middle of training, in one process."""

    def fail(progress):
        if processes.rank == 1 and progress.epoch == 3:
            raise RuntimeError("no disk")

    model = MIANFISClassifier(4, max_epochs=9, random_state=0, run=RunOptions(distributed=True, callbacks=[fail]))
    model.fit(processes.share(make_two_concepts(random_state=0)))


def main():
    what, folder = sys.argv[1], Path(sys.argv[2])
    processes = join()
    trainer._CHECKPOINT_SECONDS = 0.0
    if what == "compare":
        found = compare(processes)
    elif what == "wrong":
        found = wrong(processes)
    elif what == "fails":
        found = fails(processes)
    else:
        found = killed(processes, folder, dies=what == "dies", other="other" in what)
    (folder / f"{what}-{processes.rank}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
