"""Redraw the figures of the pages: ``PYTHONPATH=. python docs/building/figures.py [NAME ...]``.

The molecules need ``FUZZYMIL_DATA``, the digits PyTorch, and the notebook Playwright with a Chromium of the system.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from sklearn.model_selection import train_test_split

from fuzzymil import Constraints, MIANFISClassifier, MIMamdani, RuleBase, RuleClassifier, Training
from fuzzymil.datasets import load_musk1, make_two_concepts, read_bags
from fuzzymil.plots import (
    DifferenceDisplay,
    EffectDisplay,
    ExplanationDisplay,
    ImportanceDisplay,
    JoinedSetDisplay,
    MembershipDisplay,
    ShapesDisplay,
    SpaceDisplay,
)
from paper.figures import RanksDisplay
from paper.statistics import ranking

DOCS = Path(__file__).parents[1]
FIGURES = DOCS / "figures"


def save(figure: plt.Figure, name: str) -> None:
    """Write a figure whose file changes only if the picture does."""
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    plt.close(figure)
    print(f"Wrote {name}.svg")


def save_pixels(figure: plt.Figure, name: str) -> None:
    """Write a figure as PNG, where paths would take more room."""
    figure.savefig(FIGURES / f"{name}.png", dpi=80, bbox_inches="tight")
    plt.close(figure)
    shrink(FIGURES / f"{name}.png")


def shrink(picture: Path) -> None:
    """Keep few colors of a PNG: files of pages are small."""
    Image.open(picture).convert("RGB").quantize(96).save(picture, optimize=True)
    print(f"Wrote {picture.name}")


def page(name: str) -> dict[str, Any]:
    """Run the examples of a page, next to the example files, and return what they define."""
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for example in (DOCS.parent / "examples").glob("*.csv"):
            shutil.copy(example, folder)
        for step in doctest.DocTestParser().get_examples((DOCS / name).read_text("utf-8")):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(step.source, name, "single"), names)
    return names


def understanding() -> None:
    """Draw the model of the page on understanding rules."""
    bags = make_two_concepts(random_state=3)
    model = RuleClassifier(random_state=0).fit(bags[::2])
    save(MembershipDisplay.from_rules(model).plot(), "understanding-membership")
    save(ShapesDisplay.from_rules(model, bags=bags).plot(), "understanding-shapes")
    why = model.explain(bags, bag="concept1-2")
    save(ExplanationDisplay.from_explanation(why).plot(), "understanding-explanation")
    found = model.importance(bags[1::2])
    save(ImportanceDisplay.from_importance(found).plot(), "understanding-importance")
    save(EffectDisplay.from_model(model, bags).plot(), "understanding-effect")
    photograph([model, why, found], "understanding-notebook")


def photograph(shown: list[object], name: str) -> None:
    """Write a picture of what a notebook shows, on a light and on a dark page; needs Playwright and a Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    body = "<br>".join(each._repr_html_() for each in shown)
    looks = ("background: #fff; color: #1a1a1a", "background: #111; color: #ddd")
    columns = "".join(f"<div style='flex: 1; padding: 14px; {look}'>{body}</div>" for look in looks)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 400})
        page.set_content(f"<!DOCTYPE html><body style='margin: 0; display: flex'>{columns}")
        page.screenshot(path=FIGURES / f"{name}.png", full_page=True)
        browser.close()
    shrink(FIGURES / f"{name}.png")


def visits() -> None:
    """Draw the model of the tutorial on visits."""
    bags = read_bags(DOCS.parent / "examples" / "visits.csv", bag="user", label="converted")
    model = RuleClassifier(random_state=0).fit(bags)
    shown = SpaceDisplay.from_model(model, bags, bag="u007", features=["seconds_per_page", "pages"])
    save(shown.plot(), "visits-space")


def ward() -> None:
    """Draw the difference of the tutorial on a ward's rules, with the rules as the page has them."""
    page = (DOCS / "tutorials" / "ward.md").read_text("utf-8")
    text = "\n".join(line[4:] for line in page[page.index('text = """') : page.index('... """')].splitlines()[1:])
    bags = read_bags(DOCS.parent / "examples" / "ward.csv", bag="patient", label="outcome")
    limits = Constraints(conclusions=(0, 6), ordered=True, overlap=0.15, stay=0.01)
    model = MIANFISClassifier(
        init=text, constraints=limits, training=Training(loss="cross_entropy", max_epochs=100), random_state=0
    )
    shown = DifferenceDisplay.from_rules(RuleBase.parse(text), model.fit(bags), bags)
    save(shown.plot(), "ward-difference")


def greenhouse() -> None:
    """Draw the tuned day of the tutorial on a greenhouse."""
    save(page("tutorials/greenhouse.md")["figure"], "greenhouse")


def mamdani() -> None:
    """Draw the joined set and the trained sets of the page on Mamdani rules, with the rules as the page has them."""
    page = (DOCS / "mamdani.md").read_text("utf-8")
    text = "\n".join(line[4:] for line in page[page.index('text = """') : page.index('... """')].splitlines()[1:])
    bags = read_bags(DOCS.parent / "examples" / "ward.csv", bag="patient", label="outcome")
    expert = MIMamdani(rules=text, threshold=40).fit(bags)
    save(JoinedSetDisplay.from_rules(expert, bags, "p001").plot(), "mamdani-joined")
    limits = Constraints(ordered=True, overlap=0.15, stay=0.01)
    model = MIMamdani(rules=text, threshold=40, max_epochs=100, constraints=limits).fit(bags)
    save_pixels(MembershipDisplay.from_rules(model, model.initial_rules_).plot(), "mamdani-membership")


