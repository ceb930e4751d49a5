"""A comparator written in one place is known everywhere: registry, command line, table of methods."""

from dataclasses import dataclass

import numpy as np
import pytest
from typer.testing import CliRunner

from fuzzymil.cli import app
from fuzzymil.comparators import COMPARATORS, BagClassifier, comparator
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators.parameters import checked, integer
from paper.table import OWN, contestants


@pytest.fixture
def nearest_mean():
    """Register a comparator as a new module would, for one test."""
    before = dict(COMPARATORS)

    @comparator("Nearest mean", search_grid={"power": [1, 2]}, fit_seconds=0.01)
    @dataclass(eq=False, repr=False)
    class NearestMean(BagClassifier):
        power: int = checked(integer(1), 2)

        def _means(self, bags):
            return np.array([bag.mean(axis=0) for bag in bags])

        def _learn(self, bags, positive):
            means = self._means(bags)
            self.centers_ = np.array([means[~positive].mean(axis=0), means[positive].mean(axis=0)])

        def _decide(self, bags):
            apart = np.abs(self._means(bags)[:, None] - self.centers_) ** self.power
            return apart.sum(axis=2) @ [1.0, -1.0]

    yield NearestMean
    for name in set(COMPARATORS) - set(before):
        del COMPARATORS[name]


def test_a_new_comparator_is_known_everywhere(nearest_mean):
    assert COMPARATORS["NearestMean"] is nearest_mean
    entry = contestants()["Nearest mean"]
    assert isinstance(entry.estimator, nearest_mean)
    assert entry.grid == {"power": [1, 2]}


def test_a_new_comparator_is_fitted_and_its_parameters_are_checked(nearest_mean):
    bags = make_two_concepts(random_state=0)
    assert set(nearest_mean().fit(bags).predict(bags)) == {0, 1}
    with pytest.raises(ValueError, match=r"power .*at least 1.* 0"):
        nearest_mean(power=0).fit(bags)


@pytest.mark.slow
def test_the_command_line_compares_with_a_new_comparator(nearest_mean, tmp_path):
    bags = make_two_concepts(10, 10, random_state=0)
    rows = zip(bags.bag_index, np.asarray(bags.labels)[bags.bag_index], bags.instances, strict=True)
    lines = ["bag,label,x1,x2", *(f"{bag},{label},{x[0]},{x[1]}" for bag, label, x in rows)]
    (tmp_path / "bags.csv").write_text("\n".join(lines) + "\n", "utf-8")
    options = ["--bag", "bag", "--label", "label", "--folds", "2", "--n-rules", "2"]
    run = CliRunner().invoke(
        app, ["evaluate", str(tmp_path / "bags.csv"), *options, "--compare", "NearestMean", "--json"]
    )
    assert run.exit_code == 0, run.output
    assert "NearestMean" in run.stdout


def test_the_table_has_every_comparator_once():
    names = [type(entry.estimator).__name__ for entry in contestants().values()]
    assert {name: names.count(name) for name in COMPARATORS} == dict.fromkeys(COMPARATORS, 1)
    assert next(iter(contestants())) == OWN
