"""``fuzzymil demo``: choose rules for the paper's two concepts, and explain a prediction."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fuzzymil._utils import storage
from fuzzymil._utils.own_files import make_own_folder
from fuzzymil._version import __version__
from fuzzymil.cli._app import MORE, app
from fuzzymil.cli._console import check_folder, emit_json
from fuzzymil.cli._inputs import summary
from fuzzymil.cli._options import AsJson, Seed, option

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from fuzzymil._utils.arrays import Array
    from fuzzymil.bags import Bags

FOLDER = Path("fuzzymil-demo")
SIGMA = 0.2  # radius of the true concepts
SHOWN = 60  # held-out bags that the report explains
WIDTH = 80  # columns


@app.command(rich_help_panel=MORE)
def demo(
    output: Annotated[
        Path, option("FOLDER", "Folder for the figure, model, report and numbers.", "--output", "-o")
    ] = FOLDER,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Find the paper's two concepts in bags of points, and explain a prediction.

    Examples
    --------
    fuzzymil demo --output my-demo
    """
    check_folder(output)
    from rich.console import Console

    results = run_demo(output, seed, Console(quiet=as_json, highlight=False, soft_wrap=True))
    if as_json:
        emit_json(results)


def run_demo(output: Path, seed: int, console: Console) -> dict[str, Any]:
    """Choose rules, print them, write all files, and return some numbers."""
    from fuzzymil.cli._baselines import FOREST, baseline
    from fuzzymil.datasets import CONCEPTS, make_two_concepts
    from fuzzymil.estimators import RuleClassifier
    from fuzzymil.plots import save_figure
    from fuzzymil.report import write_report

    if output == FOLDER:
        make_own_folder(output)  # nobody asked to follow a link of this name
    else:
        output.mkdir(parents=True, exist_ok=True)
    train = make_two_concepts(sigma=SIGMA, random_state=seed)
    test = make_two_concepts(167, 166, sigma=SIGMA, random_state=seed + 10_000)
    discs = " and ".join(_point(concept) for concept in CONCEPTS)
    console.print(f"[bold]fuzzymil {__version__}[/bold]: rules from bags of points\n")
    console.print(f"Data   {summary(train)}")
    truth = (
        f"Truth  A bag is positive if at least one of its points lies in one of two discs (radius {SIGMA}, centers "
        f"{discs}). The data shows neither the discs nor which points lie in them: only bags are labeled."
    )
    console.print(f"{_wrap(truth, indent=7)}\n")
    began = time.perf_counter()
    model = RuleClassifier(random_state=seed).fit(train)
    seconds = time.perf_counter() - began
    rules = model.rules_
    console.print(f"Chose {rules.n_rules} rule{'' if rules.n_rules == 1 else 's'} in {seconds:.1f} s:\n")
    console.print(f"{rules.to_text(digits=3)}\n\nwith\n{rules.describe_terms(digits=2)}\n", markup=False)
    assert train.labels is not None
    forest = baseline(FOREST, train, seed, classes=True).fit(train, train.labels)
    accuracy = {"rules": model.score(test), "forest": float(forest.score(test, test.labels))}
    console.print(f"Accuracy on {len(test)} held-out bags:")
    names = ("these rules", "random forest on the mean, minimum and maximum of each bag")
    for name, value in zip(names, accuracy.values(), strict=True):
        console.print(f"  {value:6.1%}  {name}")
    why = model.explain(test, bag=_example(model, test))
    console.print(f"\nWhy is bag {why.bag} positive?\n\n{why}\n", markup=False)
    results = {
        "library": __version__,
        "seed": seed,
        "bags": {"training": len(train), "held_out": len(test)},
        "accuracy": accuracy,
        "n_rules": rules.n_rules,
    }
    with storage.own_names():
        save_figure(_figure(model, test, why.bag, CONCEPTS), output / "rules.png")
        model.save(output / "model.json")
        write_report(model, test, output / "report.html", title="Demo: two concepts", held_out=True, max_bags=SHOWN)
    console.print(_wrap(f"Wrote rules.png, rules.svg, model.json and report.html to {output}."))
    console.print(f"Open {output / 'report.html'} in a browser.")
    return results


def _example(model: Any, bags: Bags) -> str:
    """Return the id of the positive bag, of a few points, in which one point differs most from all others."""
    import numpy as np

    scores = np.split(model.instance_scores(bags), bags.offsets[1:-1])
    leads = [np.diff(np.sort(each)[-2:])[0] if 3 <= len(each) <= 6 and each.max() > 0 else 0.0 for each in scores]
    return str(bags.ids[int(np.argmax(leads))])


def _figure(model: Any, bags: Bags, bag: str, concepts: Array) -> Figure:
    """Draw the rules among the points, with the true discs."""
    from matplotlib.patches import Circle

    from fuzzymil.plots import SpaceDisplay

    figure = SpaceDisplay.from_model(model, bags, bag=bag).plot("Chosen rules and, dotted, the true discs")
    for concept in concepts:
        figure.axes[0].add_patch(Circle(concept, SIGMA, fill=False, linestyle=":", linewidth=1.5, zorder=4))
    return figure


def _wrap(text: str, indent: int = 0) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def _point(values: Array) -> str:
    return f"({', '.join(f'{value:.2f}' for value in values)})"
