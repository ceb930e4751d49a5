"""The demonstration: learn the paper's two concepts and show the rules that were found."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from fuzzymil._utils import storage
from fuzzymil._utils.arrays import Array
from fuzzymil._version import __version__
from fuzzymil.bags import Bags
from fuzzymil.datasets import CONCEPTS, make_two_concepts
from fuzzymil.estimators import MIANFISClassifier, Variant
from fuzzymil.plots import MembershipDisplay, save_figure
from fuzzymil.report import write_report
from fuzzymil.rules import RuleBase

__all__ = ["run_demo"]

SETTINGS: dict[str, Any] = {"n_rules": 6, "init": "random", "init_bags": "all", "alpha": 5.0, "n_init": 4}
SIGMA = 0.2  # radius of the true concepts
SHOWN = 60  # unseen bags that the report explains


@dataclass(frozen=True)
class Nearest:
    """The true concept nearest to a rule."""

    concept: int
    distance: float

    @property
    def found(self) -> bool:
        """Whether the rule's center lies inside the concept."""
        return self.distance <= SIGMA


def run_demo(output: Path, seed: int, console: Console) -> dict[str, Any]:
    """Train, print and write everything; returns the numbers that are also in ``results.json``."""
    matplotlib.use("Agg")  # files only: no window, no display needed
    output.mkdir(parents=True, exist_ok=True)
    train = make_two_concepts(sigma=SIGMA, random_state=seed)
    test = make_two_concepts(167, 166, sigma=SIGMA, random_state=seed + 10_000)
    console.print(f"[bold]fuzzymil {__version__}[/bold]: learning rules from bags of points\n")
    console.print(f"Training bags  {train}")
    console.print(f"Settings       {', '.join(f'{k}={v!r}' for k, v in SETTINGS.items())}, seed {seed}")
    console.print(
        f"A positive bag has at least one point within {SIGMA} of {_point(CONCEPTS[0])} or of {_point(CONCEPTS[1])}; "
        "nobody says which point, or where.\n"
    )
    began = time.perf_counter()
    settings = {name: value for name, value in SETTINGS.items() if name != "init_bags"}
    variant = Variant(init_bags=SETTINGS["init_bags"])
    model = MIANFISClassifier(**settings, variant=variant, random_state=seed).fit(train)
    seconds = time.perf_counter() - began
    accuracy = {"training": model.score(train, train.labels), "unseen": model.score(test, test.labels)}
    console.print(
        f"Trained {SETTINGS['n_init']} starts of {model.n_iter_} epochs in {seconds:.1f} s, compiling included.\n"
        f"Right: {accuracy['training']:.1%} of {len(train)} training bags, "
        f"[bold]{accuracy['unseen']:.1%} of {len(test)} unseen bags[/bold].\n"
    )
    nearest = [_nearest(center) for center in model.rules_.centers]
    console.print(_rule_table(model.rules_, nearest))
    words = f"{model.rules_.to_text(digits=2)}\n\nwith\n{model.rules_.describe_terms(digits=2)}\n"
    console.print(words, highlight=False)
    _explain_one(model, test, console)
    display = MembershipDisplay.from_rules(model.rules_, model.initial_rules_)
    marks = {name: CONCEPTS[:, d].tolist() for d, name in enumerate(train.names)}
    title = "Fuzzy sets of each rule, before and after training"
    save_figure(display.with_marks(marks).plot(title), output / "membership.png")
    model.save(output / "model.json")
    write_report(
        model, test, output / "report.html", title="The demonstration: two concepts", held_out=True, max_bags=SHOWN
    )
    results = {
        "library": __version__,
        "settings": {**SETTINGS, "seed": seed, "sigma": SIGMA},
        "bags": {"training": len(train), "unseen": len(test)},
        "accuracy": accuracy,
        "concepts_found": _concepts_found(model.rules_, nearest),
        "fit_seconds": seconds,
    }
    storage.write_atomically(output / "results.json", json.dumps(results, indent=1) + "\n")
    console.print(
        f"Wrote {output}/membership.png and .svg, model.json, results.json, and report.html: open it in a browser."
    )
    return results


def _nearest(center: Array) -> Nearest:
    distances = np.linalg.norm(CONCEPTS - center, axis=1)
    return Nearest(int(distances.argmin()), float(distances.min()))


def _concepts_found(rules: RuleBase, nearest: list[Nearest]) -> list[bool]:
    high = rules.coefs[:, 0, 0] >= 0.5
    return [
        any(h and near.found and near.concept == concept for h, near in zip(high, nearest, strict=True))
        for concept in range(len(CONCEPTS))
    ]


def _rule_table(rules: RuleBase, nearest: list[Nearest]) -> Table:
    table = Table(title="Learned rules beside the true concepts", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("rule", "says", "center", "width", "concept", "off", ""):
        table.add_column(heading, justify="left" if heading == "" else "right", no_wrap=True)
    for r, near in enumerate(nearest):
        constant = rules.coefs[r, 0, 0]
        verdict = "weak twin" if near.found else "irrelevant"
        if constant >= 0.5:
            verdict = "[bold]found[/bold]" if near.found else "elsewhere"
        table.add_row(
            str(r + 1),
            f"{constant:.2f}",
            _point(rules.centers[r]),
            _point(rules.widths[r]),
            _point(CONCEPTS[near.concept]),
            f"{near.distance:.2f}",
            verdict,
        )
    return table


def _explain_one(model: MIANFISClassifier, bags: Bags, console: Console) -> None:
    """Show for one positive bag which rule decided it, and on which point."""
    activations = model.rules_.infer(bags)
    bag = int(np.argmax(activations.normalized.max(axis=1) * (activations.output[:, 0] > 0.5)))
    rule = int(activations.normalized[bag].argmax())
    first, last = bags.offsets[bag], bags.offsets[bag + 1]
    truth = activations.truth[first:last, rule]
    console.print(
        f"Why is bag {bags.ids[bag]} called positive ({activations.output[bag, 0]:.2f})? "
        f"Rule {rule + 1} has {activations.normalized[bag, rule]:.0%} of the say; "
        f"of the bag's {last - first} points, {_point(bags[bag][int(truth.argmax())])} fires it "
        f"(to a degree of {truth.max():.2f}).\n"
    )


def _point(values: Array) -> str:
    return f"({', '.join(f'{value:.2f}' for value in values)})"
