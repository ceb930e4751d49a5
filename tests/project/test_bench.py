"""The bench: its arithmetic and its way of measuring. What it measures is no matter of tests."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(autouse=True)
def _on_the_path(monkeypatch):
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    yield
    for name in set(sys.modules) - before:
        if str(BENCH) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_exponent_is_that_of_the_upper_decades():
    from tables import exponent

    sizes = [1e3, 1e4, 1e5, 1e6, 1e7]
    flat_then_square = [1.0, 1.0, 1.0, 1e2, 1e4]
    assert exponent(sizes, flat_then_square) == pytest.approx(2.0)
    assert exponent([2, 16, 256], [1.0, 8.0, 128.0]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("figure", "bar", "verdict"),
    [(20.0, ">= 20", "reached"), (19.9, ">= 20", "missed"), (1.3, "<= 1.3", "reached"), (1.31, "<= 1.3", "missed")],
)
def test_verdicts(figure, bar, verdict):
    from tables import Row, bars

    row = Row("row", 1.0, figure=figure, bar=bar)
    assert row.verdict == verdict
    reached, missed = bars({"section": [row, Row("no bar", 1.0), Row("absent", bar=">= 20")]})
    assert (reached or missed) == [row]
    assert bool(reached) == (verdict == "reached")


def test_rows_come_back_from_json():
    import dataclasses

    from tables import Row, from_dict

    row = Row("row", 0.5, "s", 2.0, ">= 20", "note", "series", 10.0, (0.4, 0.6))
    assert from_dict(json.loads(json.dumps(dataclasses.asdict(row)))) == row


def test_tables_leave_out_what_nothing_fills():
    from tables import Row, markdown

    lines = markdown([Row("one | two", 0.00123), Row("absent", note="not installed: no")]).splitlines()
    assert lines == [
        "|  | measured | what was run |",
        "| --- | ---: | --- |",
        "| one \\| two | 1.23 ms |  |",
        "| absent |  | not installed: no |",
    ]


@pytest.mark.parametrize("name", ["MUSK1", "MUSK2"])
def test_skewed_sizes_are_the_benchmarks(name):
    import samples

    wanted = getattr(samples, name)
    sizes = samples.skewed_sizes(**wanted)
    assert len(sizes) == wanted["n_bags"]
    assert sizes.sum() == wanted["n_instances"]
    assert sizes.min() == wanted["least"]
    assert abs(sizes.max() - wanted["greatest"]) <= 1
    assert np.median(sizes) < sizes.mean()


def test_epochs_are_timed_without_what_comes_before(monkeypatch):
    from contestants import timing

    clock = [0.0]

    def fit(epochs):
        clock[0] += 5.0 + 0.01 * epochs  # the start costs far more than an epoch

    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock[0])
    turn = timing.epoch_timer(fit)
    turn()
    assert turn() == pytest.approx(0.01)


class Fitted(Exception):
    """Raised instead of fitting, with the estimator."""


def whole_fit():
    from contestants import ours

    ours.whole_fit(n_bags=4, n_features=2, n_rules=2, epochs=50)


def folds():
    from contestants import ours

    ours.folds(n_repeats=1, n_rules=2, epochs=150)


def on_line():
    from contestants import ours

    ours.on_line(2)


def large():
    from contestants import ours

    ours.epochs_at([{"n_instances": 40, "n_features": 2, "n_rules": 2}])


def memory():
    from contestants import footprint

    footprint.fit(n_instances=40, n_features=2, n_rules=2)["peak"]()


def stream():
    from contestants import footprint

    footprint.stream(gigabytes=0.0, n_features=2, n_rules=2)["peak"]()


def latency():
    from questions import latency

    exec(latency.SCRIPT, {})


def concepts():
    from questions import common, concepts

    concepts.measure(common.Effort(True, print))


@pytest.mark.parametrize(
    "contestant",
    [whole_fit, folds, on_line, large, memory, stream, latency, concepts],
    ids=lambda f: f.__name__,
)
def test_contestants_train_networks(contestant, monkeypatch):
    """Rules that are chosen, as by default, take no epochs; whatever number of them is asked for."""
    from contestants import footprint, ours

    import fuzzymil
    from fuzzymil.estimators import trains_together

    def fit(estimator, *_):
        raise Fitted(estimator)

    monkeypatch.setattr(fuzzymil.MIANFISClassifier, "fit", fit)
    monkeypatch.setattr(ours, "fit_together", lambda estimators, *_: fit(estimators[0]))
    monkeypatch.setattr(footprint, "_warm_up", lambda: None)
    with pytest.raises(Fitted) as caught:
        contestant()
    (estimator,) = caught.value.args
    assert trains_together(estimator.set_params(training__max_epochs=fuzzymil.Training.max_epochs))


def test_contestants_take_turns_and_say_why_they_cannot(tmp_path, monkeypatch):
    import racing

    (tmp_path / "worker.py").write_text((BENCH / "worker.py").read_text("utf-8"), "utf-8")
    folder = tmp_path / "contestants"
    folder.mkdir()
    (folder / "__init__.py").write_text("", "utf-8")
    (folder / "made_up.py").write_text(
        "import itertools\n"
        "def counts(start):\n"
        "    print('libraries print what they like')\n"
        "    numbers = itertools.count(start)\n"
        "    return {'task': lambda: next(numbers)}\n"
        "def missing():\n"
        "    import no_such_package\n"
        "def failing():\n"
        "    return {'task': lambda: 1 / 0}\n",
        "utf-8",
    )
    monkeypatch.setattr(racing, "HERE", tmp_path)
    contestants = [
        racing.Contestant("counts", "made_up:counts", {"start": 10}),
        racing.Contestant("missing", "made_up:missing"),
        racing.Contestant("failing", "made_up:failing"),
    ]
    times = racing.race(contestants, rounds=3)
    assert times["counts", "task"].values == (11, 12, 13)  # the first turn warms up
    assert times["counts", "task"].median == 12
    assert times["missing", ""].absent == "not installed: No module named 'no_such_package'"
    assert times["failing", "task"].absent == "ZeroDivisionError: division by zero"
    assert racing.race(contestants[:1], rounds=1, warm_up=False)["counts", "task"].values == (10,)
