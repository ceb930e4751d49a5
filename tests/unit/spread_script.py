"""Started by test_distributed.py in several processes: `python spread_script.py WHAT FOLDER`."""

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np

from fuzzymil import Bags, MIANFISClassifier, MIANFISRegressor, distributed
from fuzzymil.datasets import make_two_concepts
from fuzzymil.streams import BagStream

CASES = {
    "steps of 8 bags and Rule Dropout": {"batch_size": 8, "rule_keep_prob": 0.7},
    "several starts, held-out bags": {"n_restarts": 2, "early_stopping": True},
}


def numbers_of(model):
    return np.concatenate([model.rules_.centers.ravel(), model.rules_.coefs.ravel()]).tolist()


def compare(crew):
    """Every way of training, on shares of bags and of a stream's parts, and a regression."""
    bags = make_two_concepts(random_state=0)
    found = {}
    if crew.size > 2:  # what all have in common
        single = MIANFISClassifier(4, max_epochs=30, random_state=0, distributed=True).fit(crew.share(bags))
        return {"32 bit": numbers_of(single)}
    for name, settings in CASES.items():
        model = MIANFISClassifier(
            4, max_epochs=8, random_state=0, distributed=True, precision="double", **settings
        ).fit(crew.share(bags))
        found[name] = numbers_of(model)
    single = MIANFISClassifier(4, max_epochs=30, random_state=0, distributed=True).fit(crew.share(bags))
    found["32 bit"] = numbers_of(single)
    stream = BagStream.from_bags(bags, 9)
    model = MIANFISClassifier(4, max_epochs=8, random_state=0, distributed=True, precision="double")
    found["stream"] = numbers_of(model.fit(crew.share(stream)))
    sums = Bags(bags.instances, bags.offsets, labels=[instances.sum() for instances in bags])
    own = crew.share(sums)
    weights = np.arange(1.0, sums.n_bags + 1)[sums.n_bags - own.n_bags if crew.rank else 0 :][: own.n_bags]
    regressor = MIANFISRegressor(3, max_epochs=8, random_state=0, distributed=True, precision="double")
    found["regression with weights"] = numbers_of(regressor.fit(own, sample_weight=weights))
    return found


def killed(crew, folder, dies):
    """Die in the middle of training, or go on from where the one before died."""

    def die(progress):
        if dies and crew.rank == 1 and progress.epoch == 12:
            os.kill(os.getpid(), signal.SIGKILL)

    model = MIANFISClassifier(
        4,
        max_epochs=20,
        random_state=0,
        distributed=True,
        checkpoint=folder / "kept",
        callbacks=[die],
    )
    model.fit(crew.share(make_two_concepts(random_state=0)))
    return numbers_of(model)


def wrong(crew):
    """Bags of one process that cannot be used are an error in all."""
    bags = crew.share(make_two_concepts(random_state=0))
    if crew.rank == 1:
        bags = bags.map_instances(lambda instances: np.where(instances == instances[3, 1], np.nan, instances))
    try:
        MIANFISClassifier(4, random_state=0, distributed=True).fit(bags)
    except ValueError as problem:
        return str(problem)


def main():
    what, folder = sys.argv[1], Path(sys.argv[2])
    crew = distributed.join()
    import fuzzymil.wide

    fuzzymil.wide._KEEP_SECONDS = 0.0
    if what == "compare":
        found = compare(crew)
    elif what == "wrong":
        found = wrong(crew)
    else:
        found = killed(crew, folder, dies=what == "dies")
    (folder / f"{what}-{crew.rank}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
