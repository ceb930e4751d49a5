"""Training with and without Rule Dropout on Elephant, on one split as in the paper and on many."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from fuzzymil import Training
from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.datasets import BENCHMARKS, load_elephant
from fuzzymil.estimators import MIANFISClassifier, PerInstance, network_parameters
from fuzzymil.inference.segments import pack
from fuzzymil.learn.train import Group, Plan, train_groups
from fuzzymil.plots import save_figure
from paper.experiment import Experiment, Options, Results, Unit, described, rounded, seeds_of
from paper.figures import CurvesDisplay, Line
from paper.page import Figure, Section, Table, Text, difference, p_value, verdict
from paper.published import DROPOUT as PRINTED_ERRORS
from paper.published import PRINTED
from paper.statistics import padded, paired_difference

__all__ = ["DROPOUT"]

RULES, KEEP, EPOCHS, TEST_SHARE, COMPONENTS = 15, 0.7, 100, 0.1, 10
FORMS: dict[str, dict[str, Any]] = {
    "without": {"keep_prob": None},
    "Rule Dropout as printed": {"keep_prob": KEEP, "renormalize": False},
    "Rule Dropout, renormalized": {"keep_prob": KEEP, "renormalize": True},
}
WITHOUT, AS_PRINTED, RENORMALIZED = FORMS
_ADAM: dict[str, Any] = {"max_epochs": 0, "clip": None, "rule_keep_prob": None}


def _regimes() -> dict[str, tuple[MIANFISClassifier, dict[str, Any], float]]:
    """Return by name: the estimator that makes the initial rules, the training options, and the learning rate."""
    literal = MIANFISClassifier.paper(RULES, PRINTED["elephant"].width, max_epochs=0)
    online = {"optimizer": "sgd", "batch_size": 1, "width_scale": "direct"}
    return {
        "the paper's settings": (literal, online, 0.1),
        "the library's training": (
            MIANFISClassifier(RULES, **network_parameters(**_ADAM)),
            {"optimizer": "adam"},
            0.03,
        ),
    }


def curves_of_split(bags: Bags, seed: int, regime: str) -> dict[str, dict[str, Array]]:
    """Train with every form of dropout on one split: mean squared errors ``train`` and ``test`` (n_epochs,) by form.

    PCA, scaling and the initial rules come from the training bags only. Each fit runs twice, side by side; the two runs
    differ only in the error measured after each epoch: that of the test bags, or that of the training bags, both
    without dropout.
    """
    labels = np.asarray(bags.labels)
    inside, outside = train_test_split(np.arange(len(bags)), test_size=TEST_SHARE, stratify=labels, random_state=seed)
    prepare = PerInstance(PCA(COMPONENTS, svd_solver="full")).fit(bags[inside])
    reduced = prepare.transform(bags)
    estimator, training, rate = _regimes()[regime]
    own = estimator.training or Training()
    if own.standardize:
        rows = reduced[inside].instances
        mean, deviation = rows.mean(axis=0), rows.std(axis=0)
        reduced = reduced.map_instances(lambda x: (x - mean) / deviation)
    estimator = estimator.set_params(random_state=seed).fit(reduced[inside], labels[inside])
    start, masks, operators = estimator.initial_rules_.compile()
    operators = dataclasses.replace(operators, update_rule=own.update_rule)
    packed = pack(reduced.instances, reduced.offsets, np.float32)
    weights, held = np.zeros((2, len(bags))), np.zeros((2, len(bags)))
    weights[:, inside] = 1
    held[0, outside] = 1
    held[1, inside] = 1
    curves = {}
    for form, dropout in FORMS.items():
        group = Group(
            starts=[start, start],
            masks=[{name: np.asarray(mask) for name, mask in masks.items()}] * 2,
            bags=packed,
            targets=labels[:, None].astype(float),
            weights=weights,
            seeds=[seed, seed],
            held_out=held,
        )
        plan = Plan(operators, validate=True, **training, **dropout)
        (result,) = train_groups([group], plan, learning_rate=rate, max_epochs=EPOCHS, n_iter_no_change=EPOCHS + 1)
        test, trained = padded([history["validation_loss"] for history in result.history], EPOCHS)
        curves[form] = {"train": trained, "test": test}
    return curves


def _seeds(options: Options) -> list[int]:
    return seeds_of(3 if options.quick else 50, options.seed, "dropout")


def _check(options: Options) -> None:
    load_elephant(options.data)


def _units(options: Options) -> list[Unit]:
    bags = load_elephant(options.data)
    units = []
    for regime, (estimator, training, rate) in _regimes().items():
        for number, seed in enumerate(_seeds(options)):

            def work(seed: int = seed, regime: str = regime) -> Results:
                curves = curves_of_split(bags, seed, regime)
                return {form: {name: rounded(y) for name, y in both.items()} for form, both in curves.items()}

            settings = {
                "experiment": "dropout",
                "seed": seed,
                "estimator": described(estimator),
                "training": training,
                "rate": rate,
                "forms": FORMS,
                "epochs": EPOCHS,
                "components": COMPONENTS,
                "test_share": TEST_SHARE,
                "data": BENCHMARKS["elephant"].content_checksum,
            }
            units.append(Unit(f"{regime}, split {number + 1}", settings, 0.8, work))
    return units


def _collect(options: Options, parts: list[Results]) -> Results:
    seeds = _seeds(options)
    regimes: Results = {}
    for place, regime in enumerate(_regimes()):
        own = parts[place * len(seeds) : (place + 1) * len(seeds)]
        curves = {form: {which: [part[form][which] for part in own] for which in ("train", "test")} for form in FORMS}
        ends = {form: np.array([curve[-1] for curve in curves[form]["test"]], float) for form in FORMS}
        regimes[regime] = {
            "curves": curves,
            "end": {form: float(np.nanmean(values)) for form, values in ends.items()},
            "least": {
                form: float(np.nanmean(np.nanmin(np.array(curves[form]["test"], float), axis=1))) for form in FORMS
            },
            "diverged": {form: int(np.isnan(values).sum()) for form, values in ends.items()},
            "against_without": {
                form: dataclasses.asdict(_compared(ends[form], ends[WITHOUT])) for form in (AS_PRINTED, RENORMALIZED)
            },
        }
    settings = {
        "set": "elephant",
        "n_rules": RULES,
        "keep_prob": KEEP,
        "epochs": EPOCHS,
        "test_share": TEST_SHARE,
        "components": COMPONENTS,
        "splits": len(seeds),
    }
    return {"settings": {**settings, "seeds": seeds}, "regimes": regimes}


def _compared(one: Array, other: Array) -> Any:
    both = np.isfinite(one) & np.isfinite(other)
    return paired_difference(one[both], other[both])


def _draw(results: Results, folder: Path) -> None:
    n_splits = results["settings"]["splits"]
    for stem, only, title in (
        ("one_split", 1, "Rule Dropout on one split"),
        ("many_splits", None, f"Rule Dropout over {n_splits} splits"),
    ):
        panels = {}
        for regime, found in results["regimes"].items():
            for which, words in (("train", "training bags"), ("test", "test bags")):
                panels[f"{words}: {regime}"] = [
                    Line.mean_of(form, np.array(found["curves"][form][which][:only], float)) for form in FORMS
                ]
        note = "" if only else "mean over splits; bands: interquartile range"
        save_figure(CurvesDisplay(panels, "mean squared error", note, columns=2).plot(title), folder / f"{stem}.png")


def _section(results: Results) -> Section:
    settings, regimes = results["settings"], results["regimes"]
    rows = []
    for regime, found in regimes.items():
        for form in FORMS:
            test = found["against_without"].get(form)
            rows.append(
                [
                    f"{regime}: {form}",
                    f"{found['end'][form]:.4f}",
                    f"{found['least'][form]:.4f}",
                    difference(test, digits=4),
                    "" if test is None else p_value(test["p"]),
                ]
            )
    printed = [
        ["printed, one split: without", f"{PRINTED_ERRORS['without']:.4f}", "", "", ""],
        [
            "printed, one split: with",
            f"{PRINTED_ERRORS['with']:.4f}",
            "",
            f"{PRINTED_ERRORS['with'] - PRINTED_ERRORS['without']:+.4f}",
            "",
        ],
    ]
    return Section(
        "dropout",
        "Rule Dropout",
        [
            Text(
                f"Elephant, reduced to {settings['components']} features by a PCA on the training bags; "
                f"{settings['n_rules']} rules, keep probability {settings['keep_prob']:g}, {settings['epochs']} "
                f"epochs, 90% of the bags for training; {settings['splits']} random splits. Once with the paper's "
                "settings for Elephant (raw units, widths of 10, on-line training, the printed update) and once with "
                "this library's training (standardized features, Adam, full batch, the exact gradient). All errors are "
                "measured after an epoch, without dropout."
            ),
            Table(
                f"Test error (MSE) after training, mean over {settings['splits']} splits",
                ["training", "last epoch", "best epoch", "difference from without (95% interval)", "p (Wilcoxon)"],
                [*rows, *printed],
                "“Best epoch” is chosen on the test bags, so it is not an attainable result; it shows the loss from "
                "overtraining. Splits overlap, so intervals and p-values are somewhat too small.",
                frozenset(row[0] for row in printed),
            ),
            *[Text(_finding(regime, found), finding=True) for regime, found in regimes.items()],
            Figure("one_split", "Training and test error by epoch on the first split, as in the paper's figure."),
            Figure("many_splits", "Training and test error by epoch over all splits."),
        ],
    )


def _finding(regime: str, found: Results) -> str:
    words = []
    for form, test in found["against_without"].items():
        clear = verdict(test) if test["p"] < 0.05 else 0
        change = {1: "higher", 0: "not clearly different", -1: "lower"}[clear]
        words.append(f"{form}: {change} ({test['mean']:+.4f}, {p_value(test['p'], name='p')}, n = {test['n']})")
    excess = found["end"][WITHOUT] - found["least"][WITHOUT]
    broken = {form: n for form, n in found["diverged"].items() if n}
    tail = f" Diverged: {', '.join(f'{form} {n}' for form, n in broken.items())}." if broken else ""
    return (
        f"Final test error with {regime}, compared with training without dropout: {'; '.join(words)}. Without "
        f"dropout, the final test error is {excess:.4f} above that of the best epoch.{tail}"
    )


DROPOUT = Experiment("dropout", _units, _collect, _draw, _section, _check)
