"""How many processes share the fits of a command."""

import numpy as np
import pytest
from scipy import sparse

from fuzzymil import Bags
from fuzzymil._utils import processes
from fuzzymil.cli import evaluate
from fuzzymil.cli.evaluate import helped_fits

SMALL = Bags.from_list([[[0.0]], [[1.0]]])


@pytest.fixture
def started(monkeypatch):
    """How many processes were asked for."""
    found = []
    monkeypatch.setattr(processes, "helped", found.append)
    monkeypatch.setattr(evaluate, "granted_cores", lambda: 4)
    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    return found


@pytest.mark.parametrize(
    ("n_fits", "jobs", "n_helpers"), [(10, None, 2), (2, None, 1), (10, 1, 0), (10, 8, 7), (1, 4, 0)]
)
def test_this_process_is_one_of_them(started, n_fits, jobs, n_helpers):
    helped_fits(n_fits, SMALL, jobs)
    assert started == [n_helpers]


def test_large_bags_are_not_copied(started, monkeypatch):
    monkeypatch.setattr(evaluate, "_LARGE", 100)
    with helped_fits(10, Bags.from_list([np.zeros((20, 1))])):
        assert started == []
    helped_fits(10, Bags(sparse.csr_array(np.eye(5)), [0, 2, 5]))
    assert started == [2]
