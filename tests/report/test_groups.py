"""Groups in the cross-validation of a report: bags of one person stay in one fold."""

import numpy as np
import pytest

from fuzzymil import Bags, InputError, RuleClassifier
from fuzzymil.cli import evaluate
from fuzzymil.cli._settings import Task
from fuzzymil.estimators import cross_validate
from fuzzymil.report import Report, _performance


@pytest.fixture(scope="module")
def visits():
    """Bags of 12 people; the value of a bag tells the person."""
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(12), 3)
    bags = Bags.from_list([[[person + 0.1 * x] for x in rng.uniform(size=2)] for person in people], ["x"])
    return Bags(bags.instances, bags.offsets, feature_names=["x"], labels=people % 2), people


def test_no_group_is_divided(visits, monkeypatch):
    bags, people = visits
    seen = []
    cross_validate = _performance.cross_validate
    monkeypatch.setattr(
        _performance,
        "cross_validate",
        lambda *given, cv, **also: seen.extend(cv) or cross_validate(*given, cv=cv, **also),
    )
    model = RuleClassifier(max_conditions=1, random_state=0).fit(bags)
    report = Report.of(model, bags, n_folds=3, groups=people)
    assert len(seen) == 3
    for train, test in seen:
        assert not {*people[train]} & {*people[test]}
    assert report.performance.groups.count == 12
    assert "of one group stay in one fold, 12 groups" in report.to_html()
    with pytest.raises(InputError, match=r"one value per bag \(36\)"):
        Report.of(model, bags, groups=people[:5])


def test_folds_that_lack_a_class_count_where_they_can(visits):
    """Groups may leave a fold without a class: accuracy is measured there, the area under the curve is not."""
    fold = _performance.Fold(np.array([0, 1]), np.array([0, 1]), np.array([-1.0, 1.0]))
    lacking = _performance.Fold(np.array([1, 1]), np.array([0, 1]), np.array([-1.0, 1.0]))
    for folds in ((fold, lacking, fold), (lacking, fold, fold)):
        found = _performance.Performance(_performance.Basis.REFITTED, folds, (0, 1), ("y",))
        assert len(found.measures["Accuracy"]) == 3
        assert len(found.measures["Area under the ROC curve"]) == 2
        assert found.roc_curve().startswith(b"<?xml")


@pytest.mark.parametrize("grouped", [False, True])
def test_folds_are_those_of_evaluate(visits, grouped):
    bags, people = visits
    model = RuleClassifier(max_conditions=1, random_state=0).fit(bags)
    report = Report.of(model, bags, n_folds=3, groups=people if grouped else None)
    folds = evaluate._splits(bags, 3, 1, 0, Task.classification, people if grouped else None)
    for fold, split in zip(report.performance.folds, folds, strict=True):
        np.testing.assert_array_equal(fold.truth, bags.labels[split[1]])
    (expected,) = cross_validate([model], bags, cv=folds)
    for fold, other in zip(report.performance.folds, expected, strict=True):
        np.testing.assert_array_equal(fold.probabilities, other.probabilities)


def test_a_class_of_one_group_cannot_be_tested(visits):
    bags, _ = visits
    model = RuleClassifier(max_conditions=1, random_state=0).fit(bags)
    report = Report.of(model, bags, n_folds=3, groups=np.asarray(bags.labels))
    assert report.reason == "edited"  # or too few