def molecules() -> None:
    """Draw the explanation of the tutorial on molecules."""
    bags = load_musk1()
    rest, held = train_test_split(np.arange(len(bags)), test_size=0.25, stratify=bags.labels, random_state=0)
    train, test = bags[rest], bags[held]
    short = RuleClassifier(max_rules=5, max_conditions=3, random_state=0).fit(train)
    why = short.explain(test, bag=test.ids[test.labels == 1][0])
    save(ExplanationDisplay.from_explanation(why).plot(), "molecules-explanation")


def images() -> None:
    """Draw the witnesses of the tutorial on images."""
    made = page("tutorials/images.md")
    model, bags, photos = made["model"], made["bags"], made["photos"]
    figure, axes = plt.subplots(1, 4, figsize=(9, 2.9), layout="constrained")
    for axis, number in zip(axes, (81, 101, 82, 84), strict=True):
        axis.imshow(photos[number])
        (rule,) = model.explain(bags, bag=number).rules
        for part, color, name in zip(
            rule.parts, ("C3", "C1"), ("some warmth is high", "some warmth is low"), strict=True
        ):
            witness = part.witnesses[0]
            if np.exp(witness.log_truth) > 0.5:
                row, column = divmod(witness.instance, 6)
                frame = {"fill": False, "edgecolor": color, "linewidth": 2.5, "label": name}
                axis.add_patch(plt.Rectangle((16 * column - 0.5, 16 * row - 0.5), 16, 16, **frame))
        says = model.predict_proba(bags[[number]])[0, list(model.classes_).index("beach")]
        axis.set_title(f"photo {number}: beach {says:.0%}", fontsize=10)
        axis.set_axis_off()
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False)
    save_pixels(figure, "images-witnesses")


def documents() -> None:
    """Draw the two words of the rule in the sentences of one review of the tutorial on documents."""
    made = page("tutorials/documents.md")
    model, bags, sentences = made["model"], made["bags"], made["sentences"]
    (rule,) = model.explain(bags, bag="r001").rules
    said, weights = list(sentences.loc[0]), bags[list(bags.ids).index("r001")]
    places = np.arange(len(said))
    figure, axis = plt.subplots(figsize=(8, 2.8), layout="constrained")
    for shift, word, color in ((-0.18, "dirty", "C1"), (0.18, "room", "C0")):
        axis.barh(places + shift, weights[:, bags.feature_names.index(word)], 0.34, color=color, label=f'"{word}"')
    axis.set_yticks(places, said)
    axis.get_yticklabels()[rule.witness].set_fontweight("bold")
    axis.invert_yaxis()
    axis.set_xlabel("weight of the word in the sentence")
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, loc="center right", bbox_to_anchor=(1, 0.4))
    save(figure, "documents-sentences")


def series() -> None:
    """Draw the day of one pump of the tutorial on time series, with the hours that satisfy the rule."""
    made = page("tutorials/series.md")
    measured, bags = made["measured"].query("pump == 'P01'"), made["bags"]
    (rule,) = made["model"].explain(bags, bag="P01").rules
    hour = rule.parts[0].witnesses[0].instance
    hours = (measured["time"] - measured["time"].iloc[0]).dt.total_seconds() / 3600
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(7.5, 3.8), sharex=True, layout="constrained")
    for axis, column, unit in ((upper, "vibration", "mm/s"), (lower, "temperature", "°C")):
        axis.plot(hours, measured[column], color="C0", linewidth=1.2)
        axis.set_ylabel(f"{column} ({unit})")
        axis.axvspan(hour, hour + 1, color="C1", alpha=0.3, linewidth=0)
        axis.spines[["top", "right"]].set_visible(False)
        limit = made["model"].rules_.variables[bags.feature_names.index(column)].terms["high"].center
        axis.axhline(limit, color="0.5", linewidth=1, linestyle=":")
    upper.set_title("Pump P01: the hour that decided, and where the sets of the rule begin", fontsize=10)
    lower.set_xlabel("hour of the day")
    lower.set_xticks(range(0, 25, 3))
    save(figure, "series-witness")


def customers() -> None:
    """Draw the explanation of the tutorial on customers."""
    why = page("tutorials/customers.md")["why"]
    save(ExplanationDisplay.from_explanation(why).plot(), "customers-explanation")


def digits() -> None:
    """Draw the witnesses of the tutorial on digits; needs PyTorch."""
    example, drawn = DOCS.parent / "examples" / "torch_digits.py", FIGURES / "digits-witnesses.png"
    subprocess.run([sys.executable, str(example), "--output", str(drawn)], check=True)


def ranks() -> None:
    """Draw the average ranks of the methods in the table of the page that compares them."""
    rows = re.findall(
        r"^\| ([^|]+) \|((?: [\d.]+ ± [^|]+\|){5})", (DOCS / "comparison.md").read_text("utf-8"), re.MULTILINE
    )
    accuracy = {name: [float(cell) for cell in re.findall(r"([\d.]+) ±", cells)] for name, cells in rows}
    ranked = [
        name for name in accuracy if name not in ("RuleClassifier, 10 members", "MI-ANFIS")
    ]  # of this library, one
    found = ranking(np.transpose([accuracy[name] for name in ranked]))
    note = "accuracy on 5 datasets; Nemenyi's test at 5%"
    by_name = dict(zip(ranked, found.ranks, strict=True))
    display = RanksDisplay(by_name, found.critical_difference, note, ["RuleClassifier"])
    save(display.plot("All methods on the same folds"), "ranks")


EACH = (
    ranks,
    understanding,
    visits,
    ward,
    greenhouse,
    mamdani,
    customers,
    images,
    documents,
    series,
    digits,
    molecules,
)
DRAW = {draw.__name__: draw for draw in EACH}

if __name__ == "__main__":
    mpl.use("Agg")  # no window
    FIGURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or DRAW:
        DRAW[name]()
