"""Scikit-learn's searches run on a Dask cluster with one line."""

import os

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from fuzzymil import MIANFISClassifier
from fuzzymil.datasets import make_two_concepts

distributed = pytest.importorskip("distributed", reason='needs Dask: pip install "fuzzymil[dask]"')


@pytest.fixture(scope="module")
def cluster():
    """Two processes, as on two machines: what they are sent has to be pickled."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as found,
        distributed.Client(found),
    ):
        yield found


@pytest.mark.slow
def test_a_search_on_a_cluster_finds_what_it_finds_here(cluster):
    bags = make_two_concepts(18, 18, random_state=0)
    search = GridSearchCV(
        MIANFISClassifier(3, max_epochs=2, random_state=0),
        {"alpha": [0, 5]},
        cv=StratifiedKFold(2, shuffle=True, random_state=0),
        scoring={"loss": "neg_log_loss", "process": lambda model, X, y: os.getpid()},
        refit=False,
    )
    here = search.fit(bags, bags.labels).cv_results_
    with joblib.parallel_config("dask"):
        there = search.fit(bags, bags.labels).cv_results_
    for fold in ("split0", "split1"):
        np.testing.assert_allclose(there[f"{fold}_test_loss"], here[f"{fold}_test_loss"], rtol=1e-6)
        assert (here[f"{fold}_test_process"] == os.getpid()).all()
        assert (there[f"{fold}_test_process"] != os.getpid()).all()
