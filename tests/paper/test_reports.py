"""Statistics against SciPy and hand-computed values; small runs of each experiment; the command line."""

import json

import jax
import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from fuzzymil._utils.statistics import corrected_t_test
from paper import convergence, dropout, experiment, synthetic
from paper.benchmarks import GRID, compared, draw, section
from paper.experiment import Options
from paper.page import Table, render
from paper.published import DIFFERENCES
from paper.run import reproduce
from paper.statistics import paired_difference, quartiles, spread


def test_spread_by_hand():
    found = spread([[0.5, 0.7], [0.8, 0.8]])
    assert found.mean == pytest.approx(0.7)
    assert found.over_repeats == pytest.approx(0.2 / np.sqrt(2))  # of 0.6 and 0.8
    assert found.over_folds == pytest.approx(np.sqrt((0.04 + 0 + 0.01 + 0.01) / 3))
    assert spread([[0.5, 0.7]]).over_repeats is None


def test_corrected_t_test():
    rng = np.random.RandomState(0)
    differences = rng.normal(0.5, 1, size=50)
    plain = stats.ttest_1samp(differences, 0)
    uncorrected = corrected_t_test(differences, 0.0)
    assert uncorrected.p == pytest.approx(plain.pvalue)
    assert (uncorrected.low, uncorrected.high) == pytest.approx(tuple(plain.confidence_interval(0.95)))
    corrected = corrected_t_test(differences, 1 / 9)
    t = differences.mean() / np.sqrt((1 / 50 + 1 / 9) * differences.var(ddof=1))
    assert corrected.p == pytest.approx(2 * stats.t.sf(abs(t), 49))
    assert corrected.p > uncorrected.p
    assert corrected.n == 50
    assert corrected_t_test([0.0, 0.0], 1 / 9).p == 1.0
    assert corrected_t_test([1.0, 1.0], 1 / 9).p == 0.0


def test_paired_difference():
    rng = np.random.RandomState(1)
    one, other = rng.normal(size=(2, 30))
    found = paired_difference(one, other)
    assert found.p == pytest.approx(stats.wilcoxon(one - other).pvalue)
    interval = stats.ttest_rel(one, other).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert quartiles([4, 1, 3, 2, 5]) == (2.0, 3.0, 4.0)


