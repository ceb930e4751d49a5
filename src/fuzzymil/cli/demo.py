"""``fuzzymil demo``: learn the paper's two concepts and show the rules."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzymil._utils import storage
from fuzzymil._version import __version__
from fuzzymil.cli import _options
from fuzzymil.cli._app import MORE, app, examples
from fuzzymil.cli._console import check_folder, emit_json, fail
from fuzzymil.cli._inputs import summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from fuzzymil._utils.arrays import Array
    from fuzzymil.bags import Bags
    from fuzzymil.rules import RuleBase

__all__ = ["demo", "run_demo"]

SETTINGS: dict[str, Any] = {"n_rules": 6, "init": "random", "alpha": 5.0, "n_init": 4}
VARIANT: dict[str, Any] = {"init_bags": "all"}
SIGMA = 0.2  # radius of the true concepts
SHOWN = 60  # test bags that the report explains


@app.command(rich_help_panel=MORE, epilog=examples("fuzzymil demo --output my-demo"))
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the figure, model, report and numbers.")
    ] = Path("fuzzymil-demo"),
    seed: _options.Seed = 0,
    as_json: _options.AsJson = False,
) -> None:
    """Learn the paper's two concepts from bags of points, and show the rules."""
    check_folder(output)
    from rich.console import Console

    from fuzzymil._utils.runtime import enable_compilation_cache

    enable_compilation_cache()
    try:
        results = run_demo(output, seed, Console(quiet=as_json))
    except OSError as problem:
        fail(f"Cannot write to {output}: {problem.strerror}.")
    if as_json:
        emit_json(results)


def run_demo(output: Path, seed: int, console: Console) -> dict[str, Any]:
    """Train, print the rules, write all files, and return the numbers in ``results.json``."""
    import matplotlib

    matplotlib.use("Agg")  # no display needed
    from fuzzymil.datasets import CONCEPTS, make_two_concepts
    from fuzzymil.estimators import MIANFISClassifier, Variant
    from fuzzymil.plots import MembershipDisplay, save_figure
    from fuzzymil.report import write_report

    output.mkdir(parents=True, exist_ok=True)
    train = make_two_concepts(sigma=SIGMA, random_state=seed)
    test = make_two_concepts(167, 166, sigma=SIGMA, random_state=seed + 10_000)
    settings = SETTINGS | VARIANT
    concepts = " or ".join(_point(concept) for concept in CONCEPTS)
    console.print(f"[bold]fuzzymil {__version__}[/bold]: learn rules from bags of points\n")
    console.print(f"Training data  {summary(train)}")
    console.print(f"Settings       {', '.join(f'{k}={v!r}' for k, v in settings.items())}, seed {seed}")
    console.print(f"A bag is positive if at least one of its points lies within {SIGMA} of {concepts}.")
    console.print("The training data shows neither which point nor where: only the bags are labeled.\n")
    began = time.perf_counter()
    model = MIANFISClassifier(**SETTINGS, variant=Variant(**VARIANT), random_state=seed).fit(train)
    seconds = time.perf_counter() - began
    accuracy = {"training": model.score(train, train.labels), "unseen": model.score(test, test.labels)}
    console.print(
        f"Trained for {model.n_iter_} epochs from {SETTINGS['n_init']} initializations in {seconds:.1f} s, including "
        f"compilation.\nTraining accuracy {accuracy['training']:.1%} ({len(train)} bags), "
        f"[bold]test accuracy {accuracy['unseen']:.1%}[/bold] ({len(test)} bags).\n"
    )
    nearest = [_nearest(center, CONCEPTS) for center in model.rules_.centers]
    console.print(_rule_table(model.rules_, nearest, CONCEPTS))
    text = f"{model.rules_.to_text(digits=2)}\n\nwith\n{model.rules_.describe_terms(digits=2)}\n"
    console.print(text, highlight=False)
    console.print(_explained(model.rules_, test))
    display = MembershipDisplay.from_rules(model, model.initial_rules_)
    marks = {name: CONCEPTS[:, d].tolist() for d, name in enumerate(train.names)}
    title = "Fuzzy sets of each rule, before and after training"
    save_figure(display.with_marks(marks).plot(title), output / "membership.png")
    model.save(output / "model.json")
    write_report(model, test, output / "report.html", title="Demo: two concepts", held_out=True, max_bags=SHOWN)
    results = {
        "library": __version__,
        "settings": {**settings, "seed": seed, "sigma": SIGMA},
        "bags": {"training": len(train), "unseen": len(test)},
        "accuracy": accuracy,
        "concepts_found": _concepts_found(model.rules_, nearest),
        "fit_seconds": seconds,
    }
    storage.write_atomically(output / "results.json", json.dumps(results, indent=1) + "\n")
    console.print(f"Wrote membership.png, membership.svg, model.json, results.json and report.html to {output}.")
    console.print(f"Open {output / 'report.html'} in a browser.")
    return results


def _nearest(center: Array, concepts: Array) -> tuple[int, float]:
    """Return the true concept nearest to a rule, and its distance."""
    distances = [math.dist(center, concept) for concept in concepts]
    return distances.index(min(distances)), min(distances)


def _concepts_found(rules: RuleBase, nearest: list[tuple[int, float]]) -> list[bool]:
    """Return for each concept whether the center of a rule for positive bags lies inside it."""
    inside = {
        concept
        for (concept, distance), coefs in zip(nearest, rules.coefs, strict=True)
        if coefs[0, 0] >= 0.5 and distance <= SIGMA
    }
    return [concept in inside for concept in range(2)]


def _rule_table(rules: RuleBase, nearest: list[tuple[int, float]], concepts: Array) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        title="Learned rules and the true concepts",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for heading in ("rule", "output", "center", "width", "concept", "distance", ""):
        table.add_column(heading, justify="left" if heading == "" else "right", no_wrap=True)
    for r, (concept, distance) in enumerate(nearest):
        constant = rules.coefs[r, 0, 0]
        verdict = "duplicate" if distance <= SIGMA else "irrelevant"
        if constant >= 0.5:
            verdict = "[bold]found[/bold]" if distance <= SIGMA else "elsewhere"
        table.add_row(
            str(r + 1),
            f"{constant:.2f}",
            _point(rules.centers[r]),
            _point(rules.widths[r]),
            _point(concepts[concept]),
            f"{distance:.2f}",
            verdict,
        )
    return table


def _explained(rules: RuleBase, bags: Bags) -> str:
    """Return which rule and which point decided one positive bag."""
    activations = rules.infer(bags)
    bag = int((activations.normalized.max(axis=1) * (activations.output[:, 0] > 0.5)).argmax())
    rule = int(activations.normalized[bag].argmax())
    first, last = bags.offsets[bag], bags.offsets[bag + 1]
    truth = activations.truth[first:last, rule]
    return (
        f"Why is bag {bags.ids[bag]} positive (output {activations.output[bag, 0]:.2f})? Rule {rule + 1} has "
        f"{activations.normalized[bag, rule]:.0%} of the weight. Of the bag's {last - first} points, "
        f"{_point(bags[bag][int(truth.argmax())])} matches it best (degree {truth.max():.2f}).\n"
    )


def _point(values: Array) -> str:
    return f"({', '.join(f'{value:.2f}' for value in values)})"
