"""Scikit-learn's searches run on Dask and Ray clusters with one line, and outlive a worker."""

import contextlib
import os
import signal
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from fuzzymil import Bags, BagStream, MIANFISClassifier, RuleClassifier, Training
from fuzzymil.datasets import make_two_concepts
from fuzzymil.learn.choose import streams

N_WORKERS = 3  # as on three machines: what they are sent has to be pickled
RESTARTED = {"max_restarts": 3, "max_task_retries": 3}  # Ray gives up otherwise


@contextlib.contextmanager
def dask():
    distributed = pytest.importorskip("distributed", reason='needs Dask: pip install "fuzzymil[dask]"')
    settings = {"n_workers": N_WORKERS, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster), joblib.parallel_config("dask"):
        yield


@contextlib.contextmanager
def ray():
    found = pytest.importorskip("ray", reason='needs Ray: pip install "fuzzymil[ray]"')
    from ray.util.joblib import register_ray

    found.init(num_cpus=N_WORKERS, include_dashboard=False, log_to_driver=False)
    try:
        register_ray()
        with joblib.parallel_config("ray", n_jobs=-1, ray_remote_args=RESTARTED):
            yield
    finally:
        found.shutdown()


def process_of(model, X, y, *, killed):
    """Return the process that scores; the first one that does is killed before it can answer."""
    if killed is not None:
        with contextlib.suppress(FileExistsError):
            killed.touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def searched(killed: Path | None = None):
    bags = make_two_concepts(18, 18, random_state=0)
    search = GridSearchCV(
        MIANFISClassifier(3, training=Training(max_epochs=2), random_state=0),
        {"alpha": [0, 5]},
        cv=StratifiedKFold(2, shuffle=True, random_state=0),
        scoring={"loss": "neg_log_loss", "process": partial(process_of, killed=killed)},
        refit=False,
    )
    return search.fit(bags, bags.labels).cv_results_


@pytest.fixture(scope="module")
def here():
    return searched()


def part_of(number, *, killed=None):
    """Return bags; the first process that loads the last part is killed."""
    if killed is not None and number == 5:
        with contextlib.suppress(FileExistsError):
            killed.touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
    bags = make_two_concepts(18, 18, random_state=number)
    return Bags(bags.instances, bags.offsets, labels=bags.labels)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning:distributed")
def test_rules_of_a_stream_are_the_same_on_a_cluster_whose_worker_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "_MOST_ROWS", 300)  # so that all bags conclude, not the sample alone
    here = RuleClassifier(max_rules=3, random_state=0).fit(BagStream(part_of, 6))
    assert here.n_bags_compared_[0] < here.n_bags_compared_[1] == 324
    killed = tmp_path / "killed"
    with dask():
        there = RuleClassifier(max_rules=3, random_state=0).fit(BagStream(partial(part_of, killed=killed), 6))
    assert killed.exists()
    assert there.rules_ == here.rules_
    assert there.frontier_.table() == here.frontier_.table()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:os.fork", "ignore::pytest.PytestUnraisableExceptionWarning")  # Ray starts a server
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("kill", [False, True], ids=["all workers live", "a worker is killed"])
@pytest.mark.parametrize("cluster", [dask, ray], ids=lambda cluster: cluster.__name__)
def test_a_search_on_a_cluster_finds_what_it_finds_here(cluster, kill, here, tmp_path):
    killed = tmp_path / "killed" if kill else None
    with cluster():
        there = searched(killed)
    assert killed is None or killed.exists()
    for fold in ("split0", "split1"):
        np.testing.assert_allclose(there[f"{fold}_test_loss"], here[f"{fold}_test_loss"], rtol=1e-6)
        assert (here[f"{fold}_test_process"] == os.getpid()).all()
        assert (there[f"{fold}_test_process"] != os.getpid()).all()