# ---------------------------------------------------------------------- small runs


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The two experiments that need no data, as small as they go."""
    patch = pytest.MonkeyPatch()
    patch.setattr(synthetic, "_seeds", lambda options: [1, 2])
    patch.setattr(convergence, "_starts", lambda options: [1, 2, 3])
    patch.setattr(convergence, "EPOCHS", 5)
    kept = ("on-line, rate 0.01", "batch, Adam")  # every further way is one more program to compile
    patch.setattr(convergence, "MODES", {mode: convergence.MODES[mode] for mode in kept})
    patch.setattr(synthetic, "RESTARTS", (1,))
    folder = tmp_path_factory.mktemp("small")
    found = reproduce(["synthetic", "convergence"], folder, Options(quick=True), Console(quiet=True))
    yield folder, found
    patch.undo()


@pytest.mark.slow
def test_files_and_page(small):
    folder, found = small
    for name, stems in {
        "synthetic": ("data", "membership", "rules", "rmse"),
        "convergence": ("final_mse", "rmse"),
    }.items():
        for stem in stems:
            assert (folder / name / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
            assert (folder / name / f"{stem}.svg").exists()
        stored = json.loads((folder / name / "results.json").read_text(encoding="utf-8"))
        assert stored["seed"] == experiment.REPORTED_SEED
        assert stored["versions"]["jax"] == jax.__version__
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml;base64,") == 6
    assert 'src="http' not in page
    assert 'href="http' not in page
    assert '<meta name="viewport"' in page
    assert 'id="differences"' in page
    assert found["synthetic"]["columns"][0]["alpha"] == 1.0


@pytest.mark.slow
def test_a_second_run_gives_the_same_files(small):
    folder, _ = small
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "parts" not in path.parts}
    reproduce(["synthetic", "convergence"], folder, Options(quick=True), Console(quiet=True))
    for path, content in before.items():
        assert path.read_bytes() == content, path


@pytest.mark.slow
def test_sentences_follow_the_numbers(small):
    _, found = small
    words = convergence._findings(found["convergence"])
    assert len(words) == len(convergence.MODES) + 1
    ways = {name: {**way, "converged_share": 0.25, "mse_quartiles": [0.1, 0.2, 0.3]}
            for name, way in found["convergence"]["ways"].items()}  # fmt: skip
    ways["batch, Adam, printed update"]["converged_share"] = 0.75
    words = convergence._findings({"ways": ways})
    assert "batch, Adam, printed update" in words[-1]
    assert "75%" in words[-1]


def test_dropout_section():
    rng = np.random.RandomState(0)
    parts = [
        {form: {which: (0.2 + 0.01 * rng.uniform(size=dropout.EPOCHS) - 0.05 * (form != dropout.WITHOUT)).tolist()
                for which in ("train", "test")} for form in dropout.FORMS}
        for _ in range(100)
    ]  # fmt: skip
    found = dropout._collect(Options(), parts)
    regime = found["regimes"]["the paper's settings"]
    assert regime["against_without"][dropout.AS_PRINTED]["mean"] == pytest.approx(-0.05, abs=0.01)
    text = " ".join(block.words for block in dropout._section(found).blocks if getattr(block, "finding", False))
    assert "lower" in text
    assert "higher" not in text


@pytest.mark.slow
def test_dropout_measures_test_bags_without_learning_from_them(monkeypatch):
    rng = np.random.RandomState(0)
    from fuzzymil import Bags

    bags = Bags.from_list([rng.normal(size=(3, 12)) + 2 * (n % 2) for n in range(40)], labels=np.arange(40) % 2)
    monkeypatch.setattr(dropout, "EPOCHS", 20)
    curves = dropout.curves_of_split(bags, 0, "the library's training")
    assert set(curves) == set(dropout.FORMS)
    assert all(len(curve) == 20 for both in curves.values() for curve in both.values())
    plain = curves[dropout.WITHOUT]
    assert plain["train"][-1] < plain["train"][0]


def made_up_benchmarks():
    def entry(column, method, level):
        accuracy = np.full((2, 10), level) + np.linspace(-0.02, 0.02, 10)
        found = {"accuracy": accuracy.tolist(), "auc": (accuracy + 0.05).tolist(), "stopped": 0}
        found["sizes"] = (
            {"n_rules": 3.0, "n_conditions": 4.5} if column == "default" else {"n_rules": 10, "n_conditions": 90}
        )
        if column not in ("default", "committee"):  # rules that are selected have no such curve
            found["rmse"] = [[0.5, 0.4]] * 2
        if method == "naive":
            found |= {"accuracy_mean_pool": (accuracy + 0.2).tolist(), "auc_mean_pool": accuracy.tolist()}
        if column == "tuned":
            found["chosen"] = [{"settings": GRID[0], "folds": 20}]
        return found

    own = {
        column: {method: entry(column, method, level) for method, level in levels.items()}
        for column, levels in {
            "default": {"mi": 0.9}, "committee": {"mi": 0.91}, "normalized": {"mi": 0.87, "naive": 0.8},
            "short": {"mi": 0.9}, "tuned": {"mi": 0.9, "naive": 0.8}, "paper": {"mi": 0.6, "naive": 0.5},
        }.items()
    }  # fmt: skip
    settings = {"n_folds": 10, "n_repeats": 2, "seeds": [1, 2], "members": 10, "short": 2, "grid": list(GRID)}
    settings["grid_sizes"] = {"musk1": 3, "fox": 2}
    return {"settings": settings, "sets": {"musk1": own, "fox": own}}


def test_benchmark_report(tmp_path):
    results = made_up_benchmarks()
    draw(results, tmp_path)
    assert (tmp_path / "accuracy.svg").exists()
    report = section(results)
    tables = [block for block in report.blocks if isinstance(block, Table)]
    first = tables[0]
    assert first.columns == ["method", "MUSK 1", "Fox", "mean", "rules", "conditions"]
    assert first.rows[0] == ["MI-ANFIS, printed in the paper", "93.5 ± 0.8", "66.4 ± 2.8", "", "", ""]
    assert ["RuleClassifier", "90.0 ± 0.0", "90.0 ± 0.0", "90.0 ± 0.0", "3", "4"] in [list(r) for r in first.rows]
    areas = next(table for table in tables if table.title.startswith("Area"))
    assert areas.rows[0][:2] == ["RuleClassifier", "95.0 ± 0.0"]
    sizes = next(table for table in tables if "conditions of a model" in table.title)
    assert sizes.rows[0] == ["RuleClassifier", "3.0 / 4.5", "3.0 / 4.5"]
    naive = ("normalized", "naive")
    assert compared(results, "musk1", ("default", "mi"), naive).mean == pytest.approx(10)
    assert compared(results, "musk1", ("default", "mi"), naive, "auc", "_mean_pool").mean == pytest.approx(15)
    findings = [block.words for block in report.blocks if getattr(block, "finding", False)]
    assert "90.0 / 95.0 (3 rules, 4 conditions)" in findings[0]
    assert "MI-ANFIS: accuracy: MUSK 1 better (+3.0" in findings[2]
    assert "at most 2 conditions: accuracy: MUSK 1 no clear difference (+0.0" in findings[3]
    assert "maximum pooling: accuracy: MUSK 1 better (+10.0" in findings[4]
    assert "mean pooling: accuracy: MUSK 1 worse (-10.0" in findings[5]
    assert "| RuleClassifier | 90.0 ± 0.0; 95.0 ± 0.0 |" in (tmp_path / "tables.md").read_text("utf-8")
    page = render([(report, tmp_path, {"Seed": "1"})], {})
    assert "93.5 ± 0.8" in page
    assert "3 settings (2 on Fox" in page
    assert all(d.why.split()[0] in page for d in DIFFERENCES if "benchmarks" in d.experiments)
